"""Which agents are installed and logged in, which one plays each role, and whether plans get an independent challenger."""

import os
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from agentd.agents import plugins
from agentd.agents.logins import find_login
from agentd.agents.table import ADAPTERS
from agentd.calling import model_list, roster
from agentd.calling.doctor.findings import Found, Level
from agentd.calling.doctor.machine import read_version
from agentd.calling.doctor.side_by_side import results
from agentd.calling.roster import Player
from agentd.errors import AgentdError
from agentd.runs.project import Project

# Who plays each role, the first one first, or why nobody does.
Cast = Mapping[str, list[Player] | AgentdError]


def find_cast(project: Project) -> Cast:
    found: dict[str, list[Player] | AgentdError] = {}
    for role in project.config.sections["roles"]:
        try:
            found[role] = roster.line_up(project, role)
        except AgentdError as error:
            found[role] = error
    return found


def playing(cast: Cast) -> dict[str, Player]:
    """The players that are called first in some role, by the names of their agents."""
    return {players[0].agent: players[0] for players in cast.values() if isinstance(players, list)}


def check_agents(project: Project, cast: Cast, scratch: Path, live: bool = False) -> Iterator[Found]:
    """Every agent that has a program of its own, comes from another package, or is named in the configuration.

    A program that the project names is only started if a person asked for `live` calls.
    """
    named = [*map(project.config.agent_of, cast), *project.config.sections["fallback"].values()]
    names = dict.fromkeys([*playing(cast), *named, *roster.STANDBYS, *plugins.installed()])
    with ThreadPoolExecutor(len(names)) as pool:
        yield from results(
            [pool.submit(_agent, project, name, name in playing(cast), name in named, scratch, live) for name in names]
        )


def _agent(project: Project, name: str, plays: bool, named: bool, scratch: Path, live: bool) -> Found:
    try:
        adapter = roster.find(project, name)
        lacks, words = roster.missing(project, name), roster.program(project, name)
    except AgentdError as error:
        return Found("agents", name, "warning", error.message, error.fix, {"installed": False})
    path = roster.locate(project.root, words[0]) if words else ""
    facts: dict[str, Any] = {"adapter": adapter.name, "installed": not lacks, "playing": plays, "path": path}
    if lacks:
        told = lacks.removeprefix(f"{name} is ") + ("" if named else "; no role needs it")
        return Found("agents", name, "warning" if named else "ok", told, roster.remedy(project, name), facts)
    section, version = project.config.sections.get(name, {}), ""
    trouble, brought = "", name in project.config.brought and not live
    if adapter.program and brought:
        version = "not started, because agentd/config.toml names it"
    elif adapter.program:
        version, trouble = read_version(project, [path, *words[1:]], scratch)
        if plays and not trouble:
            model_list.notices(project, name)  # its list of models is fetched here, and kept for its roles
    else:  # a person's own program may do anything if it is started with --version
        trouble = _lacks_script(project, name, section) if adapter.needs == "script" else ""
    facts["version"] = "" if brought else version
    if trouble:
        fix = adapter.install or f"${{EDITOR:-vi}} agentd/config.toml   # [{name}]"
        return Found("agents", name, "problem" if plays else "warning", trouble, fix, facts)
    facts["login"] = login = find_login(adapter, section, os.environ)
    told = ", ".join(filter(None, (version, path, f"login by {login}" if login else ""))) or "needs no program"
    if login == "":
        level: Level = "warning" if plays else "ok"
        return Found("agents", name, level, f"{told}, nobody seems to be logged in", adapter.login, facts)
    return Found("agents", name, "ok", told, facts=facts)


def _lacks_script(project: Project, name: str, section: Mapping[str, Any]) -> str:
    script = section.get("script", "")
    if not script:
        return f"[{name}] script is not set"
    return "" if (project.root / script).is_file() else f"there is no {project.root / script}"


def check_roles(project: Project, cast: Cast, agents: Mapping[str, Found]) -> Iterator[Found]:
    """Who plays each role, judged by what was found about the agents."""
    for role, players in cast.items():
        yield _role(project, role, players, agents)
    if any(isinstance(cast.get(role), AgentdError) for role in ("planner", "challenger")):
        return
    planner, challenger = (roster.name(project, role) for role in ("planner", "challenger"))
    if planner != challenger:
        told = f"{challenger} challenges what {planner} plans"
        yield Found("roles", "independence", "ok", told, facts={"independent": True})
    elif roster.same_mind(project):
        others = [name for name in roster.STANDBYS if name != planner]
        there = next((name for name in others if not roster.missing(project, name)), "")
        edit = f'{roster.EDIT}[roles] challenger = "{there}"'
        told, fix = f"{planner} would challenge its own plan", edit if there else ADAPTERS[others[0]].install
        yield Found("roles", "independence", "warning", told, fix, {"independent": False})


def _role(project: Project, role: str, players: list[Player] | AgentdError, agents: Mapping[str, Found]) -> Found:
    wanted = project.config.agent_of(role)
    facts: dict[str, Any] = {"wanted": wanted, "agent": None, "model": None, "effort": None, "then": []}
    if isinstance(players, AgentdError):
        return Found("roles", role, "problem", players.message, players.fix, facts)
    first, *rest = players
    facts |= {"agent": first.agent, "then": [player.agent for player in rest]}
    told = first.agent
    if model := model_list.model_for(project, first.agent, "medium"):
        facts |= {"model": model.model, "effort": model.effort or None}
        told += f" ({model.model}{f', effort {model.effort}' if model.effort else ''})"
    elif first.adapter.program:
        told += " (the model of its own settings)"
    told += "".join(f", then {player.agent}" for player in rest)
    if agents[first.agent].level == "problem":
        return Found("roles", role, "problem", f"{told}, which does not work", agents[first.agent].fix, facts)
    if unlisted := model_list.notices(project, first.agent):
        return Found(
            "roles", role, "warning", f"{told}: {unlisted[0]}", f"{roster.EDIT}[[{first.agent}.models]]", facts
        )
    if first.agent != wanted:
        fix = roster.remedy(project, wanted)
        return Found("roles", role, "warning", f"{told} instead of {wanted}: {first.why}", fix, facts)
    return Found("roles", role, "ok", told, facts=facts)
