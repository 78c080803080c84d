"""Lines that were written by one side of a conflict and are no longer there once it is settled.

This is told and blocks nothing: a settlement may have to drop a line. A line that was rewritten is not counted.
"""

from collections.abc import Iterable, Mapping
from difflib import SequenceMatcher
from pathlib import Path

from agentd.git import trees
from agentd.model.evidence import Changed
from agentd.patterns import regex

LIKE = 0.6  # how much two lines have in common of which one is the other rewritten
WHOLE = "the whole file"
_MOST_COMPARED = 20_000  # pairs of lines
_WORD = regex(r"\w+")
Texts = Mapping[str, str | None]


def find(root: Path, base: str, side: str, other: str, result: str) -> dict[str, tuple[str, ...]]:
    """Return the lines that the commit `side` added to `base` and that `result` does not have, by file.

    `other` is the other side. A file that is not text is named if all that the side did to it is gone.
    """
    mine, theirs, made = (_by_path(trees.changes(root, base, each)) for each in (side, other, result))
    before = {path: one.old for path, one in (theirs | mine).items()}
    now = {path: made[path].new if path in made else before[path] for path in before}
    now |= {path: one.new for path, one in made.items() if path not in before}
    found = gone(before, _new(mine), _new(theirs), now)
    for path in _not_text(root, side, mine, (base, other), result):
        found[path] = (WHOLE,)
    return found


def _by_path(changes: Iterable[Changed]) -> dict[str, Changed]:
    return {one.path: one for one in changes}


def _new(changes: Mapping[str, Changed]) -> Texts:
    return {path: one.new for path, one in changes.items()}


def _not_text(root: Path, side: str, mine: Mapping[str, Changed], sources: Iterable[str], result: str) -> Iterable[str]:
    """Yield the files without text of a side that are as they were, or as the other side made them."""
    wanted = [path for path, one in mine.items() if one.new == ""]
    if wanted:
        own, now = (trees.hashes(root, each, wanted) for each in (side, result))
        elsewhere = [trees.hashes(root, each, wanted) for each in sources]
        for path in wanted:
            if now.get(path) != own.get(path) and any(now.get(path) == each.get(path) for each in elsewhere):
                yield path


def gone(before: Texts, side: Texts, other: Texts, result: Texts) -> dict[str, tuple[str, ...]]:
    """Return the lines of `side` that are neither in `before` nor anywhere in `result`, without those rewritten there."""
    there = {line for text in result.values() for line in _lines(text)}
    known = {line for texts in (before, side, other) for text in texts.values() for line in _lines(text)}
    written = there - known
    words = {word for line in written for word in _WORD.findall(line)}
    found = {}
    for path, text in side.items():
        was = before.get(path) or ""
        old, old_words = {*_lines(was)}, {*_WORD.findall(was)}
        missing = [line for line in dict.fromkeys(_lines(text)) if line not in old and line not in there]
        comparable = written if len(missing) * len(written) <= _MOST_COMPARED else ()
        lost = [
            line
            for line in missing
            if not _is_within({*_WORD.findall(line)} - old_words, words)
            and not any(_are_alike(line, each) for each in comparable)
        ]
        if lost:
            found[path] = tuple(lost)
    return found


def _lines(text: str | None) -> Iterable[str]:
    """Yield the lines that say something, without their indentation and spacing."""
    return (" ".join(line.split()) for line in (text or "").splitlines() if _WORD.search(line))


def _is_within(new: set[str], words: set[str]) -> bool:
    return bool(new) and new <= words


def _are_alike(one: str, other: str) -> bool:
    match = SequenceMatcher(None, one, other, autojunk=False)
    return match.real_quick_ratio() >= LIKE and match.quick_ratio() >= LIKE and match.ratio() >= LIKE
