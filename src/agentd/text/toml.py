"""TOML that a repository brings: what is nested deeper than people write is refused, whatever the parser would do with it."""

from typing import Any

from agentd.patterns import regex

# Each part of a dotted key is looked up from the top, so that the time grows with the square of their number.
_ENDLESS = regex(r"(?<![^\s.,])[^\s.,]++(?:\s*+\.\s*+[^\s.,]++){200}")


def parse(text: str) -> dict[str, Any]:
    """The data of a TOML text; ValueError for what is none."""
    import tomllib

    if _ENDLESS.search(text):
        raise ValueError("it is nested too deeply")
    try:
        return tomllib.loads(text)
    except (RecursionError, MemoryError, SystemError):  # the last one is CPython's where the memory is short
        raise ValueError("it is nested too deeply") from None
