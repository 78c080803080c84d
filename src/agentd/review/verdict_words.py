"""The verdicts that a text states by its structure; a word inside a sentence is never a verdict."""

import re
from collections.abc import Collection, Iterable

from agentd.patterns import regex
from agentd.text.outline import closes, opens
from agentd.values import dataclass

_LABEL = regex(
    r"[ \t]*(?:[-*+>][ \t]+|(#{1,6})[ \t]+)?(?:\*\*|__)?verdict(?:\*\*|__)?[ \t]*([:：]|\Z)(.*)", re.IGNORECASE
)
_BOX = regex(r"[ \t]*(?:[-*+][ \t]+)?\[[xX✓✔]\][ \t]*(.*)")
_HEADING = regex(r" {0,3}#{1,6}(?:[ \t]|\Z)")
_LONGEST = 200  # longer lines are prose, and slow to match
_DRESS = " \t*_`.。"


@dataclass(frozen=True)
class Stated:
    """One statement of a verdict: the known word, empty if it is unknown, and the text."""

    word: str
    said: str
    line: int


def stated(lines: Iterable[str], words: Collection[str], first: int = 1) -> list[Stated]:
    """Every verdict in these lines: `**Verdict**: X`, `[x] X`, or X alone below a heading `Verdict`."""
    found: list[Stated] = []
    fence = ""
    below = False
    for number, line in enumerate(lines, first):
        if fence:
            fence = "" if closes(line, fence) else fence
            continue
        fence = opens(line)
        label = _LABEL.match(line) if "erdict" in line or "ERDICT" in line else None
        if label and (label[1] or label[2]):
            said = label[3].strip(_DRESS)
            below = not said
            if said:
                found.append(Stated(_known(said, words), said, number))
        elif _HEADING.match(line):
            below = False
        else:
            found += _plain(line, words, number, below)
    return found


def _plain(line: str, words: Collection[str], number: int, below: bool) -> list[Stated]:
    box = _BOX.match(line[:_LONGEST]) if "[" in line else None
    if not box:
        word = _known(line.strip(" \t-+" + _DRESS), words) if below else ""
        return [Stated(word, line.strip(), number)] if word else []
    name = re.match(r"[*_`]*(\w+(?:[ -]\w+)?)[*_`]*(?:[ \t]*(?:[:：–—]|-[ \t]).*|[.。]?[ \t]*)\Z", box[1])
    word = _known(name[1], words) if name else ""
    if word or any(_folded(box[1]).startswith(each) for each in words):
        return [Stated(word, box[1].strip(), number)]
    return []


def _known(said: str, words: Collection[str]) -> str:
    word = _folded(said)
    return word if word in words else ""


def _folded(said: str) -> str:
    return re.sub(r"[\s-]+", "_", said.strip(_DRESS).casefold())
