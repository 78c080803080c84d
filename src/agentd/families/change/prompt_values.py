"""What the prompts of a change are filled in with, each value computed only if a template asks for it."""

from collections.abc import Sequence

from agentd.calling.agent_call import Values
from agentd.families.change import challenge, code_review, evidence_blockers, format_check, task_status, tasks
from agentd.families.change.challenge import reviews
from agentd.families.change.specs import affected
from agentd.model.workflow import Step
from agentd.proof import record
from agentd.review.issue_ledger import table
from agentd.runs.work import Work

BUILDERS = ("implementer", "reviewer")


def values(work: Work, step: Step, context: str) -> Values:
    """The values of a step; `context` is the path of its context file."""
    clarifications = work.home / "clarifications.md"
    plan: Values = {
        "item": lambda: work.item,
        "tools": lambda: ", ".join(step.tools),
        "context": lambda: context or f"{work.home}/GEMINI.md",
        "clarifications": lambda: str(clarifications) if clarifications.is_file() else "(there are none)",
        "earlier_specs": lambda: _bullets(work, _earlier(work), "(none: this is the first)"),
        "other_specs": lambda: _bullets(work, [each for each in _specs(work) if each != _mine(work)], "(none)"),
        "specs": lambda: _bullets(work, _specs(work), "(no spec is affected)"),
        "documents": lambda: _bullets(work, ["proposal.md", *_specs(work), "tasks.md"], ""),
        "review": lambda: f"{work.home}/CHALLENGE.md",
        "issues": lambda: "\n".join(table(challenge.entries(work))) or "(none)",
        "findings": lambda: "\n".join(format_check.lines(work)) or "(none)",
        "round": lambda: str(len(reviews(work)) + 1),
    }
    return {**plan, **_of_code(work)} if step.what in BUILDERS else plan


def _of_code(work: Work) -> Values:
    """The values for those who write code and those who review it."""

    def seen() -> str:
        found = record.evidence(work)[0] or record.evidence(work, record.BASELINE)[0]
        return code_review.in_words(work, found) if found else "(agentd has seen nothing yet)"

    def output() -> str:
        found = record.evidence(work)[0]
        return code_review.failing_output(found) if found else ""

    def against() -> str:
        found = evidence_blockers.blockers(work) if record.evidence(work)[0] else ()
        return "\n".join(f"- {one.text}" for one in found) or "(nothing)"

    return {
        "tasks": lambda: (
            tasks.in_words(tasks.handed_out(work), task_status.left(work))
            if work.item
            else tasks.in_words(tasks.open_tasks(work))
        ),
        "evidence": seen,
        "output": output,
        "against": against,
        "code_issues": lambda: "\n".join(table(code_review.ledger(work))) or "(none)",
        "report": lambda: f"{work.home}/REVIEW.md",
        "diff": lambda: f"{work.home}/implementation.diff",
        "code_round": lambda: str(len(code_review.rounds(work)) + 1),
    }


def _mine(work: Work) -> str:
    return f"specs/{work.item}.md"


def _specs(work: Work) -> list[str]:
    """The specs that exist, those that the proposal names first and in its order."""
    present = [path.relative_to(work.home).as_posix() for path in work.files("specs/")]
    named = [f"specs/{name}.md" for name in affected(work)]
    return list(dict.fromkeys([name for name in named if name in present] + present))


def _earlier(work: Work) -> list[str]:
    """The specs that exist and that the proposal names before this one."""
    named = [f"specs/{name}.md" for name in affected(work)]
    before = named[: named.index(_mine(work))] if _mine(work) in named else []
    return [name for name in _specs(work) if name in before]


def _bullets(work: Work, names: Sequence[str], nothing: str) -> str:
    return "\n".join(f"- {work.home}/{name}" for name in names) or nothing
