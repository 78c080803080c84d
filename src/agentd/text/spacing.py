"""The white space of a document put in order without a change of what it says, and its lines with their ends."""

from collections.abc import Collection

from agentd.patterns import regex

_LINE = regex(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+\Z")


def split_ends(text: str) -> list[str]:
    """The lines of a text with their ends, as `split_lines` counts them."""
    return _LINE.findall(text)


def line_end(text: str) -> str:
    """How lines end in a text."""
    if "\r\n" in text:
        return "\r\n"
    return "\r" if "\r" in text and "\n" not in text else "\n"


def spaced(text: str, first: int, apart: Collection[int], headings: Collection[int], off: Collection[int]) -> str:
    """The text from line `first` on without white space at the ends of lines and with empty lines around headings.

    Headings in `off` are put at level 2; lines in `apart` stay as they are.
    """
    pieces, newline = split_ends(text), line_end(text)
    result = pieces[: first - 1]
    for number, piece in enumerate(pieces[first - 1 :], first):
        line = piece.rstrip("\r\n")
        if number not in apart:
            end = piece[len(line) :]
            line = line.rstrip(" \t")
            line = f"## {line.lstrip(' #')}" if number in off else line
            piece = line + end
        parted = number in headings or number - 1 in headings
        if parted and line and len(result) >= first and result[-1].strip("\r\n"):
            result.append(newline)
        result.append(piece)
    return "".join(result)
