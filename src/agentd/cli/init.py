"""`agentd init`: write a configuration file to edit."""

import click

from agentd.cli.driving import project_for
from agentd.cli.face import json_option
from agentd.cli.output import tell
from agentd.runs.example_config import example_config
from agentd.state import durable


@click.command()
@json_option
def command(as_json: bool) -> int:
    """Write agentd/config.toml with examples as comments. It is not needed, and one that is there stays as it is."""
    project = project_for(as_json)
    path = project.root / "agentd" / "config.toml"
    name, there = project.relative(path), path.exists() or path.is_symlink()
    if not there:
        durable.make_folder(path.parent)
        durable.replace(path, example_config().encode(), "config")
    told = f"{name} is there already" if there else f"{name} is written: examples as comments, nothing is set"
    return tell(as_json, {"file": name, "written": not there, "next": "agentd doctor"}, [told, "Next: agentd doctor"])
