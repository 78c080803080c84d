"""`agentd archive`: bring complete changes' specs into the library."""

import sys

import click

from agentd.cli.ending import print_json
from agentd.cli.face import json_option, plain, project_for, show
from agentd.cli.live import is_terminal
from agentd.errors import AgentdError, MergeConflict, UsageError
from agentd.families.change.archive import commands, messages, queue
from agentd.families.change.archive.merge import Result
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
    project = project_for(as_json)
    if everything:
        return archive_all(project, as_json, dry_run)
    assert change
    if dry_run:
        return show_preview(change, *commands.preview(project, change), as_json)
    if edit:
        settle(project, change, as_json)
    prefer: Prefer = "ours" if ours else "theirs" if theirs else ""
    return show(commands.archive(project, change, prefer), as_json)


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
    code = 1 if result.conflicts else 0
    lines = list(messages.effects(result.specs))
    if as_json:
        conflicts = messages.as_data(result)
        print_json({"ok": not code, "change": change, "specs": lines, "conflicts": conflicts, "exit": code})
        return code
    for line in (*(lines or ["The library does not change."]), *shown):
        click.echo(line)
    return code


def archive_all(project: Project, as_json: bool, dry_run: bool) -> int:
    """Archive every complete change, or only show the order; then say how far that went."""
    if dry_run:
        found, unreadable = queue.waiting(project)
        names = [one.place.name for one in queue.ordered(found)]
        if as_json:
            print_json({"ok": True, "order": names, "unreadable": list(unreadable), "exit": 0})
        else:
            click.echo("\n".join(names) or "No change is complete.")
        return 0
    done = queue.archive_all(project)
    code = done.error.code if done.error else 0
    names = [one.name for one in done.archived]
    if as_json:
        trouble = done.error
        why = (
            {"error": trouble.name, "message": trouble.message, **trouble.data(), "fix": trouble.fix} if trouble else {}
        )
        stopped = {"stopped": done.stopped, "left": list(done.left), **why} if trouble else {}
        print_json({"ok": not code, "archived": names, "unreadable": list(done.unreadable), **stopped, "exit": code})
        return code
    click.echo(f"\nArchived: {', '.join(names) or 'nothing'}")
    if done.error:
        for line in done.error.lines():
            click.echo(line, err=True)
        if done.left:
            click.echo(f"Not tried: {', '.join(done.left)}", err=True)
        click.echo(f"Fix:   {done.error.fix}", err=True)
    return code
