"""What a run delivers: its branch with a summary, and the ways it gets to a person's own branch when they ask for it."""

import shlex
import shutil
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from agentd import process, temporary
from agentd.errors import AgentdError, NotFound, Refused
from agentd.git import committing, merging, repository
from agentd.git.program import quoted, text
from agentd.landing import run_branch, unlanded
from agentd.landing.run_branch import RunBranch
from agentd.landing.task import DROPPED, LANDED
from agentd.runs import undelivered
from agentd.runs.project import Project
from agentd.runs.report import children
from agentd.runs.worktree import landing_branch, landing_key
from agentd.state import lock
from agentd.state.layout import Place
from agentd.usage.calls import spent
from agentd.values import dataclass

_GH_SECONDS = 120


@dataclass(frozen=True)
class Delivery:
    """The branch of a run as it is now, the tasks that landed on it by their commits, and a summary for people.

    `run` is the name of the run as a person types it.
    """

    run: str
    place: Place
    branch: RunBranch
    tip: str
    tasks: Mapping[str, str]
    title: str
    summary: str


def prepare(project: Project, name: str) -> Delivery:
    """Return what a run has to deliver; nothing is changed."""
    place = project.find(name)
    key, branch = landing_key(project.root, place.family, place.name), landing_branch(project.root, place.name)
    line = run_branch.find(project.root, key, branch)
    tip = merging.look_up(project.root, f"refs/heads/{branch}").commit
    if line is None or not tip:
        raise NotFound(f"'{place.name}' has no branch: nothing has landed.", f"agentd status {name}")
    tasks = line.landed()
    if not tasks:
        raise NotFound(f"Nothing has landed on {branch} yet.", f"agentd status {name}")
    description = str(project.store(place).peek().fields.get("description") or place.name).strip()
    title = " ".join(description.split("\n")[0].split())
    return Delivery(
        name, place, line, tip, tasks, title[:100], "\n".join(_summary(project, place, line, tasks, description))
    )


def _summary(project: Project, place: Place, line: RunBranch, tasks: Mapping[str, str], why: str) -> list[str]:
    """What was done and why, what proves it, what did not land, and what it cost."""
    stores = {store.folder.name: store.peek() for store in children(place)}
    proofs = {task: state.fields.get(LANDED) for task, state in stores.items()}
    lines = [why, "", "## What landed", ""]
    for task, commit in tasks.items():
        subject = text(line.root, "log", "-1", "--format=%s", commit)
        found = proofs.get(task)
        proof = str(found.get("proof") or "") if isinstance(found, Mapping) else ""
        lines.append(
            f"- {subject if subject.startswith(f'{task}: ') else f'{task}: {subject}'} ({commit[:12]}){f': {proof}' if proof else ''}"
        )
    begun = {task: state for task, state in stores.items() if state.fields.get("git")}  # others have nothing to land
    open_ones = {task: state.run.result or state.run.step for task, state in begun.items() if task not in tasks}
    for task, names in unlanded.tasks(place.folder):
        where = project.relative(unlanded.folder(place.folder, task))
        if task not in tasks:
            open_ones[task] = f"{open_ones.get(task, 'given up')}, see {', '.join(f'{where}/{name}' for name in names)}"
    if open_ones:
        lines += ["", "## What did not land", "", *(f"- {task}: {why}" for task, why in sorted(open_ones.items()))]
    dropped = [f"- {task}: {line}" for task, state in stores.items() for line in _dropped(state.fields.get(DROPPED))]
    if dropped:
        lines += ["", "## Dropped when conflicts were settled", "", *dropped]
    made = spent(project.store(place).peek().fields)
    known = f"${made.cost:.4f}" if made.calls > made.unknown or not made.calls else "unknown"
    cost = f"{known} in {made.calls} calls" + (f", {made.unknown} of unknown cost" if made.unknown else "")
    stat = text(line.root, "diff", "--stat", "--no-color", "--no-ext-diff", line.start, line.ref)
    return [*lines, "", "## Files", "", "```", stat, "```", "", f"Cost: {cost}"]


def _dropped(noted: Any) -> Iterator[str]:
    """The lines of either side of a conflict that are gone, file by file, and where the file still has them."""
    for one in noted if isinstance(noted, list) else ():
        if isinstance(one, Mapping):
            path, lines = str(one.get("file")), one.get("lines")
            shown = "; ".join(str(line)[:80] for line in lines[:3]) if isinstance(lines, list) else ""
            all_of_it = f"git show {one.get('in')}:{shlex.quote(path)}"
            yield f"{path}: {one.get('number')} of {one.get('of')}: {shown} ({all_of_it})"


def merge(project: Project, found: Delivery) -> str:
    """Fast-forward the person's branch to that of the run, and return its name. Nothing is done if that is not possible."""
    root, name = project.root, found.branch.name
    here = f"git -C {quoted(root)}"
    if lock.holder(found.place.folder):
        raise Refused(f"{name} is being worked on; nothing was merged.", f"agentd stop {found.run}")
    committing.refuse_unsettled(root)
    current = repository.current_branch(root)
    if not _is_ancestor(root, "HEAD", found.tip):
        if _is_ancestor(root, found.tip, "HEAD"):
            _delivered(project, found)
            return current
        what = f"{current} has commits that {name} does not have, so it cannot be fast-forwarded; nothing was merged."
        raise Refused(what, f"{here} merge {name}")
    if text(root, "status", "--porcelain", "--untracked-files=no"):
        what = "There are changes that are not committed; nothing was merged."
        raise Refused(what, f"{here} status   # commit or stash them, then run the same command again")
    try:
        repository.git(root, "merge", "--quiet", "--ff-only", "--no-overwrite-ignore", found.tip)
    except AgentdError as error:
        said = " ".join(error.message.partition(": ")[2].split())
        what = f"git did not merge {name}, so that no file of yours is overwritten: {said}"
        raise Refused(what, f"{here} merge --ff-only {name}   # says which files are in the way") from None
    _delivered(project, found)
    return current


def _delivered(project: Project, found: Delivery) -> None:
    undelivered.unmark(project.root, found.place.family, found.place.name)


def open_request(project: Project, found: Delivery) -> str:
    """Push the branch and open a pull request with the summary; return what `gh` says of it."""
    root, name = project.root, found.branch.name
    remotes = text(root, "remote").split()
    if not remotes:
        raise NotFound(
            "There is no remote to push to; the branch stays here.",
            f"git remote add origin URL   # or: agentd deliver {found.run}",
        )
    remote = "origin" if "origin" in remotes else remotes[0]
    push = f"git -C {quoted(root)} push {remote} {name}"
    if not shutil.which("gh"):
        raise NotFound("The program gh, which opens pull requests, is not installed; nothing was pushed.", push)
    repository.git(root, "push", "--quiet", remote, f"refs/heads/{name}:refs/heads/{name}")
    with temporary.folder() as room:
        body = Path(room, "summary.md")
        body.write_text(found.summary, encoding="utf-8")
        words = ("gh", "pr", "create", "--head", name, "--title", found.title, "--body-file", str(body))
        done = process.run(words, cwd=root, timeout=_GH_SECONDS)
    if done.code or done.ended != "exit":
        said = " ".join(done.errors[-3:]) or f"exit {done.code}"
        raise AgentdError(
            f"{name} was pushed to {remote}, but gh opened no pull request: {said}", f"gh pr create --head {name}"
        )
    _delivered(project, found)
    return " ".join(done.output[-1:])


def _is_ancestor(root: Path, older: str, newer: str) -> bool:
    return not text(root, "rev-list", "--max-count=1", older, f"^{newer}")
