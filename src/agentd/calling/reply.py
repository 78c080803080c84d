"""What an agent states in words: a structured line, never a word found somewhere in its prose."""

import json
from collections.abc import Collection, Iterator
from typing import Literal

from agentd.patterns import regex
from agentd.text.outline import closes, opens, split_lines
from agentd.values import dataclass

_QUOTE_OR_LIST = regex(r"[ \t]*(?:>[ \t]*)*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)?")
_NO_CODE = regex(r" {0,3}(?:(?:> ?)+ {0,3})?(?:(?:[-*+]|\d{1,9}[.)])[ \t]{1,4})?(?=\S)")  # deeper is code
_PASS = regex(
    r"(\*\*|__|)(?:PASS|<review>[ \t]*PASS[ \t]*</review>)"
    r"(?:[ \t]*[:：]|\1(?:[ \t]*[:：]|[ \t]+[-–—][ \t]|[.!。]?[ \t]*\Z))"
)
_CODE = regex(r"(`{1,3})([^`]+)\1")
_AGAINST = regex(r"(?:#{1,6}[ \t]+)?[`*_\[(]*(?:NEEDS[_ -]?REVISION|FAIL(?:ED)?|NOT[_ ]PASS)(?![A-Za-z0-9])")
_TAG_AGAINST = regex(r"<review>[ \t]*NEEDS[_ -]?REVISION[ \t]*</review>")
_AGAINST_WORD = regex(r"\bNEEDS[_ -]?REVISION\b")


@dataclass(frozen=True)
class Stated:
    """The outcome found, or why none can be taken from the reply."""

    word: str = ""
    problem: str = ""


def find_outcome(text: str, allowed: Collection[str]) -> Stated:
    """Reads lines that are a JSON object with the key `outcome`; two that disagree are no outcome at all."""
    return judge(_outcomes(text), allowed)


def judge(words: Collection[object], allowed: Collection[str]) -> Stated:
    """One allowed word, said once or several times, is an outcome; anything else is a problem."""
    different = list(dict.fromkeys(map(str, words)))
    if not different:
        return Stated(problem="the reply states no outcome")
    if len(different) > 1:
        return Stated(problem=f"the reply states different outcomes: {', '.join(different)}")
    word = different[0].strip().lower()
    if word not in allowed:
        return Stated(problem=f"the reply states '{different[0]}', which is none of {', '.join(allowed)}")
    return Stated(word)


def self_review(text: str) -> Literal["pass", "needs_revision"]:
    """What an author says of its own document. Only a clear PASS that nothing speaks against is one.

    A marker begins its line: `PASS`, `PASS: …`, `NEEDS_REVISION: …`, `<review>PASS</review>`, or a JSON outcome.
    """
    said = _outcomes(text)
    passed = judge(said, ("pass",)).word == "pass"
    if said and not passed:
        return "needs_revision"
    passed = passed or any(_passes(line) and not _AGAINST_WORD.search(line) for line in _fenced(text))
    for line in _plain_lines(text):
        marked = _passes(line)
        if _AGAINST.match(_undressed(line)) or _TAG_AGAINST.search(line) or (marked and _AGAINST_WORD.search(line)):
            return "needs_revision"
        passed = passed or marked
    return "pass" if passed else "needs_revision"


def _passes(line: str) -> bool:
    """Whether a line is a marker of PASS; one in backticks is if nothing else stands on its line."""
    start = _NO_CODE.match(line)
    said = line[start.end() :].rstrip() if start else ""
    code = _CODE.fullmatch(said)
    said = code[2] if code else said
    return _PASS.match(said) is not None


def _fenced(text: str) -> list[str]:
    """The only lines of code fences with which a reply begins or ends; other fences, and longer ones, are quotations."""
    lines = [line for line in split_lines(text) if line.strip()]
    found, fence, start = [], "", 0
    for number, line in enumerate(lines):
        if not fence:
            fence, start = opens(line), number
        elif closes(line, fence):
            alone = number == start + 2 and fence != "<!--"
            found += [lines[number - 1]] if alone and (start == 0 or number == len(lines) - 1) else []
            fence = ""
    return found


def _plain_lines(text: str) -> Iterator[str]:
    """The lines outside code fences and comments, also where those stand in a quotation or a list."""
    fence = ""
    for line in split_lines(text):
        bare = _undressed(line)
        if fence:
            fence = "" if closes(bare, fence) else fence
            continue
        fence = opens(bare)
        if not fence:
            yield line


def _undressed(line: str) -> str:
    return _QUOTE_OR_LIST.sub("", line, count=1)


def _outcomes(text: str) -> list[object]:
    words = []
    for line in (*_unfenced(text), *_fenced(text)):
        line = line.strip()
        if not (line.startswith("{") and line.endswith("}")):
            continue
        try:
            value = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(value, dict) and "outcome" in value:
            words.append(value["outcome"])
    return words


def _unfenced(text: str) -> Iterator[str]:
    fenced = False
    for line in text.splitlines():
        if line.strip().startswith(("```", "~~~")):
            fenced = not fenced
        if not fenced:
            yield line
