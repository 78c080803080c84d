"""Whether the agents that a run will need can be called, as far as that is seen without calling them. It starts nothing."""

import os
from collections.abc import Iterable, Iterator

from agentd.agents.logins import find_login
from agentd.calling import roster
from agentd.calling.roster import Player
from agentd.errors import AgentFailed
from agentd.model.workflow import Workflow
from agentd.runs.project import Project


def refuse_unready(project: Project, workflow: Workflow, step: str, command: str) -> None:
    """Refuse to begin at a step if the way forward needs an agent that is not installed, or that nobody ever logged in to."""
    for role in dict.fromkeys(_roles(project, workflow, step, command)):
        player = roster.player(project, role)
        if player.adapter.login and is_unused(project, player):
            raise AgentFailed(
                f"{player.agent} is to play the {role}, and nobody has logged in to it on this machine.",
                player.adapter.login,
                "it has neither a key in the environment nor files of its own",
                (
                    f"Log in: {player.adapter.login}",
                    f"Or, if it needs no login here, start it once by itself: {player.adapter.program}",
                    "Or see who else could play: agentd doctor",
                ),
            )


def _roles(project: Project, workflow: Workflow, name: str, command: str) -> Iterator[str]:
    """The roles on the way forward from a step, as far as the command goes."""
    seen: set[str] = set()
    while name not in seen:
        seen.add(name)
        step = workflow.steps[name]
        if command and step.phase not in workflow.commands.get(command, ()):
            return
        if step.kind == "agent":
            yield step.what
        elif step.kind == "each":
            inner = project.workflow(step.what)
            yield from (one.what for one in inner.steps.values() if one.kind == "agent")
        name = workflow.resolve(step, step.next[step.forward].to) if step.next else name


def is_unused(project: Project, player: Player) -> bool:
    """Whether an agent has no login that shows, and nothing in which a login could be that does not show.

    Any variable of its vendor, its settings in the project and a `.env` may hold one; so may a program of another name.
    """
    adapter, section = player.adapter, project.config.sections.get(player.agent, {})
    traces, home = adapter.traces, os.environ.get("HOME") or os.path.expanduser("~")
    if traces is None or traces.optional or find_login(adapter, section, os.environ) != "":
        return False
    if roster.program(project, player.agent)[:1] != [adapter.program]:
        return False
    if any(map(os.environ.get, _of_vendor(traces.variables))):
        return False
    own = [place for folder in adapter.folders for place in folder.places(home, os.environ)]
    own += [os.path.join(home, name) for name in (*adapter.home_files, ".env")]
    own += [os.path.join(project.root, name) for name in adapter.project_settings]
    own += [os.path.join(folder, ".env") for folder in (project.root, *project.root.parents)]
    return not any(map(os.path.exists, own))


def _of_vendor(variables: Iterable[str]) -> list[str]:
    """The variables of the environment that begin as these do: `ANTHROPIC_BASE_URL` as `ANTHROPIC_API_KEY`."""
    begin = tuple({name.partition("_")[0] + "_" for name in variables})
    return [name for name in os.environ if name.startswith(begin)]
