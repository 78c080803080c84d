"""`agentd doctor`: what is installed, what works, and who would play which role."""

import platform
from contextlib import closing

import click

from agentd import __version__
from agentd.app import open_anyway
from agentd.calling import doctor
from agentd.calling.doctor import Found
from agentd.cli.face import heed_signals, json_option
from agentd.cli.output import say, tell
from agentd.cli.run_rows import FIRST, next_command
from agentd.errors import AgentdError
from agentd.runs import overview
from agentd.runs.project import Project

MARKS = {"ok": "✓", "warning": "⚠", "problem": "✗"}
TITLES = {
    "agents": "Agents",
    "roles": "Roles",
    "machine": "This machine",
    "evidence": "What impl runs",
    "configuration": "Configuration",
    "calls": "Real calls",
}


@click.command()
@click.option("--live", is_flag=True, help="Also call each agent that plays a role once, for a few tokens.")
@json_option
def command(live: bool, as_json: bool) -> int:
    """What is installed, what works, and who would play which role.

    Every finding comes with a fix to paste. The exit code is 0 if every role can be played.
    """
    project, unread = open_anyway()
    heed_signals(project)
    found: list[Found] = []
    if not as_json:
        say(f"agentd {__version__}, Python {platform.python_version()}, in {project.root}")
    with closing(doctor.examine(project, unread, live)) as findings:  # interrupted, it ends what it has started
        for each in findings:
            if not as_json:
                for line in lines(each, found[-1].group if found else ""):
                    say(line)
            found.append(each)
    problems = [each for each in found if each.level == "problem"]
    follow = next((each.fix for each in problems if each.fix), "") or next_in(project)
    code = 1 if problems else 0
    here = {"version": __version__, "python": platform.python_version(), "root": str(project.root)}
    data = {**here, "findings": [each.to_data() for each in found], "next": follow}
    warnings = sum(each.level == "warning" for each in found)
    some = f", {warnings} warning{'s' if warnings > 1 else ''}" if warnings else ""
    last = f"{'Not every role can be played' if code else 'Every role can be played'}{some}."
    return tell(as_json, data, ("", last, f"Next: {follow}"), code)


def next_in(project: Project) -> str:
    """What comes next in the project that was looked at; what is wrong with its runs is told by the commands on them."""
    try:
        return next_command(overview.overview(project))
    except AgentdError as error:
        return error.fix or FIRST


def lines(each: Found, before: str) -> list[str]:
    """A finding as a person reads it, below the title of its group if it is the first of it."""
    title = ["", TITLES[each.group]] if each.group != before else []
    mark = "·" if each.level == "ok" and each.fix else MARKS[each.level]  # it could be mended, but nobody needs it
    told = [f"  {mark} {each.name:<13} {each.text}"]
    fix = [f"      Fix: {each.fix}"] if each.fix and each.level != "ok" else []
    return [*title, *told, *fix]
