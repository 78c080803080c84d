"""Compaction: a summary takes the place of what is done in later prompts, agentd writes it, and what a step needs stays."""

from pathlib import Path

import pytest

from tests.plan.plans import Spy, spied
from tests.sandbox import make_sandbox
from tests.staged.runs import ROLES, Staged

FINDING = "The code is in tally/words.py. " + "A detail of the code. " * 200
IDEA = "# Approach\n\nOne function. " + "A detail of the approach. " * 200 + "\n\n## Areas\n- logic\n"


class Compacted:
    """A run with these settings, and what its agents were sent."""

    def __init__(self, folder: Path, stages: bool, phases: bool) -> None:
        self.staged = Staged(make_sandbox(folder))
        self.spy: Spy = spied(self.staged.sandbox)
        self.staged.sandbox.set("roles", **dict.fromkeys(ROLES, "spy"))
        self.staged.sandbox.set("staged", compact_between_stages=stages, compact_between_phases=phases)
        self.staged.script(explore={"say": FINDING}, brainstorm={"say": IDEA})
        ran = self.staged.start()
        assert ran.code == 0, ran.out + ran.err

    def prompt(self, step: str) -> str:
        return str(self.spy.of(step)[0]["prompt"])

    def events(self) -> list[dict[str, str]]:
        return [one for one in self.staged.sandbox.events(self.staged.folder) if one["event"] == "compact"]

    def summaries(self) -> list[str]:
        return [name for name in self.staged.phases() if name.endswith("-summary.md")]


@pytest.fixture(scope="module")
def between_stages(tmp_path_factory: pytest.TempPathFactory) -> Compacted:
    return Compacted(tmp_path_factory.mktemp("stages"), True, False)


@pytest.fixture(scope="module")
def between_phases(tmp_path_factory: pytest.TempPathFactory) -> Compacted:
    return Compacted(tmp_path_factory.mktemp("phases"), False, True)


@pytest.fixture(scope="module")
def without(tmp_path_factory: pytest.TempPathFactory) -> Compacted:
    return Compacted(tmp_path_factory.mktemp("none"), False, False)


@pytest.mark.requirement(248)
def test_every_stage_that_is_over_has_a_summary_a_pointer_and_an_event_with_bytes(between_stages: Compacted) -> None:
    staged = between_stages.staged
    over = ["EXPLORE", "PLAN", "IMPLEMENT", "TEST"]
    assert between_stages.summaries() == sorted(f"{stage}-summary.md" for stage in over)
    history = staged.state["compaction"]["history"]
    assert [one["stage"] for one in history] == over
    assert staged.state["compaction"]["lastCompactedAt"] == history[-1]["at"]
    events = between_stages.events()
    assert [one["stage"] for one in events] == over
    sizes = {name: len((staged.folder / "phases" / name).read_bytes()) for name in staged.phases()}
    for told, kept in zip(events, history, strict=True):
        assert kept["file"] == f"{kept['stage']}-summary.md"
        assert staged.state["files"][kept["file"]] == f".agents/tmp/phases/{kept['file']}"
        assert kept["bytesAfter"] == sizes[kept["file"]] == int(told["after"])
        assert int(told["before"]) == kept["bytesBefore"]
    assert history[0]["bytesBefore"] == sizes["0-explore.md"] > 5 * history[0]["bytesAfter"]


@pytest.mark.requirement(248)
def test_a_later_stage_is_sent_what_it_needs_and_the_summaries_of_the_rest(
    between_stages: Compacted, without: Compacted
) -> None:
    assert "A detail of the code." in between_stages.prompt("brainstorm"), "it needs what was found"
    plan_review = between_stages.prompt("review_plan")
    assert "### EXPLORE-summary.md" in plan_review
    assert "A detail of the code." * 2 not in plan_review.replace(" A", "A")
    implement = between_stages.prompt("implement")
    assert {"### EXPLORE-summary.md", "### PLAN-summary.md"} <= {*implement.splitlines()}
    assert "### 0-explore.md" not in implement
    assert "### 1.1-brainstorm.md" not in implement
    review = between_stages.prompt("review_implementation")
    assert "### 1.2-plan.md" in review, "it needs the plan"
    assert "### 1.1-brainstorm.md" not in review
    whole = without.prompt("implement")
    assert {"### 0-explore.md", "### 1.1-brainstorm.md", "### 1.2-plan.md"} <= {*whole.splitlines()}
    assert len(implement) < len(whole) / 2


@pytest.mark.requirement(248)
def test_without_compaction_there_is_no_summary_no_pointer_and_no_event(without: Compacted) -> None:
    assert without.summaries() == []
    assert without.events() == []
    assert without.staged.state["compaction"] == {"lastCompactedAt": None, "history": []}
    assert "summary.md" not in without.prompt("review_all")


@pytest.mark.requirement(248, 249)
def test_no_agent_is_called_for_a_summary(
    between_stages: Compacted, between_phases: Compacted, without: Compacted
) -> None:
    def calls(run: Compacted) -> list[str]:
        return sorted(run.staged.calls())

    assert calls(between_stages) == calls(between_phases) == calls(without)


@pytest.mark.requirement(249)
def test_every_phase_that_is_over_is_summarized_and_a_step_is_sent_only_what_it_needs(
    between_phases: Compacted,
) -> None:
    over = [one["stage"] for one in between_phases.events()]
    assert over[:6] == ["0", "1.1", "1.2", "1.3", "2.1", "2.2"]
    assert between_phases.staged.state["compaction"]["history"][0]["file"] == "0-summary.md"
    review = between_phases.prompt("review_plan")
    assert "### 1.2-plan.md" in review
    assert "### 1.1-brainstorm.md" not in review
    assert "### 1.1-summary.md" in review
    assert "### 0-summary.md" in review
