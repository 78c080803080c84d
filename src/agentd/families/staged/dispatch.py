"""What an agent of a staged run is sent: who it is, the files that its step needs, its input, and what it is to reply."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from agentd.calling.agent_call import Values
from agentd.errors import AgentdError
from agentd.families.staged import LAYOUT, compaction, exploring, gate_files, phase_files, planning, review_file
from agentd.families.staged.plan_file import AREAS, Task
from agentd.families.staged.schedule import SCHEDULE, STAGES, position
from agentd.families.staged.task_steps import SUMMARY
from agentd.landing.documents import CONFLICT, RED
from agentd.model.workflow import Step
from agentd.runs import ports, safe_paths
from agentd.runs.work import Work
from agentd.workspaces import work_files, work_proof

TITLES = {name: f"Review: {kind}" for name, (kind, _) in phase_files.REVIEWS.items()}
CRITERIA = {"plan": "plan-review", "implementation": "implementation", "tests": "test-review", "final": "final-review"}
# The files of phases that a step needs; compaction leaves these in its prompt, with the summaries of what came before.
NEEDS: Mapping[str, tuple[str, ...]] = {
    "brainstorm": (phase_files.EXPLORE,),
    "plan": (phase_files.BRAINSTORM,),
    "review_plan": (phase_files.PLAN,),
    "fix_plan": (phase_files.PLAN, phase_files.PLAN_REVIEW, planning.DRAFT),
    "simplify": (phase_files.TASKS,),
    "review_implementation": (phase_files.PLAN, phase_files.TASKS),
    "fix_implementation": (phase_files.PLAN,),
    "analyze_failures": (phase_files.RESULTS,),
    "review_tests": (phase_files.RESULTS,),
    "fix_tests": (phase_files.RESULTS,),
    "document": (phase_files.TASKS,),
    "review_all": (phase_files.PLAN, phase_files.TASKS, phase_files.RESULTS),
    "fix_all": (),
}
FIXES = {
    "fix_plan": phase_files.PLAN_REVIEW,
    "fix_implementation": phase_files.CODE_REVIEW,
    "fix_tests": phase_files.TEST_REVIEW,
    "fix_all": phase_files.FINAL_REVIEW,
}
MOST_READ, LONGEST_FILE = 10, 20_000


def values(work: Work, step: Step) -> Values:
    return {
        "identity": lambda: _text(f"{step.what}.md"),
        "title": lambda: TITLES.get(step.name, step.what.replace("_", " ").capitalize()),
        "task": lambda: str(work.top.state.fields.get("description") or ""),
        "context": lambda: context(work, step),
        "input": lambda: json.dumps(task_input(work, step), indent=2, ensure_ascii=False),
        "criteria": lambda: _criteria(step),
        "reply": lambda: _text(f"reply-{_reply(step)}.md"),
    }


def _text(name: str) -> str:
    return (LAYOUT.folder / "prompts" / name).read_text(encoding="utf-8").strip()


def _criteria(step: Step) -> str:
    if step.name not in phase_files.REVIEWS:
        return ""
    name = CRITERIA[phase_files.REVIEWS[step.name][0]]
    return f"\n## Criteria ({name})\n{_text(f'{name}.md')}\n"


def _reply(step: Step) -> str:
    if step.name in phase_files.REVIEWS:
        return "final" if phase_files.REVIEWS[step.name][0] == "final" else "review"
    kinds = {"implementer": "task", "planner": "plan", "explorer": "finding"}
    return kinds.get(step.what) or ("plan" if step.name == "fix_plan" else "page" if step.produces else "fix")


def context(work: Work, step: Step) -> str:
    """The files of phases, in full those that the step needs; of the others, with compaction, the summaries."""
    return "\n\n".join(f"### {name}\n\n{text.rstrip()}" for name, text in _context(work, step)) or "(nothing yet)"


def _context(work: Work, step: Step) -> Iterator[tuple[str, str]]:
    here = position(work.top.state.run)
    known = [name for name in phase_files.recorded(work.top) if "summary" not in name]
    if here is None:
        return
    config = work.project.config
    stages, phases = (bool(config.get("staged", f"compact_between_{each}")) for each in ("stages", "phases"))
    needed = NEEDS.get(step.name, ())
    over = list(STAGES[: STAGES.index(here.stage)]) if stages else []
    if phases:
        over += [each.phase for each in SCHEDULE[: SCHEDULE.index(here)] if not (stages and each.stage != here.stage)]
    for name in map(compaction.summary_name, over):
        text = phase_files.read(work, name)
        if text:
            yield name, text
    for name in sorted(known):
        entry = next((each for each in SCHEDULE if each.phase == name.partition("-")[0]), here)
        if name in needed or not (phases or (stages and entry.stage != here.stage)):
            yield name, phase_files.read(work, name)


def task_input(work: Work, step: Step) -> dict[str, Any]:
    """The input of a step besides the files of phases."""
    if step.what == "explorer":
        return {"query": exploring.query_of(work)}
    if step.what == "planner":
        return {"area": work.item, "areas": list(work.top.state.fields.get("areas") or AREAS)}
    if step.what == "implementer":
        one = planning.task_of(work)
        return _task(work, one) if one else {}
    found: dict[str, Any] = {"step": step.name}
    if step.name in FIXES:
        found["issues"] = _issues(work, step)
    if step.what in ("reviewer", "final_reviewer") and step.name != "review_plan":
        found["files"] = [entry["path"] for entry in work_files.changed_files(work)]
        found["diff"] = work_files.diff(work)
        found["evidence"] = work_proof.evidence_lines(work)
    if step.name == "review_plan":
        found["files"] = [f"{work.project.relative(work.home)}/phases/{phase_files.PLAN}"]
    return {**found, **_feedback(work), **_answers(work)}


def _issues(work: Work, step: Step) -> list[dict[str, str]] | str:
    """What the fixer is to repair: the issues at the threshold, and no others."""
    name = FIXES[step.name]
    kind = phase_files.KIND_OF[name]
    review, _ = review_file.read(phase_files.read(work, name), kind)
    left = review_file.at_least(review.issues, gate_files.threshold(work)) if review else ()
    return [vars(one) for one in left] or str(work.state.fields.get("why_failed") or "")


def _feedback(work: Work) -> dict[str, Any]:
    """Why an earlier attempt did not land or did not pass."""
    found: dict[str, Any] = {name: text for name in (RED, CONFLICT) if (text := work.read(name))}
    why = str(work.state.fields.get("why_failed") or "")
    if why:
        found["what_failed"] = why
    reasons = work.top.state.fields.get("reasons")
    before = reasons.get(work.top.state.run.phase) if isinstance(reasons, Mapping) else None
    if before:
        found["why_the_stage_was_restarted"] = before
    return found


def _answers(work: Work) -> dict[str, Any]:
    mine = "/".join(work.items_above())
    said = [one for one in work.top.state.decisions if one.status == "answered" and one.item == mine]
    lines = [f"{one.question} → {one.answer}" + (f": {one.note}" if one.note else "") for one in said]
    return {"decisions": lines} if lines else {}


def _task(work: Work, one: Task) -> dict[str, Any]:
    """A task for its agent, within the limits of its contract."""
    outputs = {}
    for number in one.depends:
        store = ports.child_store(work.top, "implement", f"task-{number}")
        if store.exists():
            outputs[f"task-{number}"] = str(store.peek().fields.get(SUMMARY) or "")[:500]
    return {
        "id": one.id,
        "description": one.name[:100],
        "instructions": one.instructions[:2000],
        "files": list(one.files),
        "complexity": planning.complexity_of(work, one),
        "dependencyOutputs": outputs,
        "constraints": {"maxReadFiles": MOST_READ, "maxWriteFiles": max(3, len(one.files)), "allowBashCommands": False},
        **_requested(work),
        **_feedback(work),
        **_answers(work),
    }


def _requested(work: Work) -> dict[str, Any]:
    """The files that the agent asked for at its last attempt, as far as they are in its workspace."""
    wanted = work.state.fields.get("requested")
    found = {}
    for name in wanted[:MOST_READ] if isinstance(wanted, list) else ():
        try:
            found[str(name)] = safe_paths.read_text(safe_paths.inside(work.cwd, str(name), "file"), str(name))[
                :LONGEST_FILE
            ]
        except AgentdError as error:
            found[str(name)] = f"(cannot be read: {error.message})"
    return {"requestedFiles": found} if found else {}
