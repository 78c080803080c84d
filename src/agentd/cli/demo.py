"""`agentd demo`: take a sample change from idea to archive."""

import shutil
import sys
from pathlib import Path

import click

from agentd.app.demo import CHANGE, demonstrate
from agentd.cli.ending import print_json
from agentd.cli.face import json_option


@click.command()
@click.option("--keep", type=click.Path(file_okay=False, path_type=Path), help="Where to put the sample repository.")
@json_option
def command(keep: Path | None, as_json: bool) -> int:
    """Take a change through plan, impl and archive in a small git repository, with scripted agents."""
    shown = demonstrate(keep, (lambda _: None) if as_json else click.echo)
    code = 0 if shown.tests_green and shown.phase == "archived" else 1
    if as_json:
        print_json({"ok": code == 0, **shown.to_data(), "exit": code})
        return code
    click.echo(f"The change is {shown.phase}. The sample's own tests: {shown.tests}")
    click.echo(f"\nWhat happened is in {shown.folder}:")
    for path, what in (
        ("agentd/specs/top-words.md", "the spec that is now part of the library"),
        (f"agentd/archive/{CHANGE}/", "the change: proposal, challenge, tasks, evidence, review, diary"),
        ("tally/words.py", "the code that was written"),
        ("agentd/demo.yaml", "what the scripted agents were told to do"),
    ):
        click.echo(f"  {path:<34} {what}")
    started = Path(sys.argv[0]).absolute()
    me = (
        "agentd"
        if shutil.which("agentd")
        else f"{sys.executable} -m agentd"
        if started.suffix == ".py"
        else str(started)
    )
    click.echo(
        f"\nTry next:\n  cd {shown.folder}\n  git diff\n  {me} trace {CHANGE}\n  {me} log {CHANGE}\n  {me} workflow show change --diagram"
    )
    return code
