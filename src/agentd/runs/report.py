"""Where a run stands, in words: what every face shows and what `--json` prints. It changes nothing."""

import os
from collections.abc import Mapping, Sequence
from typing import Any

from agentd.model.decision import Decision, Option
from agentd.model.run import Run
from agentd.model.workflow import Workflow
from agentd.runs import uncommitted, undelivered
from agentd.runs.choice import valid_answer
from agentd.runs.project import Project
from agentd.state import journal, lock
from agentd.state.codecs import PLAIN, State
from agentd.state.layout import Place
from agentd.state.store import Store
from agentd.usage.recorded_calls import models_in
from agentd.values import dataclass

EXIT = {"finished": 0, "elsewhere": 0, "paused": 0, "waiting": 4, "stopped": 4, "blocked": 1, "failed": 1}
YOURS = '"your answer"'


@dataclass(frozen=True)
class Report:
    """One run: its position, what it is doing, what is open, and the next command to type.

    A family's summary fills in `action`, `verdict`, `iteration_count` and `cost`; `named` is a key under which programs
    get the run's name too, `refused` says that the run has ended with a refusal. `commits` and `not_committed` say what
    came of committing the files of a run that has just ended.
    """

    workflow: str
    name: str
    phase: str
    step: str
    doing: str
    note: str
    next: str
    folder: str
    updated_at: str
    decisions: tuple[Decision, ...] = ()
    children: Mapping[str, str] | None = None
    why: str = ""
    action: str = ""
    verdict: str = ""
    iteration_count: int | None = None
    cost: str = ""
    models: tuple[str, ...] | None = None
    warnings: tuple[str, ...] = ()
    named: str = ""
    refused: bool = False
    drove: bool = False
    commits: Sequence[Mapping[str, Any]] | None = None
    not_committed: Mapping[str, str] | None = None

    @property
    def exit_code(self) -> int:
        return 1 if self.refused and self.drove else EXIT.get(self.why, 0)

    def to_data(self) -> dict[str, Any]:
        apart = ("decisions", "drove", "warnings", "named", "refused")
        data = {key: value for key, value in vars(self).items() if key not in apart and value not in ("", None)}
        if self.named:
            data[self.named] = self.name
        if self.warnings:
            data["warnings"] = list(self.warnings)
        data["decisions"] = [decision_data(decision) for decision in self.decisions]
        return data


def decision_data(decision: Decision) -> dict[str, Any]:
    """A question as any face can put it."""
    return {
        "decision_id": decision.id,
        "question": decision.question,
        "header": decision.header,
        "options": [_option_data(option) for option in decision.options],
        "multiSelect": False,
        "asked_at": decision.asked_at,
        "state_context": decision.state_context,
        "shown": list(decision.shown),
    }


def _option_data(option: Option) -> dict[str, Any]:
    data: dict[str, Any] = {"value": option.value, "label": option.label}
    if option.description:
        data["description"] = option.description
    return data | ({"note_required": True} if option.reason else {})


def report(
    project: Project,
    place: Place,
    state: State,
    summary: Mapping[str, Any] | None = None,
) -> Report:
    """The report on a run as its files are now, with its family's summary where that is given."""
    workflow = project.workflow(state.run.workflow or place.family)
    run, own = state.run, project.store(place)
    project.known_phase(own, workflow, run.phase)
    stores = children(place)
    asked = _pending(own, state, stores)
    open_ones = tuple(decision for store, decision in asked if not valid_answer(store.folder, decision))
    holder = lock.holder(place.folder)
    doing, note = _doing(place, workflow, run, open_ones, holder)
    return Report(
        workflow=workflow.name,
        name=run.name,
        phase=run.phase,
        step=run.step,
        doing=doing,
        note=note,
        next=next_command(project, workflow, place, state, open_ones, doing),
        folder=project.relative(place.folder),
        updated_at=str(state.fields.get(own.codec.updated_key, "")),
        decisions=open_ones,
        children=child_phases(stores) or None,
        models=models_in(state.fields) or None,
        **(summary or {}),
    )


def pending(project: Project, place: Place, state: State) -> list[tuple[Store, Decision]]:
    """Every decision of a run and its children that waits for its answer to be taken up, with the store that keeps it."""
    return _pending(project.store(place), state, children(place))


def _pending(own: Store, state: State, stores: list[Store]) -> list[tuple[Store, Decision]]:
    found = [(own, decision) for decision in state.decisions]
    for store in stores:
        found += [(store, decision) for decision in store.peek().decisions]
    return [(store, decision) for store, decision in found if decision.status == "pending"]


def children(place: Place) -> list[Store]:
    """The stores of a run's children."""
    if not os.path.isdir(f"{place.folder}/children"):
        return []
    return [Store(path.parent, PLAIN, "child") for path in sorted(place.folder.glob("children/**/STATE.yaml"))]


def child_phases(stores: list[Store]) -> dict[str, str]:
    """Each child run with its last word, or the step it stands on."""
    found = {}
    for store in stores:
        run = store.peek().run
        found[store.folder.as_posix().rpartition("/children/")[2]] = run.result or run.step
    return found


def next_command(
    project: Project, workflow: Workflow, place: Place, state: State, open_ones: tuple[Decision, ...], doing: str
) -> str:
    """What a person types next; it can always be pasted."""
    run, layout = state.run, project.layout(place.family)
    name = place.name if layout.bare else f"{workflow.name}/{place.name}"
    if open_ones:
        first = open_ones[0]
        options = () if first.free and len(first.options) == 1 else first.options  # the one is to leave
        answer = f"agentd answer {name} {first.id} {options[0].value if options else YOURS}"
        return f'{answer} --note "why"' if options and options[0].reason else answer
    if doing == "working":
        return f"agentd log {name} --follow"
    over = bool(workflow.steps.get(run.step)) and workflow.steps[run.step].kind == "end"
    commit = layout.commits.get(run.phase, "") if project.config.get("git", "commit") != "never" else ""
    if commit and (uncommitted.is_marked(project.root, place.name) if over else doing == "ready"):
        return commit.format(name=name)
    if over and undelivered.is_marked(project.root, place.family, place.name):
        return f"agentd deliver {name}"
    if over:
        return layout.next.get(run.phase, "agentd log {name}").format(name=name)
    return again(workflow, state, name)


def owner(workflow: Workflow, state: State) -> str:
    """The command that takes a run further: that of the mode it began in, else the first that works in its phase."""
    able = [command for command, phases in workflow.commands.items() if state.run.phase in phases]
    mode = str(state.fields.get("mode") or "")
    return mode if mode in able else able[0] if able else ""


def again(workflow: Workflow, state: State, name: str = "") -> str:
    """What a person types to take a run further. A command that begins runs takes no name, so these are resumed."""
    command = owner(workflow, state)
    return f"agentd {'resume' if command in ('', *workflow.starts) else command} {name or state.run.name}"


def _doing(
    place: Place,
    workflow: Workflow,
    run: Run,
    open_ones: tuple[Decision, ...],
    holder: Mapping[str, Any] | None,
) -> tuple[str, str]:
    if holder is not None:
        return "working", f"process {holder.get('pid', '?')} on {holder.get('host', '?')}"
    if open_ones:
        return "waiting", open_ones[0].title
    step = workflow.steps.get(run.step)
    if step is not None and step.kind == "end":
        return "finished", run.result
    if run.intent is not None:
        return "interrupted", f"{run.step} was cut off and goes on with the next command"
    last = next(iter(journal.tail(place.folder, 1)), {})
    if last.get("event") == "fail" or (last.get("event") == "pause" and last.get("why") == "failed"):
        return "failed", str(last.get("note", ""))
    return "ready", ""
