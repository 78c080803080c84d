"""One commit of given files, as `git commit --only` makes it: with the person's hooks, and what else is staged stays staged."""

import os
import shlex
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from agentd import temporary
from agentd.errors import AgentdError, Refused
from agentd.git import repository
from agentd.git.program import fields, person, quoted, run, text
from agentd.values import dataclass

# What git has begun and not finished, by a file in its private folder, and how a person ends it.
_BEGUN = {
    "MERGE_HEAD": ("a merge", "git merge --continue"),
    "rebase-merge": ("a rebase", "git rebase --continue"),
    "rebase-apply": ("a rebase", "git rebase --continue"),
    "CHERRY_PICK_HEAD": ("a cherry-pick", "git cherry-pick --continue"),
    "REVERT_HEAD": ("a revert", "git revert --continue"),
    "BISECT_LOG": ("a bisection", "git bisect reset"),
}
_SHOWN = 5


@dataclass(frozen=True)
class Committed:
    """A commit of a run's files: where, its hash, and its files; none if a commit of before has them.

    `more` are files in it that are not the run's, as a hook can add them; `less` are files of the run that git left out;
    `undo` is the git command that takes the commit back and leaves its files as they are.
    """

    folder: Path
    hash: str
    files: tuple[str, ...] = ()
    branch: str = ""
    subject: str = ""
    more: tuple[str, ...] = ()
    less: tuple[str, ...] = ()
    undo: str = ""


def refuse_unsettled(folder: Path) -> None:
    """Refuse a work tree in which a commit would land in the middle of something, or on no branch."""
    private = repository.private_folder(folder)
    for name, (what, fix) in _BEGUN.items():
        if (private / name).exists():
            raise Refused(f"{what} is in progress in {folder}; nothing was committed.".capitalize(), fix)
    if (private / "index.lock").exists():
        what = f"A git command is at work in {folder}, or was killed there; nothing was committed."
        left = shlex.join(map(str, (private / "index.lock", *sorted(private.glob("next-index-*.lock")))))
        raise Refused(what, f"rm {left}   # if no git command is running")
    if not repository.current_branch(folder):
        what = f"No branch is checked out in {folder}, so a commit would be on none; nothing was committed."
        raise Refused(what, f"git -C {quoted(folder)} switch -c NAME   # or: git switch with the branch you want it on")


def uncommitted(folder: Path, paths: Iterable[str]) -> tuple[str, ...]:
    """Those of the files that differ from HEAD, in the index or the work tree; a folder stands for what is below it.

    Ignored files are left out. Refuses a file that is staged with another content than the work tree has: committing
    the one would lose the other.
    """
    wanted, found, mixed = list(paths), [], []
    top, above = repository.top(folder), text(folder, "rev-parse", "--show-prefix")
    options = ("--porcelain=v1", "-z", "--untracked-files=all", "--no-renames", "--ignore-submodules=dirty")
    listed = (
        fields(top, "--literal-pathspecs", "status", *options, "--", *(above + one for one in wanted)) if wanted else []
    )
    for entry in listed:
        state, path = entry[:2], os.fsdecode(entry[3:]).removeprefix(above)
        found.append(path)
        if state[:1] not in b" ?" and state[1:] != b" ":
            mixed.append(path)
    if mixed:
        what = f"{_named(mixed)} is staged with another content than it has now; nothing was committed."
        raise Refused(
            what,
            f"git -C {quoted(folder)} diff -- {shlex.quote(mixed[0])}   # then stage it (git add), or take it back (git restore --staged)",
        )
    return tuple(sorted(found))


def commit(folder: Path, paths: Sequence[str], message: str) -> str:
    """Commit these files as they are in the work tree, and give the commit's hash. If git or a hook refuses, nothing changes.

    A hook can put other content and other files into the commit. Of the files given here, the index then has what HEAD has.
    """
    refuse_unknown_person(folder)
    new = set(fields(folder, "ls-files", "-z", "--others"))
    with temporary.folder() as room:
        (room / "message").write_text(message, encoding="utf-8")
        every = _pathspecs(room / "paths", map(os.fsencode, paths))
        unknown = [path for path in map(os.fsencode, paths) if path in new]
        fresh = _pathspecs(room / "new", unknown)
        if unknown:  # git commits no file that it does not know
            run(folder, *_literal("add", "--intent-to-add"), *fresh)
        try:
            words = ("--quiet", "--only", "--cleanup=whitespace", f"--file={room / 'message'}")
            run(folder, *_literal("commit", *words), *every, env=person(), isolated=False)
        except AgentdError as error:
            if unknown:  # without a path, everything would be reset
                run(folder, *_literal("reset", "--quiet"), *fresh)
            said = "".join(letter if letter.isprintable() else " " for letter in error.message.partition(": ")[2])
            what = f"git did not take the commit, and nothing was changed: {said}"
            raise AgentdError(what, f"git -C {quoted(folder)} status   # then run the same command again") from None
        with suppress(AgentdError):  # the commit is made all the same
            run(folder, *_literal("reset", "--quiet"), *every)
    return repository.head(folder)


def files(folder: Path, commit: str) -> tuple[str, ...]:
    """The files that differ between a commit and its first parent, their paths given from `folder`."""
    top, above = repository.top(folder), text(folder, "rev-parse", "--show-prefix") or "."
    words = ("diff-tree", "-r", "-z", "--root", "-m", "--first-parent", "--no-commit-id", "--name-only", "--no-renames")
    return tuple(sorted(os.path.relpath(os.fsdecode(path), above) for path in fields(top, *words, commit)))


def find(folder: Path, trailer: str, since: str) -> str:
    """The last commit of this branch since a time whose message has a trailer, `KEY: VALUE`; nothing if there is none."""
    if not repository.is_repository(folder):
        return ""
    key, _, wanted = trailer.partition(": ")
    form = f"--format=%H%x00%(trailers:key={key},valueonly,unfold,separator=%x00)"
    words = ("log", "--no-show-signature", form, f"--since={since}", "--fixed-strings", f"--grep={trailer}")
    for line in text(folder, *words).split("\n"):
        commit, *values = line.split("\0")
        if wanted in values:
            return commit
    return ""


def refuse_unknown_person(folder: Path) -> None:
    """Refuse to begin what ends with a commit if git does not know whose it would be."""
    for ident in ("GIT_AUTHOR_IDENT", "GIT_COMMITTER_IDENT"):
        try:
            run(folder, "var", ident, env=person())
        except AgentdError:
            here = quoted(folder)
            fix = f'git -C {here} config user.name "YOUR NAME" && git -C {here} config user.email YOU@EXAMPLE.COM'
            raise Refused("git does not know your name and e-mail address; nothing was committed.", fix) from None


def _literal(*words: str) -> tuple[str, ...]:
    return ("--literal-pathspecs", *words)


def _pathspecs(file: Path, paths: Iterable[bytes]) -> tuple[str, ...]:
    file.write_bytes(b"".join(path + b"\0" for path in paths))
    return (f"--pathspec-from-file={file}", "--pathspec-file-nul")


def _named(paths: Sequence[str]) -> str:
    more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
    return ", ".join(paths[:_SHOWN]) + more
