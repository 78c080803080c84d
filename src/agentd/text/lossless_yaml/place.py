"""Where something stands in a YAML text, and the error that says so."""

import re
import shlex

from agentd.errors import Corrupt

BREAKS = "\r\n\x85\u2028\u2029"
BREAK = f"(?:\r\n|[{BREAKS}])"


def corrupt(path: str, line: int, column: int, what: str) -> Corrupt:
    """The error for a place in a text."""
    return Corrupt(f"{path}:{line}:{column}: {what}.", f"${{EDITOR:-vi}} +{line} {shlex.quote(path)}")


def place(before: str) -> tuple[int, int]:
    """Line and column of what comes next."""
    lines = re.split(BREAK, before)
    return len(lines), len(lines[-1]) + 1
