"""Rename detection: the tree of one side with the keys that its parts have in the base."""

import re
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from functools import lru_cache
from typing import Any

from agentd.library.spec.headings import REQUIREMENT
from agentd.library.spec.spec_tree import HEADINGS, Key, Node, plain, says
from agentd.patterns import regex

Signature = Callable[[Node], Any]  # a false value identifies nothing

_ID_LINE = regex(r"[ \t]*id[ \t]*:[ \t]*[\"']?R[0-9]+[\"']?[ \t]*")
_TITLED = regex(REQUIREMENT.pattern, re.IGNORECASE)
_SAYS_NOTHING = regex(r"[ \t]*(?:(?:`{3,}|~{3,}).*|(?:priority|status)[ \t]*:.*)?")


def aligned(base: Node, side: Node) -> Node:
    """The side with the base's key on every part that the base has; new parts get keys that the base does not have."""
    if side == base:
        return side
    partners = paired(base.children, side.children)
    taken = {child.key for child in base.children}
    children = []
    for at, child in enumerate(side.children):
        if at in partners:
            partner = base.children[partners[at]]
            children.append(aligned(partner, child)._replace(key=partner.key))
        else:
            children.append(child._replace(key=_free(child.key, taken)))
            taken.add(children[-1].key)
    return side._replace(children=tuple(children))


def paired(base: Sequence[Node], side: Sequence[Node]) -> dict[int, int]:
    """Which part of a side is which part of the base, both by index.

    The text of a part counts before its name, because requirements may have been renumbered; the name counts first where
    several parts have the same text.
    """
    found: dict[int, int] = {}
    gone, new = dict(enumerate(base)), dict(enumerate(side))
    for signature, alone in _SIGNATURES:
        if not gone or not new:
            return found
        several = _several(base, signature) | _several(side, signature) if alone else ()
        for one, old in list(_matches(gone, new, signature, several)):
            found[one] = old
            del gone[old], new[one]
    for old, node in gone.items():
        same = next((one for one, other in new.items() if _has_the_children(node, other)), None)
        if same is not None:
            found[same] = old
            del new[same]
    return found


def _matches(
    gone: Mapping[int, Node], new: Mapping[int, Node], signature: Signature, without: Collection[Any]
) -> Iterator[tuple[int, int]]:
    """The pairs with the same signature, in order."""
    waiting: dict[Any, list[int]] = {}
    for old, node in gone.items():
        told = signature(node)
        if told and told not in without:
            waiting.setdefault(told, []).append(old)
    for one, node in new.items():
        known = waiting.get(signature(node))
        if known:
            yield one, known.pop(0)


def _several(nodes: Sequence[Node], signature: Signature) -> set[Any]:
    return {told for told, count in Counter(map(signature, nodes)).items() if count > 1}


def _free(key: Key, taken: Collection[Key]) -> Key:
    number = 1
    while (*key[:2], number) in taken:
        number += 1
    return (*key[:2], number)


def body(node: Node) -> str:
    """The text below a heading, without the id in the metadata."""
    return _body(node.text)


@lru_cache(maxsize=1024)
def _body(text: str) -> str:
    return "\n".join(line for line in plain(text).split("\n")[1:] if not is_id(line)).strip()


def is_id(line: str) -> bool:
    """Whether a line of metadata is the id of a requirement."""
    return "id" in line and _ID_LINE.fullmatch(line) is not None


def title(node: Node) -> str:
    """The title of a requirement in lower case; empty if the heading has no id."""
    return _title(node.text)


@lru_cache(maxsize=1024)
def _title(text: str) -> str:
    heading = plain(text).split("\n")[0].strip(" #*").casefold()
    found = _TITLED.match(heading)
    return found[2].strip() if found else ""


def has_words(node: Node) -> bool:
    """Whether a requirement has a title or a text; a heading with only an id groups scenarios."""
    return bool(title(node) or body(node))


def is_another(node: Node, base: Node) -> bool:
    """Whether a requirement shares only its id with the base."""
    return node.kind == "requirement" and title(node) != title(base) and body(node) != body(base)


def _all(node: Node) -> Any:
    return (*node.key[:2], *says(node))


def _own(node: Node) -> Any:
    return (*node.key[:2], plain(node.text))


def _name(node: Node) -> Any:
    return node.key[:2]


def _all_but_the_id(node: Node) -> Any:
    return (title(node), body(node)) if node.kind == "requirement" and title(node) else None


def _said(node: Node) -> Any:
    """The body, unless it has only metadata."""
    said = body(node) if node.kind in HEADINGS else ""
    return None if all(map(_SAYS_NOTHING.fullmatch, said.split("\n"))) else (node.kind, said)


def _titled(node: Node) -> Any:
    return title(node) if node.kind == "requirement" else None


# The ways to recognise a part, the surest first, and whether a signature must be unique.
_SIGNATURES: tuple[tuple[Signature, bool], ...] = (
    (_all, False),
    (_own, False),
    (_all_but_the_id, True),
    (_name, False),
    (_said, True),
    (_titled, True),
)


def _has_the_children(old: Node, new: Node) -> bool:
    """Whether two sections have the same body and share at least half of their children."""
    if not old.kind == new.kind == "section" or not old.children or body(old) != body(new):
        return False
    there = [says(child) for child in new.children]
    return 2 * sum(says(child) in there for child in old.children) >= len(old.children)
