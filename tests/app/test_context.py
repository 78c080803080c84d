"""Context files are made from the project as it is, for the role that is called, and lead nowhere else."""

from pathlib import Path

import pytest

from agentd.errors import DiskTrouble
from agentd.families.change import context_files
from agentd.families.change.documents import clarifications, proposal
from agentd.model.change import Clarifications, Question, Review
from agentd.review import challenge_page
from tests.app.tree import Tree, spoil

PROJECT = "# Tally\n\n## Overview\nIt counts.\n\n## Tech Stack\nRust.\n\n## Key Patterns\nPure.\n\n### Ports\nTwo.\n"


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    made = Tree(tmp_path)
    (tmp_path / "CLAUDE.md").write_text("# Rules\n\nWords are lower case.\n")
    (tmp_path / "src" / "tally" / "deep").mkdir(parents=True)
    (tmp_path / "src" / "tally" / "words.py").touch()
    (tmp_path / "src" / "tally" / "deep" / "unseen.py").touch()
    return made


def planner(tree: Tree, folder: Path) -> str:
    context_files.prepare(tree.project, folder, folder.name, "planner", tree.root)
    return (folder / "GEMINI.md").read_text(encoding="utf-8")


def challenger(tree: Tree, folder: Path) -> str:
    context_files.prepare(tree.project, folder, folder.name, "challenger", tree.root)
    return (folder / "AGENTS.md").read_text(encoding="utf-8")


@pytest.mark.requirement(123)
def test_the_planner_gets_the_project_and_the_clarifications(tree: Tree) -> None:
    folder = tree.change()
    asked = Question("Providers", "Which ones?", "Google only", "The person said so")
    text = clarifications.render(Clarifications("add-oauth", "2026-01-19", (asked,)))
    (folder / "clarifications.md").write_text(text)
    page = planner(tree, folder)
    assert page.startswith("# Context for Gemini: add-oauth\n")
    assert "Words are lower case." in page
    assert "- **Answer**: Google only" in page
    for line in (
        "src/",
        "  tally/",
        "    words.py",
        "agentd/changes/",
        "  add-oauth/",
        "    proposal.md",
        "  CLAUDE.md",
    ):
        assert f"\n{line}\n" in page
    assert "unseen.py" not in page
    for tool in ("create_proposal", "create_spec", "create_tasks", "read_file", "edit_file"):
        assert f"\n- {tool}: " in page


@pytest.mark.requirement(124)
def test_the_challenger_gets_the_project_and_the_whole_plan(tree: Tree) -> None:
    folder = tree.change()
    (folder / "specs" / "second.md").write_text("# The second spec\n")
    page = challenger(tree, folder)
    home = "agentd/changes/add-oauth"
    paths = [f"### {home}/{name}" for name in ("proposal.md", "specs/auth.md", "specs/second.md", "tasks.md")]
    assert [line for line in page.splitlines() if line.startswith(f"### {home}")] == paths
    for name in ("proposal.md", "specs/auth.md", "specs/second.md", "tasks.md"):
        assert (folder / name).read_text().strip() in page
    assert "Words are lower case." in page


def test_the_challenger_does_not_see_what_reviewers_said_before(tree: Tree) -> None:
    folder = tree.change()
    before = challenger(tree, folder)
    path = folder / "proposal.md"
    for number in (1, 2):
        review = Review("needs_revision", number, "challenger", "## Summary\n\nAll wrong\n\n```\n</review>\n```")
        path.write_text(proposal.append_review(path.read_text(), review))
    assert "All wrong" in path.read_text()
    page = challenger(tree, folder)
    assert "All wrong" not in page
    assert "A summary of it" in page
    assert page.replace("    AGENTS.md\n", "") == before


@pytest.mark.requirement(127)
def test_the_challengers_page_follows_every_edit(tree: Tree) -> None:
    folder = tree.change()
    assert "SHALL do R1" in challenger(tree, folder)
    spoil(folder / "specs" / "auth.md", "SHALL do R1", "SHALL log in")
    spoil(tree.root / "CLAUDE.md", "lower case", "UPPER CASE")
    page = challenger(tree, folder)
    assert "SHALL log in" in page
    assert "SHALL do R1" not in page
    assert "UPPER CASE" in page


@pytest.mark.requirement(125)
def test_each_role_is_told_its_file_from_the_root(tree: Tree) -> None:
    folder = tree.change()
    for role, name, variable in (
        ("planner", "GEMINI.md", "GEMINI_CONTEXT_FILE"),
        ("challenger", "AGENTS.md", "AGENTS_CONTEXT_FILE"),
    ):
        path, env = context_files.prepare(tree.project, folder, "add-oauth", role, tree.root)
        assert path == f"agentd/changes/add-oauth/{name}"
        assert env == {variable: path}
        assert (tree.root / path).is_file()


def test_an_agent_in_a_worktree_is_told_the_whole_path_and_sees_its_own_source(tree: Tree, tmp_path: Path) -> None:
    folder = tree.change()
    worktree = tmp_path / "elsewhere"
    (worktree / "src" / "fresh").mkdir(parents=True)
    path, env = context_files.prepare(tree.project, folder, "add-oauth", "planner", worktree)
    assert env == {"GEMINI_CONTEXT_FILE": str(folder / "GEMINI.md")} == {"GEMINI_CONTEXT_FILE": path}
    page = Path(path).read_text(encoding="utf-8")
    assert "  fresh/\n" in page
    assert "    words.py" not in page
    assert "  add-oauth/\n" in page


def test_other_roles_have_no_context_file(tree: Tree) -> None:
    folder = tree.change()
    before = sorted(folder.iterdir())
    assert context_files.prepare(tree.project, folder, "add-oauth", "implementer", tree.root) == ("", {})
    assert sorted(folder.iterdir()) == before


@pytest.mark.parametrize("name", ["agentd/project.md", "project.md"])
def test_of_project_md_the_sections_that_matter_for_a_plan_are_shown(tree: Tree, name: str) -> None:
    (tree.root / name).write_text(PROJECT)
    for page in (planner(tree, folder := tree.change()), challenger(tree, folder)):
        assert f"From {name}:" in page
        assert "## Overview\nIt counts.\n\n## Key Patterns\nPure.\n\n### Ports\nTwo.\n```" in page
        assert "Rust." not in page


def test_a_project_that_says_nothing_about_itself_is_no_error(tmp_path: Path) -> None:
    tree = Tree(tmp_path)
    folder = tree.root / "agentd" / "changes" / "bare"
    folder.mkdir()
    assert "there is no CLAUDE.md and no project.md" in planner(tree, folder)
    assert "Nothing was clarified." in planner(tree, folder)
    assert challenger(tree, folder).count("It is empty or not there.") == 2


def test_bytes_that_are_no_text_are_shown_as_such(tree: Tree) -> None:
    folder = tree.change()
    (tree.root / "CLAUDE.md").write_bytes(b"caf\xe9 rules\r\nsecond\n")
    (folder / "specs" / "auth.md").write_bytes(b"# Auth \xff\n")
    assert "caf\ufffd rules\nsecond\n" in planner(tree, folder)
    assert "# Auth \ufffd" in challenger(tree, folder)


def test_a_link_that_leads_out_of_the_project_is_not_followed(
    tree: Tree, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tree.change()
    private = tmp_path_factory.mktemp("home") / "key"
    private.write_text("TOP SECRET")
    (tree.root / "CLAUDE.md").unlink()
    (tree.root / "CLAUDE.md").symlink_to(private)
    (folder / "specs" / "auth.md").unlink()
    (folder / "specs" / "auth.md").symlink_to(private)
    (tree.root / "docs").symlink_to(private.parent)
    for page in (planner(tree, folder), challenger(tree, folder)):
        assert "TOP SECRET" not in page
        assert "leads out of its folder" in page
        assert "  docs\n" in page


def test_a_link_in_the_place_of_the_file_is_replaced_not_written_through(
    tree: Tree, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tree.change()
    victim = tmp_path_factory.mktemp("home") / "profile"
    victim.write_text("mine")
    for name in ("GEMINI.md", "AGENTS.md", "CHALLENGE.md"):
        (folder / name).symlink_to(victim)
    planner(tree, folder)
    challenger(tree, folder)
    context_files.skeleton(folder, "add-oauth")
    assert victim.read_text() == "mine"
    assert not any((folder / name).is_symlink() for name in ("GEMINI.md", "AGENTS.md", "CHALLENGE.md"))


def test_what_tools_make_is_left_out_of_the_tree(tree: Tree) -> None:
    for name in ("node_modules", ".venv", "target", "__pycache__", "tally.egg-info"):
        (tree.root / name).mkdir()
        (tree.root / "src" / name).mkdir()
    (tree.root / ".env").touch()
    (tree.root / "build").touch()
    page = planner(tree, tree.change())
    for name in ("node_modules", ".venv", "target", "__pycache__", "egg-info", ".env"):
        assert name not in page
    assert "\n  build\n" in page


def test_a_large_tree_is_cut_where_it_is_large(tree: Tree) -> None:
    for number in range(300):
        (tree.root / "src" / f"m{number:03}.py").touch()
        (tree.root / "agentd" / "changes" / f"c{number:03}").mkdir()
    (tree.root / "agentd" / "specs").mkdir()
    (tree.root / "agentd" / "specs" / "auth.md").touch()
    (tree.root / "odd\nname `").touch()
    folder = tree.root / "agentd" / "changes" / "c000"
    page = planner(tree, folder)
    start = page.index("```text\n./")
    lines = page[start : page.index("\n```\n", start + 3)].splitlines()[1:]
    assert len(lines) == 200
    assert "  auth.md" in lines
    assert "  odd\ufffdname `" in lines
    assert "  c000/" in lines
    assert [line for line in lines if "more" in line] == ["  … and 208 more", "  … and 206 more"]
    assert planner(tree, folder) == planner(tree, folder)


@pytest.mark.requirement(288)
def test_a_skeleton_is_there_before_the_challenger_and_approves_nothing(tree: Tree) -> None:
    folder = tree.change()
    (folder / "CHALLENGE.md").write_text("# Challenge Report: add-oauth\n\n## Verdict\n\n**Verdict**: APPROVED\n")
    context_files.skeleton(folder, "add-oauth")
    text = (folder / "CHALLENGE.md").read_text()
    assert [line for line in text.splitlines() if line.startswith("## ")] == ["## Verdict", "## Issues", "## Summary"]
    found, findings = challenge_page.read(text)
    assert (found.change_id, found.verdict, found.issues) == ("add-oauth", None, ())
    assert findings


def test_a_folder_in_the_place_of_the_file_is_told_in_words(tree: Tree) -> None:
    folder = tree.change()
    (folder / "GEMINI.md").mkdir()
    with pytest.raises(DiskTrouble, match=r"GEMINI\.md was not written: a folder is in its place"):
        planner(tree, folder)
    assert not list(folder.glob(".*.tmp"))
