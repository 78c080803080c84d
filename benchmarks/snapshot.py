"""What a snapshot of a large work tree costs: the first and the second of a process, with ten files changed between
them, as ratios to `git status` on the same 100,000 files, measured in turns in one run; and what reads the trees."""

import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

if __package__ in (None, ""):
    sys.path.insert(0, str(Path(__file__).parents[1]))

from agentd.git import trees, unseen

FILES = 100_000
CHANGED = 10
ROUNDS = 7
FIRST, SECOND = 4.0, 1.5
STATUS = "git status"


def main() -> int:
    """Print the times; exit 1 if a ratio is over its limit."""
    best: dict[str, tuple[float, float]] = {}
    with tempfile.TemporaryDirectory(prefix="agentd-bench-") as folder:
        root = Path(folder, "project")
        made = make_repository(root)
        time.sleep(max(0, made + 65 - time.time()))  # stat data counts for files that have been left alone
        for _ in range(ROUNDS):
            for name, (wall, cpu) in one_round(root).items():
                known = best.get(name, (wall, cpu))
                best[name] = min(known[0], wall), min(known[1], cpu)
    print(
        f"{FILES} files; best of {ROUNDS} rounds in turns; the ratio is that of the times, in brackets that of user and system time"
    )
    wall, cpu = best[STATUS]
    for name, (took, used) in best.items():
        print(f"{name:34} {took * 1000:8.0f} ms  {took / wall:6.2f}  ({used / cpu:.2f})")
    failed = best["first snapshot"][0] / wall > FIRST or best["second snapshot"][0] / wall > SECOND
    print(f"limits: {FIRST} for the first and {SECOND} for the second snapshot{': FAILED' if failed else ''}")
    return int(failed)


def one_round(root: Path) -> dict[str, tuple[float, float]]:
    """The times of each call, in a process that has taken no snapshot before."""
    argv = (sys.executable, __file__, "--round", str(root))
    done = subprocess.run(argv, capture_output=True, text=True, check=True)
    lines = (line.rsplit(" ", 2) for line in done.stdout.splitlines())
    return {name: (float(wall), float(cpu)) for name, wall, cpu in lines}


def take_round(root: Path) -> None:
    """Print the wall and processor time of each call."""
    status = ("git", "status", "--porcelain")

    def timed(name: str, call: Callable[[], object]) -> object:
        began, used = time.perf_counter(), sum(os.times()[:4])
        result = call()
        print(name, time.perf_counter() - began, sum(os.times()[:4]) - used)
        return result

    subprocess.run(status, cwd=root, check=True, capture_output=True)
    timed(STATUS, lambda: subprocess.run(status, cwd=root, check=True, capture_output=True))
    old = str(timed("first snapshot", lambda: trees.snapshot(root)))
    listed = [root / name for name in trees.paths(root, old)[:: FILES // CHANGED]]
    kept = {path: path.read_bytes() for path in listed}
    for path, data in kept.items():
        path.write_bytes(data + b"more\n")
    new = str(timed("second snapshot", lambda: trees.snapshot(root)))
    timed("changes", lambda: trees.changes(root, old, new))
    timed("patch", lambda: trees.patch(root, old, new))
    timed("hashes, as tasks and trace ask", lambda: trees.hashes(root, new))
    timed("unseen, as the audit asks", lambda: list(unseen.unseen(root)))
    assert len(trees.changes(root, old, new)) == len(kept) == CHANGED
    for path, data in kept.items():
        path.write_bytes(data)


def make_repository(root: Path) -> float:
    """Make a repository with files of 1 to 8 KB in folders up to four deep, all committed; return when that was done."""
    chance = random.Random(16)
    words = chance.randbytes(1 << 19).hex().encode()
    subprocess.run(("git", "init", "--quiet", "--initial-branch=main", str(root)), check=True)
    with subprocess.Popen(("git", "fast-import", "--quiet"), cwd=root, stdin=subprocess.PIPE) as importing:
        assert importing.stdin
        importing.stdin.write(b"commit refs/heads/main\ncommitter Nobody <nobody@localhost> 0 +0000\ndata 0\n")
        for number in range(FILES):
            start, size = chance.randrange(len(words) - 8192), chance.randrange(1024, 8192)
            data = b"%d\n%s\n" % (number, words[start : start + size])
            path = b"part%02d/group%02d/unit%d/file%06d.py" % (
                number % 40,
                number // 40 % 50,
                number // 2000 % 5,
                number,
            )
            importing.stdin.write(b"M 100644 inline %s\ndata %d\n%s\n" % (path, len(data), data))
    subprocess.run(("git", "reset", "--quiet", "--hard"), cwd=root, check=True)
    return time.time()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--round"]:
        take_round(Path(sys.argv[2]))
    else:
        sys.exit(main())
