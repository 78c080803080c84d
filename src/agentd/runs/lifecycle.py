"""How a run is taken from where it stands as far as it goes: its lock, what is said first, what is told at the end."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from agentd.engine.advance import start as start_run
from agentd.engine.decide import Stop
from agentd.errors import AgentdError, GateClosed, Interrupted, UsageError
from agentd.library import snapshot
from agentd.library.pending import holding
from agentd.runs import decisions
from agentd.runs.project import Project
from agentd.runs.report import Report, report
from agentd.runs.work import Work
from agentd.state import durable, lock
from agentd.state.layout import Place
from agentd.state.store import new_state

AGENTLESS = "archive"  # the command that calls no agent


def start(
    project: Project,
    workflow_name: str,
    name: str,
    description: str,
    mode: str = "",
    command: str = "",
    steps: int | None = None,
    fields: Mapping[str, Any] | None = None,
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
                with holding(project.root):  # not in the middle of somebody's archive, which may be taken back
                    snapshot.begin(place.folder, project.root)
            description = decisions.writable(description)
            first = new_state(start_run(workflow, name, mode), description=description, **(fields or {}))
            state = store.save(
                first, project.now(), "start", workflow=workflow_name, mode=mode, description=description
            )
        work = Work(project, workflow, store, state)
        _open(work, command)
        try:
            stop = _drive(work, command, steps)
        except Interrupted as signal:
            if not command:
                signal.again = f"agentd resume {workflow_name}/{name}"
            raise
        _keep_base(project, place, work)
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
        store = project.store(place)
        state = store.load()
        workflow = project.workflow(state.run.workflow or place.family, runnable=True)
        work = Work(project, workflow, store, state)
        _keep_base(project, place, work)
        _open(work, command)
        stop = first(work) or _drive(work, command, steps)
        _keep_base(project, place, work)
    return told(project, place, work, stop)


def _drive(work: Work, command: str, steps: int | None) -> Stop:
    """Go on; where a document of the plan is not there (any more), back to the step that writes it, once.

    What a person has answered is not thrown away: then the document has to come back.
    """
    stop = work.go(command, steps)
    again = {"begin_anyway": "baseline", "unproven": "test", "harmed": "test", "stuck": "test"}.get(work.state.run.step)
    if stop.why == "blocked" and command == "impl" and again:
        work.say(f"⚠ {stop.note}: back to {again}")
        work.stand_at(again, stop.note, "back")
        return work.go(command, steps)
    if stop.why != "blocked" or command != "plan":
        return stop
    from agentd.families.change import challenge, specs

    if challenge.restore_report(work):
        return work.go(command, steps)
    asked = decisions.pending(work, work.state.run.step)
    answered = asked and decisions.valid_answer(work.store.folder, asked)
    step, children = ("", ()) if answered else specs.gap(work)
    order = list(work.workflow.steps)
    if not step or order.index(step) >= order.index(work.state.run.step):
        return stop
    work.say(f"⚠ {stop.note}: back to {step}")
    work.stand_at(step, stop.note, "back", children)
    return work.go(command, steps)


def _open(work: Work, command: str) -> None:
    """What is said before a run goes on: who stands in for whom; of a change, where it stands and what planning will cost."""
    if command != AGENTLESS:
        from agentd.calling import roster

        for line in roster.notices(work.project, work.workflow):
            work.say(line)
    title = {"plan": "planning", "impl": "implementation"}.get(command)
    if not title or not work.is_change:
        return
    work.say(f"📊 Current state: phase={work.state.run.phase.capitalize()}")
    if work.state.run.phase not in work.workflow.commands.get(command, ()):
        return
    work.say(f"▶️  Starting {title} workflow...")
    if command == "plan" and not work.state.fields.get("llm_calls"):
        from agentd.calling import budget

        work.say(budget.foresee(work))


def _keep_base(project: Project, place: Place, work: Work) -> None:
    """While a change is planned it may touch any spec of the library; from then on only its own ones matter."""
    if place.family == "change" and work.state.run.phase == "proposed":
        snapshot.widen(work.store.folder, project.root)
    elif place.family == "change" and work.state.run.phase != "rejected":
        snapshot.prune(work.store.folder)


def told(project: Project, place: Place, work: Work, stop: Stop) -> Report:
    if stop.why == "blocked":
        from agentd.families.change import challenge

        changed = work.is_change and challenge.plan_is_as_approved(work)
        again = f"agentd challenge {place.name}" if changed else report(project, place, work.state).next
        folder = project.relative(work.store.folder)
        raise GateClosed(f"Step {work.state.run.step} cannot start: {stop.note} (in {folder}).", again)
    if stop.why == "failed" and work.is_change:
        _raise_known(work, stop.note)
    moved = Place(place.family, place.name, work.store.folder)
    return replace(report(project, moved, work.state, stop), drove=True)


def _raise_known(work: Work, note: str) -> None:
    """Trouble that has a known cause is told with it and with what to do."""
    from agentd.calling import roster
    from agentd.families.change import advice, format_check

    run = work.state.run
    failed = work.workflow.steps[run.step]
    agent = roster.name(work.project, failed.what)
    if note.startswith(advice.VERDICT):
        raise advice.no_verdict(run.name, agent, note.removeprefix(f"{advice.VERDICT}: "))
    if note.startswith(advice.REVIEW_VERDICT):
        raise advice.no_review(run.name, agent, note.removeprefix(f"{advice.REVIEW_VERDICT}: "))
    if failed.what == "validate_documents":
        raise advice.bad_format(run.name, format_check.serious(work))
    inner = note.partition(": ")[2] if failed.kind == "each" else note
    child = work.project.workflow(failed.what) if failed.kind == "each" else None
    steps = list(child.steps.values()) if child else [failed]
    planner = roster.name(work.project, "planner")
    known = next(filter(None, (advice.unwritten(one, run.name, planner, inner) for one in steps)), None)
    if known:
        raise known
