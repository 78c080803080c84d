"""`agentd archive`: bring complete changes' specs into the library."""

import sys
from typing import Any

import click

from agentd.cli.commit_offer import offer
from agentd.cli.driving import project_for
from agentd.cli.face import json_option, plain, project_here, show
from agentd.cli.live import is_terminal
from agentd.cli.output import say, tell
from agentd.errors import AgentdError, MergeConflict, UsageError
from agentd.families.change.archive import commands, messages, queue
from agentd.families.change.archive.spec_merge import Result
from agentd.model.merge import Prefer
from agentd.runs.project import Project


@click.command()
@click.argument("change", required=False)
@click.option("--all", "everything", is_flag=True, help="Every complete change, up to the first conflict.")
@click.option("--ours", is_flag=True, help="Where both changed a part, take the text of CHANGE.")
@click.option("--theirs", is_flag=True, help="Where both changed a part, keep the library's text.")
@click.option("--edit", is_flag=True, help="Settle conflicts in your editor, in marked copies of the specs.")
@click.option("--dry-run", is_flag=True, help="Say what would be done, and do nothing.")
@json_option
def command(
    change: str | None, everything: bool, ours: bool, theirs: bool, edit: bool, dry_run: bool, as_json: bool
) -> int:
    """Merge the specs of CHANGE into agentd/specs/ and move its folder to agentd/archive/.

    Each requirement and scenario is merged by itself against what the library had when CHANGE began. What the library
    changed since is kept; what both changed is a conflict, shown with both texts, and nothing is archived until a person
    has said which text counts.
    """
    options = {"--ours": ours, "--theirs": theirs, "--edit": edit, "--dry-run": dry_run}
    chosen = [name for name, on in options.items() if on]
    if everything == bool(change):
        raise UsageError("Name a change or use --all.", "agentd list   # or: agentd archive --all")
    if len(chosen) > 1 or (everything and chosen and not dry_run):
        raise UsageError(
            f"{' and '.join([*chosen, *['--all'] * everything])} cannot be combined.", "agentd archive --help"
        )
    project = project_here(as_json) if dry_run else project_for(as_json)
    if everything:
        return archive_all(project, as_json, dry_run)
    assert change
    if dry_run:
        return show_preview(change, *commands.preview(project, change), as_json)
    if edit:
        settle(project, change, as_json)
    prefer: Prefer = "ours" if ours else "theirs" if theirs else ""
    return show(offer(project, commands.archive(project, change, prefer)), as_json)


def settle(project: Project, change: str, as_json: bool) -> None:
    """Open the marked copies in an editor; without a terminal, only name them."""
    paths = commands.draft(project, change)
    if paths and not as_json and is_terminal(sys.stdin) and is_terminal(sys.stdout):
        try:
            click.edit(filename=[str(path) for path in paths])
        except click.ClickException as error:
            raise AgentdError(
                f"{error.message} Nothing was archived.", f"EDITOR=vi agentd archive {change} --edit"
            ) from None
    still = commands.still_open(project, change)
    if still:
        names = ", ".join(f"{plain(str(path))}:{line}" for path, line in still)
        raise MergeConflict(
            f"There are conflicts left to settle: {names}; nothing was archived.",
            f"${{EDITOR:-vi}} {plain(str(still[0][0]))}   # remove the markers, then: agentd archive {change}",
            messages.as_data(commands.preview(project, change)[0]),
            (),
        )


def show_preview(change: str, result: Result, shown: list[str], as_json: bool) -> int:
    """Show what archiving the change would do."""
    effects = list(messages.effects(result.specs))
    data = {"change": change, "specs": effects, "conflicts": messages.as_data(result)}
    lines = (*(effects or ["The library does not change."]), *shown)
    return tell(as_json, data, lines, 1 if result.conflicts else 0)


def archive_all(project: Project, as_json: bool, dry_run: bool) -> int:
    """Archive every complete change, or only show the order; then say how far that went."""
    if dry_run:
        found, unreadable = queue.waiting(project)
        names = [one.place.name for one in queue.ordered(found)]
        return tell(as_json, {"order": names, "unreadable": list(unreadable)}, names or ["No change is complete."])
    done = queue.archive_all(project)
    offered = [offer(project, one) for one in done.archived] if project.config.get("git", "commit") == "auto" else []
    left_over = [{"change": one.name, **one.not_committed} for one in offered if one.not_committed]
    code = done.error.code if done.error else 0
    names = [one.name for one in done.archived]
    trouble = done.error
    data: dict[str, Any] = {"archived": names, "unreadable": list(done.unreadable)}
    if left_over:
        data["not_committed"] = left_over
    if trouble:
        data |= {"stopped": done.stopped, "left": list(done.left), "error": trouble.name, "message": trouble.message}
        data |= {**trouble.data(), "fix": trouble.fix}
    tell(as_json, data, ("", f"Archived: {', '.join(names) or 'nothing'}"), code)
    if trouble and not as_json:
        left = [f"Not tried: {', '.join(done.left)}"] if done.left else []
        for line in (*trouble.lines(), *left, f"Fix:   {trouble.fix}"):
            say(line, err=True)
    return code
