"""Fills a template: `{{name}}` is replaced by its value once, so that text from a project is never a template itself."""

import re
from collections.abc import Mapping
from pathlib import Path

from agentd.errors import BadConfig

HERE = Path(__file__).parent
SLOT = re.compile(r"\{\{\s*([a-z_]+)\s*\}\}")


def built_in(name: str) -> str:
    """A template that ships with agentd."""
    return (HERE / f"{name}.md").read_text(encoding="utf-8")


def render(template: str, values: Mapping[str, str], source: str) -> str:
    """The filled-in text; a slot nobody fills is an error that names it."""
    unknown = sorted({name for name in SLOT.findall(template) if name not in values})
    if unknown:
        known = ", ".join(sorted(values))
        raise BadConfig(f"{source}: nothing fills {{{{{unknown[0]}}}}}.", f"edit {source}; known slots: {known}")
    return SLOT.sub(lambda slot: values[slot.group(1)], template)
