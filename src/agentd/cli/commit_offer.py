"""The commit that a command offers for a change that it archived, and how a commit is told. What commits is loaded when it is wanted."""

import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from agentd.errors import AgentdError
from agentd.families.change import LAYOUT
from agentd.git.committing import Committed
from agentd.model.decision import Decision, Option
from agentd.runs import uncommitted
from agentd.runs.project import Project
from agentd.runs.report import Report
from agentd.state.reading import printable

_SHOWN = 5


def offer(project: Project, report: Report) -> Report:
    """Commit a change that was just archived, as `[git] commit` says: at once, or if the person at the terminal says yes."""
    mode = project.config.get("git", "commit")
    if mode == "never" or report.phase != "archived" or not uncommitted.is_marked(project.root, report.name):
        return report
    if mode == "ask":
        options = (Option("yes", "Yes"), Option("no", "No", f"later: agentd commit {report.name}"))
        question = f"Commit the files of {report.name}?"
        answer = project.ask(Decision("commit", question, options, "", project.now(), name="commit", header="Commit"))
        if answer is None or answer.value != "yes":
            return report
    try:
        made: Sequence[Committed] = LAYOUT.find("commit.commit")(project, report.name)
    except AgentdError as error:
        project.say(f"⚠ not committed: {error.message}")
        project.say(f"  Fix: {error.fix}")
        return replace(report, not_committed={"message": error.message, "fix": error.fix})
    for line in lines(made):
        project.say(line)
    return replace(report, next=f"agentd log {report.name}", commits=as_data(made))


def as_data(made: Sequence[Committed]) -> list[dict[str, Any]]:
    """The same as `lines`, for programs."""
    found: list[dict[str, Any]] = []
    for one in made:
        place = {
            "folder": str(one.folder),
            "branch": one.branch,
            "commit": one.hash,
            "files": list(map(printable, one.files)),
        }
        strange = {"not_of_the_change": one.more, "left_out": one.less}
        found.append(place | {key: list(map(printable, paths)) for key, paths in strange.items() if paths})
    return found


def lines(made: Sequence[Committed]) -> list[str]:
    """What was committed where, and how to take it back."""
    found = []
    for one in made:
        if one.files:
            found += [
                f"✓ committed {len(one.files)} files on {one.branch}: {one.hash[:12]} {one.subject}",
                f"  to take it back: git -C {one.folder} revert {one.hash[:12]}",
            ]
        else:
            found.append(f"✓ already committed on {one.branch}: {one.hash[:12]}")
        if one.more:
            found += [
                f"⚠ in the commit, but not of the change (by a hook?): {_named(one.more)}",
                f"  to take the commit back and keep the files: git -C {one.folder} {one.undo}",
            ]
        if one.less:
            look = f"git -C {one.folder} update-index --no-assume-unchanged {shlex.join(map(printable, one.less[:_SHOWN]))}"
            found += [
                f"⚠ of the change, but not in the commit (ignored, marked assume-unchanged, or by a hook?): {_named(one.less)}",
                f"  to have git look at it, before the same command again: {look}",
            ]
    return found


def _named(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return ", ".join(map(printable, paths[:_SHOWN])) + more
