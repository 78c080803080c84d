"""The landing queue: what lands is proved together, nobody's lines disappear, and no conflict is settled by itself."""

import itertools
import os
import random
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agentd.errors import AgentdError, Refused
from agentd.git import merging
from agentd.landing import workspace
from agentd.landing.documents import marker
from agentd.landing.proving import ProvingGround
from agentd.landing.queue import Conflict, Finished, Landed, LandingQueue, Prove, Red, Result, Verdict
from agentd.landing.run_branch import RunBranch
from agentd.landing.workspace import Return
from tests.landing.repositories import branch, finished, git, invariant, make, write

GREEN = Verdict(True)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return make(tmp_path)


def do(line: RunBranch, task: str, files: Mapping[str, str]) -> Finished:
    one = workspace.make(line, task)
    write(one.path, dict(files))
    return finished(line, one)


def show(root: Path, what: str) -> str:
    return git(root, "show", what)


def green(commit: str) -> Verdict:
    return GREEN


class Queue:
    """A landing queue with one way to prove everything."""

    def __init__(self, line: RunBranch, prove: Prove) -> None:
        self.inner, self.prove = LandingQueue(line), prove

    def land(self, work: Finished) -> Result:
        return self.inner.land(work, self.prove)


class Proof:
    """Proves commits by what a check says of their files, and counts."""

    def __init__(self, line: RunBranch, check: Callable[[Path], str]) -> None:
        self.ground, self.check = ProvingGround(line), check
        self.tried: list[str] = []

    def __call__(self, commit: str) -> Verdict:
        self.tried.append(commit)
        with self.ground.checked_out(commit) as place:
            why = self.check(place)
        return Verdict(not why, why)


def test_each_task_is_one_commit_by_the_person_with_its_agent_and_its_name(root: Path) -> None:
    before = invariant(root)
    line = branch(root)
    queue = Queue(line, green)
    landed = queue.land(do(line, "T1", {"new.py": "N = 1\n"}))
    assert isinstance(landed, Landed)
    shown = git(root, "log", "-1", "--format=%an <%ae>|%cn|%P|%B", line.name)
    assert shown.startswith(f"Ada <ada@localhost>|Ada|{line.start}|Do T1\n\nCo-authored-by: Robot <robot@localhost>\n")
    assert line.landed() == {"T1": landed.commit}
    assert invariant(root) == before


def test_work_from_the_same_base_lands_with_all_lines_of_both(root: Path) -> None:
    line = branch(root)
    one = do(line, "T1", {"a.txt": "0\n1\n2\n3\n"})
    two = do(line, "T2", {"a.txt": "1\n2\n3\n4\n"})
    queue = Queue(line, green)
    assert isinstance(queue.land(one), Landed)
    assert isinstance(queue.land(two), Landed)
    assert show(root, f"{line.name}:a.txt") == "0\n1\n2\n3\n4"


def test_what_has_landed_is_not_landed_again_by_the_next_process(root: Path) -> None:
    line = branch(root)
    work = do(line, "T1", {"new.py": "N = 1\n"})
    first = Queue(line, green).land(work)

    def never(commit: str) -> Verdict:
        raise AssertionError

    assert Queue(branch(root), never).land(work) == first
    assert git(root, "rev-list", "--count", f"{line.start}..{line.name}") == "1"


def sums(place: Path) -> str:
    """Green if the module can be imported and what it defines is there."""
    done = subprocess.run([sys.executable, "-c", "import use"], cwd=place, capture_output=True, text=True)
    return done.stderr


def test_green_apart_and_red_together_goes_back_with_the_culprit_named(root: Path) -> None:
    line = branch(root)
    base = do(line, "T0", {"lib.py": "def total(a):\n    return a\n", "use.py": "import lib\n"})
    proof = Proof(line, sums)
    queue = Queue(line, proof)
    assert isinstance(queue.land(base), Landed)
    rename = do(line, "T1", {"lib.py": "def summed(a):\n    return a\n"})
    other = do(line, "T2", {"other.txt": "other\n"})
    caller = do(line, "T3", {"use.py": "import lib\nassert lib.total(1) == 1\n"})
    last = do(line, "T4", {"last.txt": "last\n"})
    assert proof(caller.commit).green
    assert isinstance(queue.land(other), Landed)
    assert isinstance(queue.land(rename), Landed)
    assert isinstance(queue.land(last), Landed)
    red = queue.land(caller)
    assert isinstance(red, Red)
    assert red.culprit == "T1"
    assert "no attribute 'total'" in red.note
    assert list(line.landed()) == ["T0", "T2", "T1", "T4"]
    assert git(root, "rev-parse", f"refs/agentd/own/r1/tasks/{caller.task}") == caller.commit


def test_a_test_that_fails_now_and_then_accuses_nobody_and_is_told(root: Path) -> None:
    line = branch(root)
    queue = LandingQueue(line)
    assert isinstance(queue.land(do(line, "T1", {"a.txt": "1\n"}), green), Landed)
    verdicts = iter([Verdict(False, "1 failed"), Verdict(True, "all passed")])
    landed = queue.land(do(line, "T2", {"b.txt": "2\n"}), lambda commit: next(verdicts))
    assert isinstance(landed, Landed)
    assert landed.note == "all passed (not stable, the first time: 1 failed)"


def test_work_that_is_red_by_itself_has_no_culprit(root: Path) -> None:
    line = branch(root)
    broken = do(line, "T1", {"use.py": "import nothing_like_this\n"})
    fine = do(line, "T2", {"b.txt": "fine\n"})
    queue = Queue(line, Proof(line, lambda place: sums(place) if (place / "use.py").exists() else ""))
    assert isinstance(queue.land(fine), Landed)
    red = queue.land(broken)
    assert isinstance(red, Red)
    assert not red.culprit


@pytest.mark.parametrize("bad", [0, 3, 7])
def test_in_a_stack_of_eight_with_one_bad_task_the_other_seven_land(root: Path, bad: int) -> None:
    before = invariant(root)
    line = branch(root)
    works = [do(line, f"T{n}", {f"f{n}.txt": "bad\n" if n == bad else "good\n"}) for n in range(8)]
    proof = Proof(line, lambda place: "bad" if any(p.read_text() == "bad\n" for p in place.glob("f*.txt")) else "")
    results = land_all(Queue(line, proof), works)
    assert {task for task, result in results.items() if isinstance(result, Landed)} == {f"T{n}" for n in range(8)} - {
        f"T{bad}"
    }
    assert set(line.landed()) == {f"T{n}" for n in range(8) if n != bad}
    proof.ground.close()
    assert invariant(root) == before


def land_all(queue: Queue, works: list[Finished]) -> dict[str, Result]:
    """Land work in this order, all at once."""
    with ThreadPoolExecutor(len(works)) as pool:
        started = []
        for number, work in enumerate(works):
            started.append(pool.submit(queue.land, work))
            deadline = threading.Event()
            while len(queue.inner._line) + sum(one.done() for one in started) <= number and not deadline.wait(0.001):
                pass
        return {work.task: one.result() for work, one in zip(works, started, strict=True)}


def test_the_next_is_proved_while_the_first_still_is_and_nothing_is_proved_twice(root: Path) -> None:
    line = branch(root)
    works = [do(line, f"T{n}", {f"f{n}.txt": f"{n}\n"}) for n in range(4)]
    together = threading.Barrier(4, timeout=30)
    tried = []

    def prove(commit: str) -> Verdict:
        tried.append(commit)
        together.wait()
        return GREEN

    results = land_all(Queue(line, prove), works)
    assert all(isinstance(result, Landed) for result in results.values())
    assert len(tried) == 4


def test_a_conflict_has_both_sides_and_who_wrote_the_other(root: Path) -> None:
    line = branch(root)
    one, two, three = (
        do(line, "T1", {"a.txt": "1\n2\nleft\n"}),
        do(line, "T2", {"b.txt": "one\n"}),
        do(line, "T3", {"a.txt": "1\n2\nright\n", "b.txt": "one\ntwo\nthree\n"}),
    )
    queue = Queue(line, green)
    assert isinstance(queue.land(one), Landed)
    assert isinstance(queue.land(two), Landed)
    found = queue.land(three)
    assert isinstance(found, Conflict)
    assert found.files == ("a.txt", "b.txt")
    assert found.others == ("T1", "T2")
    both = show(root, f"{found.tree}:a.txt")
    assert "left" in both
    assert "right" in both
    assert list(line.landed()) == ["T1", "T2"]


def test_a_conflict_with_work_that_is_not_landed_yet_waits_for_its_fate(root: Path) -> None:
    line = branch(root)
    bad = do(line, "T1", {"a.txt": "1\n2\nbad\n"})
    good = do(line, "T2", {"a.txt": "1\n2\ngood\n"})
    results = land_all(
        Queue(line, Proof(line, lambda p: "bad" if "bad" in (p / "a.txt").read_text() else "")), [bad, good]
    )
    assert isinstance(results["T1"], Red)
    assert isinstance(results["T2"], Landed)


def test_a_proof_sees_nothing_that_another_one_left(root: Path) -> None:
    line = branch(root)
    ground = ProvingGround(line)
    for _ in range(2):
        with ground.checked_out(line.start) as place:
            assert not (place / "build").exists()
            assert (place / "a.txt").read_text() == "1\n2\n3\n"
            write(place, {"build/made": "by tests\n", "a.txt": "weakened\n"})
            git(place, "update-index", "--skip-worktree", "a.txt")


def test_the_name_of_a_task_that_has_landed_may_be_used_again(root: Path) -> None:
    line = branch(root)
    queue = Queue(line, green)
    first = queue.land(do(line, "T1", {"a.txt": "first\n"}))
    workspace.remove(root, next(workspace.find_all(root)))
    second = queue.land(do(line, "T1", {"a.txt": "second\n"}))
    assert isinstance(second, Landed)
    assert second != first
    assert show(root, f"{line.name}:a.txt") == "second"


def test_a_branch_that_was_deleted_is_brought_back_by_the_line_to_paste(root: Path) -> None:
    line = branch(root)
    assert isinstance(Queue(line, green).land(do(line, "T1", {"a.txt": "first\n"})), Landed)
    git(root, "branch", "-D", line.name)
    with pytest.raises(AgentdError, match="is gone") as told:
        line.tip()
    subprocess.run(told.value.fix, shell=True, check=True)
    assert show(root, f"{line.name}:a.txt") == "first"


@pytest.mark.parametrize("text", ["<<<<<<< {}\n", ">>>>>>> {}:a b.txt\r\n", "<<<<<<<<<< {}\n", "\0<<<\n>>>>>>> {}\n"])
def test_markers_are_found_however_they_are_written(root: Path, text: str) -> None:
    line = branch(root)
    work = do(line, "T1", {"a.txt": text.format(line.start), "b.txt": "<<<<<<< HEAD\n"})
    assert merging.grep(root, work.commit, marker(), ["a.txt", "b.txt"]) == ("a.txt",)


def test_a_lost_race_is_tried_again_on_what_is_there_now(root: Path) -> None:
    line = branch(root)
    work = do(line, "T1", {"a.txt": "mine\n"})
    theirs = do(line, "T2", {"b.txt": "theirs\n"})
    moved = iter([lambda: git(root, "update-ref", line.ref, theirs.commit)])

    def prove(commit: str) -> Verdict:
        next(moved, lambda: "")()
        return GREEN

    assert isinstance(Queue(line, prove).land(work), Landed)
    assert show(root, f"{line.name}:a.txt") == "mine"
    assert show(root, f"{line.name}:b.txt") == "theirs"


def test_a_proof_that_breaks_down_holds_up_nobody_else(root: Path) -> None:
    line = branch(root)
    works = [do(line, f"T{n}", {f"f{n}.txt": f"{n}\n"}) for n in range(3)]

    def prove(commit: str) -> Verdict:
        if git(root, "log", "-1", "--format=%s", commit) == "Do T0":
            raise OSError("the disk is gone")
        return GREEN

    queue = Queue(line, prove)
    with ThreadPoolExecutor(3) as pool:
        started = [pool.submit(queue.land, work) for work in works]
    assert isinstance(started[0].exception(), OSError)
    assert all(isinstance(one.result(), Landed) for one in started[1:])


def test_nothing_lands_on_a_branch_that_a_person_looks_at(root: Path, tmp_path: Path) -> None:
    line = branch(root)
    work = do(line, "T1", {"a.txt": "mine\n"})
    git(root, "worktree", "add", "--quiet", str(tmp_path / "looking"), line.name)
    with pytest.raises(Refused, match="checked out"):
        Queue(line, green).land(work)
    assert git(tmp_path / "looking", "status", "--porcelain") == "?? hook-was-here"


EDITS = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(0, 5), st.sampled_from(["insert", "change", "delete"])),
    min_size=1,
    max_size=4,
)


@settings(max_examples=15)
@given(st.lists(EDITS, min_size=2, max_size=5), st.randoms(use_true_random=False), st.booleans())
def test_every_line_anybody_wrote_is_on_the_branch_or_in_a_conflict_or_kept(
    tasks: list[list[tuple[str, int, str]]], chance: random.Random, busy: bool
) -> None:
    """Random tasks on random files, with the person committing and editing meanwhile."""
    with tempfile.TemporaryDirectory() as folder:
        root = make(Path(folder))
        line, numbers = branch(root), itertools.count()
        queue = Queue(line, lambda commit: Verdict(chance.random() > 0.2, "red"))
        written: dict[str, set[str]] = {}
        for number, edits in enumerate(tasks):
            task = f"T{number}"
            one = workspace.make(line, task)
            lines = {name: (one.path / name).read_text().splitlines() for name in "abc"}
            written[task] = set()
            for name, at, what in edits:
                new = f"{task}-{next(numbers)}"
                at = min(at, len(lines[name]))
                lines[name][at : at + (what != "insert")] = [new] if what != "delete" else []
                written[task] |= {new} if what != "delete" else set()
            write(one.path, {name: "\n".join(text) + "\n" for name, text in lines.items()})
            written[task] &= {each for text in lines.values() for each in text}
            if busy:
                write(root, {"a.txt": f"edited by hand {number}\n", f"mine{number}": "mine\n"})
                git(root, "add", f"mine{number}")
                git(root, "commit", "--quiet", "-m", f"mine {number}", f"mine{number}")
        before = invariant(root)
        works = [finished(line, one) for one in workspace.find_all(root, line.key)]
        chance.shuffle(works)
        results = {work.task: queue.land(work) for work in works if work.commit}
        for one in list(workspace.find_all(root, line.key)):
            workspace.remove(root, one)
        assert invariant(root) == before
        landed = "\n".join(show(root, f"{line.name}:{name}") for name in "abc").splitlines()
        for task, lines_of in written.items():
            result = results.get(task)
            kept = git(root, "for-each-ref", "--format=%(objectname)", f"refs/agentd/{line.key}/tasks/{task}")
            if lines_of:
                assert all(git(root, "grep", "-h", "-F", "-w", each, kept) for each in lines_of)
            if isinstance(result, Landed):
                later = [each for each in landed if each.startswith("T")]
                assert lines_of <= set(later) | changed_since(root, line, result.commit)
            if isinstance(result, Conflict):
                marked = "\n".join(show(root, f"{result.tree}:{name}") for name in "abc")
                assert all(each in marked for each in lines_of)


def changed_since(root: Path, line: RunBranch, commit: str) -> set[str]:
    """The lines that later tasks, which had seen them, took away."""
    patch = git(root, "diff", commit, line.name)
    return {each[1:] for each in patch.splitlines() if each.startswith("-")}


def test_settled_work_reverts_nothing_that_landed_while_it_came_back(root: Path) -> None:
    line = branch(root)
    queue = Queue(line, green)
    first, mine, later = (do(line, task, {name: task}) for task, name in (("T1", "a"), ("T2", "a"), ("T3", "b")))
    queue.land(first)
    found = queue.land(mine)
    assert isinstance(found, Conflict)
    queue.land(later)
    left = workspace.find(root, line.key, "T2")
    assert left
    workspace.remove(root, left)
    back = workspace.make(line, "T2", back=Return("conflict", found.on, found.tree, mine.commit))
    (back.path / "a").write_text("T1 and T2")
    assert isinstance(queue.land(finished(line, back)), Landed)
    assert (show(root, f"{line.name}:a"), show(root, f"{line.name}:b")) == ("T1 and T2", "T3")


def test_a_garbage_collection_takes_nothing_of_work_that_came_back(root: Path) -> None:
    line = branch(root)
    queue = Queue(line, green)
    numbers = "".join(f"{number}\n" for number in range(9))
    queue.land(do(line, "T0", {"b": numbers}))
    first, mine = do(line, "T1", {"a": "T1", "b": f"x\n{numbers}"}), do(line, "T2", {"a": "T2", "b": f"{numbers}y\n"})
    queue.land(first)
    found = queue.land(mine)
    assert isinstance(found, Conflict)
    left = workspace.find(root, line.key, "T2")
    assert left
    workspace.remove(root, left)
    back = workspace.make(line, "T2", back=Return("conflict", found.on, found.tree, mine.commit))
    later = time.time() + 9
    os.utime(
        workspace.record_folder(root, line.key, "T2") / workspace.INDEX, (later, later)
    )  # git trusts its stat data
    git(root, "gc", "--quiet", "--prune=now")
    (back.path / "a").write_text("both")
    assert isinstance(queue.land(finished(line, back)), Landed)
    assert show(root, f"{line.name}:b") == f"x\n{numbers}y"
