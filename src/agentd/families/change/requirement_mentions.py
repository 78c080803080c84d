"""The requirements that the text of a test mentions, by one rule for all languages.

A spec's name counts in any spelling (`top-words`, `top_words`, `TopWords`). What follows it counts as its requirement:
an `R1` at once (`top-words:R1`, `test_top_words_r1`, `TopWordsR1`), or in capitals as a word of its own on the same line,
up to the next spec's name (`# top-words: R1, R2`). In a file whose path has the spec's name, `R1` alone and `test_r1` do too.
"""

import re
from collections.abc import Collection, Iterator
from functools import lru_cache

from agentd.patterns import regex

_AT_ONCE = regex(r"(?:\.md)?((?:(?:[-_.#]|:+ ?)?R\d+(?![0-9a-z])|(?:[-_.#]|:+ ?)r\d+(?![0-9a-z]))+)")
_ALONE = regex(r"(?<![A-Za-z0-9])R(\d+)(?![A-Za-z0-9])")
_TEST = regex(r"(?<![A-Za-z0-9])[tT]est_?[rR](\d+)(?![0-9a-z])")
_NUMBER = regex(r"[rR](\d+)")


def mentioned(text: str, specs: Collection[str], path: str = "") -> frozenset[tuple[str, str]]:
    """The requirements of these specs that a text mentions, each as spec and id; `path` is the file of the text."""
    if not specs:
        return frozenset()
    known = tuple(specs)
    found = set(_after_a_name(text, known))
    for spec in {known[hit.lastindex - 1] for hit in _names(known).finditer(path) if hit.lastindex}:
        numbers = (match[1] for pattern in (_ALONE, _TEST) for match in pattern.finditer(text))
        found |= {(spec, f"R{number}") for number in numbers}
    return frozenset(found)


def _after_a_name(text: str, specs: tuple[str, ...]) -> Iterator[tuple[str, str]]:
    hits = list(_names(specs).finditer(text))
    for at, hit in enumerate(hits):
        limit = hits[at + 1].start() if at + 1 < len(hits) else len(text)
        end = text.find("\n", hit.end(), limit)
        rest = text[hit.end() : limit if end < 0 else end]
        at_once = _AT_ONCE.match(rest)
        numbers = _NUMBER.findall(at_once[1]) if at_once else []
        for number in (*numbers, *_ALONE.findall(rest)):
            yield specs[(hit.lastindex or 1) - 1], f"R{number}"


@lru_cache(64)
def _names(specs: tuple[str, ...]) -> re.Pattern[str]:
    """A pattern with one group for each name. The match that begins first counts: `top-words` is not `words`."""
    spelled = ("[-_ ./]?".join(map(re.escape, re.findall(r"[A-Za-z0-9]+", spec))) or r"(?!)" for spec in specs)
    begins, ends = r"(?:(?<![A-Za-z0-9])|(?<=[a-z0-9])(?=[A-Z]))", r"(?![a-z0-9])(?!(?<=[A-Z])[A-Z])"
    return re.compile("|".join(f"{begins}((?i:{words})){ends}" for words in spelled))
