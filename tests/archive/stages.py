"""Commands that write to the library, made ready to be cut off, and the trees that may be there after that."""

import re
import shutil
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from agentd.runs.unfinished import note
from agentd.state import lock
from tests.archive.library import ONE, Library, a_spec, make_library

SUM = a_spec("sum", R1="It adds.")
TIME = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d(\.\d+)?Z)?")
SAVES = re.compile(r"(?m)^  saves: \d+$")
NOTES = "# what a person has to say\n" * 500  # more than a page of a disk
APART = ("journal.jsonl", lock.NAME)
Tree = dict[str, str]


@dataclass(frozen=True)
class Scenario:
    """A command on a library; `way` are the commands that come to the same one change at a time."""

    prepare: Callable[[Library], None]
    words: tuple[str, ...]
    changes: tuple[str, ...] = ("a",)
    way: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True)
class Stage:
    """A scenario made ready: its library, the writes of its command, and every tree that is neither half nor torn."""

    scenario: Scenario
    prepared: Path
    points: tuple[str, ...]
    trees: tuple[Tree, ...] = field(repr=False)

    @property
    def old(self) -> Tree:
        return self.trees[0]

    @property
    def new(self) -> Tree:
        return self.trees[-1]

    def copy(self, root: Path) -> Library:
        shutil.copytree(self.prepared, root, symlinks=True, ignore=shutil.ignore_patterns(lock.NAME))
        return Library(root)


def changed(text: str, old: str, new: str) -> str:
    assert old in text
    return text.replace(old, new)


def one_change(library: Library) -> None:
    """A change that changes two specs, adds one in a folder of its own, and removes one."""
    library.put("report", ONE)
    library.put("sum", SUM)
    library.put("old", a_spec("old")).chmod(0o600)
    library.put("other", a_spec("other"))
    specs = {
        "report": changed(ONE, "It counts words.", "It counts all words."),
        "sum": changed(SUM, "It adds.", "It adds up."),
        "deep/er/new": a_spec("deep-er-new"),
    }
    folder = library.complete("a", specs, removed=["old"])
    with (folder / "STATE.yaml").open("a", encoding="utf-8") as file:
        file.write(NOTES)


def archived(library: Library) -> None:
    """The change is archived, and another one is being planned since, which has nothing to do with it so far."""
    one_change(library)
    ran = library.run("archive", "a")
    assert ran.code == 0, ran.err
    library.complete("later", {"late": a_spec("late")}, phase="proposed")


def a_conflict(library: Library) -> None:
    one_change(library)
    library.put("report", changed(ONE, "It counts words.", "It counts letters."))


def three_changes(library: Library) -> None:
    """Three changes, two of them on one spec, complete in the order of their names."""
    one_change(library)
    library.complete("b", {"report": changed(ONE, "It prints", "It writes")}, updated="2026-01-20T10:00:00Z")
    library.complete("c", {"late": a_spec("late")}, updated="2026-01-21T10:00:00Z")


SCENARIOS = {
    "archive": Scenario(one_change, ("archive", "a")),
    "undo": Scenario(archived, ("undo", "a")),
    "ours": Scenario(a_conflict, ("archive", "a", "--ours")),
    "all": Scenario(
        three_changes, ("archive", "--all"), ("a", "b", "c"), tuple(("archive", name) for name in ("a", "b", "c"))
    ),
}


def make_stage(scenario: Scenario, folder: Path) -> Stage:
    library = make_library(folder, git=False)
    scenario.prepare(library)
    stage = Stage(scenario, library.root, (), ())
    trees, step = [tree(library)], stage.copy(folder / "way")
    for words in scenario.way[:-1]:
        assert step.run(*words).code == 0
        trees.append(tree(step))
    whole, log = stage.copy(folder / "whole"), folder / "points"
    ran = whole.run(*scenario.words, env={"AGENTD_CRASH_LOG": str(log)})
    assert ran.code == 0, ran.out + ran.err
    return Stage(scenario, library.root, tuple(log.read_text().splitlines()), (*trees, tree(whole)))


def tree(library: Library) -> Tree:
    """Every file and folder of agentd's with its bits and text, without times, diaries and locks."""
    found = {}
    for path in sorted((library.root / "agentd").rglob("*")):
        name = path.relative_to(library.root).as_posix()
        if path.name in APART:
            continue
        text = path.read_text(encoding="utf-8") if path.is_file() else "(a folder)"
        bits = path.stat().st_mode & 0o777
        found[name] = f"{bits:o}\n" + SAVES.sub("  saves: N", TIME.sub("TIME", text))
    return found


def difference(found: Tree, expected: Tree) -> list[str]:
    return sorted(name for name in {*found, *expected} if found.get(name) != expected.get(name))


def check_whole(library: Library, stage: Stage, trees: Sequence[Tree] = ()) -> Tree:
    """The library and the changes are as they were at one moment between two archives; gives the tree."""
    found = tree(library)
    wanted = trees or stage.trees
    assert found in wanted, f"a mixture: {[difference(found, each) for each in wanted]}"
    assert not note(library.root).exists()
    for change in stage.scenario.changes:
        folder = library.folder(change)
        home = "agentd/archive" if library.state(change)["phase"] == "archived" else "agentd/changes"
        assert folder == library.root / home / change
        assert lock.holder(folder) is None
        lock.acquire(folder).release()
    return found


def check_through(library: Library, stage: Stage) -> None:
    """The command given again, where it has not come to its end yet, comes to what it comes to when nobody cuts it off."""
    if tree(library) != stage.new:
        run_again(library, stage)


def run_again(library: Library, stage: Stage) -> None:
    """Give the command again: it ends well, or is told that there is nothing left to do."""
    over = tree(library) == stage.new
    again = library.run(*stage.scenario.words)
    told = over and again.code == 1 and ("is archived, not complete" in again.err or "not archived" in again.err)
    assert again.code == 0 or told, f"given again it ended with {again.code}:\n{again.out}{again.err}"
    found = tree(library)
    assert found == stage.new, f"not as without a kill: {difference(found, stage.new)}"
