"""How fast `agentd validate --strict --json` checks 1,000 specs and 1,000 changes, as a ratio to OpenSpec's
`validate --all --strict` on a tree of the same size and shape, measured in turns in one run."""

import sys
import tempfile
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).parents[1]))

from agentd.families.change.documents import proposal, tasks
from agentd.library import spec
from agentd.model.change import AffectedSpec, Impact, Proposal, Requirement, Scenario, Spec, Task, Tasks
from benchmarks import _openspec

MANY = 1000
ROUNDS = 9
LIMIT = 0.2
NOW = "2026-01-19T10:00:00Z"


def main() -> int:
    """Print both times; exit 1 if the ratio is over its limit."""
    openspec = _openspec.command()
    with tempfile.TemporaryDirectory(prefix="agentd-bench-") as folder:
        ours, theirs = Path(folder, "ours"), Path(folder, "theirs")
        make_tree(ours, MANY, MANY)
        _openspec.make_tree(theirs, MANY, MANY)
        agentd = [*_openspec.agentd(), "validate", "--strict", "--json"]
        best = _openspec.in_turns(
            {
                "openspec validate --all --strict": (
                    [*openspec, "validate", "--all", "--strict", "--json", "--no-interactive"],
                    theirs,
                ),
                "agentd validate --strict": (agentd, ours),
            },
            ROUNDS,
        )
    print(f"{MANY} specs and {MANY} changes; best of {ROUNDS} rounds in turns, {_openspec.PACKAGE}")
    return _openspec.tell(best, "openspec validate --all --strict", LIMIT)


def make_tree(root: Path, specs: int, changes: int) -> None:
    """A project whose documents are all valid, of the size and shape of OpenSpec's."""
    for number in range(specs):
        write(root / f"agentd/specs/spec-{number:04}.md", spec.render(a_spec(f"spec-{number:04}")))
    for number in range(changes):
        name, affected = f"change-{number:04}", f"new-{number:04}"
        folder = root / "agentd" / "changes" / name
        write(folder / "STATE.yaml", state(name))
        impact = Impact("minor", 1, affected_specs=(AffectedSpec(affected),), affected_code=("src/thing.py",))
        plan = Proposal(
            name, "Two things more", _openspec.WHY, ("The first thing", "The second thing"), impact, NOW, NOW, "planner"
        )
        write(folder / "proposal.md", proposal.render(plan))
        write(folder / "specs" / f"{affected}.md", spec.render(a_spec(affected)))
        work = tuple(
            Task("logic", count, f"Do thing {count}", "src/thing.py", "MODIFY", f"{affected}:R{count}")
            for count in (1, 2, 3)
        )
        write(folder / "tasks.md", tasks.render(Tasks(name, work, NOW, NOW)))


def a_spec(name: str) -> Spec:
    return Spec(
        name,
        f"Things of {name}",
        _openspec.WHY,
        tuple(
            Requirement(
                f"R{number}", f"Thing {number}", f"The system SHALL do thing {number} when a person asks for it."
            )
            for number in (1, 2, 3)
        ),
        tuple(
            Scenario(f"It is asked for {number}", f"a person asks for thing {number}", f"thing {number} is done")
            for number in (1, 2, 3)
        ),
        created_at=NOW,
        updated_at=NOW,
    )


def state(name: str, phase: str = "challenged", step: str = "ready") -> str:
    return (
        f'change_id: {name}\nphase: {phase}\nschema_version: "2.0"\ncreated_at: {NOW}\nupdated_at: {NOW}\n'
        f"description: {_openspec.WHY}\nrun:\n  workflow: change\n  step: {step}\n  saves: 13\n"
        "  counts:\n    challenge.needs_revision: 1\nlast_action: challenge\nverdict: APPROVED\n"
    )


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
