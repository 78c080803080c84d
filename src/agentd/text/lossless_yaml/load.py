"""The data of a YAML text, and nothing but the data: for the many documents that are read and not edited."""

from typing import Any

from agentd.text.lossless_yaml.pieces import plain
from agentd.text.lossless_yaml.quick import quick
from agentd.text.lossless_yaml.read import read


def load(text: str) -> dict[str, Any]:
    """What a mapping says. A text that is not plain goes the careful way, which says what is wrong and where."""
    try:
        known = quick(text)
    except ValueError:  # a number without end
        known = None
    if known is not None:
        return known
    _, root, _ = read(text, "")
    found: dict[str, Any] = plain(root.data)
    return found
