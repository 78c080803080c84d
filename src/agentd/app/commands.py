"""What a face can ask for: start, go on, answer, stop. Each takes the project and returns values, printing nothing."""

import re
from datetime import UTC, datetime

from agentd.app import asking, base
from agentd.app.project import Project
from agentd.app.report import Report, pending, report
from agentd.app.work import Work
from agentd.engine.advance import start as start_run
from agentd.engine.decide import Stop
from agentd.errors import (
    AgentdError,
    BadAnswer,
    ChangeNotComplete,
    ChangeNotReady,
    GateClosed,
    Interrupted,
    MissingDescription,
    Rejected,
    UsageError,
)
from agentd.model.decision import Answer, Decision
from agentd.state import answers, durable, lock
from agentd.state.layout import Place
from agentd.state.store import new_state


def plan(project: Project, change: str, description: str = "") -> Report:
    """Start a change, or go on planning it; the phase alone says which."""
    place = project.new_place("change", change)
    if not project.store(place).exists():
        if not description.strip():
            raise MissingDescription(
                f"'{change}' is a new change and needs a description.", f'agentd plan {change} "what should change"'
            )
        return start(project, "change", change, description, command="plan")
    phase = project.store(place).load().run.phase
    if phase == "rejected":
        raise Rejected(
            f"The proposal of '{change}' was rejected; read the review in {project.relative(place.folder)}.",
            f"edit proposal.md, set 'phase: proposed' in STATE.yaml, then: agentd plan {change}",
        )
    return go_on(project, place, "plan")


def impl(project: Project, change: str) -> Report:
    """Implement a change whose plan was approved."""
    place = project.find(change, "change")
    phase = project.store(place).load().run.phase
    if phase in ("proposed", "rejected", "archived"):
        fixes = {
            "proposed": f"agentd plan {change}",
            "rejected": f"agentd status {change}",
            "archived": f"agentd log {change}",
        }
        raise ChangeNotReady(f"'{change}' is {phase}, so there is nothing to implement.", fixes[phase])
    if not any((folder / ".git").exists() for folder in (project.root, *project.root.parents)):
        raise ChangeNotReady("Implementing needs git, so that every change can be seen and undone.", "git init")
    return go_on(project, place, "impl")


def archive(project: Project, change: str) -> Report:
    """Bring the specs of a complete change into the library and move its folder to the archive."""
    place = project.find(change, "change")
    phase = project.store(place).load().run.phase
    if phase != "complete":
        fix = f"agentd status {change}" if phase in ("archived", "rejected") else f"agentd impl {change}"
        raise ChangeNotComplete(f"'{change}' is {phase}, not complete; nothing was moved.", fix)
    return go_on(project, place, "archive")


def run(project: Project, workflow: str, description: str, name: str = "", mode: str = "") -> Report:
    """Start a run of any workflow and drive it as far as it goes; given again for the same run, go on with it."""
    if workflow == "change":
        raise UsageError("The change workflow has its own commands.", 'agentd plan add-feature "what should change"')
    if not description.strip():
        raise MissingDescription(f"A new {workflow} run needs a description.", f'agentd run {workflow} "what to do"')
    name = name or _free_name(project, workflow, description)
    place = project.new_place(workflow, name)
    if project.store(place).exists():
        state = project.store(place).load()
        if (state.run.workflow, state.fields.get("description")) == (workflow, asking.writable(description)):
            return go_on(project, place)
    return start(project, workflow, name, description, mode=mode)


def start(
    project: Project,
    workflow_name: str,
    name: str,
    description: str,
    mode: str = "",
    command: str = "",
    steps: int | None = None,
) -> Report:
    """A new run: its folder, its lock, its first save; then it goes on like any other."""
    workflow = project.workflow(workflow_name, runnable=True)
    if mode and mode not in workflow.starts:
        raise UsageError(f"{workflow_name} has no mode '{mode}'.", f"one of: {', '.join(workflow.starts)}")
    place = project.new_place(workflow_name, name)
    durable.make_folder(place.folder)
    with lock.acquire(place.folder, command or f"run {workflow_name}"):
        store = project.store(place)
        if store.exists():
            if not command:
                raise AgentdError(f"The run '{name}' exists already.", f"agentd status {name}")
            state = store.load()  # the same command was given twice at once, and the other one was first
        else:
            if place.family == "change":
                base.begin(place.folder, project.root)
            description = asking.writable(description)
            first = new_state(start_run(workflow, name, mode), description=description)
            state = store.save(
                first, project.now(), "start", workflow=workflow_name, mode=mode, description=description
            )
        work = Work(project, workflow, store, state)
        try:
            stop = work.go(command, steps)
        except Interrupted as signal:
            if not command:
                signal.again = f"agentd resume {workflow_name}/{name}"
            raise
        _keep_base(project, place, work)
    return _told(project, place, work, stop)


def go_on(project: Project, place: Place, command: str = "", steps: int | None = None) -> Report:
    """Take the run's lock and drive it from where it stands."""
    with lock.acquire(place.folder, command or "resume"):
        store = project.store(place)
        state = store.load()
        workflow = project.workflow(state.run.workflow or place.family, runnable=True)
        work = Work(project, workflow, store, state)
        _keep_base(project, place, work)
        stop = work.go(command, steps)
        _keep_base(project, place, work)
    return _told(project, place, work, stop)


def _keep_base(project: Project, place: Place, work: Work) -> None:
    """While a change is planned it may touch any spec of the library; from then on only its own ones matter."""
    if place.family == "change" and work.state.run.phase == "proposed":
        base.widen(work.store.folder, project.root)
    elif place.family == "change" and work.state.run.phase != "rejected":
        base.prune(work.store.folder)


def _told(project: Project, place: Place, work: Work, stop: Stop) -> Report:
    if stop.why == "blocked":
        again = report(project, place, work.state).next
        folder = project.relative(work.store.folder)
        raise GateClosed(f"Step {work.state.run.step} cannot start: {stop.note} (in {folder}).", again)
    moved = Place(place.family, place.name, work.store.folder)
    return report(project, moved, work.state, stop)


def resume(project: Project, name: str, steps: int | None = None) -> Report:
    """Go on with any run. Between two commands of a workflow nothing is started: that is a person's word."""
    place = project.find(name)
    state = project.store(place).load()
    workflow = project.workflow(state.run.workflow or place.family)
    if not workflow.commands or state.run.phase not in workflow.phases:
        return go_on(project, place, steps=steps)
    owner = next((command for command, phases in workflow.commands.items() if state.run.phase in phases), "")
    first = workflow.first(state.run.phase).name
    opens = owner and workflow.commands[owner][0] == state.run.phase and owner != next(iter(workflow.commands))
    untouched = state.run.intent is None and state.run.step == first
    if not owner or (opens and untouched):
        return report(project, place, state)
    return go_on(project, place, owner, steps)


def answer(
    project: Project, name: str, decision_id: str, value: str, note: str = "", by: str = ""
) -> tuple[Decision, Answer, Report]:
    """Record a person's answer; whoever works on the run, or works on it next, takes it up."""
    place = project.find(name)
    state = project.store(place).load()
    found = pending(project, place, state)
    match = next(((store, decision) for store, decision in found if decision.id == decision_id), None)
    if match is None:
        resolved = next((d for d in state.decisions if d.id == decision_id), None)
        known = ", ".join(decision.id for _, decision in found) or "none"
        what = (
            f"is {resolved.status} already ({resolved.answer or resolved.resolution_reason})"
            if resolved
            else "is not a decision of this run"
        )
        raise BadAnswer(f"{decision_id} {what}; open decisions: {known}.", f"agentd status {name}")
    store, decision = match
    wanted = asking.choose(decision, Answer(decision_id, value, note, by))
    said = asking.give(project, store.folder, decision, wanted)
    if said.value != wanted.value:
        raise BadAnswer(f"{decision_id} was answered '{said.value}' by {said.by} before.", f"agentd status {name}")
    report_now = report(project, place, project.store(place).load())
    return decision, said, report_now


def request_stop(project: Project, name: str) -> bool:
    """Ask whoever works on the run to stop after the step under way; False if nobody does."""
    place = project.find(name)
    if lock.holder(place.folder) is None:
        return False
    answers.ask_to_stop(place.folder, project.who(), project.now())
    return True


def _free_name(project: Project, workflow: str, description: str) -> str:
    """A short name made of the description's first words; a number is added where it is taken."""
    if workflow == "staged":
        return "tmp"
    words = re.findall(r"[a-z0-9]+", description.lower())[:4] or ["run"]
    name = "-".join(words)[:60]
    if workflow == "team":
        name = f"{datetime.now(UTC):%Y-%m-%d}_{name}"
    number, free = 1, name
    while (place := project.new_place(workflow, free)).folder.exists():
        if _goes_on(project, place, workflow, description):
            return free
        number += 1
        free = f"{name}-{number}"
    return free


def _goes_on(project: Project, place: Place, workflow: str, description: str) -> bool:
    """Whether a folder holds an unfinished run that was started with the same words: the same command goes on with it."""
    if not project.store(place).exists():
        return False
    state = project.store(place).load()
    same = (state.run.workflow, state.fields.get("description")) == (workflow, asking.writable(description))
    return same and not state.run.result
