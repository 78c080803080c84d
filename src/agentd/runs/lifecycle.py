"""How a run is taken from where it stands as far as it goes: its lock, what is said first, what is told at the end."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from agentd.engine.advance import start as start_run
from agentd.engine.decide import Stop
from agentd.errors import AgentdError, GateClosed, Interrupted, UsageError
from agentd.runs import gitignore, ports
from agentd.runs.choice import writable
from agentd.runs.family import family_of, load
from agentd.runs.project import Project
from agentd.runs.report import Report, report
from agentd.runs.work import Work, work_on
from agentd.state import durable, lock
from agentd.state.layout import Place
from agentd.state.store import new_state


def start(
    project: Project,
    workflow_name: str,
    name: str,
    description: str,
    mode: str = "",
    command: str = "",
    steps: int | None = None,
    fields: Mapping[str, Any] | None = None,
    without: Sequence[str] = (),
) -> Report:
    """A new run, `without` some of its phases: its folder, its lock, its first save; then it goes on like any other."""
    workflow = project.workflow("~".join((workflow_name, *without)), runnable=True)
    if mode and mode not in workflow.starts:
        raise UsageError(f"{workflow_name} has no mode '{mode}'.", f"one of: {', '.join(workflow.starts)}")
    place = project.new_place(workflow_name, name)
    first_step = workflow.starts[mode or next(iter(workflow.starts))]
    load(project.layout(place.family)).agents().refuse_unready(project, workflow, first_step, command)
    durable.make_folder(place.folder)
    gitignore.write(project.root, project.layouts)
    with lock.acquire(place.folder, command or f"run {workflow_name}"):
        store, layout = project.store(place), project.layout(place.family)
        if store.exists():
            if not command:
                raise AgentdError(f"The run '{name}' exists already.", f"agentd status {name}")
            state = store.load()  # the same command was given twice at once, and the other one was first
        else:
            load(layout).started(project, place)
            description = writable(description)
            state = new_state(start_run(workflow, name, mode), description=description, **(fields or {}))
        work = Work(project, layout, workflow, store, state)
        work.laps.command = command or f"run {workflow_name}"
        if not store.exists():
            work.keep("start", workflow=workflow_name, mode=mode, description=description)
        try:
            stop = _drive(work, command, steps)
        except Interrupted as signal:
            if not command:
                signal.again = f"agentd resume {workflow_name}/{name}"
            raise
    return told(project, place, work, stop)


def go_on(
    project: Project,
    place: Place,
    command: str = "",
    steps: int | None = None,
    first: Callable[[Work], Stop | None] = lambda work: None,
) -> Report:
    """Take the run's lock and drive it from where it stands; `first` may do something before, or all there is to do."""
    with lock.acquire(place.folder, command or "resume"):
        work = work_on(project, place, runnable=True)
        work.laps.command = command or "resume"
        family_of(work).settled(work)
        stop = _drive(work, command, steps, first)
    return told(project, place, work, stop)


def _drive(
    work: Work, command: str, steps: int | None, first: Callable[[Work], Stop | None] = lambda work: None
) -> Stop:
    """Say what is to be said, go on, and where the run is blocked by what can be made again, go on from there once."""
    family = family_of(work)
    for line in family.opening(work, command) if family.opening else notices(work):
        work.say(line)
    stop = first(work) or ports.go(work, command, steps)
    if stop.why == "blocked" and family.unblock(work, stop, command):
        stop = ports.go(work, command, steps)
    family.settled(work)
    return stop


def notices(work: Work) -> Iterator[str]:
    """What a person should know about who plays the roles: said once in a run, and again when it is something else."""
    found = "\n".join(family_of(work).agents().notices(work.project, work.workflow))
    if found != str(work.state.fields.get("notices") or ""):
        work.note("notices", found)
        yield from found.splitlines()


def told(project: Project, place: Place, work: Work, stop: Stop) -> Report:
    """The report on a run that was driven, or the error it stopped with."""
    family = family_of(work)
    if stop.why in ("blocked", "failed"):
        known = family.explain(work, stop)
        if known is not None:
            raise known
    if stop.why == "blocked":
        folder, again = project.relative(work.store.folder), report(project, place, work.state).next
        raise GateClosed(f"Step {work.state.run.step} cannot start: {stop.note} (in {folder}).", again)
    moved = Place(place.family, place.name, work.store.folder)
    found = report(project, moved, work.state, family.summary(work.state))
    return replace(found, why=stop.why, note=stop.note or found.note, drove=True)


def look(project: Project, place: Place) -> Report:
    """The report on a run that is not driven."""
    state = project.store(place).load()
    return report(project, place, state, load(project.layout(place.family)).summary(state))
