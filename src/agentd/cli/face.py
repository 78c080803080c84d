"""What the commands share: the options, the person at the terminal, the signals, and how a report looks."""

import os
import re
import signal
import sys
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from types import FrameType
from typing import Any, TextIO, TypeVar

import click

from agentd.app import asking
from agentd.app.project import Project, open_project
from agentd.app.report import Report
from agentd.cli.ending import print_json
from agentd.errors import Interrupted
from agentd.model.decision import Answer, Decision

CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
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
    say = (lambda _: None) if as_json else tell
    if answers:
        ask = asking.from_file(Path(answers))
    elif not as_json and is_terminal(sys.stdin) and is_terminal(sys.stdout):
        ask = at_the_terminal
    else:
        ask = nobody
    project = open_project(ask=ask, say=say)
    for warning in project.config.warnings:
        print(f"Warning: {warning}", file=sys.stderr)
    heed_signals(project)
    return project


def is_terminal(stream: TextIO | None) -> bool:
    return stream is not None and stream.isatty()


def tell(text: str) -> None:
    """A line of progress. What an agent says cannot steer the terminal, and a reader who left stops no work."""
    with suppress(OSError):
        print(CONTROL.sub("", text), flush=True)


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

    if decision.shown:
        print(f"About: {', '.join(decision.shown)}")
    choices = [questionary.Choice(option.label or option.value, option.value) for option in decision.options]
    value = questionary.select(decision.question, choices).ask()
    return Answer(decision.id, value) if value else None


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
        about = f" (about {', '.join(decision.shown)})" if decision.shown else ""
        print(f"  open    {decision.id}: {decision.question}{about}")
        for option in decision.options:
            print(f"            {option.value:<12} {option.label}")
    print(f"Next: {report.next}")
    return report.exit_code


def plain(path: str) -> str:
    """A path as a person at the prompt would type it."""
    return os.path.relpath(path)
