"""What an agent's reply amounts to: a page, a plan, a review or the result of a task. agentd writes the file of it."""

from agentd.families.staged import exploring, gate_files, phase_files, plan_file, planning, review_file
from agentd.families.staged.task_steps import SUMMARY, WHY
from agentd.model.run import Outcome
from agentd.model.workflow import Step
from agentd.patterns import regex
from agentd.runs.work import Work
from agentd.text.json_objects import one_with
from agentd.workspaces import work_files

_HEADING = regex(r"(?m)^#{1,6}[ \t]+\S")
TASK_WORDS = {"completed": "done", "needs_context": "needs_context", "needs_decision": "unclear", "failed": "gave_up"}


def judge(work: Work, step: Step, text: str) -> Outcome:
    if step.name in phase_files.REVIEWS:
        return _review(work, *phase_files.REVIEWS[step.name], text)
    if step.what == "implementer":
        return _task(work, text)
    if step.name == "fix_plan":
        return _plan(work, text)
    if step.what == "planner":
        return _part(work, text)
    if step.what == "explorer":
        return _finding(work, text)
    page = phase_files.PAGES.get(step.name)
    return _page(work, page, text) if page else Outcome(step.forward, _first_line(text))


def _page(work: Work, name: str, text: str) -> Outcome:
    """A page is the reply from its first heading on; a reply without one is talk."""
    found = _HEADING.search(text)
    if found is None:
        return Outcome("failed", f"the reply has no heading, so it is no {name}")
    phase_files.write(work, name, text[found.start() :].rstrip() + "\n")
    return Outcome("done", _first_line(text[found.start() :]))


def _finding(work: Work, text: str) -> Outcome:
    if not text.strip():
        return Outcome("failed", "the reply is empty")
    work.write(exploring.FINDING, text.strip() + "\n")
    return Outcome("done", _first_line(text))


def _part(work: Work, text: str) -> Outcome:
    """The plan of one area."""
    problem = plan_file.area_problem(text)
    if problem:
        return Outcome("failed", f"the reply is no plan: {problem[:300]}")
    work.write(planning.PART, text.strip() + "\n")
    return Outcome("done")


def _plan(work: Work, text: str) -> Outcome:
    """The whole plan, corrected."""
    found = _HEADING.search(text)
    plan = text[found.start() :].rstrip() + "\n" if found else text
    try:
        tasks = plan_file.read(plan)
    except plan_file.Invalid as error:
        return Outcome("failed", f"the reply is no valid plan: {' '.join(str(error).split())[:300]}")
    phase_files.write(work, phase_files.PLAN, plan)
    return Outcome("done", f"{len(tasks)} tasks")


def _review(work: Work, kind: str, name: str, text: str) -> Outcome:
    review, problem = review_file.read(text, kind)
    if review is None:
        return Outcome("failed", problem)
    of = phase_files.plan_digest(work) if kind == "plan" else work_files.tree_if_any(work)
    phase_files.write(work, name, review_file.render(review), of=of)
    word = review_file.outcome(review, kind, gate_files.threshold(work))
    work.note(WHY, "" if word == "approved" else review.summary)
    return Outcome(word, _first_line(review.summary))


def _task(work: Work, text: str) -> Outcome:
    data, problem = one_with(text, "status")
    status = str(data.get("status")).strip().lower() if data else ""
    if data is None or status not in TASK_WORDS:
        return Outcome("failed", problem or f"status is {status[:40]!r}, none of {', '.join(TASK_WORDS)}")
    summary = " ".join(str(data.get("summary") or "").split())[:500]
    word = TASK_WORDS[status]
    if word == "needs_context":
        wanted = data.get("requestedFiles")
        work.note("requested", [str(each) for each in wanted][:10] if isinstance(wanted, list) else [])
    if word == "unclear":
        work.note("asked", str(data.get("question") or summary)[:1000])
    work.note(WHY if word == "gave_up" else SUMMARY, summary)
    return Outcome(word, summary[:200])


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0].lstrip("# ")[:200] if text.strip() else ""
