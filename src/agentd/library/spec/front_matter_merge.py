"""The merge of front matter: keys that both sides changed, and counts that are computed from the merged text."""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any

from agentd.errors import Corrupt
from agentd.library.spec.headings import parts
from agentd.library.spec.rule_checks import counted
from agentd.library.spec.spec_tree import Node, Path, requirements, tree
from agentd.model.change import Requirement, Spec
from agentd.patterns import regex
from agentd.text import frontmatter, lossless_yaml
from agentd.text.outline import outline
from agentd.text.spacing import line_end

TIMES = ("created_at", "updated_at", "archived_at")
BOOKS = (*TIMES, "version")  # keys that agentd maintains; leaving one out is not a removal
COUNTS: Path = (("front", "", 1), ("key", "requirements", 1))
_COMMENT = regex(r"(?:^|[ \t])#[^\r\n]*", re.MULTILINE)
_NONE = object()
_VERSION = regex(r"""^version[ \t]*:[ \t]*["']?v?([0-9]+(?:\.[0-9]+)*)["']?[ \t]*(?:#.*)?$""", re.MULTILINE)


def settled(base: Node | None, ours: Node, theirs: Node) -> str | None:
    """The merged text of a key that both sides changed; None if a person has to decide."""
    key, texts = ours.name, (base.text if base else None, ours.text, theirs.text)
    if key in TIMES:
        return _first(_time, key, *texts, later=key != "created_at")
    if key == "version":
        return _first(_version, key, *texts, later=True)
    if key in ("requirements", "design_elements"):
        newline = line_end(ours.gap + theirs.gap)
        return _each(key, *texts, newline, ("total", "ids") if key == "requirements" else ())
    return None


def with_counts(text: str, ids: Sequence[str], newline: str) -> str:
    """The text of the key `requirements` with these ids."""
    said = _value("requirements", text)
    return _updated(text, "requirements", _right(said, ids), newline) if isinstance(said, dict) else text


def may_count(base: str | None, ours: str, theirs: str) -> bool:
    """Whether to compute the counts of a merged text: both sides changed them, or both had them right."""
    before, mine, other = (_counts(text) for text in (base or "", ours, theirs))
    if mine != other and before not in (mine, other):
        return True
    return all(_are_right(said, text) for said, text in ((mine, ours), (other, theirs)))


def _are_right(counts: str | None, text: str) -> bool:
    said = _value("requirements", counts) if counts else None
    return not counts or (isinstance(said, dict) and _right(said, listed(text)) == said)


def _counts(text: str) -> str | None:
    head = next((node for node in tree(text).children if node.kind == "front"), None)
    return next((node.text for node in head.children if node.key == COUNTS[1]), None) if head else None


@lru_cache(maxsize=8)
def listed(text: str) -> Sequence[str]:
    """The ids of a spec's requirements; of every heading with an id if there is no section of requirements."""
    front = frontmatter.read(text)
    found = parts(outline(front.lines, front.first), str(front.data.get("title") or ""))
    ids = tuple(part.key for part in found if part.kind == "requirement")
    return ids or tuple(requirements(tree(text)))


def _right(said: dict[str, Any], ids: Sequence[str]) -> dict[str, Any]:
    return counted(said, Spec("", "", "", tuple(Requirement(name, "", "") for name in ids), ()))


def _value(key: str, text: str) -> Any:
    """The value of a key; None if its lines alone are not YAML."""
    try:
        return lossless_yaml.load(text).get(key)
    except Corrupt:
        return None


def _updated(text: str, key: str, value: Mapping[str, Any], newline: str) -> str:
    """The text of a key with another value; unchanged if it cannot be edited in place."""
    try:
        return lossless_yaml.parse(text + newline, "front matter").updated({key: value}).text.rstrip("\r\n")
    except Corrupt:
        return text


def _time(key: str, text: str) -> datetime | None:
    try:
        time = datetime.fromisoformat(str(_value(key, text)))
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _version(key: str, text: str) -> tuple[int, ...] | None:
    """A version by its text, because YAML reads 1.10 as the number 1.1."""
    value, found = _value(key, text), _VERSION.search(text)
    if value is None or found is None or len(found[1]) > 99:
        return None
    is_all = not isinstance(value, str) or value.lstrip("v") == found[1]
    return tuple(map(int, found[1].split("."))) if is_all else None


def _first(
    measure: Callable[[str, str], Any], key: str, base: str | None, ours: str, theirs: str, later: bool
) -> str | None:
    """The text with the later or the earlier value; None if a comment of the other would be lost."""
    mine, other = (measure(key, text) for text in (ours, theirs))
    if mine is None or other is None:
        return None
    if mine == other:
        first, second = sorted((ours, theirs), key=lambda text: (-len(_comments(text)), text))
    else:
        first, second = (ours, theirs) if (mine > other) is later else (theirs, ours)
    return first if _comments(second) <= _comments(first) | _comments(base or "") else None


def _each(key: str, base: str | None, ours: str, theirs: str, newline: str, free: Collection[str] = ()) -> str | None:
    """A mapping that both sides changed, merged entry by entry; `free` entries never conflict and are computed later."""
    start = _start(base, ours, theirs)
    before, mine, other = (_value(key, text) if text else None for text in (base, ours, theirs))
    if start is None or not isinstance(mine, dict) or not isinstance(other, dict):
        return None
    before = before if isinstance(before, dict) else {}
    first = _value(key, start)
    value = {}
    for name in dict.fromkeys([*(first if isinstance(first, dict) else ()), *sorted({**mine, **other})]):
        had, one, two = (each.get(name, _NONE) for each in (before, mine, other))
        if two in (had, one) or one == had:
            value[name] = two if one == had else one
        elif name in free:
            value[name] = min(one, two, key=repr) if had is _NONE else had
        else:
            return None
    return _updated(start, key, {name: each for name, each in value.items() if each is not _NONE}, newline)


def _start(base: str | None, ours: str, theirs: str) -> str | None:
    """The text to write a value into: the one with all the comments; None if both sides added different ones."""
    known, mine, other = (_comments(text) for text in (base or "", ours, theirs))
    mine, other = mine - known, other - known
    if mine and other and mine != other:
        return None
    if mine or other:
        return min(ours, theirs) if mine == other else ours if mine else theirs
    return base if base else min(ours, theirs)


def _comments(text: str) -> set[str]:
    return {found.strip() for found in _COMMENT.findall(text)}
