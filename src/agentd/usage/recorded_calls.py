"""The entries under `llm_calls` of a state file, as they are: a person may have edited them."""

from collections.abc import Mapping
from typing import Any


def calls_in(fields: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    """The recorded calls of a run; whatever else a person put among them is passed over."""
    return [entry for entry in listed(fields) if isinstance(entry, Mapping)]


def models_in(fields: Mapping[str, Any]) -> tuple[str, ...]:
    """The models that the calls of a run were made with, each once; where nobody knows one, its agent."""
    return tuple(
        dict.fromkeys(model for entry in calls_in(fields) if isinstance(model := entry.get("model"), str) and model)
    )


def listed(fields: Mapping[str, Any]) -> list[Any]:
    """What the file has under `llm_calls`; what is no list is kept as its first entry."""
    found = fields.get("llm_calls")
    return list(found) if isinstance(found, list | tuple) else [] if found is None else [found]
