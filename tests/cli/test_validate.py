"""`agentd validate` as people and scripts call it: findings to click on, exit codes, one JSON document, no agent."""

import json
import os
import signal
from pathlib import Path

import psutil
import pytest

from agentd.families.change.documents import tasks
from agentd.families.change.validation import MANY
from agentd.library import spec
from tests.app.tree import Tree, a_spec, some_tasks, spoil
from tests.built_in import read_built_in
from tests.sandbox import Sandbox, wait_until


@pytest.fixture
def tree(sandbox: Sandbox) -> Tree:
    """The sandbox's project, with an agent that would leave a trace if anybody called it."""
    tree = Tree.__new__(Tree)
    tree.root = sandbox.root
    (tree.root / "agentd" / "changes").mkdir(exist_ok=True)
    return tree


@pytest.mark.requirement(122)
def test_a_valid_change_is_told_so_and_exits_0(sandbox: Sandbox, tree: Tree) -> None:
    tree.change()
    told = sandbox.run("validate", "add-oauth")
    assert (told.code, told.err) == (0, "")
    assert told.out == "3 documents: 0 High, 0 Medium, 0 Low\n"
    data = sandbox.run("validate", "add-oauth", "--strict", "--json").data
    assert (data["ok"], data["valid"], data["strict"], data["exit"]) == (True, True, True, 0)
    assert (data["errors"], data["findings"]) == ([], [])


def test_each_finding_is_one_line_that_can_be_clicked_with_its_fix_below(sandbox: Sandbox, tree: Tree) -> None:
    folder = tree.change()
    line = spoil(folder / "tasks.md", "spec_ref: auth:R2", "spec_ref: gone:R2")
    task = max(n for n, text in enumerate((folder / "tasks.md").read_text().split("\n")[:line], 1) if "### " in text)
    told = sandbox.run("validate", "add-oauth")
    assert told.code == 1
    lines = told.out.splitlines()
    assert lines[2].startswith(f"agentd/changes/add-oauth/tasks.md:{task}: High unknown_spec: ")
    assert lines[3].startswith("  Fix: ")
    assert lines[-1] == "3 documents: 1 High, 1 Medium, 0 Low"
    inside = sandbox.run("validate", "add-oauth", cwd=folder)
    assert f"\ntasks.md:{task}: High unknown_spec: " in inside.out


@pytest.mark.requirement(119)
def test_json_has_the_counts_the_errors_and_the_stale_files(sandbox: Sandbox, tree: Tree) -> None:
    folder = tree.change()
    (folder / "tasks.md").write_text(tasks.render(some_tasks("add-oauth", "auth:R1", "gone:R1")))
    told = sandbox.run("validate", "add-oauth", "--json")
    data = told.data
    assert (told.code, data["exit"], data["ok"], data["valid"]) == (1, 1, False, False)
    assert (data["high_count"], data["medium_count"], data["low_count"]) == (1, 1, 0)
    assert data["counts"] == {"high": 1, "medium": 1, "low": 0}
    assert len(data["errors"]) == 1
    assert [finding["rule"] for finding in data["findings"]] == ["uncovered_requirement", "unknown_spec"]
    assert "agentd/changes/add-oauth/tasks.md" in data["stale_files"]


def test_strict_fails_on_any_finding(sandbox: Sandbox, tree: Tree) -> None:
    folder = tree.change()
    (folder / "specs" / "extra.md").write_text(spec.render(a_spec("extra")))
    (folder / "tasks.md").write_text(tasks.render(some_tasks("add-oauth", "auth:R1", "auth:R2")))
    assert sandbox.run("validate", "add-oauth").code == 0
    assert sandbox.run("validate", "add-oauth", "--strict").code == 1
    data = sandbox.run("validate", "add-oauth", "--strict", "--json").data
    assert (data["ok"], data["valid"], data["strict"]) == (False, True, False)


def test_without_a_name_all_changes_and_the_library_are_checked(sandbox: Sandbox, tree: Tree) -> None:
    tree.change("one", "s-one")
    bad = tree.change("two", "s-two")
    (bad / "tasks.md").write_text("nothing\n")
    tree.library(a_spec("users"))
    (tree.root / "agentd" / "specs" / "users.md").write_bytes(b"\xff")
    data = sandbox.run("validate", "--json").data
    assert {Path(finding["file"]).name for finding in data["findings"]} >= {"tasks.md", "users.md"}
    only = sandbox.run("validate", "--specs", "--json").data
    assert [finding["file"] for finding in only["findings"]] == ["agentd/specs/users.md"]
    assert sandbox.run("validate", "one").code == 0


def test_a_project_without_anything_is_valid(sandbox: Sandbox) -> None:
    assert sandbox.run("validate").out == "0 documents: 0 High, 0 Medium, 0 Low\n"
    assert sandbox.run("validate", "--specs", "--strict").code == 0


@pytest.mark.parametrize("name", ["nobody", "../changes/add-oauth", "/etc", "a b", "\x1b[31m"])
def test_an_unknown_change_is_an_error_and_nothing_is_made(sandbox: Sandbox, tree: Tree, name: str) -> None:
    before = sorted(sandbox.root.rglob("*"))
    told = sandbox.run("validate", name, "--fix")
    assert told.code == 1
    assert "There is no change" in told.err
    assert "\x1b" not in told.err
    assert sandbox.run("validate", name, "--json").data["error"] == "ChangeNotFound"
    assert sorted(sandbox.root.rglob("*")) == before


def test_a_change_and_specs_at_once_are_off(sandbox: Sandbox) -> None:
    assert sandbox.run("validate", "x", "--specs").code == 2


def test_verbose_names_every_file(sandbox: Sandbox, tree: Tree) -> None:
    tree.change()
    out = sandbox.run("validate", "add-oauth", "--verbose").out
    for name in ("proposal.md", "specs/auth.md", "tasks.md"):
        assert f"agentd/changes/add-oauth/{name}: checked\n" in out
        assert f"agentd/changes/add-oauth/{name}: changed since it was last recorded\n" in out


def test_fix_tells_what_it_fixed(sandbox: Sandbox, tree: Tree) -> None:
    folder = tree.change()
    spoil(folder / "proposal.md", "A reason for it", "Another reason for it")
    assert "stale_checksum" in sandbox.run("validate", "add-oauth").out
    told = sandbox.run("validate", "add-oauth", "--fix", "--strict")
    assert told.code == 0
    assert told.out.startswith("agentd/changes/add-oauth/proposal.md: fixed\n")
    assert sandbox.run("validate", "add-oauth", "--fix", "--json").data["fixed"] == []


@pytest.mark.requirement(120, 121)
def test_what_local_fixes_cannot_put_right_exits_non_zero_and_no_agent_is_called(sandbox: Sandbox, tree: Tree) -> None:
    """Every role is played by an agent that leaves a file when it is called; none does."""
    trace = sandbox.root / "an-agent-was-here"
    folder = tree.change(phase="proposed")
    steps = {**read_built_in("change").steps, **read_built_in("change-spec").steps}
    asked = [name for name, step in steps.items() if step.kind == "agent"]
    sandbox.script(**{name: {"say": "x", "files": {trace.name: "x"}} for name in asked})
    spoil(folder / "proposal.md", "A reason for it", "Another reason for it")
    (folder / "tasks.md").write_text(tasks.render(some_tasks("add-oauth", "auth:R1", "gone:R7")))
    before = (folder / "STATE.yaml").read_bytes()
    for words in ((), ("add-oauth",), ("add-oauth", "--fix"), ("--fix",), ("--strict", "--fix")):
        told = sandbox.run("validate", *words)
        assert told.code == 1
        assert "unknown_spec" in told.out
    assert not trace.exists()
    assert not (folder / "calls").exists()
    assert not (folder / "journal.jsonl").exists()
    assert (folder / "STATE.yaml").read_bytes() == before


@pytest.mark.requirement(107)
def test_a_bad_rule_names_its_file_its_key_and_what_is_allowed(sandbox: Sandbox) -> None:
    path = sandbox.root / "agentd" / "config.toml"
    whole = path.read_text()
    for line, parts in (
        ("scenario_min_count = -1", ("validation.scenario_min_count", "-1", "a whole number from 0")),
        ("required_headings = 'x'", ("validation.required_headings", "'x'", "a list of texts")),
        ("required_headings = [1]", ("validation.required_headings", "[1]", "a list of texts")),
        ("when_pattern = '('", ("validation.when_pattern", "'('", "a regular expression")),
        ("require_when_then = 'yes'", ("validation.require_when_then", "'yes'", "true or false")),
        ("severity_map = 'x'", ("validation.severity_map", "'x'", "a section")),
        ("severity_map = {orphan_spec = 'high'}", ("severity_map.orphan_spec", "'high'", "High, Medium, Low")),
    ):
        path.write_text(f"{whole}\n[validation]\n{line}\n")
        told = sandbox.run("validate")
        assert told.code == 1
        for part in (str(path), *parts):
            assert part in told.err, told.err


def test_an_unknown_rule_is_a_warning_with_the_nearest_one(sandbox: Sandbox) -> None:
    path = sandbox.root / "agentd" / "config.toml"
    path.write_text(f"{path.read_text()}\n[validation]\nscenario_min = 1\n[validation.severity_map]\norphan = 'Low'\n")
    told = sandbox.run("validate")
    assert told.code == 0
    assert "validation.scenario_min (did you mean scenario_min_count?)" in told.err
    assert "validation.severity_map.orphan (did you mean orphan_spec?)" in told.err


def test_terminal_codes_in_a_document_are_not_printed(sandbox: Sandbox, tree: Tree) -> None:
    folder = tree.change()
    spoil(folder / "tasks.md", "src/a1.py", '"/\\e[31m/a.py"')
    (folder / "specs" / "\x1b[31mred.md").write_text("x")
    told = sandbox.run("validate", "add-oauth")
    assert told.code == 1
    assert "\x1b" not in told.out
    json.loads(sandbox.run("validate", "add-oauth", "--json").out)


def test_an_interrupt_ends_it_and_all_its_processes(sandbox: Sandbox, tree: Tree) -> None:
    headings = "\n".join(f"## Heading {number}" for number in range(20_000))
    for path in tree.library(*(a_spec(f"l-{number:03}") for number in range(MANY))).iterdir():
        path.write_text(f"{path.read_text()}\n{headings}\n")
    begun = sandbox.begin("validate")
    process = psutil.Process(begun.pid)
    alone = len(os.sched_getaffinity(0)) == 1
    wait_until(lambda: begun.poll() is not None or process.children() or (alone and process.cpu_times().user > 0.7))
    workers = process.children()
    begun.send_signal(signal.SIGINT)
    begun.communicate(timeout=60)
    assert begun.returncode == 130
    assert not any(worker.is_running() for worker in workers)
