"""Decisions: on disk before anyone is asked, answered once, from anywhere, and bound to what was shown."""

import json
import os
import pty
import shlex
import subprocess
from pathlib import Path

import pytest

from tests.sandbox import AGENTD, CHANGE, IDEA, NO, YES, Sandbox, copy_sandbox, reviewed, wait_until
from tests.shared import Shared

# Ever fewer issues and never the same, so that the loop is worth going on with as long as its limit lasts.
FEWER = [
    reviewed("needs_revision", "Ties", "Umlauts", "Limits"),
    reviewed("needs_revision", "Names", "Errors"),
    reviewed("needs_revision", "Colours"),
    reviewed("needs_revision", "Dates", severity="Low"),
]
BECAUSE = ("--note", "because")


@pytest.fixture(scope="session")
def asked_once(sandbox_once: Path, shared: Shared) -> Path:
    """A change whose planning came to its limit: three challenges, two revisions, then the question."""

    def make(folder: Path) -> Path:
        made = copy_sandbox(sandbox_once, folder)
        made.script(challenge=FEWER)
        stopped = made.plan()
        assert stopped.code == 4, stopped.err
        return made.root

    return shared.once("asked", make)


@pytest.fixture
def asked(asked_once: Path, tmp_path: Path) -> Sandbox:
    return copy_sandbox(asked_once, tmp_path)


def test_a_limit_leads_to_a_question_that_is_on_disk_as_pending(asked: Sandbox) -> None:
    state = asked.state()
    (decision,) = state["user_decisions"]
    assert state["phase"] == "proposed"
    assert decision["decision_id"] == "UD-1"
    assert decision["status"] == "pending"
    assert decision["answer"] is None
    assert decision["resolved_at"] is None
    assert decision["resolution_reason"] is None
    assert decision["state_context"] == "weigh"
    assert decision["question"] == "Still NEEDS_REVISION after 3 rounds. What next?"
    assert [option["value"] for option in decision["options"]] == ["view", "fix", "implement"]
    assert set(decision["shown"]) == {"proposal.md", "specs/top-words.md", "tasks.md", "CHALLENGE.md"}
    assert asked.calls() == [
        *("break_down-1.1", "challenge-1.1", "challenge-2.1", "challenge-3.1"),
        *("propose-1.1", "revise-1.1", "revise-2.1", "write_spec-1.1"),
    ]
    shown = asked.run("status", CHANGE)
    assert shown.out.splitlines()[-1] == f"Next: agentd answer {CHANGE} UD-1 view"


def test_asking_again_asks_the_same_question_and_calls_nobody(asked: Sandbox) -> None:
    before = asked.calls()
    assert asked.run("plan", CHANGE).code == 4
    assert asked.run("resume", CHANGE).code == 4
    assert len(asked.state()["user_decisions"]) == 1
    assert asked.calls() == before


def test_an_answer_refills_the_budget_it_was_asked_about(asked: Sandbox) -> None:
    assert asked.run("answer", CHANGE, "UD-1", "fix").code == 0
    assert asked.run("plan", CHANGE).code == 4
    assert [call for call in asked.calls() if call.startswith("challenge")] == [f"challenge-{n}.1" for n in range(1, 7)]
    assert [d["status"] for d in asked.state()["user_decisions"]] == ["answered", "pending"]


@pytest.mark.parametrize("value", ["implement", "3", "Proceed anyway"])
def test_an_answer_leads_where_the_table_says(asked: Sandbox, value: str) -> None:
    assert asked.run("answer", CHANGE, "UD-1", value, *BECAUSE).code == 0
    assert asked.run("plan", CHANGE).code == 0
    state = asked.state()
    assert state["phase"] == "challenged"
    (decision,) = state["user_decisions"]
    assert (decision["status"], decision["answer"], decision["note"]) == ("answered", "implement", "because")
    assert decision["by"]
    assert decision["resolved_at"] > decision["asked_at"]
    approval = state["approval"]
    assert (approval["by"], approval["why"], approval["override"]) == (decision["by"], "because", "UD-1")


def test_looking_at_the_documents_leads_back_to_the_question(asked: Sandbox) -> None:
    assert asked.run("answer", CHANGE, "UD-1", "view").code == 0
    again = asked.run("plan", CHANGE)
    assert (again.code, asked.state()["phase"]) == (4, "proposed")
    for name in ("proposal.md", "specs/top-words.md", "tasks.md", "CHALLENGE.md"):
        assert f"  agentd/changes/{CHANGE}/{name}\n" in again.out
    assert "Severity: High [new] Colours" in again.out
    assert [(d["status"], d["answer"]) for d in asked.state()["user_decisions"]] == [
        ("answered", "view"),
        ("pending", None),
    ]


@pytest.mark.parametrize(
    ("value", "step", "code"), [("stop", "validate", 0), ("3", "validate", 0), ("Review manually", "lend_a_hand", 4)]
)
def test_a_person_who_steers_every_round_is_led_where_the_table_says(
    sandbox: Sandbox, value: str, step: str, code: int
) -> None:
    sandbox.set("workflow", human_in_loop=True)
    sandbox.script(challenge=NO)
    assert sandbox.plan().code == 4
    (decision,) = sandbox.state()["user_decisions"]
    assert decision["question"] == "Proposal needs revision. What to do?"
    assert [option["value"] for option in decision["options"]] == ["fix", "manual", "stop"]
    assert sandbox.run("answer", CHANGE, "UD-1", value).code == 0
    assert sandbox.run("plan", CHANGE).code == code
    assert (sandbox.state()["phase"], sandbox.state()["run"]["step"]) == ("proposed", step)
    assert [call for call in sandbox.calls() if call.startswith(("challenge", "revise"))] == ["challenge-1.1"]


def test_only_an_offered_answer_to_an_open_decision_is_taken(asked: Sandbox) -> None:
    wrong = (("UD-1", "perhaps"), ("UD-2", "fix"), ("../UD-1", "fix"), ("UD-1", ""), ("UD-1", "implement"))
    for words in (*wrong, ("UD-1", "implement", "--note", " ")):
        refused = asked.run("answer", CHANGE, *words, "--json")
        assert (refused.code, refused.data["error"]) == (1, "BadAnswer"), words
        assert refused.data["fix"]
    assert not list(asked.folder().glob("answers/*"))


def test_the_next_command_is_one_that_is_taken_also_where_a_reason_is_wanted(sandbox: Sandbox) -> None:
    sandbox.script(challenge=FEWER[-1])
    done = sandbox.plan("--json")
    assert done.data["next"] == f'agentd answer {CHANGE} UD-1 implement --note "why"'
    refused = sandbox.run("answer", CHANGE, "UD-1", "1", "--json")
    assert (refused.code, refused.data["fix"]) == (1, done.data["next"])
    assert sandbox.run(*shlex.split(done.data["next"])[1:]).code == 0
    assert sandbox.run("plan", CHANGE).code == 0
    assert sandbox.state()["phase"] == "challenged"


def test_the_first_answer_wins_and_the_second_person_hears_of_it(asked: Sandbox) -> None:
    assert asked.run("answer", CHANGE, "UD-1", "implement", *BECAUSE, env={"USER": "ada"}).code == 0
    late = asked.run("answer", CHANGE, "UD-1", "fix", env={"USER": "bob"})
    assert late.code == 1
    assert "answered 'implement' by ada" in late.err
    asked.run("plan", CHANGE)
    assert asked.state()["phase"] == "challenged"
    assert asked.state()["user_decisions"][0]["by"] == "ada"
    assert "is answered already" in asked.run("answer", CHANGE, "UD-1", "fix").err


def test_of_many_answers_at_once_exactly_one_is_kept(asked: Sandbox) -> None:
    values = ["fix", "view", "implement"] * 4
    racing = [
        asked.begin("answer", CHANGE, "UD-1", value, *BECAUSE, env={"USER": f"u{n}"}) for n, value in enumerate(values)
    ]
    codes = [process.wait(60) for process in racing]
    for process in racing:
        process.communicate()
    kept = json.loads((asked.folder() / "answers" / "UD-1.json").read_text())
    winners = [value for value, code in zip(values, codes, strict=True) if code == 0]
    assert set(winners) == {kept["value"]}


def test_an_answer_is_void_when_what_was_shown_has_changed(asked: Sandbox) -> None:
    asked.run("answer", CHANGE, "UD-1", "implement", *BECAUSE)
    proposal = asked.folder() / "proposal.md"
    proposal.write_text(proposal.read_text() + "\nand also delete the database\n")
    again = asked.run("plan", CHANGE)
    assert again.code == 4
    assert "void" in again.out
    state = asked.state()
    assert state["phase"] == "proposed"
    first, second = state["user_decisions"]
    assert first["status"] == "cancelled"
    assert "proposal.md changed" in first["resolution_reason"]
    assert second["status"] == "pending"
    asked.run("answer", CHANGE, second["decision_id"], "implement", *BECAUSE)
    assert asked.run("plan", CHANGE).code == 0
    assert asked.state()["phase"] == "challenged"


def test_a_new_document_voids_an_answer_too(asked: Sandbox) -> None:
    asked.run("answer", CHANGE, "UD-1", "implement", *BECAUSE)
    (asked.folder() / "specs" / "backdoor.md").write_text("# Backdoor")
    assert asked.run("plan", CHANGE).code == 4
    assert asked.state()["phase"] == "proposed"


def test_a_phase_set_by_hand_cancels_the_open_question(asked: Sandbox) -> None:
    asked.edit_state("phase: proposed", "phase: challenged")
    assert asked.run("impl", CHANGE).code == 0
    (decision,) = asked.state()["user_decisions"]
    assert decision["status"] == "cancelled"
    assert "by hand" in decision["resolution_reason"]


def test_an_answers_file_makes_a_run_unattended(sandbox: Sandbox, tmp_path: Path) -> None:
    sandbox.script(challenge=[*FEWER[:3], YES])
    answers = tmp_path / "answers.yaml"
    answers.write_text("git_setup: in_place\nexhausted: [fix]\nagree: [view, implement]\n")
    done = sandbox.plan("--answers", str(answers), "--json")
    assert done.code == 0, done.err
    assert done.data["phase"] == "complete"
    made = sandbox.state()["user_decisions"]
    assert [decision["answer"] for decision in made] == ["in_place", "fix", "view", "implement"]
    assert {decision["by"] for decision in made} == {"answers.yaml"}


def test_an_answers_file_that_runs_out_leaves_the_question_open(sandbox: Sandbox, tmp_path: Path) -> None:
    sandbox.script(challenge=FEWER)
    answers = tmp_path / "answers.yaml"
    answers.write_text("exhausted: [fix]\n")
    done = sandbox.plan("--git", "in-place", "--answers", str(answers), "--json")
    assert done.code == 4
    assert [d["decision_id"] for d in done.data["decisions"]] == ["UD-2"]


@pytest.mark.parametrize("text", ["[1]", "exhausted: perhaps", "exhausted: implement", "{", "\x00"])
def test_a_bad_answers_file_is_refused_and_loses_nothing(asked: Sandbox, tmp_path: Path, text: str) -> None:
    answers = tmp_path / "answers.yaml"
    answers.write_text(text)
    refused = asked.run("plan", CHANGE, "--answers", str(answers))
    assert refused.code in (1, 2)
    assert "Fix:" in refused.err
    assert asked.state()["user_decisions"][0]["status"] == "pending"
    assert asked.run("plan", CHANGE, "--answers", str(tmp_path / "nowhere")).code == 2


def test_the_question_of_a_json_run_is_in_its_document(sandbox: Sandbox) -> None:
    sandbox.script(challenge=FEWER)
    stopped = sandbox.plan("--json")
    assert stopped.code == 4
    (question,) = stopped.data["decisions"]
    assert set(question) >= {"decision_id", "question", "header", "options", "multiSelect"}


def test_a_person_at_the_terminal_answers_with_keys(asked: Sandbox) -> None:
    """A real pseudo-terminal: down twice from the first option, enter, and the reason that this answer wants."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*AGENTD, "plan", CHANGE, IDEA],
        cwd=asked.root,
        env={**asked.env, "TERM": "xterm"},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    wait_for(ours, b"What next?")
    os.write(ours, b"\x1b[B\x1b[B\r")
    wait_for(ours, b"Why?")
    os.write(ours, b"it will do\r")
    wait_until(lambda: drained(ours) is None or process.poll() is not None)
    assert process.wait(30) == 0
    os.close(ours)
    assert asked.state()["phase"] == "complete"
    (decision,) = asked.state()["user_decisions"]
    assert (decision["answer"], decision["note"]) == ("implement", "it will do")


def wait_for(fd: int, text: bytes) -> None:
    """Read what the terminal shows until the text is there, and tell the program where the cursor is if it asks."""
    seen = b""
    while text not in seen:
        seen += os.read(fd, 4096)
        if b"\x1b[6n" in seen:
            os.write(fd, b"\x1b[1;1R")
            seen = seen.replace(b"\x1b[6n", b"")


def drained(fd: int) -> bytes | None:
    """What the terminal shows, or None at its end, so that the program never blocks on a full one."""
    try:
        return os.read(fd, 4096) or None
    except OSError:
        return None


def test_an_answer_from_before_the_question_answers_nothing(sandbox: Sandbox) -> None:
    """An agent that writes the answer beside its documents has not asked anybody."""
    forged = {"decision": "UD-1", "value": "implement", "note": "x", "by": "boss", "at": "2020-01-01T00:00:00Z"}
    forging = FEWER[0]["documents"] | {"answers/UD-1.json": json.dumps(forged)}
    sandbox.script(challenge=[{**FEWER[0], "documents": forging}, *FEWER[1:]])
    assert sandbox.plan().code == 4
    assert sandbox.state()["phase"] == "proposed"
    assert sandbox.run("answer", CHANGE, "UD-1", "view").code == 0
    assert sandbox.run("plan", CHANGE).code == 4
    assert sandbox.state()["phase"] == "proposed"
    assert sandbox.state()["user_decisions"][0]["answer"] == "view"
    assert json.loads((sandbox.folder() / "answers" / "UD-1.void-1").read_text())["by"] == "boss"


@pytest.mark.parametrize(
    "text", ['{"decision": "UD-1", "value": "maybe"}', "{", "[" * 5000, '{"decision": "UD-9", "value": "fix"}']
)
def test_an_answer_file_that_answers_nothing_is_set_aside_by_the_first_valid_answer(asked: Sandbox, text: str) -> None:
    folder = asked.folder() / "answers"
    folder.mkdir()
    (folder / "UD-1.json").write_text(text)
    assert asked.run("plan", CHANGE).code == 4
    assert asked.run("answer", CHANGE, "UD-1", "implement", *BECAUSE).code == 0
    assert asked.run("plan", CHANGE).code == 0
    assert (folder / "UD-1.void-1").read_text() == text


def test_after_an_answer_the_next_command_is_to_go_on(asked: Sandbox) -> None:
    asked.run("answer", CHANGE, "UD-1", "implement", *BECAUSE)
    shown = asked.run("status", CHANGE)
    assert shown.out.splitlines()[-1] == f"Next: agentd plan {CHANGE}"


def test_a_document_that_was_shown_and_is_gone_voids_an_answer(sandbox: Sandbox) -> None:
    revise = sandbox.entry("revise")
    documents = revise["documents"] | {"specs/stop-words.txt": "the, of, and"}
    sandbox.script(challenge=FEWER, revise={**revise, "documents": documents})
    assert sandbox.plan().code == 4
    sandbox.run("answer", CHANGE, "UD-1", "implement", *BECAUSE)
    (sandbox.folder() / "specs" / "stop-words.txt").unlink()
    assert sandbox.run("plan", CHANGE).code == 4
    assert sandbox.state()["phase"] == "proposed"
    assert "specs/stop-words.txt" in sandbox.state()["user_decisions"][0]["resolution_reason"]


def test_a_spec_that_the_proposal_names_and_that_is_gone_keeps_an_answer_from_counting(asked: Sandbox) -> None:
    asked.run("answer", CHANGE, "UD-1", "implement", *BECAUSE)
    spec = asked.folder() / "specs" / "top-words.md"
    away = spec.rename(asked.folder() / "specs" / "other.md")
    closed = asked.run("plan", CHANGE)
    assert (closed.code, asked.state()["phase"]) == (1, "proposed")
    assert "specs/top-words.md is missing" in closed.err
    away.rename(spec)
    assert asked.run("plan", CHANGE).code == 0
    assert asked.state()["phase"] == "challenged"


def test_one_word_in_an_answers_file_answers_one_question(sandbox: Sandbox, tmp_path: Path) -> None:
    sandbox.script(challenge=FEWER)
    answers = tmp_path / "answers.yaml"
    answers.write_text("exhausted: fix\n")
    assert sandbox.plan("--git", "in-place", "--answers", str(answers)).code == 4
    assert [d["status"] for d in sandbox.state()["user_decisions"]] == ["answered", "pending"]


def test_a_value_counts_before_a_number_and_words_like_yes_are_words(sandbox: Sandbox, tmp_path: Path) -> None:
    sandbox.own_workflow(
        "odd",
        "name: odd\nstarts: {full: go}\nsteps:\n  go: {phase: a, do: nothing, next: {done: q}}\n"
        '  q: {phase: a, ask: "Which?", next: {2: two, 1: one, yes: one}}\n'
        "  one: {phase: b, end: one}\n  two: {phase: b, end: two}\n",
    )
    sandbox.run("run", "odd", "x", "--name", "o1")
    sandbox.run("answer", "o1", "UD-1", "1")
    assert "finished: one" in sandbox.run("resume", "o1").out
    answers = tmp_path / "answers.yaml"
    answers.write_text("q: yes\n")
    assert sandbox.run("run", "odd", "y", "--name", "o2", "--answers", str(answers)).code == 0


def test_a_note_that_is_not_utf8_does_no_harm(asked: Sandbox) -> None:
    done = subprocess.run(
        [*AGENTD, "answer", CHANGE, "UD-1", "implement", "--note", b"\xff"], cwd=asked.root, env=asked.env, check=False
    )
    assert done.returncode == 0
    assert asked.run("plan", CHANGE).code == 0
