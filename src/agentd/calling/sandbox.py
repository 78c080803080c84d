"""Bubblewrap around the programs of a run: everything is there to be read, little to be written, secrets not at all.

It makes words out of words; nothing is started but one trial of `bwrap`.
"""

import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from agentd import process
from agentd.calling.sandbox_rules import Reach, Rule, first_time, rules
from agentd.errors import AgentdError
from agentd.model.job import Command, Job
from agentd.runs.project import Project
from agentd.runs.worktree import workspace_around
from agentd.state import durable, lock
from agentd.values import dataclass

# A user namespace of its own keeps a program out of the memory, the environment and the root (`/proc/PID/root`) of
# processes outside. Numbers of processes stay what they are: agentd finds and ends everything as ever.
FLAGS = ("--unshare-user", "--die-with-parent", "--cap-drop", "ALL")
# What root needs for a sandbox within the sandbox, which codex makes; others need nothing for it.
ROOT_FLAGS = ("--cap-add", "CAP_SETFCAP")
ORDERS = ("/proc/sys", "/proc/sysrq-trigger")
# agentd asks all processes of a program to end. If bwrap did, the program would be killed before it has ended its work.
PATIENT, ORDINARY = ("env", "--ignore-signal=TERM"), ("env", "--default-signal=TERM")
BARE = ("--ro-bind", "/", "/", "--dev", "/dev", "--proc", "/proc")
# Which setting lets nobody make a user namespace, by its file: the value that does, why, and what to do about it.
REFUSALS = (
    (
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "1",
        "AppArmor allows no user namespaces",
        "sudo sysctl -w kernel.apparmor_restrict_unprivileged_userns=0",
    ),
    (
        "/proc/sys/kernel/unprivileged_userns_clone",
        "0",
        "the kernel allows no user namespaces",
        "sudo sysctl -w kernel.unprivileged_userns_clone=1",
    ),
    (
        "/proc/sys/user/max_user_namespaces",
        "0",
        "the kernel allows no user namespaces",
        "sudo sysctl -w user.max_user_namespaces=15000",
    ),
)
INSTALL = "sudo apt install bubblewrap   # or: dnf install bubblewrap, pacman -S bubblewrap"
TRY = "bwrap --unshare-user --ro-bind / / true   # in a container: allow it to make user namespaces"


@dataclass(frozen=True)
class Front:
    """How the sandbox is started: the words before its rules and those after them, or why there is none and the fix."""

    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()
    why: str = ""
    fix: str = ""


def around_agent(
    project: Project, job: Job, command: Command, environment: Mapping[str, str] | None = None
) -> tuple[str, ...]:
    """The words that start an agent for a job, in the sandbox that the configuration asks for.

    The temporary folder that `environment` names is the workspace's own, like its files.
    """
    if not _is_wanted(project, Path(job.cwd)):
        return command.argv
    own = [job.folder, job.scratch]
    inside = workspace_around(project.root, Path(job.cwd))
    if inside:
        own.append(str(inside / ".git"))  # nobody believes what is in it
        own += filter(None, [(environment or {}).get("TMPDIR")])
    for name in job.writable:
        path = project.root / name
        if path.name == lock.NAME:
            lock.there(path.parent)
        else:
            durable.make_folder(path)
        own.append(str(path))
    env = {**os.environ, **job.env, **command.env}
    reach = Reach(
        job.cwd, str(project.root), env, tuple(own), job.edits or job.litters, agent=True, runs=project.own_folders()
    )
    return wrap(project, command.argv, reach)


def around_tests(project: Project, cwd: Path) -> Callable[[Sequence[str]], tuple[str, ...]]:
    """What puts the sandbox around a command of the project: it may change the work tree, and nothing of agentd's."""
    if project.config.get("sandbox", "mode") in ("off", "workspaces"):
        return tuple
    reach = Reach(str(cwd), str(project.root), os.environ, runs=project.own_folders())
    return lambda argv: wrap(project, argv, reach)


def _is_wanted(project: Project, cwd: Path) -> bool:
    """Whether an agent runs in a sandbox: by default where it works beside others, and only its workspace is its own."""
    mode = project.config.get("sandbox", "mode")
    return mode in ("auto", "on") or (mode == "workspaces" and workspace_around(project.root, cwd) is not None)


def confines(project: Project, cwd: Path) -> bool:
    """Whether an agent that works there can write nowhere else."""
    return _is_wanted(project, cwd) and not _known_front(project).why


def wrap(project: Project, argv: Sequence[str], reach: Reach) -> tuple[str, ...]:
    """The words that start a program with this reach; as they were where there is no sandbox, if that is allowed."""
    settings = project.config.sections["sandbox"]
    front = _known_front(project)
    if front.why and settings["mode"] == "on":
        raise AgentdError(f'[sandbox] mode = "on", but {front.why}.', front.fix)
    if front.why:
        project.say_once(f"⚠ no sandbox: {front.why}. Fix: {front.fix}")
        return tuple(argv)
    if not argv or not reach.find(argv[0]):
        return tuple(argv)  # whoever starts it says what is not there
    reach = replace(reach, writable=settings["writable"], hidden=settings["hidden"])
    for path in first_time(reach, argv[0]) if reach.agent else ():
        durable.make_folder(Path(os.path.realpath(path)))  # a person's own folders may be links
    return enclose(argv, front, rules(reach, argv[0]), reach.cwd)


def _known_front(project: Project) -> Front:
    """How the sandbox is started, tried once for as long as a project is open."""
    path = os.environ.get("PATH", os.defpath)
    front: Front = project.known.get(("sandbox", path)) or find_front(path)
    project.known["sandbox", path] = front
    return front


def enclose(argv: Sequence[str], front: Front, rules: Mapping[str, Rule], cwd: str) -> tuple[str, ...]:
    """The words that start a program under these rules, whatever lies in a folder after the folder itself."""
    if front.after and "=" in argv[0]:  # `env` would take it for a variable
        front = Front(front.before[len(PATIENT) :])
    words = [*front.before, *BARE]
    if os.geteuid() == 0:
        # Root may write what the kernel takes orders from, whatever else was taken away.
        words = [*front.before, *ROOT_FLAGS, *BARE]
        rules = {**{path: "read" for path in ORDERS if os.path.exists(path)}, **rules}
    for path in sorted(rules, key=lambda path: path.split("/")):
        words += _mount(path, rules[path])
    return (*words, "--chdir", os.path.realpath(cwd), "--", *front.after, *argv)


def _mount(path: str, rule: Rule) -> tuple[str, ...]:
    if rule == "temp":
        return "--perms", "1777", "--tmpfs", path
    if rule == "empty":
        return ("--tmpfs", path) if os.path.isdir(path) else ("--ro-bind", "/dev/null", path)
    if rule == "read":
        return "--ro-bind", path, path
    return "--dev-bind" if path.startswith("/dev/") else "--bind", path, path


def find_front(path: str) -> Front:
    """How `bwrap` is started, after a trial: that it is there does not mean that the kernel lets it work."""
    if sys.platform != "linux":
        return Front(why=f"there is no bubblewrap for {sys.platform}", fix='set mode = "off" in [sandbox]')
    bwrap = shutil.which("bwrap", path=path)
    if bwrap is None:
        return Front(why="bubblewrap is not installed", fix=INSTALL)
    said = ""
    for front in (Front((*PATIENT, bwrap, *FLAGS), ORDINARY), Front((bwrap, *FLAGS))):
        done = process.run(enclose(("true",), front, {}, "/"), cwd="/", timeout=10)
        if done.code == 0:
            return front
        said = " ".join(done.errors[-2:]) or f"exit {done.code}"
    return explain(said, {name: _said(name) for name, *_ in REFUSALS})


def explain(said: str, settings: Mapping[str, str]) -> Front:
    """Why `bwrap` does not work, by what it said and by the kernel's settings, and what to do about it."""
    for name, value, why, fix in REFUSALS:
        if settings.get(name) == value:
            return Front(why=f"bwrap does not work, as {why} ({said})", fix=fix)
    return Front(why=f"bwrap does not work ({said})", fix=TRY)


def _said(name: str) -> str:
    try:
        return Path(name).read_text(encoding="ascii").strip()
    except (OSError, ValueError):
        return ""
