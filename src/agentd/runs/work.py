"""The engine's ports for one run on disk: agents, people, actions and children, each behind one method."""

import os
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from agentd import process
from agentd.engine.advance import drop_children, settle, stand_at, start
from agentd.engine.decide import Stop
from agentd.engine.drive import drive
from agentd.engine.waves import Item
from agentd.errors import Interrupted
from agentd.families.change import actions, progress
from agentd.model.run import Intent, Outcome, Run
from agentd.model.workflow import Step, Workflow, is_check
from agentd.runs import decisions, state_guard, worktree
from agentd.runs.project import Project
from agentd.state import answers, crash, durable, layout
from agentd.state.codecs import CODECS, OWN, State
from agentd.state.store import Store, new_state

# File systems stamp files with a clock that may lag a few milliseconds behind the one processes read.
CLOCK_SLACK = 0.05
VERDICTS = ("challenger", "reviewer")
OURS = ("journal.jsonl", "calls", "answers", "children", "stop.json", "base.json", "archive.json")


class Work:
    """One run being worked on. The caller holds its lock; `state` is what was last saved, or will be next."""

    def __init__(
        self, project: Project, workflow: Workflow, store: Store, state: State, parent: "Work | None" = None
    ) -> None:
        self.project = project
        self.workflow = workflow
        self.store = store
        self.state = self.saved = state
        self.parent = parent
        self.guard = threading.RLock()  # children may run side by side and all keep their calls here
        self.resting = False

    @property
    def item(self) -> str:
        """The item this run is the child of, or nothing."""
        return self.state.run.name if self.parent else ""

    def items_above(self) -> tuple[str, ...]:
        """The items this run is inside of, the outermost first."""
        return (*self.parent.items_above(), self.item) if self.parent else ()

    @property
    def top(self) -> "Work":
        return self.parent.top if self.parent else self

    @property
    def is_change(self) -> bool:
        """Whether this is a change, or a child of one."""
        return self.top.store.codec is CODECS["change"]

    @property
    def home(self) -> Path:
        """Where the documents are: the children of a change work on the documents of the change."""
        return self.top.store.folder if self.is_change else self.store.folder

    @property
    def cwd(self) -> Path:
        """Where agents and the project's own commands run."""
        return worktree.folder(self.project.root, self.top.state.fields)

    def named(self, artifact: str) -> str:
        """An artifact's name in this run: `{item}` stands for the item it is the child of."""
        return artifact.replace("{item}", self.item)

    def go(self, command: str = "", steps: int | None = None) -> Stop:
        """Drive the run from where it stands. A request to stop that is there already was for somebody before us."""
        if self.parent is None and answers.stop_requested(self.store.folder):
            answers.clear_stop(self.store.folder)
        self._heed_phase()
        self.resting = False
        _, stop = drive(self.workflow, self.state.run, self, command, steps)
        if self.resting:
            return Stop("paused", stop.note)
        if stop.why == "stopped" and self.parent is None:
            answers.clear_stop(self.store.folder)
        return stop

    def stand_at(self, step: str, why: str, event: str = "step by hand", clear: tuple[str, ...] = ()) -> None:
        """Go to a step because it has to be done now, with these children begun anew."""
        if self.state.run.intent:
            process.end_leftovers("AGENTD_RUN", str(self.store.folder))
        was = self.state.run.step
        decisions.cancel_pending(self, why)
        moved = drop_children(stand_at(self.workflow, self.state.run, step), clear)
        self.state = replace(self.state, run=moved)
        self.keep(event, step=was, to=step)

    def say(self, text: str) -> None:
        self.project.say(f"[{self.item}] {text}" if self.item else text)

    def environment(self) -> dict[str, str]:
        """What every program of this run carries, so that it can be found if agentd is killed."""
        intent = self.state.run.intent
        return {
            "AGENTD_RUN": str(self.top.store.folder),
            "AGENTD_DESK": str(self.store.folder),
            "AGENTD_CALL": intent.call if intent else "",
        }

    def secrets(self) -> Mapping[str, str]:
        """Where values that no log may carry come from."""
        return os.environ

    def note(self, key: str, value: Any) -> None:
        """One of the family's own fields, durable with the next save."""
        self.set_fields({**self.state.fields, key: value})

    def set_fields(self, fields: Mapping[str, Any]) -> None:
        """All of the family's own fields, durable with the next save."""
        self.state = replace(self.state, fields=fields)

    def write(self, name: str, text: str) -> None:
        """A document of the run, written so that a kill leaves the old one or the new one."""
        durable.replace(self.home / name, text.encode(), "document")

    def artifact(self, name: str, since: float = 0.0) -> str:
        """Why an artifact does not count (it is missing, empty, not valid, older than `since`), or nothing."""
        paths = list(self.files(name))
        if not paths:
            return self.parent.artifact(name, since) if self.parent else "it is missing"
        if all(path.stat().st_size == 0 for path in paths):
            return "it is empty"
        written = max(path.stat().st_mtime for path in paths)
        if since and not since - CLOCK_SLACK <= written <= time.time() + CLOCK_SLACK:
            return "it was not written by this step"
        valid = actions.valid(name)
        return valid(self, paths[0]) if valid else ""

    def files(self, name: str) -> Iterator[Path]:
        """The files behind an artifact's name: a path, a pattern, or everything below a folder."""
        folder, name = self.home, self.named(name)
        found = (folder / name).rglob("*") if name.endswith("/") else folder.glob(name)
        return (path for path in sorted(found) if path.is_file() and not self._is_ours(path.relative_to(folder)))

    def _is_ours(self, path: Path) -> bool:
        """Whether a file in the run's folder is agentd's own and so nobody's artifact."""
        return path.name.startswith(".") or path.parts[0] in (self.store.codec.file, *OURS)

    # The engine's ports.

    def facts(self, run: Run, wanted: Sequence[str]) -> Mapping[str, str]:
        return {name: actions.CHECKS[name](self) if is_check(name) else self.artifact(name) for name in wanted}

    def hold(self, run: Run, step: Step) -> Stop | None:
        if step.kind != "agent":
            return None
        from agentd.calling import budget

        return budget.hold(self, step)

    def intent(self, run: Run, step: Step) -> Intent:
        if step.kind != "agent":
            return Intent(f"{step.name}-{self.state.saves}", self.project.now(), step.tools)
        from agentd.calling import call, roster

        worktree.refuse_lost(self)
        roster.line_up(self.project, step.what)
        call.keep_what_is_seen(self, step)
        return Intent(call.next_call(self, run, step), self.project.now(), step.tools)

    def save(self, run: Run, event: str, **details: str) -> None:
        crash.point("step")
        fields = dict(self.state.fields) | {"last_action": details.get("step", event)}
        step = self.workflow.steps.get(details.get("step", ""))
        if step and step.what in VERDICTS and event in ("end", "recover") and details.get("outcome"):
            fields["verdict"] = details["outcome"].upper()
        self.state = replace(self.state, run=run, fields=fields)
        self.keep(event, **{key: text for key, text in details.items() if text})
        for line in progress.lines(self, event, details):
            self.say(line)

    def keep(self, event: str, **details: str) -> None:
        """Make the state as it is now durable; first what a child's agent left with the run it is in, lest it be lost."""
        top = self.top
        if top is not self:
            with top.guard:
                if top.state is not top.saved:
                    top.keep("call", item=self.item)
        self.state = self.saved = self.store.save(self.state, self.project.now(), event, **details)

    def clear(self, run: Run) -> None:
        for name in run.clear:
            if name.startswith("children/"):
                actions.clear_folder(self.store.folder / name)
            else:
                for path in self.files(name):
                    durable.remove(path, "document")

    def recover(self, run: Run, step: Step) -> Outcome | None:
        if self.parent is None:
            ended = process.end_leftovers("AGENTD_RUN", str(self.store.folder))
            if ended:
                self.say(
                    f"ended {len(ended)} leftover process{'es' if len(ended) > 1 else ''} of the interrupted {step.name}"
                )
        if step.kind != "agent":
            return None
        from agentd.calling import call

        return call.finished_before(self, run, step)

    def perform(self, run: Run, step: Step) -> Outcome:
        crash.point("step")
        if step.kind == "agent":
            from agentd.calling import call

            return call.call_agent(self, run, step)
        outcome = actions.ACTIONS[step.what](self)
        if self.project.interrupted.is_set():
            raise Interrupted(15)
        return outcome

    def ask(self, run: Run, step: Step) -> Outcome | None:
        return decisions.ask(self, run, step)

    def items(self, run: Run, step: Step) -> Sequence[Item]:
        return actions.SOURCES[self._child_workflow(step).of](self)

    def drive_child(self, run: Run, step: Step, item: Item) -> Stop:
        workflow = self._child_workflow(step)
        store = Store(layout.child_folder(self.store.folder, step.name, item.id), OWN, role="child")
        if store.exists():
            state = store.load()
        else:
            durable.make_folder(store.folder)
            state = store.save(new_state(start(workflow, item.id)), self.project.now(), "start")
        return Work(self.project, workflow, store, state, self).go()

    def at_once(self, run: Run, step: Step) -> int:
        if self.is_change:
            return 1  # a person answers one question at a time, and each spec builds on the ones before it
        sections = self.project.config.sections
        return int(sections.get(self.workflow.name, sections["runs"]).get("max_parallel", 1))

    def stopping(self) -> bool:
        asked = self.project.interrupted.is_set() or answers.stop_requested(self.top.store.folder)
        return asked or self.resting

    def _child_workflow(self, step: Step) -> Workflow:
        return self.project.workflow(step.what, runnable=True)

    def _heed_phase(self) -> None:
        """A phase set by hand is followed, said and noted; a phase that does not exist is an error.

        A phase that is ahead of a step that was cut off may be the work of what ran there: it is put back.
        """
        run = self.state.run
        self.project.known_phase(self.store, self.workflow, run.phase)
        cut_off = state_guard.standing(self.workflow, run)
        if cut_off != run:
            self.say(
                f"⚠ the phase in {self.store.codec.file} was changed to {run.phase} while {cut_off.step} was under way, "
                f"and was put back to {cut_off.phase}; if you want it, set it again when {cut_off.step} is over"
            )
            self.state = replace(self.state, run=cut_off)
            self.keep("phase put back", step=cut_off.step, was=run.phase)
            return
        settled = settle(self.workflow, run)
        if settled == run:
            return
        if run.intent and self.parent is None:
            process.end_leftovers("AGENTD_RUN", str(self.store.folder))
        self.say(f"⚠ the phase was set to {run.phase} by hand: going on at {settled.step} instead of {run.step}")
        was = self.workflow.steps.get(run.step)
        decisions.cancel_pending(self, f"the phase was set to {run.phase} by hand")
        fields = {key: value for key, value in self.state.fields.items() if key != "approval"}
        self.state = replace(self.state, run=settled, fields=fields)
        self.keep("phase set by hand", step=run.step, to=settled.step, was=was.phase if was else "")
