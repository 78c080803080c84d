"""What lies in a checkout and is in none of its trees, and what decides how git reads files there. It changes nothing."""

import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from agentd.git import trees
from agentd.git.plumbing import plumb

# Beside what tools leave behind: what is installed or built, and made again at any time.
MADE = frozenset(
    b".git target build dist out obj coverage vendor env bower_components Pods .next .nuxt .output .svelte-kit .angular "
    b".turbo .cache .parcel-cache .terraform .direnv .bundle .dart_tool .idea .vscode .build _build".split()
)
MOST = 20_000
# Other settings that change what git shows are overruled wherever agentd asks it.
_DECIDES = re.compile(r"filter\..+|core\.(worktree|attributesfile|filemode|symlinks|ignorecase)")
ATTRIBUTES = "info/attributes"


def unseen(folder: Path, without: Sequence[str] = ()) -> Iterator[str]:
    """Every file below `folder` that a snapshot without these paths leaves out, but for what is installed or built.

    These are what git ignores, new files of more than 5 MB and other repositories; no more than 20,000 are named.
    """
    ignored = plumb(folder, "ls-files", "-z", "--others", "--ignored", "--exclude-standard", "--directory")
    new = plumb(folder, "ls-files", "-z", "--others", "--exclude-standard")
    listed = {path for path in ignored.split(b"\0") if path}
    listed |= {path for path in new.split(b"\0") if path and trees.is_too_much(folder, path)}
    listed |= {os.fsencode(path) + b"/" for path in without}
    found = (file for path in sorted(listed) if not _is_made(path) for file in _below(os.fsencode(folder), path))
    return (trees.shown(file) for file in islice(dict.fromkeys(found), MOST))


def settings(folder: Path) -> dict[str, str]:
    """What decides how git reads the files of a checkout, each setting and each list by its name, with a digest."""
    listed = plumb(folder, "config", "--list", "-z", "--includes").decode("utf-8", "replace").split("\0")
    said: dict[str, list[str]] = {}
    for name, _, value in (line.partition("\n") for line in listed):
        if _DECIDES.fullmatch(name):
            said.setdefault(name, []).append(value)
    found = {name: digest("\n".join(values).encode()) for name, values in said.items()}
    own = os.fsdecode(plumb(folder, "rev-parse", "--git-path", ATTRIBUTES).removesuffix(b"\n"))
    path = plumb(folder, "config", "--type=path", "--get", "core.attributesFile", accept=(0, 1)).removesuffix(b"\n")
    home = os.environ.get("XDG_CONFIG_HOME") or os.path.expanduser("~/.config")
    lists = {f".git/{ATTRIBUTES}": folder / own, "git/attributes": Path(os.fsdecode(path) or f"{home}/git/attributes")}
    for name, file in lists.items():
        try:
            found[name] = digest(file.read_bytes())
        except OSError:
            continue
    return found


def digest(data: bytes) -> str:
    """Short enough for people to pass over, long enough for nobody to make another one like it."""
    return hashlib.sha256(data).hexdigest()[:24]


def _below(top: bytes, path: bytes) -> Iterator[bytes]:
    """The file itself, or the files and links below a folder."""
    if not path.endswith(b"/") or os.path.islink(os.path.join(top, path.rstrip(b"/"))):
        yield path.rstrip(b"/")
        return
    for place, folders, files in os.walk(os.path.join(top, path)):
        links = [name for name in folders if os.path.islink(os.path.join(place, name))]
        folders[:] = sorted(name for name in folders if not _is_made(name))
        yield from (os.path.relpath(os.path.join(place, name), top) for name in sorted([*files, *links]))


def _is_made(path: bytes) -> bool:
    return not (MADE | trees.LEFT_BEHIND).isdisjoint(path.split(b"/"))
