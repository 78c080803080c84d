"""A spec as a tree of its headings, in any language. Texts and gaps, joined in order, are the file."""

import unicodedata
from collections.abc import Iterator
from functools import lru_cache
from typing import Literal, NamedTuple

from agentd.library.spec.headings import REQUIREMENT, SCENARIO, TAG
from agentd.patterns import regex
from agentd.text.outline import outline, split_lines
from agentd.text.spacing import split_ends

Kind = Literal["file", "front", "key", "fence", "text", "tag", "title", "section", "requirement", "scenario"]
Key = tuple[str, str, int]  # kind, name, and which of the siblings of that name
Path = tuple[Key, ...]

HEADINGS = ("section", "requirement", "scenario")
_ENTRY = regex(r"""(?![#\s-])("[^"]*"|'[^']*'|[^:]*[^:\s])[ \t]*:(?=\s|$)""")
_ENDS = ("---", "...")
_BLANK = " \t\r\n"


class Node(NamedTuple):
    """A heading with its own lines, and the headings below it. `gap` is the line end of `text` and the blank lines after.

    `name` is a requirement's id, a scenario's name, a title. The children of the front matter are its keys. The title, tags
    and the text before the first heading have no children, so that adding one of them moves no section.
    """

    kind: Kind
    key: Key
    name: str
    text: str
    gap: str
    children: tuple["Node", ...] = ()


@lru_cache(maxsize=8)  # a merge parses its texts more than once
def tree(text: str) -> Node:
    """The whole file; its text is a byte-order mark, if any, and its gap the blank lines at the beginning."""
    mark = "\ufeff" if text.startswith("\ufeff") else ""
    lines = split_ends(text[len(mark) :])
    end = _front(lines)
    cuts = _cuts(lines, end)
    first = 0 if end else cuts[0][0] if cuts else len(lines)
    children = _nested(lines, cuts)
    if end:
        children.insert(0, _head(lines, end, cuts[0][0] if cuts else len(lines)))
    return Node("file", ("file", "", 1), "", mark, "".join(lines[:first]), _numbered(children))


def walk(node: Node, path: Path = ()) -> Iterator[tuple[Path, Node]]:
    """A node and all below it, in the order of the file."""
    pending = [(path, node)]
    while pending:
        path, node = pending.pop()
        yield path, node
        if node.children:
            pending += [((*path, child.key), child) for child in reversed(node.children)]


def whole(node: Node) -> str:
    """The text of a node and all below it, without the last gap."""
    pieces = [piece for _, each in walk(node) for piece in (each.text, each.gap)]
    return "".join(pieces[:-1])


def says(node: Node) -> list[str]:
    """The texts of a node and all below it, without white space at line ends."""
    return [plain(each.text) for _, each in walk(node)]


def requirements(root: Node) -> dict[str, list[Node]]:
    """Every heading with the id of a requirement, by id; Acceptance Criteria may repeat one."""
    found: dict[str, list[Node]] = {}
    for _, node in walk(root):
        if node.kind == "requirement":
            found.setdefault(node.name, []).append(node)
    return found


@lru_cache(maxsize=1024)
def plain(text: str) -> str:
    """A text without white space at line ends, and with LF line ends."""
    return "\n".join(line.rstrip(" \t") for line in split_lines(text))


def _front(lines: list[str]) -> int:
    """The line after the front matter; 0 if there is none."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    return next((at + 1 for at, line in enumerate(lines) if at and line.rstrip() in _ENDS), 0)


def _cuts(lines: list[str], start: int) -> list[tuple[int, int, Kind, str]]:
    """Where each part of the body begins: line, level, kind and name. Level 0 is at the top and has no children."""
    bare = [line.rstrip("\r\n") for line in lines[start:]]
    sheet = outline(bare, start)
    cuts: list[tuple[int, int, Kind, str]] = []
    titled = False
    for level, title, line, _ in sheet.sections:
        if level == 1 and not titled:
            titled = True
            cuts.append((line, 0, "title", ""))
        else:
            cuts.append((line, level, *_named(title)))
    for at, text in enumerate(bare, start):
        if "<" in text and at not in sheet.fenced and TAG.fullmatch(text):
            cuts.append((at, 0, "tag", "</spec>" if "/" in text.lstrip()[:2] else "<spec>"))
    cuts.sort()
    before = next((at for at, text in enumerate(bare, start) if text.strip(_BLANK)), len(lines))
    if before < (cuts[0][0] if cuts else len(lines)):
        cuts.insert(0, (before, 0, "text", ""))
    return cuts


def _named(title: str) -> tuple[Kind, str]:
    """The kind and the name of the part that a heading begins."""
    requirement = REQUIREMENT.match(title[2:-2] if title[:2] == title[-2:] == "**" else title)
    if requirement:
        return "requirement", requirement[1]
    scenario = SCENARIO.match(title) if title[:1] in ("S", "s") else None
    return ("scenario", scenario[2] or scenario[1] or "") if scenario else ("section", title)


def _nested(lines: list[str], cuts: list[tuple[int, int, Kind, str]]) -> list[Node]:
    """The nested parts of the body, built from the end."""
    pending: list[tuple[int, Node]] = []
    end = len(lines)
    for line, level, kind, name in reversed(cuts):
        below: list[Node] = []
        while level and pending and pending[-1][0] > level:
            below.append(pending.pop()[1])
        pending.append((level, _node(kind, name, lines[line:end], _numbered(below))))
        end = line
    return [node for _, node in reversed(pending)]


def _head(lines: list[str], end: int, until: int) -> Node:
    """The front matter: its keys, each with the comments above it, and the closing line."""
    starts: list[tuple[int, str]] = []
    above = 1  # where the comments above the next key begin
    for at in range(1, end - 1):
        found = _ENTRY.match(lines[at])
        if found:
            starts.append((min(above, at), found[1].strip("\"'")))
        if found or (not lines[at].startswith("#") and (above == at or lines[at].strip(_BLANK))):
            above = at + 1
    starts.append((min(above, end - 1), ""))
    stops = [start for start, _ in starts[1:]]
    keys = [_node("key", name, lines[start:stop]) for (start, name), stop in zip(starts[:-1], stops, strict=True)]
    fence = _node("fence", "", lines[starts[-1][0] : until])
    return _node("front", "", lines[: starts[0][0]], _numbered([*keys, fence]))


def _node(kind: Kind, name: str, lines: list[str], children: tuple[Node, ...] = ()) -> Node:
    last = len(lines)
    while not lines[last - 1].strip(_BLANK):
        last -= 1
    end = lines[last - 1].rstrip("\r\n")
    text = "".join([*lines[: last - 1], end])
    gap = "".join([lines[last - 1][len(end) :], *lines[last:]])
    return Node(kind, (kind, _folded(name), 1), name, text, gap, children)


def _numbered(children: list[Node]) -> tuple[Node, ...]:
    """The children with unique keys."""
    seen: dict[Key, int] = {}
    numbered = []
    for child in children:
        seen[child.key] = count = seen.get(child.key, 0) + 1
        numbered.append(child if count == 1 else child._replace(key=(*child.key[:2], count)))
    return tuple(numbered)


def _folded(name: str) -> str:
    return name.casefold() if name.isascii() else unicodedata.normalize("NFC", name).casefold()
