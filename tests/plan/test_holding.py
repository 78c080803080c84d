"""What must hold whatever a person or an agent does to a change between two commands."""

import sys

import pytest
import yaml

from agentd.git.repository import git
from tests.plan.plans import QUESTIONS, SHORT, answered
from tests.sandbox import CHANGE, IDEA, NEVER, NO, YES, Sandbox

ASKED = {"say": "Three questions.", "documents": {"questions.yaml": QUESTIONS}}


def halfway(sandbox: Sandbox) -> Sandbox:
    """A change whose first question is answered and whose others are open."""
    sandbox.script(draft_questions=ASKED, challenge=YES)
    assert sandbox.run("plan", CHANGE, SHORT, *answered(sandbox, clarification=["Ties one"])).code == 4
    return sandbox


def test_a_single_step_does_not_get_past_an_approval_that_no_longer_holds(planned: Sandbox) -> None:
    with (planned.folder() / "specs" / "top-words.md").open("a") as spec:
        spec.write("\nMore.\n")
    before = planned.calls()
    refused = planned.run("step", "implement", CHANGE, "--json")
    assert (refused.code, refused.data["error"]) == (1, "GateClosed")
    assert planned.state()["phase"] == "challenged"
    assert planned.calls() == before


def test_a_step_that_is_refused_moves_nothing(sandbox: Sandbox) -> None:
    halfway(sandbox)
    before = sandbox.state()
    assert sandbox.run("challenge", CHANGE).code == 1
    assert sandbox.state() == before
    done = sandbox.run("plan", CHANGE, *answered(sandbox, clarification=["Ties one", "Case two", "Output one"]))
    assert done.code in (0, 4), done.err
    assert "Case two" in (sandbox.folder() / "clarifications.md").read_text()


def test_questions_that_are_gone_are_drafted_again_and_no_answer_is_made_up(sandbox: Sandbox) -> None:
    halfway(sandbox)
    (sandbox.folder() / "questions.yaml").unlink()
    waiting = sandbox.run("plan", CHANGE)
    assert waiting.code == 4
    assert "draft_questions-2.1" in sandbox.calls()
    assert not (sandbox.folder() / "proposal.md").exists()
    assert len(sandbox.run("status", CHANGE, "--json").data["decisions"]) == 3


def test_questions_that_cannot_be_read_are_an_error_that_names_the_file(sandbox: Sandbox) -> None:
    halfway(sandbox)
    (sandbox.folder() / "questions.yaml").write_text("questions: [")
    refused = sandbox.run("plan", CHANGE)
    assert refused.code == 1
    assert "questions.yaml" in refused.err
    assert sandbox.calls() == ["draft_questions-1.1"]


def test_an_answer_stays_with_the_question_it_was_given_to(sandbox: Sandbox) -> None:
    halfway(sandbox)
    path = sandbox.folder() / "questions.yaml"
    drafts = yaml.safe_load(path.read_text())
    drafts["questions"].reverse()
    path.write_text(yaml.safe_dump(drafts))
    sandbox.run("plan", CHANGE, *answered(sandbox, clarification=["", "Case two", "Output one"]))
    text = (sandbox.folder() / "clarifications.md").read_text()
    assert "- **Question**: Which Ties?\n- **Answer**: Ties one\n" in text


def test_a_step_set_by_hand_approves_nothing(sandbox: Sandbox) -> None:
    sandbox.set("workflow", human_in_loop=True)
    sandbox.script(challenge=NO)
    assert sandbox.plan().code == 4
    sandbox.edit_state("  step: steer", "  step: approve")
    again = sandbox.run("plan", CHANGE)
    assert again.code != 0
    assert sandbox.state()["phase"] == "proposed"
    assert "approval" not in sandbox.state()


def test_what_an_agent_does_to_the_books_is_put_back(sandbox: Sandbox) -> None:
    forge = (
        "import pathlib, re, sys; path = pathlib.Path(sys.argv[1]); text = path.read_text(); "
        "text = re.sub(r'llm_calls:.*?(?=total_cost)', 'llm_calls: []\\n', text, flags=re.S); "
        "path.write_text(text + 'budget: {calls: 1000}\\n')"
    )
    state = sandbox.root / "agentd" / "changes" / CHANGE / "STATE.yaml"
    forging = {**sandbox.entry("break_down"), "run": [sys.executable, "-c", forge, str(state)]}
    sandbox.script(break_down=forging)
    refused = sandbox.plan()
    assert refused.code == 1
    assert "put back" in refused.out
    assert [call["step"] for call in sandbox.state()["llm_calls"]] == [
        "proposal-gen",
        "spec-gen-top-words",
        "tasks-gen",
    ]
    assert "budget" not in sandbox.state()


def test_a_budget_question_is_over_when_the_limit_is_raised(sandbox: Sandbox) -> None:
    sandbox.set("budget", calls_per_change=1)
    assert sandbox.plan().code == 4
    sandbox.set("budget", calls_per_change=50)
    done = sandbox.run("plan", CHANGE)
    assert done.code == 0, done.out + done.err
    assert [decision["status"] for decision in sandbox.state()["user_decisions"]] == ["cancelled"]
    assert sandbox.run("status", CHANGE, "--json").data["decisions"] == []


def test_a_report_that_was_taken_away_is_made_again_from_the_review(sandbox: Sandbox) -> None:
    sandbox.set("workflow", human_in_loop=True)
    sandbox.script(challenge=[NO, YES])
    assert sandbox.plan().code == 4
    report = sandbox.folder() / "CHALLENGE.md"
    text = report.read_text()
    report.unlink()
    assert sandbox.run("plan", CHANGE).code == 4
    assert report.read_text() == text
    assert sandbox.run("plan", CHANGE, *answered(sandbox, steer="fix")).code == 0


def test_a_worktree_needs_the_project_to_be_committed_and_lies_outside_the_repository(sandbox: Sandbox) -> None:
    inner = sandbox.root / "new"
    (inner / "agentd").mkdir(parents=True)
    for name in ("config.toml", "demo.yaml"):
        (inner / "agentd" / name).write_bytes((sandbox.root / "agentd" / name).read_bytes())
    refused = sandbox.run("plan", CHANGE, IDEA, "--git", "worktree", cwd=inner)
    assert refused.code == 1
    assert "is not committed" in refused.err
    assert not (inner / "agentd" / "changes").exists()
    git(sandbox.root, "add", "--all")
    git(sandbox.root, "-c", "user.name=a", "-c", "user.email=a@localhost", "commit", "--quiet", "-m", "new")
    sandbox.run("plan", CHANGE, IDEA, "--git", "worktree", cwd=inner)
    assert (sandbox.root.parent / "new-agentd" / CHANGE / "new").is_dir()


@pytest.mark.parametrize(("said", "code"), [("null", 4), ("[[a]]", 2), ("{note: x}", 2), ("in-place", 0)])
def test_an_answers_file_answers_with_words_only(sandbox: Sandbox, said: str, code: int) -> None:
    sandbox.script(challenge=YES)
    sandbox.set("workflow", human_in_loop=True)
    path = sandbox.root / "agentd" / "said.yaml"
    path.write_text(f"git_setup: {said}\n")
    assert sandbox.run("plan", CHANGE, IDEA, "--answers", str(path)).code == code


def test_a_rejected_change_is_listed_with_the_way_back(sandbox: Sandbox) -> None:
    sandbox.script(challenge=NEVER)
    sandbox.plan()
    shown = sandbox.run("status")
    assert "rejected" in shown.out
    assert f"Next: agentd challenge {CHANGE}" in shown.out
