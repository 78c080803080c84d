"""The landing queue: finished work gets onto the branch of its run one after the other, each on top of what is there.

Before a landing counts, the combination is proved. While one is being proved, the next one is already proved on top of it;
if the first fails, the next is proved again without it. A conflict is never settled here.
"""

import threading
from collections.abc import Callable
from dataclasses import replace

from agentd.git import committing, merging, repository
from agentd.landing.run_branch import RunBranch
from agentd.state import crash
from agentd.values import dataclass


@dataclass(frozen=True)
class Finished:
    """Work that is done and wants to land: a commit on top of an earlier commit of the branch."""

    task: str
    commit: str
    base: str
    message: str


@dataclass(frozen=True)
class Verdict:
    """What the evidence says of a commit."""

    green: bool
    note: str = ""


@dataclass(frozen=True)
class Landed:
    """The work is on the branch, as this commit; `note` is what the evidence said of it."""

    commit: str
    note: str = ""


@dataclass(frozen=True)
class Red:
    """The combination is not good. `culprit` is the task that landed before and does not go together with this one; it is
    empty if the work is not good by itself. `on` is the commit it was tried on."""

    note: str
    on: str
    culprit: str = ""


@dataclass(frozen=True)
class Conflict:
    """The work and what has landed changed the same lines. `tree` has both sides between markers; `others` are the tasks
    that changed the files in question since the work began."""

    files: tuple[str, ...]
    messages: tuple[str, ...]
    tree: str
    on: str
    others: tuple[str, ...]


Result = Landed | Red | Conflict
Prove = Callable[[str], Verdict]


class _Candidate:
    """Work in the queue: the commit it was put on, and the commit of both."""

    def __init__(self, work: Finished, prove: Prove) -> None:
        self.work, self.prove = work, prove
        self.on = self.combined = ""


class LandingQueue:
    """The queue of one run; each piece of work waits in its own thread for its turn."""

    def __init__(self, branch: RunBranch) -> None:
        self.branch, self.root = branch, branch.root
        self.landed = branch.landed()
        self._tip = ""
        self._line: list[_Candidate] = []
        self._changed = threading.Condition()
        self._known: dict[str, Verdict] = {}

    def has_landed(self, task: str, base: str = "") -> str:
        """Return the commit that brought a task, since a commit if one is given: its name may be used again later."""
        if task not in self.landed:
            return ""
        return self.branch.landed(base).get(task, "") if base else self.landed[task]

    def land(self, work: Finished, prove: Prove) -> Result:
        """Bring finished work onto the branch if it is proved together with what is there, or say why that cannot be.

        What has landed already is not landed again.
        """
        mine = _Candidate(work, prove)
        with self._changed:
            done = self.has_landed(work.task, work.base)
            if done:
                return Landed(done)
            self._line.append(mine)
        result: Result | None = None
        try:
            while result is None:
                result = self._try(mine)
        finally:
            with self._changed:
                if not isinstance(result, Landed):  # what is built on it has to be built anew
                    for other in self._line[self._line.index(mine) :]:
                        other.on = other.combined = ""
                self._line.remove(mine)
                self._changed.notify_all()
        return replace(result, culprit=self._culprit(work, result.on, prove)) if isinstance(result, Red) else result

    def _try(self, mine: _Candidate) -> Result | None:
        """One attempt; None if what it was built on has gone."""
        work = mine.work
        with self._changed:
            mine.on = mine.combined = ""
            self._changed.wait_for(lambda: self._ahead(mine) is None or self._is_current(self._ahead(mine)))
            ahead = self._ahead(mine)
            on = ahead.combined if ahead else self._tip or self.branch.tip()
            merged = merging.merge(self.root, on, work.commit)
            if merged.conflicts and ahead is None and not self._has_moved(on):
                others = self._who_changed(merged.conflicts, work.base)
                return Conflict(merged.conflicts, merged.messages, merged.tree, on, others)
            if merged.conflicts:  # perhaps not with what will have landed
                self._changed.wait_for(lambda: ahead is None or self._ahead(mine) is not ahead)
                return None
            mine.on, mine.combined = on, merging.commit_tree(self.root, merged.tree, (on,), work.message)
            self._changed.notify_all()
        verdict = self._known.get(merged.tree) or _proved(mine.prove, mine.combined)
        with self._changed:
            self._known[merged.tree] = verdict
            self._changed.wait_for(lambda: self._ahead(mine) is None)
            if self._has_moved(mine.on):
                return None
            return self._move(mine, verdict.note) if verdict.green else Red(verdict.note, mine.on)

    def _move(self, mine: _Candidate, note: str) -> Landed | None:
        crash.point("landing")
        if not merging.move(self.root, self.branch.ref, mine.combined, mine.on, self.branch.kept):
            self._tip = ""
            return None
        crash.point("landing")
        self.landed[mine.work.task] = self._tip = mine.combined
        return Landed(mine.combined, note)

    def _has_moved(self, tip: str) -> bool:
        """Whether the branch is not where it was when work was put on it; from now on, it is known where it is."""
        self._tip = self.branch.tip()
        return self._tip != tip

    def _ahead(self, mine: _Candidate) -> _Candidate | None:
        number = self._line.index(mine)
        return self._line[number - 1] if number else None

    def _is_current(self, one: _Candidate | None) -> bool:
        """Whether a candidate is built on what will have landed if all before it do."""
        if one is None or not one.combined:
            return False
        ahead = self._ahead(one)
        return ahead is None or (one.on == ahead.combined and self._is_current(ahead))

    def _culprit(self, work: Finished, on: str, prove: Prove) -> str:
        """Find the task that landed between the base of this work and `on` and does not go together with it, by halving."""
        landed = list(self.branch.landed(work.base).items())
        since = landed[: next((number for number, (_, commit) in enumerate(landed, 1) if commit == on), 0)]
        if not since or not prove(work.commit).green:
            return ""
        good, bad = -1, len(since) - 1
        while bad - good > 1:
            middle = (good + bad) // 2
            merged = merging.merge(self.root, since[middle][1], work.commit)
            tried = merging.commit_tree(self.root, merged.tree, (since[middle][1],), work.message)
            if not merged.conflicts and prove(tried).green:
                good = middle
            else:
                bad = middle
        return since[bad][0]

    def _who_changed(self, files: tuple[str, ...], base: str) -> tuple[str, ...]:
        top, since = repository.top(self.root), self.branch.landed(base)
        return tuple(task for task, commit in since.items() if {*files} & {*committing.files(top, commit)})


def _proved(prove: Prove, commit: str) -> Verdict:
    """The verdict on a commit. What is red is proved once more: a test that fails now and then does not count."""
    first = prove(commit)
    if first.green:
        return first
    again = prove(commit)
    return Verdict(True, f"{again.note} (not stable, the first time: {first.note})") if again.green else first
