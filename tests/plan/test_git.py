"""Where a change is worked on: a branch, a worktree or right here, chosen once; what git refuses leaves nothing behind."""

import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from agentd.git.repository import git
from tests.impl.coding import HONEST
from tests.plan.plans import QUESTIONS, SHORT, answered, read_lines, steps, told
from tests.sandbox import CHANGE, IDEA, YES, Ran, Sandbox, kill, wait_until

BRANCH = f"agentd/{CHANGE}"
CLARIFIED = ["a", "b", "c"]


@pytest.fixture
def sandbox(sandbox: Sandbox) -> Sandbox:
    """A repository with everything committed, whose person decides after each challenge."""
    sandbox.set("workflow", human_in_loop=True)
    sandbox.script(challenge=YES)
    commit(sandbox)
    return sandbox


def commit(sandbox: Sandbox) -> None:
    identity = ("-c", "user.name=me", "-c", "user.email=me@localhost")
    git(sandbox.root, "add", "--all")
    git(sandbox.root, *identity, "commit", "--quiet", "-m", "more")


def branch(folder: Path) -> str:
    return git(folder, "branch", "--show-current").strip()


def branches(sandbox: Sandbox) -> list[str]:
    return git(sandbox.root, "for-each-ref", "--format=%(refname:short)", "refs/heads").splitlines()


def refs(sandbox: Sandbox) -> str:
    """Everything git knows of branches, worktrees and where it stands."""
    return "\n".join(
        git(sandbox.root, *words)
        for words in (("for-each-ref",), ("worktree", "list"), ("reflog", "--all"), ("branch", "--show-current"))
    )


def plan(sandbox: Sandbox, *words: str, **answers: Any) -> Ran:
    return sandbox.plan(*words, *(answered(sandbox, **answers) if answers else ()))


def worktree(sandbox: Sandbox, change: str = CHANGE) -> Path:
    return sandbox.root.parent / f"{sandbox.root.name}-agentd" / change


@pytest.mark.requirement(128)
def test_the_question_comes_after_clarification_and_before_anything_is_written(sandbox: Sandbox) -> None:
    sandbox.script(draft_questions={"documents": {"questions.yaml": QUESTIONS}})
    ran = sandbox.run("plan", CHANGE, SHORT, "--json", *answered(sandbox, clarification=CLARIFIED))
    assert ran.code == 4
    (asked,) = ran.data["decisions"]
    assert (asked["question"], asked["header"]) == ("Preferred Git workflow?", "Git Setup")
    labels = [option["label"] for option in asked["options"]]
    assert labels == ["New branch (Recommended)", "New worktree", "In place"]
    assert (sandbox.folder() / "clarifications.md").is_file()
    assert sandbox.calls() == ["draft_questions-1.1"]
    assert branch(sandbox.root) == "main"
    # It is answered from outside as well.
    assert sandbox.run("answer", CHANGE, asked["decision_id"], "branch").code == 0
    assert sandbox.run("plan", CHANGE).code == 0
    assert branch(sandbox.root) == BRANCH


@pytest.mark.requirement(129)
@pytest.mark.parametrize("way", ["flag", "answer"])
def test_a_new_branch_is_made_and_checked_out(sandbox: Sandbox, way: str) -> None:
    before = git(sandbox.root, "rev-parse", "HEAD")
    (sandbox.root / "README.md").write_text("not committed yet")
    ran = plan(sandbox, "--git", "branch") if way == "flag" else plan(sandbox, git_setup="New branch (Recommended)")
    assert ran.code == 0, ran.out + ran.err
    assert branch(sandbox.root) == BRANCH
    assert git(sandbox.root, "rev-parse", BRANCH) == before
    assert (sandbox.root / "README.md").read_text() == "not committed yet"
    assert sandbox.state()["git"] == {"choice": "branch", "branch": BRANCH, "from": before.strip(), "ready": True}
    assert f"✓ branch {BRANCH}" in ran.out
    written = [step for step in steps(sandbox) if step in ("set_up_git", "propose")]
    assert written == ["set_up_git", "propose"]


@pytest.mark.requirement(126, 130)
@pytest.mark.parametrize("way", ["flag", "answer"])
def test_a_new_worktree_is_where_the_agents_work(sandbox: Sandbox, way: str) -> None:
    script, seen = told(sandbox, {"challenge": YES, "review_proposal": {"say": "PASS"}})
    questions = {"documents": {"questions.yaml": QUESTIONS}}
    sandbox.script(**script, draft_questions=questions, implement=HONEST)
    sandbox.set("workflow", self_review_iterations=1)
    commit(sandbox)
    words = ("--git", "worktree") if way == "flag" else ()
    answers = {"clarification": CLARIFIED, **({} if way == "flag" else {"git_setup": "worktree"})}
    ran = sandbox.run("plan", CHANGE, SHORT, *words, *answered(sandbox, **answers))
    assert ran.code == 0, ran.out + ran.err
    there = worktree(sandbox)
    assert (branch(there), branch(sandbox.root)) == (BRANCH, "main")
    assert [Path(each["cwd"]) for each in read_lines(seen)] == [there, there]
    # The documents stay with the project, under one roof with its other runs; the clarifications go along.
    home = f"agentd/changes/{CHANGE}"
    assert (sandbox.root / home / "proposal.md").is_file()
    assert (there / home / "clarifications.md").read_bytes() == (sandbox.folder() / "clarifications.md").read_bytes()
    context = {Path(each.get("GEMINI_CONTEXT_FILE") or each["AGENTS_CONTEXT_FILE"]) for each in read_lines(seen)}
    assert context == {sandbox.root / home / "GEMINI.md", sandbox.root / home / "AGENTS.md"}
    done = sandbox.run("impl", CHANGE)
    assert done.code == 0, done.out + done.err
    assert (there / "tests" / "test_top.py").is_file()
    assert not (sandbox.root / "tests" / "test_top.py").exists()


@pytest.mark.requirement(130)
def test_inside_the_worktree_the_runs_of_the_project_are_found(sandbox: Sandbox) -> None:
    assert plan(sandbox, "--git", "worktree").code == 0
    there = worktree(sandbox)
    for cwd in (there, there / "tally"):
        ran = sandbox.run("status", CHANGE, "--json", cwd=cwd)
        assert (ran.code, ran.data["phase"]) == (0, "challenged")
    assert sandbox.run("impl", CHANGE, cwd=there).code == 0
    assert sandbox.state()["phase"] == "complete"
    assert not (there / "agentd" / "changes" / CHANGE / "STATE.yaml").exists()


@pytest.mark.requirement(133)
def test_a_worktree_that_is_gone_is_told_with_how_to_get_it_back(sandbox: Sandbox) -> None:
    assert plan(sandbox, "--git", "worktree").code == 0
    shutil.rmtree(worktree(sandbox))
    before = sandbox.calls()
    lost = sandbox.run("impl", CHANGE, "--json")
    assert lost.code == 1
    assert f"{worktree(sandbox)}, is gone" in lost.data["message"]
    assert sandbox.calls() == before
    assert "intent" not in sandbox.state()["run"]
    subprocess.run(lost.data["fix"], shell=True, check=True, capture_output=True, timeout=60)
    sandbox.script(implement=HONEST)
    assert sandbox.run("impl", CHANGE).code == 0
    assert (worktree(sandbox) / "tests" / "test_top.py").is_file()


@pytest.mark.requirement(130)
def test_a_project_below_the_top_of_its_repository_is_worked_on_in_the_same_place(sandbox: Sandbox) -> None:
    inner = sandbox.root / "services" / "tally"
    inner.parent.mkdir()
    shutil.copytree(sandbox.root, inner, ignore=shutil.ignore_patterns(".git", "services"))
    for name in ("agentd", "tally"):
        shutil.rmtree(sandbox.root / name)
    commit(sandbox)
    below = Sandbox(inner)
    script, seen = told(below, {"challenge": YES})
    below.script(**script)
    ran = plan(below, "--git", "worktree")
    assert ran.code == 0, ran.out + ran.err
    there = sandbox.root.parent / "tally-agentd" / CHANGE
    assert branch(there) == BRANCH
    assert {Path(each["cwd"]) for each in read_lines(seen)} == {there / "services" / "tally"}


@pytest.mark.requirement(126, 131)
@pytest.mark.parametrize("way", ["flag", "answer", "nobody"])
def test_in_place_gives_no_git_command(sandbox: Sandbox, way: str) -> None:
    script, seen = told(sandbox, {"challenge": YES})
    sandbox.script(**script)
    before = refs(sandbox)
    ran = {
        "flag": lambda: plan(sandbox, "--git", "in-place"),
        "answer": lambda: plan(sandbox, git_setup="in_place"),
        "nobody": lambda: plan(sandbox),
    }[way]()
    assert ran.code == 0, ran.out + ran.err
    assert refs(sandbox) == before
    assert not worktree(sandbox).parent.exists()
    assert [Path(each["cwd"]) for each in read_lines(seen)] == [sandbox.root]
    assert sandbox.state()["git"]["choice"] == "in_place"


@pytest.mark.requirement(132)
def test_an_existing_change_is_not_asked_and_not_branched_again(sandbox: Sandbox) -> None:
    sandbox.script(challenge=[{"fail": "error"}, {"fail": "error"}, YES])
    assert plan(sandbox, "--git", "branch").code == 1
    git(sandbox.root, "checkout", "--quiet", "main")
    before = refs(sandbox)
    assert plan(sandbox, "--git", "worktree").code == 1
    ran = plan(sandbox, git_setup="worktree")
    assert ran.code == 0, ran.out + ran.err
    assert refs(sandbox) == before
    assert not worktree(sandbox).parent.exists()
    assert "decisions" not in sandbox.state()


@pytest.mark.requirement(132)
def test_a_change_whose_proposal_is_there_already_is_not_asked(sandbox: Sandbox) -> None:
    sandbox.script(challenge=[{"fail": "error"}, YES])
    assert plan(sandbox).code == 1
    sandbox.edit_state("git:\n  choice: in_place\n  ready: true\n", "")
    sandbox.edit_state("  step: challenge\n", "  step: choose_git\n")
    before = refs(sandbox)
    ran = plan(sandbox, git_setup="branch")
    assert ran.code == 0, ran.out + ran.err
    assert refs(sandbox) == before


@pytest.mark.requirement(133)
@pytest.mark.parametrize("choice", ["branch", "worktree"])
@pytest.mark.parametrize("trouble", ["no repository", "no commit", "branch exists", "path in the way"])
def test_what_git_cannot_do_is_told_before_anything_is_written(sandbox: Sandbox, choice: str, trouble: str) -> None:
    if trouble == "path in the way" and choice == "branch":
        worktree(sandbox).mkdir(parents=True)
        assert plan(sandbox, "--git", choice).code == 0
        return
    spoil(sandbox, trouble)
    before = None if trouble == "no repository" else snapshot(sandbox)
    refused = plan(sandbox, "--git", choice)
    assert refused.code == 1
    words = {"branch exists": f"The branch {BRANCH} exists already", "path in the way": "is in the way"}
    assert words.get(trouble, "is not a git repository with a commit") in refused.err
    assert "Fix: " in refused.err
    assert not sandbox.folder().exists()
    assert before is None or snapshot(sandbox) == before


@pytest.mark.requirement(133)
def test_a_choice_that_git_refuses_is_asked_again(sandbox: Sandbox) -> None:
    """Answered from outside, a choice may turn out impossible: the question comes back and nothing was begun."""
    git(sandbox.root, "branch", BRANCH)
    before = refs(sandbox)
    ran = plan(sandbox, git_setup=["branch", "worktree"])
    assert ran.code == 4
    assert ran.out.count(f"⚠ The branch {BRANCH} exists already.") == 2
    assert refs(sandbox) == before
    assert sandbox.calls() == []
    assert sandbox.state()["git"] == {"refused": f"The branch {BRANCH} exists already."}
    assert sandbox.run("status", CHANGE, "--json").data["decisions"][0]["question"].startswith("The branch")
    again = plan(sandbox, git_setup="in_place")
    assert again.code == 0, again.out + again.err
    assert refs(sandbox) == before


@pytest.mark.requirement(133)
@pytest.mark.parametrize("choice", ["branch", "worktree"])
def test_git_failing_half_way_leaves_nothing(sandbox: Sandbox, choice: str) -> None:
    """A hook of the person's own refuses when git has done nearly everything."""
    hooked(sandbox, "echo not today >&2; exit 1")
    ran = plan(sandbox, "--git", choice)
    assert ran.code == 4
    assert "not today" in ran.out
    assert sandbox.calls() == []
    assert (branches(sandbox), branch(sandbox.root)) == (["main"], "main")
    assert not worktree(sandbox).parent.exists()
    hooked(sandbox, "exit 0")
    done = plan(sandbox, git_setup=choice)
    assert done.code == 0, done.out + done.err
    assert branch(worktree(sandbox) if choice == "worktree" else sandbox.root) == BRANCH


@pytest.mark.requirement(133)
@pytest.mark.parametrize("choice", ["branch", "worktree"])
def test_a_kill_between_git_and_the_save_is_recognised(sandbox: Sandbox, choice: str) -> None:
    """Killed in each write that follows, the same command goes on with what git had made."""
    plain, log, count = (sandbox.root.parent / name for name in ("plain", "points", "count"))
    hooked(sandbox, f"wc -l < {log} > {count}")
    shutil.copytree(sandbox.root, plain, symlinks=True)
    words = ("plan", CHANGE, IDEA, "--git", choice)
    assert sandbox.run(*words, env={"AGENTD_CRASH_LOG": str(log)}).code == 0
    after_git = int(count.read_text())
    orders = [f"*:{after_git + number}:{moment}" for number, moment in ((1, "before"), (2, "before"), (2, "torn"))]
    for number, order in enumerate(orders):
        again = Sandbox(sandbox.root.parent / str(number) / "repo")
        shutil.copytree(plain, again.root, symlinks=True)
        hooked(again, "exit 0")
        died = again.run(*words, env={"AGENTD_CRASH": order})
        assert died.code == -9, died.out + died.err
        goes_on(again, choice)


@pytest.mark.requirement(133)
@pytest.mark.parametrize("choice", ["branch", "worktree"])
def test_a_kill_while_git_works_is_recognised(sandbox: Sandbox, choice: str) -> None:
    gate = sandbox.root.parent / "gate"
    hooked(sandbox, f"touch {gate}; while [ -e {gate} ]; do sleep 0.05; done")
    process = sandbox.begin("plan", CHANGE, IDEA, "--git", choice)
    wait_until(gate.exists)
    kill(process)
    gate.unlink()
    hooked(sandbox, "exit 0")
    goes_on(sandbox, choice)


def goes_on(sandbox: Sandbox, choice: str) -> None:
    """The branch is there and not yet known to be ready; the same command takes it for its own."""
    assert BRANCH in branches(sandbox)
    assert "ready" not in sandbox.state()["git"]
    done = plan(sandbox, "--git", choice)
    assert done.code == 0, done.out + done.err
    assert branch(worktree(sandbox) if choice == "worktree" else sandbox.root) == BRANCH
    assert sandbox.state()["git"]["ready"] is True


def hooked(sandbox: Sandbox, command: str) -> None:
    """Have git run this after each checkout."""
    hook = sandbox.root / ".git" / "hooks" / "post-checkout"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\n{command}\n")
    hook.chmod(0o755)


def spoil(sandbox: Sandbox, trouble: str) -> None:
    if trouble == "no repository":
        shutil.rmtree(sandbox.root / ".git")
    elif trouble == "no commit":
        shutil.rmtree(sandbox.root / ".git")
        git(sandbox.root, "init", "--quiet")
    elif trouble == "branch exists":
        git(sandbox.root, "branch", BRANCH)
    else:
        worktree(sandbox).mkdir(parents=True)


def snapshot(sandbox: Sandbox) -> str:
    """What git has, and what lies beside the project."""
    beside = sorted(path.relative_to(sandbox.root.parent) for path in worktree(sandbox).parent.rglob("*"))
    return git(sandbox.root, "for-each-ref") + git(sandbox.root, "worktree", "list") + str(beside)
