"""What all tasks of a run share while it is driven: its branch, its queue, and where commits are proved."""

import re
import time
from collections.abc import Iterable, Mapping
from pathlib import Path

from agentd.git import committing, repository
from agentd.git.program import work_tree
from agentd.landing import environment, run_branch, workspace
from agentd.landing.admission import Admission
from agentd.landing.proving import ProvingGround
from agentd.landing.queue import LandingQueue
from agentd.landing.run_branch import RunBranch
from agentd.landing.workspace import CouldNotStart
from agentd.runs.work import Work
from agentd.runs.worktree import landing_branch, landing_key

SERVICE = "landing"
WHOLE = "all-tasks"  # what is done in a workspace of the run itself, across its tasks
FRESH = 1.0  # seconds for which it is known what a task has written


class Landing:
    """The service of one run; it ends with the driving."""

    def __init__(self, work: Work) -> None:
        refuse_unready_repository(work.project.root)  # before an agent is called, not when its work lands
        self.branch = branch_of(work)
        self.queue = LandingQueue(self.branch)
        log = work.top.store.folder / "calls" / "proof-setup.log"
        self.ground = ProvingGround(self.branch, lambda place: environment.provide(work.project, place, log))
        self.admission = Admission()
        self._written: dict[str, tuple[float, tuple[str, ...]]] = {}

    def written(self, tasks: Iterable[str]) -> Mapping[str, tuple[str, ...]]:
        """The files that each task has written so far, or had a second ago: to look takes a run of git for each."""
        root, now = self.branch.root, time.monotonic()
        known = {task: found for task, found in self._written.items() if now - found[0] < FRESH}
        for task in tasks:
            if task not in known:
                one = workspace.find(root, self.branch.key, task)
                known[task] = now, workspace.written(root, one) if one else ()
        self._written = known
        return {task: files for task, (_, files) in known.items()}

    def close(self) -> None:
        self.ground.close()


def key_of(work: Work) -> str:
    """The name of a run below refs/agentd."""
    return landing_key(work.project.root, work.top.layout.name, work.top.state.run.name)


def task_name(work: Work) -> str:
    """The name of a task among all of its run: that of its item, after those of the items it is in."""
    return ".".join(work.items_above()) or WHOLE


def refuse_unready_repository(root: Path) -> None:
    """An error if no task could have a workspace, or land: there is no commit, or git does not know whose the next would be."""
    if not repository.is_repository(root):
        what = f"{root} is not a git repository with a commit, so no task can have a workspace."
        raise CouldNotStart(what, "git init && git add --all && git commit -m start")
    committing.refuse_unknown_person(root)


def branch_of(work: Work) -> RunBranch:
    """The branch of a run; the first time it is made at the commit that is checked out."""
    top, root = work.top, work.project.root
    key, name = key_of(work), landing_branch(root, top.state.run.name)
    stamp = re.sub(r"\W", "", str(top.state.fields.get(top.layout.codec.created_key) or ""))
    if work_tree(root) and (known := run_branch.known(root, key, name, stamp)):
        return known
    refuse_unready_repository(root)
    return run_branch.begin(root, key, name, repository.head(root), stamp)


def landing_of(work: Work) -> Landing:
    top = work.top
    with top.guard:
        found = top.services.get(SERVICE) or Landing(work)
        top.services[SERVICE] = found
    assert isinstance(found, Landing)
    return found


def forget(work: Work) -> None:
    """End the service: the branch was moved, and what is known of it is looked up again."""
    with work.top.guard:
        found = work.top.services.pop(SERVICE, None)
    if found:
        found.close()


def has_begun(work: Work) -> bool:
    """Whether the run has a branch yet."""
    root, name = work.project.root, work.top.state.run.name
    return run_branch.find(root, key_of(work), landing_branch(root, name)) is not None
