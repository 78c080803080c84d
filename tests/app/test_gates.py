"""The checks of documents as a table names them in `needs`: nothing when they hold, else why not."""

from importlib import import_module
from pathlib import Path

import pytest
from agentd.families.change.actions import ACTIONS, CHECKS, SOURCES, VALID

from agentd.families.change.documents import tasks
from agentd.runs.project import PROVED, known_names, open_project
from agentd.runs.work import Work
from agentd.workflows.check import prove
from agentd.workflows.load import read_built_in
from tests.app.tree import Tree, some_tasks, spoil


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path / "repo")


def work_on(tree: Tree, change: str) -> Work:
    project = tree.project
    store = project.store(project.find(change, "change"))
    return Work(project, project.workflow("change"), store, store.load())


def test_a_gate_opens_when_the_documents_hold_together(tree: Tree) -> None:
    tree.change()
    work = work_on(tree, "add-oauth")
    assert CHECKS["every_requirement_has_a_task"](work) == ""
    assert CHECKS["the_documents_are_valid"](work) == ""
    assert {"every_requirement_has_a_task", "the_documents_are_valid"} <= set(known_names().checks)


def test_a_gate_stays_closed_and_names_the_file_the_line_and_the_reason(tree: Tree) -> None:
    folder = tree.change()
    (folder / "tasks.md").write_text(tasks.render(some_tasks("add-oauth", "auth:R1")))
    work = work_on(tree, "add-oauth")
    assert CHECKS["the_documents_are_valid"](work) == ""
    told = CHECKS["every_requirement_has_a_task"](work)
    assert told.startswith("agentd/changes/add-oauth/specs/auth.md:")
    assert told.endswith(": no task implements R2 (Title R2)")
    spoil(folder / "tasks.md", "auth:R1", "gone:R1")
    spoil(folder / "proposal.md", "## Why", "## Why not")
    told = CHECKS["the_documents_are_valid"](work)
    assert told.startswith("agentd/changes/add-oauth/proposal.md:")
    assert "more: agentd validate add-oauth)" in told


def test_every_name_that_is_looked_up_late_is_there() -> None:
    listed = [one.__name__ for names in (ACTIONS, CHECKS, SOURCES, VALID) for one in names.values()]
    late = [place.rpartition(".") for place in listed if "." in place]
    assert len(late) > 20
    for module, _, name in late:
        assert callable(getattr(import_module(f"agentd.{module}"), name))


@pytest.mark.parametrize("name", PROVED)
def test_a_table_that_is_not_proved_when_it_runs_is_sound_and_can_be_performed(name: str, tmp_path: Path) -> None:
    children = {other: read_built_in(other) for other in PROVED if other != name}
    assert prove(read_built_in(name), children, known_names()).name == name
    assert open_project(tmp_path).workflow(name, runnable=True).name == name
