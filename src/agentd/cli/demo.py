"""`agentd demo`: take a sample change from idea to archive, and two more that disagree."""

import shutil
import sys
from pathlib import Path

import click

from agentd.cli.ending import print_json
from agentd.cli.face import json_option
from agentd.cli.history import lines_of
from agentd.demo import CHANGE, demonstrate
from agentd.demo.disputing import SECOND


@click.command()
@click.option("--keep", type=click.Path(file_okay=False, path_type=Path), help="Where to put the sample repository.")
@json_option
def command(keep: Path | None, as_json: bool) -> int:
    """Take a change through plan, impl and archive in a small git repository, with scripted agents.

    Then two changes disagree about one spec, which is settled and undone.
    """
    shown = demonstrate(keep, (lambda _: None) if as_json else click.echo, lines_of)
    code = 1 if shown.failed else 0
    if as_json:
        print_json({"ok": code == 0, **shown.to_data(), "exit": code})
        return code
    click.echo(f"The sample's own tests: {shown.tests}")
    if shown.failed:
        click.echo(f"It did not go as it should: {', '.join(shown.failed)}")
    click.echo(f"\nWhat happened is in {shown.folder}:")
    for path, what in (
        ("agentd/specs/top-words.md", "the spec that is now part of the library"),
        (f"agentd/archive/{CHANGE}/", "the change: proposal, challenge, tasks, evidence, review, diary"),
        ("tally/words.py", "the code that was written"),
        (f"agentd/changes/{SECOND}/", "the change that was undone, with the conflict as it was settled"),
        ("agentd/*.yaml", "what the scripted agents were told to do"),
    ):
        click.echo(f"  {path:<36} {what}")
    started = Path(sys.argv[0]).absolute()
    me = (
        "agentd"
        if shutil.which("agentd")
        else f"{sys.executable} -m agentd"
        if started.suffix == ".py"
        else str(started)
    )
    tries = (f"trace {CHANGE}", f"log {CHANGE}", f"archive {SECOND}", "workflow show change --diagram")
    click.echo("\n  ".join(("\nTry next:", f"cd {shown.folder}", "git diff", *(f"{me} {words}" for words in tries))))
    return code
