"""What agents read and edit: any file of the change by any of its names, and only its documents."""

import pytest

from agentd.families.change.documents import proposal
from tests.mcp import samples
from tests.mcp.bench import Bench, said

CHANGE = samples.CHANGE


def read(bench: Bench, name: str) -> str:
    result = bench.call_tool("read_file", {"change_id": CHANGE, "file": name})
    assert not result.is_error, said(result)
    return said(result)


@pytest.mark.requirement(101, 290)
@pytest.mark.parametrize("prefix", ["", "./", f"agentd/changes/{CHANGE}/", f"./agentd/changes/{CHANGE}/"])
@pytest.mark.parametrize("name", ["clarifications.md", "GEMINI.md", "proposal.md", "specs/auth-flow.md", "notes/a.txt"])
def test_any_file_is_read_by_its_path_in_the_change_or_from_the_root(bench: Bench, prefix: str, name: str) -> None:
    bench.write(name, f"what {name} says\r\nüber\n")
    result = bench.call_tool("read_file", {"change_id": CHANGE, "file": prefix + name})
    assert said(result) == f"what {name} says\r\nüber\n"
    assert result.structured_content is not None
    assert result.structured_content["path"] == f"agentd/changes/{CHANGE}/{name}"


@pytest.mark.requirement(101)
def test_documents_have_short_names(bench: Bench) -> None:
    for name, path in (("proposal", "proposal.md"), ("tasks", "tasks.md"), ("auth-flow", "specs/auth-flow.md")):
        bench.write(path, f"what {path} says")
        assert read(bench, name) == f"what {path} says"


@pytest.mark.requirement(101)
def test_a_file_that_is_not_there_is_an_error_that_names_those_that_are(bench: Bench) -> None:
    bench.write("specs/auth-flow.md", "x")
    result = bench.call_tool("read_file", {"change_id": CHANGE, "file": "specs/other.md"})
    assert result.is_error
    assert "specs/auth-flow.md" in said(result)
    assert bench.call_tool("read_file", {"change_id": CHANGE, "file": "specs"}).is_error


@pytest.mark.requirement(102)
def test_an_edit_changes_what_it_says_and_brings_the_head_up_to_date(bench: Bench) -> None:
    assert not bench.call_tool("create_proposal", samples.PROPOSAL).is_error
    before = bench.text("proposal.md")
    edit = {"change_id": CHANGE, "file": "proposal", "old_text": "two buttons", "new_text": "three buttons"}
    result = bench.call_tool("edit_file", edit)
    assert not result.is_error, said(result)
    assert result.structured_content is not None
    assert result.structured_content["findings"] == []
    after = bench.text("proposal.md")
    assert "A sign-in page with three buttons" in after
    assert proposal.read(after)[1] == ()
    same = [line for line in after.splitlines() if line in before.splitlines()]
    assert len(same) == len(before.splitlines()) - 2  # the line itself, and the checksum


@pytest.mark.requirement(102)
def test_the_text_to_replace_must_be_there_exactly_once(bench: Bench) -> None:
    bench.write("notes.md", "one two two\n")
    edit = {"change_id": CHANGE, "file": "notes.md", "new_text": "x"}
    for old, times in (("two", "more than once"), ("three", "not at all")):
        result = bench.call_tool("edit_file", {**edit, "old_text": old})
        assert result.is_error
        assert f"holds it {times}" in said(result)
    assert bench.text("notes.md") == "one two two\n"
    assert not bench.call_tool("edit_file", {**edit, "old_text": "one "}).is_error
    assert bench.text("notes.md") == "xtwo two\n"


@pytest.mark.requirement(102)
def test_a_file_with_other_line_ends_keeps_them(bench: Bench) -> None:
    (bench.folder / "notes.md").write_bytes(b"# A\r\n\r\nold\r\nlines\r\n")
    edit = {"change_id": CHANGE, "file": "notes.md", "old_text": "old\nlines", "new_text": "new\nlines\nthree"}
    assert not bench.call_tool("edit_file", edit).is_error
    assert (bench.folder / "notes.md").read_bytes() == b"# A\r\n\r\nnew\r\nlines\r\nthree\r\n"


def test_an_edit_that_breaks_a_rule_says_where(bench: Bench) -> None:
    assert not bench.call_tool("create_tasks", samples.TASKS).is_error
    edit = {"change_id": CHANGE, "file": "tasks", "old_text": "spec_ref: sessions:R1", "new_text": "spec_ref: nonsense"}
    result = bench.call_tool("edit_file", edit)
    assert not result.is_error, said(result)
    assert result.structured_content is not None
    (finding,) = result.structured_content["findings"]
    assert bench.text("tasks.md").splitlines()[finding["line"] - 1].strip() == "spec_ref: nonsense"
    assert f"line {finding['line']} (High, invalid_task)" in said(result)


def test_specs_are_listed_with_what_must_come_before_them(bench: Bench) -> None:
    for tool, arguments in (
        ("create_proposal", samples.PROPOSAL),
        ("create_spec", samples.SPEC),
        ("create_spec", samples.SESSIONS),
    ):
        assert not bench.call_tool(tool, arguments).is_error
    bench.write("specs/_notes.md", "# not a spec\n")
    everything = bench.call_tool("list_specs", {"change_id": CHANGE}).structured_content
    assert everything is not None
    assert [(one["id"], one["depends"]) for one in everything["specs"]] == [
        ("auth-flow", []),
        ("sessions", ["auth-flow"]),
    ]
    before = bench.call_tool("list_specs", {"change_id": CHANGE, "spec_id": "sessions"}).structured_content
    assert before is not None
    assert [one["id"] for one in before["specs"]] == ["auth-flow"]
    full = bench.call_tool("read_all_requirements", {"change_id": CHANGE})
    for words in ("The app SHALL send the person to the provider.", "WHEN a session begins", "sessions:R1"):
        assert words in said(full)


def test_what_was_implemented_is_what_git_and_the_notes_say(bench: Bench) -> None:
    (bench.root / "src").mkdir()
    (bench.root / "src" / "auth.py").write_text("a = 1\n")
    (bench.root / "src" / "gone.py").write_text("a = 1\n")
    bench.with_git()
    (bench.root / "src" / "auth.py").write_text("a = 1\nb = 2\n")
    (bench.root / "src" / "gone.py").unlink()
    (bench.root / "src" / "new file.py").write_text("c = 3\n")
    bench.write("IMPLEMENTATION.md", "# Notes\n\nIt works.\n")
    bench.begin("review", ("list_changed_files", "read_implementation_summary"))
    found = bench.call_tool("list_changed_files", {"change_id": CHANGE}).structured_content
    assert found is not None
    assert [(one["path"], one["status"], one["added"], one["removed"]) for one in found["files"]] == [
        ("src/auth.py", "modified", 1, 0),
        ("src/gone.py", "deleted", 0, 1),
        ("src/new file.py", "added", None, None),
    ]
    some = bench.call_tool("list_changed_files", {"change_id": CHANGE, "filter": "*/new*.py"}).structured_content
    assert some is not None
    assert [one["path"] for one in some["files"]] == ["src/new file.py"]
    summary = said(bench.call_tool("read_implementation_summary", {"change_id": CHANGE}))
    assert "It works." in summary
    assert "src/auth.py  +1 -0" in summary


def test_without_git_nothing_is_compared_and_the_agent_is_told(bench: Bench) -> None:
    result = bench.call_tool("list_changed_files", {"change_id": CHANGE})
    assert result.is_error
    assert "git" in said(result)


def test_a_task_is_told_in_the_words_of_its_step(bench: Bench) -> None:
    own = bench.root / "agentd" / "prompts" / "review_spec.md"
    own.parent.mkdir()
    own.write_text("Look hard at {{run}}.")
    result = bench.call_tool("get_task", {"change_id": CHANGE, "task_type": "review_spec"})
    assert said(result) == f"Look hard at {CHANGE}."
    result = bench.call_tool("get_task", {"change_id": CHANGE, "task_type": "implement"})
    assert "You implement a part of an approved plan" in said(result)
    assert "Sign in with OAuth" in said(result)
    assert bench.call_tool("get_task", {"change_id": CHANGE, "task_type": "sleep"}).is_error


def test_knowledge_is_written_listed_and_read(bench: Bench) -> None:
    assert "no knowledge" in said(bench.call_tool("list_knowledge", {}))
    assert not bench.call_tool("write_knowledge", samples.KNOWLEDGE).is_error
    path = bench.root / "agentd" / "knowledge" / "01-auth" / "oauth.md"
    first = path.read_text()
    assert first.startswith("---\ntitle: OAuth\nsource: the provider's documentation\ndate: ")
    assert "updated" not in first
    assert not bench.call_tool(
        "write_knowledge", {**samples.KNOWLEDGE, "path": "agentd/knowledge/01-auth/oauth.md"}
    ).is_error
    assert "\nupdated: " in path.read_text()
    assert said(bench.call_tool("read_knowledge", {"path": "01-auth/oauth.md"})) == path.read_text()
    listed = bench.call_tool("list_knowledge", {"path": "01-auth"}).structured_content
    assert listed is not None
    assert listed["pages"] == [{"path": "01-auth/oauth.md", "title": "OAuth"}]


def test_a_main_spec_goes_into_the_library_only_where_the_step_allows_it(bench: Bench) -> None:
    assert not bench.call_tool("write_main_spec", samples.MAIN_SPEC).is_error
    assert (bench.root / "agentd" / "specs" / "auth-flow.md").read_text() == samples.MAIN_SPEC["content"]
    bench.begin("propose")
    assert bench.call_tool("write_main_spec", samples.MAIN_SPEC).is_error
