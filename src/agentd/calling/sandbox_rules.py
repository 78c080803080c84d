"""What a program in the sandbox may do with which paths: the rules, made from the environment and the file system.

The most specific rule above a path says what holds for it; where there is none, it may be read.
"""

import os
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

Rule = Literal["write", "read", "empty", "temp"]

TEMPS = ("/tmp", "/var/tmp")
TEMP_NAMES = ("TMPDIR", "CLAUDE_CODE_TMPDIR")
# What agents keep of their own, by their program: below the person's home, and where their environment says.
KEPT = {
    "claude": (".claude",),
    "codex": (".codex",),
    "copilot": (".copilot",),
    "gemini": (".gemini",),
    "opencode": (".cache/opencode", ".config/opencode", ".local/share/opencode", ".local/state/opencode"),
    "qwen": (".qwen",),
}
KEPT_FILES = (".claude.json",)
KEPT_NAMES = {
    "CLAUDE_CONFIG_DIR": "",
    "CODEX_HOME": "",
    "COPILOT_HOME": "",
    "GEMINI_CLI_HOME": ".gemini",
    "XDG_CACHE_HOME": "opencode",
    "XDG_CONFIG_HOME": "opencode",
    "XDG_DATA_HOME": "opencode",
    "XDG_STATE_HOME": "opencode",
}
# What in there says which programs an agent starts and what it is told: that would hold outside of the sandbox too.
SETTLED = (
    "settings.json",
    "config.toml",
    "hooks",
    "hooks.json",
    "CLAUDE.md",
    "AGENTS.md",
    "GEMINI.md",
    "opencode.json",
)
# What does the same for one project, in its work tree. Whole folders, at its top: a file in a folder that may be moved
# away is not guarded.
SETTLED_HERE = (
    ".claude",
    ".codex",
    ".gemini",
    ".mcp.json",
    ".opencode",
    ".qwen",
    "opencode.json",
    "opencode.jsonc",
)
# What nobody needs, below the person's home, with the variables that say that an agent logs in with it after all.
SECRETS: dict[str, tuple[str, ...]] = {
    ".aws": ("CLAUDE_CODE_USE_BEDROCK",),
    ".azure": ("CLAUDE_CODE_USE_FOUNDRY",),
    ".config/gcloud": ("CLAUDE_CODE_USE_VERTEX", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_CLOUD_PROJECT"),
    ".bash_history": (),
    ".cargo/credentials.toml": (),
    ".config/BraveSoftware": (),
    ".config/chromium": (),
    ".config/gh": (),
    ".config/git/credentials": (),
    ".config/glab-cli": (),
    ".config/google-chrome": (),
    ".config/hub": (),
    ".config/op": (),
    ".config/rclone": (),
    ".docker": (),
    ".gem/credentials": (),
    ".git-credentials": (),
    ".gnupg": (),
    ".kube": (),
    ".local/share/keyrings": (),
    ".mozilla": (),
    ".netrc": (),
    ".password-store": (),
    ".pgpass": (),
    ".pypirc": (),
    ".python_history": (),
    ".ssh": (),
    ".terraform.d": (),
    ".thunderbird": (),
    ".zsh_history": (),
}
# Whoever answers here starts programs outside of the sandbox, or hands out keys; to ask, nobody needs to write.
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
    """What a program is given.

    own       the folders of its run that it may write in any case
    edits     whether it may change the work tree, `cwd`; git's own folder, agentd's and the settings of agents it never may
    agent     whether what agents keep is there for it to write, or not there at all
    runs      the folders of agentd's own at the root
    writable  what else it may write, and `hidden` what else it may not see, as the configuration names them
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
        """Where a program is, found as it will be started; nothing if it is not there."""
        return (
            shutil.which(os.path.join(self.cwd, program) if os.sep in program else program, path=self.env.get("PATH"))
            or ""
        )


def rules(reach: Reach, program: str) -> dict[str, Rule]:
    """The rule of every path that has one and exists, every link on the way to it followed."""
    env = reach.env
    kept = list(_kept(reach))
    logins = [name for name, told in SECRETS.items() if not (reach.agent and any(env.get(each) for each in told))]
    wanted: list[tuple[Rule, list[str]]] = [
        ("temp", [*TEMPS, *(env.get(name, "") for name in TEMP_NAMES)]),
        # Before what agents keep: that is theirs to write, also where the work tree is the person's home.
        ("read", [os.path.join(folder, name) for folder in (reach.root, reach.cwd) for name in SETTLED_HERE]),
        ("write" if reach.agent else "empty", kept),
        ("read", [os.path.join(folder, name) for folder in kept for name in SETTLED] if reach.agent else []),
        ("empty", [os.path.join(reach.home, name) for name in logins]),
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
    """The folders that an agent makes when it is first started, and cannot make in the sandbox."""
    wanted = (os.path.join(reach.home, name) for name in KEPT.get(os.path.basename(program), ()))
    return [path for path in wanted if not os.path.exists(path)]


def _kept(reach: Reach) -> Iterator[str]:
    yield from (os.path.join(reach.home, name) for names in KEPT.values() for name in names)
    yield from (os.path.join(reach.home, name) for name in KEPT_FILES)
    yield from (os.path.join(reach.env[name], inner) for name, inner in KEPT_NAMES.items() if reach.env.get(name))


def _guarded(folder: str, runs: Sequence[str]) -> Iterator[str]:
    """What in a work tree says what programs outside of the sandbox do: git's folder, agentd's configuration and runs."""
    for name in (".git", *runs):
        if not os.path.exists(os.path.join(folder, name, "__init__.py")):  # a package of that name is the project's own
            yield os.path.join(folder, name)


def _named(reach: Reach, paths: Sequence[str]) -> list[str]:
    """Paths as a person writes them: from home with ~, else from the project's root."""
    return [os.path.join(reach.root, reach.home + path[1:] if path[:2] in ("~", "~/") else path) for path in paths]


def _real(paths: Sequence[str]) -> Iterator[str]:
    """Those that exist, as mounts need them; for the root of everything there is no rule."""
    for path in paths:
        real = os.path.realpath(path)
        if path and real != "/" and os.path.exists(real):
            yield real


def _needed(reach: Reach, program: str) -> list[str]:
    """Where a program, whatever it finds by its environment, and agentd's own server are read from."""
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
    """What has to be seen of the shared temporary folders: whatever the needed paths begin with there."""
    for temp in (path for path, rule in made.items() if rule == "temp"):
        first = {path.removeprefix(f"{temp}/").partition("/")[0] for path in needed if path.startswith(f"{temp}/")}
        yield from _real([f"{temp}/{name}" for name in first])
