"""Reviews of a plan: grounded in what there is, kept in one place, and never twice for one visit."""

import os
from pathlib import Path

import pytest

from agentd.errors import AgentdError, Corrupt, NotFound, Refused
from agentd.families.change.documents import proposal
from agentd.families.change.review_tools import ground, keep_review
from agentd.families.change.validation import validate_change
from agentd.model.change import Review
from agentd.model.verdict import Issue, PlanVerdict, status_of
from agentd.review import challenge_page
from tests.app.tree import Tree, a_proposal, a_spec, rules, spoil, state
from tests.documents.valid import valid

REVIEW = """## Summary
Not yet.

## Issues

### Ties are left open
- **Severity**: High
- **Description**: Which order?
- **Spec Reference**: auth:R9
- **Location**: src/x.py:12

### Names
- **Severity**: Low
- **Description**: They are long.
- **Spec Reference**: auth:R1

## Verdict
**Verdict**: NEEDS_REVISION
"""
APPROVAL = "# Challenge Report: add-oauth\n\n## Verdict\n\n- [x] APPROVED\n\n## Summary\n\nAll is well.\n"


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path / "repo")


def why(tree: Tree, folder: Path, **fields: object) -> str:
    (found,) = ground(tree.project, folder, [Issue("High", "t", "d", **fields)])  # type: ignore[arg-type]
    return found.ungrounded


# -------------------------------------------------------------------------------------------------------------- places


def test_an_issue_points_at_specs_of_the_change_and_of_the_library(tree: Tree) -> None:
    folder = tree.change()
    tree.library(a_spec("users"), a_spec("auth", "R1", "R2", "R7"))
    assert why(tree, folder, spec_reference="auth:R1, users:R2, auth:R7") == ""
    assert why(tree, folder, spec_reference="auth:R9") == "there is no requirement auth:R9"
    assert why(tree, folder, spec_reference="users:R9") == "there is no requirement users:R9"
    assert why(tree, folder, spec_reference="more-users:R1") == "there is no spec more-users"
    assert why(tree, folder, spec_reference="R2") == ""
    assert why(tree, folder, spec_reference="R9") == "there is no requirement auth:R9"
    assert why(tree, folder, spec_reference="agentd/specs/users.md#R1") == ""


def test_a_spec_that_cannot_be_read_may_have_any_requirement(tree: Tree) -> None:
    folder = tree.change()
    (folder / "specs" / "auth.md").write_bytes(b"\xff\xfe")
    (tree.library() / "users.md").write_text("no spec at all")
    assert why(tree, folder, spec_reference="auth:R9, users:R9") == ""


def test_an_issue_points_at_files_of_the_change_and_of_the_project(tree: Tree) -> None:
    folder = tree.change()
    (tree.root / "src").mkdir()
    (tree.root / "src" / "x.py").write_text("one\ntwo\nthree")
    (tree.root / "src" / "raw.bin").write_bytes(b"\xff\x00")
    os.mkfifo(tree.root / "src" / "pipe.py")
    for location in ("src/x.py", "src/x.py:3", "proposal.md:5", "tasks.md#logic.1", "agentd/changes/add-oauth/tasks.md",
                     "specs/auth.md:2", f"{tree.root}/src/x.py:3", "src/raw.bin:900", "src/pipe.py:3"):  # fmt: skip
        assert why(tree, folder, location=location) == "", location
    assert why(tree, folder, location="src/x.py:4") == "src/x.py has 3 lines, not 4"
    assert why(tree, folder, location="src/y.py:4") == "there is no file src/y.py"
    assert why(tree, folder, location=f"{tree.root}/src/y.py") == f"there is no file {tree.root}/src/y.py"
    assert why(tree, folder, file_path="src/x.py", line_number=9) == "src/x.py has 3 lines, not 9"
    assert why(tree, folder, location="design.md") == "there is no file design.md"


def test_a_file_that_the_change_is_going_to_write_counts(tree: Tree) -> None:
    folder = tree.change()
    assert why(tree, folder, location="src/a1.py:30, src/a.py") == ""
    assert why(tree, folder, location="src/a7.py") == "there is no file src/a7.py"


def test_nothing_outside_of_the_project_is_looked_at(tree: Tree, tmp_path: Path) -> None:
    folder = tree.change()
    (tmp_path / "outside.py").write_text("one\n")
    (tree.root / "link.py").symlink_to(tmp_path / "outside.py")
    (tree.root / "linked").symlink_to(tmp_path)
    for location in (
        "../outside.py:9",
        "link.py:9",
        "linked/outside.py:9",
        "/etc/hosts.conf:9",
        f"{tmp_path}/outside.py:9",
    ):
        assert why(tree, folder, location=location) == "", location


def test_in_a_worktree_its_files_count_too(tree: Tree, tmp_path: Path) -> None:
    folder = tree.change()
    (tmp_path / "repo-agentd" / "src").mkdir(parents=True)
    (tmp_path / "repo-agentd" / "src" / "new.py").write_text("one\n")
    assert why(tree, folder, location="src/new.py:1") == "there is no file src/new.py"
    (folder / "STATE.yaml").write_text(state("add-oauth", more="git: {worktree: ../repo-agentd}\n"))
    assert why(tree, folder, location="src/new.py:1") == ""
    assert why(tree, folder, location="src/new.py:2") == "src/new.py has 1 line, not 2"
    (folder / "STATE.yaml").write_text("][")
    assert why(tree, folder, location="src/new.py:1") == "there is no file src/new.py"


def test_what_a_reviewer_says_of_its_own_grounds_does_not_count(tree: Tree) -> None:
    assert why(tree, tree.change(), spec_reference="auth:R1", ungrounded="I made it up") == ""
    assert ground(tree.project, tree.root, ()) == ()


# ---------------------------------------------------------------------------------------------------------- keeping one


def keep(
    tree: Tree,
    folder: Path,
    content: str = REVIEW,
    verdict: PlanVerdict = "NEEDS_REVISION",
    call: str = "challenge-1.1",
) -> None:
    keep_review(tree.project, folder, "add-oauth", Review(status_of(verdict), 1, "codex", content, call=call))


def test_a_review_given_in_words_becomes_a_block_and_a_report(tree: Tree) -> None:
    folder = tree.change(phase="proposed")
    before = (folder / "proposal.md").read_text()
    keep(tree, folder)
    text, report = (folder / "proposal.md").read_text(), (folder / "CHALLENGE.md").read_text()
    assert text.startswith(before)
    (block,) = proposal.reviews(text)
    assert (block.status, block.iteration, block.reviewer, block.call) == (
        "needs_revision",
        1,
        "codex",
        "challenge-1.1",
    )
    made = valid(challenge_page, report)
    assert (made.change_id, made.verdict, made.summary) == ("add-oauth", "NEEDS_REVISION", "Not yet.")
    assert [one.ungrounded for one in made.issues] == [
        "there is no requirement auth:R9; there is no file src/x.py",
        "",
    ]
    assert report.count("- **Ungrounded**: ") == 1
    assert validate_change(tree.project, "add-oauth").findings == ()


def test_a_report_written_by_hand_becomes_a_block(tree: Tree) -> None:
    folder = tree.change(phase="proposed")
    (folder / "CHALLENGE.md").write_text(APPROVAL)
    keep(tree, folder, APPROVAL, "APPROVED")
    assert proposal.verdict((folder / "proposal.md").read_text()) == ("approved", ())
    assert valid(challenge_page, (folder / "CHALLENGE.md").read_text()).verdict == "APPROVED"
    assert validate_change(tree.project, "add-oauth").findings == ()


def test_a_review_kept_again_is_there_once(tree: Tree) -> None:
    folder = tree.change()
    keep(tree, folder, call="challenge-2.1")
    once = (folder / "proposal.md").read_text()
    keep(tree, folder, call="challenge-2.1")
    assert (folder / "proposal.md").read_text() == once
    keep(tree, folder, APPROVAL, "APPROVED", call="challenge-2.2")
    (block,) = proposal.reviews((folder / "proposal.md").read_text())
    assert (block.status, block.call) == ("approved", "challenge-2.2")


def test_letters_that_no_document_can_hold_are_replaced(tree: Tree) -> None:
    folder = tree.change()
    keep(tree, folder, REVIEW.replace("Not yet.", "Not \x1b[1myet\udc80\x00."))
    (block,) = proposal.reviews((folder / "proposal.md").read_text(encoding="utf-8"))
    assert "Not \ufffd[1myet\ufffd\ufffd." in block.content


@pytest.mark.parametrize(
    ("content", "verdict"),
    [
        (REVIEW, "APPROVED"),
        (REVIEW.replace("NEEDS_REVISION", "APPROVED"), "APPROVED"),
        (REVIEW, "REJECTED"),
        (APPROVAL, "NEEDS_REVISION"),
    ],
)
def test_a_review_that_contradicts_its_verdict_is_not_kept(tree: Tree, content: str, verdict: PlanVerdict) -> None:
    folder = tree.change()
    before = {path: path.read_bytes() for path in folder.rglob("*.*") if path.is_file()}
    with pytest.raises(Refused, match="Nothing was written"):
        keep(tree, folder, content, verdict)
    assert {path: path.read_bytes() for path in folder.rglob("*.*") if path.is_file()} == before


@pytest.mark.parametrize(("text", "error"), [(None, NotFound), ('<review status="x">\n', Corrupt)])
def test_a_proposal_that_cannot_take_a_review_is_left_alone(
    tree: Tree, text: str | None, error: type[AgentdError]
) -> None:
    folder = tree.change()
    path = folder / "proposal.md"
    if text is None:
        path.unlink()
    else:
        path.write_text(path.read_text() + text)
    with pytest.raises(error):
        keep(tree, folder)
    assert not (folder / "CHALLENGE.md").exists()


# ----------------------------------------------------------------------------------------------------------- agreement


def test_a_report_that_says_another_verdict_than_the_latest_review_is_found(tree: Tree) -> None:
    folder = tree.change(phase="proposed")
    keep(tree, folder)
    line = spoil(folder / "CHALLENGE.md", "**Verdict**: NEEDS_REVISION", "**Verdict**: REJECTED")
    tag = (
        (folder / "proposal.md")
        .read_text()
        .split("\n")
        .index('<review status="needs_revision" iteration="1" reviewer="codex" call="challenge-1.1">')
    )
    (found,) = validate_change(tree.project, "add-oauth").findings
    assert (found.rule, found.severity, found.line) == ("invalid_review", "High", line)
    assert found.file == "agentd/changes/add-oauth/CHALLENGE.md"
    assert f"CHALLENGE.md line {line} says REJECTED" in found.message
    assert f"proposal.md line {tag + 1}, says NEEDS_REVISION" in found.message


def test_only_the_latest_review_and_a_stated_verdict_count(tree: Tree) -> None:
    folder = tree.change(phase="proposed")
    keep(tree, folder)
    keep(tree, folder, APPROVAL, "APPROVED", call="challenge-2.1")
    assert validate_change(tree.project, "add-oauth").findings == ()
    (folder / "CHALLENGE.md").write_text(challenge_page.skeleton("add-oauth"))
    assert validate_change(tree.project, "add-oauth").findings == ()
    (folder / "CHALLENGE.md").unlink()
    assert validate_change(tree.project, "add-oauth").findings == ()
    (folder / "CHALLENGE.md").write_text("# Challenge Report: add-oauth\n\n**Verdict**: perhaps\n")
    assert rules(validate_change(tree.project, "add-oauth").findings) == [("CHALLENGE.md", "invalid_review")]


def test_a_resolved_review_and_a_proposal_without_one_disagree_with_nothing(tree: Tree) -> None:
    folder = tree.change(phase="proposed")
    (folder / "CHALLENGE.md").write_text(APPROVAL)
    assert validate_change(tree.project, "add-oauth").findings == ()
    block = '\n<review status="resolved" iteration="1" reviewer="me">\n\nDone.\n\n</review>\n'
    (folder / "proposal.md").write_text(proposal.render(a_proposal("add-oauth", "auth")) + block)
    assert validate_change(tree.project, "add-oauth").findings == ()
