"""The data of a YAML text, and nothing but the data: for the many documents that are read and not edited."""

from typing import Any

from agentd.text.lossless_yaml.pieces import Node, plain
from agentd.text.lossless_yaml.quick import quick


def load(text: str) -> dict[str, Any]:
    """What a mapping says. A text that is not plain goes the careful way, which says what is wrong and where."""
    try:
        known = quick(text)
    except ValueError:  # a number without end
        known = None
    if known is not None:
        return known
    _, root, _ = cut(text, "")
    found: dict[str, Any] = plain(root.data)
    return found


def cut(text: str, path: str) -> tuple[str, Node, str]:
    """The pieces of a text: what stands before the top-level mapping, the mapping, what stands after it."""
    from agentd.text.lossless_yaml.read import read  # imports the parser, which no plain text needs

    return read(text, path)
