"""`agentd commit`: one commit of exactly the files of a change, and everything else as it was."""

import os
import shutil
import signal
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from agentd.app import open_project
from agentd.cli.commit_offer import offer
from agentd.model.decision import Answer, Decision
from agentd.runs.overview import status
from tests.cli.quick_plans import NAME, WORDS, scripted
from tests.impl.coding import APPROVED, HONEST
from tests.sandbox import CHANGE, Sandbox, make_sandbox
from tests.shared import Shared

CODE = {"tally/__init__.py", "tally/words.py", "tests/test_top.py"}
TITLE = "`top(text, n)` gives the n most frequent words of a text"


def git(sandbox: Sandbox, *words: str, cwd: Path | None = None) -> str:
    done = subprocess.run(["git", *words], cwd=cwd or sandbox.root, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


def committed(sandbox: Sandbox, cwd: Path | None = None) -> set[str]:
    return set(git(sandbox, "show", "--format=", "--name-only", "HEAD", cwd=cwd).splitlines())


def hook(sandbox: Sandbox, name: str, text: str) -> Path:
    path = sandbox.root / ".git" / "hooks" / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.fixture(scope="session")
def completed_once(shared: Shared) -> Path:

    def make(folder: Path) -> Path:
        made = make_sandbox(folder)
        git(made, "config", "user.name", "ada")
        git(made, "config", "user.email", "ada@localhost")
        (made.root / "own.txt").write_text("one\n")
        git(made, "add", "--all")
        git(made, "commit", "--quiet", "-m", "mine")
        scripted(made)
        git(made, "commit", "--quiet", "-m", "script", "agentd")
        assert made.run("quick", WORDS, "--yes").code == 0
        return made.root

    return shared.once("completed", make)


@pytest.fixture
def complete(completed_once: Path, tmp_path: Path) -> Sandbox:
    shutil.copytree(completed_once, tmp_path / "repo", symlinks=True)
    return Sandbox(tmp_path / "repo")


@pytest.fixture
def archived(complete: Sandbox) -> Sandbox:
    done = complete.run("archive", NAME)
    assert done.out.rstrip().endswith(f"Next: agentd commit {NAME}"), done.out
    return complete


def test_the_next_thing_to_type_after_a_change_is_complete_archives_and_commits_it(complete: Sandbox) -> None:
    assert complete.run("status", NAME).out.rstrip().endswith(f"Next: agentd archive {NAME} && agentd commit {NAME}")


def test_exactly_the_files_of_the_change_are_committed(archived: Sandbox) -> None:
    (archived.root / "own.txt").write_text("two\n")
    git(archived, "add", "own.txt")
    (archived.root / "own.txt").write_text("three\n")
    (archived.root / "new.txt").write_text("new\n")
    (archived.root / "README.md").write_text("dirty\n")
    git(archived, "add", "new.txt")
    before = git(archived, "status", "--porcelain", "--", "own.txt", "new.txt", "README.md")
    done = archived.run("commit", NAME)
    assert done.code == 0, done.err
    assert "to take it back: git -C" in done.out
    files = committed(archived)
    assert files >= CODE | {"agentd/specs/top-words.md", "agentd/.gitignore", f"agentd/archive/{NAME}/proposal.md"}
    ours = (f"agentd/archive/{NAME}/", "agentd/specs/top-words.md", "agentd/.gitignore")
    assert [path for path in files - CODE if not path.startswith(ours)] == []
    assert git(archived, "status", "--porcelain") == before
    assert git(archived, "show", ":own.txt") == "two\n"


def test_changes_of_the_persons_own_in_a_file_of_the_change_are_told(sandbox: Sandbox) -> None:
    git(sandbox, "config", "user.name", "ada")
    git(sandbox, "config", "user.email", "ada@localhost")
    edit(sandbox.root / "tally" / "words.py")
    scripted(sandbox)
    assert sandbox.run("quick", WORDS, "--yes", "--no-review").code == 0
    done = sandbox.run("commit", NAME)
    assert "⚠ tally/words.py had changes that were not committed when the implementation began" in done.out
    assert "tally/__init__.py had" not in done.out


def test_the_message_has_the_title_the_reason_and_the_trace(archived: Sandbox) -> None:
    archived.run("commit", NAME)
    subject, empty, *rest = git(archived, "log", "-1", "--format=%B").rstrip().splitlines()
    assert (subject, empty) == (TITLE, "")
    assert rest[0].startswith("People who count words want")
    assert rest[-4:] == [
        f"Agentd-Change: {NAME}",
        "Requirements: top-words:R1, top-words:R2",
        "Evidence: tests green: 3 passed, 0 failed",
        "Review: APPROVED (review-1.1)",
    ]


def test_a_second_time_finds_the_commit(archived: Sandbox) -> None:
    first = archived.run("commit", NAME, "--json").data["commits"][0]
    second = archived.run("commit", NAME, "--json").data["commits"][0]
    assert (second["commit"], second["files"]) == (first["commit"], [])
    assert archived.run("status", NAME).out.rstrip().endswith(f"Next: agentd log {NAME}")


def test_the_persons_hooks_see_the_commit_and_nothing_else(archived: Sandbox) -> None:
    (archived.root / "own.txt").write_text("two\n")
    git(archived, "add", "own.txt")
    hook(archived, "pre-commit", "git diff --cached --name-only > .git/seen")
    assert archived.run("commit", NAME).code == 0
    assert set((archived.root / ".git" / "seen").read_text().splitlines()) == committed(archived)


def test_a_hook_that_refuses_leaves_everything_as_it_was(archived: Sandbox) -> None:
    git(archived, "add", "tally/words.py")
    before = (git(archived, "status", "--porcelain"), git(archived, "rev-parse", "HEAD"))
    path = hook(archived, "pre-commit", "echo 'no ticket number' >&2; exit 1")
    refused = archived.run("commit", NAME)
    assert refused.code == 1
    assert "git did not take the commit, and nothing was changed: no ticket number" in refused.err
    assert (git(archived, "status", "--porcelain"), git(archived, "rev-parse", "HEAD")) == before
    path.unlink()
    assert archived.run("commit", NAME).code == 0


@pytest.mark.parametrize("name", ["pre-commit", "post-commit"])
def test_after_a_kill_the_same_command_goes_on(archived: Sandbox, name: str) -> None:
    begun = archived.root / ".git" / "begun"
    path = hook(archived, name, f"touch {begun}; sleep 60")
    running = archived.begin("commit", NAME)
    while not begun.exists():
        assert running.poll() is None
    os.kill(running.pid, signal.SIGKILL)
    running.communicate(timeout=30)
    path.unlink()
    lock = archived.root / ".git" / "index.lock"
    done = archived.run("commit", NAME)
    if name == "pre-commit":  # the lock is git's own
        assert f"Fix:   rm {lock}" in done.err
        lock.unlink()
        done = archived.run("commit", NAME)
    assert done.code == 0, done.err
    assert git(archived, "log", "--format=%s").splitlines().count(TITLE) == 1
    assert git(archived, "status", "--porcelain") == ""


def detach(sandbox: Sandbox) -> None:
    git(sandbox, "checkout", "--quiet", "--detach")


def merge(sandbox: Sandbox) -> None:
    (sandbox.root / ".git" / "MERGE_HEAD").write_text(git(sandbox, "rev-parse", "HEAD"))


def rebase(sandbox: Sandbox) -> None:
    (sandbox.root / ".git" / "rebase-merge").mkdir()


@pytest.mark.parametrize(
    ("state", "said"),
    [(detach, "No branch is checked out"), (merge, "A merge is in progress"), (rebase, "A rebase is in progress")],
)
def test_a_repository_in_the_middle_of_something_is_refused(
    archived: Sandbox, state: Callable[[Sandbox], None], said: str
) -> None:
    state(archived)
    before = git(archived, "rev-parse", "HEAD")
    refused = archived.run("commit", NAME)
    assert refused.code == 1
    assert said in refused.err
    assert "Fix:   git " in refused.err
    assert git(archived, "rev-parse", "HEAD") == before


def edit(path: Path) -> None:
    path.write_text(path.read_text() + "\n# more\n")


@pytest.mark.parametrize("how", [edit, Path.unlink])
@pytest.mark.parametrize("name", ["tally/words.py", "tests/test_top.py"])
def test_a_file_that_was_edited_after_the_review_is_named_and_nothing_is_committed(
    complete: Sandbox, how: Callable[[Path], None], name: str
) -> None:
    how(complete.root / name)
    refused = complete.run("commit", NAME)
    assert refused.code == 1
    assert f"{name} changed after '{NAME}' was approved; nothing was committed." in refused.err
    assert f"Fix:   agentd impl {NAME} --re-review" in refused.err


def test_a_file_that_is_staged_with_another_content_is_refused(archived: Sandbox) -> None:
    path = archived.root / "tally" / "words.py"
    text = path.read_text()
    path.write_text("")
    git(archived, "add", "tally/words.py")
    path.write_text(text)
    refused = archived.run("commit", NAME)
    assert refused.code == 1
    assert "tally/words.py is staged with another content than it has now" in refused.err
    assert git(archived, "show", ":tally/words.py") == ""


def test_a_complete_change_is_committed_and_its_archive_later(complete: Sandbox) -> None:
    assert complete.run("commit", NAME).code == 0
    assert committed(complete) >= CODE
    assert not any(path.endswith("implementation.diff") for path in committed(complete))
    assert complete.run("archive", NAME).code == 0
    assert complete.run("commit", NAME).code == 0
    assert git(complete, "log", "-1", "--format=%s").strip() == f"Archive: {TITLE}"
    assert not committed(complete) & CODE
    assert git(complete, "ls-files", f"agentd/changes/{NAME}") == ""


def test_a_deleted_file_is_part_of_the_commit(complete: Sandbox) -> None:
    path = complete.state_file(NAME)
    (complete.root / "own.txt").unlink()
    path.write_text(path.read_text().replace("      tally/words.py:", "      own.txt: ''\n      tally/words.py:", 1))
    done = complete.run("commit", NAME)
    assert done.code == 0, done.err
    assert "own.txt" in committed(complete)


def test_a_spec_that_was_edited_since_is_left_to_the_person(archived: Sandbox) -> None:
    edit(archived.root / "agentd" / "specs" / "top-words.md")
    done = archived.run("commit", NAME)
    assert "agentd/specs/top-words.md changed after it was archived; it is not part of the commit" in done.out
    assert "agentd/specs/top-words.md" not in committed(archived)


def test_a_change_that_is_not_complete_is_refused(planned: Sandbox) -> None:
    refused = planned.run("commit", CHANGE)
    assert refused.code == 1
    assert f"'{CHANGE}' is challenged, not complete; nothing was committed." in refused.err


def test_auto_commits_after_the_archive(complete: Sandbox) -> None:
    complete.set("git", commit="auto")
    done = complete.run("archive", NAME)
    assert "✓ committed 17 files on main" in done.out
    assert done.out.rstrip().endswith(f"Next: agentd log {NAME}")


def test_never_does_not_offer_it(complete: Sandbox) -> None:
    complete.set("git", commit="never")
    assert complete.run("status", NAME).out.rstrip().endswith(f"Next: agentd archive {NAME}")
    assert complete.run("archive", NAME).out.rstrip().endswith(f"Next: agentd log {NAME}")


@pytest.mark.parametrize("said", ["yes", "no", None])
def test_ask_asks_who_is_there(archived: Sandbox, said: str | None) -> None:
    def ask(decision: Decision) -> Answer | None:
        assert decision.question == f"Commit the files of {NAME}?"
        return Answer(decision.id, said) if said else None

    project = replace(open_project(archived.root), ask=ask)
    found = offer(project, status(project, NAME))
    assert found.next == (f"agentd log {NAME}" if said == "yes" else f"agentd commit {NAME}")
    assert (git(archived, "log", "-1", "--format=%s").strip() == TITLE) == (said == "yes")


def test_the_code_of_a_worktree_is_committed_there_and_the_documents_at_home(sandbox: Sandbox) -> None:
    git(sandbox, "config", "user.name", "ada")
    git(sandbox, "config", "user.email", "ada@localhost")
    git(sandbox, "commit", "--quiet", "--all", "-m", "set up")
    sandbox.script(implement=HONEST, review=APPROVED)
    for done in (sandbox.plan("--git", "worktree"), sandbox.run("impl", CHANGE), sandbox.run("archive", CHANGE)):
        assert done.code == 0, done.out + done.err
    there = sandbox.root.parent / "repo-agentd" / CHANGE
    done = sandbox.run("commit", CHANGE)
    assert done.code == 0, done.err
    assert committed(sandbox, there) == CODE
    assert git(sandbox, "branch", "--show-current", cwd=there).strip() == f"agentd/{CHANGE}"
    assert f"agentd/archive/{CHANGE}/proposal.md" in committed(sandbox)
    assert not committed(sandbox) & CODE


def test_in_a_repository_without_commits_it_is_the_first(sandbox: Sandbox) -> None:
    shutil.rmtree(sandbox.root / ".git")
    git(sandbox, "init", "--quiet", "--initial-branch=main")
    git(sandbox, "config", "user.name", "ada")
    git(sandbox, "config", "user.email", "ada@localhost")
    scripted(sandbox)
    assert sandbox.run("quick", WORDS, "--yes", "--archive").code == 0
    done = sandbox.run("commit", NAME)
    assert done.code == 0, done.err
    assert committed(sandbox) >= CODE
    assert "⚠ in the commit" not in done.out
    assert "already committed" in sandbox.run("commit", NAME).out


def test_the_commit_of_a_change_of_a_longer_name_is_not_its_own(complete: Sandbox) -> None:
    edit(complete.root / "tally" / "words.py")
    git(complete, "add", *CODE)
    git(complete, "commit", "--quiet", "-m", f"Another change\n\nAgentd-Change: {NAME}-2")
    refused = complete.run("commit", NAME)
    assert refused.code == 1
    assert f"tally/words.py changed after '{NAME}' was approved; nothing was committed." in refused.err


def test_a_hook_that_formats_leaves_nothing_staged_and_the_commit_is_found(archived: Sandbox) -> None:
    hook(archived, "pre-commit", "echo '# formatted' >> tally/words.py; git add tally/words.py")
    first = archived.run("commit", NAME, "--json").data["commits"][0]
    assert git(archived, "status", "--porcelain") == ""
    second = archived.run("commit", NAME, "--json").data["commits"][0]
    assert (second["commit"], second["files"]) == (first["commit"], [])


def test_files_that_a_hook_adds_to_the_commit_are_told(archived: Sandbox) -> None:
    (archived.root / "own.txt").write_text("two\n")
    (archived.root / "secret.txt").write_text("mine\n")
    hook(archived, "pre-commit", "git add -A")
    before = git(archived, "rev-parse", "HEAD")
    done = archived.run("commit", NAME)
    assert "✓ committed 19 files on main" in done.out
    assert "⚠ in the commit, but not of the change (by a hook?): own.txt, secret.txt" in done.out
    undo = next(line for line in done.out.splitlines() if "take the commit back" in line).partition(": ")[2]
    subprocess.run(undo, shell=True, check=True, timeout=60)
    assert git(archived, "rev-parse", "HEAD") == before
    (archived.root / ".git" / "hooks" / "pre-commit").unlink()
    again = archived.run("commit", NAME, "--json").data["commits"][0]
    assert len(again["files"]) == 17
    assert "not_of_the_change" not in again
    assert git(archived, "status", "--porcelain") == " M own.txt\n?? secret.txt\n"


def test_a_file_that_git_is_told_not_to_look_at_is_told_and_committed_after_the_fix(archived: Sandbox) -> None:
    git(archived, "update-index", "--assume-unchanged", "tally/words.py")
    done = archived.run("commit", NAME)
    told = "⚠ of the change, but not in the commit (ignored, marked assume-unchanged, or by a hook?): tally/words.py"
    assert told in done.out
    assert "tally/words.py" not in committed(archived)
    fix = next(line for line in done.out.splitlines() if "update-index" in line).partition(": ")[2]
    subprocess.run(fix, shell=True, check=True, timeout=60)
    assert archived.run("commit", NAME).code == 0
    assert committed(archived) == {"tally/words.py"}


@pytest.mark.parametrize("words", [("archive", NAME), ("archive", "--all")])
def test_a_refused_commit_is_in_the_json_document_of_the_archive(complete: Sandbox, words: tuple[str, ...]) -> None:
    complete.set("git", commit="auto")
    hook(complete, "pre-commit", "echo 'no ticket number' >&2; exit 1")
    done = complete.run(*words, "--json")
    assert done.code == 0
    found = done.data["not_committed"]
    if "--all" in words:
        assert found[0]["change"] == NAME
        found = found[0]
    else:
        assert done.data["next"] == f"agentd commit {NAME}"
    assert "no ticket number" in found["message"]
    assert found["fix"].startswith("git -C ")


def test_a_commit_of_its_own_is_in_the_json_document_of_the_archive(complete: Sandbox) -> None:
    complete.set("git", commit="auto")
    done = complete.run("archive", NAME, "--json")
    assert [one["commit"] for one in done.data["commits"]] == [git(complete, "rev-parse", "HEAD").strip()]


@pytest.mark.parametrize("command", ["status", "list"])
def test_the_project_does_not_forget_what_is_not_committed(archived: Sandbox, command: str) -> None:
    def follow() -> str:
        done = archived.run(command)
        assert done.code == 0
        return done.out.rstrip().splitlines()[-1]

    assert follow() == f"Next: agentd commit {NAME}"
    archived.set("git", commit="never")
    assert follow().startswith("Next: agentd plan ")
    archived.set("git", commit="ask")
    archived.run("commit", NAME)
    assert follow().startswith("Next: agentd plan ")
