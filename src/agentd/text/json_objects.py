"""The JSON objects in a text that has other things around them, such as an agent's reply. Pure."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from agentd.patterns import regex

MOST_BROKEN = 1000
_OBJECT = regex(r'\{\s*["}]')


def objects(text: str) -> Iterator[Mapping[str, Any]]:
    """The JSON objects of a text, from the left; what is inside of one is not looked at again.

    ValueError where too many braces begin no object: each costs as much time as the text is long.
    """
    decoder, at, broken = json.JSONDecoder(), 0, 0
    while begun := _OBJECT.search(text, at):
        try:
            found, at = decoder.raw_decode(text, begun.start())
        except (ValueError, RecursionError):
            at, broken = begun.start() + 1, broken + 1
            if broken > MOST_BROKEN:
                raise ValueError(f"the reply has more than {MOST_BROKEN} broken JSON objects") from None
            continue
        if isinstance(found, Mapping):
            yield found


def one_with(text: str, key: str) -> tuple[Mapping[str, Any] | None, str]:
    """The one object of a text that has a key, or why there is none. It may be there twice, a different one may not."""
    try:
        found = [each for each in objects(text) if key in each]
    except ValueError as error:
        return None, str(error)
    different = {json.dumps(each, sort_keys=True): each for each in found}
    if not different:
        return None, f"the reply has no JSON object with a {key}"
    if len(different) > 1:
        return None, f"the reply has {len(different)} different results"
    return next(iter(different.values())), ""
