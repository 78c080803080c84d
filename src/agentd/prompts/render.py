"""Fills a template: `{{name}}` is replaced by its value once, so that text from a project is never a template itself.

`{{> name}}` quotes the value: each of its lines begins with `> `, so that none of them can pass for the template's own.
"""

import re
from collections.abc import Collection, Mapping
from pathlib import Path

from agentd.errors import BadConfig

HERE = Path(__file__).parent
SLOT = re.compile(r"\{\{\s*(>?)\s*([a-z_]+)\s*\}\}")
NEEDS = {
    "draft_questions": "draft_questions",
    "generate": "create_proposal",
    "propose": "create_proposal",
    "review_proposal": "edit_file",
    "write_spec": "create_spec",
    "review_spec": "edit_file",
    "break_down": "create_tasks",
    "review_tasks": "edit_file",
    "fix_format": "edit_file",
    "challenge": "append_review",
    "revise": "edit_file",
    "implement": "edit_code",
    "mend": "edit_code",
    "resolve": "edit_code",
    "review": "create_review",
}


def built_in(name: str) -> str:
    """A template that ships with agentd."""
    here = HERE if (HERE / f"{name}.md").exists() else HERE.parent / "families" / "change" / "prompts"
    return (here / f"{name}.md").read_text(encoding="utf-8")


def for_step(step: str, tools: Collection[str]) -> str:
    """The name of the built-in template for a step; one without the tool that a template speaks of only shares its name."""
    return step if NEEDS.get(step) in tools else "step"


def render(template: str, values: Mapping[str, str], source: str) -> str:
    """The filled-in text; a slot nobody fills is an error that names it."""
    unknown = sorted({name for _, name in SLOT.findall(template) if name not in values})
    if unknown:
        known = ", ".join(sorted(values))
        raise BadConfig(f"{source}: nothing fills {{{{{unknown[0]}}}}}.", f"edit {source}; known slots: {known}")
    return SLOT.sub(lambda slot: quoted(values[slot[2]]) if slot[1] else values[slot[2]], template)


def quoted(text: str) -> str:
    """Text with every line marked as quoted, whatever ends its lines."""
    return "\n".join(f"> {line}".rstrip() for line in text.splitlines()) or "> (nothing)"
