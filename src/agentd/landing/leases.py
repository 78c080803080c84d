"""Who may write which files: tasks declare paths and patterns, and two that want the same file do not run at once.

It reads no disk. `*` stays within a folder, `**` does not, and a slash at the end means all below. In doubt two patterns
overlap: a task that waits loses time, two that write one file lose work.
"""

import itertools
import posixpath
import re
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import lru_cache

from agentd.patterns import regex

STAR, ONE, ANY_DEPTH = "\0", "\1", "**"
READINGS = 3  # more character classes in a pattern than this are read as `*`
_CLASS = regex(r"\[[^][]+\]")
# Alternatives and escapes, which not every reader of patterns knows; each may be as long as a name.
_ALTERNATIVES = regex(r"\{[^{}]*\}|[@+!?*]\([^()]*\)|\\.")
_ODD_CLASS = regex(r"\[:|\[[!^]?\]")

Pattern = tuple[str, ...]


def why_waiting(
    declared: Mapping[str, Sequence[str]],
    written: Mapping[str, Collection[str]],
    running: Collection[str],
    task: str,
) -> str:
    """Return why a task may not begin beside those that run ("waits for T2, which has src/a.py"), or nothing.

    A task has what it declares and what it has written, declared or not.
    """
    wanted = tuple(_leases(declared, written, task))
    for other in running:
        for theirs, theirs_read in _leases(declared, written, other) if other != task else ():
            for mine, mine_read in wanted:
                if _meet(mine_read, theirs_read):
                    return f"waits for {other}, which has {_plainer(mine, theirs)}"
    return ""


def undeclared(
    declared: Mapping[str, Sequence[str]], written: Mapping[str, Collection[str]]
) -> dict[str, tuple[str, ...]]:
    """Return by task the files that it wrote and did not declare."""
    found = {}
    for task, files in written.items():
        known = tuple(itertools.chain.from_iterable(map(read, filter(str.strip, declared.get(task, ())))))
        found[task] = tuple(file for file in sorted(files) if not _meet((_literal(file),), known))
    return {task: files for task, files in found.items() if files}


def overlap(one: str, other: str) -> bool:
    """Tell whether a file could be meant by both of two patterns."""
    return _meet(read(one), read(other))


@lru_cache(4096)
def read(pattern: str) -> tuple[Pattern, ...]:
    """Read a pattern in every way it can be meant: `[id]` is one of two characters, or the name of a file."""
    text = _folded(pattern.strip())
    while found := _ALTERNATIVES.search(text):
        if "/" in found[0] or ANY_DEPTH in found[0]:
            text = text[: found.start()].rpartition("/")[0] + "/"
        else:
            text = text[: found.start()] + STAR + text[found.end() :]
    is_pattern = any(sign in text for sign in (STAR, "*", "?", "["))
    if is_pattern and ".." in text.split("/"):
        return ((ANY_DEPTH,),)
    parts = posixpath.normpath(text).strip("/").split("/")
    readings = [tuple(_ways(part)) for part in parts if part not in ("", ".")]
    if sum(len(ways) > 1 for ways in readings) > READINGS:
        readings = [(STAR,) if len(ways) > 1 else ways for ways in readings]
    below = [(ANY_DEPTH,)] if text.endswith("/") or not readings else []
    return tuple(itertools.product(*readings, *below))


def _ways(part: str) -> Iterator[str]:
    """The readings of one name in a path."""
    if ANY_DEPTH in part:
        yield ANY_DEPTH
    elif _ODD_CLASS.search(part) or len(_CLASS.findall(part)) > READINGS:
        yield STAR
    else:
        pieces = re.split(f"({_CLASS.pattern})", part.replace("*", STAR).replace("?", ONE))
        ways = [(piece, ONE) if _CLASS.fullmatch(piece) else (piece,) for piece in pieces]
        yield from map("".join, itertools.product(*ways))


def _literal(file: str) -> Pattern:
    return tuple(posixpath.normpath(_folded(file)).strip("/").split("/"))


def _folded(path: str) -> str:
    """A path as a disk sees it that takes upper and lower case for the same; the length in characters stays."""
    text = unicodedata.normalize("NFC", path)
    return "".join(low if len(low := each.lower()) == 1 else each for each in text)


def _leases(
    declared: Mapping[str, Sequence[str]], written: Mapping[str, Collection[str]], task: str
) -> Iterator[tuple[str, tuple[Pattern, ...]]]:
    yield from ((text, read(text)) for text in declared.get(task, ()) if text.strip())
    yield from ((file, (_literal(file),)) for file in written.get(task, ()))


def _plainer(mine: str, theirs: str) -> str:
    """Of two texts for the same file the one that names it."""
    return mine if re.search(r"[*?\[{]|/$", theirs) and not re.search(r"[*?\[{]", mine) else theirs


def _meet(one: Collection[Pattern], other: Collection[Pattern]) -> bool:
    return any(_paths_meet(mine, theirs) for mine in one for theirs in other)


def _paths_meet(one: Pattern, other: Pattern) -> bool:
    """Whether a path can be read as both. A path that leads through what the other names makes that a folder."""
    common = tuple(zip(one, other, strict=False))
    if not any(ANY_DEPTH in pair for pair in common):
        return all(itertools.starmap(_names_meet, common))
    return _match(one, other)


@lru_cache(1 << 16)
def _match(one: Pattern, other: Pattern) -> bool:
    if one and one[0] == ANY_DEPTH:
        return _match(one[1:], other) or (bool(other) and _match(one, other[1:]))
    if other and other[0] == ANY_DEPTH:
        return _match(other, one)
    if not one or not other:
        return not one and not other
    return _names_meet(one[0], other[0]) and _match(one[1:], other[1:])


@lru_cache(1 << 16)
def _names_meet(one: str, other: str) -> bool:
    """Whether a name can be read as both, by the states of two machines that read it together."""
    if not {STAR, ONE} & {*one, *other}:
        return one == other
    states = [(0, 0)]
    seen = {*states}
    for left, right in states:  # grows while it is gone through
        if (left, right) == (len(one), len(other)):
            return True
        mine, theirs = one[left : left + 1], other[right : right + 1]
        steps = []
        if mine == STAR:
            steps += [(left + 1, right)] + [(left, right + 1)] * bool(theirs)
        if theirs == STAR:
            steps += [(left, right + 1)] + [(left + 1, right)] * bool(mine)
        if mine and theirs and STAR not in (mine, theirs) and (mine == theirs or ONE in (mine, theirs)):
            steps += [(left + 1, right + 1)]
        for step in steps:
            if step not in seen:
                seen.add(step)
                states.append(step)
    return False
