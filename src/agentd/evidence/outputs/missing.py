"""Reads that a program could not be started because it, or a module it needs to start, is not installed. Pure."""

import re
from collections.abc import Sequence

_MISSING = re.compile(
    r"^(?:\S*python[\d.]*: No module named \S+"
    r"|(?:\S*/)?\w*sh: (?:line )?(?:\d+: )?\S+: (?:command )?not found"
    r"|make(?:\[\d+\])?: \S+: (?:No such file or directory|Command not found)"
    r"|npm (?:ERR!|error) (?:npx canceled due to missing packages.*|could not determine executable to run)"
    r"|error: Failed to spawn: `.*`|Command not found: \S+|error: no such command: `.*`"
    r"|error Command \".*\" not found\.|\s*ERR_PNPM_\S+\s+Command \".*\" not found.*"
    r"|go: no such tool .*|error: 'cargo-\S+' is not installed.*)$"
)


def read(lines: Sequence[str]) -> str:
    """The line that says so; nothing if none does."""
    return next((line.strip() for line in lines if _MISSING.match(line)), "")
