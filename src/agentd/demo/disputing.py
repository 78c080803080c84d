"""The end of the demonstration: two changes reword one requirement, a person settles it, and the archive is undone."""

import re
import shlex
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from agentd.demo.terminal import Terminal
from agentd.errors import AgentdError, MergeConflict
from agentd.families.change import ARCHIVE
from agentd.families.change.archive.commands import archive, draft, still_open, undo
from agentd.families.change.archive.history import History, history
from agentd.families.change.impl import impl
from agentd.families.change.plan import Wishes, plan
from agentd.library import snapshot
from agentd.patterns import regex
from agentd.runs.project import Project
from agentd.runs.report import Report
from agentd.values import dataclass

SPEC = "top-words"
FIRST, SECOND = "default-to-ten", "refuse-negative-n"
IDEAS = {FIRST: "Give ten words unless a caller says how many", SECOND: "Refuse a negative number of words"}
# What R1 says in the first change, in the second, and as the person then has it.
SENTENCES = (
    "`top(text, n=10)` SHALL give at most n pairs of word and number, the most frequent first.",
    "`top(text, n)` SHALL give at most n pairs of word and number, the most frequent first, and raise `ValueError` if n is negative.",
    "`top(text, n=10)` SHALL give at most n pairs of word and number, the most frequent first, and raise `ValueError` if n is negative.",
)
OWN = ("### R3 - No words, no pairs", "### Scenario: a negative number")  # what each change has besides
CONFLICT = regex(r"^<{7} theirs\n(.*?)^\|{7} .*?^>{7} ours\n", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Dispute:
    """What the two changes came to: each promise with whether it was kept, and how the conflict was told."""

    kept: Mapping[str, bool]
    conflict: MergeConflict
    phase: str

    def to_data(self) -> dict[str, Any]:
        told = {"error": self.conflict.name, "message": self.conflict.message, "exit": self.conflict.code}
        return {
            "spec": SPEC,
            "changes": [FIRST, SECOND],
            "refused": {**told, **self.conflict.data()},
            "phase_after_undo": self.phase,
            "kept": dict(self.kept),
        }


def dispute(terminal: Terminal, lines_of: Callable[[History], Iterable[str]]) -> Dispute:
    """Both changes begin with the library as it is; the first is archived before the second. `lines_of` words a history."""
    first, second = (_script(terminal, change) for change in (FIRST, SECOND))
    _plan(first, FIRST)
    _plan(second, SECOND)
    first.run(f"impl {FIRST}", lambda project: impl(project, FIRST), brief=True)
    first.run(f"archive {FIRST}", lambda project: archive(project, FIRST))
    second.run(f"impl {SECOND}", lambda project: impl(project, SECOND), brief=True)
    before = library(terminal.folder)
    conflict = _refused(second)
    untouched = library(terminal.folder) == before and not (terminal.folder / ARCHIVE / SECOND).exists()
    second.run(f"archive {SECOND} --edit", lambda project: archive(_settled(second, project), SECOND))
    merged = library(terminal.folder)[f"{SPEC}.md"] or b""
    _show_history(second, lines_of)
    undone = second.run(f"undo {SECOND}", lambda project: undo(project, SECOND), brief=True)
    as_before = library(terminal.folder) == before
    same = "byte for byte as it was" if as_before else "NOT as it was"
    terminal.say(f"{snapshot.LIBRARY}/ is {same} before {SECOND} was archived.")
    kept = {
        "both_texts_are_shown": all(text in "\n".join(conflict.shown) for text in SENTENCES[:2]) and conflict.code == 1,
        "a_conflict_archives_nothing": untouched,
        "nobodys_words_are_lost": all(merged.decode().count(text) == 1 for text in (SENTENCES[2], *OWN)),
        "the_library_is_as_before": as_before and merged != before[f"{SPEC}.md"],
        "the_change_is_complete_again": undone.phase == "complete",
    }
    return Dispute(kept, conflict, undone.phase)


def library(root: Path) -> dict[str, bytes | None]:
    """Everything in the library, by its path; None for a folder."""
    home = root / snapshot.LIBRARY
    return {path.relative_to(home).as_posix(): None if path.is_dir() else path.read_bytes() for path in home.rglob("*")}


def _script(terminal: Terminal, change: str) -> Terminal:
    """The terminal with agents that know a change."""
    script = f"agentd/{change}.yaml"
    sample = Path(__file__).parent / "sample" / f"{change}.yaml"
    (terminal.folder / script).write_bytes(sample.read_bytes())
    return replace(terminal, script=script)


def _plan(terminal: Terminal, change: str) -> Report:
    words = f"plan {change} {shlex.quote(IDEAS[change])} --skip-clarify --one-shot --git in-place"
    wishes = Wishes(skip_clarify=True, one_shot=True, git="in_place")
    return terminal.run(words, lambda project: plan(project, change, IDEAS[change], wishes), brief=True)


def _refused(terminal: Terminal) -> MergeConflict:
    """How the second archive is told that the first has reworded what it rewords."""
    try:
        terminal.run(f"archive {SECOND}", lambda project: archive(project, SECOND))
    except MergeConflict as error:
        for line in (*error.lines(), f"Fix:   {error.fix}\n"):
            terminal.tell(line)
        return error
    raise AgentdError(f"{SECOND} was archived over the words of {FIRST}.")


def _settled(terminal: Terminal, project: Project) -> Project:
    """The project once the person has made one sentence of two in the marked copy."""
    draft(project, SECOND)
    for path, line in still_open(project, SECOND):
        terminal.tell(f"✎ {project.relative(path)}:{line}: both texts between markers, of which you make:")
        terminal.tell(f"  {SENTENCES[2]}")
        text = CONFLICT.sub(lambda found: found[1].replace(SENTENCES[0], SENTENCES[2]), path.read_text("utf-8"))
        path.write_text(text, "utf-8")
    return project


def _show_history(terminal: Terminal, lines_of: Callable[[History], Iterable[str]]) -> None:
    terminal.type(f"agentd history {SPEC}")
    for line in lines_of(history(terminal.project(), SPEC)):
        terminal.tell(line)
    terminal.say("")
