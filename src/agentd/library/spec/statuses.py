"""The status of each requirement, as its metadata says it. `draft` is what a plan says; all other bytes of a spec stay."""

from collections.abc import Callable

from agentd.library.spec import scenario_steps
from agentd.library.spec.headings import parts
from agentd.library.spec.metadata import take
from agentd.patterns import regex
from agentd.text import frontmatter
from agentd.text.outline import outline
from agentd.text.spacing import split_ends

IMPLEMENTED = "implemented"
_LINE = regex(r"([ \t]*status[ \t]*:[ \t]*)(\w+)")


def implemented(text: str) -> str:
    """The spec without drafts: what the library has is implemented."""
    return _changed(text, lambda name: IMPLEMENTED)


def inherited(text: str, *older: str | None) -> str:
    """The spec with drafts only where they are new: a plan that repeats a requirement does not take back its status."""
    known = {name: said for other in older if other is not None for name, (_, said) in _found(other).items()}
    return _changed(text, lambda name: known.get(name, "draft")) if known else text


def _changed(text: str, wanted: Callable[[str], str]) -> str:
    lines = split_ends(text)
    for name, (number, said) in _found(text).items():
        if said == "draft" and (line := _LINE.match(lines[number - 1])):
            lines[number - 1] = f"{line[1]}{wanted(name)}{lines[number - 1][line.end() :]}"
    return "".join(lines)


def _found(text: str) -> dict[str, tuple[int, str]]:
    """Each requirement's status and the line it stands on, where the metadata have one."""
    front = frontmatter.read(text)
    sheet = outline(front.lines, front.first)
    found: dict[str, tuple[int, str]] = {}
    for part in parts(sheet, str(front.data.get("title") or ""), scenario_steps.USUAL):
        if part.kind == "requirement":
            own = sheet.lines[part.line - sheet.first + 1 : part.end - sheet.first + 1]
            data = take(own, part.key, part.line + 1)
            for number, line in enumerate(data.content, data.first):
                if said := _LINE.match(line):
                    found[part.key] = number, said[2]
    return found
