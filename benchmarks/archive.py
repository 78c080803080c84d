"""How fast `agentd archive` brings a change into a library of 1,000 specs, as a ratio to OpenSpec's `archive` on a tree of
the same size and shape, measured in turns in one run; each round archives another change, and both tools validate."""

import hashlib
import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).parents[1]))

from agentd.families.change.documents import proposal, tasks
from agentd.git import trees
from agentd.library import spec
from agentd.model.change import AffectedSpec, Impact, Proposal, Requirement, Scenario, Spec, Task, Tasks
from benchmarks import _openspec
from benchmarks.validate import NOW, a_spec, state, write
from benchmarks.validate import make_tree as make_library

SPECS = 1000
ROUNDS = 40
LIMIT = 0.32
THEIRS = "openspec archive"
OURS = ("agentd", ".agents", ".agents-work")


def main() -> int:
    """Print both times; exit 1 if the ratio is over its limit."""
    openspec, agentd = _openspec.command(), _openspec.agentd()
    with tempfile.TemporaryDirectory(prefix="agentd-bench-") as folder:
        ours, theirs = Path(folder, "ours"), Path(folder, "theirs")
        make_tree(ours)
        _openspec.make_tree(theirs, SPECS, 0)
        _openspec.make_finished(theirs, ROUNDS)
        _openspec.commit(theirs)
        best = _openspec.each_in_turns(
            {
                THEIRS: (lambda turn: [*openspec, "archive", f"change-{turn:04}", "--yes"], theirs),
                "agentd archive": (lambda turn: [*agentd, "archive", f"change-{turn:04}"], ours),
            },
            ROUNDS,
        )
        check(ours / "agentd", "specs/{}.md", "archive/{}", "### R6 - New thing 3")
        check(theirs / "openspec", "specs/{}/spec.md", "changes/archive/*-{}", "### Requirement: New thing 3")
    print(f"one change into {SPECS} specs; best of {ROUNDS} rounds in turns, {_openspec.PACKAGE}")
    return _openspec.tell(best, THEIRS, LIMIT)


def make_tree(root: Path) -> None:
    """A project of valid specs with changes that were implemented and approved, each in its own spec."""
    make_library(root, SPECS, 0)
    write(root / "src/thing.py", "THINGS = 3\n")
    names = [(f"change-{number:04}", f"spec-{number:04}") for number in range(ROUNDS)]
    for name, of in names:
        make_change(root / "agentd" / "changes" / name, a_spec(of))
    _openspec.commit(root)
    tree = trees.snapshot(root, OURS)
    for name, _ in names:
        trees.keep(root, f"{name}/base", tree)
        approved = f"implementation:\n  base: {tree}\n  begun_at: {NOW}\n  approved:\n    at: {NOW}\n    tree: {tree}\n"
        write(root / "agentd/changes" / name / "STATE.yaml", state(name, "complete", "merge") + approved)


def make_change(folder: Path, before: Spec) -> None:
    """The documents of a change that rewords a requirement of a spec and adds three more, each with a scenario."""
    after, name = wanted(before), folder.name
    impact = Impact("minor", 1, affected_specs=(AffectedSpec(before.id),), affected_code=("src/thing.py",))
    plan = Proposal(
        name, "Three things more", _openspec.WHY, ("The first thing", "The second thing"), impact, NOW, NOW, "planner"
    )
    work = tuple(
        Task("logic", count, f"Do thing {count}", "src/thing.py", "MODIFY", f"{before.id}:{each}", status="completed")
        for count, each in enumerate(("R1", "R4", "R5", "R6"), 1)
    )
    text = spec.render(before)
    known = {"sha256": hashlib.sha256(text.encode()).hexdigest(), "text": text}
    write(folder / "STATE.yaml", state(name, "complete", "merge"))
    write(folder / "proposal.md", proposal.render(plan))
    write(folder / "specs" / f"{before.id}.md", spec.render(after))
    write(folder / "tasks.md", tasks.render(Tasks(name, work, NOW, NOW)))
    write(folder / "base.json", json.dumps({"complete": False, "specs": {f"{before.id}.md": known}}, indent=1) + "\n")


def wanted(before: Spec) -> Spec:
    first, *rest = before.requirements
    new = tuple(
        Requirement(
            f"R{number + 3}", f"New thing {number}", f"The system SHALL do thing {number} when a person asks for it."
        )
        for number in (1, 2, 3)
    )
    scenarios = tuple(
        Scenario(f"It is asked for anew {number}", f"a person asks for thing {number}", f"thing {number} is done")
        for number in (1, 2, 3)
    )
    reworded = replace(first, description="The system SHALL do thing 1 at once.")
    return replace(before, requirements=(reworded, *rest, *new), scenarios=(*before.scenarios, *scenarios))


def check(home: Path, library: str, archive: str, words: str) -> None:
    """A command that only said that it archived is not measured."""
    for number in range(ROUNDS):
        spec_name, change = f"spec-{number:04}", f"change-{number:04}"
        text = (home / library.format(spec_name)).read_text(encoding="utf-8")
        assert words in text, text
        assert "do thing 1 at once" in text, text
        assert any(home.glob(archive.format(change))), change
        assert not (home / "changes" / change).exists(), change


if __name__ == "__main__":
    sys.exit(main())
