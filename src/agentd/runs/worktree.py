"""The branch and the worktree of a run: what they are called, and what to do when one is gone."""

import hashlib
import os
import shlex
from pathlib import Path

from agentd.errors import NotFound
from agentd.git.program import work_tree
from agentd.runs.work import Work
from agentd.state.layout import NAME


def refuse_lost(work: Work) -> None:
    """An error, before an agent is called, if the worktree of a run is gone."""
    if not work.cwd.is_dir():
        run, root = work.top.state.run.name, work.project.root
        if workspace_around(root, work.cwd):
            key = landing_key(root, work.top.layout.name, run)
            kept = f"what it had is kept below refs/agentd/{key}/tasks, as far as it was collected"
            again = f"rm -r {shlex.quote(str(work.store.folder))} && agentd resume {run}   # the task begins anew"
            raise NotFound(f"The workspace {work.cwd} is gone; {kept}.", again)
        again = f"git -C {root} worktree add {worktree_path(root, run)} {branch_name(run)}"
        raise NotFound(f"The worktree of '{run}', {work.cwd}, is gone.", f"git -C {root} worktree prune && {again}")


def branch_name(run: str) -> str:
    return f"agentd/{run}"


def worktree_path(root: Path, run: str) -> Path:
    return beside(root) / run


def landing_key(root: Path, family: str, run: str) -> str:
    """The name of a run below refs/agentd: a repository may have several projects with a run of this name."""
    return f"{family}/{_among_projects(root, run)}"


def landing_branch(root: Path, run: str) -> str:
    """The branch on which the tasks of a run land."""
    return branch_name(_among_projects(root, run))


def _among_projects(root: Path, run: str) -> str:
    """The name of a run, with the folder of its project unless that is the repository itself: `r1@apps+web`."""
    parts = root.relative_to(work_tree(root) or root).parts
    if not all(NAME.fullmatch(part) and ".." not in part for part in parts) or any(
        part.endswith((".", ".lock")) for part in parts
    ):
        parts = (hashlib.sha256(os.fsencode(Path(*parts))).hexdigest()[:16],)
    return f"{run}@{'+'.join(parts)}" if parts else run


def workspaces_folder(root: Path, key: str) -> Path:
    """Where the tasks of a run have their workspaces."""
    return beside(root) / "tasks" / key


def workspace_around(root: Path, folder: Path) -> Path | None:
    """The workspace that a folder is in, or None: `tasks/FAMILY/RUN/TASK` beside the repository."""
    home = beside(root) / "tasks"
    if not folder.is_relative_to(home):
        return None
    parts = folder.relative_to(home).parts[:3]
    return home.joinpath(*parts) if len(parts) == 3 else None


def beside(root: Path) -> Path:
    """Where agentd puts work trees: beside the repository, as inside git would take them for new files."""
    return (work_tree(root) or root).parent / f"{root.name}-agentd"
