"""The change workflow from the outside: phases, what each command does in them, and what a hand edit does."""

import itertools
import re
from pathlib import Path

import pytest
import yaml

from agentd.engine.advance import advance, start
from agentd.errors import AgentdError
from agentd.model.run import Run
from agentd.workflows.limits import with_limits
from tests.built_in import read_built_in
from tests.sandbox import CHANGE, IDEA, NEVER, YES, Sandbox

PHASES = ("proposed", "challenged", "rejected", "implementing", "complete", "archived")
ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z")
ALLOWED = {
    ("proposed", "proposed"),
    ("proposed", "challenged"),
    ("proposed", "rejected"),
    ("challenged", "implementing"),
    ("implementing", "implementing"),
    ("implementing", "complete"),
    ("complete", "archived"),
    ("complete", "complete"),  # reviewed again
}


@pytest.mark.requirement(81)
def test_the_phases_are_exactly_the_six(planned: Sandbox) -> None:
    assert set(read_built_in("change").phases) == set(PHASES)
    for phase in PHASES:
        planned.edit_state(f"phase: {planned.state()['phase']}", f"phase: {phase}")
        assert planned.run("status", CHANGE, "--json").data["phase"] == phase


@pytest.mark.requirement(92)
def test_status_shows_the_phase_and_ends_with_the_next_command(planned: Sandbox) -> None:
    shown = planned.run("status", CHANGE)
    assert shown.code == 0
    assert "phase challenged" in shown.out
    assert shown.out.splitlines()[-1] == f"Next: agentd impl {CHANGE}"
    text = planned.state_file().read_text()
    assert f"change_id: {CHANGE}\nphase: challenged\n" in text


@pytest.mark.requirement(83, 84)
def test_needs_revision_stays_proposed_and_approved_becomes_challenged(sandbox: Sandbox) -> None:
    done = sandbox.plan()
    assert done.code == 0, done.err
    ends = [(e["step"], e["outcome"], e["phase"]) for e in sandbox.events() if e["event"] == "end"]
    assert ("challenge", "needs_revision", "proposed") in ends
    assert ends[-2:] == [("challenge", "approved", "proposed"), ("approve", "done", "challenged")]
    assert sandbox.state()["phase"] == "challenged"


@pytest.mark.requirement(85)
def test_a_rejected_challenge_makes_the_change_rejected(sandbox: Sandbox) -> None:
    sandbox.script(challenge=NEVER)
    assert sandbox.plan().code == 1
    assert sandbox.state()["phase"] == "rejected"
    again = sandbox.run("plan", CHANGE)
    assert again.code == 1
    assert "Rejected" in again.err
    assert f"Fix:   agentd challenge {CHANGE}" in again.err


@pytest.mark.requirement(86, 293)
def test_a_rejected_change_comes_back_only_by_a_hand_edit_and_a_new_challenge(sandbox: Sandbox) -> None:
    sandbox.script(challenge=[NEVER, YES])
    sandbox.plan()
    before = sandbox.calls()
    for command in ("plan", "resume", "impl", "archive", "challenge", "reproposal"):
        sandbox.run(command, CHANGE)
        assert sandbox.state()["phase"] == "rejected"
    assert sandbox.calls() == before
    sandbox.edit_state("phase: rejected", "phase: proposed")
    done = sandbox.run("plan", CHANGE)
    assert done.code == 0
    assert "set to proposed by hand" in done.out
    assert sandbox.state()["phase"] == "challenged"
    assert [call for call in sandbox.calls() if call not in before] == ["challenge-2.1"]
    by_hand = [event for event in sandbox.events() if event["event"] == "phase set by hand"]
    assert [(event["was"], event["phase"]) for event in by_hand] == [("rejected", "proposed")]


@pytest.mark.requirement(86)
def test_a_rejected_change_is_challenged_again_once_a_person_has_changed_its_proposal(sandbox: Sandbox) -> None:
    sandbox.script(challenge=[NEVER, YES])
    sandbox.plan()
    refused = sandbox.run("challenge", CHANGE)
    assert (refused.code, sandbox.state()["phase"]) == (1, "rejected")
    assert "nothing has changed since" in refused.err
    proposal = sandbox.folder() / "proposal.md"
    proposal.write_text(proposal.read_text().replace("sort them by hand", "sort them by hand, badly,"))
    done = sandbox.run("challenge", CHANGE)
    assert done.code == 0, done.out + done.err
    assert sandbox.state()["phase"] == "challenged"
    assert [call for call in sandbox.calls() if call.startswith("challenge")] == ["challenge-1.1", "challenge-2.1"]


@pytest.mark.requirement(293)
@pytest.mark.parametrize("phase", ["implementing", "complete"])
def test_a_phase_set_by_hand_is_followed(planned: Sandbox, phase: str) -> None:
    planned.edit_state("phase: challenged", f"phase: {phase}")
    command = {"implementing": "impl", "complete": "archive"}[phase]
    assert planned.run(command, CHANGE).code == 0
    assert planned.state()["phase"] == {"implementing": "complete", "complete": "archived"}[phase]


@pytest.mark.requirement(87)
def test_no_outcome_of_any_step_makes_an_illegal_transition() -> None:
    table = read_built_in("change")
    limits = {edge.at_most for step in table.steps.values() for edge in step.next.values()}
    workflow = with_limits(table, {limit: 1 for limit in limits if isinstance(limit, str)})
    words = {word for step in workflow.steps.values() for word in (*step.next, "done", "approved", "complete")}
    for step, asked_by, word in itertools.product(workflow.steps.values(), workflow.steps, sorted(words)):
        run = Run("change", "x", step.phase, step.name, asked_by=asked_by if step.kind == "ask" else "")
        if workflow.edge(step, word) is None:
            with pytest.raises(AgentdError, match="cannot end with"):
                advance(workflow, run, word)
        elif workflow.steps[asked_by].phase == step.phase:
            assert (step.phase, advance(workflow, run, word).phase) in ALLOWED


@pytest.mark.requirement(87)
def test_commands_refuse_to_leap_over_phases(sandbox: Sandbox) -> None:
    sandbox.script(challenge={"fail": "error"})
    sandbox.plan()
    for command, error in (("impl", "ChangeNotReady"), ("archive", "ChangeNotComplete")):
        refused = sandbox.run(command, CHANGE, "--json")
        assert refused.code == 1
        assert refused.data["error"] == error
        assert sandbox.state()["phase"] == "proposed"
    assert start(read_built_in("change"), "x").phase == "proposed"


@pytest.mark.requirement(82)
def test_other_fields_decide_nothing(planned: Sandbox, tmp_path: Path) -> None:
    before = planned.run("status", CHANGE, "--json").data
    text = planned.state_file().read_text()
    mutated = yaml.safe_load(text)
    mutated |= {"verdict": "REJECTED", "iteration": 9, "last_action": "archive", "session_id": "x", "description": "y"}
    mutated["checksums"] = {"proposal.md": {"hash": "sha256:0", "validated_at": "never"}}
    planned.state_file().write_text(yaml.safe_dump(mutated, sort_keys=False))
    after = planned.run("status", CHANGE, "--json").data
    assert {key: after[key] for key in ("phase", "step", "doing", "next")} == {
        key: before[key] for key in ("phase", "step", "doing", "next")
    }
    again = planned.run("plan", CHANGE)
    assert again.out.startswith("📊 Current state: phase=Challenged\n✅ Planning complete\n")
    assert planned.run("impl", CHANGE).code == 0
    assert planned.state()["phase"] == "complete"


@pytest.mark.requirement(89)
def test_the_state_names_the_change_and_when_it_was_made_and_saved(planned: Sandbox) -> None:
    first = planned.state()
    assert (first["change_id"], first["phase"], first["schema_version"]) == (CHANGE, "challenged", "2.0")
    assert ISO.fullmatch(str(first["created_at"])), first["created_at"]
    assert ISO.fullmatch(str(first["updated_at"]))
    planned.run("impl", CHANGE)
    second = planned.state()
    assert second["created_at"] == first["created_at"]
    assert second["updated_at"] > first["updated_at"]


@pytest.mark.requirement(90)
def test_a_session_is_kept_only_where_one_was_used(planned: Sandbox) -> None:
    planned.run("impl", CHANGE)
    assert [key for key in planned.state() if "session" in key] == []
    planned.script(break_down={**planned.entry("break_down"), "session": "abc-1"}, challenge=YES)
    assert planned.run("plan", "other", IDEA).code == 0
    assert [(key, said) for key, said in planned.state("other").items() if "session" in key] == [
        ("session_id", "abc-1")
    ]


@pytest.mark.requirement(91)
@pytest.mark.parametrize(
    ("damage", "said"),
    [
        (lambda text: text[: len(text) // 2] + "\n  : [", "STATE.yaml"),
        (lambda text: "", "STATE.yaml:1"),
        (lambda text: "just words\n", "STATE.yaml:1"),
        (lambda text: "[1, 2]\n", "STATE.yaml:1"),
        (lambda text: text.replace("phase: challenged", "phase: almost"), "phase 'almost' is none of"),
        (lambda text: text.replace("phase: challenged\n", ""), "'phase' is missing"),
        (lambda text: text.replace("schema_version: ", "schema_version: 9.0 #"), "schema_version is 9.0"),
        (lambda text: text.replace("  step: ", "  step: [1] #"), "step must be text"),
        (lambda text: text.replace("run:\n", "run: 7\nold:\n"), "run must be a mapping"),
        (lambda text: text + "phase: proposed\n", "STATE.yaml"),
        (lambda text: text + "x: \x00\n", "STATE.yaml"),
    ],
)
@pytest.mark.parametrize("words", [("status",), ("plan", CHANGE), ("impl", CHANGE), ("resume", CHANGE)])
def test_a_state_file_that_cannot_be_is_an_error_that_leaves_it_untouched(
    planned: Sandbox, damage: "type[str]", said: str, words: tuple[str, ...]
) -> None:
    path = planned.state_file()
    path.write_text(damage(path.read_text()))
    before = path.read_bytes()
    seen = planned.run(*words)
    assert seen.code == 1, seen.out + seen.err
    told = seen.out + seen.err
    assert said in told
    assert re.search(r"STATE\.yaml:\d+", told), told
    assert "Fix:" in told or "Next:" in told
    assert path.read_bytes() == before


@pytest.mark.requirement(88)
def test_comments_and_unknown_keys_survive_every_save(planned: Sandbox) -> None:
    path = planned.state_file()
    path.write_text(
        "# mine\n"
        + path.read_text().replace("phase: challenged", "phase: challenged  # looks good")
        + "team: blue # ours\n"
    )
    planned.run("impl", CHANGE)
    text = path.read_text()
    assert text.startswith("# mine\n")
    assert "phase: complete  # looks good" in text
    assert "team: blue # ours" in text


def test_a_new_change_without_a_description_writes_nothing(sandbox: Sandbox) -> None:
    refused = sandbox.run("plan", "other", "--json")
    assert (refused.code, refused.data["error"]) == (1, "MissingDescription")
    assert not sandbox.folder("other").exists()


@pytest.mark.parametrize("name", ["../x", "a/b", "A", "-x", "", "x" * 200, "a b", "a\n"])
def test_a_change_cannot_have_a_name_that_leads_elsewhere(sandbox: Sandbox, name: str) -> None:
    refused = sandbox.run("plan", "--", name, IDEA)
    assert refused.code == 2
    assert not (sandbox.root / "agentd" / "changes").exists()


@pytest.mark.parametrize("command", ["impl", "archive", "status", "resume", "log", "stop"])
def test_an_unknown_name_is_not_found(sandbox: Sandbox, command: str) -> None:
    refused = sandbox.run(command, "nobody", "--json")
    assert refused.code == 1
    assert refused.data["error"] in ("ChangeNotFound", "RunNotFound")
