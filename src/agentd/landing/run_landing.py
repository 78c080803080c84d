"""What all tasks of a run share while it is driven: its branch, its queue, and where commits are proved."""

import re
from pathlib import Path

from agentd.git import committing, repository
from agentd.landing import environment, run_branch
from agentd.landing.admission import Admission
from agentd.landing.proving import ProvingGround
from agentd.landing.queue import LandingQueue
from agentd.landing.run_branch import RunBranch
from agentd.landing.workspace import CouldNotStart
from agentd.runs.work import Work
from agentd.runs.worktree import landing_branch, landing_key

SERVICE = "landing"
WHOLE = "all-tasks"  # what is done in a workspace of the run itself, across its tasks


class Landing:
    """The service of one run; it ends with the driving."""

    def __init__(self, work: Work) -> None:
        self.branch = branch_of(work)
        self.queue = LandingQueue(self.branch)
        log = work.top.store.folder / "calls" / "proof-setup.log"
        self.ground = ProvingGround(self.branch, lambda place: environment.provide(work.project, place, log))
        self.admission = Admission()

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
    refuse_unready_repository(root)
    name = top.state.run.name
    stamp = re.sub(r"\W", "", str(top.state.fields.get(top.layout.codec.created_key) or ""))
    return run_branch.begin(root, key_of(work), landing_branch(root, name), repository.head(root), stamp)


def landing_of(work: Work) -> Landing:
    top = work.top
    with top.guard:
        found = top.services.get(SERVICE) or Landing(work)
        top.services[SERVICE] = found
    assert isinstance(found, Landing)
    return found


def has_begun(work: Work) -> bool:
    """Whether the run has a branch yet."""
    root, name = work.project.root, work.top.state.run.name
    return run_branch.find(root, key_of(work), landing_branch(root, name)) is not None
