"""`agentd cost`: an aligned table, unknown costs said to be unknown, and the next command."""

import json
from pathlib import Path

import pytest

from agentd.cli.command_list import COMMANDS
from tests.app.tree import Tree, state
from tests.sandbox import Sandbox

CALLS = """\
llm_calls:
  - {step: proposal-gen, model: flash, tokens_in: 15234, tokens_out: 892, duration_ms: 4521, cost: 0.0019, cached_in: 1200, bytes_in: 5120, bytes_out: 40}
  - {step: proposal-review, model: flash, tokens_in: 8234, tokens_out: 234, duration_ms: 1821, cost: 0.1181}
  - {step: challenge, model: gpt-x, tokens_in: null, tokens_out: null, duration_ms: 3, cost: null}
"""


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path / "repo")


def a_run(tree: Tree, name: str, more: str = CALLS) -> Path:
    path = tree.change(name) / "STATE.yaml"
    path.write_text(state(name, more=more))
    return path


def test_the_steps_of_a_run_are_a_table_with_a_total(tree: Tree) -> None:
    a_run(tree, "add-oauth")
    shown = Sandbox(tree.root).run("cost", "add-oauth", "--by", "step")
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.splitlines() == [
        "step             calls  bytes in  tokens in  cached  tokens out  bytes out                 cost",
        "proposal-gen         1     5,120     15,234   1,200         892         40              $0.0019",
        "proposal-review      1                8,234                 234                         $0.1181",
        "challenge            1              unknown             unknown                         unknown",
        "total                3     5,120     23,468   1,200       1,126         40  $0.1200 + 1 unknown",
        "Next: agentd status add-oauth",
    ]


def test_every_run_is_a_line_and_the_dearest_comes_next(tree: Tree) -> None:
    a_run(tree, "add-oauth")
    a_run(tree, "drop-ftp", "llm_calls:\n  - {step: challenge, cost: 1234.5, tokens_in: 5, tokens_out: 5}\n")
    a_run(tree, "idle", "")
    shown = Sandbox(tree.root).run("cost")
    assert shown.code == 0
    assert shown.out.splitlines() == [
        "run               calls  tokens in  cached  tokens out                   cost",
        "change/add-oauth      3     23,468   1,200       1,126    $0.1200 + 1 unknown",
        "change/drop-ftp       1          5                   5              $1,234.50",
        "change/idle           0          0                   0                $0.0000",
        "total                 4     23,473   1,200       1,131  $1,234.62 + 1 unknown",
        "Next: agentd cost change/drop-ftp --by step",
    ]
    assert Sandbox(tree.root).run("cost", "change/drop-ftp", "--by", "step").code == 0


def test_json_is_one_document_with_figures_as_numbers(tree: Tree) -> None:
    a_run(tree, "add-oauth")
    shown = Sandbox(tree.root).run("cost", "add-oauth", "--json")
    assert shown.code == 0
    assert json.loads(shown.out) == {
        "ok": True,
        "by": "run",
        "rows": [
            {
                "run": "change/add-oauth",
                "calls": 3,
                "tokens_in": 23468,
                "cached_in": 1200,
                "tokens_out": 1126,
                "bytes_in": 5120,
                "bytes_out": 40,
                "cost": 0.12,
                "unknown": 1,
            }
        ],
        "total": {
            "calls": 3,
            "tokens_in": 23468,
            "cached_in": 1200,
            "tokens_out": 1126,
            "bytes_in": 5120,
            "bytes_out": 40,
            "cost": 0.12,
            "unknown": 1,
        },
        "unreadable": [],
        "next": "agentd cost add-oauth --by step",
        "exit": 0,
    }


def test_an_unknown_run_is_not_found(tree: Tree) -> None:
    shown = Sandbox(tree.root).run("cost", "nobody", "--json")
    assert (shown.code, shown.data["error"], shown.data["fix"]) == (1, "RunNotFound", "agentd list")


def test_an_unknown_grouping_is_a_usage_error(tree: Tree) -> None:
    assert Sandbox(tree.root).run("cost", "--by", "moon").code == 2


def test_without_runs_or_calls_it_says_so(tree: Tree) -> None:
    shown = Sandbox(tree.root).run("cost")
    assert shown.code == 0
    assert shown.out.splitlines()[0] == f"No runs in {tree.root}."
    assert shown.out.splitlines()[-1].startswith("Next: agentd plan ")
    a_run(tree, "idle", "")
    assert Sandbox(tree.root).run("cost", "idle", "--by", "step").out.splitlines() == [
        "No agent calls in idle.",
        "Next: agentd status idle",
    ]


def test_a_run_that_cannot_be_read_is_named_beside_the_others(tree: Tree) -> None:
    a_run(tree, "add-oauth")
    a_run(tree, "broken").write_text("{")
    shown = Sandbox(tree.root).run("cost")
    assert shown.code == 1
    assert "change/add-oauth" in shown.out
    assert "change/broken: unreadable, " in shown.out
    assert shown.out.splitlines()[-1].startswith("Next: ")


def test_a_step_cannot_steer_the_terminal(tree: Tree) -> None:
    a_run(tree, "add-oauth", 'llm_calls:\n  - {step: "\\e[2Jgone"}\n')
    assert "\x1b" not in Sandbox(tree.root).run("cost", "add-oauth", "--by", "step").out


def test_it_is_among_the_commands() -> None:
    assert "cost" in COMMANDS
