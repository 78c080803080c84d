"""The lines that people see while a change runs, where they differ from the default ones."""

from collections.abc import Mapping

from agentd.calling.transcripts import visits
from agentd.families.change import PLAN, format_check, specs, tasks, troubleshooting
from agentd.families.change.challenge import issue_lines
from agentd.runs.work import Work

WRITERS = {"propose": "proposal.md", "break_down": "tasks.md"}
REVIEWS = ("review_proposal", "review_spec", "review_tasks")
CODE = ("approved", "needs_changes", "major_issues")


def lines(work: Work, event: str, details: Mapping[str, str]) -> list[str] | None:
    """The lines for an event of a run; None for the default ones."""
    step, outcome = details.get("step", ""), details.get("outcome", "")
    if event not in ("begin", "end", "skip"):
        return None
    said = _said(work, event, step, outcome, details)
    return said if said or event == "skip" or _speaks_for_itself(work, step) else None


def _speaks_for_itself(work: Work, step: str) -> bool:
    known = work.workflow.steps.get(step)
    return known is not None and known.kind == "do"


def _said(work: Work, event: str, step: str, outcome: str, details: Mapping[str, str]) -> list[str]:
    if event == "begin":
        return _spec(work) if step == "write_spec" else _part(work) if step == "implement" and work.item else []
    if event == "skip":
        note = details.get("note", "")
        return [note] if note == specs.NONE or step == "review" else []
    if step in WRITERS:
        return [f"✅ {WRITERS[step]} generated"]
    if step == "write_spec":
        return [f"✅ {work.item}.md generated"]
    if step == "generate":
        names = [path.name for name in PLAN for path in work.files(name)]
        return [f"✅ {name} generated" for name in names]
    if step in REVIEWS:
        return _review(work, step, outcome, details)
    if step == "validate" and details.get("to") == "mend":
        limit = work.project.config.get("workflow", "format_iterations")
        return troubleshooting.bad_format(work.state.run.name, format_check.serious(work), limit).lines()
    if step == "challenge":
        return _challenge(work, outcome, details.get("note", ""))
    if step == "review" and outcome in CODE:
        return [f"The reviewer says {outcome.upper()}"]
    return []


def _spec(work: Work) -> list[str]:
    names = specs.affected(work)
    number = names.index(work.item) + 1 if work.item in names else 0
    return [f"Spec {number}/{len(names)}: {work.item}"]


def _part(work: Work) -> list[str]:
    names = [part.id for part in tasks.planned_parts(work)]
    number = names.index(work.item) + 1 if work.item in names else 0
    left = ", ".join(task.id for task in tasks.handed_out(work))
    return [f"Part {number}/{len(names)}: {work.item} ({left})"]


def _review(work: Work, step: str, outcome: str, details: Mapping[str, str]) -> list[str]:
    number = visits(work, step)
    if outcome == "pass":
        return [f"✓ Review {number}: PASS"]
    if outcome == "failed":
        return [f"⚠ Review {number} failed: {details.get('note', '')}; going on"]
    said = [f"⚠ Review {number}: NEEDS_REVISION"]
    if details.get("to") != step:
        said.append("⚠ Max review iterations reached")
    return said


def _challenge(work: Work, outcome: str, note: str) -> list[str]:
    if outcome != "rejected":
        return [note]
    return [note, *issue_lines(work), f"Review it by hand: {work.project.relative(work.home)}/proposal.md"]
