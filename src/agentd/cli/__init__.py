"""The command line. This file answers `agentd --help` by itself, and leaves everything else to the group of commands."""

import gc
import io
import os
import sys
from typing import Any

from agentd.cli.command_list import help_page


def main(layouts: tuple[Any, ...] | None = None) -> None:
    """The entry point of the `agentd` program; with `layouts` it knows these families and no others."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="replace")
    if sys.argv[1:] in (["--help"], ["-h"]) and _is_printed(help_page()):
        sys.exit(0)
    gc.disable()  # until the command is loaded: there is no garbage before, and nothing of it becomes any
    from agentd.cli.group import run  # the page of `--help` needs no click

    sys.exit(run(sys.argv[1:], layouts))


def _is_printed(page: str) -> bool:
    """Print a page, unless click has to wrap it for the terminal, to complete words, or to say why it cannot be printed."""
    if "COLUMNS" in os.environ or "_AGENTD_COMPLETE" in os.environ:
        return False
    try:
        wide = os.get_terminal_size(sys.__stdout__.fileno()).columns if sys.__stdout__ else 0
    except (OSError, ValueError):
        wide = 0  # no terminal
    if 0 < wide < 80:
        return False
    try:
        print(page, flush=True)
    except OSError:
        return False
    return True
