"""How fast agentd says where it stands: `status` and `list --json` with 1,000 active and 10,000 archived changes, as a
ratio to OpenSpec's `list --json` with 1,000, measured in turns in one run."""

import sys
import tempfile
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).parents[1]))

from benchmarks import _openspec
from benchmarks.validate import NOW, state, write

ACTIVE = 1000
ARCHIVED = 10_000
ROUNDS = 9
LIMIT = 0.16


def main() -> int:
    """Print the times; exit 1 if a ratio is over the limit."""
    openspec = _openspec.command()
    agentd = _openspec.agentd()
    with tempfile.TemporaryDirectory(prefix="agentd-bench-") as folder:
        ours, theirs = Path(folder, "ours"), Path(folder, "theirs")
        make_tree(ours)
        _openspec.make_tree(theirs, 0, ACTIVE)
        best = _openspec.in_turns(
            {
                "openspec list --json": ([*openspec, "list", "--json"], theirs),
                "agentd list --json": ([*agentd, "list", "--json"], ours),
                "agentd status": ([*agentd, "status"], ours),
            },
            ROUNDS,
        )
    print(f"{ACTIVE} active and {ARCHIVED} archived changes; best of {ROUNDS} rounds in turns, {_openspec.PACKAGE}")
    return _openspec.tell(best, "openspec list --json", LIMIT)


def make_tree(root: Path) -> None:
    """Changes as their commands leave them: a state, a diary, a lock nobody holds."""
    for home, count, phase, step in (
        ("changes", ACTIVE, "challenged", "ready"),
        ("archive", ARCHIVED, "archived", "archived"),
    ):
        for number in range(count):
            folder = root / "agentd" / home / f"{step}-{number:05}"
            write(folder / "STATE.yaml", state(folder.name, phase, step))
            diary = '{"n":%d,"at":"%s","event":"end","phase":"proposed","step":"challenge","outcome":"approved"}\n'
            write(folder / "journal.jsonl", "".join(diary % (count, NOW) for count in range(1, 14)))
            write(folder / ".lock", "")


if __name__ == "__main__":
    sys.exit(main())
