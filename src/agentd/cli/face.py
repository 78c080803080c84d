"""What the commands share: the options, the person at the terminal, the signals, and how a report looks."""

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

import click

from agentd.app.project import Project, open_project
from agentd.app.report import Report
from agentd.cli.ending import print_json
from agentd.errors import Interrupted, UsageError
from agentd.model.decision import Answer, Decision

F = TypeVar("F", bound=Callable[..., Any])

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")


def driving(function: F) -> F:
    """The options of every command that may ask a person."""
    function = click.option(
        "--answers", type=click.Path(dir_okay=False), help="A YAML file with answers for an unattended run."
    )(function)
    return json_option(function)


def project_for(as_json: bool, answers: str | None = None) -> Project:
    """The project around the working folder, with someone to ask and somewhere to tell."""
    say = (lambda _: None) if as_json else (lambda text: print(text, flush=True))
    if answers:
        ask = from_file(Path(answers))
    elif not as_json and sys.stdin.isatty() and sys.stdout.isatty():
        ask = at_the_terminal
    else:
        ask = nobody
    project = open_project(ask=ask, say=say)
    for warning in project.config.warnings:
        print(f"Warning: {warning}", file=sys.stderr)
    heed_signals(project)
    return project


def heed_signals(project: Project) -> None:
    """INT, TERM and HUP end what runs and leave the run to be taken up; a second signal changes nothing."""

    def stop(number: int, _: FrameType | None) -> None:
        if not project.interrupted.is_set():
            project.interrupted.set()
            raise Interrupted(number)

    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, stop)


def nobody(_: Decision) -> Answer | None:
    """No one is there: the decision stays open on disk."""
    return None


def at_the_terminal(decision: Decision) -> Answer | None:
    """Ask with the arrow keys; leaving the question leaves it open."""
    import questionary

    choices = [questionary.Choice(option.label or option.value, option.value) for option in decision.options]
    value = questionary.select(decision.question, choices).ask()
    return Answer(decision.id, value) if value else None


def from_file(path: Path) -> Callable[[Decision], Answer | None]:
    """Answers by decision id or by the name of the step that asks; a list is used up one answer a time."""
    import yaml

    try:
        data = yaml.safe_load(path.read_bytes())
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}.", "give --answers an existing file") from None
    except yaml.YAMLError as error:
        raise UsageError(f"{path}: {' '.join(str(error).split())}.", f"edit {path}") from None
    if not isinstance(data, dict):
        raise UsageError(f"{path} must map decisions to answers.", "for example: steer: fix")
    used: dict[str, int] = {}

    def ask(decision: Decision) -> Answer | None:
        key = next((key for key in (decision.id, decision.name) if key in data), None)
        if key is None:
            return None
        said = data[key]
        if isinstance(said, list):
            number = used.get(key, 0)
            if number >= len(said):
                return None
            used[key] = number + 1
            said = said[number]
        return Answer(decision.id, str(said), by=f"{path.name}")

    return ask


def show(report: Report, as_json: bool) -> int:
    """A report in full, ending with the next command to type; gives the exit code."""
    if as_json:
        print_json({"ok": report.exit_code in (0, 4), **report.to_data(), "exit": report.exit_code})
        return report.exit_code
    print(
        f"\n{report.workflow}/{report.name}: phase {report.phase}, {report.doing}"
        + (f": {report.note}" if report.note else "")
    )
    print(f"  step    {report.step}\n  folder  {report.folder}\n  saved   {report.updated_at}")
    for child, word in (report.children or {}).items():
        print(f"  child   {child}: {word}")
    for decision in report.decisions:
        print(f"  open    {decision.id}: {decision.question}")
        for option in decision.options:
            print(f"            {option.value:<12} {option.label}")
    print(f"Next: {report.next}")
    return report.exit_code


def plain(path: str) -> str:
    """A path as a person at the prompt would type it."""
    return os.path.relpath(path)
