"""A work tree with a repository of its own that borrows the objects of another one.

Whatever is done in it with git (a stash, a setting, a hook, a branch, a garbage collection) stays in it. The lending
repository gets objects and refs below refs/agentd, and nothing else. What is in the private repository is never believed:
files are read with the lending repository's settings and an index that was kept apart.
"""

import os
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path

from agentd import temporary
from agentd.errors import AgentdError
from agentd.git.checkout import LEFT_BEHIND
from agentd.git.program import fields, quoted, run, text
from agentd.values import dataclass

_GITLINK = b"160000 "
_KEPT = "refs/kept"


@dataclass(frozen=True)
class Lender:
    """The repository that objects are borrowed from: its shared folder, and the one of the work tree that was asked."""

    common: Path
    own: Path
    format: str


@dataclass(frozen=True)
class Collected:
    """The files of a work tree as a tree, and what is not in it: nested repositories and changed submodules."""

    tree: str
    left_out: tuple[str, ...] = ()


def lender(folder: Path) -> Lender:
    """Return the repository of the work tree around `folder`."""
    words = ("rev-parse", "--path-format=absolute", "--git-common-dir", "--git-dir", "--show-object-format")
    common, own, kind = text(folder, *words).splitlines()
    return Lender(Path(common), Path(own), kind)


def make(source: Lender, place: Path, commit: str, branch: str) -> tuple[str, ...]:
    """Check out a commit on a new branch at `place`, which must not exist, with the lender's settings and without hooks.

    Submodules are checked out if the lender has their commits; return the paths of those that are missing.
    """
    _prepare(source, place, branch)
    run(place, "checkout", "--quiet", "--no-track", "-B", branch, commit)
    if not (place / ".gitmodules").is_file():
        return ()
    named = {path: name for name, path in _submodule_names(place)}
    missing = []
    for path, wanted in _gitlinks(place):
        inner = source.common / "modules" / named.get(path, path)
        if (inner / "HEAD").is_file() and _has(inner, wanted):
            make(Lender(inner, inner, source.format), place / path, wanted, branch)
        else:
            missing.append(path)
    return tuple(missing)


def collect(source: Lender, place: Path, index: Path) -> Collected:
    """Store the files at `place` as a tree in the lender: all that git tracks or does not ignore, without what tools leave.

    `index` is that of the work tree when it was made. It is only read.
    """
    with temporary.folder() as room:
        own = room / "index"
        shutil.copy2(index, own)
        env = {"GIT_DIR": str(source.common), "GIT_WORK_TREE": str(place), "GIT_INDEX_FILE": str(own)}
        links = {path: wanted for path, wanted in _gitlinks(place, env) if _is_folder(place / path)}
        changed = tuple(_changed(source, place, links, env)) if links else ()
        away = [f":(exclude,top,literal){path}" for path in links]
        run(place, "add", "--update", "--", ":/", *away, env=env)
        new, nested = [], []
        for path in fields(place, "ls-files", "-z", "--others", "--exclude-standard", env=env):
            if path.endswith(b"/"):
                nested.append(os.fsdecode(path[:-1]))
            elif LEFT_BEHIND.isdisjoint(path.split(b"/")):
                new.append(b":(top,literal)" + path)
        if new:
            words = ("add", "--pathspec-from-file=-", "--pathspec-file-nul")
            run(place, *words, stdin=b"\0".join(new), env=env)
        return Collected(text(place, "write-tree", env=env), (*nested, *changed))


def _changed(source: Lender, place: Path, links: Mapping[str, str], env: Mapping[str, str]) -> Iterator[str]:
    """Yield the submodules that are at another commit or have other files than theirs; an empty folder is as git has it."""
    named = {path: name for name, path in _submodule_names(place, env)}
    for path, wanted in links.items():
        inner, files = source.common / "modules" / named.get(path, path), place / path
        if any(files.iterdir()) and (_head(files) not in ("", wanted) or not _is_as(source, inner, files, wanted)):
            yield path


def _is_as(source: Lender, inner: Path, files: Path, commit: str) -> bool:
    """Whether the files of a submodule are those of its commit."""
    if not (inner / "HEAD").is_file():
        return False
    with temporary.folder() as room:
        index = room / "index"
        env = {"GIT_DIR": str(inner), "GIT_WORK_TREE": str(files), "GIT_INDEX_FILE": str(index)}
        run(files, "read-tree", commit, env=env)
        found = collect(Lender(inner, inner, source.format), files, index)
    return found == Collected(text(inner, "rev-parse", f"{commit}^{{tree}}"))


def changed(source: Lender, place: Path, index: Path) -> tuple[str, ...]:
    """Return the files at `place` that are not as they were when the work tree was made, new ones included."""
    with temporary.folder() as room:
        own = room / "index"
        shutil.copy2(index, own)
        env = {"GIT_DIR": str(source.common), "GIT_WORK_TREE": str(place), "GIT_INDEX_FILE": str(own)}
        other = fields(place, "diff-files", "-z", "--name-only", "--no-renames", "--ignore-submodules=all", env=env)
        new = fields(place, "ls-files", "-z", "--others", "--exclude-standard", env=env)
        kept = (path for path in (*other, *new) if LEFT_BEHIND.isdisjoint(path.split(b"/")))
        return tuple(sorted(map(os.fsdecode, kept)))


def keep_commits(source: Lender, place: Path, name: str, known: str) -> int:
    """Keep every commit that was made in the private repository under refs/agentd/NAME, stashes and dropped ones too.

    What the commit `known` contains is not kept again. Return how many lines of commits were kept.
    """
    listed = text(place, "rev-list", "--parents", "--all", "--reflog", "--not", known)
    commits = {words[0]: words[1:] for words in map(str.split, listed.splitlines())}
    inner = {parent for parents in commits.values() for parent in parents}
    tips = [commit for commit in commits if commit not in inner]
    if not tips:
        return 0
    orders = "".join(f"update {_KEPT}/{number} {tip}\n" for number, tip in enumerate(tips, 1))
    run(place, "update-ref", "--stdin", stdin=orders.encode())
    words = ("fetch", "--quiet", "--no-tags", "--no-write-fetch-head", "--no-auto-gc", "--no-recurse-submodules")
    run(source.common, "-c", "fetch.fsckObjects=true", *words, str(place), f"+{_KEPT}/*:refs/agentd/{name}/*")
    return len(tips)


def _prepare(source: Lender, place: Path, branch: str) -> None:
    """Write a repository without any commit: what `git init` makes, and where its objects and settings come from."""
    private = place / ".git"
    for part in ("objects/info", "objects/pack", "refs/heads", "info"):
        (private / part).mkdir(parents=True)
    (private / "HEAD").write_text(f"ref: refs/heads/{branch}\n", encoding="utf-8")
    (private / "objects/info/alternates").write_bytes(os.fsencode(source.common / "objects") + b"\n")
    (private / "config").write_bytes(b"".join(_settings(source)))
    for folder, name in (
        (source.common, "shallow"),
        (source.common, "info/exclude"),
        (source.common, "info/attributes"),
        (source.own, "info/sparse-checkout"),
    ):
        if (folder / name).is_file():
            shutil.copyfile(folder / name, private / name)


def _settings(source: Lender) -> Iterator[bytes]:
    """Yield the lender's settings by reference, and after them those that must be different here."""
    yield b"[include]\n\tpath = %s\n" % _value(source.common / "config")
    if (source.own / "config.worktree").is_file():
        yield b"\tpath = %s\n" % _value(source.own / "config.worktree")
    version = 0 if source.format == "sha1" else 1
    yield b"[core]\n\trepositoryformatversion = %d\n\tbare = false\n\tworktree = ..\n" % version
    yield b"\thooksPath = %s\n\tfsmonitor = false\n\tlogAllRefUpdates = true\n" % _value(Path(os.devnull))
    if version:
        yield b"[extensions]\n\tobjectFormat = %s\n" % source.format.encode()
    if (source.common / "lfs").is_dir():
        yield b"[lfs]\n\tstorage = %s\n" % _value(source.common / "lfs")


def _value(path: Path) -> bytes:
    """Return a path as a quoted value of a configuration file."""
    if "\n" in str(path):
        raise AgentdError(
            f"git cannot borrow from {path!r}: there is a line break in its name.", f"mv {quoted(path)} …"
        )
    return b'"' + os.fsencode(path).replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'


def _submodule_names(place: Path, env: Mapping[str, str] = {}) -> Iterator[tuple[str, str]]:
    words = ("config", "--blob", ":.gitmodules", "-z", "--get-regexp", r"^submodule\..*\.path$")
    for entry in run(place, *words, accept=(0, 1, 128), env=env).split(b"\0"):
        key, _, path = os.fsdecode(entry).partition("\n")
        if path and ".." not in key.split("/"):
            yield key.removeprefix("submodule.").removesuffix(".path"), path


def _gitlinks(place: Path, env: Mapping[str, str] = {}) -> Iterator[tuple[str, str]]:
    for entry in fields(place, "ls-files", "-z", "--stage", env=env):
        if entry.startswith(_GITLINK):
            about, _, path = entry.partition(b"\t")
            yield os.fsdecode(path), about.split(b" ")[1].decode()


def _has(repository: Path, commit: str) -> bool:
    return bool(run(repository, "rev-parse", "--verify", "--quiet", f"{commit}^{{commit}}", accept=(0, 1, 128)))


def _is_folder(path: Path) -> bool:
    return path.is_dir() and not path.is_symlink()


def _head(place: Path) -> str:
    if not (place / ".git").exists():
        return ""
    return text(place, "rev-parse", "--verify", "--quiet", "HEAD", accept=(0, 1, 128))
