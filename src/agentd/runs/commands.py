"""What a face can ask for on any run: start, go on, answer, stop, abandon. Each takes the project and returns values, printing nothing."""

import re
import shlex
from collections.abc import Mapping
from typing import Any

from agentd.errors import BadAnswer, GateClosed, MissingDescription, NotReady, UsageError
from agentd.model.decision import Answer, Decision
from agentd.runs import decisions, ports
from agentd.runs.choice import choose, writable
from agentd.runs.family import load
from agentd.runs.layout import Layout
from agentd.runs.lifecycle import go_on, look, start
from agentd.runs.project import Project
from agentd.runs.report import Report, owner, pending
from agentd.runs.work import work_on
from agentd.state import answers, lock
from agentd.state.codecs import State
from agentd.state.layout import Place
from agentd.values import dataclass

ABANDON = "abandon"  # the entry of a table at which a person's command ends a run


def run(
    project: Project,
    workflow: str,
    description: str,
    name: str = "",
    mode: str = "",
    options: Mapping[str, Any] | None = None,
) -> Report:
    """Start a run of any workflow and drive it as far as it goes; given again for the same run, go on with it.

    `options` are those that the workflow's family takes.
    """
    family = project.tables.families.get(workflow)
    if family and family.proved and workflow != family.name:
        raise GateClosed(
            f"{workflow} is a part of the {family.name} workflow and does not run by itself.",
            f"agentd workflow show {family.name}",
        )
    commands = project.tables.built_in(workflow).commands if family else {}
    if commands:
        first = next(iter(commands))
        raise UsageError(
            f"The {workflow} workflow has its own commands.", f'agentd {first} add-feature "what should change"'
        )
    if not description.strip():
        raise MissingDescription(f"A new {workflow} run needs a description.", f'agentd run {workflow} "what to do"')
    begin_with = load(project.layout(workflow)).begin_with
    if options and begin_with is None:
        raise UsageError(f"The {workflow} workflow takes no --{_worded(options)}.", f"agentd workflow show {workflow}")
    without, fields = begin_with(project, options or {}) if begin_with else ((), {})
    name = name or _free_name(project, workflow, description)
    place = project.new_place(workflow, name)
    if _same_run(project, place, workflow, description):
        return go_on(project, place)
    return start(project, workflow, name, description, mode=mode, fields=fields, without=without)


def _worded(options: Mapping[str, Any]) -> str:
    return next(iter(options)).replace("_", "-")


def resume(project: Project, name: str, steps: int | None = None, options: Mapping[str, Any] | None = None) -> Report:
    """Go on with any run. Between two commands of a workflow nothing is started: that is a person's word.

    `options` say where to go on, as far as the run's family takes them.
    """
    place = project.find(name)
    state = project.store(place).load()
    if options:
        return _jump(project, place, name, steps, options)
    workflow = project.workflow(state.run.workflow or place.family)
    if not workflow.commands or state.run.phase not in workflow.phases:
        return go_on(project, place, steps=steps)
    command = owner(workflow, state)
    first = workflow.first(state.run.phase).name
    opens = command and workflow.commands[command][0] == state.run.phase and command != next(iter(workflow.commands))
    untouched = state.run.intent is None and state.run.step == first
    if not command or (opens and untouched):
        return look(project, place)
    own = load(project.layout(place.family)).resume or go_on
    return own(project, place, command, steps)


def _jump(project: Project, place: Place, name: str, steps: int | None, options: Mapping[str, Any]) -> Report:
    jump = load(project.layout(place.family)).jump
    if jump is None:
        raise UsageError(f"A {place.family} run takes no --{_worded(options)}.", f"agentd resume {name}")
    return go_on(project, place, steps=steps, first=lambda work: jump(work, options))


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
    wanted = choose(decision, Answer(decision_id, value, note, by), name)
    said = decisions.give(project, store.folder, decision, wanted)
    if said.value != wanted.value:
        raise BadAnswer(f"{decision_id} was answered '{said.value}' by {said.by} before.", f"agentd status {name}")
    return decision, said, look(project, place)


def request_stop(project: Project, name: str) -> bool:
    """Ask whoever works on the run to stop after the step under way; False if nobody does."""
    place = project.find(name)
    if lock.holder(place.folder) is None:
        return False
    answers.ask_to_stop(place.folder, project.who(), project.now())
    return True


def adopt(project: Project, name: str) -> tuple[str, Place]:
    """Make a complete run of what another has specified, by which that comes into the library; gives both."""
    place = project.find(name)
    work, families = work_on(project, place), [load(layout) for layout in project.layouts]
    specified = load(work.layout).specified
    adopting = next((family.adopt for family in families if family.adopt), None)
    if specified is None or adopting is None:
        raise UsageError(f"'{name}' is not a run that specifies something by itself.", f"agentd status {name}")
    found = specified(work)
    return found.source, adopting(project, found)


@dataclass(frozen=True)
class Abandoned:
    """A run that a person ended: taken away and kept under a ref, or left in its folder."""

    run: str
    ref: str
    folder: str


def abandon(project: Project, name: str) -> Abandoned:
    """End a run for good, wherever it stands. Refused while a process works on it."""
    layout, bare = _family_named(project, name), name.rpartition("/")[2]
    own = load(layout).abandon
    if own:
        return Abandoned(bare, own(project, bare), "")
    place = project.find(name)
    state = project.store(place).load()
    workflow = project.workflow(state.run.workflow)
    label, folder = f"{workflow.name}/{place.name}", project.relative(place.folder)
    if state.run.result:
        raise NotReady(f"{label} is finished already ({state.run.result}).", f"agentd status {label}")
    if ABANDON not in workflow.entries:
        what = f"The {workflow.name} workflow has no entry '{ABANDON}'; {folder} is all that there is of the run."
        raise GateClosed(what, f"rm -r {shlex.quote(folder)}")
    go_on(project, place, first=lambda work: ports.go_to(work, ABANDON, "the run was abandoned"))
    return Abandoned(label, "", folder)


def bring_back(project: Project, name: str) -> Report:
    """Undo the last abandonment of a run that was taken away."""
    own = load(_family_named(project, name)).bring_back
    if own is None:
        raise GateClosed(f"'{name}' was not taken away, so it cannot be brought back.", f"agentd status {name}")
    return own(project, name.rpartition("/")[2])


def _family_named(project: Project, name: str) -> Layout:
    """The family of a run; the first one if there is no run of this name."""
    family, _, bare = name.rpartition("/")
    if family:
        return project.layout(family)
    return project.layout(project.find(name).family) if any(project.places(bare or "/")) else project.layouts[0]


def _free_name(project: Project, workflow: str, description: str) -> str:
    """The family's name for a run, or one made of the description's first words; a number is added where it is taken."""
    own = load(project.layout(workflow)).new_name
    name = own(project, description) if own else first_words(description)
    number, free = 1, name
    while (place := project.new_place(workflow, free)).folder.exists():
        same = _same_run(project, place, workflow, description)
        if same and not same.run.result:
            return free
        number += 1
        free = f"{name}-{number}"
    return free


def first_words(description: str) -> str:
    words = re.findall(r"[a-z0-9]+", description.lower())[:4] or ["run"]
    return "-".join(words)[:60]


def _same_run(project: Project, place: Place, workflow: str, description: str) -> State | None:
    """The state of the run in a folder if it was started with the same words: the same command goes on with it."""
    if not project.store(place).exists():
        return None
    state = project.store(place).load()
    same = (state.run.workflow.partition("~")[0], state.fields.get("description")) == (workflow, writable(description))
    return state if same else None
