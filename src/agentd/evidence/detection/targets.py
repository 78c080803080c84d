"""Commands that a project declares in a Makefile or justfile, and tox. Reads only."""

import re
from collections.abc import Iterator

from agentd.evidence.detection.folder import Folder
from agentd.model.command import Command, Kind
from agentd.patterns import regex

NAMES: dict[str, Kind] = {
    "test": "test",
    "lint": "lint",
    "types": "types",
    "typecheck": "types",
    "type-check": "types",
    "tsc": "types",
    "audit": "audit",
}
MAKEFILES = ("GNUmakefile", "makefile", "Makefile")
JUSTFILES = ("justfile", "Justfile", ".justfile")

_TARGETS = regex(r"^([A-Za-z0-9_][\w.\- /]*?)[ \t]*::?(?![:=])(?!:*=)", re.MULTILINE)
_RECIPE = regex(r"^@?([A-Za-z_][\w-]*)((?:[ \t]+[^:=\n]+?(?:=(?:'[^'\n]*'|\"[^\"\n]*\"|[^\s:]+))?)*)[ \t]*:(?!=)", re.M)
_ALIAS = regex(r"^alias[ \t]+([\w-]+)[ \t]*:=", re.MULTILINE)


def make(folder: Folder) -> Iterator[Command]:
    file = folder.has(*MAKEFILES)
    named = [target for match in _TARGETS.finditer(folder.text(file)) for target in match[1].split()] if file else []
    yield from _targets(folder, "make", file, named)


def just(folder: Folder) -> Iterator[Command]:
    """The recipes that need no arguments."""
    file = folder.has(*JUSTFILES)
    text = folder.text(file) if file else ""
    named = [match[1] for match in _RECIPE.finditer(text) if not _needs_argument(match[2])]
    yield from _targets(folder, "just", file, [*named, *_ALIAS.findall(text)])


def tox(folder: Folder) -> Iterator[Command]:
    if any(section.startswith("testenv") for section in folder.sections("tox.ini")):
        yield folder.command("test", "tox", "tox.ini")


def _targets(folder: Folder, program: str, file: str, named: list[str]) -> Iterator[Command]:
    seen: set[Kind] = set()
    for name, kind in NAMES.items():
        if name in named and kind not in seen:
            seen.add(kind)
            yield folder.command(kind, f"{program} {name}", f"{file} {name}")


def _needs_argument(parameters: str) -> bool:
    return any(not each.startswith(("*", "$*")) and "=" not in each for each in parameters.split())
