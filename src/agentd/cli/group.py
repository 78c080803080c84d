"""The group of all commands. Each command has a file of its own, imported when it is called; this finds it."""

import gc
import os
from importlib import import_module
from typing import Any

import click

from agentd import __version__
from agentd.cli.command_list import ABOUT, COMMANDS, ELSEWHERE, OTHER_NAMES, REPLACED
from agentd.cli.ending import end
from agentd.errors import UsageError


class LazyGroup(click.Group):
    """Knows its commands by name and summary, and imports one only to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS and (cmd_name,) not in OTHER_NAMES.values():
            return None
        command: click.Command = import_module(f"agentd.cli.{cmd_name}").command
        gc.freeze()
        gc.enable()
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([*COMMANDS.items()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        name = args[0] if args else ""
        if name in OTHER_NAMES:
            return super().resolve_command(ctx, [*OTHER_NAMES[name], *args[1:]])
        if name in REPLACED:
            again = " ".join(("agentd", REPLACED[name], *(args[1:] or ["CHANGE"])))
            raise UsageError(f"'{name}' is a part of '{REPLACED[name]}' now.", again)
        if name and name not in COMMANDS and not name.startswith("-"):
            raise unknown(name, args[1:])
        return super().resolve_command(ctx, args)


def unknown(name: str, rest: list[str]) -> UsageError:
    """The error for a word that is no command, with the command that was probably meant."""
    import shlex
    from difflib import get_close_matches

    near = ELSEWHERE.get(name) or next(iter(get_close_matches(name, COMMANDS, 1)), "")
    if not near:
        return UsageError(f"There is no command '{name}'.", "agentd --help")
    if near == "plan" and rest and " " in rest[0]:
        rest = ["my-change", *rest]
    return UsageError(f"There is no command '{name}'. Did you mean '{near}'?", shlex.join(("agentd", near, *rest)))


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]}, help=ABOUT)
@click.version_option(__version__, prog_name="agentd")
def cli() -> None:
    """The program itself, which does nothing before a command is chosen."""


def run(words: list[str], layouts: tuple[Any, ...] | None) -> int:
    """Run the command line and give the exit code."""
    if "_AGENTD_COMPLETE" in os.environ:
        cli.main(prog_name="agentd")
    try:
        return end(cli, words, layouts)
    finally:
        gc.freeze()  # the process ends: what it holds is given back without a search for garbage
