"""`agentd history` and `agentd list --archived`: what the archive tells, whatever has become of the library since."""

import hashlib
import json
from pathlib import Path

import pytest

from agentd.families.change.archive import records
from agentd.families.change.archive.records import Record, Touched
from agentd.library import spec
from agentd.model.change import Requirement
from agentd.model.merge import Delta
from tests.app.tree import a_spec, state
from tests.sandbox import Sandbox


def text(*ids: str, name: str = "report", more: str = "") -> str:
    return spec.render(a_spec(name, *ids)) + more


def library(sandbox: Sandbox, words: str | None, name: str = "report") -> None:
    path = sandbox.root / "agentd" / "specs" / f"{name}.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    if words is None:
        path.unlink()
    else:
        path.write_bytes(words.encode())


def archived(sandbox: Sandbox, change: str, day: int, **specs: Touched) -> Path:
    """A change as an archive leaves it."""
    folder = sandbox.root / "agentd" / "archive" / change
    folder.mkdir(parents=True)
    (folder / "STATE.yaml").write_text(state(change, "archived"))
    named = {f"{name.replace('__', '/')}.md": touched for name, touched in specs.items()}
    records.write(folder, Record(change, f"2026-02-{day:02}T10:00:00.000000Z", "somebody", named))
    return folder


def without_record(sandbox: Sandbox, change: str, day: int, before: str | None, after: str, based: bool = True) -> Path:
    """A change as an older release archived it."""
    folder = sandbox.root / "agentd" / "archive" / change
    (folder / "specs").mkdir(parents=True)
    said = state(change, "archived").replace("updated_at: 2026-01-19", f"updated_at: 2026-02-{day:02}")
    (folder / "STATE.yaml").write_text(said)
    (folder / "specs" / "report.md").write_text(after)
    if based:
        known = before and {"sha256": hashlib.sha256(before.encode()).hexdigest(), "text": before}
        (folder / "base.json").write_text(json.dumps({"complete": False, "specs": {"report.md": known}}))
    return folder


def three_changes(sandbox: Sandbox) -> None:
    """R1 and R2 are added, R1 is reworded and R2 becomes R7, then R7 goes and R3 comes."""
    first, second = text("R1", "R2"), text("R1", "R7")
    last = text("R3", "R1")
    archived(sandbox, "begin", 1, report=Touched(None, first, Delta(added=("R1", "R2"))))
    archived(sandbox, "reword", 2, report=Touched(first, second, Delta(changed=("R1",), renamed=(("R2", "R7"),))))
    archived(sandbox, "end", 3, report=Touched(second, last, Delta(added=("R3",), removed=("R7",))))
    library(sandbox, last)


def test_each_requirement_is_told_with_the_changes_that_made_it_what_it_is(sandbox: Sandbox) -> None:
    three_changes(sandbox)
    told = sandbox.run("history", "report")
    assert told.code == 0
    assert told.out == (
        "report: 2 requirements, 1 removed\n"
        "\n"
        "R3  Title R3\n"
        "  2026-02-03  end     added\n"
        "\n"
        "R1  Title R1\n"
        "  2026-02-01  begin   added\n"
        "  2026-02-02  reword  changed\n"
        "\n"
        "R7  Title R7  (removed)\n"
        "  2026-02-01  begin   added\n"
        "  2026-02-02  reword  renamed from R2\n"
        "  2026-02-03  end     removed\n"
    )


def test_the_same_is_there_as_data(sandbox: Sandbox) -> None:
    three_changes(sandbox)
    data = sandbox.run("history", "report", "--json").data
    assert (data["ok"], data["spec"], data["by_hand"], data["exit"]) == (True, "report", False, 0)
    assert [(one["id"], one["title"], one["present"]) for one in data["requirements"]] == [
        ("R3", "Title R3", True),
        ("R1", "Title R1", True),
        ("R7", "Title R7", False),
    ]
    at = "2026-02-0{}T10:00:00.000000Z".format
    assert data["requirements"][2]["events"] == [
        {"at": at(1), "change": "begin", "what": "added"},
        {"at": at(2), "change": "reword", "what": "renamed", "from": "R2"},
        {"at": at(3), "change": "end", "what": "removed"},
    ]


def test_what_no_record_tells_is_not_from_an_archived_change(sandbox: Sandbox) -> None:
    before, after = text("R1", "R2"), text("R1", "R2", "R3")
    archived(sandbox, "more", 1, report=Touched(before, after, Delta(added=("R3",), changed=("R2",))))
    library(sandbox, after)
    told = sandbox.run("history", "report").out
    assert "R1  Title R1\n  not from an archived change\n\n" in told
    assert "R2  Title R2\n  not from an archived change\n  2026-02-01  more  changed\n" in told
    assert told.endswith("R3  Title R3\n  2026-02-01  more  added\n")


def test_a_spec_that_no_change_ever_touched_has_a_history_of_its_own(sandbox: Sandbox) -> None:
    library(sandbox, text("R1"))
    told = sandbox.run("history", "report")
    assert (told.code, told.out) == (0, "report: 1 requirement\n\nR1  Title R1\n  not from an archived change\n")


def test_an_edit_by_hand_after_the_last_archive_is_told(sandbox: Sandbox) -> None:
    three_changes(sandbox)
    library(sandbox, text("R3", "R9"))
    told = sandbox.run("history", "report").out
    assert told.startswith("report: 2 requirements, 2 removed\nchanged by hand since\n")
    assert "R9  Title R9\n  not from an archived change\n" in told
    assert "R1  Title R1  (removed)\n" in told
    assert "  2026-02-02  reword  changed\n  removed by hand\n" in told
    assert sandbox.run("history", "report", "--json").data["by_hand"] is True


def test_a_spec_that_was_removed_from_the_library_is_still_told(sandbox: Sandbox) -> None:
    three_changes(sandbox)
    archived(sandbox, "drop", 4, report=Touched(text("R3", "R1"), None, Delta(removed=("R3", "R1"))))
    library(sandbox, None)
    told = sandbox.run("history", "report")
    assert told.code == 0
    assert told.out.startswith("report: 0 requirements, 3 removed (no longer in the library)\n\nR7")
    assert told.out.count("  2026-02-04  drop    removed\n") == 2


@pytest.mark.parametrize("words", ["deep/one", "deep/one.md", "agentd/specs/deep/one.md"])
def test_a_spec_goes_by_its_path_in_the_library_with_or_without_its_ending(sandbox: Sandbox, words: str) -> None:
    after = text("R1", name="one")
    archived(sandbox, "dig", 1, deep__one=Touched(None, after, Delta(added=("R1",))))
    library(sandbox, after, "deep/one")
    data = sandbox.run("history", words, "--json").data
    assert (data["spec"], data["requirements"][0]["events"][0]["change"]) == ("deep/one", "dig")


def test_a_change_archived_without_a_record_is_told_from_what_it_began_with(sandbox: Sandbox) -> None:
    first, second = text("R1"), text("R1", "R2")
    without_record(sandbox, "early", 1, None, first)
    without_record(sandbox, "later", 2, first, second)
    library(sandbox, second)
    data = sandbox.run("history", "report", "--json").data
    found = {one["id"]: [(e["at"][:10], e["change"], e["what"]) for e in one["events"]] for one in data["requirements"]}
    assert found == {"R1": [("2026-02-01", "early", "added")], "R2": [("2026-02-02", "later", "added")]}
    assert not data["by_hand"]


def test_where_nothing_tells_what_a_change_did_that_is_said(sandbox: Sandbox) -> None:
    without_record(sandbox, "early", 1, None, text("R1"), based=False)
    without_record(sandbox, "later", 2, None, text("R1", "R2"), based=False)
    library(sandbox, text("R1", "R2"))
    told = sandbox.run("history", "report").out
    assert "early also touched it; no record says how\n" in told
    assert "R1  Title R1\n  no record says which change added it\n" in told
    assert "R2  Title R2\n  2026-02-02  later  added\n" in told


def test_a_record_nobody_can_read_hides_no_other_and_is_told(sandbox: Sandbox) -> None:
    three_changes(sandbox)
    (sandbox.root / "agentd" / "archive" / "reword" / records.NAME).write_text("{")
    told = sandbox.run("history", "report")
    assert told.code == 1
    assert "R3  Title R3\n  2026-02-03  end    added\n" in told.out
    assert "change/reword: unreadable, " in told.out
    data = sandbox.run("history", "report", "--json").data
    assert (data["ok"], data["exit"], data["unreadable"][0]["run"]) == (False, 1, "change/reword")


def test_an_undone_change_has_no_part_in_the_history(sandbox: Sandbox) -> None:
    three_changes(sandbox)
    folder = sandbox.root / "agentd" / "archive" / "end"
    (folder / records.NAME).unlink()
    (folder / "specs").mkdir()
    (folder / "specs" / "report.md").write_text(text("R3", "R1"))
    home = sandbox.root / "agentd" / "changes"
    home.mkdir(exist_ok=True)
    folder.rename(home / "end")
    library(sandbox, text("R1", "R7"))
    data = sandbox.run("history", "report", "--json").data
    assert {event["change"] for one in data["requirements"] for event in one["events"]} == {"begin", "reword"}
    assert not data["by_hand"]


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        ("reprot", "agentd history report"),
        ("nothing-like-it", "agentd list --archived"),
        ("../../agentd/specs/report", "agentd list --archived"),
        ("", "agentd list --archived"),
    ],
)
def test_a_spec_nobody_knows_is_an_error_with_a_way_on(sandbox: Sandbox, words: str, fix: str) -> None:
    three_changes(sandbox)
    data = sandbox.run("history", words, "--json").data
    assert (data["ok"], data["error"], data["fix"], data["exit"]) == (False, "NotFound", fix, 1)


def test_titles_of_any_language_and_line_ends_of_any_kind_are_told(sandbox: Sandbox) -> None:
    one = a_spec("report")
    said = spec.render(
        type(one)(**{**vars(one), "requirements": (Requirement("R1", "登录 שלום", "The system SHALL do it."),)})
    ).replace("\n", "\r\n")
    archived(sandbox, "begin", 1, report=Touched(None, said, Delta(added=("R1",))))
    library(sandbox, said)
    assert sandbox.run("history", "report").out.endswith("R1  登录 שלום\n  2026-02-01  begin  added\n")


def test_the_archive_is_listed_newest_first_with_what_each_change_did(sandbox: Sandbox) -> None:
    first, second = text("R1", "R2"), text("R1", "R4")
    archived(sandbox, "begin", 1, report=Touched(None, first, Delta(added=("R1", "R2"))))
    old = Touched(text("R1", name="old-report"), None, Delta(removed=("R1",)))
    delta = Delta(("R4",), ("R1",), ("R2",), (("R5", "R6"),))
    archived(sandbox, "swap", 3, report=Touched(first, second, delta), old_report=old)
    archived(sandbox, "words", 2, report=Touched(first, first + "\nMore.\n", Delta(other=True)))
    archived(sandbox, "nothing", 4)
    without_record(sandbox, "early", 5, None, first)
    told = sandbox.run("list", "--archived")
    assert told.code == 0
    assert told.out.splitlines() == [
        f"2026-02-05  {'early':<32} report (no record of what it did)",
        f"2026-02-04  {'nothing':<32} no spec",
        f"2026-02-03  {'swap':<32} report: +R4 ~R1 R5→R6 -R2, old_report removed",
        f"2026-02-02  {'words':<32} report: other text",
        f"2026-02-01  {'begin':<32} report new: +R1 +R2",
    ]


def test_the_list_of_the_archive_is_there_as_data(sandbox: Sandbox) -> None:
    delta = Delta(("R4",), ("R1",), ("R2",), (("R5", "R6"),), other=True)
    archived(sandbox, "swap", 3, report=Touched(text("R1"), text("R4"), delta))
    (archived(sandbox, "torn", 4) / records.NAME).write_text("{")
    data = sandbox.run("list", "--archived", "--json").data
    first, torn = data["runs"]
    assert (first["run"], first["at"][:10], first["phase"]) == ("change/swap", "2026-02-03", "archived")
    assert first["specs"] == [
        {
            "spec": "report",
            "what": "changed",
            "added": ["R4"],
            "changed": ["R1"],
            "removed": ["R2"],
            "renamed": [["R5", "R6"]],
            "other": True,
        }
    ]
    assert (torn["run"], torn["doing"]) == ("change/torn", "unreadable")
    assert "archive.json" in torn["note"]


def test_a_list_of_very_many_requirements_is_cut_short(sandbox: Sandbox) -> None:
    ids = tuple(f"R{number}" for number in range(1, 13))
    archived(sandbox, "begin", 1, report=Touched(None, text(*ids), Delta(added=ids)))
    assert sandbox.run("list", "--archived").out.endswith("report new: +R1 +R2 +R3 +R4 +R5 +R6 +R7 +R8 and 4 more\n")
