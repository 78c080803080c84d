"""The workspaces there are, why each is there, and which of them may go."""

import os
import time
from collections.abc import Iterator
from contextlib import nullcontext

from agentd.errors import AgentdError
from agentd.landing import environment, run_branch, template, variables, workspace
from agentd.landing.workspace import Workspace
from agentd.runs.project import Project
from agentd.runs.worktree import landing_branch
from agentd.state import lock
from agentd.state.layout import Place
from agentd.values import dataclass


@dataclass(frozen=True)
class Row:
    """A workspace with its size in bytes, its age in seconds, and why it has to stay; nothing if it may go."""

    workspace: Workspace
    size: int
    age: float
    stays: str


def rows(project: Project) -> Iterator[Row]:
    """Yield every workspace of a project."""
    for one in workspace.find_all(project.root):
        size = sum(_sizes(one.place))
        yield Row(one, size, time.time() - one.made, _why_it_stays(project, one))


def prune(project: Project) -> tuple[list[str], dict[str, str]]:
    """Remove the workspaces that may go, and what is installed for none; return the folders, and why others stay.

    All that was written in a workspace is kept in git.
    """
    gone, stay = list[str](), dict[str, str]()
    for row in rows(project):
        one = row.workspace
        name = f"{one.run}/{one.task}"
        try:
            if row.stays:
                stay[name] = row.stays
                continue
            folder = _place(project, one).folder
            with lock.acquire(folder, "workspaces --prune") if folder.is_dir() else nullcontext():
                why = _why_it_is_needed(project, one)  # it may have been resumed meanwhile
                if why:
                    stay[name] = why
                    continue
                own = variables.variables(project.root, one.run, one.task)
                log = workspace.record_folder(project.root, one.run, one.task) / "cleanup.log"
                environment.clean_up(project, one.path, log, own)
                workspace.remove(project.root, one)
                variables.release(project.root, one.run, one.task)
                gone.append(one.place)
        except AgentdError as error:
            stay[name] = error.message
    used = {one.template for one in workspace.find_all(project.root)}
    return [*gone, *map(str, template.prune(project, used))], stay


def _place(project: Project, one: Workspace) -> Place:
    """The run that a workspace belongs to."""
    family, _, name = one.run.partition("@")[0].partition("/")
    return project.layout(family).place(project.root, name)


def _why_it_stays(project: Project, one: Workspace) -> str:
    folder = _place(project, one).folder
    if folder.is_dir() and lock.holder(folder):
        return "its run is being worked on"
    return _why_it_is_needed(project, one)


def _why_it_is_needed(project: Project, one: Workspace) -> str:
    """Why a workspace has to stay though no process works on its run."""
    place = _place(project, one)
    store = project.store(place)
    if not store.exists():
        return ""
    state = store.peek()
    step = project.workflow(state.run.workflow or place.family).steps.get(state.run.step)
    if step and step.kind == "end":
        return ""
    branch = run_branch.find(project.root, one.run, landing_branch(project.root, place.name))
    return "" if branch and one.task in branch.landed() else "its run is not over"


def _sizes(folder: str) -> Iterator[int]:
    for place, _, names in os.walk(folder):
        for name in names:
            try:
                yield os.lstat(os.path.join(place, name)).st_size
            except OSError:
                continue
