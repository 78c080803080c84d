"""What a person is told while a change goes on, where that is more than the ordinary. It changes nothing."""

from collections.abc import Mapping

from agentd.calling.transcripts import visits
from agentd.families.change import PLAN, format_check, specs, tasks, troubleshooting
from agentd.families.change.challenge import issue_lines
from agentd.runs.work import Work

WRITERS = {"propose": "proposal.md", "break_down": "tasks.md"}
# Steps that say what they have to say themselves, or have nothing to say.
QUIET = (
    "choose_git",
    "set_up_git",
    "write_answers",
    "validate",
    "weigh",
    "show_issues",
    "show_review",
    "show_plan",
    "rest",
    "ready",
    "set_out",
    "baseline",
    "accept_baseline",
    "check_tasks",
    "waive_tasks",
    "try_out",
    "take_stock",
    "rest_of_tasks",
    "test",
    "accept_evidence",
    "accept_harm",
    "accept_anyway",
    "judge",
    "judge_again",
)
REVIEWS = ("review_proposal", "review_spec", "review_tasks")
CODE = ("approved", "needs_changes", "major_issues")


def lines(work: Work, event: str, details: Mapping[str, str]) -> list[str] | None:
    """The words of a change for an event of its run; None where the ordinary ones will do."""
    step, outcome = details.get("step", ""), details.get("outcome", "")
    if event not in ("begin", "end", "skip"):
        return None
    said = _planning(work, event, step, outcome, details)
    return said if said or event == "skip" or step in QUIET else None


def _planning(work: Work, event: str, step: str, outcome: str, details: Mapping[str, str]) -> list[str]:
    """The words of planning a change; nothing where the ordinary ones will do."""
    if event == "begin":
        return _spec(work) if step == "write_spec" else _part(work) if step == "implement" and work.item else []
    if event == "skip":
        return [specs.NONE] if details.get("note") == specs.NONE else []
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
