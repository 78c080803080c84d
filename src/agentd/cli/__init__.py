"""The command line. Each command has a file of its own, imported when it is called; this one finds it and ends the process."""

import io
import os
import sys
from importlib import import_module
from typing import Any

import click

from agentd import __version__
from agentd.cli.ending import end
from agentd.errors import UsageError

COMMANDS = {
    "quick": "Do a small change: one plan, one yes, done.",
    "plan": "Start a change, or go on planning it.",
    "impl": "Implement a change whose plan was approved.",
    "archive": "Merge a complete change's specs into the library.",
    "commit": "Commit exactly the files of a change.",
    "undo": "Take an archived change out of the library again.",
    "abandon": "Take an active change away; it can be brought back.",
    "validate": "Check the documents of changes and the spec library.",
    "run": "Start a run of any workflow.",
    "resume": "Go on with a run where it stopped.",
    "answer": "Answer an open question of a run.",
    "stop": "Ask a working run to stop after its step.",
    "status": "Where runs stand, and what to type next.",
    "list": "Every run, one line each.",
    "show": "The plan of a change: proposal, specs and tasks.",
    "log": "What happened in a run.",
    "cost": "What agent calls cost, by run, step or model.",
    "trace": "What proves each requirement: tasks, files, tests, evidence.",
    "history": "Which change brought which requirement of a spec.",
    "workflow": "List, show and check workflows.",
    "mcp": "Serve the documents of a run to an agent.",
    "init": "Write a configuration file to edit.",
    "doctor": "What is installed, what works, and who plays which role.",
    "demo": "Take a sample change from idea to archive.",
    "completions": "Print shell completions.",
}
# What also works and is not listed: older names, and the steps of a change one by one.
OTHER_NAMES = {
    "step": ("step",),
    "challenge": ("step", "challenge"),
    "reproposal": ("step", "reproposal"),
    "plan-change": ("plan",),
    "impl-change": ("impl",),
    "merge-change": ("archive",),
}
REPLACED = {"proposal": "plan", "review": "impl", "resolve-reviews": "impl"}
# What other tools call a command, and what it is called here.
ELSEWHERE = {
    "propose": "plan",
    "new": "plan",
    "specify": "plan",
    "start": "plan",
    "apply": "impl",
    "implement": "impl",
    "build": "impl",
    "fix": "quick",
    "merge": "archive",
    "sync": "archive",
    "revert": "undo",
    "delete": "abandon",
    "remove": "abandon",
    "cancel": "abandon",
    "discard": "abandon",
    "continue": "resume",
    "verify": "validate",
    "analyze": "validate",
    "next": "status",
    "ls": "list",
    "view": "show",
    "check": "doctor",
    "config": "init",
}


class LazyGroup(click.Group):
    """Knows its commands by name and summary, and imports one only to run it."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return [*COMMANDS]  # in this module `list` is the command

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS and (cmd_name,) not in OTHER_NAMES.values():
            return None
        command: click.Command = import_module(f"agentd.cli.{cmd_name}").command
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


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="agentd")
def cli() -> None:
    """Drive AI coding agents through durable workflows with gates; every decision that matters stays with a person."""


def main(layouts: tuple[Any, ...] | None = None) -> None:
    """The entry point of the `agentd` program; with `layouts` it knows these families and no others."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    if "_AGENTD_COMPLETE" in os.environ:
        cli.main(prog_name="agentd")
    sys.exit(end(cli, sys.argv[1:], layouts))
