"""Several complete changes are archived in order, up to the first that needs a person."""

from agentd.app import open_project
from agentd.families.change.archive.queue import archive_all
from tests.archive.library import ONE, Library, a_spec


def test_all_complete_changes_are_archived_the_one_that_was_complete_first_first(library: Library) -> None:
    library.complete("b", {"report": ONE.replace("It prints a report.", "It prints.")}, updated="2026-01-02T10:00:00Z")
    library.complete("a", {"report": ONE.replace("It counts words.", "It counts.")}, updated="2026-01-03T10:00:00Z")
    library.complete("c", {"sum": a_spec("sum")}, phase="implementing")
    assert library.run("archive", "--all", "--dry-run").out.split() == ["b", "a"]
    ran = library.run("archive", "--all", "--json")
    assert ran.code == 0, ran.out
    assert ran.data["archived"] == ["b", "a"]
    assert "It prints.\n" in library.get("report")
    assert "It counts.\n" in library.get("report")
    assert library.state("c")["phase"] == "implementing"


def test_a_change_comes_after_the_one_that_writes_what_its_specs_build_on(library: Library) -> None:
    library.complete("a", {"view": a_spec("view")}, depends={"view": ["sum"]}, updated="2026-01-01T10:00:00Z")
    library.complete("b", {"sum": a_spec("sum")}, updated="2026-01-05T10:00:00Z")
    assert library.run("archive", "--all", "--json").data["archived"] == ["b", "a"]


def test_changes_that_build_on_each_other_come_in_the_order_of_time(library: Library) -> None:
    library.complete("a", {"view": a_spec("view")}, depends={"view": ["sum"]}, updated="2026-01-02T10:00:00Z")
    library.complete("b", {"sum": a_spec("sum")}, depends={"sum": ["view"]}, updated="2026-01-01T10:00:00Z")
    assert library.run("archive", "--all", "--json").data["archived"] == ["b", "a"]


def test_the_first_conflict_stops_it_with_everything_before_it_kept(library: Library) -> None:
    library.complete("a", {"report": ONE.replace("It prints a report.", "It prints.")}, updated="2026-01-01T10:00:00Z")
    library.complete("b", {"report": ONE.replace("It prints a report.", "It types.")}, updated="2026-01-02T10:00:00Z")
    library.complete("c", {"report": ONE.replace("It counts words.", "It counts.")}, updated="2026-01-03T10:00:00Z")
    ran = library.run("archive", "--all")
    assert ran.code == 1
    assert "Archived: a" in ran.out
    assert "-It prints." in ran.err
    assert "+It types." in ran.err
    assert "Not tried: c" in ran.err
    assert "agentd archive b --edit" in ran.err
    assert "It prints.\n" in library.get("report")
    assert library.state("b")["phase"] == "complete"
    told = library.run("archive", "--all", "--json")
    assert (told.code, told.data["archived"], told.data["stopped"], told.data["left"]) == (1, [], "b", ["c"])
    assert told.data["conflicts"][0]["part"] == "R1"
    assert library.run("archive", "b", "--ours").code == 0
    assert library.run("archive", "--all", "--json").data["archived"] == ["c"]


def test_a_merge_that_would_not_be_valid_stops_the_queue(library: Library) -> None:
    broken = ONE.replace("- **WHEN** somebody asks for R1\n", "")
    assert broken != ONE
    library.complete("a", {"report": broken}, updated="2026-01-01T10:00:00Z")
    library.complete("b", {"sum": a_spec("sum")}, updated="2026-01-02T10:00:00Z")
    ran = library.run("archive", "--all", "--json")
    assert (ran.code, ran.data["stopped"], ran.data["left"]) == (1, "a", ["b"])
    assert "not be valid" in ran.data["conflicts"][0]["why"]
    assert library.get("report") == ONE


def test_nothing_to_archive_is_said(library: Library) -> None:
    ran = library.run("archive", "--all")
    assert (ran.code, "Archived: nothing" in ran.out) == (0, True)


def test_a_change_that_was_told_to_stop_is_not_said_to_be_archived(library: Library) -> None:
    library.complete("a", {"sum": a_spec("sum")}, updated="2026-01-01T10:00:00Z")
    library.complete("b", {"view": a_spec("view")}, updated="2026-01-02T10:00:00Z")
    before = library.tree()
    project = open_project(library.root)
    project.interrupted.set()
    told = archive_all(project)
    assert (told.archived, told.stopped, told.left) == ((), "a", ("b",))
    assert told.error is not None
    assert told.error.code == 4
    assert library.tree() == before
    assert library.run("archive", "--all", "--json").data["archived"] == ["a", "b"]


def test_a_change_that_cannot_be_read_is_named_and_keeps_nobody_waiting(library: Library) -> None:
    library.complete("a", {"sum": a_spec("sum")})
    (library.complete("b", {"view": a_spec("view")}, phase="proposed") / "STATE.yaml").write_text("{")
    ran = library.run("archive", "--all")
    assert (ran.code, "Archived: a" in ran.out, "⚠ skipped b: " in ran.out) == (0, True, True)
    assert library.run("archive", "--all", "--json").data["unreadable"] == ["b"]
