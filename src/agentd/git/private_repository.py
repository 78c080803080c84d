"""A work tree with a repository of its own that borrows the objects of another one.

Whatever is done in it with git (a stash, a setting, a hook, a branch, a garbage collection) stays in it. The lending
repository gets objects and refs below refs/agentd, and nothing else. What is in the private repository is never believed:
files are read with the lending repository's settings and an index that was kept apart.
"""

import os
import shutil
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from agentd import files, temporary
from agentd.errors import AgentdError
from agentd.git.checkout import LEFT_BEHIND
from agentd.git.program import fields, quoted, run, text
from agentd.patterns import regex
from agentd.values import dataclass

_GITLINK = b"160000 "
_COMMIT = regex(rb"\b(?:[0-9a-f]{40}|[0-9a-f]{64})\b")


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
    found = text(folder, *words).splitlines()
    if len(found) != 3:
        raise AgentdError(f"git cannot borrow from {folder}: there is a line break in its path.", "mv it elsewhere")
    common, own, kind = found
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


def is_sound(place: Path, commit: str) -> bool:
    """Whether the work tree at `place` still has a repository of its own that knows this commit."""
    try:
        found = text(place, "rev-parse", "--path-format=absolute", "--git-dir").strip()
        run(place, "cat-file", "-e", f"{commit}^{{commit}}")
    except AgentdError:
        return False
    return os.path.realpath(found) == os.path.realpath(place / ".git")


def renew(source: Lender, place: Path, commit: str, branch: str, index: Path) -> None:
    """Give the work tree at `place` a new repository of its own with this commit checked out; its files stay as they are."""
    private = place / ".git"
    if private.is_dir() and not private.is_symlink():
        shutil.rmtree(private, ignore_errors=True)
    else:
        private.unlink(missing_ok=True)
    _prepare(source, place, branch)
    run(place, "update-ref", f"refs/heads/{branch}", commit)
    shutil.copy2(index, private / "index")


def collect(source: Lender, place: Path, index: Path, without: Collection[str] = ()) -> Collected:
    """Store the files at `place` as a tree in the lender: all that git tracks or does not ignore, without what tools leave
    and the new files that are named.

    `index` is that of the work tree when it was made. It is only read.
    """
    with _kept_apart(source, place, index) as env:
        links = {path: wanted for path, wanted in _gitlinks(place, env) if _is_folder(place / path)}
        changed = tuple(_changed(source, place, links, env)) if links else ()
        away = [f":(exclude,top,literal){path}" for path in links]
        run(place, "add", "--sparse", "--update", "--", ":/", *away, env=env)
        listed = _new_files(place, env, without)
        nested = [os.fsdecode(path[:-1]) for path in listed if path.endswith(b"/")]
        new = [b":(top,literal)" + path for path in _work(place, listed, env) if not path.endswith(b"/")]
        if new:
            words = ("add", "--sparse", "--pathspec-from-file=-", "--pathspec-file-nul")
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


def changed(source: Lender, place: Path, index: Path, without: Collection[str] = ()) -> tuple[str, ...]:
    """Return the files at `place` that are not as they were when the work tree was made, and new ones that are not named."""
    with _kept_apart(source, place, index) as env:
        # A file that was only touched is the same.
        run(place, "update-index", "-q", "--really-refresh", "--ignore-submodules", env=env, accept=(0, 1))
        other = fields(place, "diff-files", "-z", "--name-only", "--no-renames", "--ignore-submodules=all", env=env)
        new = _new_files(place, env, without)
        return tuple(sorted(map(os.fsdecode, {*other, *_work(place, new, env)})))


@contextmanager
def _kept_apart(source: Lender, place: Path, index: Path) -> Iterator[dict[str, str]]:
    """The variables with which git reads a work tree as the lender would, with a copy of an index that was kept apart."""
    with temporary.folder() as room:
        own = room / "index"
        shutil.copy2(index, own)
        yield {"GIT_DIR": str(source.common), "GIT_WORK_TREE": str(place), "GIT_INDEX_FILE": str(own)}


def _new_files(place: Path, env: Mapping[str, str], without: Collection[str]) -> list[bytes]:
    left = {os.fsencode(name) for name in without}
    return [
        path for path in fields(place, "ls-files", "-z", "--others", "--exclude-standard", env=env) if path not in left
    ]


def _work(place: Path, new: Sequence[bytes], env: Mapping[str, str]) -> Iterator[bytes]:
    """Yield the new files without those that tools leave, in folders in which the project itself keeps nothing."""
    left: dict[bytes, bool] = {}
    for path in new:
        parts = path.split(b"/")
        end = next((number for number, part in enumerate(parts, 1) if part in LEFT_BEHIND), 0)
        folder = b"/".join(parts[:end])
        if end and folder not in left:
            left[folder] = not run(place, "ls-files", "-z", "--", f":(top,literal){os.fsdecode(folder)}", env=env)
        if not end or not left[folder]:
            yield path


def keep_commits(source: Lender, place: Path, name: str, known: str) -> int:
    """Keep every commit that was made in the private repository under refs/agentd/NAME, stashes and dropped ones too.

    What the commit `known` contains is not kept again. git is not started in the private repository, whose settings may
    name programs: its refs are read as text, and its objects as an alternate of the lender. Return how many were kept.
    """
    env = _with_objects(place)
    tips = list(_unkept(source, sorted(_named_commits(place / ".git")), known, env)) if env else []
    if tips:
        listed = text(source.common, "rev-list", "--parents", *tips, "--not", known, env=env).splitlines()
        parents = {parent for line in listed for parent in line.split()[1:]}
        tips = [tip for tip in tips if tip not in parents]
        asked = "".join(f"{tip}\n" for tip in tips) + f"^{known}\n"
        words = ("pack-objects", "--revs", "--stdout", "--quiet", "--delta-base-offset")
        pack = run(source.common, *words, stdin=asked.encode(), env=env)
        run(source.common, "index-pack", "--stdin", "--strict", stdin=pack)
        orders = "".join(f"update refs/agentd/{name}/{tip[:16]} {tip}\n" for tip in tips)
        run(source.common, "update-ref", "--stdin", stdin=orders.encode())
    return len(tips)


def _unkept(source: Lender, commits: Sequence[str], known: str, env: Mapping[str, str]) -> Iterator[str]:
    """Yield the commits that neither `known` nor a ref of the lender contains, without those that are not there or broken."""
    most = () if len(commits) > 1 else ("--max-count=1",)
    words = ("rev-list", "--objects", "--ignore-missing", *most, "--stdin", "--not", known, "--all")
    try:
        listed = text(source.common, *words, stdin="\n".join(commits).encode(), env=env) if commits else ""
        found = {line.partition(" ")[0] for line in listed.splitlines()}
        yield from (commit for commit in commits if commit in found)
    except AgentdError:  # one of them is broken
        half = len(commits) // 2
        for part in (commits[:half], commits[half:]) if half else ():
            yield from _unkept(source, part, known, env)


def has_commit_of(source: Lender, place: Path, tree: str) -> bool:
    """Whether a commit was made in the private repository that has exactly the files of a tree."""
    env = _with_objects(place)
    if not env:
        return False
    asked = "".join(f"{commit}^{{tree}}\n" for commit in sorted(_named_commits(place / ".git")))
    found = run(source.common, "cat-file", "--batch-check=%(objectname)", stdin=asked.encode(), env=env)
    return tree.encode() in found.splitlines()


def _with_objects(place: Path) -> dict[str, str]:
    """The variables with which the lender sees the objects of a private repository; none if those are elsewhere."""
    objects = place / ".git" / "objects"
    if os.path.realpath(objects) != str(objects) or not objects.is_dir():
        return {}
    return {"GIT_ALTERNATE_OBJECT_DIRECTORIES": str(objects), "GIT_NO_LAZY_FETCH": "1"}


def _named_commits(private: Path) -> set[str]:
    """Return the names of commits in the refs and the reflogs of a repository; links are not followed."""
    found = set()
    for folder, _, names in os.walk(private):
        if not os.path.relpath(folder, private).startswith(("refs", "logs", ".")):
            continue
        for name in names:
            path = Path(folder, name)
            if folder != str(private) or name in ("HEAD", "ORIG_HEAD", "packed-refs"):
                with suppress(OSError):
                    found |= {*_COMMIT.findall(files.read(path, files.LARGE, os.O_NOFOLLOW))}
    return {each.decode() for each in found if each.strip(b"0")}


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
