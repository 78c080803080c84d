"""Whether a task's file is what the task says it becomes, judged by hashes alone and by nobody's word."""

import hashlib
import posixpath
import re
from collections.abc import Collection, Mapping

from agentd.model.change import Task
from agentd.patterns import regex

_ARROW = regex(r"\s*(?:->|→)\s*")
_WILD = regex(r"\*\*/|\*\*|\*|\?")
_MEANING = {"**/": "(?:.*/)?", "**": ".*", "*": "[^/]*", "?": "[^/]"}
_EMPTY = {kind(b"blob 0\0").hexdigest() for kind in (hashlib.sha1, hashlib.sha256)}
_MAY_BE_EMPTY = ("__init__.py", "py.typed", ".gitkeep", ".keep", ".nojekyll")


def undone(task: Task, before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Why a task is not done, or nothing. The mappings give the blob hash of each file there was and there is.

    A path may name a folder, or have `*`, `**` and `?` in it: then what lies there is meant. `[` and `]` are plain.
    """
    if task.action == "RENAME":
        return _not_renamed(task.path, before, now)
    path = _plain(task.path)
    then, there = _meant(path, before, now)
    if task.action == "DELETE":
        return f"{there[0]} is still there" if there else ""
    fresh = [name for name in there if now[name] != before.get(name)]
    if task.action == "MODIFY":
        fresh += [name for name in then if name not in now and name != path]
    if not fresh:
        return f"{path} has not changed" if there else f"{path} is not there"
    if task.action == "CREATE" and all(_is_empty(name, now[name]) for name in fresh):
        return f"{path} is empty"
    return ""


def _not_renamed(path: str, before: Mapping[str, str], now: Mapping[str, str]) -> str:
    """Why a renaming is not done; where only one name is given it is the old one if there was such a file."""
    old, *others = (_plain(name) for name in _ARROW.split(path))
    new = others[-1] if others else ""
    then, there = _meant(old, before, now)
    if not new:
        return f"{old} is still there" if then and there else "" if then or there else f"{old} is not there"
    moved = _meant(new, before, now)[1]
    left = [name for name in there if name not in moved]  # a folder may have moved into itself
    if left:
        return f"{left[0]} is still there"
    return "" if moved else f"{new} is not there"


def _plain(path: str) -> str:
    """A path from the project's root, as git has it; of a folder with the slash it is written with."""
    path = path.strip()
    bare = posixpath.normpath(path)
    return f"{bare}/" if path.endswith("/") and bare != "." else bare


def _meant(path: str, before: Collection[str], now: Collection[str]) -> tuple[list[str], list[str]]:
    """The files of both times that a path means: itself, what lies below it, or what its `*` stand for."""
    if path in before or path in now:
        return [path] * (path in before), [path] * (path in now)
    if _WILD.search(path):
        pattern = re.compile(_expression(path), re.DOTALL)
        return [name for name in before if pattern.fullmatch(name)], [name for name in now if pattern.fullmatch(name)]
    above = "" if path == "." else f"{path.rstrip('/')}/"
    return [name for name in before if name.startswith(above)], [name for name in now if name.startswith(above)]


def _expression(path: str) -> str:
    wild = f"{path}**" if path.endswith("/") else path
    plain = _WILD.split(wild)
    stars = [_MEANING[star] for star in _WILD.findall(wild)]
    return "".join(re.escape(text) + star for text, star in zip(plain, [*stars, ""], strict=True))


def _is_empty(name: str, blob: str) -> bool:
    return blob in _EMPTY and posixpath.basename(name) not in _MAY_BE_EMPTY
