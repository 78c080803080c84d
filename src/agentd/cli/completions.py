"""`agentd completions`: print shell completions."""

import click
from click.shell_completion import get_completion_class

from agentd.cli.face import json_option
from agentd.cli.group import cli
from agentd.cli.output import tell


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@json_option
def command(shell: str, as_json: bool) -> int:
    """Print the completion script for SHELL; source it from the shell's start-up file."""
    found = get_completion_class(shell)
    assert found is not None
    script = found(cli, {}, "agentd", "_AGENTD_COMPLETE").source()
    return tell(as_json, {"shell": shell, "script": script}, [script])
