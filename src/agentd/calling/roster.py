"""Which agent plays a role: the configured one, its fallbacks, or whichever is installed. It starts nothing."""

import os
import shlex
import shutil
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from agentd.agents import plugins
from agentd.agents.adapter import Adapter
from agentd.agents.table import ADAPTERS
from agentd.errors import BadConfig, NotFound, UnknownAgent
from agentd.model.workflow import Workflow
from agentd.runs.project import Project
from agentd.values import dataclass

# Tried in this order where no agent that was named is installed.
STANDBYS = tuple(name for name, adapter in ADAPTERS.items() if adapter.program)
EDIT = "${EDITOR:-vi} agentd/config.toml   # "
MODELS = '[{agent}] models = [{{id = "only", model = "openai:gpt-5", complexity = "critical"}}]'


@dataclass(frozen=True)
class Player:
    """An agent with its adapter. If it replaces the agent that was named, `why` says why."""

    agent: str
    adapter: Adapter
    why: str = ""


def line_up(project: Project, role: str) -> list[Player]:
    """The agent that plays a role, then the ones that take over if it cannot go on. Never empty: without any agent it raises."""
    wanted = project.config.agent_of(role)
    try:
        found = [each for each in _chain(project, wanted) if not missing(project, each)]
    except UnknownAgent as error:
        config = project.relative(project.root / "agentd" / "config.toml")
        raise NotFound(
            f"There is no agent '{error.agent}' to play the {role}.", f"edit {config}: {error.fix}"
        ) from None
    why = missing(project, wanted) if not found or found[0] != wanted else ""
    if not found:
        found = [each for each in STANDBYS if not missing(project, each)][:1]
    if not found:
        raise _nobody(project, role, wanted)
    return [Player(each, find(project, each), why) for each in found]


def player(project: Project, role: str) -> Player:
    """Who plays a role."""
    return line_up(project, role)[0]


def name(project: Project, role: str) -> str:
    """The name of the agent that plays a role; of the configured one if no agent is installed."""
    try:
        return player(project, role).agent
    except NotFound:
        return project.config.agent_of(role)


def find(project: Project, agent: str) -> Adapter:
    """The adapter that drives an agent."""
    return plugins.find(project.config.adapter_of(agent))


def missing(project: Project, agent: str) -> str:
    """What an agent lacks on this machine, in words; empty if it can be started."""
    return _lack(project, agent)[0]


def remedy(project: Project, agent: str) -> str:
    """What to do about what an agent lacks."""
    return _lack(project, agent)[1]


def _lack(project: Project, agent: str) -> tuple[str, str]:
    adapter = find(project, agent)
    if adapter.package and not _has(adapter.package):
        return f"{agent} needs the package {adapter.package}: {adapter.install}", adapter.install
    if adapter.needs == "models" and not project.config.models(agent):
        return f"[[{agent}.models]] names no model", f"{EDIT}{MODELS.format(agent=agent)}"
    words = _words(project, agent)
    if adapter.needs == "command" and not words:
        return f"[{agent}] command is not set", f'{EDIT}[{agent}] command = "path/to/program"'
    if not words or locate(project.root, words[0]):
        return "", ""
    install = adapter.install if words[0] == adapter.program else ""
    return f"{words[0]} is not installed", install or f'{EDIT}[{agent}] command = "path/to/program"'


def program(project: Project, agent: str) -> list[str]:
    """The words that start an agent's program; none if it needs none. A relative path begins at the project's root."""
    first, *rest = _words(project, agent) or [""]
    return [str(project.root / first) if os.sep in first else first, *rest] if first else []


def _words(project: Project, agent: str) -> list[str]:
    """The words that start an agent's program, as they stand in the configuration."""
    adapter = find(project, agent)
    if not adapter.program and adapter.needs != "command":
        return []
    text = str(project.config.sections.get(agent, {}).get("command", "")).strip() or adapter.program
    try:
        return shlex.split(text)
    except ValueError as error:
        fix = f'{EDIT}[{agent}] command = "path/to/program"'
        raise BadConfig(f"[{agent}] command = {text!r} cannot be read: {error}.", fix) from None


def locate(root: Path, word: str) -> str:
    """The path of a program, looked up as when an agent is started: on the PATH, or from the project's root."""
    return shutil.which(os.path.join(root, word) if os.sep in word else word) or ""


def notices(project: Project, workflow: Workflow) -> list[str]:
    """One warning about the agents of a workflow, if any: who replaces another, and who would challenge its own plan."""
    roles = dict.fromkeys(step.what for step in workflow.steps.values() if step.kind == "agent")
    replaced: dict[str, tuple[list[str], list[str]]] = {}
    for role in roles:
        try:
            stands_in = player(project, role)
        except NotFound:
            continue  # refused before the first call
        if stands_in.why:
            whys, played = replaced.setdefault(stands_in.agent, ([], []))
            whys += [stands_in.why] * (stands_in.why not in whys)
            played.append(role)
    found = [f"{' and '.join(whys)}: {agent} plays the {_list(played)}" for agent, (whys, played) in replaced.items()]
    if {"planner", "challenger"} <= roles.keys() and (agent := same_mind(project)):
        found.append(f"the challenger is not independent: {agent} is the planner too")
    return [f"⚠ {'; '.join(found)}"] if found else []


def _list(words: list[str]) -> str:
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def same_mind(project: Project) -> str:
    """The agent that would challenge its own plan; empty if planner and challenger differ, or play a script."""
    planner, challenger = (name(project, role) for role in ("planner", "challenger"))
    adapter = ADAPTERS.get(project.config.adapter_of(planner))
    has_mind = adapter is None or adapter.needs != "script"
    return planner if planner == challenger and has_mind else ""


def _chain(project: Project, first: str) -> list[str]:
    """An agent, its fallback, that one's fallback and so on, each once."""
    chain: list[str] = []
    agent = first
    while agent and agent not in chain:
        chain.append(agent)
        agent = project.config.fallback_of(agent)
    return chain


def _nobody(project: Project, role: str, wanted: str) -> NotFound:
    why, fix = _lack(project, wanted)
    return NotFound(f"There is no agent to play the {role}: {why}, and no other one is.", fix)


@cache
def _has(package: str) -> bool:
    return find_spec(package) is not None
