"""What a face can ask for on any run: start, go on, answer, stop. Each takes the project and returns values, printing nothing."""

import re

from agentd.errors import BadAnswer, GateClosed, MissingDescription, UsageError
from agentd.model.decision import Answer, Decision
from agentd.runs import decisions
from agentd.runs.choice import choose, writable
from agentd.runs.family import load
from agentd.runs.lifecycle import go_on, look, start
from agentd.runs.project import Project
from agentd.runs.report import Report, owner, pending
from agentd.state import answers, lock
from agentd.state.codecs import State
from agentd.state.layout import Place


def run(project: Project, workflow: str, description: str, name: str = "", mode: str = "") -> Report:
    """Start a run of any workflow and drive it as far as it goes; given again for the same run, go on with it."""
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
    name = name or _free_name(project, workflow, description)
    place = project.new_place(workflow, name)
    if _same_run(project, place, workflow, description):
        return go_on(project, place)
    return start(project, workflow, name, description, mode=mode)


def resume(project: Project, name: str, steps: int | None = None) -> Report:
    """Go on with any run. Between two commands of a workflow nothing is started: that is a person's word."""
    place = project.find(name)
    state = project.store(place).load()
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
    same = (state.run.workflow, state.fields.get("description")) == (workflow, writable(description))
    return state if same else None
