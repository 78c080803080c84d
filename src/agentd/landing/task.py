"""A task that is a child run: its workspace is opened, and its work lands on the branch of the run it belongs to.

These are actions for the tables of families. Each can be repeated after a kill.
"""

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path

from agentd.engine.waves import Item
from agentd.errors import AgentdError, Corrupt
from agentd.git import merging, trees
from agentd.git.program import quoted
from agentd.landing import dropped_lines, environment, folders, leases, run_branch, unlanded, variables, workspace
from agentd.landing.coauthors import authors
from agentd.landing.documents import CONFLICT as CONFLICT
from agentd.landing.documents import NOT_STARTED, conflict_text, marker, red_text
from agentd.landing.documents import RED as RED
from agentd.landing.environment import SetupFailed
from agentd.landing.queue import Conflict, Finished, Landed, Red, Verdict
from agentd.landing.run_branch import RunBranch
from agentd.landing.run_landing import WHOLE, key_of, task_name
from agentd.landing.run_landing import branch_of as branch_of
from agentd.landing.run_landing import has_begun as has_begun
from agentd.landing.run_landing import landing_of as landing_of
from agentd.landing.workspace import CouldNotStart, Return, Workspace
from agentd.model.run import Outcome
from agentd.runs import undelivered
from agentd.runs.work import Work
from agentd.runs.worktree import workspaces_folder
from agentd.state.layout import ALLOWED, point_home
from agentd.state.reading import printable

LANDED = "landed"  # the field of a task that says as which commit, and what proved it
DROPPED = "dropped"  # and the one with the lines that are gone since its conflicts were settled
_MOST_NOTED = 20  # lines of a file
Prove = Callable[[Path], Verdict]


def settle(work: Work) -> None:
    """Remove what a killed command left half made in the folder for the workspaces of a run."""
    home = workspaces_folder(work.project.root, key_of(work))
    folders.sweep(home)
    folders.tidy(home)


def refuse_bad_names(names: Iterable[str], path: Path) -> None:
    """Refuse names of tasks, listed in the file at `path`, that no folder and no branch can have, before any task starts."""
    listed = list(names)
    for name in listed:
        if not workspace.can_name(name) or name == WHOLE:
            raise Corrupt(
                f"{path}: {name!r} cannot be the id of a task: use {ALLOWED}, at most 100.", f"edit {quoted(path)}"
            )
    folded: dict[str, str] = {}
    for name in listed:
        other = folded.setdefault(name.casefold(), name)
        if other != name:
            what = f"{path}: the ids {other!r} and {name!r} differ only in case, which some disks do not tell apart."
            raise Corrupt(what, f"edit {quoted(path)}")


def may_begin(work: Work, item: Item, under_way: Sequence[Item]) -> str:
    """Why a task has to wait beside those under way: one of them has its files, or the machine has no room."""
    landing, names, waits = landing_of(work), [one.id for one in under_way], ""
    if item.files:
        declared = {one.id: one.files for one in (*under_way, item)}
        waits = leases.why_waiting(declared, {}, names, item.id)
        waits = waits or leases.why_waiting({item.id: item.files}, landing.written(names), names, item.id)
    if waits or not work.project.config.get("runs", "wait_when_busy"):
        return waits
    return landing.admission.why_waiting(names)


def open_workspace(work: Work) -> Outcome:
    """Make the workspace of a task; if that cannot be, the task could not start, and nothing runs anywhere else."""
    try:
        landing, task = landing_of(work), task_name(work)
        left = workspace.find(work.project.root, landing.branch.key, task)
        if left and (left.why or workspace.written(work.project.root, left)):
            work.say(f"what an earlier attempt at {task} wrote is kept below refs/agentd/{left.run}/")
            _remove(work, landing.branch)
        return Outcome("done", _open(work).place)
    except CouldNotStart as error:
        why = f"{error.message} Fix: {error.fix}"
        unlanded.keep(
            work.top.store.folder, task_name(work), NOT_STARTED, f"# {task_name(work)} could not start\n\n{why}\n"
        )
        return Outcome("could_not_start", why)


def workspace_of(work: Work) -> Workspace | None:
    """What is known of the workspace of a task, or of the run itself."""
    return workspace.find(work.project.root, landing_of(work).branch.key, task_name(work))


def written(work: Work) -> tuple[str, ...]:
    """The files that were changed in the workspace of a task so far, from the project's folder."""
    one = workspace_of(work)
    return workspace.written(work.project.root, one) if one else ()


def is_cut_off(work: Work) -> bool:
    """Whether a kill came between the removal of a workspace and the save: its work has landed, or `land` brings it again."""
    task, base = task_name(work), _base(work)
    if not base or work.cwd.is_dir():
        return False
    root, landing = work.project.root, landing_of(work)
    commit = workspace.kept(root, landing.branch.key, task)
    return bool(landing.queue.has_landed(task, base) or (commit and merging.parent(root, commit) == base))


def _base(work: Work) -> str:
    """The commit that the workspace of a run began at, as its state says."""
    found = work.state.fields.get("git")
    return str(found.get("base") or "") if isinstance(found, Mapping) else ""


def mend_repository(work: Work) -> None:
    """Repair the repository of a workspace after an agent worked there: agentd looks at the files through it."""
    one = workspace_of(work)
    if one and workspace.mend(work.project.root, one):
        trees.pruned(work.cwd, one.base, work.project.own_folders())  # what it began with, to compare with
        work.say("⚠ the repository of the workspace was broken, and was made anew; the files are as they were left")


def close_workspace(work: Work) -> None:
    """Remove the workspace of a task, or of the run itself, that has nothing to land; what was written in it is kept."""
    _remove(work, landing_of(work).branch)
    unlanded.clear(work.top.store.folder, task_name(work))


def put_aside(work: Work) -> None:
    """Remove the workspace of a task that is given up, or all of a run that is; what was written in them is kept."""
    if not has_begun(work):
        return
    branch, root = landing_of(work).branch, work.project.root
    found = list(workspace.find_all(root, branch.key))
    for one in found if work.parent is None else [one for one in found if one.task == task_name(work)]:
        try:
            environment.clean_up(work.project, one.path, _log(work), work.environment())
            workspace.remove(root, one)
            variables.release(root, branch.key, one.task)
        except AgentdError as error:
            work.say(f"⚠ the workspace of {one.task} stays: {error.message}")


def _open(work: Work, back: Return | None = None) -> Workspace:
    """Make the workspace with all that its task needs, and have the run work there."""
    root, branch, task = work.project.root, landing_of(work).branch, task_name(work)
    own = variables.variables(root, branch.key, task)

    def provide(place: Path) -> str:
        point_home(place / ".git", root)
        try:
            return environment.provide(work.project, place, _log(work), {**work.environment(), **own})
        except SetupFailed as error:
            if not back:
                raise
            work.say(f"⚠ {error.message}")  # markers in a manifest break it, and it is here that they are settled
            return ""

    one = workspace.make(branch, task, provide, back)
    inner = variables.inner(root, one.path)
    work.note("git", {"worktree": os.path.relpath(inner, root), "base": one.base, "variables": own})
    return one


def _log(work: Work) -> Path:
    return unlanded.folder(work.top.store.folder, task_name(work)) / unlanded.SETUP


def _tell(work: Work, name: str, text: str) -> None:
    """Write a document of a task, and keep it with the run, for a person, should the task be given up."""
    work.write(name, text)
    unlanded.keep(work.top.store.folder, task_name(work), name, text)


def land(work: Work, prove: Prove, subject: str, body: str = "", files: Sequence[str] = ()) -> Outcome:
    """Bring the work of a task onto the branch of its run; `files` are those that it declared to write, if any.

    `landed`: it is there, and its workspace is gone. `red`: it is not good together with what is there. `conflict`: it
    changed the same lines. Then the workspace has both, on top of what has landed, and a document says what is what.
    """
    landing, root, task = landing_of(work), work.project.root, task_name(work)
    branch, queue = landing.branch, landing.queue
    one = workspace.find(root, branch.key, task)
    there = bool(one and one.ready and one.path.is_dir())
    done = queue.has_landed(task, one.base if one and there else _base(work))
    if done:
        known = work.state.fields.get(LANDED)
        if not isinstance(known, Mapping) or known.get("commit") != done:  # a kill came before it was saved
            work.note(LANDED, {"commit": done, "proof": ""})
        return _landed(work, branch, done[:12])
    said = run_branch.message(subject, body, branch, task, authors(work))
    if one and there:
        commit, left_out = workspace.collect(root, one, said)
        base = one.base
        if left_out:
            work.say(f"⚠ not part of the work: {_listed(left_out)}")
        if one.why and (unsettled := _unsettled(root, one, commit)):
            return Outcome(one.why, unsettled)
        if one.why == "conflict" and one.work:
            with suppress(AgentdError):  # its record was edited: what cannot be told keeps nothing from landing
                _tell_dropped(work, one, commit)
    else:  # a kill came between two workspaces, or it was removed by hand
        commit = workspace.kept(root, branch.key, task)
        base = merging.parent(root, commit) if commit else ""
        if not commit or (one is None and os.path.lexists(workspaces_folder(root, branch.key) / task)):
            what = f"What agentd knew of the workspace of {task} is gone."
            raise AgentdError(
                what, f"ls -la {workspaces_folder(root, branch.key)}   # what is there is no longer looked at"
            )
    if not commit:
        _tell(work, RED, f"# {task} did not land\n\nNothing was changed in the workspace.\n")
        return Outcome("red", "nothing was changed")
    written = merging.differing(root, base, commit)
    if not there and (marked := merging.grep(root, commit, marker(), written)):
        _open(work, Return("conflict", base, merging.tree_of(root, commit), one.work if one else ""))
        return Outcome("conflict", f"markers are left in {_listed(marked)}")
    here = workspace.from_project(root, written)
    for each in leases.undeclared({task: files}, {task: here}).get(task, ()) if files else ():
        work.say(f"⚠ written without being declared: {printable(each)}")

    def proved(tried: str) -> Verdict:
        with landing.ground.checked_out(tried) as place:
            verdict = prove(variables.inner(root, place))
        if work.project.interrupted.is_set():
            raise work.project.interruption()
        return verdict

    mine = Finished(task, commit, base, said)
    result = queue.land(mine, proved)
    if isinstance(result, Landed):
        work.note(LANDED, {"commit": result.commit, "proof": result.note})
        return _landed(work, branch, result.commit[:12])
    return _go_back(work, branch, mine, result)


def _landed(work: Work, branch: RunBranch, note: str) -> Outcome:
    top = work.top
    undelivered.mark(work.project.root, top.layout.name, top.state.run.name)
    try:
        _remove(work, branch)
        unlanded.clear(top.store.folder, task_name(work))
    except AgentdError as error:
        work.say(f"⚠ the workspace stays: {error.message}")
    return Outcome("landed", note)


def _go_back(work: Work, branch: RunBranch, mine: Finished, result: Conflict | Red) -> Outcome:
    """Give the task a workspace with both sides, on top of what has landed, and say what is what in a document."""
    root = branch.root
    if isinstance(result, Conflict):
        why, tree, note = "conflict", result.tree, _listed(result.files)
        note += f" (with {', '.join(result.others)})" if result.others else ""
        _tell(work, CONFLICT, conflict_text(branch, mine, result))
    else:
        why, tree = "red", merging.merge(root, result.on, mine.commit).tree
        note = f"together with {result.culprit}: {result.note}" if result.culprit else result.note
        _tell(work, RED, red_text(branch, mine, result))
    _remove(work, branch)
    _open(work, Return(why, result.on, tree, mine.commit))
    return Outcome(why, note)


def _unsettled(root: Path, one: Workspace, commit: str) -> str:
    """Why work that came back is not to be tried again: it was dropped, left as it was, or still has markers.

    What has no markers may be left as it was if it was committed like that.
    """
    if not commit:
        return f"nothing of the work of {one.task} is left"
    names = (one.base, one.work) if one.work else ()
    left = merging.grep(root, commit, marker(*names), merging.differing(root, one.base, commit))
    if left:
        return f"markers are left in {_listed(left)}"
    if merging.tree_of(root, commit) == one.tree and not workspace.is_committed(root, one):
        return "nothing was changed since it came back"
    return ""


def _tell_dropped(work: Work, one: Workspace, commit: str) -> None:
    """Tell and note which lines of either side are gone now that the conflict is settled."""
    root, began = work.project.root, merging.parent(work.project.root, one.work)
    before = work.state.fields.get(DROPPED)
    noted = list(before) if isinstance(before, list) else []
    for whose, side, other in ((one.task, one.work, one.base), ("what had landed", one.base, one.work)):
        for path, lines in dropped_lines.find(root, began, side, other, commit).items():
            count = "1 line" if len(lines) == 1 else f"{len(lines)} lines"
            shown = {"of": whose, "file": printable(path), "lines": [printable(line) for line in lines[:_MOST_NOTED]]}
            found = {**shown, "number": len(lines), "in": side[:12]}
            if found not in noted:
                noted.append(found)
                said = "; ".join(line[:80] for line in shown["lines"][:3])
                work.say(f"⚠ settling the conflict dropped {count} of {whose} in {shown['file']}: {said}")
    if noted:
        work.note(DROPPED, noted)


def _listed(files: Iterable[str]) -> str:
    return ", ".join(map(printable, files))


def _remove(work: Work, branch: RunBranch) -> None:
    root, task = work.project.root, task_name(work)
    one = workspace.find(root, branch.key, task)
    if one:
        environment.clean_up(work.project, one.path, _log(work), work.environment())
        workspace.remove(root, one)
    variables.release(root, branch.key, task)
