"""What archiving a change does to the library and to the change, and what it refuses."""

import hashlib
import json
import shutil
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from agentd.app import LAYOUTS, open_project
from agentd.families.change.archive.spec_merge import losses
from agentd.runs import gitignore
from agentd.runs.work import work_on
from agentd.text import frontmatter
from tests.archive.library import ONE, Library, a_spec


def today() -> str:
    return datetime.now(UTC).date().isoformat()


@pytest.mark.requirement(74, 76, 77, 78, 79)
def test_a_complete_change_is_archived_its_specs_dated_and_its_folder_moved(library: Library) -> None:
    folder = library.complete("add-sum", {"sum": a_spec("sum")})
    ran = library.run("archive", "add-sum")
    assert ran.code == 0, ran.err
    assert not folder.exists()
    assert library.state("add-sum")["phase"] == "archived"
    assert (library.archived("add-sum") / "STATE.yaml").is_file()
    found = library.get("sum")
    assert frontmatter.read(found).data["archived_at"] == today()
    undated = found.replace(f"archived_at: {today()}\n", "").replace(f"archived_at: '{today()}'\n", "")
    assert undated == a_spec("sum").replace("status: draft", "status: implemented") != a_spec("sum")
    assert library.get("report") == ONE
    assert "agentd/specs/sum.md: new, with R1" in ran.out


@pytest.mark.requirement(75)
@pytest.mark.parametrize("phase", ["proposed", "challenged", "rejected", "implementing", "archived"])
def test_a_change_in_any_other_phase_is_refused_and_nothing_is_moved(library: Library, phase: str) -> None:
    library.complete("add-sum", {"sum": a_spec("sum")}, phase=phase)
    before = library.tree()
    ran = library.run("archive", "add-sum", "--json")
    assert (ran.code, ran.data["error"]) == (1, "ChangeNotComplete")
    assert library.tree() == before


def test_what_the_library_changed_meanwhile_is_kept_beside_what_the_change_brings(library: Library) -> None:
    library.complete("a", {"report": ONE.replace("It prints a report.", "It prints a long report.")})
    library.complete("b", {"report": ONE.replace("It counts words.", "It counts all words.")})
    assert library.run("archive", "a").code == 0
    ran = library.run("archive", "b")
    assert ran.code == 0, ran.err
    assert "It prints a long report." in library.get("report")
    assert "It counts all words." in library.get("report")
    assert "agentd/specs/report.md: changed R2" in ran.out


def test_the_lost_update_of_two_changes_on_one_requirement_is_a_conflict_that_shows_both_texts(
    library: Library,
) -> None:
    library.complete("a", {"report": ONE.replace("It prints a report.", "It prints a long report.")})
    library.complete("b", {"report": ONE.replace("It prints a report.", "It prints a short report.")})
    assert library.run("archive", "a").code == 0
    before = library.tree()
    ran = library.run("archive", "b")
    assert ran.code == 1
    assert "-It prints a long report." in ran.err
    assert "+It prints a short report." in ran.err
    assert "last changed by a" in ran.err
    assert "agentd archive b --edit" in ran.err
    told = library.run("archive", "b", "--json").data
    assert told["error"] == "MergeConflict"
    assert [(one["spec"], one["part"]) for one in told["conflicts"]] == [("report.md", "R1")]
    assert "It prints a long report." in told["conflicts"][0]["theirs"]
    assert "It prints a short report." in told["conflicts"][0]["ours"]
    assert library.tree() == before


@pytest.mark.parametrize(("side", "word"), [("ours", "short"), ("theirs", "long")])
def test_a_person_may_have_either_side_and_it_is_kept_which(library: Library, side: str, word: str) -> None:
    brought = ONE.replace("It prints a report.", "It prints a short report.").replace("It counts words.", "It sums.")
    library.complete("a", {"report": ONE.replace("It prints a report.", "It prints a long report.")})
    library.complete("b", {"report": brought})
    assert library.run("archive", "a").code == 0
    assert library.run("archive", "b", f"--{side}").code == 0
    assert f"It prints a {word} report." in library.get("report")
    assert "It sums." in library.get("report")
    assert library.record("b")["specs"]["report.md"]["settled"] == side  # type: ignore[index]


def test_conflicts_can_be_settled_in_a_marked_copy_and_the_approved_spec_stays_as_it_was(library: Library) -> None:
    mine = ONE.replace("It prints a report.", "It prints a short report.")
    library.complete("a", {"report": ONE.replace("It prints a report.", "It prints a long report.")})
    folder = library.complete("b", {"report": mine})
    assert library.run("archive", "a").code == 0
    ran = library.run("archive", "b", "--edit")
    assert ran.code == 1
    draft = folder / "conflicts" / "report.md"
    assert str(draft.relative_to(library.root)) in ran.err
    text = draft.read_text()
    assert "It prints a long report." in text
    assert "It prints a short report." in text
    assert library.run("archive", "b").code == 1
    draft.write_text(
        text.split("<<<<<<< theirs")[0] + "### R1 - Title of R1\n\nIt prints.\n" + text.split(">>>>>>> ours\n")[1]
    )
    ran = library.run("archive", "b")
    assert ran.code == 0, ran.err
    assert "It prints.\n" in library.get("report")
    assert "<<<<<<<" not in library.get("report")
    assert (library.archived("b") / "specs" / "report.md").read_text() == mine
    assert library.record("b")["specs"]["report.md"]["settled"] == "edit"  # type: ignore[index]


def test_a_dry_run_tells_and_touches_nothing(library: Library) -> None:
    library.complete(
        "a", {"report": ONE.replace("It prints a report.", "It prints a long report."), "sum": a_spec("sum")}
    )
    before = library.tree()
    ran = library.run("archive", "a", "--dry-run")
    assert ran.code == 0
    assert "agentd/specs/report.md: changed R1" in ran.out
    assert "agentd/specs/sum.md: new, with R1" in ran.out
    assert library.tree() == before
    library.put("report", ONE.replace("It prints a report.", "It prints a table."))
    ran = library.run("archive", "a", "--dry-run", "--json")
    assert (ran.code, len(ran.data["conflicts"])) == (1, 1)


def test_a_change_that_removes_a_spec_says_so_and_the_spec_goes(library: Library) -> None:
    library.put("old", a_spec("old"))
    library.complete("tidy", {}, removed=["old"])
    ran = library.run("archive", "tidy")
    assert ran.code == 0, ran.err
    assert "agentd/specs/old.md: removed from the library" in ran.out
    assert not (library.specs / "old.md").exists()


def test_a_spec_that_somebody_changed_is_not_removed_without_a_word(library: Library) -> None:
    library.put("old", a_spec("old"))
    library.complete("tidy", {}, removed=["old"])
    library.put("old", a_spec("old", R1="It is needed after all."))
    ran = library.run("archive", "tidy")
    assert ran.code == 1
    assert "It is needed after all." in ran.err
    assert (library.specs / "old.md").exists()


@pytest.mark.parametrize("known", [True, False])
def test_a_spec_that_the_change_did_not_know_is_not_removed_without_a_word(library: Library, known: bool) -> None:
    folder = library.complete("tidy", {}, removed=["old"])
    library.put("old", a_spec("old"))
    if not known:
        (folder / "base.json").unlink()
    ran = library.run("archive", "tidy")
    assert ran.code == 1
    assert "old: the change removes it" in ran.err
    assert (library.specs / "old.md").exists()
    assert library.run("archive", "tidy", "--ours").code == 0
    assert not (library.specs / "old.md").exists()


def test_a_link_is_not_removed_because_no_undo_could_bring_it_back(library: Library) -> None:
    library.put("real", a_spec("old"))
    (library.specs / "old.md").symlink_to("real.md")
    library.complete("tidy", {}, removed=["old"])
    ran = library.run("archive", "tidy")
    assert ran.code == 1
    assert "is a symbolic link" in ran.err
    assert (library.specs / "old.md").is_symlink()


def test_a_requirement_that_would_be_there_twice_is_a_conflict_that_no_side_settles(library: Library) -> None:
    """One change moves R2 below a group of its own, the other below another one."""
    library.complete("a", {"report": ONE.replace("### R2", "### Words\n\n#### R2")})
    library.complete("b", {"report": ONE.replace("### R2", "### Counting\n\n#### R2")})
    assert library.run("archive", "a").code == 0
    for words in ((), ("--ours",), ("--theirs",)):
        ran = library.run("archive", "b", *words, "--json")
        assert (ran.code, ran.data["error"]) == (1, "MergeConflict"), words
        assert any(one["part"] == "R2" for one in ran.data["conflicts"])


@pytest.mark.requirement(80)
def test_a_disk_that_fails_half_way_leaves_everything_as_before(library: Library) -> None:
    """The second of two specs cannot be written: a file is where its folder should be."""
    library.complete("a", {"report": ONE.replace("It prints", "It writes"), "zeta/sum": a_spec("sum")})
    (library.specs / "zeta").write_text("a file where a folder should be")
    before = library.tree()
    ran = library.run("archive", "a")
    assert ran.code == 1
    assert "Error:" in ran.err
    assert library.tree() == before
    (library.specs / "zeta").unlink()
    assert library.run("archive", "a").code == 0


def test_a_target_that_is_in_the_way_is_named_and_nothing_is_touched(library: Library) -> None:
    library.complete("a", {"sum": a_spec("sum")})
    library.archived("a").mkdir(parents=True)
    before = library.tree()
    ran = library.run("archive", "a")
    assert ran.code == 1
    assert "already exists" in ran.err
    assert library.tree() == before


@pytest.mark.parametrize("name", ["a", "b"])
def test_the_record_in_a_copy_of_an_archived_change_is_not_taken_for_its_own(library: Library, name: str) -> None:
    library.complete("a", {"report": ONE.replace("It prints", "It writes")})
    assert library.run("archive", "a").code == 0
    shutil.copytree(library.archived("a"), library.root / "agentd" / "changes" / name)
    state = library.root / "agentd" / "changes" / name / "STATE.yaml"
    state.write_text(
        state.read_text().replace("phase: archived", "phase: complete").replace("step: archived", "step: merge")
    )
    state.write_text(state.read_text().replace("change_id: a", f"change_id: {name}"))
    ran = library.run("archive", name)
    assert (ran.code, "already exists" in ran.err) == ((1, True) if name == "a" else (0, False)), ran
    assert "It writes" in library.get("report")


def test_the_options_that_do_not_go_together_are_refused(library: Library) -> None:
    library.complete("a", {"sum": a_spec("sum")})
    for words in (
        ("archive",),
        ("archive", "a", "--all"),
        ("archive", "a", "--edit", "--ours"),
        ("archive", "a", "--theirs", "--ours"),
        ("archive", "--all", "--ours"),
    ):
        ran = library.run(*words)
        assert ran.code == 2, words
        assert "Fix:" in ran.err


def test_line_ends_and_languages_stay_as_they_are(library: Library) -> None:
    chinese = a_spec("bao-gao", R1="它打印一份报告。", R2="הוא סופר מילים.").replace("\n", "\r\n")
    library.put("bao-gao", chinese)
    library.complete("a", {"bao-gao": chinese.replace("它打印一份报告。", "它打印一份很长的报告。")})
    library.complete("b", {"bao-gao": chinese.replace("הוא סופר מילים.", "הוא סופר את כל המילים.")})
    assert library.run("archive", "a").code == 0
    assert library.run("archive", "b").code == 0
    found = (library.specs / "bao-gao.md").read_bytes()
    assert found.count(b"\n") == found.count(b"\r\n")
    assert "它打印一份很长的报告。" in found.decode()
    assert "הוא סופר את כל המילים." in found.decode()


def test_a_change_that_brings_nothing_new_leaves_the_library_alone(library: Library) -> None:
    library.complete("a", {"report": ONE})
    assert library.run("archive", "a").code == 0
    assert library.get("report") == ONE
    assert json.loads((library.archived("a") / "archive.json").read_bytes())["specs"] == {}


def test_a_spec_that_was_edited_after_its_approval_is_named(library: Library) -> None:
    folder = library.complete("a", {"sum": a_spec("sum")})
    digest = "sha256:" + hashlib.sha256((folder / "specs" / "sum.md").read_bytes()).hexdigest()
    state = folder / "STATE.yaml"
    state.write_text(
        state.read_text() + f"approval:\n  documents:\n    specs/sum.md: {digest}\n    tasks.md: sha256:0\n"
    )
    assert "changed after it was approved" not in library.run("archive", "a").out
    assert library.run("undo", "a").code == 0
    (folder / "specs" / "sum.md").write_text(a_spec("sum", R1="It adds."))
    assert "⚠ specs/sum.md changed after it was approved" in library.run("archive", "a").out


def test_what_a_plan_takes_out_of_the_library_is_said_when_it_is_approved(library: Library) -> None:
    library.put("old", a_spec("old"))
    library.complete("a", {"report": a_spec(R1="It prints a report.")}, removed=["old"])
    project = open_project(library.root)
    work = work_on(project, project.find("a"))
    assert list(losses(work)) == ["old (all of it)", "report (R2)"]


def test_words_that_a_side_set_aside_are_told_and_recorded(library: Library) -> None:
    for name, word in (("a", "long"), ("b", "short")):
        library.complete(name, {"report": ONE.replace("It prints a report.", f"It prints a {word} report.")})
    assert library.run("archive", "a").code == 0
    ran = library.run("archive", "b", "--theirs")
    assert (ran.code, "agentd/specs/report.md: keeps the library's text" in ran.out) == (0, True)
    assert library.record("b")["specs"]["report.md"]["settled"] == "theirs"  # type: ignore[index]


@pytest.mark.parametrize("name", ["a\u200bb", "a\x1bb"])
def test_a_spec_whose_name_cannot_be_printed_is_refused(library: Library, name: str) -> None:
    folder = library.complete("a", {"sum": a_spec("sum")})
    (folder / "specs" / f"{name}.md").write_text(a_spec("odd"))
    before = library.tree()
    ran = library.run("archive", "a")
    assert (ran.code, "cannot be printed" in ran.err) == (1, True)
    assert library.tree() == before


def test_a_spec_that_could_not_be_read_again_is_not_written(library: Library) -> None:
    for number, name in enumerate("ab", 3):
        more = f"### R{number} - Much\n\n{name * 700_000}\n\n"
        library.complete(name, {"report": ONE.replace("## Acceptance", f"{more}## Acceptance")})
    assert library.run("archive", "a").code == 0
    before = library.tree()
    ran = library.run("archive", "b")
    assert (ran.code, "the most that agentd reads" in ran.err) == (1, True)
    assert library.tree() == before
    assert library.run("undo", "a").code == 0


def test_a_folder_of_the_library_that_lies_elsewhere_is_not_written_to(library: Library, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (library.specs / "deep").symlink_to(elsewhere)
    library.complete("a", {"deep/sum": a_spec("sum")})
    ran = library.run("archive", "a")
    assert (ran.code, "a link, which is not followed" in ran.err, list(elsewhere.iterdir())) == (1, True, [])


def test_all_that_would_not_be_valid_is_told_at_once(library: Library) -> None:
    broken = ONE.replace("- **WHEN** somebody asks for R1\n", "").replace("- **WHEN** somebody asks for R2\n", "")
    library.complete("a", {"report": broken})
    (told,) = library.run("archive", "a", "--json").data["conflicts"]
    assert told["why"].count("line ") == 2


def test_what_a_person_saves_while_it_is_archived_is_not_overwritten(library: Library) -> None:
    """A spec that is written to when others are in the library already, and its own turn has not come."""
    names = [f"s{number:03}" for number in range(300)]
    for name in names:
        library.put(name, a_spec(name))
    library.complete("a", {name: a_spec(name, R1="It is new.") for name in names})
    process = library.begin("archive", "a")
    while "It is new." not in library.get("s000"):
        assert process.poll() is None
    library.put("s299", a_spec("s299", R1="Mine."))
    out, err = process.communicate(timeout=60)
    assert (process.returncode, "s299.md was changed meanwhile" in err) == (1, True), out + err
    assert "Mine." in library.get("s299")
    assert "It is new." not in library.get("s000")
    assert library.state("a")["phase"] == "complete"


def test_the_lock_of_the_library_is_nothing_that_git_shows(library: Library) -> None:
    library.complete("a", {"sum": a_spec("sum")})
    gitignore.write(library.root, LAYOUTS)  # as the first run does
    assert library.run("archive", "a").code == 0
    shown = subprocess.run(["git", "status", "--short", "-uall"], cwd=library.root, capture_output=True, text=True)
    assert "agentd/specs/sum.md" in shown.stdout
    assert ".lock" not in shown.stdout


def test_a_plan_that_repeats_a_requirement_does_not_make_it_a_draft_again(library: Library) -> None:
    """The tools write `draft` for every requirement of a plan; next to the library's word that is no change."""
    library.complete("add-sum", {"sum": a_spec("sum")})
    library.complete("same", {"sum": a_spec("sum")})  # begun before the spec was there
    assert library.run("archive", "add-sum").code == 0
    before = library.get("sum")
    assert library.run("archive", "same").code == 0
    assert library.get("sum") == before
    library.complete("more", {"sum": a_spec("sum").replace("## Overview\n", "## Overview\nMore of it.\n", 1)})
    ran = library.run("archive", "more")
    assert ran.code == 0, ran.err
    assert "R1" not in ran.out
    assert "status: draft" not in library.get("sum")
    assert library.run("undo", "more").code == 0
    assert library.get("sum") == before


def test_the_word_draft_elsewhere_in_a_spec_is_left_alone(library: Library) -> None:
    example = "An article is saved like this:\n\n```yaml\nkind: article\nstatus: draft\n```\n"
    library.complete("cms", {"cms": a_spec("cms").replace("## Overview\n", f"## Overview\n{example}", 1)})
    assert library.run("archive", "cms").code == 0
    assert example in library.get("cms")
    assert library.get("cms").count("status: draft") == 1
