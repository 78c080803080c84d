"""`agentd demo`: take a sample change from idea to archive, and two more that disagree."""

import shutil
import sys
from collections.abc import Iterator
from pathlib import Path

import click

from agentd.cli.face import json_option
from agentd.cli.history import lines_of
from agentd.cli.output import say, tell
from agentd.demo import CHANGE, Shown, demonstrate, staged, team
from agentd.demo.disputing import SECOND
from agentd.errors import UsageError


@click.command()
@click.option("--keep", type=click.Path(file_okay=False, path_type=Path), help="Where to put the sample repository.")
@click.option(
    "--workflow", type=click.Choice(["change", "team", "staged"]), default="change", help="What to demonstrate."
)
@click.option("--lean", is_flag=True, help="With --workflow team: the lean mode.")
@json_option
def command(keep: Path | None, workflow: str, lean: bool, as_json: bool) -> int:
    """Take a change through plan, impl and archive in a small git repository, with scripted agents.

    Then two changes disagree about one spec, which is settled and undone. With --workflow team: a session of
    roles; with --workflow staged: a task in stages.
    """
    told = (lambda _: None) if as_json else say
    if workflow == "team":
        session = team.demonstrate(keep, told, lean)
        return tell(as_json, session.to_data(), team.lines(session), 1 if session.failed else 0)
    if lean:
        raise UsageError("--lean goes with --workflow team.", "agentd demo --workflow team --lean")
    if workflow == "staged":
        run = staged.demonstrate(keep, told)
        return tell(as_json, run.to_data(), staged.lines(run), 1 if run.failed else 0)
    shown = demonstrate(keep, told, lines_of)
    return tell(as_json, shown.to_data(), lines(shown), 1 if shown.failed else 0)


def lines(shown: Shown) -> Iterator[str]:
    """What a person is told at the end: where everything is, and what to try."""
    yield f"The sample's own tests: {shown.tests}"
    if shown.failed:
        yield f"It did not go as it should: {', '.join(shown.failed)}"
    yield from ("", f"What happened is in {shown.folder}:")
    for path, what in (
        ("agentd/specs/top-words.md", "the spec that is now part of the library"),
        (f"agentd/archive/{CHANGE}/", "the change: proposal, challenge, tasks, evidence, review, diary"),
        ("tally/words.py", "the code that was written"),
        (f"agentd/changes/{SECOND}/", "the change that was undone, with the conflict as it was settled"),
        ("agentd/*.yaml", "what the scripted agents were told to do"),
    ):
        yield f"  {path:<36} {what}"
    started = Path(sys.argv[0]).absolute()
    me = (
        "agentd"
        if shutil.which("agentd")
        else f"{sys.executable} -m agentd"
        if started.suffix == ".py"
        else str(started)
    )
    tries = (f"trace {CHANGE}", f"log {CHANGE}", f"archive {SECOND}", "workflow show change --diagram")
    yield from ("", "Try next:", f"  cd {shown.folder}", "  git diff", *(f"  {me} {words}" for words in tries))
