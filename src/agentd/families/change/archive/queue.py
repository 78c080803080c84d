"""`agentd archive --all`: every complete change, one after another, up to the first that needs a person."""

from collections.abc import Iterable
from dataclasses import dataclass

from agentd.errors import AgentdError, Stopped
from agentd.families.change import NAME
from agentd.families.change.archive.commands import bring, finish
from agentd.families.change.archive.spec_links import building
from agentd.library.exclusive import holding
from agentd.runs import state_guard
from agentd.runs.project import Project
from agentd.runs.report import Report
from agentd.state.layout import Place


@dataclass(frozen=True)
class Queue:
    """What became of each: those archived, the one that stopped it and why, those that were not tried, and those that
    cannot be read."""

    archived: tuple[Report, ...] = ()
    stopped: str = ""
    error: AgentdError | None = None
    left: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()


@dataclass(frozen=True)
class Waiting:
    """A complete change: since when, the specs it writes or removes, and the specs those build on."""

    place: Place
    since: str
    specs: frozenset[str]
    depends: frozenset[str]


def archive_all(project: Project) -> Queue:
    """Archive in order; what was archived before the first trouble stays archived.

    The library is free between two of them, so that nobody waits for all of it.
    """
    done: list[Report] = []
    found, unreadable = waiting(project)
    places = [one.place for one in ordered(found)]
    for at, place in enumerate(places):
        project.say(f"{place.name} ({at + 1}/{len(places)})")
        try:
            with holding(project.root):
                finish(project)
                if place.folder.exists():  # else somebody else has archived it meanwhile
                    told = bring(project, place)
                    if told.phase != "archived":
                        raise Stopped(f"'{place.name}' was not archived: {told.note or told.doing}.", told.next)
                    done.append(told)
        except AgentdError as error:
            return Queue(tuple(done), place.name, error, tuple(each.name for each in places[at + 1 :]), unreadable)
    return Queue(tuple(done), unreadable=unreadable)


def waiting(project: Project) -> tuple[list[Waiting], tuple[str, ...]]:
    """Every complete change, and the changes that cannot be read, which are left out with a word."""
    found, unreadable = [], []
    workflow = project.workflow(NAME)
    for place in (place for place in project.places(over=False) if place.family == NAME):
        store = project.store(place)
        try:
            state = store.peek()
        except AgentdError as error:
            project.say(f"⚠ {place.name} is left out: {error.message}")
            unreadable.append(place.name)
            continue
        if state_guard.standing(workflow, state.run).phase == "complete":
            since = str(state.fields.get(store.codec.updated_key, ""))
            found.append(Waiting(place, since, *building(place.folder)))
    return found, tuple(unreadable)


def ordered(changes: Iterable[Waiting]) -> list[Waiting]:
    """A change comes after those that write what its specs build on; otherwise the one that was complete first is first,
    also of those that build on each other."""
    left = sorted(changes, key=lambda one: (one.since, one.place.name))
    result: list[Waiting] = []
    while left:
        free = (one for one in left if not any(other.specs & one.depends for other in left if other is not one))
        result.append(next(free, left[0]))
        left.remove(result[-1])
    return result
