"""The checks of documents as a table names them in `needs`: nothing when they hold, else why not."""

from pathlib import Path

import pytest

from agentd.app import LAYOUTS, open_project
from agentd.families.change.documents import tasks
from agentd.runs import work as runs_work
from agentd.runs.layout import Layout
from agentd.runs.ports import facts
from agentd.runs.work import Work
from agentd.workflows.check import Known, prove
from tests.app.tree import Tree, some_tasks, spoil
from tests.built_in import read_built_in

PROVED = [(layout, name) for layout in LAYOUTS if layout.proved for name in layout.workflows]


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path / "repo")


def work_on(tree: Tree, change: str) -> Work:
    return runs_work.work_on(tree.project, tree.project.find(change, "change"))


def told_by(work: Work, check: str) -> str:
    return facts(work, [check])[check]


def test_a_gate_opens_when_the_documents_hold_together(tree: Tree) -> None:
    tree.change()
    work = work_on(tree, "add-oauth")
    assert told_by(work, "every_requirement_has_a_task") == ""
    assert told_by(work, "the_documents_are_valid") == ""


def test_a_gate_stays_closed_and_names_the_file_the_line_and_the_reason(tree: Tree) -> None:
    folder = tree.change()
    (folder / "tasks.md").write_text(tasks.render(some_tasks("add-oauth", "auth:R1")))
    work = work_on(tree, "add-oauth")
    assert told_by(work, "the_documents_are_valid") == ""
    told = told_by(work, "every_requirement_has_a_task")
    assert told.startswith("agentd/changes/add-oauth/specs/auth.md:")
    assert told.endswith(": no task implements R2 (Title R2)")
    spoil(folder / "tasks.md", "auth:R1", "gone:R1")
    spoil(folder / "proposal.md", "## Why", "## Why not")
    told = told_by(work, "the_documents_are_valid")
    assert told.startswith("agentd/changes/add-oauth/proposal.md:")
    assert "more: agentd validate add-oauth)" in told


@pytest.mark.parametrize("layout", LAYOUTS, ids=lambda layout: layout.name)
def test_every_place_that_a_family_names_is_there(layout: Layout) -> None:
    places = [*layout.checks.values(), *layout.items.values(), *layout.questions.values(), *layout.artifacts.values()]
    places += [*layout.bound.values(), *(place for place, _ in layout.actions.values())]
    assert places or not layout.proved
    for place in places:
        assert callable(layout.find(place)), place
    asked = {s.what for name in layout.workflows for s in read_built_in(name).steps.values() if s.kind == "ask"}
    assert asked == {*layout.questions} or not layout.proved  # one that is not there is asked with its name as its text


@pytest.mark.parametrize(("layout", "name"), PROVED, ids=[name for _, name in PROVED])
def test_a_table_that_is_not_proved_when_it_runs_is_sound_and_can_be_performed(
    layout: Layout, name: str, tmp_path: Path
) -> None:
    children = {other: read_built_in(other) for other in layout.workflows if other != name}
    outcomes = {action: words for action, (_, words) in layout.actions.items()}
    known = Known(layout.checks, outcomes, layout.items, layout.tools)
    assert prove(read_built_in(name), children, known).name == name
    assert open_project(tmp_path).workflow(name, runnable=True).name == name
