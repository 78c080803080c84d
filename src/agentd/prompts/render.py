"""Fills a template: `{{name}}` is replaced by its value once, so that text from a project is never a template itself.

`{{> name}}` quotes the value: each of its lines begins with `> `, so that none of them can pass for the template's own.
"""

from collections.abc import Collection, Mapping
from pathlib import Path

from agentd.errors import BadConfig
from agentd.patterns import regex

HERE = Path(__file__).parent
SLOT = regex(r"\{\{\s*(>?)\s*([a-z_]+)\s*\}\}")


def built_in(name: str) -> str:
    """A template that ships with agentd and is no family's own."""
    return (HERE / f"{name}.md").read_text(encoding="utf-8")


def slots(template: str) -> set[str]:
    """The names that a template asks for."""
    return {name for _, name in SLOT.findall(template)}


def render(template: str, values: Mapping[str, str], source: str, known: Collection[str] = ()) -> str:
    """The filled-in text; a slot nobody fills is an error that names it, and the `known` ones."""
    unknown = sorted(slots(template) - values.keys())
    if unknown:
        listed = ", ".join(sorted(known or values))
        raise BadConfig(f"{source}: nothing fills {{{{{unknown[0]}}}}}.", f"edit {source}; known slots: {listed}")
    return SLOT.sub(lambda slot: quoted(values[slot[2]]) if slot[1] else values[slot[2]], template)


def quoted(text: str) -> str:
    """Text with every line marked as quoted, whatever ends its lines."""
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines()) or "> (nothing)"
