"""The rules of the sandbox, made from the environment and the file system: which paths a program may read and write.

The rule of the nearest parent applies to a path. A path without a rule may be read.
"""

import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from agentd.agents.table import ADAPTERS
from agentd.values import dataclass

Rule = Literal["write", "read", "empty", "temp"]

TEMPS = ("/tmp", "/var/tmp")
TEMP_NAMES = ("TMPDIR", *(agent.temp_variable for agent in ADAPTERS.values() if agent.temp_variable))
FOLDERS = [folder for agent in ADAPTERS.values() for folder in agent.folders]
HOME_FILES = [name for agent in ADAPTERS.values() for name in agent.home_files]
# These say which programs an agent starts and what it is told, outside of the sandbox too. Agents read each other's.
SETTINGS = {name for agent in ADAPTERS.values() for name in agent.settings}
PROJECT_SETTINGS = {name for agent in ADAPTERS.values() for name in agent.project_settings}
# Secrets below the home folder. No program sees them, except those that an agent logs in with.
SECRETS = (
    ".aws",
    ".azure",
    ".config/gcloud",
    ".bash_history",
    ".cargo/credentials.toml",
    ".config/BraveSoftware",
    ".config/chromium",
    ".config/gh",
    ".config/git/credentials",
    ".config/glab-cli",
    ".config/google-chrome",
    ".config/hub",
    ".config/op",
    ".config/rclone",
    ".docker",
    ".gem/credentials",
    ".git-credentials",
    ".gnupg",
    ".kube",
    ".local/share/keyrings",
    ".mozilla",
    ".netrc",
    ".password-store",
    ".pgpass",
    ".pypirc",
    ".python_history",
    ".ssh",
    ".terraform.d",
    ".thunderbird",
    ".zsh_history",
)
# Services that start programs outside of the sandbox or hand out keys. A read-only mount does not keep programs from
# talking to them.
DOORS = (
    "/run/containerd",
    "/run/dbus",
    "/run/docker.sock",
    "/run/libvirt",
    "/run/podman",
    "/run/snapd.socket",
    "/run/systemd/private",
    "/run/user",
)
DOOR_NAMES = ("XDG_RUNTIME_DIR", "SSH_AUTH_SOCK")


@dataclass(frozen=True)
class Reach:
    """What a program may reach.

    own       the folders of its run that it may write in any case
    edits     whether it may change the work tree `cwd`, always without git's folder, agentd's and the settings of agents
    agent     whether it may write the agents' own folders; otherwise they are hidden
    runs      agentd's own folders at the root
    writable  more paths that it may write, and `hidden` more that it may not see, from the configuration
    """

    cwd: str
    root: str
    env: Mapping[str, str]
    own: tuple[str, ...] = ()
    edits: bool = True
    agent: bool = False
    writable: tuple[str, ...] = ()
    hidden: tuple[str, ...] = ()
    runs: tuple[str, ...] = ()

    @property
    def home(self) -> str:
        return self.env.get("HOME") or os.path.expanduser("~")

    def find(self, program: str) -> str:
        """The path of a program, looked up as when it is started; empty if it does not exist."""
        return (
            shutil.which(os.path.join(self.cwd, program) if os.sep in program else program, path=self.env.get("PATH"))
            or ""
        )


def rules(reach: Reach, program: str) -> dict[str, Rule]:
    """The rules by path: for paths that exist, with all links resolved."""
    env = reach.env
    kept = [place for folder in FOLDERS for place in folder.places(reach.home, env)]
    kept += [os.path.join(reach.home, name) for name in HOME_FILES]
    used = {path for agent in ADAPTERS.values() for name, path in agent.credentials.items() if env.get(name)}
    secrets = [name for name in SECRETS if not (reach.agent and name in used)]
    wanted: list[tuple[Rule, list[str]]] = [
        ("temp", [*TEMPS, *(env.get(name, "") for name in TEMP_NAMES)]),
        # Before the agents' own folders, which stay writable where the work tree is the home folder.
        ("read", [os.path.join(folder, name) for folder in (reach.root, reach.cwd) for name in PROJECT_SETTINGS]),
        ("write" if reach.agent else "empty", kept),
        ("read", [os.path.join(folder, name) for folder in kept for name in SETTINGS] if reach.agent else []),
        ("empty", [os.path.join(reach.home, name) for name in secrets]),
        ("empty", [*DOORS, *(env.get(name, "") for name in DOOR_NAMES)]),
        ("read", [reach.root]),
        ("write" if reach.edits else "read", [reach.cwd]),
        ("read", [*_guarded(reach.root, reach.runs), *_guarded(reach.cwd, reach.runs)]),
        ("write", list(reach.own)),
        ("empty", _named(reach, reach.hidden)),
        ("write", _named(reach, reach.writable)),
    ]
    made = {real: rule for rule, paths in wanted for real in _real(paths)}
    shown: dict[str, Rule] = dict.fromkeys(_shown(made, _needed(reach, program)), "read")
    return shown | made


def first_time(reach: Reach, program: str) -> list[str]:
    """The folders that an agent makes on its first start. It cannot make them in the sandbox."""
    own = [folder.path for folder in FOLDERS if os.path.basename(folder.path).lstrip(".") == os.path.basename(program)]
    return [path for name in own if not os.path.exists(path := os.path.join(reach.home, name))]


def _guarded(folder: str, runs: Sequence[str]) -> Iterator[str]:
    """What programs outside of the sandbox obey in a work tree: git's folder, agentd's configuration and its runs."""
    for name in (".git", *runs):
        if not os.path.exists(os.path.join(folder, name, "__init__.py")):  # a package of that name is the project's own
            yield os.path.join(folder, name)


def _named(reach: Reach, paths: Sequence[str]) -> list[str]:
    """Absolute paths for those of the configuration: ~ is the home folder, others begin at the project's root."""
    return [os.path.join(reach.root, reach.home + path[1:] if path[:2] in ("~", "~/") else path) for path in paths]


def _real(paths: Sequence[str]) -> Iterator[str]:
    """The real paths of those that exist, as mounts need them. `/` never gets a rule."""
    for path in paths:
        real = os.path.realpath(path)
        if path and real != "/" and os.path.exists(real):
            yield real


def _needed(reach: Reach, program: str) -> list[str]:
    """The paths that a program and agentd's own server are loaded from, those in their environment included."""
    named = [part for name in ("PATH", "PYTHONPATH") for part in reach.env.get(name, "").split(os.pathsep)]
    places = (
        reach.find(program),
        reach.root,
        reach.home,
        sys.executable,
        sys.prefix,
        sys.base_prefix,
        *sys.path,
        *named,
    )
    literal = [os.path.abspath(os.path.join(reach.cwd, place)) for place in places if place]
    return [*literal, *map(os.path.realpath, literal)]


def _shown(made: Mapping[str, Rule], needed: Sequence[str]) -> Iterator[str]:
    """The entries of the shared temporary folders that needed paths go through, and that must stay visible."""
    for temp in (path for path, rule in made.items() if rule == "temp"):
        first = {path.removeprefix(f"{temp}/").partition("/")[0] for path in needed if path.startswith(f"{temp}/")}
        yield from _real([f"{temp}/{name}" for name in first])
