"""The steps of a change done one by one, the names that work without being listed, and the names that do not any more."""

from pathlib import Path

import pytest

from tests.sandbox import CHANGE, IDEA, NEVER, NO, YES, Sandbox, copy_sandbox, reviewed
from tests.shared import Shared

STEPS = ("proposal", "challenge", "reproposal", "implement", "review", "resolve")


@pytest.fixture(scope="session")
def challenged_once(sandbox_once: Path, shared: Shared) -> Path:
    """A change that was challenged once, and whose person is asked what to do."""

    def make(folder: Path) -> Path:
        made = copy_sandbox(sandbox_once, folder)
        made.set("workflow", human_in_loop=True)
        made.script(challenge=[NO, reviewed("needs_revision", "Speed"), YES])
        assert made.plan().code == 4
        return made.root

    return shared.once("challenged", make)


@pytest.fixture
def asked(challenged_once: Path, tmp_path: Path) -> Sandbox:
    return copy_sandbox(challenged_once, tmp_path)


@pytest.mark.requirement(272)
def test_reproposal_and_challenge_run_alone(asked: Sandbox) -> None:
    revised = asked.run("reproposal", CHANGE)
    assert revised.code == 0, revised.err
    assert [call for call in asked.calls() if call.startswith(("revise", "challenge"))] == [
        *("challenge-1.1", "revise-1.1"),
    ]
    assert "R2 - Ties by the alphabet" in (asked.folder() / "specs" / "top-words.md").read_text(encoding="utf-8")
    first = asked.run("challenge", CHANGE, "--json")
    assert first.code == 0
    assert (first.data["phase"], first.data["verdict"]) == ("proposed", "NEEDS_REVISION")
    second = asked.run("challenge", CHANGE, "--json")
    assert second.code == 0
    assert (second.data["phase"], second.data["verdict"]) == ("challenged", "APPROVED")
    assert "revise-2.1" not in asked.calls()
    assert asked.state()["phase"] == "challenged"
    (decision,) = asked.state()["user_decisions"]
    assert (decision["status"], decision["resolution_reason"]) == ("cancelled", "a person had reproposal done instead")


@pytest.mark.requirement(272)
def test_a_challenge_that_rejects_makes_the_change_rejected_and_is_an_error(asked: Sandbox) -> None:
    asked.script(challenge=NEVER)
    done = asked.run("challenge", CHANGE)
    assert done.code == 1
    assert "❌ REJECTED - Fundamental problems" in done.out
    assert (asked.state()["phase"], asked.state()["verdict"]) == ("rejected", "REJECTED")


@pytest.mark.requirement(269)
def test_a_rejected_change_is_challenged_again_only_after_it_was_changed(asked: Sandbox) -> None:
    asked.script(challenge=NEVER)
    asked.run("challenge", CHANGE)
    made = asked.calls()
    for words, told in ((("plan", CHANGE), "⛔ Rejected"), (("challenge", CHANGE), "nothing has changed since")):
        refused = asked.run(*words, "--json")
        assert (refused.code, refused.data["error"]) == (1, "Rejected")
        assert told in refused.data["message"]
    assert asked.calls() == made
    path = asked.folder() / "tasks.md"
    path.write_text(path.read_text(encoding="utf-8").replace("Count and sort", "Count, then sort"), encoding="utf-8")
    asked.script(challenge=YES)
    assert asked.run("challenge", CHANGE).code == 0
    assert asked.state()["phase"] == "challenged"


@pytest.mark.requirement(272)
def test_a_challenge_that_is_not_clear_changes_no_phase(asked: Sandbox) -> None:
    asked.script(challenge={"say": "Looks good to me, approved!"})
    done = asked.run("challenge", CHANGE)
    assert done.code == 1
    assert "Could not parse challenge verdict" in done.err
    assert asked.state()["phase"] == "proposed"
    asked.script(challenge=YES)
    assert asked.run("challenge", CHANGE).code == 0


def test_a_challenge_of_an_approved_plan_is_a_new_one(asked: Sandbox) -> None:
    asked.script(challenge=YES)
    assert asked.run("plan", CHANGE, "--auto").code == 4
    assert asked.run("answer", CHANGE, "UD-1", "fix").code == 0
    assert asked.run("plan", CHANGE).code == 0
    assert asked.state()["phase"] == "challenged"
    asked.script(challenge=reviewed("needs_revision", "Names"))
    assert asked.run("challenge", CHANGE).code == 0
    assert (asked.state()["phase"], asked.state()["verdict"]) == ("proposed", "NEEDS_REVISION")
    assert asked.run("impl", CHANGE).code == 1


@pytest.mark.requirement(272)
def test_every_step_can_be_done_by_its_name(asked: Sandbox) -> None:
    made = asked.calls()
    assert asked.run("step", "proposal", CHANGE).code == 0
    assert set(asked.calls()) - set(made) == {"propose-2.1"}  # the specs and the tasks are there
    asked.script(challenge=YES)
    assert asked.run("step", "reproposal", CHANGE).code == 0
    assert asked.run("step", "challenge", CHANGE).code == 0
    assert asked.run("step", "implement", CHANGE).code == 0
    assert asked.state()["phase"] == "implementing"
    assert "review-1.1" not in asked.calls()
    assert asked.run("step", "resolve", CHANGE).code == 0
    assert asked.run("step", "review", CHANGE).code == 0
    assert asked.state()["phase"] == "complete"


@pytest.mark.parametrize(
    ("step", "phase"),
    [
        *[(step, "archived") for step in STEPS],
        *[("reproposal", phase) for phase in ("challenged", "rejected", "implementing", "complete")],
        *[("challenge", phase) for phase in ("implementing", "complete")],
        *[("implement", phase) for phase in ("proposed", "rejected", "complete")],
        *[("review", phase) for phase in ("proposed", "challenged")],
    ],
)
def test_a_step_is_refused_in_a_phase_it_does_not_belong_to(planned: Sandbox, step: str, phase: str) -> None:
    if phase != "challenged":
        planned.edit_state("phase: challenged", f"phase: {phase}")
    before = (planned.calls(), planned.state_file().read_bytes())
    refused = planned.run("step", step, CHANGE, "--json")
    assert (refused.code, refused.data["error"]) == (1, "ChangeNotReady")
    assert f"'{CHANGE}' is {phase}; {step} works on one that is " in refused.data["message"]
    assert (planned.calls(), planned.state_file().read_bytes()) == before


@pytest.mark.requirement(15)
def test_a_step_of_an_unknown_change_is_not_found(sandbox: Sandbox) -> None:
    for words in (("challenge",), ("reproposal",), *(("step", step) for step in STEPS)):
        refused = sandbox.run(*words, "nobody", "--json")
        assert (refused.code, refused.data["error"]) == (1, "ChangeNotFound")
    assert not (sandbox.root / "agentd" / "changes").exists()
    unknown = sandbox.run("step", "polish", CHANGE)
    assert unknown.code == 2
    assert "proposal" in unknown.err


@pytest.mark.requirement(271)
def test_help_lists_what_people_need_and_none_of_the_steps(sandbox: Sandbox) -> None:
    listed = [
        line.split()[0]
        for line in sandbox.run("--help").out.splitlines()
        if line.startswith("  ") and line[2:3].isalpha()
    ]
    assert {"plan", "impl", "archive"} <= set(listed)
    hidden = {"step", *STEPS, "resolve-reviews", "plan-change", "impl-change", "merge-change"}
    assert not hidden & set(listed)


@pytest.mark.requirement(271)
@pytest.mark.parametrize(
    ("words", "again"),
    [
        (("proposal", CHANGE, IDEA), f"agentd plan {CHANGE}"),
        (("proposal",), "agentd plan "),
        (("review", CHANGE), f"agentd impl {CHANGE}"),
        (("resolve-reviews", CHANGE), f"agentd impl {CHANGE}"),
    ],
)
def test_a_name_that_is_gone_names_its_replacement(sandbox: Sandbox, words: tuple[str, ...], again: str) -> None:
    refused = sandbox.run(*words)
    assert refused.code == 2
    assert again in refused.err
    assert f"'{words[0]}' is a part of '{again.split()[1]}' now" in refused.err
    assert not (sandbox.root / "agentd" / "changes").exists()


@pytest.mark.requirement(271)
def test_the_longer_names_of_the_three_commands_work(sandbox: Sandbox) -> None:
    sandbox.script(challenge=YES)
    assert sandbox.run("plan-change", CHANGE, IDEA).code == 0
    assert sandbox.state()["phase"] == "challenged"
    assert sandbox.run("impl-change", CHANGE).code == 0
    assert sandbox.state()["phase"] == "complete"
    assert sandbox.run("merge-change", CHANGE).code == 0
    assert sandbox.state()["phase"] == "archived"
    assert (sandbox.root / "agentd" / "specs" / "top-words.md").is_file()
