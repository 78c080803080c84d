"""Work trees in which commits are checked out to be proved, made once and used again. Nothing of value is in them."""

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

    def __init__(self, branch: RunBranch, provide: Callable[[Path], None] = lambda place: None) -> None:
        self.branch, self.provide = branch, provide
        self.home = workspaces_folder(branch.root, branch.key)
        self._free: list[Path] = []
        self._made = 0

    @contextmanager
    def checked_out(self, commit: str) -> Iterator[Path]:
        """A work tree that has exactly the files of a commit, and what is installed for them."""
        place = self._free.pop() if self._free else self._make(commit)
        try:
            self._reset(place, commit)
            yield place
        finally:
            self._free.append(place)

    def close(self) -> None:
        for place in self._free:
            shutil.rmtree(place, ignore_errors=True)
        self._free.clear()
        workspace.tidy(self.home)

    def _make(self, commit: str) -> Path:
        self._made += 1
        place = self.home / f".proof-{self._made}.{os.getpid()}.0.tmp"
        place.parent.mkdir(parents=True, exist_ok=True)
        private_repository.make(private_repository.lender(self.branch.root), place, commit, "agentd/proof")
        self.provide(place)
        return place

    def _reset(self, place: Path, commit: str) -> None:
        """Check out a commit over whatever tests have left; if that fails, make the work tree anew."""
        try:
            run(place, "checkout", "--quiet", "--force", "--detach", commit)
            run(place, "clean", "--quiet", "-ffd")
        except AgentdError:
            shutil.rmtree(place, ignore_errors=True)
            private_repository.make(private_repository.lender(self.branch.root), place, commit, "agentd/proof")
            self.provide(place)
