"""Text that people and agents wrote, put into a document so that no line of it is taken for the document's own.

A line that would be is marked as Markdown does it, with a backslash or a character reference, and read back without.
Trailing white space, comments and empty lines at the ends are written as references; whole code fences stay as they are.
"""

import re
from collections.abc import Sequence
from math import inf

from agentd.patterns import regex
from agentd.text.outline import closes, opens

_REFERENCE = regex(r"<!--|&((?:amp;)*)(#(\d{1,5});|lt;!--)")
_EMPTY = regex(r"&((?:amp;)*)nbsp;")
_CLOSING = regex(r"(^|[ \t])(\\*)(#+)$")


def structure(pattern: str) -> re.Pattern[str]:
    """What must not begin a line of text: the pattern, or a code fence."""
    return regex(rf" {{0,3}}(\\*)(?:`{{3,}}|~{{3,}}|{pattern})")


def escape(text: str, own: re.Pattern[str], pad: str = "") -> str:
    """Text for a place where `own` begins lines of the document, each of its lines behind `pad`."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    if lines == [""]:
        return ""
    fenced = _fenced(lines, pad)
    written = [line if index in fenced else _escape(line, own, pad) for index, line in enumerate(lines)]
    for edge in (range(len(lines)), range(len(lines) - 1, -1, -1)):
        for index in edge:
            if lines[index]:
                break
            written[index] = "&nbsp;"
    return "\n".join(pad + line if line else "" for line in written)


def unescape(lines: Sequence[str], own: re.Pattern[str], pad: str = "") -> str:
    """The text that `escape` wrote as these lines, or that a person wrote there; empty lines around it are none of it."""
    start, end = 0, len(lines)
    while start < end and not lines[start].strip():
        start += 1
    while end > start and not lines[end - 1].strip():
        end -= 1
    kept = lines[start:end]
    if pad:
        kept = [line.removeprefix(pad) if line.startswith(pad) else line.lstrip(" \t") for line in kept]
    text = "\n".join(kept)
    fences = "```" in text or "~~~" in text
    if not (fences or "\\" in text or "&" in text or " \n" in text or "\t\n" in text or text[-1:] in (" ", "\t")):
        return text
    if fences:
        fenced = _fenced(kept, pad)
        return "\n".join(line if index in fenced else _unescape(line, own, pad) for index, line in enumerate(kept))
    return "\n".join([_unescape(line, own, pad) for line in kept])


def escape_line(text: str) -> str:
    """Text of one line for the end of a line, a heading's or a label's."""
    if "\n" in text or "\r" in text:
        raise ValueError(f"must be one line: {text!r}")
    written = _REFERENCE.sub(_refer, text)
    if written[:1].isspace():
        written = f"&#{ord(written[0])};{written[1:]}"
    return _CLOSING.sub(r"\1\2\\\3", _trailing(written))


def unescape_line(written: str) -> str:
    """The text that `escape_line` wrote."""
    line = written.strip(" \t")
    if line.endswith("#"):
        line = _CLOSING.sub(lambda found: found[1] + found[2][1:] + found[3], line)
    return _REFERENCE.sub(_dereference, line) if "&" in line else line


def _fenced(lines: Sequence[str], pad: str) -> set[int]:
    """The lines of whole code fences; a fence that is never closed is none."""
    found: set[int] = set()
    open_ends: dict[str, float] = {"`": inf, "~": inf}
    index = 0
    while index < len(lines):
        fence = opens(pad + lines[index])
        if fence and fence != "<!--" and len(fence) < open_ends[fence[0]]:
            end = next((at for at in range(index + 1, len(lines)) if closes(pad + lines[at], fence)), 0)
            if end:
                found.update(range(index, end + 1))
                index = end
            else:
                open_ends[fence[0]] = len(fence)  # what would close a longer fence would have closed this one
        index += 1
    return found


def _escape(line: str, own: re.Pattern[str], pad: str) -> str:
    written = _trailing(_REFERENCE.sub(_refer, line))
    if _EMPTY.fullmatch(written):
        return "&amp;" + written[1:]
    found = own.match(pad + written)
    return _marked(pad + written, found.start(1))[len(pad) :] if found else written


def _unescape(line: str, own: re.Pattern[str], pad: str) -> str:
    line = line.rstrip(" \t")
    if "&" in line:
        empty = _EMPTY.fullmatch(line)
        if empty:
            return "&" + line[5:] if empty[1] else ""
    if "\\" in line:
        found = own.match(pad + line)
        if found and found[1]:
            at = found.start(1) - len(pad)
            line = line[:at] + line[at + 1 :]
    return _REFERENCE.sub(_dereference, line) if "&" in line else line


def _marked(line: str, at: int) -> str:
    return f"{line[:at]}\\{line[at:]}"


def _trailing(line: str) -> str:
    return f"{line[:-1]}&#{ord(line[-1])};" if line[-1:].isspace() else line


def _refer(found: re.Match[str]) -> str:
    if found[0] == "<!--":
        return "&lt;!--"
    return "&amp;" + found[0][1:] if found[3] is None or _is_space(found[3]) else found[0]


def _dereference(found: re.Match[str]) -> str:
    if found[0] == "<!--" or (found[3] is not None and not _is_space(found[3])):
        return found[0]
    if found[1]:
        return "&" + found[0][5:]
    return chr(int(found[3])) if found[3] is not None else "<!--"


def _is_space(number: str) -> bool:
    return int(number) < 0x10000 and chr(int(number)).isspace() and number.isascii() and number[0] != "0"
