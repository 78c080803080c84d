"""Several processes on one library: each archive sees what the others did, and nobody's words are lost."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from agentd.app import open_project
from agentd.runs.overview import overview
from agentd.runs.report import Report
from agentd.runs.unfinished import note
from tests.archive.library import Library, a_spec, make_library
from tests.archive.stages import changed
from tests.sandbox import Ran

ROUNDS = {"sample": 2, "all": 20}
FOUR = ("c1", "c2", "c3", "c4")
TEXTS = {f"R{number}": f"It does the old thing {number}." for number in range(1, 5)}
ONE = a_spec("report", **TEXTS)


@pytest.fixture
def libraries(mode: str, tmp_path: Path) -> Iterator[Library]:
    """A fresh library for each round."""
    return (made(tmp_path / f"round{number}") for number in range(ROUNDS[mode]))


def made(folder: Path) -> Library:
    folder.mkdir()
    library = make_library(folder, git=False)
    library.put("report", ONE)
    return library


def at_once(library: Library, *commands: tuple[str, ...]) -> list[Ran]:
    """What becomes of commands that are given at the same time."""
    begun = [library.begin(*words) for words in commands]
    ended = [(process, *process.communicate(timeout=120)) for process in begun]
    return [Ran(process.returncode, out, err) for process, out, err in ended]


def check_settled(library: Library) -> None:
    """Nothing is under way, nothing is left over, and every change is where its phase says."""
    assert not note(library.root).exists()
    assert not list((library.root / "agentd").rglob("*.tmp"))
    for path in (library.root / "agentd").glob("*/*/STATE.yaml"):
        assert (
            library.state(path.parent.name)["phase"] == {"changes": "complete", "archive": "archived"}[path.parts[-3]]
        )


def with_more(text: str, number: int) -> str:
    """The spec with a requirement that is changed and one that is new, other ones for each number."""
    text = changed(text, f"the old thing {number}.", f"the new thing {number}.")
    new = f"### R1{number} - Title of R1{number}\n\nIt brings {number}.\n\n"
    return changed(text, "## Acceptance Criteria", f"{new}## Acceptance Criteria")


def test_four_archives_at_once_on_one_spec_lose_nothing(libraries: Iterator[Library]) -> None:
    for library in libraries:
        for number, name in enumerate(FOUR, 1):
            library.complete(name, {"report": changed(ONE, f"the old thing {number}.", f"the new thing {number}.")})
        for ran in at_once(library, *(("archive", name) for name in FOUR)):
            assert ran.code == 0, ran
        found = library.get("report")
        for number in range(1, 5):
            assert f"It does the new thing {number}." in found
            assert f"the old thing {number}" not in found
        check_settled(library)


def test_four_archives_at_once_that_add_and_change_lose_nothing(libraries: Iterator[Library]) -> None:
    """Each adds a requirement in the same place; what is added there by the others is beside it."""
    for library in libraries:
        for number, name in enumerate(FOUR, 1):
            library.complete(name, {"report": with_more(ONE, number), f"own/{name}": a_spec(f"own-{name}")})
        for ran in at_once(library, *(("archive", name) for name in FOUR)):
            assert ran.code == 0, ran
        found = library.get("report")
        for number, name in enumerate(FOUR, 1):
            assert f"It does the new thing {number}." in found
            assert f"### R1{number} - Title of R1{number}\n\nIt brings {number}.\n" in found
            assert "archived_at" in library.get(f"own/{name}")
        check_settled(library)


def test_of_four_archives_at_once_on_one_requirement_one_wins_and_the_others_see_both_texts(
    libraries: Iterator[Library],
) -> None:
    for library in libraries:
        for name in FOUR:
            library.complete(name, {"report": changed(ONE, "the old thing 1.", f"what {name} wants.")})
        ran = dict(zip(FOUR, at_once(library, *(("archive", name) for name in FOUR)), strict=True))
        won = [name for name in FOUR if ran[name].code == 0]
        assert len(won) == 1, ran
        assert f"It does what {won[0]} wants." in library.get("report")
        for name in set(FOUR) - {*won}:
            assert ran[name].code == 1
            assert f"-It does what {won[0]} wants." in ran[name].err
            assert f"+It does what {name} wants." in ran[name].err
            assert library.state(name)["phase"] == "complete"
        check_settled(library)


def test_of_two_archives_of_one_change_at_once_one_does_it_and_the_other_is_told(libraries: Iterator[Library]) -> None:
    for library in libraries:
        library.complete("a", {"report": changed(ONE, "the old thing 1.", "the new thing.")})
        ran = at_once(library, ("archive", "a"), ("archive", "a"))
        assert sorted(one.code for one in ran) == [0, 1], ran
        told = next(one.err for one in ran if one.code)
        assert "'a' is archived, not complete" in told
        assert library.get("report").count("It does the new thing.") == 1
        check_settled(library)


def test_an_archive_beside_an_undo_of_another_change_leaves_each_as_it_was_told(libraries: Iterator[Library]) -> None:
    """On one spec the undo may come second, and is refused then; its change stays archived."""
    for library in libraries:
        library.complete("a", {"report": changed(ONE, "the old thing 1.", "the new thing 1.")})
        library.complete("b", {"report": changed(ONE, "the old thing 2.", "the new thing 2.")})
        assert library.run("archive", "a").code == 0
        undone, archived = at_once(library, ("undo", "a"), ("archive", "b"))
        assert archived.code == 0, archived
        assert "It does the new thing 2." in library.get("report")
        if undone.code:
            assert "b was archived on top of it" in undone.err
        assert ("the new thing 1." in library.get("report")) == bool(undone.code)
        assert library.state("a")["phase"] == ("archived" if undone.code else "complete")
        check_settled(library)


def test_two_queues_at_once_archive_everything_once(libraries: Iterator[Library]) -> None:
    for library in libraries:
        for number, name in enumerate(FOUR, 1):
            library.complete(name, {"report": changed(ONE, f"the old thing {number}.", f"the new thing {number}.")})
        ran = at_once(library, ("archive", "--all", "--json"), ("archive", "--all", "--json"))
        assert [one.code for one in ran] == [0, 0], ran
        assert sorted(name for one in ran for name in one.data["archived"]) == [*FOUR]
        for number in range(1, 5):
            assert f"It does the new thing {number}." in library.get("report")
        check_settled(library)


def test_who_looks_meanwhile_sees_no_torn_spec_and_no_mixture(libraries: Iterator[Library]) -> None:
    for library in libraries:
        for number, name in enumerate(FOUR, 1):
            specs = {"report": changed(ONE, f"the old thing {number}.", f"the new thing {number}.")}
            library.complete(name, {**specs, name: a_spec(name)})
        begun = [library.begin("archive", name) for name in FOUR]
        while any(process.poll() is None for process in begun):
            check_look(library)
        for process in begun:
            out, err = process.communicate()
            assert process.returncode == 0, out + err
        check_look(library)
        check_settled(library)


def check_look(library: Library) -> None:
    for words in (("list", "--all", "--json"), ("status",), ("validate", "--strict"), ("list", "--archived", "--json")):
        ran = library.run(*words)
        assert ran.code == 0 or (words[0] == "validate" and ran.code == 1), f"{words}: {ran}"
        assert "Traceback" not in ran.err
        assert "unreadable" not in ran.out, f"{words}: {ran}"
        assert "agentd/specs/" not in ran.out or words[0] != "validate", f"{words}: {ran}"
        if words[0] == "list" and "--all" in words:
            names = [row["run"].rpartition("/")[2] for row in ran.data["runs"]]
            assert {*names} == {*FOUR}, f"one that moves may be seen in both places, never in none: {names}"
    text = library.get("report")
    assert text.startswith("---\n")
    assert text.endswith(ONE[-40:])


def test_a_change_that_moves_while_all_are_listed_is_listed_where_it_is(tmp_path: Path) -> None:
    library = made(tmp_path / "one")
    for name in ("c1", "c2"):
        library.complete(name, {"report": changed(ONE, "thing 1", f"thing of {name}")})
    seen = overview(open_project(library.root))
    first = next(seen)
    moved = {"c1": "c2", "c2": "c1"}[first.name]
    library.archived(moved).parent.mkdir()
    library.folder(moved).rename(library.archived(moved))
    (second,) = seen
    assert isinstance(second, Report)
    assert (second.name, second.folder) == (moved, f"agentd/archive/{moved}")
