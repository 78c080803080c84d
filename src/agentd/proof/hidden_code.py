"""Code that tests can use and no tree shows, and git made to show other files than are there: seen by what was there at first.

It never changes a file, and what people keep out of git is known by digests alone.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from agentd import files
from agentd.git import unseen
from agentd.model.evidence import Harm
from agentd.patterns import regex
from agentd.proof.integrity.paths import is_test_config

# More than these are kept folder by folder.
KEPT = 200
NAMED = 20
LARGEST = 32 << 20
_CODE = regex(
    r"\.(py[cwx]?|pth|so|pyd|dylib|node|wasm|[jt]sx?|[mc][jt]s|vue|svelte|rb|rake|sh|bash|go|rs|java|kts?|groovy|scala|cs"
    r"|php|pl|pm|lua|exs?|swift|dart|cc?|cpp|hh?|hpp)$"
)


def noted(folder: Path, ours: Sequence[str]) -> dict[str, Any]:
    """What is to be kept of a work tree before anything is changed in it; `ours` are the folders that no tree shows."""
    return {"unseen": _folded(_code(folder, ours)), "git_settings": unseen.settings(folder)}


def harms(
    folder: Path, unseen: Mapping[str, str] | None, settings: Mapping[str, str] | None, ours: Sequence[str]
) -> list[Harm]:
    """What has come or changed since then; nothing where nothing was kept."""
    return [*_other_settings(folder, settings), *_hidden(folder, unseen, ours)]


def _other_settings(folder: Path, known: object) -> Iterator[Harm]:
    if not isinstance(known, Mapping):
        return
    now = unseen.settings(folder)
    for name in sorted(now.keys() | known.keys()):
        if now.get(name) != known.get(name):
            word = "is new" if name not in known else "has changed" if name in now else "is gone"
            message = f"{name} {word}, so git may show other files than those that are tested"
            file = name if "/" in name else ".git/config"
            yield Harm("changed_git_settings", message, file, quote=f"{name} {now.get(name, '')}")


def _hidden(folder: Path, known: object, ours: Sequence[str]) -> Iterator[Harm]:
    if not isinstance(known, Mapping):
        return
    now = _code(folder, ours)
    folded = {name for name in known if name.endswith("/")}
    for name in sorted(folded):
        inner = {path: found for path, found in now.items() if _first(path) == name}
        if _together(inner) != known[name]:
            yield _harm(name, _together(inner), "code below it has changed: git does not see it")
    fresh = {path: found for path, found in now.items() if _first(path) not in folded and known.get(path) != found}
    for path in islice(fresh, NAMED):
        yield _harm(path, fresh[path], "git does not see it")
    if len(fresh) > NAMED:
        rest = dict(islice(fresh.items(), NAMED, None))
        yield _harm(next(iter(rest)), _together(rest), f"git does not see it and {len(rest) - 1} more")


def _harm(file: str, found: str, message: str) -> Harm:
    return Harm("hidden_code", f"{message}, but the tests can use it", file, quote=f"{file} {found}")


def _code(folder: Path, ours: Sequence[str]) -> dict[str, str]:
    """The code that no tree shows, with a digest of each."""
    paths = (path for path in unseen.unseen(folder, ours) if _is_code(folder / path, path))
    return {path: _digest(folder / path) for path in paths}


def _is_code(file: Path, path: str) -> bool:
    """By its name; a link to a folder and a script without a suffix may be code as well."""
    if _CODE.search(path.lower()) or (is_test_config(path) and not path.endswith("agentd/config.toml")):
        return True
    if file.is_symlink():
        return file.is_dir()
    try:
        if file.suffix or not os.access(file, os.X_OK) or not file.is_file():
            return False
        with file.open("rb") as opened:
            return opened.read(2) == b"#!"
    except OSError:
        return False


def _digest(file: Path) -> str:
    try:
        if file.is_symlink():
            return unseen.digest(os.fsencode(os.readlink(file)))
        there = file.stat()
        if not file.is_file() or there.st_size > LARGEST:
            return f"{there.st_size} {there.st_ctime_ns}"
        return unseen.digest(files.read(file))
    except OSError:
        return "unreadable"


def _folded(found: Mapping[str, str]) -> dict[str, str]:
    """The same in few words, if there are many: of each folder at the top only what comes of all below it."""
    if len(found) <= KEPT:
        return dict(found)
    tops = sorted({_first(path) for path in found})
    return {
        top: _together({path: one for path, one in found.items() if _first(path) == top})
        if top.endswith("/")
        else found[top]
        for top in tops
    }


def _together(found: Mapping[str, str]) -> str:
    return unseen.digest(repr(sorted(found.items())).encode(errors="replace"))


def _first(path: str) -> str:
    """The folder at the top that a path lies in, or the file at the top."""
    head, slash, _ = path.partition("/")
    return head + slash
