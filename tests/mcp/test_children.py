"""A child run of a change works on the documents of the change, by its own intent; other children have their own."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from agentd.app import LAYOUTS
from agentd.engine.advance import start
from agentd.errors import NotFound
from agentd.families.change.documents import proposal
from agentd.library import spec
from agentd.model.run import Intent, Run
from agentd.runs.call_scope import open_desk
from agentd.state.codecs import PLAIN
from agentd.state.layout import child_folder
from agentd.state.store import Store, new_state
from tests.built_in import read_built_in
from tests.mcp import samples
from tests.mcp.bench import AT, Bench, said

TOOLS = ("create_spec", "create_proposal", "create_tasks", "append_review", "read_file", "edit_file", "validate_change",
         "list_specs", "create_clarifications", "draft_questions")  # fmt: skip


class Child:
    """A child run of a run, with a call of its own under way; a bench talks from its folder."""

    def __init__(self, above: Path, step: str = "specify", item: str = "auth-flow") -> None:
        self.folder = child_folder(above, step, item)
        self.item = item
        self.folder.mkdir(parents=True)

    def begin(self, call: str, tools: tuple[str, ...] = TOOLS) -> None:
        run = start(read_built_in("change-spec"), self.item)
        (self.folder / "STATE.yaml").unlink(missing_ok=True)
        self.save(replace(run, intent=Intent(call, AT, tools)))

    def save(self, run: Run) -> None:
        Store(self.folder, PLAIN).save(new_state(run), AT, "begin")


@pytest.fixture
def child(bench: Bench) -> Child:
    """The bench as a child's agent finds it: the change itself has another call under way."""
    assert not bench.call_tool("create_proposal", samples.PROPOSAL).is_error
    bench.begin("specify", ())
    made = Child(bench.folder)
    made.begin("write_spec-1.1")
    return made


def talk(bench: Bench, child: Child, tool: str, arguments: Mapping[str, object], call: str = "write_spec-1.1") -> str:
    """What a tool says to an agent of the child; an error begins with a mark."""
    folder, bench.folder = bench.folder, child.folder
    try:
        result = bench.call_tool(tool, arguments, call=call)
    finally:
        bench.folder = folder
    return f"{'✗ ' if result.is_error else ''}{said(result)}"


def test_a_child_of_a_change_writes_and_reads_the_documents_of_the_change(bench: Bench, child: Child) -> None:
    for tool, arguments in (
        ("create_spec", samples.SPEC),
        ("create_tasks", samples.TASKS),
        ("create_proposal", samples.PROPOSAL),
        ("append_review", samples.APPEND),
        ("create_clarifications", samples.CLARIFICATIONS),
        ("draft_questions", samples.QUESTIONS),
    ):
        told = talk(bench, child, tool, arguments)
        assert f"agentd/changes/{samples.CHANGE}/" in told, told
        assert "children" not in told
    assert spec.parse(bench.text("specs/auth-flow.md"), "auth-flow.md").id == "auth-flow"
    assert f"change_id: {samples.CHANGE}\n" in bench.text("tasks.md")
    assert f"change: {samples.CHANGE}\n" in bench.text("questions.yaml")
    assert f"change: {samples.CHANGE}\n" in bench.text("clarifications.md")
    assert f"# Challenge Report: {samples.CHANGE}\n" in bench.text("CHALLENGE.md")
    assert [one.call for one in proposal.reviews(bench.text("proposal.md"))] == ["write_spec-1.1"]
    assert sorted(path.name for path in child.folder.iterdir()) == ["STATE.yaml", "journal.jsonl"]
    there = {"change_id": samples.CHANGE, "file": "proposal.md"}
    assert talk(bench, child, "read_file", there) == bench.text("proposal.md")
    assert "auth-flow: Signing in" in talk(bench, child, "list_specs", {"change_id": samples.CHANGE})
    edit = {**there, "old_text": "Passwords are lost", "new_text": "Passwords get lost"}
    assert "Edited" in talk(bench, child, "edit_file", edit)
    assert "Passwords get lost" in bench.text("proposal.md")
    assert "alid: " in talk(bench, child, "validate_change", {"change_id": samples.CHANGE})


def test_a_child_of_a_change_is_sent_the_name_of_the_change(bench: Bench, child: Child) -> None:
    for wrong in ("auth-flow", "specify", "other"):
        told = talk(bench, child, "create_spec", {**samples.SPEC, "change_id": wrong})
        assert f'is not the change of this call. Instead: send "{samples.CHANGE}"' in told
    assert not (bench.folder / "specs").exists()


def test_what_a_child_may_do_is_what_its_own_call_may(bench: Bench, child: Child) -> None:
    assert talk(bench, child, "create_spec", samples.SPEC, call=bench.call).startswith("✗ ")
    assert talk(bench, child, "create_spec", samples.SPEC, call="write_spec-1.2").startswith("✗ ")
    assert bench.call_tool("create_spec", samples.SPEC, call="write_spec-1.1").is_error
    child.begin("review_spec-1.1", ("read_file",))
    assert talk(bench, child, "create_spec", samples.SPEC, call="write_spec-1.1").startswith("✗ ")
    assert talk(bench, child, "create_spec", samples.SPEC, call="review_spec-1.1").startswith("✗ ")
    assert not (bench.folder / "specs").exists()
    assert open_desk(LAYOUTS, child.folder, "review_spec-1.1").tools() == ("read_file",)


@pytest.mark.parametrize(
    "name", ["../../../other/proposal.md", "children/specify/auth-flow/../../../../x.md", "/etc/hosts"]
)
def test_a_child_stays_in_the_folder_of_its_change(bench: Bench, child: Child, name: str) -> None:
    (bench.folder.parent / "other").mkdir()
    (bench.folder.parent / "other" / "proposal.md").write_text("secret")
    told = talk(bench, child, "read_file", {"change_id": samples.CHANGE, "file": name})
    assert told.startswith("✗ ")
    assert "secret" not in told


def test_a_child_of_a_child_shares_the_documents_of_the_change_too(bench: Bench, child: Child) -> None:
    inner = Child(child.folder, "deeper", "one")
    inner.begin("write_spec-1.1")
    assert "Wrote" in talk(bench, inner, "create_spec", samples.SPEC)
    assert (bench.folder / "specs" / "auth-flow.md").is_file()


def test_a_change_may_be_called_children(bench: Bench) -> None:
    odd = bench.folder.parent / "children"
    child = Child(odd)
    child.begin("write_spec-1.1")
    assert open_desk(LAYOUTS, child.folder, "x").folder == odd
    assert open_desk(LAYOUTS, bench.folder, "x").folder == bench.folder


def test_a_child_of_another_workflow_has_documents_and_a_name_of_its_own(bench: Bench) -> None:
    for above in (bench.root / "agentd" / "runs" / "nightly", bench.root / ".agents-work" / "2026-01-01_x"):
        child = Child(above)
        child.save(Run("own", "auth-flow", "writing", "write", intent=Intent("write_spec-1.1", AT, TOOLS)))
        desk = open_desk(LAYOUTS, child.folder, "write_spec-1.1")
        assert (desk.folder, desk.change) == (child.folder, "auth-flow")
        desk.admit("create_spec", "auth-flow")


@pytest.mark.parametrize("inner", ["children", "children/specify", "children/specify/nobody", "specs"])
def test_a_folder_in_a_change_that_holds_no_run_has_no_desk(bench: Bench, child: Child, inner: str) -> None:
    (bench.folder / inner).mkdir(parents=True, exist_ok=True)
    with pytest.raises(NotFound):
        open_desk(LAYOUTS, bench.folder / inner, "write_spec-1.1")
