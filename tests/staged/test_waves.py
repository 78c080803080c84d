"""The tasks of a plan: side by side as far as their dependencies allow, each by the agent that its complexity asks for."""

import sys
from pathlib import Path
from typing import Any

import pytest

from tests.landing.repositories import git
from tests.plan.plans import Spy, spied
from tests.sandbox import copy_sandbox, make_sandbox
from tests.staged.runs import ROLES, Staged, code, done, plan, task

# Two agents that both reach this line are at work at the same time.
MEET = """
import pathlib, sys, time
here, mine, other = pathlib.Path(sys.argv[1]), *sys.argv[2:]
(here / mine).touch()
end = time.monotonic() + 60
while not (here / other).exists():
    assert time.monotonic() < end, f"{other} is not at work at the same time"
    time.sleep(0.01)
"""
# Waits until the state file has these words.
UNTIL = """
import pathlib, sys, time
end = time.monotonic() + 60
while sys.argv[2] not in pathlib.Path(sys.argv[1]).read_text():
    assert time.monotonic() < end, f"{sys.argv[2]} is not in the state"
    time.sleep(0.01)
"""
THERE = "import pathlib, sys\nsys.exit(not all(pathlib.Path(name).exists() for name in sys.argv[1:]))\n"


@pytest.fixture(scope="module")
def tasks_once(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository in which a run has nothing but tasks."""
    staged = Staged(make_sandbox(tmp_path_factory.mktemp("prepared")))
    staged.sandbox.set("staged", without=["EXPLORE", "TEST", "FINAL"])
    staged.sandbox.set("sandbox", mode="off")  # agents of these tests look at each other's files
    git(staged.root, "commit", "--quiet", "--all", "--amend", "--no-edit")
    return staged.root


@pytest.fixture
def staged(tasks_once: Path, tmp_path: Path) -> Staged:
    return Staged(copy_sandbox(tasks_once, tmp_path))


def given(staged: Staged, *tasks: str) -> tuple[str, str]:
    """The words that begin a run with these tasks."""
    path = staged.root.parent / "plan.md"
    path.write_text(plan(*tasks))
    return "--plan", str(path)


def watched(staged: Staged) -> Spy:
    spy = spied(staged.sandbox)
    staged.sandbox.set("roles", **dict.fromkeys(ROLES, "spy"))
    return spy


def python(program: str, *words: object) -> list[str]:
    return [sys.executable, "-c", program, *map(str, words)]


def results(staged: Staged) -> dict[str, str]:
    """What became of each task."""
    return {one["id"]: one["status"] for wave in staged.data("2.1-tasks.json")["waves"] for one in wave["tasks"]}


def attempts(staged: Staged, item: str = "task-1") -> int:
    return sum(call.startswith(f"{item}/") for call in staged.calls())


@pytest.mark.requirement(236)
def test_tasks_that_depend_on_nothing_run_side_by_side_and_the_others_on_top_of_them(staged: Staged) -> None:
    folder = staged.root.parent
    staged.script(
        **{
            "implement@task-1": code(1, run=python(MEET, folder, "a", "b")),
            "implement@task-2": code(2, run=python(MEET, folder, "b", "a")),
            "implement@task-3": code(3, run=python(THERE, "tally/part1.py", "tally/part2.py")),
        }
    )
    ran = staged.start(*given(staged, task(1), task(2), task(3, depends="Task 1, Task 2")))
    assert ran.code == 0, ran.out + ran.err
    found = staged.data("2.1-tasks.json")
    assert [[one["id"] for one in wave["tasks"]] for wave in found["waves"]] == [["task-1", "task-2"], ["task-3"]]
    assert [wave["waveNumber"] for wave in found["waves"]] == [1, 2]
    assert found["completedTasks"] == ["task-1", "task-2", "task-3"]
    assert found["failedTasks"] == []
    assert staged.landed()[-1] == "task-3: Part 3"
    assert len(staged.landed()) == 3


@pytest.mark.requirement(236)
def test_a_task_is_told_what_the_tasks_before_it_did_and_no_more_than_its_contract_has(staged: Staged) -> None:
    spy = watched(staged)
    staged.script(
        **{
            "implement@task-1": {**code(1), "say": done(summary="PART is one. " + "x" * 600)},
            "implement@task-2": code(2),
        }
    )
    long = task(2, depends="Task 1").replace("Do part 2", "Do " + "y" * 3000)
    assert staged.start(*given(staged, task(1), long)).code == 0
    (job,) = spy.of("implement", "task-2")
    assert '"task-1": "PART is one. x' in job["prompt"]
    assert "x" * 488 not in job["prompt"]
    assert "y" * 1900 in job["prompt"]
    assert "y" * 2001 not in job["prompt"]


@pytest.mark.requirement(236, 256)
def test_a_failed_task_keeps_back_only_what_depends_on_it_and_can_be_skipped_with_a_warning(staged: Staged) -> None:
    staged.script(
        **{
            "implement@task-1": {"say": done("failed", "It cannot be done.")},
            "implement@task-3": code(3),
        }
    )
    ran = staged.start(*given(staged, task(1), task(2, depends="Task 1"), task(3)))
    assert ran.code == 4, ran.out + ran.err
    assert staged.landed() == ["task-3: Part 3"]
    assert not attempts(staged, "task-2")
    failure = staged.state["failure"]
    assert failure["phase"] == "2.1"
    assert failure["context"] == {
        "completedTasks": ["task-3"],
        "failedTask": "task-1",
        "pendingTasks": ["task-2"],
    }
    (asked,) = staged.pending()
    assert "task-1" in asked["question"]
    calls = staged.calls()
    ran = staged.decide("skip", "Part 1 can wait.")
    assert ran.code == 0, ran.out + ran.err
    assert results(staged) == {"task-1": "failed", "task-2": "blocked", "task-3": "completed"}
    assert staged.data("2.1-tasks.json")["failedTasks"] == ["task-1", "task-2"]
    assert "⚠ 2.1 was waived" in ran.out
    assert "Part 1 can wait." in ran.out
    assert staged.calls()[: len(calls)] == calls
    assert attempts(staged, "task-1") == 1


@pytest.mark.requirement(256)
@pytest.mark.parametrize("by_hand", [False, True])
def test_a_failed_task_is_tried_again_and_the_others_are_not(staged: Staged, by_hand: bool) -> None:
    failing = {"say": done("failed", "It cannot be done.")}
    staged.script(**{"implement@task-1": failing, "implement@task-3": code(3)})
    assert staged.start(*given(staged, task(1), task(2, depends="Task 1"), task(3))).code == 4
    staged.script(**{"implement@task-1": code(1), "implement@task-2": code(2)})
    ran = staged.resume("--retry-failed") if by_hand else staged.decide("retry")
    assert ran.code == 0, ran.out + ran.err
    assert set(results(staged).values()) == {"completed"}
    assert [attempts(staged, f"task-{number}") for number in (1, 2, 3)] == [2, 1, 1]
    assert sorted(staged.landed()) == [f"task-{number}: Part {number}" for number in (1, 2, 3)]
    assert staged.pending() == []


@pytest.mark.requirement(256)
@pytest.mark.parametrize(
    "wrong",
    [{"fail": "error"}, {"say": "Sure! I have done all of it."}, {"say": done("finished")}, {"say": "null"}],
    ids=["an error", "talk", "no known status", "no object"],
)
def test_an_agent_that_fails_or_only_talks_is_tried_again_and_then_the_task_failed(
    staged: Staged, wrong: dict[str, Any]
) -> None:
    staged.script(**{"implement@task-1": [wrong, wrong, code(1)], "implement@task-2": wrong})
    ran = staged.start(*given(staged, task(1), task(2)))
    assert ran.code == 4, ran.out + ran.err
    assert attempts(staged, "task-1") == 3
    assert attempts(staged, "task-2") == 3
    assert staged.landed() == ["task-1: Part 1"]
    assert staged.state["failure"]["context"]["failedTask"] == "task-2"
    assert staged.state["failure"]["error"].startswith("task-2 failed: ")
    assert "it did not succeed" not in staged.state["failure"]["error"], "the person is told why"


def test_attempts_at_a_task_are_put_apart_by_the_configured_times(staged: Staged) -> None:
    staged.sandbox.set("staged", backoff_secs=[1, 2])
    staged.script(**{"implement@task-1": [{"fail": "error"}, {"fail": "error"}, code(1)]})
    ran = staged.start(*given(staged, task(1)))
    assert ran.code == 0, ran.out + ran.err
    assert ran.out.index("waits 1 s") < ran.out.index("waits 2 s")


def test_a_task_that_takes_too_long_is_ended_by_its_own_clock(staged: Staged) -> None:
    staged.sandbox.set("staged", task_secs=1, task_retries=0)
    staged.sandbox.set("workflow", script_retries=0)
    staged.script(**{"implement@task-1": {"hang": True}, "implement@task-2": code(2)})
    ran = staged.start(*given(staged, task(1), task(2)))
    assert ran.code == 4, ran.out + ran.err
    assert "the time that the implementer has" in ran.out
    assert staged.landed() == ["task-2: Part 2"]


def test_a_question_of_one_task_is_asked_while_the_others_go_on(staged: Staged) -> None:
    spy = watched(staged)
    asking = {"say": done("needs_decision", question="Lists or tuples?")}
    staged.script(
        **{
            "implement@task-1": [asking, code(1)],
            "implement@task-2": code(2, run=python(UNTIL, staged.folder / "state.json", "Lists or tuples?")),
        }
    )
    ran = staged.start(*given(staged, task(1), task(2), task(3, depends="Task 1")))
    assert ran.code == 4, ran.out + ran.err
    assert staged.landed() == ["task-2: Part 2"]
    (asked,) = staged.pending()
    assert "Lists or tuples?" in asked["question"]
    staged.script(**{"implement@task-3": code(3)})
    ran = staged.decide("Tuples.")
    assert ran.code == 0, ran.out + ran.err
    assert [attempts(staged, f"task-{number}") for number in (1, 2, 3)] == [2, 1, 1]
    first, second = spy.of("implement", "task-1")
    assert "Tuples." not in first["prompt"]
    assert "Lists or tuples? → Tuples." in second["prompt"]
    assert "Tuples." not in spy.of("implement", "task-3")[0]["prompt"], "what one task asked is not told to another"


def test_a_task_that_is_given_up_at_its_question_is_a_failed_one(staged: Staged) -> None:
    staged.script(
        **{
            "implement@task-1": {"say": done("needs_decision", question="Lists or tuples?")},
            "implement@task-2": code(2),
        }
    )
    assert staged.start(*given(staged, task(1), task(2))).code == 4
    ran = staged.decide("give_up")
    assert ran.code == 4, ran.out + ran.err
    assert staged.state["failure"]["context"]["failedTask"] == "task-1"


def test_files_that_a_task_asks_for_are_sent_with_its_next_attempt_and_none_from_outside(staged: Staged) -> None:
    spy = watched(staged)
    (staged.root.parent / "secret.txt").write_text("the secret")
    wanted = ["tally/words.py", "../../secret.txt", "no/such.py"]
    staged.script(**{"implement@task-1": [{"say": done("needs_context", requestedFiles=wanted)}, code(1)]})
    ran = staged.start(*given(staged, task(1)))
    assert ran.code == 0, ran.out + ran.err
    first, second = spy.of("implement", "task-1")
    assert 'requestedFiles": {' not in first["prompt"]
    assert '"requestedFiles": {' in second["prompt"]
    assert "def count" in second["prompt"]
    assert "the secret" not in second["prompt"]
    assert second["prompt"].count("(cannot be read: ") == 2


def test_a_task_that_never_has_enough_files_failed(staged: Staged) -> None:
    staged.script(**{"implement@task-1": {"say": done("needs_context", requestedFiles=["tally/words.py"])}})
    assert staged.start(*given(staged, task(1))).code == 4
    assert attempts(staged, "task-1") == 3
    assert staged.state["failure"]["context"]["failedTask"] == "task-1"


MODELS = {"easy": ("low", "sonnet-4.5"), "medium": ("medium", "opus-4.5"), "hard": ("high", "codex-xhigh")}


def model(level: str, name: str) -> dict[str, Any]:
    return {"id": name, "model": name, "complexity": level, "cost_per_1m_input": 1.0, "cost_per_1m_output": 1.0}


def played(staged: Staged) -> dict[str, tuple[str, str]]:
    """The agent and the model of each task."""
    calls = [one for one in staged.state["llm_calls"] if "/implement" in one["call"]]
    return {str(one["call"]).partition("/")[0]: (one["agent"], one["model"]) for one in calls}


def three(staged: Staged) -> tuple[str, str]:
    staged.script(**{f"implement@task-{number}": code(number) for number in (1, 2, 3)})
    return given(staged, *(task(number, complexity=word) for number, word in enumerate(MODELS, 1)))


@pytest.mark.requirement(237)
def test_the_complexity_of_a_task_chooses_the_model_of_its_agent(staged: Staged) -> None:
    staged.sandbox.set("scripted", models=[model(*each) for each in MODELS.values()])
    ran = staged.start(*three(staged))
    assert ran.code == 0, ran.out + ran.err
    assert played(staged) == {
        f"task-{number}": ("scripted", name) for number, (_, name) in enumerate(MODELS.values(), 1)
    }


@pytest.mark.requirement(237)
def test_a_complexity_can_have_an_agent_of_its_own_and_one_without_has_the_implementer(staged: Staged) -> None:
    for agent, name in (("quick", "sonnet-4.5"), ("thorough", "codex-xhigh")):
        only = [model("critical", name)]
        staged.sandbox.set(agent, adapter="scripted", script="agentd/demo.yaml", models=only)
    staged.sandbox.set("scripted", models=[model("critical", "opus-4.5")])
    staged.sandbox.set("roles", easy_implementer="quick", hard_implementer="thorough")
    ran = staged.start(*three(staged))
    assert ran.code == 0, ran.out + ran.err
    assert played(staged) == {
        "task-1": ("quick", "sonnet-4.5"),
        "task-2": ("scripted", "opus-4.5"),
        "task-3": ("thorough", "codex-xhigh"),
    }


@pytest.mark.requirement(237)
@pytest.mark.parametrize(("scoring", "name"), [(True, "codex-xhigh"), (False, "sonnet-4.5")])
def test_a_task_that_is_harder_than_its_plan_says_is_routed_by_its_score_if_wanted(
    staged: Staged, scoring: bool, name: str
) -> None:
    staged.sandbox.set("scripted", models=[model(*each) for each in MODELS.values()])
    staged.sandbox.set("staged", use_complexity_scoring=scoring)
    staged.script(**{"implement@task-1": code(1)})
    many = tuple(f"tally/part{number}.py" for number in range(1, 5))
    ran = staged.start(*given(staged, task(1, (*many, "tests/test_part1.py"))))
    assert ran.code == 0, ran.out + ran.err
    assert played(staged) == {"task-1": ("scripted", name)}


def test_what_a_person_accepted_is_told_at_the_end(staged: Staged) -> None:
    staged.script(implement=code(1, delete=["tests/test_words.py"]), fix={"say": done()})
    assert staged.start().code == 4
    ran = staged.decide("accept", "these tests are of no use")
    assert ran.code == 0
    assert "⚠ accepted by a person: tests/test_words.py: the test file is deleted" in ran.out
