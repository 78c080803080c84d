"""The data of a YAML text, and its pieces; the parser is loaded for a text that is not plain."""

from typing import Any

from agentd.text.lossless_yaml.pieces import STEP, Node, build, plain
from agentd.text.lossless_yaml.quick import quick


def load(text: str) -> dict[str, Any]:
    """What a mapping says, and nothing more. A text that is not plain goes the careful way, which says what is wrong and where."""
    known = _plain_data(text)
    if known is not None:
        return known
    _, root, _ = cut(text, "")
    found: dict[str, Any] = plain(root.data)
    return found


def cut(text: str, path: str) -> tuple[str, Node, str]:
    """The pieces of a text: what stands before the top-level mapping, the mapping, what stands after it."""
    known = _as_written(text)
    if known is not None:
        return "", known, "\n"
    from agentd.text.lossless_yaml.read import read  # imports the parser, which no plain text needs

    return read(text, path)


def _plain_data(text: str, as_leaves: bool = False) -> dict[str, Any] | None:
    try:
        return quick(text, as_leaves)
    except ValueError:  # a number without end
        return None


def _as_written(text: str) -> Node | None:
    """The pieces of a text that is laid out in every place as `build` does it; None for any other."""
    leaves = _plain_data(text, as_leaves=True)
    try:
        made = build(leaves, -STEP, "\n", "", "") if leaves else None
    except (RecursionError, ValueError):
        return None
    return made if made and f"{made.text}\n" == text else None
