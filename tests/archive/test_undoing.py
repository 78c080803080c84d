"""An archive is undone byte for byte, as long as nothing later depends on it."""

import pytest

from agentd.state import lock
from tests.archive.library import ONE, Library, a_spec


def changed(text: str, **words: str) -> str:
    told = {"R1": "It prints a report.", "R2": "It counts words."}
    for one, new in words.items():
        assert told[one] in text
        text = text.replace(told[one], new)
    return text


def test_undo_gives_the_tree_back_byte_for_byte(library: Library) -> None:
    library.put("old", a_spec("old")).chmod(0o600)
    specs = {"report": changed(ONE, R1="It prints."), "deep/new": a_spec("deep-new")}
    library.complete("a", specs, removed=["old"])
    before = library.tree()
    ran = library.run("archive", "a")
    assert ran.code == 0, ran.err
    assert library.tree() != before
    ran = library.run("undo", "a")
    assert ran.code == 0, ran.err
    assert "phase complete" in ran.out
    assert library.tree() == before
    assert (library.specs / "old.md").stat().st_mode & 0o777 == 0o600
    assert not (library.specs / "deep").exists()
    assert not (library.root / "agentd" / "archive").exists()
    assert [event["event"] for event in library.events(library.folder("a"))][-1] == "undone"


def test_what_was_undone_can_be_archived_again_and_the_diary_tells_all_of_it(library: Library) -> None:
    library.complete("a", {"report": changed(ONE, R1="It prints.")})
    assert library.run("archive", "a").code == 0
    once = library.get("report")
    assert library.run("undo", "a").code == 0
    assert library.run("archive", "a").code == 0
    assert library.get("report") == once
    told = [event["event"] for event in library.run("log", "a", "--json").data["events"]]
    assert told.count("undone") == 1
    assert told.count("begin") == 2


def test_a_later_archive_of_the_same_spec_comes_first(library: Library) -> None:
    library.complete("a", {"report": changed(ONE, R1="It prints.")})
    library.complete("b", {"report": changed(ONE, R2="It counts.")})
    assert library.run("archive", "a").code == 0
    assert library.run("archive", "b").code == 0
    before = library.tree()
    ran = library.run("undo", "a")
    assert ran.code == 1
    assert "b was archived on top of it" in ran.err
    assert "agentd undo b" in ran.err
    assert library.tree() == before
    assert library.run("undo", "b").code == 0
    assert library.run("undo", "a").code == 0
    assert library.get("report") == ONE


def test_a_later_archive_of_another_spec_does_not_matter(library: Library) -> None:
    library.complete("a", {"report": changed(ONE, R1="It prints.")})
    library.complete("b", {"sum": a_spec("sum")})
    assert library.run("archive", "a").code == 0
    assert library.run("archive", "b").code == 0
    assert library.run("undo", "a").code == 0
    assert library.get("report") == ONE
    assert (library.specs / "sum.md").exists()


def test_a_change_that_began_with_it_is_named(library: Library) -> None:
    library.complete("a", {"report": changed(ONE, R1="It prints.")})
    assert library.run("archive", "a").code == 0
    library.complete("c", {"report": library.get("report") + "\n"})
    ran = library.run("undo", "a")
    assert ran.code == 1
    assert "the change c is based on it" in ran.err


def test_a_hand_edit_since_is_not_thrown_away(library: Library) -> None:
    library.complete("a", {"report": changed(ONE, R1="It prints.")})
    assert library.run("archive", "a").code == 0
    library.put("report", library.get("report") + "\nMore.\n")
    before = library.tree()
    ran = library.run("undo", "a", "--json")
    assert (ran.code, ran.data["error"]) == (1, "StillNeeded")
    assert "changed by hand since" in ran.data["message"]
    assert library.tree() == before


def test_only_what_is_archived_with_a_record_can_be_undone(library: Library) -> None:
    library.complete("a", {"sum": a_spec("sum")})
    ran = library.run("undo", "a")
    assert ran.code == 1
    assert "not archived" in ran.err
    assert library.run("archive", "a").code == 0
    (library.archived("a") / "archive.json").unlink()
    ran = library.run("undo", "a")
    assert ran.code == 1
    assert "without a record" in ran.err
    assert library.run("undo", "nobody").code == 1


def test_a_record_that_was_edited_is_not_believed(library: Library) -> None:
    library.complete("a", {"sum": a_spec("sum")})
    assert library.run("archive", "a").code == 0
    path = library.archived("a") / "archive.json"
    path.write_text(path.read_text().replace("It prints a report.", "It prints rubbish."))
    before = library.tree()
    ran = library.run("undo", "a", "--json")
    assert (ran.code, ran.data["error"]) == (1, "Corrupt")
    assert library.tree() == before


def test_a_record_of_a_later_release_is_left_alone(library: Library) -> None:
    library.complete("a", {"sum": a_spec("sum")})
    assert library.run("archive", "a").code == 0
    path = library.archived("a") / "archive.json"
    path.write_text(path.read_text().replace('"version": 1', '"version": 2'))
    ran = library.run("undo", "a", "--json")
    assert (ran.code, ran.data["error"], "version 2" in ran.data["message"]) == (1, "Corrupt", True)


def test_later_archives_come_first_also_where_they_left_the_text_as_it_was(library: Library) -> None:
    library.complete("a", {"report": changed(ONE, R1="It prints.")})
    assert library.run("archive", "a").code == 0
    once = library.get("report")
    for name, text in (("b", changed(once, R2="It counts.")), ("c", once)):
        library.complete(name, {"report": text})
        assert library.run("archive", name).code == 0
    assert library.get("report") == once
    ran = library.run("undo", "a")
    assert (ran.code, "b, c were archived on top of it" in ran.err, "agentd undo c" in ran.err) == (1, True, True)
    for name in ("c", "b", "a"):
        assert library.run("undo", name).code == 0
    assert library.get("report") == ONE


@pytest.mark.parametrize(("phase", "fix"), [("complete", "agentd undo view"), ("implementing", "agentd status view")])
def test_what_builds_on_a_spec_that_would_be_gone_comes_first(library: Library, phase: str, fix: str) -> None:
    library.complete("a", {"sum": a_spec("sum")})
    assert library.run("archive", "a").code == 0
    library.complete("view", {"view": a_spec("view")}, depends={"view": ["sum"]}, phase=phase)
    if phase == "complete":
        assert library.run("archive", "view").code == 0
    ran = library.run("undo", "a")
    assert (ran.code, "agentd/specs/sum.md: view depends on it" in ran.err, fix in ran.err) == (1, True, True)


def test_what_builds_on_it_is_found_under_another_name_too(library: Library) -> None:
    library.complete("a", {"sum": a_spec("sum")})
    assert library.run("archive", "a").code == 0
    library.complete("view", {"view": a_spec("view")}, depends={"view": ["sum"]})
    assert library.run("archive", "view").code == 0
    library.archived("view").rename(library.archived("view-old"))
    ran = library.run("undo", "a")
    assert (ran.code, "view-old depends on it" in ran.err) == (1, True)


def test_a_later_archive_comes_first_also_if_its_state_file_is_gone(library: Library) -> None:
    for name, words in (("a", {"R1": "It prints."}), ("b", {"R2": "It counts."})):
        library.complete(name, {"report": changed(ONE, **words)})
    assert [library.run("archive", name).code for name in ("a", "b")] == [0, 0]
    (library.archived("b") / "STATE.yaml").unlink()
    ran = library.run("undo", "a")
    assert (ran.code, "b was archived on top of it" in ran.err) == (1, True)


def test_a_record_that_nobody_can_read_could_depend_on_it(library: Library) -> None:
    for name in ("a", "b"):
        library.complete(name, {name: a_spec(name)})
        assert library.run("archive", name).code == 0
    (library.archived("b") / "archive.json").write_text("{")
    ran = library.run("undo", "a", "--json")
    assert (ran.code, ran.data["error"], "archive/b/archive.json" in ran.data["message"]) == (1, "Corrupt", True)


def test_a_plan_that_has_nothing_to_do_with_it_loses_nothing_by_it(library: Library) -> None:
    """What is undone and archived again is not undone a second time by a plan that began in between."""
    library.complete("a", {"report": changed(ONE, R1="It prints."), "sum": a_spec("sum")})
    assert library.run("archive", "a").code == 0
    folder = library.complete("b", {"late": a_spec("late")}, phase="proposed")
    assert library.run("undo", "a").code == 0
    (folder / "specs" / "report.md").write_text(changed(ONE, R2="It counts."))
    assert library.run("archive", "a").code == 0
    library.edit_state("phase: proposed", "phase: complete", "b")
    assert library.run("archive", "b").code == 0
    assert "It prints." in library.get("report")
    assert "It counts." in library.get("report")
    assert (library.specs / "sum.md").exists()


def test_a_plan_that_is_being_made_keeps_what_it_began_with(library: Library) -> None:
    library.complete("a", {"sum": a_spec("sum")})
    assert library.run("archive", "a").code == 0
    folder = library.complete("b", {"late": a_spec("late")}, phase="proposed")
    before = library.tree()
    with lock.acquire(folder, "plan"):
        ran = library.run("undo", "a")
    assert (ran.code, "b is held by" in ran.err) == (1, True)
    assert library.tree() == before
    assert library.run("undo", "a").code == 0


def test_who_said_the_same_comes_first_too(library: Library) -> None:
    for name in ("a", "b"):
        library.complete(name, {"report": changed(ONE, R1="It prints.")})
    for name in ("a", "b"):
        ran = library.run("archive", name)
        assert ran.code == 0
    assert "agentd/specs/report.md: already in the library" in ran.out
    ran = library.run("undo", "a")
    assert (ran.code, "b was archived on top of it" in ran.err) == (1, True)
    assert "report unchanged" in library.run("list", "--archived").out
    assert library.run("undo", "b").code == 0
    assert "It prints." in library.get("report")
    assert library.run("undo", "a").code == 0
    assert library.get("report") == ONE


def test_an_archive_under_another_name_is_not_undone(library: Library) -> None:
    library.complete("a", {"sum": a_spec("sum")})
    assert library.run("archive", "a").code == 0
    other = library.archived("a").rename(library.archived("a-old"))
    assert (library.archived("a-old") / "archive.json").exists()
    library.complete("a", {"view": a_spec("view")})
    assert library.run("archive", "a").code == 0
    before = library.tree()
    ran = library.run("undo", "a-old")
    assert (ran.code, f"mv {other} {library.archived('a')}" in ran.err) == (1, True)
    assert library.tree() == before


def test_of_two_changes_of_one_name_each_command_means_its_own(library: Library) -> None:
    library.complete("a", {"sum": a_spec("sum")})
    assert library.run("archive", "a").code == 0
    library.complete("a", {"view": a_spec("view")}, phase="implementing")
    assert "implementing" in library.run("status", "a").out
    ran = library.run("undo", "a")
    assert (ran.code, "agentd/changes/a exists again" in ran.err) == (1, True)


@pytest.mark.parametrize("words", ["# why it was a mistake\n", "ticket: ABC-42\n"])
def test_what_a_person_wrote_into_the_state_is_kept_beside_it(library: Library, words: str) -> None:
    library.complete("a", {"sum": a_spec("sum")})
    assert library.run("archive", "a").code == 0
    state = library.archived("a") / "STATE.yaml"
    state.write_text(state.read_text() + words)
    ran = library.run("undo", "a")
    assert (ran.code, "kept in agentd/changes/a/STATE.yaml.changed-1" in ran.out) == (0, True)
    assert words in (library.folder("a") / "STATE.yaml.changed-1").read_text()


@pytest.mark.parametrize("name", ["../../outside.md", "/tmp/outside.md", "a//b.md"])
def test_a_record_that_leads_out_of_the_library_is_not_believed(library: Library, name: str) -> None:
    library.complete("a", {"sum": a_spec("sum")})
    assert library.run("archive", "a").code == 0
    path = library.archived("a") / "archive.json"
    path.write_text(path.read_text().replace('"sum.md"', f'"{name}"'))
    ran = library.run("undo", "a", "--json")
    assert (ran.code, ran.data["error"]) == (1, "Corrupt")
