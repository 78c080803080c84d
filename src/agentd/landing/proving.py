"""Work trees in which commits are checked out to be proved: a new one each time, as tests leave files and can change git's own."""

import itertools
import os
import shutil
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from agentd.git import private_repository
from agentd.landing import folders
from agentd.landing.run_branch import RunBranch
from agentd.runs.worktree import workspaces_folder


class ProvingGround:
    """The place of one run for proofs. `provide` adds what is installed for the files of a work tree."""

    def __init__(self, branch: RunBranch, provide: Callable[[Path], object] = lambda place: None) -> None:
        self.branch, self.provide = branch, provide
        self.home = workspaces_folder(branch.root, branch.key)
        self._numbers = itertools.count(1)

    @contextmanager
    def checked_out(self, commit: str) -> Iterator[Path]:
        """A work tree that has exactly the files of a commit, and what is installed for them."""
        place = self.home / f".proof-{next(self._numbers)}.{os.getpid()}.0.tmp"
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            private_repository.make(private_repository.lender(self.branch.root), place, commit, "agentd/proof")
            self.provide(place)
            yield place
        finally:
            shutil.rmtree(place, ignore_errors=True)

    def close(self) -> None:
        folders.tidy(self.home)
