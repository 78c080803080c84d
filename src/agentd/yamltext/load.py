"""The data of a YAML text, and nothing but the data: for the many documents that are read and not edited."""

import re
from typing import Any

import yaml

from agentd.yamltext.pieces import plain
from agentd.yamltext.quick import quick
from agentd.yamltext.read import LOADER, read
from agentd.yamltext.scalar import meaning

_ODD = re.compile(r"[&*!%]|^[ \t-]*\?|[\[{,][ \t]*\?", re.MULTILINE)


class _Plain(LOADER):  # type: ignore[misc]  # the C loader where there is one
    """Keys are text, times are text, and only true and false are truth values; a key may stand once."""


def _mapping(loader: Any, node: yaml.MappingNode) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in node.value:
        if not isinstance(key, yaml.ScalarNode) or key.value in found or key.value == "<<":
            raise yaml.MarkedYAMLError(problem="odd key", problem_mark=key.start_mark)
        found[key.value] = loader.construct_object(value, deep=True)
    return found


def _scalar(_: Any, node: yaml.ScalarNode) -> Any:
    return node.value if node.style else meaning(node.value)


_Plain.add_constructor("tag:yaml.org,2002:map", _mapping)
_Plain.yaml_implicit_resolvers = {}
_Plain.add_constructor("tag:yaml.org,2002:str", _scalar)


def load(text: str) -> dict[str, Any]:
    """What a mapping says. A text that is anything else goes the careful way, which says what is wrong and where."""
    known = quick(text)
    if known is not None:
        return known
    if not _ODD.search(text):
        try:
            data = yaml.load(text, Loader=_Plain)
        except yaml.YAMLError:
            data = None
        if isinstance(data, dict) and data:
            return data
    _, root, _ = read(text, "")
    found: dict[str, Any] = plain(root.data)
    return found
