"""What a person is asked besides the two gates, with what led to it and what each answer does."""

from collections.abc import Mapping, Sequence
from typing import Any

from agentd.families.team import session, verdicts
from agentd.model.decision import RECOMMENDED, Option, Question
from agentd.proof import blockers, record
from agentd.proof.record import BASELINE
from agentd.runs.work import Work

ANOTHER = (
    Option("different_approach", f"Try a different approach {RECOMMENDED}"),
    Option("simplify", "Simplify the scope", reason=True),
    Option("guidance", "Say how to do it", reason=True),
)
MOST = 12


def _leave(work: Work) -> Option:
    return Option("give_up", "Give the task up") if work.parent else Option("abandon", "End the session")


def _tried(work: Work) -> str:
    attempts = [str(each) for each in work.state.fields.get(session.ATTEMPTS) or []]
    return "\n".join(f"  {number}. {text}" for number, text in enumerate(attempts, 1)) or "  nothing is recorded"


def _listed(found: Sequence[Mapping[str, Any]]) -> list[str]:
    lines = []
    for number, one in enumerate(found[:MOST], 1):
        place = f"{one.get('file')}:{one.get('line')}" if one.get("line") else str(one.get("file") or "")
        words = " ".join(str(one.get("message") or one.get("description") or "").split())[:300]
        parts = (f"[{one['severity']}]" if one.get("severity") else "", place, words)
        lines.append(f"  {number}. " + " ".join(filter(None, parts)))
    return lines + ([f"  … and {len(found) - MOST} more"] if len(found) > MOST else [])


def _found(work: Work, kind: str) -> list[str]:
    said = verdicts.verdict(work, kind)
    listed = said.get("found")
    return [str(said.get("summary") or ""), *_listed(listed if isinstance(listed, list) else [])]


def question_of_an_agent(work: Work) -> Question:
    """A role found the goal ambiguous, or needs to know something."""
    asked = work.state.fields.get(session.ASKED)
    said = asked if isinstance(asked, Mapping) else {}
    text = f"{said.get('role') or 'An agent'} asks: {said.get('words') or 'something is unclear'}"
    return Question(text, "Question", (_leave(work),), free=True)


def which_notes_to_fix(work: Work) -> Question:
    lines = "\n".join(_found(work, "review"))
    options = (
        Option("none", f"None of them {RECOMMENDED}"),
        Option("fix", "Fix some or all of them; the note says which", reason=True),
    )
    return Question(f"The Reviewer passes it with notes. Which of them shall be fixed?\n{lines}", "Notes", options)


def security_needs_a_decision(work: Work) -> Question:
    lines = "\n".join(_found(work, "security"))
    options = (
        Option("fix_now", f"Fix it now {RECOMMENDED}"),
        Option("fix_later", "Fix it later; it becomes a known issue", reason=True),
        Option("accept_risk", "Accept the risk; it becomes a known issue", reason=True),
    )
    return Question(f"Security found what needs your decision:\n{lines}", "Security", options)


def repair_is_stuck(work: Work) -> Question:
    options = (*ANOTHER, Option("accept", "Accept it with known issues", reason=True))
    return Question(f"Three repairs did not help. What was tried:\n{_tried(work)}\nWhat now?", "Repair", options)


def tests_stay_red(work: Work) -> Question:
    text = f"The project's own commands are not green. What was tried:\n{_tried(work)}\nWhat now?"
    return Question(text, "Tests", (*ANOTHER, _leave(work)))


def landing_is_stuck(work: Work) -> Question:
    text = f"The work cannot land together with what is there. What was tried:\n{_tried(work)}\nWhat now?"
    return Question(text, "Landing", (*ANOTHER, _leave(work)))


def build_is_stuck(work: Work) -> Question:
    text = f"The acceptance checks are not green. What was tried:\n{_tried(work)}\nWhat now?"
    return Question(text, "Build", (*ANOTHER, _leave(work)))


def _findings(work: Work, kinds: Sequence[str]) -> str:
    seen, problem = record.evidence(work)
    if seen is None:
        return f"  {problem}"
    found = blockers.blockers(seen, record.evidence(work, BASELINE)[0], record.waived(work))
    return "\n".join(f"  - {one.text}" for one in found if one.why in kinds)


def harm_is_found(work: Work) -> Question:
    text = f"The change weakens the tests:\n{_findings(work, ('harm',))}\nWhat now?"
    options = (
        Option("fix", f"Have it repaired {RECOMMENDED}"),
        Option("accept", "It is meant so", reason=True),
        _leave(work),
    )
    return Question(text, "Tests", options)


def tests_cannot_run(work: Work) -> Question:
    found = _findings(work, ("unknown",)) if work.parent else f"{_findings(work, ('unknown',))}\n{_tried(work)}"
    options = (
        Option("retry", f"Run them again, once you have put it right {RECOMMENDED}"),
        Option("accept", "Go on without; it becomes a known issue", reason=True),
        _leave(work),
    )
    return Question(f"What the project is tested with could not run:\n{found}\nWhat now?", "Tests", options)


def scope_has_grown(work: Work) -> Question:
    found = "\n".join(f"  {name}: {why}" for name, why in session.grown(work).items())
    text = f"A coder found a task larger than planned:\n{found}\nPlan again?"
    options = (
        Option("plan_again", f"Plan again {RECOMMENDED}"),
        Option("go_on", "Try the task as it is once more"),
        Option("abandon", "End the session"),
    )
    return Question(text, "Scope", options)


def blocked(work: Work) -> Question:
    """Why the session, or a task, cannot go on by itself."""
    asked = work.state.fields.get(session.ASKED)
    said = f"{asked.get('role')}: {asked.get('words')}" if isinstance(asked, Mapping) else ""
    step = work.state.run.asked_by or work.state.run.step
    text = (
        f"{step} cannot go on{f' ({said})' if said else ''}; agentd log {work.top.state.run.name} tells more. What now?"
    )
    options = (Option("retry", f"Try again {RECOMMENDED}"), _leave(work))
    return Question(text, "Blocked", options)
