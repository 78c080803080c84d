"""Which agents there are: the built-in ones in a table, those of other packages through the entry points `agentd.agents`.

It loads adapters and never starts an agent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import TYPE_CHECKING

from agentd.agents import acp, builtin, claude, codex, command, copilot, gemini, opencode, scripted
from agentd.errors import AgentdError, BadConfig, UnknownAgent
from agentd.model.job import Command, Job, Reply

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "agentd.agents"


@dataclass(frozen=True)
class Abilities:
    """What an agent's program can do, each in a word or two for the table in the docs; empty where it cannot."""

    resume: str = ""
    usage: str = ""
    cost: str = ""
    turn_cap: str = ""
    cost_cap: str = ""
    allow_list: str = ""
    structured_output: str = ""
    effort: str = ""


@dataclass(frozen=True)
class Adapter:
    """One agent: how a job becomes a program, and how the program's output becomes a reply.

    program  what has to be on the PATH; `command` in the agent's section of the configuration names another one
    install  what to type where it is not there, and `login` where nobody is logged in
    turns    the types of event that are turns: counted by agentd where the program has no cap of its own
    """

    name: str
    command: Callable[[Job], Command]
    read: Callable[[Iterable[str]], Reply]
    program: str = ""
    install: str = ""
    login: str = ""
    turns: tuple[str, ...] = ()
    can: Abilities = Abilities()


# What an adapter of another package may say besides its two functions.
OPTIONAL = ("program", "install", "login", "turns", "can")

ADAPTERS: Mapping[str, Adapter] = MappingProxyType(
    {
        "claude": Adapter(
            "claude",
            claude.command,
            claude.read,
            program="claude",
            install="npm install -g @anthropic-ai/claude-code",
            login="claude auth login",
            can=Abilities("by id", "each call", "says its own", "its own", "its own", "by tool and path", "yes", "yes"),
        ),
        "codex": Adapter(
            "codex",
            codex.command,
            codex.read,
            program="codex",
            install="npm install -g @openai/codex",
            login="codex login",
            turns=("item.completed",),
            can=Abilities("by id", "taken apart", "", "agentd's", "", "by sandbox and tool", "yes", "yes"),
        ),
        "gemini": Adapter(
            "gemini",
            gemini.command,
            gemini.read,
            program="gemini",
            install="npm install -g @google/gemini-cli",
            login="gemini   # and choose how to log in",
            turns=("tool_use",),
            can=Abilities("by id, same folder", "each call", "", "agentd's", "", "by policy", "", ""),
        ),
        "opencode": Adapter(
            "opencode",
            opencode.command,
            opencode.read,
            program="opencode",
            install="npm install -g opencode-ai",
            login="opencode auth login",
            turns=("step_start",),
            can=Abilities("by id", "each call", "says its own", "agentd's", "", "by permission", "", "yes"),
        ),
        "copilot": Adapter(
            "copilot",
            copilot.command,
            copilot.read,
            program="copilot",
            install="npm install -g @github/copilot",
            login="copilot login",
            turns=("assistant.turn_start",),
            can=Abilities("by id", "", "", "agentd's", "", "by tool", "", "yes"),
        ),
        "acp": Adapter(
            "acp",
            acp.command,
            acp.read,
            install="pip install 'agentd-workflows[acp]'",
            can=Abilities("by id", "uneven", "some say it", "by tools", "some", "by request", "", "some"),
        ),
        "builtin": Adapter(
            "builtin",
            builtin.command,
            builtin.read,
            install="pip install 'agentd-workflows[api]'",
            can=Abilities("by id", "each call", "", "its own", "if priced", "by tool and path", "", "yes"),
        ),
        "command": Adapter("command", command.command, command.read, can=Abilities("if it does", "if it says so")),
        "scripted": Adapter("scripted", scripted.command, scripted.read, can=Abilities("by id", "as scripted")),
    }
)


def find(name: str) -> Adapter:
    """The adapter of that name; a built-in one is never replaced by another package's."""
    return ADAPTERS.get(name) or _find_installed(name)


def _find_installed(name: str) -> Adapter:
    from importlib.metadata import entry_points  # some 50 ms that no built-in agent needs

    points = entry_points(group=GROUP)
    found = [point for point in points if point.name == name]
    if not found:
        known = sorted({*ADAPTERS, *(point.name for point in points)})
        raise UnknownAgent(name, f"name one of these: {', '.join(known)}")
    if len(found) > 1:
        packages = " and ".join(sorted(_package(point) for point in found))
        raise BadConfig(f"The packages {packages} both bring an agent called {name!r}.", fix=f"Keep one of {packages}.")
    return _load(found[0])


def _load(point: EntryPoint) -> Adapter:
    package = _package(point)
    try:
        loaded = point.load()
        more = {key: getattr(loaded, key) for key in OPTIONAL if hasattr(loaded, key)}
        adapter = Adapter(point.name, loaded.command, loaded.read, **more)
    except (Exception, SystemExit) as cause:  # importing another package's code can end in anything
        raise BadConfig(
            f"The agent {point.name!r} of the package {package} cannot be loaded: {type(cause).__name__}: {cause}",
            fix=f"pip install --upgrade --force-reinstall {package}",
        ) from cause
    if not (callable(adapter.command) and callable(adapter.read)):
        raise BadConfig(
            f"The agent {point.name!r} of the package {package} is no adapter: `command` and `read` must be functions.",
            fix=f"pip install --upgrade {package}",
        )
    return replace(adapter, command=_told_of(package, adapter))


def _told_of(package: str, adapter: Adapter) -> Callable[[Job], Command]:
    """The adapter's function; where it fails, its package is named instead of agentd."""

    def command(job: Job) -> Command:
        try:
            return adapter.command(job)
        except AgentdError:
            raise
        except Exception as cause:
            raise BadConfig(
                f"The agent {adapter.name!r} of the package {package} failed: {type(cause).__name__}: {cause}",
                fix=f"pip install --upgrade {package}",
            ) from cause

    return command


def _package(point: EntryPoint) -> str:
    return (point.dist.name if point.dist else "") or point.value
