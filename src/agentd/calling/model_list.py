"""Which of the configured models an agent's program knows, where the program can list them; no other is sent to it."""

import json
from functools import cache
from threading import Event

from agentd import process
from agentd.calling import roster
from agentd.errors import AgentdError
from agentd.model.models import AgentModel, Complexity
from agentd.runs.project import Project

PATIENCE = 20.0


def model_for(project: Project, agent: str, complexity: Complexity) -> AgentModel | None:
    """The configured model for work of a complexity. None: the one that the person chose in the agent's own settings."""
    model = project.config.model_for(agent, complexity)
    return None if model is None or is_unlisted(project, agent, model.model) else model


def notices(project: Project, agent: str) -> list[str]:
    """A warning about each configured model that is not sent to an agent."""
    names = dict.fromkeys(model.model for model in project.config.models(agent))
    return [
        f"it does not list the model {name} and is called without it; "
        f'[{agent}] args = ["--model", "{name}"] sends it all the same'
        for name in names
        if is_unlisted(project, agent, name)
    ]


def is_unlisted(project: Project, agent: str, model: str) -> bool:
    """Whether an agent's program lists its models, and this one is not among them."""
    adapter = roster.find(project, agent)
    if not adapter.listing:
        return False
    words = (*roster.program(project, agent), *adapter.listing)
    listed = _list(str(project.root), words, project.interrupted)
    return bool(listed) and model not in listed


@cache
def _list(root: str, words: tuple[str, ...], stop: Event) -> frozenset[str]:
    """The models that a program lists; none if it cannot, as older ones."""
    try:
        done = process.run(words, cwd=root, timeout=PATIENCE, grace=1.0, stop=stop)
        known = json.loads("\n".join(done.output)) if done.ended == "exit" and done.code == 0 else {}
    except (AgentdError, OSError, ValueError, RecursionError):
        return frozenset()
    match known:
        case {"models": [*models]}:
            return frozenset(str(each["slug"]) for each in models if isinstance(each, dict) and each.get("slug"))
    return frozenset()
