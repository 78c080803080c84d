"""PLAN: the areas of the plan, the plans of the areas put together, and the tasks that come of them."""

from collections.abc import Sequence
from dataclasses import replace

from agentd.engine.waves import Item
from agentd.errors import Corrupt
from agentd.families.staged import complexity, phase_files, plan_file
from agentd.families.staged.plan_file import AREAS, Task
from agentd.model.run import Outcome
from agentd.patterns import regex
from agentd.runs import ports
from agentd.runs.work import Work

PART, DRAFT, WHOLE = "plan.md", "1.2-plan-draft.md", "all"
USUAL = ("logic", "tests")
WEIGHTS = {"easy": 1, "medium": 2, "hard": 4}
_AREAS = regex(r"(?ims)^#{1,6}\s+areas\s*$(.*?)(?=^#{1,6}\s|\Z)")
_WORD = regex(r"[a-z]+")


def split_plan(work: Work) -> Outcome:
    """The areas that the brainstorm names; without any, the usual ones."""
    found = _AREAS.search(phase_files.read(work, phase_files.BRAINSTORM))
    words = set(_WORD.findall(found[1].lower())) if found else set()
    areas = [area for area in AREAS if area in words] or list(USUAL)
    if work.project.config.get("staged", "planning") == "single":
        areas = [WHOLE]
    work.note("areas", areas)
    return Outcome("done", ", ".join(areas))


def areas(work: Work) -> Sequence[Item]:
    found = work.state.fields.get("areas")
    return [Item(str(area)) for area in found] if isinstance(found, list) else []


def merge_plan(work: Work) -> Outcome:
    """One plan of those of the areas. One that is not valid is kept as a draft, with what is wrong, for the fixer."""
    parts = {}
    for item in areas(work):
        path = ports.child_store(work, "plan", item.id).folder / PART
        if path.is_file():
            parts[item.id] = path.read_text(encoding="utf-8", errors="replace")
    try:
        text = plan_file.merge(parts)
        plan_file.read(text)
    except plan_file.Invalid as error:
        draft = "\n\n".join(f"# {area}\n\n{part}" for area, part in parts.items())
        phase_files.write(work, DRAFT, f"{draft}\n")
        work.note("reasons", {**dict(work.state.fields.get("reasons") or {}), "PLAN": str(error)})
        return Outcome("invalid", " ".join(str(error).split())[:300])
    phase_files.write(work, phase_files.PLAN, text)
    count = len(plan_file.read(text))
    return Outcome("done", "1 task" if count == 1 else f"{count} tasks")


def tasks_of(work: Work) -> tuple[Task, ...]:
    """The tasks of the plan; where there is no PLAN stage and no plan was given, all of it is one task."""
    text = phase_files.read(work, phase_files.PLAN)
    if not text and "PLAN" in work.top.workflow.without:
        goal = str(work.top.state.fields.get("description") or "")
        return (Task(1, " ".join(goal.split())[:80], (), (), "medium", goal),)
    try:
        return plan_file.read(text)
    except plan_file.Invalid as error:
        path = work.project.relative(work.top.home / phase_files.FOLDER / phase_files.PLAN)
        name = f"staged/{work.top.state.run.name}"
        raise Corrupt(f"{path} is no valid plan: {error}.", f"edit {path}; then: agentd resume {name}") from None


def task_of(work: Work) -> Task | None:
    return next((one for one in tasks_of(work) if one.id == work.item), None)


def plan_tasks(work: Work) -> Sequence[Item]:
    return [replace(one.item, weight=WEIGHTS[complexity_of(work, one)]) for one in tasks_of(work)]


def complexity_of(work: Work, task: Task) -> str:
    return complexity.chosen(task, bool(work.project.config.get("staged", "use_complexity_scoring")))
