"""Which commands set up a workspace and clean up after it: `[workspace]`, else the first file of another tool that has a
setup. Files are read in the person's checkout, through no link; an odd one is told and not used."""

import os
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from agentd import files
from agentd.landing import tool_files
from agentd.landing.local_files import SECTION
from agentd.landing.tool_files import Recipe
from agentd.runs.project import Project


def find(project: Project) -> Recipe:
    """What is run in the workspaces of a project. The cleanup of a file counts only together with its setup."""
    listed = list(read_all(project.root, project.say_once))
    other = next((one for one in listed if one.setup), Recipe())
    patterns = next((one.patterns for one in listed if one.patterns), "")
    setup, cleanup = (project.config.get(SECTION, key) for key in ("setup", "cleanup"))
    if setup != "":
        other = Recipe(f"[{SECTION}]", _listed(setup))
    if cleanup != "":
        other = replace(other, cleanup=_listed(cleanup))
    return replace(other, patterns=patterns)


def read_all(root: Path, note: Callable[[str], None]) -> Iterator[Recipe]:
    """Yield what the files say that are there, in order; `note` is told of those that cannot be used."""

    def is_file(name: str) -> bool:
        return os.path.isfile(root / name)

    def conductor(text: str) -> Recipe:
        return tool_files.conductor(text, _text(root, tool_files.CONDUCTOR_OWN) or "")

    readers: dict[str, Callable[[str], Recipe]] = {
        tool_files.CURSOR: lambda text: tool_files.cursor(text, is_file),
        tool_files.CODEX: tool_files.codex,
        tool_files.CONDUCTOR: conductor,
        tool_files.CONDUCTOR_OLD: tool_files.conductor_old,
    }
    if os.path.lexists(root / tool_files.CONDUCTOR):
        del readers[tool_files.CONDUCTOR_OLD]
    for name, read in readers.items():
        try:
            text = _text(root, name)
            if text is not None:
                yield read(text)
        except ValueError as error:
            note(f"⚠ {name} is not used for workspaces: {error}")


def _text(root: Path, name: str) -> str | None:
    """The text of a file; None if there is none, ValueError for anything but a text of ordinary size."""
    path = root / name
    if not os.path.lexists(path):
        return None
    if os.path.realpath(path) != str(path):
        raise ValueError("it is a link, or in a folder that is one, and no link is followed")
    try:
        return files.read(path, files.SMALL, os.O_NOFOLLOW).decode("utf-8-sig")
    except OSError as error:
        raise ValueError(error.strerror) from None
    except UnicodeDecodeError:
        raise ValueError("it is not UTF-8 text") from None


def _listed(value: str | tuple[str, ...]) -> tuple[str, ...]:
    return (value,) if isinstance(value, str) else value
