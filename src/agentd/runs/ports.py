"""The engine's ports for one run on disk: agents, people, actions and children, each behind one method."""

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from agentd import process
from agentd.engine.advance import drop_children, enter, settle, start
from agentd.engine.decide import Stop, names
from agentd.engine.drive import drive
from agentd.engine.waves import Item
from agentd.model.run import Intent, Outcome, Run
from agentd.model.workflow import Step, Workflow, is_check
from agentd.runs import decisions, diaries, progress, state_guard
from agentd.runs.family import family_of
from agentd.runs.work import Work
from agentd.state import answers, crash, durable, layout
from agentd.state.codecs import PLAIN
from agentd.state.store import Store, new_state
from agentd.usage.recorded_calls import calls_in


def go(work: Work, command: str = "", steps: int | None = None) -> Stop:
    """Drive a run from where it stands. A request to stop that is there already was for a process before this one."""
    if work.parent is None and answers.stop_requested(work.store.folder):
        answers.clear_stop(work.store.folder)
    if work.parent is None:
        work.children = state_guard.known_children(work)
        work.laps.close("opening")
    _heed_phase(work)
    work.resting = False
    try:
        _, stop = drive(work.workflow, work.state.run, Ports(work), command, steps)
        work.flush()
        _tell(work)
    finally:
        work.end_services()
    if work.resting:
        return Stop("paused", stop.note)
    if stop.why == "stopped" and work.parent is None:
        answers.clear_stop(work.store.folder)
    return stop


def go_to(work: Work, entry: str, why: str, event: str = "step by hand", clear: tuple[str, ...] = ()) -> None:
    """Set a run down at an entry of its table, with these children to begin anew."""
    if work.state.run.intent:
        process.end_leftovers("AGENTD_RUN", str(work.store.folder))
    was = work.state.run.step
    decisions.cancel_pending(work, why)
    moved = drop_children(enter(work.workflow, work.state.run, entry), clear)
    work.state = replace(work.state, run=moved)
    work.keep(event, step=was, to=moved.step)


class Ports:
    """What the engine may ask of the world, for one run."""

    def __init__(self, work: Work) -> None:
        self.work = work
        self.told: set[tuple[str, str]] = set()

    def facts(self, run: Run, wanted: Sequence[str]) -> Mapping[str, str]:
        return facts(self.work, wanted)

    def hold(self, run: Run, step: Step) -> Stop | None:
        return family_of(self.work).agents().hold(self.work, step) if step.kind == "agent" else None

    def intent(self, run: Run, step: Step) -> Intent:
        if step.kind == "agent":
            return family_of(self.work).agents().intent(self.work, run, step)
        return Intent(f"{step.name}-{self.work.state.saves}", self.work.project.now(), step.tools)

    def save(self, run: Run, event: str, **details: str) -> None:
        save(self.work, run, event, **details)

    def clear(self, run: Run) -> None:
        for name in run.clear:
            if name.startswith("children/"):
                gone = self.work.store.folder / name
                durable.refuse_links(gone, "cleared")
                diaries.keep(self.work.store.folder, gone)
                _clear_folder(gone)
                state_guard.forget_children(self.work, gone)
            else:
                for path in self.work.files(name):
                    durable.remove(path, "document")

    def recover(self, run: Run, step: Step) -> Outcome | None:
        work = self.work
        if work.parent is None:
            ended = len(process.end_leftovers("AGENTD_RUN", str(work.store.folder)))
            if ended:
                work.say(f"ended {ended} leftover process{'es' if ended > 1 else ''} of the interrupted {step.name}")
        return family_of(work).agents().recover(work, run, step) if step.kind == "agent" else None

    def perform(self, run: Run, step: Step) -> Outcome:
        crash.point("step")
        work = self.work
        if step.kind == "agent":
            return family_of(work).agents().perform(work, run, step)
        outcome: Outcome = work.layout.find(work.layout.actions[step.what][0])(work)
        work.laps.close("action")
        if work.project.interrupted.is_set():
            raise work.project.interruption()
        return outcome

    def ask(self, run: Run, step: Step) -> Outcome | None:
        return decisions.ask(self.work, run, step)

    def items(self, run: Run, step: Step) -> Sequence[Item]:
        layout = self.work.layout
        found: Sequence[Item] = layout.find(layout.items[self._child_workflow(step).of])(self.work)
        return found

    def drive_child(self, run: Run, step: Step, item: Item) -> Stop:
        work, workflow = self.work, self._child_workflow(step)
        store = child_store(work, step.name, item.id)
        with work.top.guard:
            state_guard.put_children_back(work, store)
            assert work.top.children is not None
            if store.exists():
                state = store.load()
            else:
                decisions.retire(work, item.id)
                durable.make_folder(store.folder)
                state = store.save(new_state(start(workflow, item.id)), work.project.now(), "start")
            work.top.children[store.folder] = store
        return go(Work(work.project, work.layout, workflow, store, state, work))

    def at_once(self, run: Run, step: Step) -> int:
        if self.work.layout.at_once is not None:
            return self.work.layout.at_once
        sections = self.work.project.config.sections
        return int(sections.get(self.work.workflow.name, sections["runs"]).get("max_parallel", 1))

    def may_begin(self, run: Run, step: Step, item: Item, under_way: Sequence[Item]) -> str:
        why = family_of(self.work).may_begin(self.work, item, under_way)
        reason = (item.id, why.partition(": ")[0])
        if why and reason not in self.told:
            self.told.add(reason)
            self.work.say(f"[{item.id}] {why}")
        return why

    def stopping(self) -> bool:
        work = self.work
        return work.project.interrupted.is_set() or answers.stop_requested(work.top.store.folder) or work.resting

    def _child_workflow(self, step: Step) -> Workflow:
        return self.work.project.workflow(step.what, runnable=True)


def facts(work: Work, wanted: Sequence[str]) -> Mapping[str, str]:
    """Each name with "" where it holds, or the reason why not."""
    places = work.layout.checks
    return {name: work.layout.find(places[name])(work) if is_check(name) else work.artifact(name) for name in wanted}


def save(work: Work, run: Run, event: str, **details: str) -> None:
    """Make a new position durable, and tell whoever is there."""
    crash.point("step")
    if event in ("end", "fail", "nudge", "retry", "recover"):
        details = {**details, "model": _model(work)}  # of the call that is under way until now
    work.state = replace(work.state, run=run)
    shown = family_of(work).fields(work, event, details)
    fields = {**work.state.fields, "last_action": details.get("step", event), **shown}
    work.state = replace(work.state, fields=fields)
    soon = event == "end" and _goes_on(work.workflow, run)
    work.keep(event, soon, **{key: text for key, text in details.items() if text})
    work.unsaid += progress.lines(work, event, details)
    if not soon:
        _tell(work)


def _goes_on(workflow: Workflow, run: Run) -> bool:
    """Whether the run goes on with nothing to look at and nobody to ask, so that the save of what comes next is at hand."""
    step = workflow.steps[run.step]
    return step.kind in ("do", "each") and not run.clear and not names(step, run)


def _tell(work: Work) -> None:
    while work.unsaid:
        work.say(work.unsaid.pop(0))


def _model(work: Work) -> str:
    """Which model answered the call under way; empty if no agent was called."""
    intent = work.state.run.intent
    name = "/".join((*work.items_above(), intent.call)) if intent else ""
    found = (entry for entry in calls_in(work.top.state.fields) if name and entry.get("call") == name)
    return next((str(entry.get("model") or "") for entry in found), "")


def child_store(work: Work, step: str, item: str) -> Store:
    """Where the child run of one item is kept."""
    return Store(layout.child_folder(work.store.folder, step, item), PLAIN, role="child")


def _clear_folder(folder: Path) -> None:
    """Children of a rewound step; gone as a whole, twice does no harm."""
    try:
        if folder.is_dir():
            shutil.rmtree(folder)
    except OSError as error:
        raise durable.trouble(folder, error) from error


def _heed_phase(work: Work) -> None:
    """A phase set by hand is followed, said and noted; a phase that does not exist is an error.

    A phase that is ahead of a step that was cut off may be the work of what ran there: it is put back.
    """
    run = work.state.run
    work.project.known_phase(work.store, work.workflow, run.phase)
    cut_off = state_guard.standing(work.workflow, run)
    if cut_off != run:
        work.say(
            f"⚠ the phase in {work.store.codec.file} was changed to {run.phase} while {cut_off.step} was under way, "
            f"and was put back to {cut_off.phase}; if you want it, set it again when {cut_off.step} is over"
        )
        work.state = replace(work.state, run=cut_off)
        work.keep("phase put back", step=cut_off.step, was=run.phase)
        return
    settled = settle(work.workflow, run)
    if settled == run:
        return
    if run.intent and work.parent is None:
        process.end_leftovers("AGENTD_RUN", str(work.store.folder))
    work.say(f"⚠ the phase was set to {run.phase} by hand: going on at {settled.step} instead of {run.step}")
    was = work.workflow.steps.get(run.step)
    decisions.cancel_pending(work, f"the phase was set to {run.phase} by hand")
    fields = {key: value for key, value in work.state.fields.items() if key != "approval"}
    work.state = replace(work.state, run=settled, fields=fields)
    work.keep("phase set by hand", step=run.step, to=settled.step, was=was.phase if was else "")
