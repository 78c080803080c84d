"""What landing costs: 100 finished branches through the landing queue without evidence, as a ratio to the same git plumbing in
a bare loop, measured in turns in one run; and how often evidence is run for each task on random stacks without conflicts."""

import random
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from agentd.git import merging
from agentd.git.repository import begin_repository, git, head
from agentd.landing import run_branch
from agentd.landing.queue import Finished, Landed, LandingQueue, Verdict
from agentd.landing.run_branch import RunBranch

TASKS = 100
ROUNDS = 5
STACKS = 10
LIMIT = 2.0
EVIDENCE = 1.3


def main() -> int:
    """Print the figures; exit 1 if one is over its limit."""
    raw, ours = [], []
    with tempfile.TemporaryDirectory(prefix="agentd-bench-") as folder:
        root = Path(folder, "project")
        root.mkdir()
        commits = make_branches(root)
        for number in range(ROUNDS):
            raw.append(raw_seconds(root, commits, f"raw-{number}"))
            ours.append(queue_seconds(root, commits, f"run-{number}"))
        runs = [evidence_runs(root, commits, number) for number in range(STACKS)]
    ratio, most = min(ours) / min(raw), max(runs)
    print(f"{TASKS} branches: plumbing {min(raw):.3f} s, queue {min(ours):.3f} s; best of {ROUNDS} rounds in turns")
    print(f"ratio {ratio:.2f} (at most {LIMIT})")
    print(
        f"evidence runs for each task: {sum(runs) / len(runs):.2f}, most {most:.2f} (at most {EVIDENCE}), {STACKS} stacks"
    )
    return 0 if ratio <= LIMIT and most <= EVIDENCE else 1


def make_branches(root: Path) -> list[str]:
    """A repository of 200 files, and commits on its first one that each change some of them, in different places."""
    chance = random.Random(17)
    for number in range(200):
        (root / f"file{number:03}.txt").write_text("".join(f"{number} {line}\n" for line in range(200)))
    begin_repository(root, "The beginning")
    git(root, "config", "user.name", "Nobody")
    git(root, "config", "user.email", "nobody@localhost")
    base, commits = head(root), []
    for task in range(TASKS):
        files = []
        for number in chance.sample(range(200), 3):
            lines = (root / f"file{number:03}.txt").read_text().splitlines(keepends=True)
            lines[task * 2] = f"task {task}\n"
            data = "".join(lines)
            files.append(f"M 100644 inline file{number:03}.txt\ndata {len(data)}\n{data}\n")
        text = f"commit refs/tasks/{task}\ncommitter Nobody <nobody@localhost> 0 +0000\ndata 0\nfrom {base}\n{''.join(files)}\n"
        subprocess.run(("git", "fast-import", "--quiet"), cwd=root, input=text.encode(), check=True)
        commits.append(git(root, "rev-parse", f"refs/tasks/{task}"))
    return commits


def raw_seconds(root: Path, commits: list[str], name: str) -> float:
    """The least that brings branches together: merge-tree, commit-tree, update-ref."""

    def call(*words: str, said: bytes = b"") -> str:
        done = subprocess.run(("git", *words), cwd=root, check=True, capture_output=True, input=said)
        return done.stdout.decode().strip()

    tip, ref = head(root), f"refs/heads/{name}"
    call("update-ref", ref, tip)
    begun = time.perf_counter()
    for commit in commits:
        tree = call("merge-tree", "--write-tree", tip, commit)
        new = call("commit-tree", tree, "-p", tip, said=b"task\n")
        call("update-ref", ref, new, tip)
        tip = new
    return time.perf_counter() - begun


def queue_seconds(root: Path, commits: list[str], name: str) -> float:
    branch = run_branch.begin(root, f"own/{name}", f"agentd/{name}", head(root))
    queue = LandingQueue(branch)
    begun = time.perf_counter()
    for number, commit in enumerate(commits):
        assert isinstance(queue.land(work(branch, number, commit), lambda commit: Verdict(True)), Landed)
    took = time.perf_counter() - begun
    assert len(branch.landed()) == TASKS
    return took


def evidence_runs(root: Path, commits: list[str], seed: int) -> float:
    """How often evidence is run for each task that lands, when a few at a time are finished in random order."""
    chance = random.Random(seed)
    branch = run_branch.begin(root, f"own/stack-{seed}", f"agentd/stack-{seed}", head(root))
    tried: list[str] = []

    def prove(commit: str) -> Verdict:
        tried.append(commit)
        time.sleep(chance.random() / 100)
        return Verdict(True)

    queue = LandingQueue(branch)
    chosen = chance.sample(range(len(commits)), 20)
    with ThreadPoolExecutor(chance.randint(2, 8)) as pool:
        results = list(pool.map(lambda number: queue.land(work(branch, number, commits[number]), prove), chosen))
    assert all(isinstance(result, Landed) for result in results)
    return len(tried) / len(chosen)


def work(branch: RunBranch, number: int, commit: str) -> Finished:
    said = run_branch.message(f"Task {number}", "", branch, f"T{number}", ["Robot <robot@localhost>"])
    return Finished(f"T{number}", commit, branch.start, said)


if __name__ == "__main__":
    merging.refuse_old_git()
    sys.exit(main())
