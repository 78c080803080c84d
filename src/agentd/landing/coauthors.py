"""The agents that worked on a task, as git names a co-author."""

from collections.abc import Mapping
from typing import Any

from agentd.agents.table import ADAPTERS
from agentd.runs.work import Work
from agentd.usage.recorded_calls import calls_in


def authors(work: Work) -> list[str]:
    """Return them in the order of their first calls."""
    above = "/".join(work.items_above())
    names = (str(entry.get("agent") or "") for entry in calls_in(work.top.state.fields) if _is_of(entry, above))
    return [_author(work, name) for name in dict.fromkeys(filter(None, names))]


def _is_of(entry: Mapping[str, Any], above: str) -> bool:
    return str(entry.get("call") or "").startswith(f"{above}/")


def _author(work: Work, agent: str) -> str:
    adapter = ADAPTERS.get(work.project.config.adapter_of(agent))
    return (adapter.author if adapter else "") or f"{agent} <{agent}@localhost>"
