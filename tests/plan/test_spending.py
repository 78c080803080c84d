"""What planning costs: every call kept once, priced or unknown, forecast before the first, and stopped at a limit."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.plan.plans import answered, plan_of
from tests.sandbox import CHANGE, IDEA, YES, Sandbox, reviewed

USED = {"tokens_in": 15234, "tokens_out": 892}
COST = 0.00188  # 15234 * 0.1 + 892 * 0.4 millionths
KEYS = ("step", "model", "tokens_in", "tokens_out", "duration_ms", "cost", "timestamp")
PLANNED = ["propose-1.1", "top-words/write_spec-1.1", "break_down-1.1", "challenge-1.1"]
DEAR = {"tokens_in": 10_000_000, "tokens_out": 0}  # one dollar


def metered(usage: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    """Agents that say what they used."""
    plan = {**plan_of("top-words"), "revise": {}, **more}
    return {
        step: [{"usage": usage or USED, **one} for one in (entry if isinstance(entry, list) else [entry])]
        for step, entry in plan.items()
    }


def calls(sandbox: Sandbox, change: str = CHANGE) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = sandbox.state(change)["llm_calls"]
    return found


def ledger(sandbox: Sandbox) -> list[dict[str, Any]]:
    lines = (sandbox.root / "agentd" / "ledger.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


@pytest.mark.requirement(134, 136, 137, 140)
def test_every_call_is_kept_with_what_it_used_and_cost(sandbox: Sandbox) -> None:
    sandbox.set("workflow", self_review_iterations=1)
    again = reviewed("needs_revision", "Ties")
    sandbox.script(**metered(challenge=[again, YES], review_proposal={"say": "PASS: fine"}))
    sandbox.script(review_spec={"say": "PASS: fine"}, review_tasks={"say": "PASS: fine", "usage": USED})
    assert sandbox.plan().code == 0
    made = calls(sandbox)
    names = ["proposal-gen", "proposal-review", "spec-gen-top-words", "spec-review-top-words", "tasks-gen"]
    names += ["tasks-review", "challenge", "reproposal", "challenge"]
    assert [call["step"] for call in made] == names
    for call in made:
        assert tuple(call)[: len(KEYS)] == KEYS
        assert call["model"] == "scripted-small"
        assert call["duration_ms"] > 0
        assert str(call["timestamp"]).endswith("Z")
    known = [call for call in made if call["step"] != "spec-review-top-words"]
    assert all((call["tokens_in"], call["tokens_out"], call["cost"]) == (15234, 892, COST) for call in known)
    state = sandbox.state()
    assert state["total_tokens_in"] == 8 * 15234
    assert state["total_tokens_out"] == 8 * 892
    assert state["total_cost"] == pytest.approx(8 * COST)
    sandbox.script(implement={"files": {"tally/part1.py": "PART = 1\n"}})
    sandbox.run("impl", CHANGE)
    assert calls(sandbox)[:9] == made
    assert [call["step"] for call in calls(sandbox)[9:]] == ["implement_spec-top-words", "review"]
    shown = sandbox.run("cost", CHANGE, "--by", "step").out
    assert "$0.0019" in next(line for line in shown.splitlines() if line.startswith("proposal-gen"))


@pytest.mark.requirement(138)
def test_what_is_not_known_is_unknown_and_never_nothing(sandbox: Sandbox) -> None:
    sandbox.script(**plan_of("top-words"))
    assert sandbox.plan().code == 0
    for call in calls(sandbox):
        assert (call["tokens_in"], call["tokens_out"], call["cost"]) == (None, None, None)
    state = sandbox.state()
    assert (state["total_cost"], state["total_tokens_in"], state["total_tokens_out"]) == (None, None, None)
    assert state["unknown_costs"] == 4
    text = sandbox.state_file().read_text(encoding="utf-8")
    assert "cost: null" in text
    assert "cost: 0" not in text
    for words in (("cost", CHANGE), ("cost",), ("cost", CHANGE, "--by", "step")):
        shown = sandbox.run(*words).out
        assert "unknown" in shown
        assert "$0" not in shown
    assert sandbox.run("cost", CHANGE, "--json").data["total"]["cost"] is None
    assert "4 of 4 calls of unknown cost" in sandbox.run("status", CHANGE).out


@pytest.mark.requirement(134, 138)
@pytest.mark.parametrize("trouble", ["error", "exit", "no-result", "empty", "crash", "garbage"])
def test_a_call_that_failed_is_kept_too(sandbox: Sandbox, trouble: str) -> None:
    sandbox.script(**metered(challenge=[{"fail": trouble, "usage": {}}, YES]))
    assert sandbox.plan().code == 1
    assert [call["call"] for call in calls(sandbox)] == PLANNED
    failed = calls(sandbox)[-1]
    assert (failed["step"], failed["tokens_in"], failed["cost"]) == ("challenge", None, None)
    assert sandbox.state()["total_cost"] == pytest.approx(3 * COST)
    assert sandbox.plan().code == 0
    assert [call["call"] for call in calls(sandbox)] == [*PLANNED, "challenge-2.1"]
    assert "+ 1 unknown" in sandbox.run("cost", CHANGE).out


@pytest.mark.requirement(136)
@pytest.mark.parametrize(
    ("usage", "prices", "cost"),
    [
        (USED, {"cost_per_1m_input": 0.1, "cost_per_1m_output": 0.4}, 0.00188),
        (USED, {"cost_per_1m_input": 2.0, "cost_per_1m_output": 8.0}, 0.037604),
        (USED | {"cost": 7.0}, {"cost_per_1m_input": 2.0, "cost_per_1m_output": 8.0}, 7.0),
        (USED | {"cost": 0.25}, {}, 0.25),
        (USED, {}, None),
        (USED | {"cached_in": 15000}, {"cost_per_1m_input": 1.0, "cost_per_1m_output": 0.0}, 0.015234),
        (
            USED | {"cached_in": 15000},
            {"cost_per_1m_input": 1.0, "cost_per_1m_output": 0.0, "cost_per_1m_cached": 0.1},
            0.001734,
        ),
    ],
)
def test_the_agents_own_figure_comes_first_then_the_prices_of_the_configuration(
    sandbox: Sandbox, usage: dict[str, Any], prices: dict[str, float], cost: float | None
) -> None:
    model = {"id": "own", "model": "nobodys-model", "complexity": "critical", **prices}
    sandbox.set("scripted", models=[model])
    sandbox.script(propose={"usage": usage, "fail": "error"})
    assert sandbox.plan().code == 1
    (call,) = calls(sandbox)
    assert call["cost"] == (None if cost is None else pytest.approx(cost, abs=1e-6))
    assert call.get("cost_reported") == usage.get("cost")


@pytest.mark.requirement(140)
def test_a_kill_right_after_an_agent_ended_neither_loses_its_call_nor_keeps_it_twice(
    sandbox: Sandbox, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    """Killed before each write between the end of a call and the beginning of the next, also in a child."""
    sandbox.script(**metered())
    log = tmp_path / "writes"
    assert sandbox.run("plan", "whole", IDEA, env={"AGENTD_CRASH_LOG": str(log)}).code == 0
    points = []
    last = ""
    for line in log.read_text().splitlines():
        role, number = line.split()
        last = number if role == "ledger" else last
        if last in ("2", "4") and role in ("ledger", "state", "child"):
            points.append(f"{role}:{number}:{'after' if role == 'ledger' else 'before'}")
    assert len(points) > 6
    for at, point in enumerate(points if pytestconfig.getoption("--crash") == "all" else points[::3]):
        name = f"cut-{at}"
        assert sandbox.run("plan", name, IDEA, env={"AGENTD_CRASH": point}).code == -9, point
        assert sandbox.run("plan", name).code == 0
        assert [call["call"] for call in calls(sandbox, name)] == PLANNED, point
        assert sandbox.state(name)["total_cost"] == pytest.approx(4 * COST)
        assert sandbox.run("cost", name, "--json").data["total"]["calls"] == 4


@pytest.mark.parametrize(
    ("limit", "text", "made"),
    [
        ({"per_call": 0.5}, "The last call cost $1.00, and [budget] per_call allows $0.5000. Go on?", 1),
        ({"per_change": 1.5}, "This change has cost $2.00, and [budget] per_change allows $1.50. Go on?", 2),
        ({"per_day": 0.9}, "Today's calls have cost $1.00, and [budget] per_day allows $0.9000. Go on?", 1),
        ({"calls_per_change": 3}, "This change has made 3 calls, and [budget] calls_per_change allows 3. Go on?", 3),
    ],
    ids=["call", "change", "day", "calls"],
)
def test_a_limit_stops_before_the_next_call_and_a_person_may_allow_more(
    sandbox: Sandbox, limit: dict[str, float], text: str, made: int
) -> None:
    sandbox.set("budget", **{"per_call": 0, "per_change": 0, "per_day": 0, "calls_per_change": 0, **limit})
    sandbox.script(**metered(DEAR))
    stopped = sandbox.plan("--json")
    assert stopped.code == 4
    (question,) = stopped.data["decisions"]
    assert (question["header"], question["question"]) == ("Budget", text)
    assert [option["value"] for option in question["options"]] == ["stop", "allow"]
    assert len(sandbox.calls()) == made
    assert sandbox.run("plan", CHANGE).code == 4
    assert len(sandbox.calls()) == made
    assert sandbox.run("answer", CHANGE, question["decision_id"], "allow").code == 0
    assert sandbox.run("plan", CHANGE).code in (0, 4)
    assert len(sandbox.calls()) > made
    allowed = sandbox.run("plan", CHANGE, *answered(sandbox, budget=["allow"] * 9, agree="view"))
    assert "Error" not in allowed.err
    assert len(sandbox.calls()) == 4


def test_a_budget_that_is_stopped_at_asks_again_with_the_next_command(sandbox: Sandbox) -> None:
    sandbox.set("budget", per_change=1.5, per_call=0)
    sandbox.script(**metered(DEAR))
    assert sandbox.plan().code == 4
    assert sandbox.run("answer", CHANGE, "UD-1", "stop").code == 0
    assert sandbox.run("plan", CHANGE).code == 4
    made = sandbox.calls()
    assert [decision["answer"] for decision in sandbox.state()["user_decisions"]] == ["stop"]
    again = sandbox.run("plan", CHANGE, "--json")
    assert again.code == 4
    assert [decision["decision_id"] for decision in again.data["decisions"]] == ["UD-2"]
    assert sandbox.calls() == made
    sandbox.set("budget", per_change=0)
    assert sandbox.run("plan", CHANGE).code == 0


def test_a_limit_inside_a_spec_pauses_the_whole_change_and_it_goes_on(sandbox: Sandbox) -> None:
    sandbox.set("budget", calls_per_change=2)
    sandbox.script(**metered() | plan_of("one", "two", "three"))
    stopped = sandbox.plan()
    assert stopped.code == 4
    assert sandbox.calls() == ["propose-1.1", "write_spec-1.1"]
    assert not (sandbox.folder() / "specs" / "two.md").exists()
    state = sandbox.state()
    assert (state["phase"], state["run"]["step"]) == ("proposed", "specify")
    assert [decision["name"] for decision in state["user_decisions"]] == ["budget"]
    done = sandbox.run("plan", CHANGE, *answered(sandbox, budget=["allow"] * 9, agree="view"))
    assert sorted(path.stem for path in (sandbox.folder() / "specs").iterdir()) == ["one", "three", "two"]
    assert [call["call"] for call in calls(sandbox)] == [
        *("propose-1.1", "one/write_spec-1.1", "two/write_spec-1.1", "three/write_spec-1.1"),
        *("break_down-1.1", "challenge-1.1"),
    ], done.out


def test_there_are_limits_by_default(sandbox: Sandbox) -> None:
    sandbox.script(**metered({"tokens_in": 30_000_000, "tokens_out": 0}))
    stopped = sandbox.plan("--json")
    assert stopped.code == 4
    assert stopped.data["decisions"][0]["question"].startswith("The last call cost $3.00, and [budget] per_call")
    assert sandbox.calls() == ["propose-1.1"]


def test_what_planning_will_cost_is_told_before_the_first_call_and_learned_from_the_ledger(sandbox: Sandbox) -> None:
    sandbox.script(**metered())
    first = sandbox.plan().out
    line = next(line for line in first.splitlines() if line.startswith("Forecast: "))
    assert "typical figures: this project has no calls yet" in line
    assert first.index("Forecast: ") < first.index("▶ propose")
    assert len(ledger(sandbox)) == 4
    second = sandbox.run("plan", "second", IDEA).out
    line = next(line for line in second.splitlines() if line.startswith("Forecast: "))
    assert "from 4 earlier calls of this project" in line
    assert "Forecast: " not in sandbox.run("plan", "second").out
    sandbox.set("scripted", models=[{"id": "own", "model": "nobodys-model", "complexity": "critical"}])
    third = sandbox.run("plan", "third", IDEA).out
    line = next(line for line in third.splitlines() if line.startswith("Forecast: "))
    assert "cost unknown (no price for nobodys-model; " in line


def test_the_model_that_answered_is_shown_by_status_log_and_cost(sandbox: Sandbox) -> None:
    sandbox.script(**metered())
    assert sandbox.plan().code == 0
    assert "  models  scripted-small\n" in sandbox.run("status", CHANGE).out
    assert sandbox.run("status", CHANGE, "--json").data["models"] == ["scripted-small"]
    assert "model=scripted-small" in next(
        line for line in sandbox.run("log", CHANGE).out.splitlines() if "step=challenge" in line and " end " in line
    )
    (row,) = sandbox.run("cost", CHANGE, "--by", "model", "--json").data["rows"]
    assert (row["model"], row["calls"], row["cost"]) == ("scripted-small", 4, pytest.approx(4 * COST))
    assert "scripted-small" in sandbox.run("cost", "--by", "model").out


def test_the_forecast_and_the_budget_count_what_such_calls_really_cost(sandbox: Sandbox) -> None:
    sandbox.set("workflow", self_review_iterations=0)
    sandbox.set("budget", per_call=0, per_day=0)
    sandbox.script(**metered(USED | {"cost": 3.0}))
    assert sandbox.plan().code == 0
    second = sandbox.run("plan", "second", IDEA, "--skip-clarify").out
    line = next(line for line in second.splitlines() if line.startswith("Forecast: "))
    assert ", $12.00 (from 4 " in line or "$12.0" in line
    sandbox.set("budget", per_call=2)
    asked = sandbox.run("plan", "third", IDEA, "--json").data["decisions"][0]["question"]
    assert asked.startswith("The next call may cost about $3.00")


def test_what_an_agents_program_warns_about_is_told_once_in_a_run(sandbox: Sandbox) -> None:
    warning = "Warning: the flag --old is deprecated"
    said = json.dumps({"type": "error", "severity": "warning", "message": warning})
    sandbox.script(**{step: {**entry, "lines": [said]} for step, entry in plan_of("top-words").items()})
    ran = sandbox.plan()
    assert ran.out.count(f"⚠ scripted: {warning}") == 1
    noted = [event["note"] for event in sandbox.events() if event["event"] == "warning"]
    assert noted == [f"scripted: {warning}"]
