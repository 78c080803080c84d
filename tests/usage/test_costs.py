"""What runs have cost, from their files, and the ledger on disk."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from agentd.errors import Corrupt, DiskTrouble, RunNotFound
from agentd.families.change import LAYOUT
from agentd.model.usage import Usage
from agentd.runs.costs import append_to_ledger, costs, day_cost, ledger_file, read_ledger
from agentd.state.store import Store
from agentd.usage.calls import Call, record
from tests.app.tree import Tree, state

PROPOSAL = Call(
    "proposal-gen", "flash", Usage(15234, 892, cached_in=1000), 0.0019, "2026-01-19T10:30:15Z", "propose-1.1"
)
SPEC = Call("spec-gen-auth", "flash", Usage(12456, 1234), 0.0018, "2026-01-19T23:59:59.9Z", "write_spec-1.1")
OTHER = Call("spec-gen-user", "flash", Usage(1, 1), 0.5, "2026-01-20T00:00:00Z", "user/write_spec-1.1")
UNKNOWN = Call("challenge", "gpt-x", Usage(), None, "2026-01-20T10:44:30Z", "challenge-1.1")


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path / "repo")


def keep(folder: Path, *calls: Call) -> Store:
    """Record calls in a run's file, one save each."""
    store = Store(folder, LAYOUT.codec)
    found = store.load()
    for call in calls:
        found = store.save(replace(found, fields={**found.fields, **record(found.fields, call)}), call.timestamp, "end")
    return store


@pytest.mark.requirement(134, 137, 140)
def test_calls_stay_through_later_saves_and_phases(tree: Tree) -> None:
    folder = tree.change(phase="proposed")
    keep(folder, PROPOSAL, SPEC)
    store = Store(folder, LAYOUT.codec)
    found = store.load()
    found = store.save(replace(found, run=replace(found.run, phase="challenged")), "t", "end")
    store.save(replace(found, fields={**found.fields, **record(found.fields, UNKNOWN)}), "t", "end")
    data: Any = Store(folder, LAYOUT.codec).load().fields
    assert [entry["step"] for entry in data["llm_calls"]] == ["proposal-gen", "spec-gen-auth", "challenge"]
    assert (data["phase"], data["total_cost"], data["unknown_costs"]) == ("challenged", 0.0037, 1)
    assert (data["total_tokens_in"], data["total_tokens_out"]) == (27690, 2126)
    assert data["llm_calls"][0]["timestamp"] == "2026-01-19T10:30:15Z"


@pytest.mark.requirement(140)
def test_a_persons_edit_between_two_calls_costs_neither(tree: Tree) -> None:
    folder = tree.change(phase="proposed")
    store = keep(folder, PROPOSAL)
    found = store.load()
    path = folder / "STATE.yaml"
    path.write_text(path.read_text() + "note: mine  # a word\n")
    store.save(replace(found, fields={**found.fields, **record(found.fields, SPEC)}), "t", "end")
    data: Any = Store(folder, LAYOUT.codec).load().fields
    assert (len(data["llm_calls"]), data["total_cost"], data["note"]) == (2, 0.0037, "mine")


def test_one_run_and_its_steps(tree: Tree) -> None:
    keep(tree.change("one"), PROPOSAL, SPEC, OTHER, UNKNOWN, replace(UNKNOWN, call="challenge-2.1"))
    whole = costs(tree.project, "one")
    (row,) = whole.rows
    assert (row.name, row.calls, row.cost, row.unknown) == ("change/one", 5, 0.5037, 2)
    assert (row.tokens_in, row.cached_in, row.tokens_out) == (27691, 1000, 2127)
    by_step = costs(tree.project, "one", by="step")
    assert [(row.name, row.calls, row.cost) for row in by_step.rows] == [
        ("proposal-gen", 1, 0.0019),
        ("spec-gen-auth", 1, 0.0018),
        ("spec-gen-user", 1, 0.5),
        ("challenge", 2, None),
    ]
    assert by_step.total == replace(row, name="total")
    data = by_step.to_data()
    assert data["rows"][3] == {
        "step": "challenge",
        "calls": 2,
        "tokens_in": None,
        "cached_in": None,
        "tokens_out": None,
        "bytes_in": None,
        "bytes_out": None,
        "cost": None,
        "unknown": 2,
    }
    assert data["total"]["cost"] == 0.5037


def test_every_run_is_counted_the_archived_ones_too(tree: Tree) -> None:
    keep(tree.change("one"), PROPOSAL)
    archived = tree.root / "agentd" / "archive" / "two"
    archived.mkdir(parents=True)
    (archived / "STATE.yaml").write_text(state("two", "archived"))
    keep(archived, SPEC, OTHER)
    tree.change("three")
    found = costs(tree.project)
    assert [(row.name, row.calls, row.cost) for row in found.rows] == [
        ("change/one", 1, 0.0019),
        ("change/three", 0, 0.0),
        ("change/two", 2, 0.5018),
    ]
    assert found.total.cost == 0.5037
    kinds = costs(tree.project, by="step").rows
    assert [(row.name, row.calls) for row in kinds] == [("proposal-gen", 1), ("spec-gen", 2)]


def test_a_run_that_cannot_be_read_is_listed_and_hides_no_other(tree: Tree) -> None:
    keep(tree.change("one"), PROPOSAL)
    broken = tree.change("two")
    (broken / "STATE.yaml").write_text("{")
    found = costs(tree.project)
    assert [row.name for row in found.rows] == ["change/one"]
    (entry,) = found.unreadable
    assert entry.name == "change/two"
    assert found.to_data()["unreadable"][0]["run"] == "change/two"
    with pytest.raises(Corrupt):
        costs(tree.project, "two")
    with pytest.raises(RunNotFound):
        costs(tree.project, "nobody")


def test_what_a_person_put_in_the_place_of_the_calls_is_no_trouble(tree: Tree) -> None:
    folder = tree.change("one")
    (folder / "STATE.yaml").write_text(state("one", more="llm_calls: [much, {step: x}, {cost: 1.5, step: [y]}]\n"))
    (row,) = costs(tree.project, "one").rows
    assert (row.calls, row.cost, row.unknown) == (2, 1.5, 1)
    assert [row.name for row in costs(tree.project, "one", by="step").rows] == ["x", "['y']"]


def test_the_ledger_keeps_every_call(tree: Tree) -> None:
    project = tree.project
    assert read_ledger(project) == []
    for call in (PROPOSAL, SPEC, OTHER, UNKNOWN, UNKNOWN):
        append_to_ledger(project, "one", call)
    entries = read_ledger(project)
    assert [(entry.run, entry.step, entry.cost) for entry in entries] == [
        ("one", "proposal-gen", 0.0019),
        ("one", "spec-gen-auth", 0.0018),
        ("one", "spec-gen-user", 0.5),
        ("one", "challenge", None),
    ]
    assert day_cost(entries, "2026-01-19") == 0.0037
    assert day_cost(entries, "2026-01-20") == 0.5
    assert day_cost(entries, "2026-01-21") == 0.0


def test_a_line_that_a_crash_cut_off_is_closed_and_passed_over(tree: Tree) -> None:
    append_to_ledger(tree.project, "one", PROPOSAL)
    path = ledger_file(tree.project)
    path.write_bytes(path.read_bytes() + b'{"run":"one","st')
    append_to_ledger(tree.project, "one", SPEC)
    assert [entry.step for entry in read_ledger(tree.project)] == ["proposal-gen", "spec-gen-auth"]


def test_a_ledger_that_cannot_be_read_is_told_in_words(tree: Tree) -> None:
    ledger_file(tree.project).mkdir()
    with pytest.raises(DiskTrouble, match=r"ledger\.jsonl was not read: a folder is in its place"):
        read_ledger(tree.project)
