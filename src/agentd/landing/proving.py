"""Work trees in which commits are checked out to be proved, made once and used again. Nothing of value is in them."""

import itertools
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from agentd.errors import AgentdError
from agentd.git import private_repository
from agentd.git.program import run
from agentd.landing import workspace
from agentd.landing.run_branch import RunBranch
from agentd.runs.worktree import workspaces_folder


class ProvingGround:
    """The work trees of one run for proofs; as many as there are proofs side by side."""

    def __init__(
        self,
        branch: RunBranch,
        provide: Callable[[Path], None] = lambda place: None,
        stamp: Callable[[Path], str] = lambda place: "",
    ) -> None:
        """`provide` adds what is installed, and `stamp` tells for which files that is: others need another work tree."""
        self.branch, self.provide, self.stamp = branch, provide, stamp
        self.home = workspaces_folder(branch.root, branch.key)
        self._free: list[Path] = []
        self._stamps: dict[Path, str] = {}
        self._numbers = itertools.count(1)

    @contextmanager
    def checked_out(self, commit: str) -> Iterator[Path]:
        """A work tree that has exactly the files of a commit, and what is installed for them."""
        place = self._free.pop() if self._free else self.home / f".proof-{next(self._numbers)}.{os.getpid()}.0.tmp"
        try:
            if not self._reset(place, commit):
                self._make(place, commit)
            yield place
        finally:
            self._free.append(place)

    def close(self) -> None:
        for place in self._free:
            shutil.rmtree(place, ignore_errors=True)
        self._free.clear()
        workspace.tidy(self.home)

    def _make(self, place: Path, commit: str) -> None:
        shutil.rmtree(place, ignore_errors=True)
        place.parent.mkdir(parents=True, exist_ok=True)
        private_repository.make(private_repository.lender(self.branch.root), place, commit, "agentd/proof")
        self._stamps[place] = self.stamp(place)
        self.provide(place)

    def _reset(self, place: Path, commit: str) -> bool:
        """Check out a commit over whatever tests have left; False if that is not possible, or not enough."""
        if place not in self._stamps:
            return False
        try:
            run(place, "checkout", "--quiet", "--force", "--detach", commit)
            run(place, "clean", "--quiet", "-ffd")
            return self.stamp(place) == self._stamps[place]
        except AgentdError:
            return False
