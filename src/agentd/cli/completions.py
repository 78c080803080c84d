"""`agentd completions`: print shell completions."""

import click
from click.shell_completion import get_completion_class

from agentd.cli.ending import print_json
from agentd.cli.face import json_option


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@json_option
def command(shell: str, as_json: bool) -> int:
    """Print the completion script for SHELL; source it from the shell's start-up file."""
    from agentd.cli import cli

    found = get_completion_class(shell)
    assert found is not None
    script = found(cli, {}, "agentd", "_AGENTD_COMPLETE").source()
    if as_json:
        print_json({"ok": True, "shell": shell, "script": script, "exit": 0})
    else:
        click.echo(script)
    return 0
