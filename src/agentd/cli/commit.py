"""`agentd commit`: the files of a change in a commit of their own."""

from collections.abc import Sequence
from dataclasses import replace

import click

from agentd.cli.driving import project_for
from agentd.cli.face import json_option
from agentd.cli.output import tell
from agentd.errors import AgentdError
from agentd.families.change import commit as committing
from agentd.families.change.commit import Committed
from agentd.model.decision import Decision, Option
from agentd.runs import uncommitted
from agentd.runs.project import Project
from agentd.runs.report import Report


@click.command()
@click.argument("change")
@json_option
def command(change: str, as_json: bool) -> int:
    """Commit exactly the files that CHANGE changed, and its documents, with a message from its proposal.

    Your hooks run as with any commit. What else is staged or changed stays so. Files that somebody edited after they were
    approved are refused. Run again, it finds the commit there is.
    """
    made = committing.commit(project_for(as_json), change)
    commits = [
        {"folder": str(one.folder), "branch": one.branch, "commit": one.hash, "files": list(one.files)} for one in made
    ]
    return tell(as_json, {"change": change, "commits": commits}, lines(made))


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
        for line in lines(committing.commit(project, report.name)):
            project.say(line)
    except AgentdError as error:
        project.say(f"⚠ not committed: {error.message}")
        return report
    return replace(report, next=f"agentd log {report.name}")


def lines(made: Sequence[Committed]) -> list[str]:
    """What was committed where, and how to take it back."""
    found = []
    for one in made:
        if not one.files:
            found.append(f"✓ already committed on {one.branch}: {one.hash[:12]}")
            continue
        found += [
            f"✓ committed {len(one.files)} files on {one.branch}: {one.hash[:12]} {one.subject}",
            f"  to take it back: git -C {one.folder} revert {one.hash[:12]}",
        ]
    return found
