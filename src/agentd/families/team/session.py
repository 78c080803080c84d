"""The state of a session: what status.json shows besides the position, brought up to date with each save."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from agentd.families.team.session_documents import ACCEPTANCE, SPEC, TASKS, Invalid, Task, tasks, with_statuses
from agentd.model.decision import Decision
from agentd.model.workflow import Workflow
from agentd.runs import checksums, decisions, ports
from agentd.runs.work import Work

LEAN_LOOP, DECIDED = "lean_implement", "decided_on"
META, ATTEMPTS, ASKED = "meta", "attempts", "asked"
MOST_TOLD = 9
ASK_USER, BLOCKED, LOOP = "ASK_USER", "BLOCKED", "IMPLEMENT_LOOP"
REPAIRS = ("FIX_REVIEW", "FIX_TESTS", "FIX_SECURITY", "FIX_BUILD")
# Which phase of several tasks at once the session shows: what a person has to do comes first.
ATTENTION = (ASK_USER, BLOCKED, *REPAIRS)
INSTRUCTIONS = (".github/copilot-instructions.md", "AGENTS.md", "CLAUDE.md", "GEMINI.md")
CORRECTIONS = {"correct_spec": "SpecAgent", "correct_architecture": "Architect", "correct_design": "Designer"}


def task_id(work: Work) -> str:
    """The task that a run is about; the session itself is about all of them."""
    return work.item or META


def is_lean(work: Work) -> bool:
    return work.top.state.fields.get("mode") == "lean"


def listed(work: Work) -> tuple[Task, ...]:
    """The tasks of the session; none where tasks.yaml is missing or not valid."""
    try:
        return tasks(work.top.read(TASKS))
    except Invalid:
        return ()


def task_of(work: Work) -> Task | None:
    return next((one for one in listed(work) if one.id == work.item), None)


def table(top: Work, key: str) -> dict[str, Any]:
    """A field of status.json that has an entry for each of several names; a person may have made anything of it."""
    found = top.state.fields.get(key)
    return {str(name): value for name, value in found.items()} if isinstance(found, Mapping) else {}


def texts(work: Work, key: str) -> list[str]:
    """A field of a state that is a list of texts."""
    found = work.state.fields.get(key)
    return [str(each) for each in found] if isinstance(found, list) else []


def note(work: Work, **values: Any) -> None:
    """Fields of status.json, durable with the next save of this run."""
    top = work.top
    with top.guard:
        top.set_fields({**top.state.fields, **values})


def tried(work: Work, text: str) -> None:
    """Keep what was tried and did not help, for the person who is asked later."""
    work.note(ATTEMPTS, [*texts(work, ATTEMPTS), text[:1000]][-MOST_TOLD:])


def add_known_issues(work: Work, found: Sequence[str]) -> None:
    """Keep what was accepted as it is; the report names it."""
    top = work.top
    with top.guard:
        note(work, known_issues=list(dict.fromkeys([*texts(top, "known_issues"), *found])))


def grown(work: Work) -> Mapping[str, str]:
    """The tasks that their coder found larger than planned, with the reason."""
    found = work.top.state.fields.get("grown")
    return found if isinstance(found, Mapping) else {}


def note_growth(work: Work, why: str) -> None:
    """Keep why a task is larger than planned, or that it is not: its own run is gone when it is decided what to do."""
    with work.top.guard:
        others = {name: text for name, text in grown(work).items() if name != work.item}
        found = {**others, work.item: why} if why else others
        if found != grown(work):
            note(work, grown=found)


def said_here(work: Work) -> tuple[Decision, ...]:
    """The answered decisions of a run, the oldest first."""
    mine = "/".join(work.items_above())
    return tuple(one for one in decisions.keeper(work).state.decisions if one.status == "answered" and one.item == mine)


def last_said(work: Work) -> Decision | None:
    return next(reversed(said_here(work)), None)


def fields(work: Work, event: str, details: Mapping[str, str]) -> Mapping[str, Any]:
    """What a save of the session, or of one of its tasks, makes status.json show."""
    top = work.top
    if work is not top:
        with top.guard:
            _show_task(work)
        return {}
    shown: dict[str, Any] = {"retry_counts": _retries(top, META, top.workflow, top.state.run.counts)}
    step = details.get("step", "")
    if step in CORRECTIONS and event in ("begin", "end", "recover", "retry"):
        shown["gate_tracking"] = _tracked(work, step, event, details.get("outcome", ""))
    if top.state.run.step == LEAN_LOOP and event in ("end", "recover"):
        shown[DECIDED] = decided_on(top)
    if event in ("end", "recover") and top.workflow.steps[step].kind == "each":
        shown["active_tasks"] = {}
        top.state = replace(top.state, shown="")
        if details.get("outcome") == "blocked":
            shown[ASKED] = {"role": "given up", "words": _why_given_up(top, step) or details.get("note", "")}
    return shown


def show_no_task(top: Work) -> None:
    """No task is under way any more: status.json shows where the session itself stands."""
    note(top, active_tasks={})
    top.state = replace(top.state, shown="")


def _why_given_up(top: Work, step: str) -> str:
    """The tasks that were given up, each with what its last role or check said and the person's own words."""
    found = []
    for one in listed(top):
        store = ports.child_store(top, step, one.id)
        state = store.peek() if store.exists() else None
        if state is None or state.run.result != "blocked":
            continue
        asked, attempts = state.fields.get(ASKED), state.fields.get(ATTEMPTS)
        said = f"{asked.get('role')}: {asked.get('words')}" if isinstance(asked, Mapping) else ""
        tried_last = str(attempts[-1]) if isinstance(attempts, list) and attempts else ""
        answers = [each for each in top.state.decisions if each.item == one.id and each.status == "answered"]
        words = answers[-1].note if answers else ""
        found.append(": ".join(filter(None, (one.id, said or tried_last, words))))
    return "; ".join(found)[:1000]


def decided_on(top: Work) -> dict[str, str]:
    """The documents that the task of a lean session is about; no person is asked about them."""
    return checksums.checksums(top, (SPEC, ACCEPTANCE, TASKS))


def _show_task(work: Work) -> None:
    """Show how far a task is: its phase, its repairs, and its status in tasks.yaml."""
    top, run = work.top, work.state.run
    active = table(top, "active_tasks")
    if run.result:
        active.pop(work.item, None)
    else:
        active[work.item] = run.phase
    known = top.state.fields
    counts = _retries(top, work.item, work.workflow, run.counts)
    if known.get("active_tasks") != active or (known.get("retry_counts") or {}) != counts:
        note(work, active_tasks=active, retry_counts=counts)
    phases = [str(phase) for phase in active.values()]
    shown = next((phase for phase in ATTENTION if phase in phases), "")
    if top.state.shown != shown:
        top.state = replace(top.state, shown=shown)
    write_statuses(top, {**statuses(top), work.item: task_status(work.workflow, run.step, run.result)})


def _retries(top: Work, task: str, workflow: Workflow, counts: Mapping[str, int]) -> dict[str, dict[str, int]]:
    """How often each repair loop of each task was gone through."""
    known = {name: _counts(found) for name, found in table(top, "retry_counts").items()}
    mine: dict[str, int] = {}
    for key, count in counts.items():
        phases = {workflow.steps[edge.to].phase for _, edge in workflow.counted(key) if edge.to in workflow.steps}
        for phase in phases.intersection(REPAIRS):
            mine[phase] = mine.get(phase, 0) + count
    # A person's answer refills a budget, and what was tried before stays told.
    merged = {phase: max(mine.get(phase, 0), known.get(task, {}).get(phase, 0)) for phase in REPAIRS}
    if any(merged.values()):
        known[task] = merged
    return known


def _counts(found: Any) -> dict[str, int]:
    given = found.items() if isinstance(found, Mapping) else ()
    return {str(phase): count for phase, count in given if type(count) is int}


def task_status(workflow: Workflow, step: str, result: str) -> str:
    """The status of a task by where its run stands."""
    if result:
        return {"completed": "completed", "implemented": "implemented"}.get(result, "blocked")
    here = workflow.steps[step]
    if here.phase == BLOCKED:
        return "blocked"
    begun = list(workflow.steps).index("examine") if "examine" in workflow.steps else 0
    coded = here.phase == LOOP and list(workflow.steps).index(step) >= begun
    return "implemented" if coded else "in-progress"


def statuses(top: Work) -> dict[str, str]:
    """The status of every task by its own run, whatever tasks.yaml says."""
    found = dict.fromkeys((one.id for one in listed(top)), "not-started")
    for step in top.workflow.steps.values():
        for name in found if step.kind == "each" else ():
            store = ports.child_store(top, step.name, name)
            if store.exists():
                run = store.peek().run
                found[name] = task_status(top.project.workflow(run.workflow), run.step, run.result)
    if top.state.fields.get("promoted"):
        found = {name: "completed" if status == "implemented" else status for name, status in found.items()}
    return found


def write_statuses(top: Work, statuses: Mapping[str, str]) -> None:
    """Bring tasks.yaml up to date with how far tasks are; it is the home of their status, agentd the only writer."""
    with top.guard:
        text = top.read(TASKS)
        try:
            made = with_statuses(text, statuses) if text and tasks(text) else text
        except Invalid:
            return
        if made != text:
            top.write(TASKS, made)


def _tracked(work: Work, step: str, event: str, outcome: str) -> dict[str, Any]:
    """How far the correction is that a person asked for at the design gate."""
    tracking = dict(work.state.fields.get("gate_tracking") or {})
    gate = dict(tracking.get("APPROVE_DESIGN") or {})
    if event in ("begin", "retry"):
        sent = {"agent": CORRECTIONS[step], "task_id": META, "at": work.project.now()}
        gate |= {"correction_status": "dispatched", "last_correction_dispatch": sent}
    elif outcome == work.workflow.steps[step].forward:
        gate["correction_status"] = "completed"
    return {**tracking, "APPROVE_DESIGN": gate}


def project_instructions(work: Work) -> tuple[str, ...]:
    """The project's own instructions for agents that are there; what status.json says, looked up again where it says nothing."""
    flags = work.top.store.peek().fields.get("runtime_flags") if work.top.store.exists() else None
    known = flags if isinstance(flags, Mapping) else {}
    if not isinstance(known.get("copilot_instructions_exists"), bool) or not known.get("copilot_checked_at"):
        found = look_up_instructions(work.project.root)
        note(
            work,
            runtime_flags={
                "copilot_instructions_exists": INSTRUCTIONS[0] in found,
                "copilot_checked_at": work.project.now(),
                "project_instructions": list(found),
            },
        )
        return found
    named = known.get("project_instructions")
    others = [str(each) for each in named if each in INSTRUCTIONS[1:]] if isinstance(named, list) else []
    return tuple([INSTRUCTIONS[0]] * known["copilot_instructions_exists"] + others)


def look_up_instructions(root: Path) -> tuple[str, ...]:
    return tuple(name for name in INSTRUCTIONS if (root / name).is_file() and not (root / name).is_symlink())


def dispatched(work: Work, role: str) -> bool:
    """Whether a role was dispatched in this session."""
    return bool(table(work.top, "dispatched").get(role))


def count_dispatch(work: Work, role: str) -> None:
    top = work.top
    with top.guard:
        counts = _counts(table(top, "dispatched"))
        note(work, dispatched={**counts, role: counts.get(role, 0) + 1})
