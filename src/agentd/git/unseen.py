"""Files that a snapshot leaves out, and the settings that change how git reads files. Nothing is written."""

import hashlib
import os
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

from agentd import files
from agentd.git import checkout, trees
from agentd.git.program import fields, text
from agentd.patterns import regex

# Folders with installed or built files, which can be made again.
MADE = frozenset(
    b".git target build dist out obj coverage vendor env bower_components Pods .next .nuxt .output .svelte-kit .angular "
    b".turbo .cache .parcel-cache .terraform .direnv .bundle .dart_tool .idea .vscode .build _build".split()
)
MOST = 20_000
# The other settings that change how git reads files are replaced by those of `program`.
_DECIDES = regex(r"filter\..+|core\.(worktree|attributesfile|filemode|symlinks|ignorecase)")
ATTRIBUTES = "info/attributes"


def unseen(folder: Path, without: Sequence[str] = ()) -> Iterator[str]:
    """Return the files that `trees.snapshot(folder, without)` leaves out, except installed and built ones.

    These are ignored files, untracked files of more than 5 MB, and nested repositories. At most 20,000 are returned.
    """
    listed = set(fields(folder, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory"))
    new = fields(folder, "ls-files", "-z", "--others", "--exclude-standard")
    listed |= {path for path in new if checkout.is_too_much(folder, path)}
    listed |= {os.fsencode(path) + b"/" for path in without}
    found = (file for path in sorted(listed) if not _is_made(path) for file in _below(os.fsencode(folder), path))
    return (trees.shown(file) for file in islice(dict.fromkeys(found), MOST))


def settings(folder: Path) -> dict[str, str]:
    """Return the settings and attribute files that change how git reads files, each by its name with a digest."""
    listed = (field.decode("utf-8", "replace") for field in fields(folder, "config", "--list", "-z", "--includes"))
    said: dict[str, list[str]] = {}
    for name, _, value in (line.partition("\n") for line in listed):
        if _DECIDES.fullmatch(name):
            said.setdefault(name, []).append(value)
    found = {name: digest("\n".join(values).encode()) for name, values in said.items()}
    own = text(folder, "rev-parse", "--git-path", ATTRIBUTES)
    path = text(folder, "config", "--type=path", "--get", "core.attributesFile", accept=(0, 1))
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    lists = {f".git/{ATTRIBUTES}": folder / own, "git/attributes": Path(path or f"{home}/git/attributes")}
    for name, file in lists.items():
        with suppress(OSError):
            found[name] = digest(files.read(file))
    return found


def digest(data: bytes) -> str:
    """Return the first 96 bits of the SHA-256 hash, in hexadecimal."""
    return hashlib.sha256(data).hexdigest()[:24]


def _below(top: bytes, path: bytes) -> Iterator[bytes]:
    """Yield a file itself, or the files and links below a folder."""
    if not path.endswith(b"/") or os.path.islink(os.path.join(top, path.rstrip(b"/"))):
        yield path.rstrip(b"/")
        return
    for place, folders, names in os.walk(os.path.join(top, path)):
        links = [name for name in folders if os.path.islink(os.path.join(place, name))]
        folders[:] = sorted(name for name in folders if not _is_made(name))
        yield from (os.path.relpath(os.path.join(place, name), top) for name in sorted([*names, *links]))


def _is_made(path: bytes) -> bool:
    return not (MADE | checkout.LEFT_BEHIND).isdisjoint(path.split(b"/"))
