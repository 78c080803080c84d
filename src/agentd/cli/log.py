"""`agentd log`: what happened in a run."""

import time
from typing import Any

import click

from agentd.cli import timing_rows
from agentd.cli.face import json_option, project_here
from agentd.cli.output import tell
from agentd.errors import UsageError
from agentd.runs import diaries, overview, timing
from agentd.runs.project import Project


@click.command()
@click.argument("run")
@click.option("-n", "last", type=click.IntRange(1), default=None, help="Only the last N entries.")
@click.option("--raw", is_flag=True, help="What the agents' programs printed, redacted, instead of the diary.")
@click.option("--call", default="", help="With --raw: only this call, such as propose-1.1.")
@click.option("--follow", is_flag=True, help="Go on printing until nobody works on the run.")
@click.option("--timing", "timed", is_flag=True, help="Where the time went: command by command and step by step.")
@json_option
def command(run: str, last: int | None, raw: bool, call: str, follow: bool, timed: bool, as_json: bool) -> int:
    """The diary of RUN and its children: every step, outcome and decision, oldest first."""
    if timed and (last or raw or call or follow):
        raise UsageError("--timing shows the whole run and cannot be combined.", f"agentd log {run} --timing")
    project = project_here(as_json)
    if raw or call:
        return show_raw(project, run, call, last, as_json)
    if timed:
        return show_timing(project, run, as_json)
    folder, every = diaries.log(project, run)
    events = every[-(last or 0) :]
    tell(as_json, {"folder": project.relative(folder), "events": events}, map(line, events))
    seen = {*map(str, every)}
    while follow and not as_json and overview.holder(project, run) is not None:
        time.sleep(0.2)
        new = [event for event in diaries.log(project, run)[1] if str(event) not in seen]
        seen |= {*map(str, new)}
        tell(False, {}, map(line, new))
    return 0


def show_raw(project: Project, run: str, call: str, last: int | None, as_json: bool) -> int:
    """The transcripts, each under its name; with -n the last lines of each."""
    found = [(name, lines[-last:] if last else lines) for name, lines in overview.transcripts(project, run, call)]
    shown = [text for name, lines in found for text in (f"== {name}", *lines)]
    data = {"transcripts": [{"file": name, "lines": lines} for name, lines in found]}
    return tell(as_json, data, shown or [f"No agent was called in {run}."])


def show_timing(project: Project, run: str, as_json: bool) -> int:
    """The waterfall of a run: its commands, their steps and what these were busy with."""
    folder, found = timing.timing(project, run)
    data = {"folder": project.relative(folder), **timing.to_data(found)}
    return tell(as_json, data, timing_rows.rows(found))


def line(event: dict[str, Any]) -> str:
    """One entry as a line."""
    known = ("n", "at", "event", "phase", "clock")
    rest = "  ".join(f"{key}={first_line(value)}" for key, value in event.items() if key not in known)
    return f"{str(event.get('at', ''))[:19]}  {event.get('phase', '')!s:<13} {event.get('event', '')!s:<8} {rest}"


def first_line(value: Any) -> str:
    """A value of an entry, which has one line in the diary; `--json` has all of it."""
    first, _, more = str(value).partition("\n")
    return f"{first} …" if more else first
