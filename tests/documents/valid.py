"""The value of a document that nothing serious is wrong with."""

from types import ModuleType
from typing import Any


def valid(document: ModuleType, text: str) -> Any:
    """What a text says; a High finding fails the test."""
    value, findings = document.read(text)
    assert [found for found in findings if found.severity == "High"] == []
    assert value is not None
    return value
