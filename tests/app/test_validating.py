"""Validation of whole changes and of the library, on real files: what is wrong is found, and nothing where nothing is."""

import os
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentd.errors import ChangeNotFound, Held
from agentd.families.change.documents import proposal, tasks
from agentd.families.change.specs import removed_in
from agentd.families.change.validation import MANY, validate_all, validate_change, validate_library
from agentd.library import snapshot as base
from agentd.library import spec
from agentd.state import lock
from tests.app.tree import Tree, a_proposal, a_spec, rules, some_tasks, spoil, state
from tests.documents.hand_edits import Edit, hand_edits, slips


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path / "repo")


def snapshot(root: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(root.rglob("*")) if path.is_file()}


def test_a_valid_change_has_no_findings_and_nothing_is_written(tree: Tree) -> None:
    tree.change()
    tree.library(a_spec("users"))
    before = snapshot(tree.root)
    for found in (validate_change(tree.project, "add-oauth"), validate_all(tree.project)):
        assert found.findings == ()
        assert (found.valid, found.strict) == (True, True)
        assert found.counts == {"high": 0, "medium": 0, "low": 0}
    assert validate_library(tree.project).files == ("agentd/specs/users.md",)
    assert snapshot(tree.root) == before


@pytest.mark.parametrize("name", ["nobody", "../repo", "a/b", "", "x" * 300, "change/nobody", "ADD", ".."])
def test_an_unknown_change_is_not_found_and_nothing_is_made(tree: Tree, name: str) -> None:
    tree.change()
    before = snapshot(tree.root)
    with pytest.raises(ChangeNotFound):
        validate_change(tree.project, name, fix=True)
    assert snapshot(tree.root) == before
    assert not (tree.root / "agentd" / "changes" / "nobody").exists()


@pytest.mark.requirement(107)
def test_the_rules_come_from_the_configuration(tree: Tree) -> None:
    folder = tree.change()
    tree.config('[validation]\nrequired_headings = ["Overview", "Risks"]\nscenario_min_count = 2\n')
    found = validate_change(tree.project, "add-oauth")
    assert sorted(rules(found.findings)) == [("auth.md", "missing_heading"), ("auth.md", "missing_scenario")]
    spoil(folder / "specs" / "auth.md", "## Acceptance Criteria", "## Risks\nNone.\n\n## Acceptance Criteria")
    tree.config('[validation]\nrequired_headings = ["Overview", "Risks"]\n')
    assert validate_change(tree.project, "add-oauth").strict
    tree.config("[validation]\nscenario_pattern = 'IF\\s.*SO\\s'\n")
    assert ("auth.md", "missing_scenario") in rules(validate_change(tree.project, "add-oauth").findings)


def test_a_severity_that_a_person_chose_decides(tree: Tree) -> None:
    folder = tree.change()
    (folder / "tasks.md").write_text(tasks.render(some_tasks("add-oauth", "auth:R1")))
    assert validate_change(tree.project, "add-oauth").valid
    tree.config('[validation.severity_map]\nuncovered_requirement = "High"\n')
    found = validate_change(tree.project, "add-oauth")
    assert (found.valid, found.counts["high"]) == (False, 1)


@pytest.mark.requirement(108)
@pytest.mark.parametrize("name", ["proposal.md", "tasks.md", "specs/auth.md"])
def test_front_matter_that_is_missing_or_broken_is_found(tree: Tree, name: str) -> None:
    path = tree.change() / name
    text = path.read_text()
    path.write_text(text.split("---\n", 2)[2])
    assert (path.name, "missing_frontmatter") in rules(validate_change(tree.project, "add-oauth").findings)
    path.write_text(text.replace("---\n", "---\nodd: [1\n", 1))
    found = validate_change(tree.project, "add-oauth")
    assert (path.name, "invalid_frontmatter") in rules(found.findings)
    assert not found.valid


@pytest.mark.requirement(109)
@pytest.mark.parametrize(
    ("name", "heading"),
    [
        ("proposal.md", "Why"),
        ("proposal.md", "Impact"),
        ("specs/auth.md", "Overview"),
        ("specs/auth.md", "Requirements"),
    ],
)
def test_a_missing_heading_is_found(tree: Tree, name: str, heading: str) -> None:
    path = tree.change() / name
    spoil(path, f"## {heading}\n", "Something else\n")
    assert (path.name, "missing_heading") in rules(validate_change(tree.project, "add-oauth").findings)


@pytest.mark.requirement(110)
def test_requirement_ids_are_an_r_and_a_number_and_stand_once(tree: Tree) -> None:
    path = tree.change() / "specs" / "auth.md"
    text = path.read_text()
    line = spoil(path, "### R2 - Title R2", "### Req2 - Title R2")
    found = validate_change(tree.project, "add-oauth").findings
    assert ("invalid_requirement_format", line) in [(finding.rule, finding.line) for finding in found]
    path.write_text(text)
    line = spoil(path, "### R2 - Title R2", "### R1 - Title R2")
    found = validate_change(tree.project, "add-oauth").findings
    assert ("duplicate_requirement", line) in [(finding.rule, finding.line) for finding in found]


@pytest.mark.requirement(111)
def test_a_scenario_without_when_or_then_and_too_few_of_them_are_found(tree: Tree) -> None:
    path = tree.change() / "specs" / "auth.md"
    text = path.read_text()
    for word in ("WHEN", "THEN"):
        path.write_text("\n".join(line for line in text.split("\n") if f"**{word}**" not in line))
        assert ("auth.md", "missing_when_then") in rules(validate_change(tree.project, "add-oauth").findings)
    path.write_text(text[: text.index("### Scenario")])
    assert ("auth.md", "missing_scenario") in rules(validate_change(tree.project, "add-oauth").findings)


@pytest.mark.requirement(112)
def test_broken_references_are_found_with_their_lines(tree: Tree) -> None:
    folder = tree.change()
    good = "[spec](specs/auth.md) [R1](specs/auth.md#R1) [o](specs/auth.md#overview) [me](#summary) [up](../../config.toml)"
    tree.config("")
    spoil(folder / "proposal.md", "One thing", f"One thing, see {good}")
    assert [
        entry for entry in rules(validate_change(tree.project, "add-oauth").findings) if entry[1] == "broken_reference"
    ] == []
    line = spoil(
        folder / "proposal.md", "A reason for it", "A reason [a](specs/gone.md) and [b](specs/auth.md#R9) for it"
    )
    found = [f for f in validate_change(tree.project, "add-oauth").findings if f.rule == "broken_reference"]
    assert [(f.line, f.severity) for f in found] == [(line, "Medium"), (line, "Medium")]
    assert "specs/gone.md" in found[0].message + found[1].message


@pytest.mark.requirement(113)
def test_every_spec_gets_the_same_checks(tree: Tree) -> None:
    folder = tree.change()
    text = spec.render(a_spec("login")).replace("### R2", "### Two")
    names = ("specs/login.md", "specs/deep/er.md", "specs/_draft.md")
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        (folder / name).write_text(text)
    tree.library(a_spec("users"))
    (tree.root / "agentd" / "specs" / "users.md").write_text(text)
    found = [f.file for f in validate_all(tree.project).findings if f.rule == "invalid_requirement_format"]
    home = "agentd/changes/add-oauth"
    assert found == [f"{home}/specs/deep/er.md", f"{home}/specs/login.md", "agentd/specs/users.md"]


@pytest.mark.requirement(114)
def test_task_blocks_that_do_not_parse_are_found(tree: Tree) -> None:
    folder = tree.change()
    line = spoil(folder / "tasks.md", "spec_ref: auth:R2", "spec_ref: [auth")
    found = validate_change(tree.project, "add-oauth").findings
    assert [f.file for f in found if f.rule == "invalid_task" and abs(f.line - line) < 12]


@pytest.mark.requirement(115)
def test_a_spec_ref_that_leads_nowhere_is_found_and_the_library_counts(tree: Tree) -> None:
    folder = tree.change()
    tree.library(a_spec("users"))
    refs = ("auth:R1", "auth:R2", "users:R1", "users:R9", "gone:R1", "auth:R9")
    (folder / "tasks.md").write_text(tasks.render(some_tasks("add-oauth", *refs)))
    found = validate_change(tree.project, "add-oauth")
    assert rules(found.findings) == [
        ("tasks.md", "unknown_requirement"),
        ("tasks.md", "unknown_spec"),
        ("tasks.md", "unknown_requirement"),
    ]
    assert not found.valid


@pytest.mark.requirement(116)
@pytest.mark.parametrize("path", ["/etc/passwd", "C:\\\\a.py"])
def test_absolute_paths_in_tasks_are_found(tree: Tree, path: str) -> None:
    folder = tree.change()
    spoil(folder / "tasks.md", "src/a1.py", f'"{path}"')
    assert ("tasks.md", "absolute_path") in rules(validate_change(tree.project, "add-oauth").findings)


@pytest.mark.requirement(117, 118)
def test_cycles_and_unknown_tasks_are_found(tree: Tree) -> None:
    from dataclasses import replace

    folder = tree.change()
    work = some_tasks("add-oauth", "auth:R1", "auth:R2")
    first, second = work.tasks
    first = replace(first, layer="data")
    circle = replace(
        work, tasks=(replace(first, depends=("logic.2",)), replace(second, depends=("data.1", "testing.9")))
    )
    (folder / "tasks.md").write_text(tasks.render(circle))
    found = validate_change(tree.project, "add-oauth").findings
    told = {f.rule: f.message for f in found}
    assert told["circular_dependency"] == "Circular dependency detected: data.1 → logic.2 → data.1"
    assert "testing.9" in told["unknown_task"]


@pytest.mark.requirement(119)
def test_the_summary_counts_by_severity_and_lists_the_errors(tree: Tree) -> None:
    folder = tree.change()
    (folder / "specs" / "extra.md").write_text(spec.render(a_spec("extra")))
    (folder / "tasks.md").write_text(tasks.render(some_tasks("add-oauth", "auth:R1", "auth:R2", "gone:R1")))
    data = validate_change(tree.project, "add-oauth").to_data()
    assert (data["high_count"], data["medium_count"], data["low_count"]) == (1, 2, 1)
    assert data["counts"] == {"high": 1, "medium": 2, "low": 1}
    assert [error.partition(":")[0] for error in data["errors"]] == ["agentd/changes/add-oauth/tasks.md"]
    assert {"rule", "message", "line", "severity", "fix", "file"} == set(data["findings"][0])


def test_findings_come_by_file_and_line(tree: Tree) -> None:
    folder = tree.change()
    (folder / "tasks.md").write_text(tasks.render(some_tasks("add-oauth", "x:R1", "y:R1", "z:R1")))
    (folder / "proposal.md").write_text("nothing\n")
    found = [(f.file, f.line) for f in validate_change(tree.project, "add-oauth").findings]
    assert found == sorted(found)
    assert len({file for file, _ in found}) == 3


def test_an_affected_spec_without_a_file_is_found_on_its_line(tree: Tree) -> None:
    folder = tree.change()
    (folder / "proposal.md").write_text(proposal.render(a_proposal("add-oauth", "auth", "login-flow")))
    (found,) = validate_change(tree.project, "add-oauth").findings
    lines = (folder / "proposal.md").read_text().split("\n")
    assert found.rule == "missing_spec"
    assert "affected specs" in lines[found.line - 1].lower() or "login-flow" in lines[found.line - 1]


@pytest.mark.parametrize("refs", [("none",), ("login:R1", "login:R2"), ("specs/login.md#R2",)])
def test_a_change_may_remove_specs_and_have_none_of_its_own(tree: Tree, refs: tuple[str, ...]) -> None:
    tree.library(a_spec("login"))
    tree.removal("drop-login", "login", refs=refs)
    assert validate_change(tree.project, "drop-login").findings == validate_all(tree.project).findings == ()


def test_a_change_may_remove_one_spec_and_write_another(tree: Tree) -> None:
    folder = tree.change()
    tree.library(a_spec("login"))
    (folder / "proposal.md").write_text(proposal.render(a_proposal("add-oauth", "auth", removed=("login",))))
    (folder / "tasks.md").write_text(tasks.render(some_tasks("add-oauth", "auth:R1", "auth:R2", "login:R1")))
    assert validate_change(tree.project, "add-oauth").findings == ()
    (folder / "tasks.md").write_text(tasks.render(some_tasks("add-oauth", "auth:R1", "auth:R2", "login:R9")))
    assert rules(validate_change(tree.project, "add-oauth").findings) == [("tasks.md", "unknown_requirement")]


def test_a_spec_to_be_removed_that_the_library_has_not_is_found_on_its_line(tree: Tree) -> None:
    folder = tree.removal("drop-login", "login")
    (found,) = validate_change(tree.project, "drop-login").findings
    assert (found.rule, found.severity) == ("broken_reference", "Medium")
    assert "`login` (removed)" in (folder / "proposal.md").read_text().split("\n")[found.line - 1]


def test_a_broken_spec_of_the_library_can_be_removed(tree: Tree) -> None:
    (tree.library() / "login.md").write_bytes(b"\xff")
    tree.removal("drop-login", "login")
    assert validate_change(tree.project, "drop-login").findings == ()


def test_a_spec_is_not_removed_and_written_at_the_same_time(tree: Tree) -> None:
    tree.library(a_spec("login", "R1"))
    folder = tree.removal("drop-login", "login", refs=("login:R1",))
    (folder / "specs").mkdir()
    (folder / "specs" / "login.md").write_text(spec.render(a_spec("login", "R1", "R2")))
    found = validate_change(tree.project, "drop-login")
    assert rules(found.findings) == [("proposal.md", "invalid_value")]
    assert "removed and written at the same time" in found.findings[0].message
    assert not found.valid


def test_what_an_archived_change_removed_is_not_missed(tree: Tree) -> None:
    library = tree.library(a_spec("login"))
    folder = tree.removal("drop-login", "login", refs=("login:R1", "login:R2"))
    base.begin(folder, tree.root)
    base.prune(folder, lambda: removed_in(folder))
    (library / "login.md").unlink()
    (folder / "STATE.yaml").write_text(state("drop-login", "archived"))
    (tree.root / "agentd" / "archive").mkdir()
    folder.rename(tree.root / "agentd" / "archive" / "drop-login")
    assert validate_change(tree.project, "drop-login").findings == ()


def test_fixing_the_form_keeps_what_is_removed(tree: Tree) -> None:
    tree.library(a_spec("login"))
    path = tree.removal("drop-login", "login") / "proposal.md"
    spoil(path, "    removed: true\n", "")
    assert ("proposal.md", "different_affected_specs") in rules(validate_change(tree.project, "drop-login").findings)
    assert validate_change(tree.project, "drop-login", fix=True).findings == ()
    assert "    removed: true\n" in path.read_text()
    assert "`login` (removed)" in path.read_text()


@pytest.mark.parametrize("broken", ["proposal.md", "tasks.md", "specs/auth.md", "STATE.yaml", "CHALLENGE.md"])
def test_a_broken_file_hides_none_of_the_others(tree: Tree, broken: str) -> None:
    folder = tree.change()
    names = ("proposal.md", "tasks.md", "specs/auth.md", "STATE.yaml", "CHALLENGE.md")
    for name in names:
        (folder / name).write_bytes(b"one\n\xff\n")
    whole = tree.change("fine", "other")
    (folder / broken).write_bytes(b"---\nid: [1\n---\n<proposal>\n")
    found = validate_all(tree.project)
    assert {Path(f.file).name for f in found.findings} == {Path(name).name for name in names}
    assert f"agentd/changes/{whole.name}/proposal.md" in found.files


def test_files_that_are_no_text_are_findings_with_their_line(tree: Tree) -> None:
    folder = tree.change()
    (folder / "proposal.md").write_bytes(b"---\nid: x\n---\n\xff")
    with (folder / "specs" / "auth.md").open("r+b") as file:
        file.truncate(200 * 1024 * 1024)
    (folder / "tasks.md").unlink()
    os.mkfifo(folder / "tasks.md")
    begun = time.monotonic()
    found = [(Path(f.file).name, f.rule, f.line) for f in validate_change(tree.project, "add-oauth").findings]
    assert time.monotonic() - begun < 5
    assert found == [
        ("proposal.md", "unreadable_file", 4),
        ("auth.md", "unreadable_file", 1),
        ("tasks.md", "unreadable_file", 1),
    ]


def test_links_out_of_the_change_are_not_followed(tree: Tree, tmp_path: Path) -> None:
    folder = tree.change()
    away = tmp_path / "away"
    away.mkdir()
    secret = away / "secret.md"
    secret.write_text("---\nid: [the secret\n---\n")
    (folder / "proposal.md").unlink()
    (folder / "proposal.md").symlink_to(secret)
    (folder / "specs" / "more").symlink_to(away)
    found = validate_change(tree.project, "add-oauth", fix=True)
    assert rules(found.findings) == [("proposal.md", "unreadable_file"), ("more", "unreadable_file")]
    assert "secret" not in " ".join(f.message for f in found.findings)
    assert secret.read_text() == "---\nid: [the secret\n---\n"


def test_two_changes_that_claim_one_requirement_are_warned(tree: Tree) -> None:
    tree.change("one")
    tree.change("two")
    tree.change("three", "other")
    found = validate_change(tree.project, "one")
    assert rules(found.findings) == [("auth.md", "claimed_twice"), ("auth.md", "claimed_twice")]
    assert found.valid
    assert not found.strict
    assert "two" in found.findings[0].message
    everywhere = validate_all(tree.project).findings
    assert [(f.file.split("/")[2], f.rule) for f in everywhere] == [("one", "claimed_twice")] * 2 + [
        ("two", "claimed_twice")
    ] * 2
    assert everywhere[:2] == found.findings


def test_a_change_of_what_another_one_removes_is_warned_and_so_is_that_one(tree: Tree) -> None:
    tree.library(a_spec("auth"))
    folder = tree.change("grow", "auth", "R1", "R2", "R3")
    (folder / "tasks.md").write_text(tasks.render(some_tasks("grow", "auth:R3")))
    tree.removal("drop", "auth", refs=("auth:R1",))
    everywhere = validate_all(tree.project).findings
    assert [(f.file.split("/", 2)[2], f.rule) for f in everywhere] == [
        ("drop/proposal.md", "claimed_twice"),
        ("grow/specs/auth.md", "claimed_twice"),
    ]
    assert validate_change(tree.project, "drop").findings == everywhere[:1]
    assert validate_change(tree.project, "grow").findings == everywhere[1:]


@pytest.mark.parametrize("phase", ["rejected", "archived"])
def test_a_change_that_is_over_claims_nothing(tree: Tree, phase: str) -> None:
    tree.change("one")
    tree.change("two", phase=phase)
    assert validate_change(tree.project, "one").strict
    assert validate_all(tree.project).strict


def test_specs_that_two_changes_only_repeat_are_no_claims(tree: Tree) -> None:
    """Both carry the whole spec of the library; each adds a requirement of its own."""
    tree.library(a_spec("auth", "R1", "R2"))
    for name, own in (("one", "R3"), ("two", "R4")):
        folder = tree.change(name, "auth", "R1", "R2", own)
        (folder / "tasks.md").write_text(tasks.render(some_tasks(name, f"auth:{own}")))
    assert validate_all(tree.project).findings == ()
    assert validate_change(tree.project, "one").findings == ()


def test_a_planned_change_must_have_its_documents_and_an_unplanned_one_need_not(tree: Tree) -> None:
    folder = tree.change()
    for name in ("proposal.md", "tasks.md", "specs/auth.md"):
        (folder / name).unlink()
    found = validate_change(tree.project, "add-oauth")
    assert [f.rule for f in found.findings] == ["missing_document"] * 3
    (folder / "STATE.yaml").write_text(state("add-oauth", "proposed"))
    assert validate_change(tree.project, "add-oauth").findings == ()


def test_documents_without_a_state_are_checked_all_the_same(tree: Tree) -> None:
    folder = tree.change()
    (folder / "STATE.yaml").unlink()
    assert validate_change(tree.project, "add-oauth").strict
    assert not (folder / "STATE.yaml").exists()


def test_an_archived_change_can_be_checked_by_name(tree: Tree) -> None:
    folder = tree.change()
    (tree.root / "agentd" / "archive").mkdir()
    folder.rename(tree.root / "agentd" / "archive" / "add-oauth")
    assert validate_change(tree.project, "add-oauth").files[0] == "agentd/archive/add-oauth/proposal.md"
    assert validate_all(tree.project).files == ()


def test_a_file_is_stale_when_it_is_not_what_was_recorded(tree: Tree) -> None:
    from hashlib import sha256

    folder = tree.change()
    known = {name: sha256((folder / name).read_bytes()).hexdigest() for name in ("proposal.md", "specs/auth.md")}
    lines = "".join(f'  {name}:\n    hash: "sha256:{value}"\n    validated_at: x\n' for name, value in known.items())
    (folder / "STATE.yaml").write_text(state("add-oauth", more=f"checksums:\n{lines}"))
    (folder / "clarifications.md").write_text("anything")
    home = "agentd/changes/add-oauth"
    assert validate_change(tree.project, "add-oauth").stale_files == (f"{home}/tasks.md",)
    spoil(folder / "proposal.md", "A summary", "Another summary")
    assert validate_change(tree.project, "add-oauth").stale_files == (f"{home}/proposal.md", f"{home}/tasks.md")


def test_fix_puts_right_what_it_can_and_says_which_files(tree: Tree) -> None:
    folder = tree.change()
    path = folder / "specs" / "auth.md"
    text = path.read_text()
    path.write_text(text.replace("## Overview\n", "## Overview   \n"))
    spoil(folder / "proposal.md", "A reason for it", "Another reason for it")
    assert validate_change(tree.project, "add-oauth").fixed == ()
    found = validate_change(tree.project, "add-oauth", fix=True)
    assert set(found.fixed) == {f"agentd/changes/add-oauth/{name}" for name in ("proposal.md", "specs/auth.md")}
    assert found.strict
    assert "Another reason for it" in (folder / "proposal.md").read_text()
    assert validate_change(tree.project, "add-oauth", fix=True).fixed == ()


def test_fix_fills_in_a_missing_scenario_that_validate_alone_only_reports(tree: Tree) -> None:
    path = tree.change() / "specs" / "auth.md"
    text = path.read_text()
    path.write_text(text[: text.index("### Scenario")] + "</spec>\n")
    assert ("auth.md", "missing_scenario") in rules(validate_change(tree.project, "add-oauth").findings)
    found = validate_change(tree.project, "add-oauth", fix=True)
    assert "agentd/changes/add-oauth/specs/auth.md" in found.fixed
    assert ("auth.md", "missing_scenario") not in rules(found.findings)


def test_fix_waits_for_nobody_and_changes_nothing_while_somebody_works(tree: Tree) -> None:
    folder = tree.change()
    other = tree.change("other", "users")
    for change in (folder, other):
        spoil(change / "proposal.md", "A reason for it", "Another reason for it")
    before = (folder / "proposal.md").read_bytes()
    with lock.acquire(folder, "impl"):
        with pytest.raises(Held):
            validate_change(tree.project, "add-oauth", fix=True)
        found = validate_all(tree.project, fix=True)
        assert validate_change(tree.project, "add-oauth").target == "add-oauth"
    assert (folder / "proposal.md").read_bytes() == before
    assert found.fixed == ("agentd/changes/other/proposal.md",)
    assert "add-oauth is held by" in found.held[0]


def test_several_processes_find_what_one_finds(tree: Tree) -> None:
    for number in range(120):
        folder = tree.change(f"c-{number:03}", f"s-{number % 100:03}")
        if number % 7 == 0:
            (folder / "tasks.md").write_text(tasks.render(some_tasks(folder.name, "gone:R1")))
    tree.library(*(a_spec(f"l-{number:03}") for number in range(120)))
    (tree.root / "agentd" / "specs" / "l-007.md").write_bytes(b"\xff")
    found = validate_all(tree.project)
    assert len(found.files) == 480
    assert {f.rule for f in found.findings} >= {"unknown_spec", "claimed_twice", "unreadable_file"}
    assert repr(validate_all(tree.project, processes=3)) == repr(found)


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Tree:
    """As many documents as several processes are used for."""
    tree = Tree(tmp_path_factory.mktemp("large") / "repo")
    for number in range(20):
        tree.change(f"c-{number:03}", f"s-{number % 15:03}")
    tree.library(*(a_spec(f"l-{number:03}") for number in range(MANY)))
    return tree


@settings(max_examples=15)  # each checks hundreds of documents twice
@given(st.lists(st.tuples(st.integers(0, 10_000), slips() | hand_edits()), max_size=20))
def test_several_processes_find_in_broken_documents_what_one_finds(large: Tree, broken: list[tuple[int, Edit]]) -> None:
    every = sorted(path for path in large.root.rglob("*") if path.is_file())
    texts = {path: path.read_text(encoding="utf-8") for path in (every[number % len(every)] for number, _ in broken)}
    try:
        for number, edit in broken:
            path = every[number % len(every)]
            path.write_bytes(edit(path.read_text(encoding="utf-8", errors="replace")).encode(errors="replace"))
        assert repr(validate_all(large.project, processes=2)) == repr(validate_all(large.project))
    finally:
        for path, text in texts.items():
            path.write_text(text, encoding="utf-8")
