"""Which agents there are: the built-in ones in a table, those of other packages through the entry points `agentd.agents`.

It loads adapters and never starts an agent.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING

from agentd.agents import scripted
from agentd.errors import BadConfig, NotFound
from agentd.model.job import Command, Job, Reply

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "agentd.agents"


@dataclass(frozen=True)
class Adapter:
    """One agent: how a job becomes a program, and how the program's output becomes a reply."""

    name: str
    command: Callable[[Job], Command]
    read: Callable[[Iterable[str]], Reply]


ADAPTERS: Mapping[str, Adapter] = MappingProxyType(
    {
        "scripted": Adapter("scripted", scripted.command, scripted.read),
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
        raise NotFound(
            f"There is no agent called {name!r}.", fix=f"Name one of these in agentd/config.toml: {', '.join(known)}"
        )
    if len(found) > 1:
        packages = " and ".join(sorted(_package(point) for point in found))
        raise BadConfig(f"The packages {packages} both bring an agent called {name!r}.", fix=f"Keep one of {packages}.")
    return _load(found[0])


def _load(point: EntryPoint) -> Adapter:
    package = _package(point)
    try:
        loaded = point.load()
        adapter = Adapter(point.name, loaded.command, loaded.read)
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
    return adapter


def _package(point: EntryPoint) -> str:
    return (point.dist.name if point.dist else "") or point.value
