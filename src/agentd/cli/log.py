"""`agentd log`: what happened in a run."""

import time
from typing import Any

import click

from agentd.cli.ending import print_json
from agentd.cli.face import json_option, project_for
from agentd.cli.live import CONTROL
from agentd.runs import overview
from agentd.runs.project import Project


@click.command()
@click.argument("run")
@click.option("-n", "last", type=click.IntRange(1), default=None, help="Only the last N entries.")
@click.option("--raw", is_flag=True, help="What the agents' programs printed, redacted, instead of the diary.")
@click.option("--call", default="", help="With --raw: only this call, such as propose-1.1.")
@click.option("--follow", is_flag=True, help="Go on printing until nobody works on the run.")
@json_option
def command(run: str, last: int | None, raw: bool, call: str, follow: bool, as_json: bool) -> int:
    """The diary of RUN: every step, outcome and decision, oldest first."""
    project = project_for(as_json)
    if raw or call:
        return show_raw(project, run, call, last, as_json)
    folder, events = overview.log(project, run, last or 0)
    if as_json:
        print_json({"ok": True, "folder": project.relative(folder), "events": events, "exit": 0})
        return 0
    for event in events:
        click.echo(line(event))
    while follow and overview.holder(project, run) is not None:
        time.sleep(0.2)
        seen = events[-1].get("n", 0) if events else 0
        events = overview.log(project, run)[1]
        for event in events:
            if event.get("n", 0) > seen:
                click.echo(line(event))
    return 0


def show_raw(project: Project, run: str, call: str, last: int | None, as_json: bool) -> int:
    """The transcripts, each under its name; with -n the last lines of each."""
    found = [(name, lines[-last:] if last else lines) for name, lines in overview.transcripts(project, run, call)]
    if as_json:
        print_json({"ok": True, "transcripts": [{"file": name, "lines": lines} for name, lines in found], "exit": 0})
        return 0
    for name, lines in found:
        click.echo(f"== {name}")
        for text in lines:
            click.echo(CONTROL.sub("", text))
    if not found:
        click.echo(f"No agent was called in {run}.")
    return 0


def line(event: dict[str, Any]) -> str:
    """One entry as a line."""
    known = ("n", "at", "event", "phase")
    rest = "  ".join(f"{key}={value}" for key, value in event.items() if key not in known)
    shown = f"{str(event.get('at', ''))[:19]}  {event.get('phase', '')!s:<13} {event.get('event', '')!s:<8} {rest}"
    return CONTROL.sub("", shown)
