"""A planned change is implemented by the agents' real programs: they edit, agentd tests, and nobody's word replaces that."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.contract.building import check_built, check_powerless, words_of
from tests.contract.lab import Lab
from tests.contract.model import FakeModel, Scenes
from tests.contract.test_power import attempts
from tests.impl.coding import HONEST
from tests.sandbox import CHANGE, YES, make_sandbox

# A model of today's, which codex gives a tool of its own for patches and has search for those of agentd.
TODAY = {
    "id": "only",
    "model": "gpt-5.5",
    "complexity": "critical",
    "cost_per_1m_input": 1.0,
    "cost_per_1m_output": 1.0,
}
WHEN = r"have not written this code.*change_id: (?P<run>[\w-]+)\n.*The diff: (?P<diff>[^\n]+)"
QUOTE = "return sorted(count(text).items(), key=lambda pair: (-pair[1], pair[0]))[:n]"
ISSUE = {
    "severity": "LOW",
    "title": "The whole text is sorted",
    "description": "heapq.nlargest would do with less.",
    "file_path": "tally/words.py",
    "line_number": 16,
    "quote": QUOTE,
}
REVIEW = {"create_review": {"change_id": "{{run}}", "iteration": 1, "verdict": "APPROVED", "issues": [ISSUE]}}
OWNED = "*** Begin Patch\n*** Add File: tally/owned.py\n+owned\n*** End Patch\n"


@pytest.fixture(scope="session")
def approved(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository with a change that was planned and approved, by a script."""
    made = make_sandbox(tmp_path_factory.mktemp("approved"))
    made.script(challenge=YES, implement=HONEST)
    assert made.plan().code == 0
    return made.root


@pytest.fixture
def lab(tmp_path_factory: pytest.TempPathFactory, programs: Path, model: FakeModel, approved: Path) -> Iterator[Lab]:
    """A copy of it on a person's machine."""
    lab = Lab(tmp_path_factory.mktemp("lab"), programs, model, approved)
    lab.set("codex", default="only", models=[TODAY])
    yield lab
    lab.clear()


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
def test_one_agent_implements_a_change_reviews_it_and_repairs_what_agentd_saw(lab: Lab, agent: str) -> None:
    lab.play(agent)
    check_built(lab, agent, agent)
    assert lab.changed_settings() == []


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini"])
def test_a_reviewer_reads_the_diff_and_cannot_change_a_file_however_hard_it_tries(lab: Lab, agent: str) -> None:
    read = {
        "claude": {"Read": {"file_path": "{{diff}}"}},
        "codex": {"exec_command": {"cmd": "cat '{{diff}}'"}},
        "gemini": {"read_file": {"file_path": "{{diff}}"}},
    }
    patches = [{"apply_patch": OWNED}] if agent == "codex" else []
    targets = [lab.root / "tally" / "owned.py", lab.root / "tally" / "words.py", lab.home / "owned.txt"]
    tries = [*(attempt for path in targets for attempt in attempts(agent, path)), *patches]
    turns = [{"call": [each]} for each in (read[agent], *tries, REVIEW)]
    lab.model.scenes = Scenes.load([{"name": "only", "when": WHEN, "turns": [*turns, {"say": "It can be merged."}]}])
    lab.play("scripted", reviewer=agent)
    done = lab.run("impl", CHANGE)
    assert done.code == 0, done.out + done.err
    asked = lab.model.played("only")
    assert {each.turn for each in asked} == set(range(len(turns) + 1))
    assert "+def top(text: str, n: int)" in words_of(asked[-1])
    assert [path for path in targets if path.exists()] == [lab.root / "tally" / "words.py"]
    assert QUOTE in targets[1].read_text()
    assert "changed after the tests ran" not in done.out
    assert [call["call"] for call in lab.state()["llm_calls"] if call["agent"] == agent] == ["review-1.1"]
    check_powerless(asked[0], agent)


def test_the_entry_that_gemini_needs_in_a_file_of_the_project_is_no_part_of_the_change(lab: Lab) -> None:
    file = lab.root / ".gemini" / "settings.json"
    file.parent.mkdir()
    file.write_text('{"ui": {"theme": "Dracula"}}\n')
    turns = [{"call": REVIEW}, {"say": "It can be merged."}]
    lab.model.scenes = Scenes.load([{"name": "only", "when": WHEN, "turns": turns}])
    lab.play("scripted", reviewer="gemini")
    done = lab.run("impl", CHANGE)
    assert done.code == 0, done.out + done.err
    assert ".gemini" not in (lab.folder() / "implementation.diff").read_text()
    assert [call["call"] for call in lab.state()["llm_calls"] if call["agent"] == "gemini"] == ["review-1.1"]
