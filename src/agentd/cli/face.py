"""What the commands share: the project they look at, the signals, and how a report looks."""

import os
import signal
from types import FrameType

import click

from agentd.app import LAYOUTS, open_project
from agentd.cli.output import print_json, say
from agentd.runs import unfinished
from agentd.runs.layout import Layout
from agentd.runs.project import Project
from agentd.runs.report import Report

json_option = click.option("--json", "as_json", is_flag=True, help="Print one JSON document and nothing else.")


def project_here(as_json: bool) -> Project:
    """The project around the working folder, for a command that asks nobody."""
    return attended_to(open_project(say=(lambda _: None) if as_json else say, layouts=known_layouts()))


def known_layouts() -> tuple[Layout, ...]:
    """The families this program was started with."""
    found: tuple[Layout, ...] = click.get_current_context().find_root().obj or LAYOUTS
    return found


def attended_to(project: Project) -> Project:
    """The project, with its warnings told and its signals heeded."""
    cut_off = unfinished.interrupted(project.root)
    about = (
        f"the {cut_off.command} of {cut_off.run} was interrupted; finish it: agentd {cut_off.command} {cut_off.run}"
        if cut_off
        else ""
    )
    for warning in (*project.config.warnings, *filter(None, [about])):
        say(f"Warning: {warning}", err=True)
    heed_signals(project)
    return project


def heed_signals(project: Project) -> None:
    """INT, TERM and HUP end what runs and leave the run to be taken up; a second signal changes nothing."""

    def stop(number: int, _: FrameType | None) -> None:
        if not project.interrupted.is_set():
            project.known["signal", ""] = number
            project.interrupted.set()
            raise project.interruption()

    for name in ("SIGINT", "SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, stop)


def show(report: Report, as_json: bool) -> int:
    """A report in full, ending with the next command to type; gives the exit code."""
    if as_json:
        print_json({"ok": report.exit_code in (0, 4), **report.to_data(), "exit": report.exit_code})
        return report.exit_code
    say(
        f"\n{report.workflow}/{report.name}: phase {report.phase}, {report.doing}"
        + (f": {report.note}" if report.note else "")
    )
    say(f"  step    {report.step}\n  folder  {report.folder}\n  saved   {report.updated_at}")
    if report.verdict:
        say(
            f"  verdict {report.verdict}"
            + (f", {report.iteration_count} reproposals" if report.iteration_count else "")
        )
    if report.cost:
        say(f"  cost    {report.cost}")
    if report.models:
        say(f"  models  {', '.join(report.models)}")
    for warning in report.warnings:
        say(f"  {warning}")
    for child, word in (report.children or {}).items():
        say(f"  child   {child}: {word}")
    for decision in report.decisions:
        about = f" (about {', '.join(decision.shown)})" if decision.shown else ""
        first, *more = decision.question.splitlines() or [""]
        say(f"  open    {decision.id}: {first}{about}")
        for line in more:
            say(f"            {line}")
        for option in decision.options:
            say(f"            {option.value:<12} {option.label}")
    say(f"Next: {report.next}")
    return report.exit_code


def plain(path: str) -> str:
    """A path as a person at the prompt would type it."""
    return os.path.relpath(path)
