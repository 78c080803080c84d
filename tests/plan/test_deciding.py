"""What people decide about a challenged plan: the questions with their exact texts, and what each answer leads to."""

import pytest

from tests.plan.plans import answered
from tests.sandbox import CHANGE, IDEA, NEVER, YES, Ran, Sandbox, reviewed

IMPLEMENT = {"value": "implement", "note": "the release is tomorrow"}


def again(*titles: str, severity: str = "High") -> dict[str, object]:
    return reviewed("needs_revision", *titles, severity=severity)


TIES, TEXT, SPEED, NAMES = again("Ties"), again("Empty text"), again("Speed"), again("Names")


@pytest.fixture
def watched(sandbox: Sandbox) -> Sandbox:
    """A project with a person in the loop, which is the default."""
    path = sandbox.root / "agentd" / "config.toml"
    path.write_text(path.read_text(encoding="utf-8").replace("human_in_loop = false\n", ""), encoding="utf-8")
    return sandbox


def challenges(sandbox: Sandbox) -> int:
    return sum(call.startswith("challenge-") for call in sandbox.calls())


def asked(done: Ran) -> tuple[str, list[str]]:
    """The one open question of a JSON document, and its labels."""
    (question,) = done.data["decisions"]
    return question["question"], [option["label"] for option in question["options"]]


@pytest.mark.requirement(144, 146, 152, 153, 284)
def test_with_a_person_in_the_loop_the_first_challenge_ends_with_a_question(watched: Sandbox) -> None:
    watched.script(challenge=TIES)
    done = watched.plan()
    assert done.code == 4
    assert "For HITL mode, we stop after first challenge" in done.out.splitlines()
    assert watched.calls() == ["break_down-1.1", "challenge-1.1", "propose-1.1", "write_spec-1.1"]
    assert watched.state()["user_decisions"][0]["status"] == "pending"
    again = watched.run("plan", CHANGE, "--json")
    assert again.code == 4
    (question,) = again.data["decisions"]
    assert question["question"] == "Proposal needs revision. What to do?"
    assert question["header"] == "Next"
    assert question["multiSelect"] is False
    assert question["options"] == [
        {"value": "fix", "label": "Auto-fix and rechallenge (Recommended)"},
        {"value": "manual", "label": "Review manually"},
        {"value": "stop", "label": "Stop here"},
    ]
    assert again.data["verdict"] == "NEEDS_REVISION"
    assert again.data["next"] == f"agentd answer {CHANGE} {question['decision_id']} fix"


@pytest.mark.requirement(10, 147)
def test_auto_fix_revises_challenges_again_and_comes_back_to_the_question(watched: Sandbox) -> None:
    watched.script(challenge=[TIES, TEXT, YES])
    assert watched.plan().code == 4
    assert watched.run("answer", CHANGE, "UD-1", "fix").code == 0
    assert asked(watched.run("plan", CHANGE, "--json"))[0] == "Proposal needs revision. What to do?"
    assert (challenges(watched), "revise-1.1" in watched.calls()) == (2, True)
    assert watched.run("plan", CHANGE, *answered(watched, steer="fix")).code == 0
    assert watched.state()["phase"] == "challenged"


@pytest.mark.requirement(148, 292)
def test_review_manually_lists_the_issues_and_offers_help(watched: Sandbox) -> None:
    watched.script(challenge=[again("Ties", "Empty text", severity="Medium"), YES])
    done = watched.plan(*answered(watched, git_setup="in_place", steer="manual"))
    assert done.code == 4
    at = done.out.index("I1 Severity: Medium [new] Ties (top-words:R1)\n     Description: Ties.\n")
    assert "I2 Severity: Medium [new] Empty text (top-words:R1)\n     Description: Empty text.\n" in done.out[at:]
    again_asked = watched.run("plan", CHANGE, "--json")
    text, labels = asked(again_asked)
    assert text == "Fix manually or let me help?"
    assert labels == ["Let me help: auto-fix and rechallenge (Recommended)", "Fix manually, then: agentd plan"]
    assert watched.run("plan", CHANGE, *answered(watched, lend_a_hand="help")).code == 0
    assert (watched.state()["phase"], "revise-1.1" in watched.calls()) == ("challenged", True)


@pytest.mark.requirement(148)
def test_what_a_person_repairs_by_hand_is_checked_and_challenged_anew(watched: Sandbox) -> None:
    watched.script(challenge=[TIES, YES])
    answers = answered(watched, git_setup="in_place", steer="manual", lend_a_hand="manual")
    done = watched.plan(*answers)
    assert done.code == 0
    assert watched.state()["phase"] == "proposed"
    spec = watched.folder() / "specs" / "top-words.md"
    text = spec.read_text(encoding="utf-8")
    spec.write_text(text.replace("most frequent first.", "most frequent first, ties by the alphabet."))
    done = watched.run("plan", CHANGE)
    assert done.code == 0
    assert "✅ Proposal format validation passed" in done.out
    assert [call for call in watched.calls() if call[:6] in ("revise", "challe")] == ["challenge-1.1", "challenge-2.1"]
    assert "ties by the alphabet" in spec.read_text(encoding="utf-8")


@pytest.mark.requirement(149)
def test_stop_here_says_how_to_go_on_and_is_no_error(watched: Sandbox) -> None:
    watched.script(challenge=[TIES, YES])
    assert watched.plan().code == 4
    assert watched.run("answer", CHANGE, "UD-1", "stop").code == 0
    done = watched.run("plan", CHANGE)
    assert done.code == 0
    assert f"You can continue manually later with: agentd reproposal {CHANGE}" in done.out.splitlines()
    assert (watched.state()["phase"], challenges(watched)) == ("proposed", 1)
    assert not watched.run("status", CHANGE, "--json").data["decisions"]
    done = watched.run("plan", CHANGE)
    assert done.code == 0
    assert "✅ Proposal format validation passed" in done.out
    assert (watched.state()["phase"], challenges(watched)) == ("challenged", 2)


@pytest.mark.requirement(151)
def test_after_as_many_rounds_as_the_limit_the_question_is_whether_to_go_on(watched: Sandbox) -> None:
    watched.script(challenge=[TIES, TEXT, SPEED, NAMES, YES])
    watched.plan(*answered(watched, git_setup="in_place", steer=["fix"]))
    assert asked(watched.run("plan", CHANGE, "--json"))[0] == "Proposal needs revision. What to do?"
    watched.run("plan", CHANGE, *answered(watched, steer=["fix"]))
    text, labels = asked(watched.run("plan", CHANGE, "--json"))
    assert text == "Proposal still needs revision after 3 rounds. Continue or stop?"
    assert labels == ["Auto-fix and rechallenge (Recommended)", "Review manually", "Stop here"]
    watched.run("plan", CHANGE, *answered(watched, steer=["fix"]))
    assert asked(watched.run("plan", CHANGE, "--json"))[0].startswith("Proposal still needs revision after 4 rounds.")
    assert watched.run("plan", CHANGE, *answered(watched, steer=["fix"])).code == 0


@pytest.mark.requirement(145, 154)
@pytest.mark.parametrize("human", [True, False])
def test_an_approval_ends_with_a_hint_and_without_a_question(sandbox: Sandbox, human: bool) -> None:
    sandbox.set("workflow", human_in_loop=human)
    sandbox.script(challenge=YES)
    done = sandbox.plan("--json")
    assert done.code == 0
    assert (done.data["action"], done.data["verdict"]) == ("Challenged", "APPROVED")
    assert done.data["next"] == f"agentd impl {CHANGE}"
    assert "user_decisions" not in sandbox.state()


@pytest.mark.requirement(145)
def test_in_front_of_a_person_who_is_in_the_loop_an_approval_asks_nothing(watched: Sandbox) -> None:
    watched.script(challenge=YES)
    done = watched.plan(*answered(watched, git_setup="in_place", agree="implement"))
    assert done.code == 0
    assert (watched.state()["phase"], f"Next: agentd impl {CHANGE}" in done.out) == ("challenged", True)


@pytest.mark.requirement(141, 142, 145)
def test_after_the_automatic_loop_an_approval_offers_implementation_first(sandbox: Sandbox) -> None:
    sandbox.script(challenge=[TIES, YES])
    done = sandbox.plan(*answered(sandbox, git_setup="in_place", agree="view"))
    assert done.code == 4
    assert "To read:" in done.out
    assert f"  agentd/changes/{CHANGE}/specs/top-words.md" in done.out.splitlines()
    assert sandbox.state()["phase"] == "proposed"
    text, labels = asked(sandbox.run("plan", CHANGE, "--json"))
    assert text == "The plan is approved. What next?"
    assert labels == ["Proceed to implementation (Recommended)", "Open viewer"]
    done = sandbox.run("plan", CHANGE, *answered(sandbox, agree="implement"))
    assert done.code == 0, done.err
    assert sandbox.state()["phase"] == "complete"


@pytest.mark.requirement(20, 52, 141, 143, 153)
def test_after_the_automatic_loop_significant_issues_recommend_to_look(sandbox: Sandbox) -> None:
    sandbox.script(challenge=[again("Ties", "Empty text", "Speed"), again("Names", "Units"), again("Order")])
    done = sandbox.plan("--json")
    assert (done.code, done.data["phase"], done.data["verdict"]) == (4, "proposed", "NEEDS_REVISION")
    text, labels = asked(done)
    assert text == "Still NEEDS_REVISION after 3 rounds. What next?"
    assert labels == ["Open viewer (Recommended)", "Continue fixing", "Proceed anyway"]


@pytest.mark.requirement(141, 142)
@pytest.mark.parametrize("issues", [again("Names", "Units", severity="Low"), again("Names", severity="Medium")])
def test_after_the_automatic_loop_minor_issues_recommend_implementation(
    sandbox: Sandbox, issues: dict[str, object]
) -> None:
    sandbox.script(challenge=[again("Ties", "Empty text", "Speed"), again("Order", "Limits"), issues, YES])
    text, labels = asked(sandbox.plan("--json"))
    assert text == "Still NEEDS_REVISION after 3 rounds. What next?"
    assert labels == ["Proceed to implementation (Recommended)", "Open viewer", "Continue fixing"]
    assert sandbox.run("answer", CHANGE, "UD-1", "fix").code == 0
    assert sandbox.run("plan", CHANGE).code == 0
    assert (sandbox.state()["phase"], challenges(sandbox)) == ("challenged", 4)


def test_going_on_without_an_approval_takes_a_reason_and_is_kept_with_who_and_why(sandbox: Sandbox) -> None:
    sandbox.script(challenge=[again("Ties", "Empty text", "Speed"), again("Names", "Units"), again("Order")])
    assert sandbox.plan().code == 4
    for words in (("implement",), ("implement", "--note", " ")):
        refused = sandbox.run("answer", CHANGE, "UD-1", *words)
        assert (refused.code, "needs a reason" in refused.err) == (1, True)
    assert sandbox.run("plan", CHANGE).code == 4
    said = sandbox.run("answer", CHANGE, "UD-1", "implement", "--note", "it is urgent", env={"USER": "ada"})
    assert said.code == 0
    done = sandbox.run("plan", CHANGE)
    assert done.code == 0
    assert "⚠ ada continues without an approval: it is urgent" in done.out
    state = sandbox.state()
    assert (state["phase"], state["verdict"]) == ("challenged", "NEEDS_REVISION")
    approval = state["approval"]
    assert (approval["override"], approval["by"], approval["why"]) == ("UD-1", "ada", "it is urgent")
    assert set(approval["documents"]) == {"proposal.md", "specs/top-words.md", "tasks.md"}
    spec = sandbox.folder() / "specs" / "top-words.md"
    spec.write_text(spec.read_text(encoding="utf-8").replace("at most n", "exactly n"), encoding="utf-8")
    closed = sandbox.run("impl", CHANGE, "--json")
    assert (closed.code, closed.data["error"]) == (1, "GateClosed")
    assert "specs/top-words.md changed after the plan was approved" in closed.data["message"]
    assert closed.data["fix"] == f"agentd challenge {CHANGE}"
    assert "implement-1.1" not in sandbox.calls()
    sandbox.script(challenge=YES)
    assert sandbox.run("challenge", CHANGE).code == 0
    assert "override" not in sandbox.state()["approval"]
    assert sandbox.run("impl", CHANGE).code == 0


def test_an_override_in_front_of_a_person_goes_straight_on_to_the_implementation(sandbox: Sandbox) -> None:
    sandbox.script(challenge=[again("Ties", "Empty text", "Speed"), again("Names", "Units"), again("Order")])
    done = sandbox.plan(*answered(sandbox, git_setup="in_place", exhausted=IMPLEMENT))
    assert done.code == 0, done.out + done.err
    assert sandbox.state()["phase"] == "complete"


@pytest.mark.requirement(154)
def test_unattended_every_end_has_its_exit_code(sandbox: Sandbox) -> None:
    ends = {"yes": ([YES], 0), "never": ([NEVER], 1), "no": ([again("a", "b", "c"), again("d", "e"), SPEED], 4)}
    for name, (entries, code) in ends.items():
        sandbox.script(challenge=entries)
        done = sandbox.run("plan", name, IDEA, "--auto")
        assert done.code == code, done.out + done.err


@pytest.mark.parametrize("words", [(), ("--auto",)])
def test_an_issue_that_was_fixed_and_comes_back_goes_to_a_person_with_the_ledger(
    sandbox: Sandbox, words: tuple[str, ...]
) -> None:
    sandbox.set("workflow", human_in_loop=bool(words), planning_iterations=9)
    sandbox.script(challenge=[TIES, again("Empty text", "Speed"), again("Ties"), YES])
    done = sandbox.plan(*words)
    assert done.code == 4
    assert "For HITL mode" not in done.out
    assert "⚠ the loop does not converge: I1 was fixed and came back" in done.out
    assert "  I1  reopened  High    top-words:R1  Ties (rounds 1, 3)" in done.out.splitlines()
    assert "  I2  fixed     High    top-words:R1  Empty text (round 2)" in done.out.splitlines()
    assert challenges(sandbox) == 3
    (decision,) = sandbox.state()["user_decisions"]
    assert decision["name"] == "exhausted"


def test_a_loop_that_does_not_get_smaller_goes_to_a_person(sandbox: Sandbox) -> None:
    sandbox.set("workflow", planning_iterations=9)
    sandbox.script(challenge=[TIES, TEXT, SPEED])
    done = sandbox.plan()
    assert done.code == 4
    assert "the loop does not converge: the last revision left 1 High and Medium issue, after 1 before it" in done.out
    assert challenges(sandbox) == 3


def test_a_place_that_does_not_exist_is_shown_as_such(watched: Sandbox) -> None:
    issue = "### Ties\n- Severity: High\n- Description: Which first?\n- Location: tally/nowhere.py:7\n"
    other = "### Spec\n- Severity: Low\n- Description: Of what?\n- Spec Reference: top-words:R99\n"
    real = "### Code\n- Severity: Low\n- Description: Here.\n- Location: tally/words.py:1\n"
    text = f"# Challenge Report: {CHANGE}\n\n## Verdict\n**Verdict**: NEEDS_REVISION\n\n## Issues\n{issue}{other}{real}"
    watched.script(challenge={"documents": {"CHALLENGE.md": f"{text}\n## Summary\nThree places.\n"}})
    done = watched.plan(*answered(watched, git_setup="in_place", steer="manual"))
    lines = [line for line in done.out.splitlines() if "Severity: " in line]
    assert ["(ungrounded: " in line for line in lines] == [True, True, False]
    assert "there is no file tally/nowhere.py" in lines[0]
    shown = (watched.folder() / "CHALLENGE.md").read_text(encoding="utf-8")
    assert shown.count("**Ungrounded**") == 2
