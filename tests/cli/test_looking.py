"""Commands that look, in a clone that means harm: they write nothing, start nothing of it, and follow no link out of it."""

import json
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from agentd.runs import unfinished
from agentd.runs.unfinished import Unfinished
from tests.archive.library import ONE, Library
from tests.sandbox import AGENTD

LOOKING: tuple[tuple[str, ...], ...] = (
    ("status",),
    ("status", "a"),
    ("list", "--all"),
    ("list", "--archived"),
    ("validate",),
    ("validate", "a"),
    ("doctor",),
    ("log", "a"),
    ("log", "a", "--raw"),
    ("log", "a", "--timing"),
    ("show", "a"),
    ("trace",),
    ("trace", "a"),
    ("cost",),
    ("cost", "a", "--by", "step"),
    ("history", "report"),
    ("archive", "a", "--dry-run"),
    ("workflow", "list"),
)
WRITING = (
    ("archive", "a"),
    ("archive", "--all"),
    ("undo", "a"),
    ("plan", "b", "Add a line", "--skip-clarify", "--git", "in-place"),
    ("impl", "a"),
    ("resume", "a"),
)
# Calls that change something on a disk, and those that make a file if their flags say so.
CHANGES = re.compile(
    r"\b(rename|renameat|renameat2|unlink|unlinkat|mkdir|mkdirat|rmdir|link|linkat|symlink|symlinkat|truncate|chmod|fchmodat"
    r"|chown|fchownat|utimensat|mknod|mknodat|setxattr|ftruncate)\("
)
MAKES = re.compile(r"\b(open|openat|openat2|creat)\(.*\b(O_WRONLY|O_RDWR|O_CREAT|O_TRUNC|O_APPEND)\b")
QUOTED = re.compile(r'"((?:[^"\\]|\\.)*)"')
FOLDER = re.compile(r"\((?:AT_FDCWD|\d+)<([^>]*)>, \"")
OPENED = re.compile(r"(?:= |ftruncate\()\d+<([^>]*)>")
HARM = "#!/bin/sh\ntouch {mark}\n"


class Clone(Library):
    """A repository that somebody else made, and what is near it on the disk."""

    @property
    def outside(self) -> Path:
        return self.root.parent / "outside"

    @property
    def mark(self) -> Path:
        """A file that is there once anything of the clone was started."""
        return self.root.parent / "started"

    def trace(self, *words: str) -> list[str]:
        """Every call of the program and what it starts that concerns a file or a new program."""
        log = self.root.parent / "strace"
        subprocess.run(
            ["strace", "-f", "-qq", "-y", "-s", "4096", "-e", "trace=%file,ftruncate", "-o", str(log), *AGENTD, *words],
            cwd=self.root,
            env=self.env,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=120,
        )
        return log.read_text(errors="replace").splitlines()


def everything(folder: Path) -> dict[str, tuple[object, ...]]:
    """Every file below a folder, git's own too, with its times."""
    found: dict[str, tuple[object, ...]] = {}
    for path in sorted((folder, *folder.rglob("*"))):
        seen = path.lstat()
        text = path.read_bytes() if path.is_file() and not path.is_symlink() else b""
        found[str(path)] = (seen.st_mode, seen.st_mtime_ns, seen.st_ctime_ns, seen.st_ino, text)
    return found


def a_clone(folder: Path) -> Clone:
    """A clone with a complete change, a program that its configuration names, and settings that make git start programs."""
    clone = Clone(folder / "repo")
    (clone.root / "agentd").mkdir(parents=True)
    clone.outside.mkdir()
    (clone.outside / "secret.md").write_text("the secret\n")
    harm = clone.root / "harm.sh"
    harm.write_text(HARM.format(mark=clone.mark))
    harm.chmod(0o755)
    clone.put("report", ONE)
    clone.complete("a", {"report": ONE.replace("It counts words.", "It counts all words.")})
    agents = ("claude", "codex", "gemini", "copilot")
    (clone.root / "agentd" / "config.toml").write_text("".join(f'[{name}]\ncommand = "./harm.sh"\n' for name in agents))
    git = ("git", "-C", str(clone.root), "-c", "user.name=x", "-c", "user.email=x@localhost")
    subprocess.run([*git, "init", "--quiet"], check=True)
    subprocess.run([*git, "add", "--all"], check=True)
    subprocess.run([*git, "commit", "--quiet", "-m", "start"], check=True)
    for key in ("core.fsmonitor", "diff.external", "core.pager", "diff.md.textconv", "core.sshCommand", "core.editor"):
        subprocess.run([*git, "config", key, str(harm)], check=True)
    subprocess.run([*git, "config", "core.hooksPath", str(clone.root / "hooks")], check=True)
    (clone.root / "hooks").mkdir()
    for hook in ("post-index-change", "reference-transaction", "post-checkout", "pre-commit"):
        shutil.copy(harm, clone.root / "hooks" / hook)
    (clone.root / ".gitattributes").write_text("*.md diff=md\n")
    return clone


def link(clone: Clone, place: str) -> None:
    """A link in a place of the clone that leads to where its writer wants something to be written or read."""
    path = clone.root / place
    target = clone.outside / path.name
    if path.is_dir():
        shutil.move(path, target)
    elif path.exists():
        path.rename(target)
    else:
        target.write_text("")
    path.symlink_to(target)


def bring_note(clone: Clone) -> None:
    """The note of an archive in progress with its record, as a repository can bring them."""
    (clone.root / "agentd" / ".archiving.json").write_text(json.dumps({"deed": "archive", "change": "a"}))


FILES = (
    "agentd/specs",
    "agentd/changes/a/STATE.yaml",
    "agentd/changes/a/.lock",
    "agentd/.lock",
    "agentd/changes/a/journal.jsonl",
    "agentd/changes/a/specs",
    "agentd/changes/a/calls",
    "agentd/changes/a/base.json",
    "agentd/ledger.jsonl",
)
# What is linked at once, and the commands to look with: a link further up hides the others.
LINKED = {
    "files": (FILES, LOOKING),
    "run": (("agentd/changes/a", "agentd/archive"), LOOKING[:4]),
    "runs": (("agentd/changes",), LOOKING[:1]),
    "config": (("agentd/config.toml",), LOOKING[:1]),
    "all": (("agentd",), LOOKING[:1]),
}


@pytest.fixture
def clone(tmp_path: Path) -> Clone:
    return a_clone(tmp_path)


def harm_in(lines: list[str], clone: Clone) -> Iterator[str]:
    """What of a trace wrote to the clone or beside it, started something of it, or opened what is outside of it."""
    near, outside, places = str(clone.root.parent), str(clone.outside), dict[str, str]()
    for line in lines:
        base, process = FOLDER.search(line), line.split()[0]
        here = base[1] if base else places.get(process, str(clone.root))
        named = [os.path.normpath(os.path.join(here, one)) for one in QUOTED.findall(line)]
        if " chdir(" in line:  # a sandbox makes its mount points in a file system of its own
            places[process] = named[0]
        opened = OPENED.findall(line)
        if "execve(" in line:
            harmful = named[0].startswith(near)
        elif CHANGES.search(line) or MAKES.search(line):
            harmful = any(one.startswith(near) for one in (*named, *opened))
        else:
            harmful = any(one.startswith(outside) for one in opened)
        if harmful:
            yield line


@pytest.mark.parametrize("which", LINKED)
def test_looking_at_a_clone_with_links_writes_starts_and_follows_nothing(clone: Clone, which: str) -> None:
    places, commands = LINKED[which]
    for place in places:
        link(clone, place)
    before = everything(clone.root), everything(clone.outside)
    for words in commands:
        ran = clone.run(*words)
        assert ran.code in (0, 1), f"{words}: {ran}"
        assert "the secret" not in ran.out + ran.err
        assert not clone.mark.exists(), f"{words} started something of the clone"
        assert (everything(clone.root), everything(clone.outside)) == before, f"{words} wrote"


@pytest.mark.parametrize("words", LOOKING, ids=" ".join)
def test_no_system_call_of_a_looking_command_writes_starts_or_follows(clone: Clone, words: tuple[str, ...]) -> None:
    for place in ("agentd/specs", "agentd/changes/a/STATE.yaml", "agentd/changes/a/.lock", "agentd/.lock"):
        link(clone, place)
    bring_note(clone)
    lines = clone.trace(*words)
    assert any("execve(" in line for line in lines), "nothing was traced"
    assert not list(harm_in(lines, clone))


@pytest.mark.parametrize("place", [*FILES[:6], "agentd/changes/a", "agentd/changes", "agentd/archive", "agentd"])
def test_an_archive_is_refused_where_a_link_is_in_its_way(clone: Clone, place: str) -> None:
    if place.endswith("archive"):
        (clone.root / place).mkdir()
    (clone.root / "agentd" / "config.toml").write_text("")
    link(clone, place)
    before = everything(clone.outside)
    ran = clone.run("archive", "a")
    assert (ran.code, "link" in ran.err, ran.err.count("Fix:")) == (1, True, 1), ran
    assert everything(clone.outside) == before


@pytest.mark.parametrize("words", WRITING, ids=" ".join)
def test_no_command_writes_through_a_link(clone: Clone, words: tuple[str, ...]) -> None:
    for place in FILES:
        link(clone, place)
    before = everything(clone.outside)
    clone.run(*words)
    assert everything(clone.outside) == before


def test_a_note_that_the_repository_brings_is_refused_and_never_followed(clone: Clone) -> None:
    """The hook that a linked library would have been given."""
    (clone.root / "agentd" / "config.toml").write_text("")
    bring_note(clone)
    before = everything(clone.root)
    for words in (("archive", "a"), ("undo", "a")):
        ran = clone.run(*words)
        assert (ran.code, "is not followed" in ran.err) == (1, True), ran
        assert f"Fix:   rm {clone.root}/agentd/.archiving.json" in ran.err
        assert everything(clone.root) == before
    (clone.root / "agentd" / ".archiving.json").unlink()
    assert clone.run("archive", "a").code == 0


def test_an_archive_that_was_cut_off_is_shown_and_left_to_the_command_that_finishes_it(clone: Clone) -> None:
    (clone.root / "agentd" / "config.toml").write_text("")
    assert clone.run("archive", "a", env={"AGENTD_CRASH": "spec:1:after"}).code == -9
    before = everything(clone.root)
    assert unfinished.note(clone.root) == clone.root / ".git/agentd/unfinished.json"
    for words in LOOKING:
        ran = clone.run(*words)
        assert everything(clone.root) == before, words
        if words[0] != "doctor":
            assert "Warning: the archive of a was interrupted; finish it: agentd archive a" in ran.err, ran
    for words in (("status",), ("status", "a")):
        assert "Next: agentd archive a" in clone.run(*words).out
    (row,) = clone.run("list", "--json").data["runs"]
    assert (row["doing"], row["next"]) == ("interrupted", "agentd archive a")
    assert clone.run("archive", "a").code == 0
    assert "It counts all words." in clone.get("report")
    assert not unfinished.note(clone.root).exists()
    assert "interrupted" not in clone.run("status").err


def test_a_change_that_had_moved_when_its_archive_was_cut_off_is_shown(clone: Clone) -> None:
    (clone.root / "agentd" / "config.toml").write_text("")
    assert clone.run("archive", "a", env={"AGENTD_CRASH": "move:1:after"}).code == -9
    ran = clone.run("status")
    assert ("change/a" in ran.out, "Next: agentd archive a" in ran.out) == (True, True), ran


def test_a_note_of_another_user_is_not_followed(clone: Clone) -> None:
    if os.geteuid():
        pytest.skip("only root can give a file away")
    (clone.root / "agentd" / "config.toml").write_text("")
    unfinished.begin(clone.root, Unfinished("change", "archive", "a"))
    os.chown(unfinished.note(clone.root), 65534, 65534)
    ran = clone.run("archive", "a")
    assert (ran.code, "belongs to another user" in ran.err) == (1, True), ran


def test_projects_of_one_repository_have_notes_of_their_own(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "--quiet", str(tmp_path)], check=True)
    notes = {unfinished.note(tmp_path / name) for name in (".", "one", "two")}
    assert len(notes) == 3
    assert all(note.is_relative_to(tmp_path / ".git") for note in notes)


def test_without_git_the_note_is_in_the_persons_own_folder(tmp_path: Path) -> None:
    assert unfinished.note(tmp_path).is_relative_to(os.environ["XDG_STATE_HOME"])


def test_doctor_starts_no_program_that_the_project_names(clone: Clone) -> None:
    ran = clone.run("doctor", "--json")
    assert not clone.mark.exists()
    claude = next(one for one in ran.data["findings"] if (one["group"], one["name"]) == ("agents", "claude"))
    assert "not started, because agentd/config.toml names it" in claude["message"]


def test_the_clone_can_do_harm(clone: Clone) -> None:
    """Without this the other tests prove nothing: what the clone brings does start when somebody lets it."""
    subprocess.run(["git", "-C", str(clone.root), "status"], check=False, capture_output=True)
    assert clone.mark.exists()
