"""Who would play which role, and whether plans are challenged by somebody else than who made them."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from agentd.agents import table
from agentd.calling import roster
from agentd.calling.doctor.found import Found
from agentd.calling.roster import Player
from agentd.errors import AgentdError
from agentd.runs.project import Project


@dataclass(frozen=True)
class Part:
    """A role, the agent it is given to, and who plays it, the first one first; or why nobody does."""

    role: str
    wanted: str
    players: tuple[Player, ...] = ()
    error: AgentdError | None = None


def cast(project: Project) -> Iterator[Part]:
    for role in project.config.sections["roles"]:
        wanted = project.config.agent_of(role)
        try:
            yield Part(role, wanted, tuple(roster.line_up(project, role)))
        except AgentdError as error:
            yield Part(role, wanted, error=error)


def judge(project: Project, parts: Sequence[Part], agents: Mapping[str, Found]) -> Iterator[Found]:
    """What is to say about each role, by what is known about the agents."""
    for part in parts:
        yield _role(project, part, agents)
    if not any(part.error for part in parts if part.role in ("planner", "challenger")):
        yield from _independence(project)


def _role(project: Project, part: Part, agents: Mapping[str, Found]) -> Found:
    facts: dict[str, Any] = {"wanted": part.wanted, "agent": None, "model": None, "effort": None, "then": []}
    if part.error is not None:
        return Found("roles", part.role, "problem", part.error.message, part.error.fix, facts)
    first, *rest = part.players
    model = project.config.model_for(first.agent, "medium")
    facts |= {"agent": first.agent, "then": [player.agent for player in rest]}
    told = first.agent
    if model:
        facts |= {"model": model.model, "effort": model.effort or None}
        told += f" ({model.model}{f', effort {model.effort}' if model.effort else ''})"
    told += "".join(f", then {player.agent}" for player in rest)
    about = agents[first.agent]
    if about.level == "problem":
        return Found("roles", part.role, "problem", f"{told}, which does not work", about.fix, facts)
    if first.agent != part.wanted:
        fix = roster.remedy(project, part.wanted)
        return Found("roles", part.role, "warning", f"{told} instead of {part.wanted}: {first.why}", fix, facts)
    return Found("roles", part.role, "ok", told, facts=facts)


def _independence(project: Project) -> Iterator[Found]:
    planner, challenger = (roster.name(project, role) for role in ("planner", "challenger"))
    if planner != challenger:
        told = f"{challenger} challenges what {planner} plans"
        yield Found("roles", "independence", "ok", told, facts={"independent": True})
    elif roster.same_mind(project):
        others = [name for name in roster.STANDBYS if name != planner]
        there = next((name for name in others if not roster.missing(project, name)), "")
        edit = f'${{EDITOR:-vi}} agentd/config.toml   # [roles] challenger = "{there}"'
        told, fix = f"{planner} would challenge its own plan", edit if there else table.ADAPTERS[others[0]].install
        yield Found("roles", "independence", "warning", told, fix, {"independent": False})
