"""A conflict that a person settled in a marked copy stays settled, and hides nothing that came after it."""

import json
import os
import pty
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from tests.archive.library import ONE, Library, a_spec, marked_with
from tests.sandbox import AGENTD, Ran

LONG, SHORT = (ONE.replace("It prints a report.", f"It prints a {word} report.") for word in ("long", "short"))
BOTH = "### R1 - Title of R1\n\nLong and short.\n"


@pytest.fixture
def copy(library: Library) -> Path:
    """The copy of the one spec that `a`, archived, and `b` disagree about."""
    library.complete("a", {"report": LONG})
    folder = library.complete("b", {"report": SHORT})
    assert library.run("archive", "a").code == 0
    assert library.run("archive", "b", "--edit").code == 1
    return folder / "conflicts" / "report.md"


def settle(copy: Path) -> None:
    copy.write_text(marked_with(copy.read_text(), BOTH))


def move_on(library: Library) -> None:
    """The library gets another requirement after the copy was settled."""
    library.complete("c", {"report": library.get("report").replace("It counts words.", "It counts letters.")})
    assert library.run("archive", "c").code == 0


def on_a_terminal(library: Library, *words: str, editor: str) -> Ran:
    library.set("git", commit="never")  # nobody is there to answer
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [*AGENTD, *words],
        cwd=library.root,
        env={**library.env, "TERM": "xterm", "EDITOR": editor, "VISUAL": ""},
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        start_new_session=True,
    )
    os.close(theirs)
    seen = b""
    with suppress(OSError):
        while more := os.read(ours, 4096):
            seen += more
    os.close(ours)
    return Ran(process.wait(30), seen.decode(), "")


def test_without_a_terminal_the_conflicts_are_told_as_data_too(library: Library, copy: Path) -> None:
    told = library.run("archive", "b", "--edit", "--json")
    assert (told.code, told.data["error"]) == (1, "MergeConflict")
    assert f"conflicts/{copy.name}" in told.data["message"]
    assert [one["part"] for one in told.data["conflicts"]] == ["R1"]


@pytest.mark.parametrize("words", [(), ("--edit",)])
def test_a_settled_copy_still_counts_when_the_library_has_moved_on(
    library: Library, copy: Path, words: tuple[str, ...]
) -> None:
    settle(copy)
    move_on(library)
    assert library.run("archive", "b", *words).code == 0
    assert "Long and short." in library.get("report")
    assert "It counts letters." in library.get("report")


@pytest.mark.parametrize("place", [f"draft:{n}:{when}" for n in (1, 2) for when in ("before", "torn", "after")])
def test_a_copy_that_is_brought_up_to_date_and_killed_hides_nothing(library: Library, copy: Path, place: str) -> None:
    settle(copy)
    move_on(library)
    assert library.run("archive", "b", "--edit", env={"AGENTD_CRASH": place}).code == -9
    assert library.run("archive", "b").code == 0
    assert "Long and short." in library.get("report")
    assert "It counts letters." in library.get("report")


def test_what_the_change_says_since_the_copy_was_settled_is_archived_too(library: Library, copy: Path) -> None:
    settle(copy)
    spec = copy.parents[1] / "specs" / "report.md"
    spec.write_text(SHORT.replace("It counts words.", "It counts what b wants."))
    assert library.run("archive", "b").code == 0
    assert "Long and short." in library.get("report")
    assert "It counts what b wants." in library.get("report")


def test_a_change_that_contradicts_what_was_settled_is_a_conflict_again(library: Library, copy: Path) -> None:
    settle(copy)
    spec = copy.parents[1] / "specs" / "report.md"
    spec.write_text(ONE.replace("It prints a report.", "It prints a tiny report."))
    ran = library.run("archive", "b")
    assert ran.code == 1
    assert "+It prints a tiny report." in ran.err
    assert "-Long and short." in ran.err
    assert "Fix:   agentd archive b --edit" in ran.err
    assert library.run("archive", "b", "--edit").code == 1
    assert "Long and short." in copy.read_text()
    assert "It prints a tiny report." in copy.read_text()


def test_an_emptied_copy_is_an_accident_and_takes_no_spec_away(library: Library, copy: Path) -> None:
    copy.write_text("")
    before = library.tree()
    for words in (("archive", "b"), ("archive", "--all")):
        ran = library.run(*words)
        assert ran.code == 1, words
        assert "-It prints a long report." in ran.err
    assert library.tree() == before
    assert library.run("archive", "b", "--edit").code == 1
    assert "It prints a short report." in copy.read_text()


def test_an_emptied_copy_takes_away_a_spec_that_one_side_has_removed(library: Library) -> None:
    library.put("old", a_spec("old"))
    folder = library.complete("tidy", {}, removed=["old"])
    library.put("old", a_spec("old", R1="It is needed after all."))
    assert library.run("archive", "tidy", "--edit").code == 1
    (folder / "conflicts" / "old.md").write_text("")
    assert library.run("archive", "tidy").code == 0
    assert not (library.specs / "old.md").exists()


def test_a_broken_note_of_the_sides_is_named_and_nothing_is_archived(library: Library, copy: Path) -> None:
    settle(copy)
    for text in ("{", "[]", json.dumps({"report.md": LONG})):
        (copy.parent / "sides.json").write_text(text)
        ran = library.run("archive", "b")
        assert (ran.code, "sides.json" in ran.err) == (1, True)


@pytest.mark.parametrize(
    ("does", "code", "words"),
    [
        ("pass", 1, "conflicts left to settle"),
        ("sys.exit(3)", 1, "Editing failed"),
        ("open(sys.argv[1], 'w').write('')", 1, "the library disagree"),
        ("import os; os.unlink(sys.argv[1])", 1, "the library disagree"),
        ("settle()", 0, "phase archived"),
    ],
)
def test_in_a_terminal_the_copy_is_opened_in_the_editor(
    library: Library, copy: Path, tmp_path: Path, does: str, code: int, words: str
) -> None:
    editor = tmp_path / "editor.py"
    editor.write_text(
        "import sys\nsys.path.insert(0, sys.argv[1])\ndel sys.argv[1]\nfrom tests.archive.library import marked_with\n"
        f"def settle():\n    text = open(sys.argv[1]).read()\n    open(sys.argv[1], 'w').write(marked_with(text, {BOTH!r}))\n{does}\n"
    )
    here = Path(__file__).parents[2]
    ran = on_a_terminal(library, "archive", "b", "--edit", editor=f"{sys.executable} {editor} {here}")
    assert words in ran.out, ran
    assert ran.code == code, ran
    assert ("Long and short." in library.get("report")) == (code == 0)


def test_a_wrong_settlement_can_be_opened_again(library: Library, copy: Path, tmp_path: Path) -> None:
    settle(copy)
    editor = tmp_path / "editor.py"
    editor.write_text(
        "import sys, pathlib\np = pathlib.Path(sys.argv[1])\np.write_text(p.read_text().replace('Long', 'Lang'))\n"
    )
    ran = on_a_terminal(library, "archive", "b", "--edit", editor=f"{sys.executable} {editor}")
    assert ran.code == 0, ran
    assert "Lang and short." in library.get("report")


def test_a_lone_mark_in_the_middle_is_a_mark(library: Library, copy: Path) -> None:
    settle(copy)
    copy.write_text(copy.read_text().replace("Long and short.\n", "Long.\n=======\nAnd short.\n"))
    before = library.tree()
    assert library.run("archive", "b").code == 1
    assert "report.md:" in library.run("archive", "b", "--edit").err
    assert library.tree() == before


def test_a_copy_of_which_nothing_tells_what_it_came_from_overwrites_nothing(library: Library, copy: Path) -> None:
    settle(copy)
    (copy.parent / "sides.json").unlink()
    move_on(library)
    assert library.run("archive", "b").code == 1
    assert library.run("archive", "b", "--edit").code == 1
    text = copy.read_text()
    assert "Long and short." in text
    assert "It counts letters." in text


def test_a_part_that_the_library_reworded_again_is_settled_by_opening_the_copy(library: Library, copy: Path) -> None:
    settle(copy)
    library.put("report", library.get("report").replace("It prints a long report.", "It prints a very long report."))
    ran = library.run("archive", "b")
    assert ran.code == 1
    assert "+++ ours: agentd/changes/b/conflicts/report.md" in ran.err
    assert "agentd archive b --edit" in ran.err
    assert library.run("archive", "b", "--edit").code == 1
    assert "It prints a very long report." in copy.read_text()
    settle(copy)
    assert library.run("archive", "b").code == 0
    assert "Long and short." in library.get("report")


@pytest.mark.parametrize("text", [LONG, ONE.replace("It counts words.", "It counts what b wants.")])
def test_a_settled_copy_is_not_forgotten_when_the_change_has_come_round(
    library: Library, copy: Path, text: str
) -> None:
    settle(copy)
    (copy.parents[1] / "specs" / "report.md").write_text(text)
    ran = library.run("archive", "b")
    assert ran.code == 1
    assert "-Long and short." in ran.err


def test_preferring_the_change_prefers_what_was_settled_for_it(library: Library, copy: Path) -> None:
    settle(copy)
    library.put("report", library.get("report").replace("It prints a long report.", "It prints a very long report."))
    assert library.run("archive", "b").code == 1
    assert library.run("archive", "b", "--ours").code == 0
    assert "Long and short." in library.get("report")


def test_a_copy_that_is_not_needed_any_more_is_named(library: Library, copy: Path) -> None:
    copy.write_text(copy.read_text().replace("It prints a short report.", "My own words."))
    assert library.run("undo", "a").code == 0
    ran = library.run("archive", "b")
    assert (ran.code, "conflicts/report.md was ignored; nothing in it is archived" in ran.out) == (0, True)


def test_what_would_not_be_valid_is_mended_in_the_copy(library: Library) -> None:
    one, two = a_spec(R1="It prints a report."), a_spec(R2="It counts words.")
    library.complete("a", {"report": one})
    folder = library.complete("b", {"report": two})
    assert library.run("archive", "a").code == 0
    ran = library.run("archive", "b")
    assert (ran.code, "--ours" in ran.err) == (1, False)
    ran = library.run("archive", "b", "--edit")
    copy = folder / "conflicts" / "report.md"
    assert (ran.code, f"${{EDITOR:-vi}} {copy}" in ran.err) == (1, True)
    copy.write_text(one)
    assert library.run("archive", "b").code == 0
