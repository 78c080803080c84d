"""Whatever a change brings, taking it out again leaves the tree as it was: the same files, folders, bits and bytes."""

import hashlib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st

from agentd.app import open_project
from agentd.errors import MergeConflict
from agentd.families.change.archive import commands
from agentd.model.merge import Prefer
from agentd.model.rules import SEVERITY
from agentd.state import journal, lock
from tests.archive.library import Library, make_library
from tests.documents.spec_changes import changed, drafts

APART = (journal.NAME, lock.NAME)
MEMORY = "/dev/shm"  # what a disk does is for other tests
NAMES = ("one", "two", "deep/three", "deep/er/four")
# Specs in any language and of any form: what is wrong with them is not the matter here.
LENIENT = "[validation.severity_map]\n" + "".join(f'{rule} = "Low"\n' for rule in SEVERITY)


@dataclass(frozen=True)
class Turn:
    """What the library had when the change began, what it got since, and what the change makes of it; None removes."""

    began: dict[str, str]
    since: dict[str, str]
    change: dict[str, str | None]
    prefer: Prefer


@st.composite
def turns(draw: st.DrawFn) -> Turn:
    began: dict[str, str] = {}
    since: dict[str, str] = {}
    change: dict[str, str | None] = {}
    for name in draw(st.lists(st.sampled_from(NAMES), min_size=1, max_size=3, unique=True)):
        draft = draw(drafts())
        how = draw(st.sampled_from(["new", "changed", "merged", "merged", "removed"]))
        if how == "new":
            change[name] = draft.text()
            continue
        began[name] = draft.text()
        change[name] = None if how == "removed" and "/" not in name else draw(changed(draft, 1)).text()
        if how == "merged":
            since[name] = draw(changed(draft, 2)).text()
    return Turn(began, since, change, draw(st.sampled_from(["ours", "theirs"])))


@pytest.mark.requirement(80)
@settings(max_examples=1000, deadline=None, derandomize=True)
@given(turns())
def test_archive_then_undo_gives_the_same_tree_hash(turn: Turn) -> None:
    with TemporaryDirectory(dir=MEMORY if os.path.isdir(MEMORY) else None) as folder:
        library = make_library(Path(folder), git=False)
        (library.root / "agentd" / "config.toml").write_text(LENIENT, encoding="utf-8")
        for name, text in turn.began.items():
            library.put(name, text)
        written = {name: text for name, text in turn.change.items() if text is not None}
        library.complete("a", written, removed=[name for name, text in turn.change.items() if text is None])
        for name, text in turn.since.items():
            library.put(name, text)
        before = tree_hash(library)
        project = open_project(library.root)
        try:
            told = commands.archive(project, "a", turn.prefer)
        except MergeConflict:  # one that takes a person
            assert tree_hash(library) == before
            reject()
        assert told.phase == "archived"
        assert tree_hash(library) != before
        assert commands.undo(project, "a").phase == "complete"
        assert tree_hash(library) == before


def tree_hash(library: Library) -> str:
    """All that is below agentd's folder: names, bits and bytes; without diaries and locks."""
    found = hashlib.sha256()
    for line in sorted(_lines(library.root / "agentd")):
        found.update(line)
    return found.hexdigest()


def _lines(home: Path) -> Iterator[bytes]:
    for place, folders, files in os.walk(home):
        for name in (*folders, *(each for each in files if each not in APART)):
            path = Path(place, name)
            text = b"" if path.is_dir() else path.read_bytes()
            about = f"{path.relative_to(home)} {path.stat().st_mode:o} {len(text)}\n"
            yield about.encode() + text
