"""The difference between two versions of a spec, by requirement."""

from collections.abc import Collection, Mapping

from agentd.library.spec.renames import body, has_words, paired, title
from agentd.library.spec.spec_tree import Node, plain, requirements, says, tree
from agentd.model.merge import Delta

_KEPT_BY_AGENTD = ("requirements", "updated_at", "archived_at")


def delta(before: str | None, after: str | None) -> Delta:
    """The requirements that were added, changed, removed and renamed; None stands for a spec that does not exist."""
    if before == after:
        return Delta()
    old, new = (tree(text or "") for text in (before, after))
    was, now = _with_words(requirements(old)), _with_words(requirements(new))
    names, others = list(was), list(now)
    found = paired([nodes[0] for nodes in was.values()], [nodes[0] for nodes in now.values()])
    pairs = {others[one]: names[old] for one, old in found.items()}
    added = tuple(name for name in now if name not in pairs)
    removed = tuple(name for name in was if name not in pairs.values())
    changed = tuple(name for name in now if name in pairs and _changed(was[pairs[name]], now[name]))
    renamed = tuple((pairs[name], name) for name in now if pairs.get(name, name) != name)
    both = was.keys() & now.keys()
    other = _rest(old, both) != _rest(new, both) or not (added or changed or removed or renamed)
    return Delta(added, changed, removed, renamed, other)


def _with_words(found: Mapping[str, list[Node]]) -> dict[str, list[Node]]:
    """The requirements, without headings that only group scenarios."""
    return {name: nodes for name, nodes in found.items() if any(map(has_words, nodes))}


def _changed(old: list[Node], new: list[Node]) -> bool:
    """Whether the text of a requirement changed, apart from its id."""
    if old[0].name == new[0].name:
        return list(map(says, old)) != list(map(says, new))
    return list(map(_said, old)) != list(map(_said, new))


def _said(node: Node) -> tuple[str, str, list[str]]:
    return title(node), body(node), [line for child in node.children for line in says(child)]


def _rest(node: Node, both: Collection[str]) -> list[str]:
    """The text outside of requirements, with the ids of those that both versions have in their places."""
    if node.kind == "requirement":
        return [node.name] if node.name in both else []
    if node.kind == "key" and node.name in _KEPT_BY_AGENTD:
        return []
    return [plain(node.text), *(line for child in node.children for line in _rest(child, both))]
