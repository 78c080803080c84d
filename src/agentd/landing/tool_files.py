"""What other tools' files in a project say about the setup of a work tree: Cursor, Codex and Conductor.

The texts are read as each tool documents them. A file that means nothing to its tool raises ValueError with the reason.
"""

import shlex
import sys
from collections.abc import Callable, Mapping
from typing import Any

from agentd.text import jsonc, toml
from agentd.values import dataclass

CURSOR = ".cursor/worktrees.json"
CODEX = ".codex/environments/environment.toml"
CONDUCTOR = ".conductor/settings.toml"
CONDUCTOR_OWN = ".conductor/settings.local.toml"
CONDUCTOR_OLD = "conductor.json"


@dataclass(frozen=True)
class Recipe:
    """What is run in a new work tree and before it goes.

    source    where it is written
    patterns  which ignored files are copied, in the syntax of .gitignore
    """

    source: str = ""
    setup: tuple[str, ...] = ()
    cleanup: tuple[str, ...] = ()
    patterns: str = ""


def cursor(text: str, is_file: Callable[[str], bool]) -> Recipe:
    """Cursor's file: a list of commands, or the path of a script from the folder of the file; those for Unix first."""
    data = jsonc.loaded(text)
    keys = ("setup-worktree-unix", "setup-worktree")
    found = next((data[key] for key in keys if key in data), None)
    if found is None:
        if "setup-worktree-windows" in data:
            return Recipe(CURSOR)
        raise ValueError("it has no setup-worktree")
    if isinstance(found, str) and found.strip():
        script = f".cursor/{found}"
        if not is_file(script):
            raise ValueError(f"there is no script {script}")
        path = shlex.quote(f"./{script}")
        return Recipe(CURSOR, (f'[ -x {path} ] && exec {path}; exec "$0" {path}',))
    if isinstance(found, list) and all(isinstance(each, str) for each in found):
        return Recipe(CURSOR, _commands(*found))
    raise ValueError("setup-worktree is neither a list of commands nor the path of a script")


def codex(text: str, platform: str = sys.platform) -> Recipe:
    """The file of a local environment of Codex: a script, which one for the platform overrides."""
    data = toml.parse(text)
    setup, cleanup = (_script(data, key, platform) for key in ("setup", "cleanup"))
    return Recipe(CODEX, _commands(setup), _commands(cleanup))


def conductor(shared: str, own: str = "") -> Recipe:
    """Conductor's settings, a person's own ones over those of the project."""
    layers = [toml.parse(text) for text in (shared, own)]
    scripts = {key: value for data in layers for key, value in _table(data, "scripts").items()}
    patterns = next((data["file_include_globs"] for data in reversed(layers) if "file_include_globs" in data), "")
    return _conductor(CONDUCTOR, scripts, _text({"file_include_globs": patterns}, "file_include_globs"))


def conductor_old(text: str) -> Recipe:
    """Conductor's former file, which counts only where there are no settings."""
    return _conductor(CONDUCTOR_OLD, _table(jsonc.loaded(text), "scripts"))


def _conductor(source: str, scripts: Mapping[str, Any], patterns: str = "") -> Recipe:
    return Recipe(source, _commands(_text(scripts, "setup")), _commands(_text(scripts, "archive")), patterns)


def _script(data: Mapping[str, Any], key: str, platform: str) -> str:
    section = _table(data, key)
    return _text(_table(section, platform), "script") or _text(section, "script")


def _table(data: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    found = data.get(key, {})
    if not isinstance(found, dict):
        raise ValueError(f"{key} is not a table")
    return found


def _text(data: Mapping[str, Any], key: str) -> str:
    found = data.get(key, "")
    if not isinstance(found, str):
        raise ValueError(f"{key} is not text")
    return found


def _commands(*found: str) -> tuple[str, ...]:
    for each in found:
        if "\0" in each or any("\ud800" <= letter <= "\udfff" for letter in each):
            raise ValueError("there is a character in a command that no shell takes")
    return tuple(each for each in found if each.strip())
