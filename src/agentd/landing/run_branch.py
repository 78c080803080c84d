"""The branch of a run: where its work lands, commit by commit, until a person merges it.

What has landed is read from the branch itself, so that no second record can disagree with it.
"""

from collections.abc import Iterable
from pathlib import Path

from agentd.errors import AgentdError, Refused
from agentd.git import merging
from agentd.git.program import quoted, run, text
from agentd.values import dataclass

RUN, TASK = "Agentd-Run", "Agentd-Task"


@dataclass(frozen=True)
class RunBranch:
    """The branch of one run.

    key    the name of the run below refs/agentd, where its other refs are
    name   the name of the branch
    start  the commit it began at
    """

    root: Path
    key: str
    name: str
    start: str

    @property
    def ref(self) -> str:
        return f"refs/heads/{self.name}"

    @property
    def kept(self) -> str:
        """The ref that is moved with the branch, so that nothing is lost with it."""
        return f"refs/agentd/{self.key}/tip"

    def tip(self) -> str:
        """Return the last commit; refuse a branch that a person has checked out or deleted."""
        found = merging.look_up(self.root, self.ref)
        if not found.commit:
            again = f"git -C {quoted(self.root)} branch {self.name} {self.kept}"
            raise AgentdError(f"The branch {self.name} is gone; {self.kept} has what had landed on it.", again)
        if found.checked_out:
            place = quoted(Path(found.checked_out))
            what = f"{self.name} is checked out in {found.checked_out}, and landing would move it under your feet."
            raise Refused(what, f"git -C {place} switch --detach   # then run the same command again")
        return found.commit

    def set_back(self, to: str, name: str) -> str:
        """Move the branch back to an earlier commit; what was on it is kept under the ref that is returned."""
        tip, ref = self.tip(), f"refs/agentd/{self.key}/aside/{name}"
        orders = f"update {ref} {tip}\nupdate {self.ref} {to} {tip}\nupdate {self.kept} {to}\n"
        run(self.root, "update-ref", "--stdin", stdin=f"start\n{orders}prepare\ncommit\n".encode())
        return ref

    def landed(self, since: str = "") -> dict[str, str]:
        """Return the commits that brought tasks since a commit, by task, the oldest first."""
        form = f"--format=%H%x00%(trailers:key={RUN},valueonly,separator=%x2C)%x00%(trailers:key={TASK},valueonly,separator=%x2C)"
        words = (
            "log",
            "--first-parent",
            "--reverse",
            "--no-show-signature",
            form,
            f"{since or self.start}..{self.ref}",
        )
        found: dict[str, str] = {}
        for line in text(self.root, *words, accept=(0, 128)).splitlines():  # 128: the branch is gone
            commit, of, task = line.split("\0")
            if of == self.key and task:
                found[task] = commit
        return found


def find(root: Path, key: str, name: str) -> RunBranch | None:
    """Return the branch of a run, or None if it has not begun one."""
    start = merging.look_up(root, _mark(key)).commit
    return RunBranch(root, key, name, start) if start else None


def known(root: Path, key: str, name: str, stamp: str) -> RunBranch | None:
    """Return the branch that was made for the run with this stamp, or None if there is none."""
    return find(root, key, name) if merging.look_up(root, _began(key, stamp)).commit else None


def _mark(key: str) -> str:
    return f"refs/agentd/{key}/start"


def _began(key: str, stamp: str) -> str:
    return f"refs/agentd/{key}/began/{stamp}"


def begin(root: Path, key: str, name: str, start: str, stamp: str = "once") -> RunBranch:
    """Make the branch of a new run at a commit, or find the one that was made for it before.

    `stamp` tells the run from an earlier one of the same name, whose branch is not its own.
    """
    merging.refuse_old_git()
    if ".." in name or name.endswith((".", ".lock")):
        raise AgentdError(f"git cannot have a branch {name}.", "agentd run WORKFLOW --name ANOTHER")
    if found := known(root, key, name, stamp):
        return found
    branch = RunBranch(root, key, name, start)
    if find(root, key, name):
        again = f"git branch -m {name} {name}-old; git update-ref -d {_mark(key)}"
        raise AgentdError(f"{name} is the branch of an earlier run of this name.", again)
    if merging.look_up(root, branch.ref).commit:
        raise AgentdError(f"The branch {name} exists already.", f"git branch -m {name} {name}-old")
    refs = (branch.ref, _mark(key), _began(key, stamp), branch.kept)
    orders = "".join(f"update {ref} {start}\n" for ref in refs)
    run(root, "update-ref", "--stdin", stdin=f"start\n{orders}prepare\ncommit\n".encode())
    return branch


def message(subject: str, body: str, branch: RunBranch, task: str, authors: Iterable[str] = ()) -> str:
    """Return the message of a commit that brings a task: who did it with the person, and whose it is."""
    trailers = [*(f"Co-authored-by: {author}" for author in authors), f"{RUN}: {branch.key}", f"{TASK}: {task}"]
    parts = (" ".join(subject.split()) or task, body.strip(), "\n".join(trailers))
    return "\n\n".join(filter(None, parts)) + "\n"
