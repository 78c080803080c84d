"""What a run will need and does not have is told by the first command, before any agent is called."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from agentd.app import open_project
from agentd.calling import readiness, roster
from tests.plan.plans import answered
from tests.sandbox import CHANGE, IDEA, Ran, Sandbox

ROLES = ("planner", "challenger", "implementer", "reviewer")


def real_agents(sandbox: Sandbox, *installed: str) -> Path:
    """Have every role played by claude, on a machine with git, these agents and nobody's login; gives the mark of a call."""
    programs, mark = sandbox.root.parent / "programs", sandbox.root.parent / "called"
    programs.mkdir()
    (programs / "git").symlink_to(str(shutil.which("git")))
    for name in installed:
        (programs / name).write_text(f"#!/bin/sh\n: > {mark}\n")
        (programs / name).chmod(0o755)
    home = sandbox.root.parent / "home"
    home.mkdir()
    vendors = ("ANTHROPIC_", "CLAUDE_")
    sandbox.env = {key: value for key, value in sandbox.env.items() if not key.startswith(vendors)}
    sandbox.env |= {"PATH": str(programs), "HOME": str(home)}
    sandbox.set("roles", **dict.fromkeys(ROLES, "claude"))
    return mark


def check_refused(sandbox: Sandbox, ran: Ran, told: str, fix: str) -> None:
    assert ran.code == 1, ran.out + ran.err
    assert told in ran.err
    assert f"Fix:   {fix}" in ran.err
    assert not sandbox.folder().exists()


@pytest.mark.parametrize(
    "words", [("plan", CHANGE, IDEA), ("quick", "Say hello", "--id", CHANGE)], ids=["plan", "quick"]
)
def test_without_any_agent_nothing_is_begun(sandbox: Sandbox, words: tuple[str, ...]) -> None:
    real_agents(sandbox)
    check_refused(sandbox, sandbox.run(*words), "There is no agent to play the planner", "npm install -g @anthropic-ai")


@pytest.mark.parametrize(
    "words", [("plan", CHANGE, IDEA), ("quick", "Say hello", "--id", CHANGE)], ids=["plan", "quick"]
)
def test_an_agent_that_nobody_ever_logged_in_to_is_not_called(sandbox: Sandbox, words: tuple[str, ...]) -> None:
    mark = real_agents(sandbox, "claude")
    check_refused(sandbox, sandbox.run(*words), "nobody has logged in to it", "claude auth login")
    assert not mark.exists()


def test_a_reviewer_without_a_login_is_found_before_the_implementer_is_paid(planned: Sandbox) -> None:
    mark = real_agents(planned, "claude")
    planned.set("roles", implementer="scripted")
    ran = planned.run("impl", CHANGE)
    assert ran.code == 1
    assert "claude is to play the reviewer, and nobody has logged in" in ran.err
    assert not mark.exists()
    assert planned.state()["phase"] == "challenged"


@pytest.mark.parametrize(
    "way",
    [
        "ANTHROPIC_API_KEY",
        "CLAUDE_CODE_USE_BEDROCK",
        "ANTHROPIC_BASE_URL",
        "repo/.claude/settings.json",
        "home/.claude/settings.json",
        "home/.claude.json",
        "repo/.env",
        "command",
    ],
)
def test_a_login_that_may_be_there_is_none_that_is_missing(
    sandbox: Sandbox, way: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    real_agents(sandbox, "claude")
    for name in [name for name in os.environ if name.startswith(("ANTHROPIC_", "CLAUDE_"))]:
        monkeypatch.delenv(name)
    for name in ("PATH", "HOME"):
        monkeypatch.setenv(name, sandbox.env[name])

    def is_unused() -> bool:
        project = open_project(sandbox.root)
        return readiness.is_unused(project, roster.player(project, "planner"))

    assert is_unused()
    if way == "command":
        sandbox.set("claude", command=f"{sandbox.env['PATH']}/claude --bare")
    elif way.isupper():
        monkeypatch.setenv(way, "1")
    else:
        path = sandbox.root.parent / way
        path.parent.mkdir(exist_ok=True)
        path.touch()
    assert not is_unused()


def test_without_a_repository_no_plan_is_paid_that_could_not_be_implemented(sandbox: Sandbox) -> None:
    shutil.rmtree(sandbox.root / ".git")
    check_refused(sandbox, sandbox.plan(), "Implementing needs git", "git init")


def git(sandbox: Sandbox, *words: str) -> None:
    subprocess.run(["git", *words], cwd=sandbox.root, check=True, capture_output=True)


@pytest.mark.parametrize("pack", [lambda sandbox: None, lambda sandbox: git(sandbox, "pack-refs", "--all")])
def test_a_branch_that_blocks_those_of_changes_is_found_before_anybody_is_asked(
    sandbox: Sandbox, pack: Callable[[Sandbox], None]
) -> None:
    git(sandbox, "branch", "agentd")
    pack(sandbox)
    attended = ("plan", CHANGE, "Count words", *answered(sandbox, git_setup="branch"))
    told = "There is a branch agentd, so git cannot have agentd/"
    check_refused(sandbox, sandbox.run(*attended), told, "git branch -m agentd agentd-old   # or: --git in-place")
    assert sandbox.plan().code == 0, "nobody is there to be asked, so it is done in place"


def test_files_that_are_not_committed_are_told_once_with_what_happens_to_them(sandbox: Sandbox) -> None:
    assert "not committed" not in sandbox.run("plan", "clean", IDEA).out
    (sandbox.root / "notes.txt").write_text("mine\n")
    (sandbox.root / "tally" / "words.py").write_text("mine = 1\n")
    ran = sandbox.plan()
    assert ran.code == 0
    assert "⚠ not committed: tally/words.py, notes.txt. They stay as they are" in ran.out
    assert "not committed" not in sandbox.run("plan", CHANGE).out
    assert (sandbox.root / "tally" / "words.py").read_text() == "mine = 1\n"
