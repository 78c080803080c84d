"""`agentd archive --all`: archive every complete change in order, up to the first that needs a person."""

from collections.abc import Iterable

from agentd.errors import AgentdError, Stopped
from agentd.families.change import NAME
from agentd.families.change.archive.commands import archive_one, finish
from agentd.families.change.archive.spec_merge import dependencies
from agentd.library.exclusive import holding
from agentd.runs import state_guard
from agentd.runs.project import Project
from agentd.runs.report import Report
from agentd.state.layout import Place
from agentd.values import dataclass


@dataclass(frozen=True)
class Queue:
    """The changes that were archived, the one that stopped the queue and its error, those not tried, and those that
    cannot be read."""

    archived: tuple[Report, ...] = ()
    stopped: str = ""
    error: AgentdError | None = None
    left: tuple[str, ...] = ()
    unreadable: tuple[str, ...] = ()


@dataclass(frozen=True)
class Waiting:
    """A complete change: since when, the specs it writes or removes, and the specs that those depend on."""

    place: Place
    since: str
    specs: frozenset[str]
    depends: frozenset[str]


def archive_all(project: Project) -> Queue:
    """Archive in order; an error leaves archived what was archived before it.

    The lock of the library is released between two changes, so that other commands need not wait for all of them.
    """
    done: list[Report] = []
    found, unreadable = waiting(project)
    places = [one.place for one in ordered(found)]
    for at, place in enumerate(places):
        project.say(f"{place.name} ({at + 1}/{len(places)})")
        try:
            with holding(project.root):
                finish(project)
                if place.folder.exists():  # else another process has archived it
                    told = archive_one(project, place)
                    if told.phase != "archived":
                        raise Stopped(f"'{place.name}' was not archived: {told.note or told.doing}.", told.next)
                    done.append(told)
        except AgentdError as error:
            return Queue(tuple(done), place.name, error, tuple(each.name for each in places[at + 1 :]), unreadable)
    return Queue(tuple(done), unreadable=unreadable)


def waiting(project: Project) -> tuple[list[Waiting], tuple[str, ...]]:
    """Every complete change, and the names of those that cannot be read, which are skipped with a warning."""
    found, unreadable = [], []
    workflow = project.workflow(NAME)
    for place in (place for place in project.places(over=False) if place.family == NAME):
        store = project.store(place)
        try:
            state = store.peek()
        except AgentdError as error:
            project.say(f"⚠ skipped {place.name}: {error.message}")
            unreadable.append(place.name)
            continue
        if state_guard.standing(workflow, state.run).phase == "complete":
            since = str(state.fields.get(store.codec.updated_key, ""))
            found.append(Waiting(place, since, *dependencies(place.folder)))
    return found, tuple(unreadable)


def ordered(changes: Iterable[Waiting]) -> list[Waiting]:
    """The changes by age, but each after those that write the specs it depends on; age alone counts in a cycle."""
    left = sorted(changes, key=lambda one: (one.since, one.place.name))
    result: list[Waiting] = []
    while left:
        free = (one for one in left if not any(other.specs & one.depends for other in left if other is not one))
        result.append(next(free, left[0]))
        left.remove(result[-1])
    return result
