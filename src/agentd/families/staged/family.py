"""What the staged family does that others do not: a state that shows the schedule, stages that restart, a plan given ahead."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from agentd import files
from agentd.engine.decide import Stop
from agentd.engine.waves import Item
from agentd.errors import AgentdError, BadConfig, GateClosed, UsageError
from agentd.families.staged import LAYOUT, stages
from agentd.families.staged.schedule import SCHEDULE, STAGES, Entry, by_phase, entry_of, gates, position, shown_schedule
from agentd.landing import task
from agentd.runs import ports
from agentd.runs.family import Family
from agentd.runs.lifecycle import notices
from agentd.runs.project import Project
from agentd.runs.work import Work
from agentd.state.codecs import State

SETTINGS = "staged"
WAVES = "implement"
PLAN = "plan"


def new_name(_: Project, __: str) -> str:
    return "tmp"


def begin_with(project: Project, options: Mapping[str, Any]) -> tuple[tuple[str, ...], Mapping[str, Any]]:
    """The stages that a new run goes without, and what it is given ahead."""
    off = list(project.config.get(SETTINGS, "without"))
    wrong = [stage for stage in off if stage not in STAGES]
    if wrong:
        raise BadConfig(f"[staged] without names '{wrong[0]}', which is no stage.", f"one of: {', '.join(STAGES)}")
    if options.get("no_test"):
        off.append("TEST")
    first = str(options.get("from_stage") or "").upper()
    plan = options.get(PLAN)
    if first and first not in STAGES:
        raise UsageError(f"'{first}' is no stage.", f"--from-stage {'|'.join(STAGES)}")
    if plan and STAGES.index(first or "IMPLEMENT") < STAGES.index("IMPLEMENT"):
        raise UsageError(f"--plan gives the plan, so the run cannot begin at {first}.", "leave one of the two out")
    off += STAGES[: STAGES.index(first or ("IMPLEMENT" if plan else STAGES[0]))]
    if set(off) >= set(STAGES):
        raise UsageError("No stage is left.", "edit agentd/config.toml: [staged] without = []")
    given = {PLAN: _read_plan(Path(str(plan)))} if plan else {}
    return tuple(stage for stage in STAGES if stage in off), given


def _read_plan(path: Path) -> str:
    """The text of a plan that a person gives, if it is valid."""
    reader = LAYOUT.find("plan_file.read")
    try:
        text = files.read(path, files.SMALL).decode()
        reader(text)
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}.", f"ls -l {path}") from None
    except UnicodeDecodeError:
        raise UsageError(f"{path}: not UTF-8 text.", f"iconv -f latin1 -t utf-8 -o {path} {path}") from None
    except ValueError as error:
        raise UsageError(f"{path} is no valid plan: {error}.", f"edit {path}") from None
    return text


def opening(work: Work, _: str) -> Sequence[str]:
    """Begin state.json with what every reader of it expects, before anything is done."""
    known = work.state.fields
    wrong = stages.malformed(known)
    if wrong:
        raise work.store.corrupt(f"'{wrong}' is not what agentd wrote there", wrong)
    if "schedule" not in known:
        off = work.workflow.without
        shown: dict[str, Any] = {
            "task": known.get("description"),
            "status": "pending",
            "currentPhase": "",
            "schedule": shown_schedule(),
            "gates": gates(work.workflow),
            "stages": stages.begun(off),
            "files": {},
            "failure": None,
            "compaction": {"lastCompactedAt": None, "history": []},
            "waivers": [],
            "stoppedAt": None,
        }
        work.set_fields({**known, **shown})
        if known.get(PLAN):
            LAYOUT.find("phase_files.write")(work, "1.2-plan.md", str(known[PLAN]))
        work.keep("schedule")
    return list(notices(work))


def fields(work: Work, event: str, details: Mapping[str, str]) -> Mapping[str, Any]:
    """What a save of the run makes state.json show; what its tasks do is in their own files."""
    if work.parent is not None:
        return {"why_failed": details.get("note", "")} if details.get("outcome") == "failed" else {}
    if "stages" not in work.state.fields or event == "clear":
        return {}
    known, run, workflow = work.state.fields, work.state.run, work.workflow
    step = workflow.steps.get(details.get("step", ""))
    here, left = position(run), entry_of(step.name) if step else None
    now, why = work.project.now(), details.get("note", "")
    shown: dict[str, Any] = {"currentPhase": here.phase if here else known.get("currentPhase")}
    edge = workflow.edge(step, details.get("outcome", "")) if step and details.get("outcome") else None
    if edge is not None and step is not None and step.kind == "ask" and edge.waive and not run.spent:
        shown["waivers"] = [*(known.get("waivers") or []), _waiver(work, step.name, now)]
    if run.result:
        done = run.result == "completed"
        shown["stages"] = stages.completed(known["stages"]) if done else known["stages"]
        shown |= {"status": "completed" if done else "stopped", "stoppedAt": None if done else now}
        shown["failure"] = None if done else known.get("failure")
    elif here is not None and workflow.steps[run.step].kind == "ask":
        failure = known.get("failure") or {}
        if edge is not None or failure.get("phase") != here.phase:
            failure = _failure(work, here.phase, why or str(known.get("why_failed") or ""), now)
        shown |= {"status": "blocked", "stages": stages.blocked(known["stages"], here, failure["error"])}
        shown["failure"] = failure
    elif here is not None and edge is not None and edge.rewind and run.step == workflow.first(run.phase).name:
        shown |= _restart(work, here.stage, _asked_stage(left, known), why, now)
    elif here is not None:
        shown |= {"status": "in_progress", "stages": stages.moved(known["stages"], left, here), "stoppedAt": None}
        if event == "begin" and step is not None and step.kind == "agent":
            shown["failure"] = None
    work.state = replace(work.state, shown=_shown_stage(run.phase, here or by_phase(str(shown["currentPhase"] or ""))))
    return shown


def _asked_stage(left: Any, known: Mapping[str, Any]) -> str:
    entry = left or by_phase(str(known.get("currentPhase") or ""))
    return entry.stage if entry else STAGES[0]


def _shown_stage(phase: str, here: Any) -> str:
    """The stage that stands for a phase of the table which is none."""
    return "" if phase in STAGES else here.stage if here else STAGES[-1]


def _restart(work: Work, stage: str, from_stage: str, why: str, now: str) -> dict[str, Any]:
    known = work.state.fields
    return {
        "status": "restarting",
        "stages": stages.restarted(known["stages"], stage, from_stage, why),
        "failure": _failure(work, str(known.get("currentPhase") or ""), why, now),
        **_cleared(known, _from(next(entry for entry in SCHEDULE if entry.stage == stage))),
    }


def _from(entry: Entry) -> set[str]:
    """This phase and all later ones."""
    return {each.phase for each in SCHEDULE[SCHEDULE.index(entry) :]}


def _cleared(known: Mapping[str, Any], gone: set[str]) -> dict[str, Any]:
    """What was written in these phases is not recorded any more, and what was waived in them does not count."""
    return {
        "files": {name: path for name, path in (known.get("files") or {}).items() if name.split("-")[0] not in gone},
        "waivers": [
            {**each, "void": True} if each.get("phase") in gone else each for each in known.get("waivers") or []
        ],
    }


def _waiver(work: Work, step: str, now: str) -> dict[str, Any]:
    """What a person decided to do without, with who and why."""
    known = work.state.fields
    said = next((one for one in reversed(work.state.decisions) if one.name == step and one.answer), None)
    made = {"phase": known.get("currentPhase"), "answer": said.answer if said else "", "at": now}
    return {**made, "by": said.by if said else "", "note": said.note if said else ""}


def _failure(work: Work, phase: str, why: str, now: str) -> dict[str, Any]:
    context: dict[str, Any] = {"completedTasks": [], "failedTask": None, "pendingTasks": []}
    if phase == "2.1":
        words = LAYOUT.find("task_steps.results")(work)
        given_up = [name for name, (word, _) in words.items() if word == "failed"]
        context["completedTasks"] = [name for name, (word, _) in words.items() if word == "completed"]
        context["failedTask"] = given_up[0] if given_up else None
        context["pendingTasks"] = [name for name in words if name not in (*context["completedTasks"], *given_up[:1])]
        why = "; ".join(f"{name} failed: {words[name][1]}" for name in given_up) or why
    return {"phase": phase, "error": why, "failedAt": now, "context": context}


def jump(work: Work, options: Mapping[str, Any]) -> None:
    """Set a run down where a person's `resume` says, before it goes on."""
    run, known = work.state.run, work.state.fields
    here, name = position(run) or by_phase(str(known.get("currentPhase") or "")) or SCHEDULE[0], run.name
    left = [stage for stage in STAGES if stage in work.workflow.phases]
    if options.get("retry_failed"):
        if here != entry_of(WAVES):
            raise UsageError(
                f"The run is at {here.phase} {here.name}, not at its tasks.", f"agentd resume staged/{name}"
            )
        ports.go_to(work, "retry-failed", "failed tasks are tried again")
        return
    if options.get("restart_stage") or options.get("restart_previous"):
        at = left.index(here.stage)
        stage = left[max(0, at - 1)] if options.get("restart_previous") else here.stage
        phase = next(entry.phase for entry in SCHEDULE if entry.stage == stage)
        work.set_fields(
            {**work.state.fields, **_restart(work, stage, here.stage, "restarted by hand", work.project.now())}
        )
        _go_to(work, phase, f"{stage} is restarted")
        return
    phase = str(options.get("from_phase") or "")
    reached = [entry.phase for entry in SCHEDULE[: SCHEDULE.index(here) + 1] if entry.phase in work.workflow.entries]
    if phase not in reached:
        raise UsageError(
            f"'{phase}' is no phase that this run has reached.",
            f"agentd resume staged/{name} --from-phase {reached[-1]}",
        )
    entry = next(entry for entry in SCHEDULE if entry.phase == phase)
    work.set_fields({**known, "stages": stages.reopened(known["stages"], entry), **_cleared(known, _from(entry))})
    _go_to(work, phase, f"going on from phase {phase}")


def _go_to(work: Work, phase: str, why: str) -> None:
    """Go to an entry; what it and all later ones produced is cleared."""
    steps = list(work.workflow.steps.values())
    first = work.workflow.steps[work.workflow.entries[phase]]
    entry = by_phase(phase)
    own = [step for step in steps if entry and step.name in entry.steps]
    undone = [*own, *steps[steps.index(first) :]]
    names = [name for step in undone for name in step.produces]
    children = [f"children/{step.name}/" for step in undone if step.kind == "each"]
    ports.go_to(work, phase, why, clear=tuple(dict.fromkeys((*names, *children))))


def settled(work: Work) -> None:
    """What a command left half-way is settled, and a run that nobody works on says so."""
    task.settle(work)
    known = work.state.fields
    asked = any(one.status == "pending" for one in work.state.decisions)
    if known.get("status") in ("in_progress", "restarting") and not asked:
        work.set_fields({**known, "status": "stopped", "stoppedAt": work.project.now()})
        work.keep("rest", step=work.state.run.step)


def unblock(work: Work, stop: Stop, _: str) -> bool:
    """A gate is closed: state.json says so. Nothing is opened."""
    here = position(work.state.run)
    if here is not None and "stages" in work.state.fields:
        shown = {"status": "blocked", "stages": stages.blocked(work.state.fields["stages"], here, stop.note)}
        work.set_fields({**work.state.fields, **shown, "currentPhase": here.phase})
        work.keep("gate", step=work.state.run.step, note=stop.note)
    return False


def explain(work: Work, stop: Stop) -> AgentdError | None:
    """The error for a gate that is closed: which files of which phases are missing or do not count."""
    here = position(work.state.run)
    if stop.why != "blocked" or here is None:
        return None
    missing = stop.note.replace("phases/", "")
    number = missing.split("-")[0]
    name, home = work.state.run.name, work.project.relative(work.store.folder)
    back = f"agentd resume staged/{name} --from-phase {number if by_phase(number) else here.phase}"
    return GateClosed(f"The gate to {here.stage} is closed: {missing} (in {home}/phases).", back)


def lines(work: Work, event: str, details: Mapping[str, str]) -> list[str] | None:
    """The lines for an event; agentd's own small steps are told only where they lead aside."""
    step = work.workflow.steps.get(details.get("step", ""))
    if step is None or step.kind != "do":
        return None
    usual = event == "begin" or (event == "end" and details.get("outcome") == step.forward)
    return [] if usual and not details.get("note") else None


def summary(state: State) -> Mapping[str, Any]:
    return {"action": state.run.phase, "refused": state.run.result == "aborted"}


def details(state: State) -> list[str]:
    wrong = stages.malformed(state.fields)
    return [f"⚠ '{wrong}' of state.json is not what agentd wrote there"] if wrong else stages.lines(state.fields)


def may_begin(work: Work, item: Item, under_way: Sequence[Item]) -> str:
    """Tasks wait for files and for room; explorers and planners only read."""
    return task.may_begin(work, item, under_way) if work.state.run.step == WAVES else ""


FAMILY = Family(
    LAYOUT.later("call.agents"),
    lines=lines,
    fields=fields,
    summary=summary,
    opening=opening,
    settled=settled,
    unblock=unblock,
    explain=explain,
    new_name=new_name,
    may_begin=may_begin,
    begin_with=begin_with,
    jump=jump,
    details=details,
)
