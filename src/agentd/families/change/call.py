"""An agent step of a change: what its agent is given, what it may not touch, what its reply amounts to."""

import os
from collections.abc import Collection, Mapping, Sequence

from agentd.calling.agent_call import AgentCall, Values, is_self_review
from agentd.families.change import (
    LAYOUT,
    PLAN,
    challenge,
    code_evidence,
    code_review,
    context_files,
    format_check,
    tasks,
)
from agentd.families.change.documents.tasks import listed
from agentd.families.change.proposal_reviews import put_reviews_back, reviews
from agentd.families.change.specs import affected
from agentd.model.change import Review, TaskStatus
from agentd.model.job import Reply
from agentd.model.models import Complexity, assess
from agentd.model.run import Outcome, Run
from agentd.model.workflow import Step
from agentd.proof import record
from agentd.review.issue_ledger import table
from agentd.runs import checksums
from agentd.runs.safeguard import Safeguard
from agentd.runs.work import Work

RECORDS = ("baseline.json", "evidence.json", "REVIEW.md", "implementation.diff", "reviews/")
BUILDERS = ("implementer", "reviewer")
# The tool that each template speaks of: a step without it only shares the template's name.
NEEDS = {
    "draft_questions": "draft_questions",
    "generate": "create_proposal",
    "propose": "create_proposal",
    "review_proposal": "edit_file",
    "write_spec": "create_spec",
    "review_spec": "edit_file",
    "break_down": "create_tasks",
    "review_tasks": "edit_file",
    "fix_format": "edit_file",
    "challenge": "append_review",
    "revise": "edit_file",
    "implement": "edit_code",
    "mend": "edit_code",
    "resolve": "edit_code",
    "review": "create_review",
}


class ChangeCall(AgentCall):
    """One agent step of a change or of a child of one, the repeated calls included."""

    def __init__(self, work: Work, step: Step) -> None:
        super().__init__(work, step)
        self.reviews: tuple[Review, ...] = ()
        self.tasks: Mapping[str, TaskStatus] = {}
        self.context = ""

    def arm(self) -> None:
        super().arm()
        self.reviews = reviews(self.work)
        self.tasks = tasks.statuses(self.work) if record.base(self.work) else {}

    def guard(self, work: Work) -> Safeguard:
        """agentd's records; from the first task on the approved plan and the settings too. Before, a plan is its writers'."""
        begun = bool(record.base(work))
        return Safeguard(work, RECORDS, PLAN if begun else (), settings=begun, shapes=PLAN)

    def note_documents(self) -> None:
        if self.step.what == "challenger":  # its approval is worth what it saw and nothing else
            self.work.note("challenged", checksums.checksums(self.work, PLAN))

    def prepare(self) -> Mapping[str, str]:
        super().prepare()
        work, role = self.work, self.step.what
        name = work.top.state.run.name
        if role == "challenger":
            context_files.skeleton(work.home, name)
        if role == "reviewer":
            code_review.prepare(work)
        if self.step.name == "implement":
            tasks.begin_tasks(work)
        self.context, env = context_files.prepare(work.project, work.home, name, role, work.cwd)
        return env

    def template(self) -> tuple[str, str]:
        name = template_of(self.step.name, self.step.tools)
        if not name:
            return super().template()
        return (LAYOUT.folder / "prompts" / f"{name}.md").read_text(encoding="utf-8"), f"{name}.md"

    def values(self) -> Values:
        work, step = self.work, self.step
        own: Values = {
            "item": lambda: work.item,
            "tools": lambda: ", ".join(step.tools),
            "context": lambda: self.context or f"{work.home}/GEMINI.md",
            "clarifications": lambda: _path(work, "clarifications.md") or "(there are none)",
            "earlier_specs": lambda: _bullets(work, _earlier(work), "(none: this is the first)"),
            "other_specs": lambda: _bullets(work, [each for each in _specs(work) if each != _mine(work)], "(none)"),
            "specs": lambda: _bullets(work, _specs(work), "(no spec is affected)"),
            "documents": lambda: _bullets(work, ["proposal.md", *_specs(work), "tasks.md"], ""),
            "review": lambda: f"{work.home}/CHALLENGE.md",
            "issues": lambda: "\n".join(table(challenge.entries(work))) or "(none)",
            "findings": lambda: "\n".join(format_check.lines(work)) or "(none)",
            "round": lambda: str(len(reviews(work)) + 1),
        }
        return {**super().values(), **own, **(_code_values(work) if step.what in BUILDERS else {})}

    def session(self, visit: int) -> str:
        """A repair takes up the planner's conversation, everything else begins anew.

        Documents made in one conversation are also reviewed in it; a challenger that nobody watches remembers its own.
        """
        fields, step = self.work.top.state.fields, self.step
        one_shot = fields.get("generation") == "one-shot"
        if step.name in ("revise", "fix_format") or (one_shot and is_self_review(step)):
            return str(fields.get("session_id") or "")
        if step.what == "challenger" and visit > 1 and not self.work.project.config.human_in_loop:
            return str(fields.get("challenger_session_id") or "")
        return ""

    @property
    def session_key(self) -> str:
        return "session_id" if self.step.what == "planner" else f"{self.step.what}_session_id"

    def complexity(self) -> Complexity:
        """The more specs and tasks a change has, the more capable a model it needs."""
        found = len(listed(self.work.read("tasks.md")))
        return assess(sum(1 for _ in self.work.files("specs/")), found) if found else "medium"

    def restore(self, run: Run) -> str:
        work = self.work
        mine = run.intent.call if run.intent and "append_review" in self.step.tools else ""
        put_reviews_back(work, self.reviews, mine)
        written = self.step.produces
        diff = ("implementation.diff",) if code_review.REVIEW in written else ()
        said = "; ".join(filter(None, (guard.put_back((*written, *diff)) for guard in self.guards)))
        if self.tasks:
            record.hold_base(work)
            tasks.settle_ticks(work, self.tasks)
        return said

    def failed(self) -> None:
        if self.step.what == "challenger":
            put_reviews_back(self.work, self.reviews)

    def judge(self, run: Run, reply: Reply) -> Outcome:
        if self.step.what == "challenger":
            return challenge.judge_challenge(self.work, run, reply)
        if self.step.what == "reviewer":
            return code_review.judge_review(self.work, run, reply)
        return super().judge(run, reply)


def template_of(step: str, tools: Collection[str]) -> str:
    """The template for a step, if it has the tool that the template speaks of."""
    return step if NEEDS.get(step) in tools else ""


def _code_values(work: Work) -> Values:
    """What there is to say to those who write code and to those who review it."""

    def told() -> str:
        seen = record.evidence(work)[0] or record.evidence(work, record.BASELINE)[0]
        return code_review.in_words(work, seen) if seen else "(agentd has seen nothing yet)"

    def output() -> str:
        seen, _ = record.evidence(work)
        return code_review.failing_output(seen) if seen else ""

    def against() -> str:
        seen, _ = record.evidence(work)
        return "\n".join(f"- {one.text}" for one in code_evidence.blockers(work)) if seen else ""

    return {
        "tasks": lambda: tasks.in_words(tasks.handed_out(work) if work.item else tasks.open_tasks(work)),
        "evidence": told,
        "output": output,
        "against": lambda: against() or "(nothing)",
        "code_issues": lambda: "\n".join(table(code_review.ledger(work))) or "(none)",
        "report": lambda: f"{work.home}/REVIEW.md",
        "diff": lambda: f"{work.home}/implementation.diff",
        "code_round": lambda: str(len(code_review.rounds(work)) + 1),
    }


def _mine(work: Work) -> str:
    return f"specs/{work.item}.md"


def _present(work: Work) -> list[str]:
    return [path.relative_to(work.home).as_posix() for path in work.files("specs/")]


def _specs(work: Work) -> list[str]:
    """The specs that are there, those the proposal names first and in its order."""
    present = _present(work)
    named = [f"specs/{name}.md" for name in affected(work)]
    return list(dict.fromkeys([name for name in named if name in present] + present))


def _earlier(work: Work) -> list[str]:
    """The specs that come before this one and are there."""
    named, present = [f"specs/{name}.md" for name in affected(work)], _present(work)
    before = named[: named.index(_mine(work))] if _mine(work) in named else []
    return [name for name in before if name in present]


def _path(work: Work, name: str) -> str:
    path = os.path.join(work.home, name)
    return path if os.path.isfile(path) else ""


def _bullets(work: Work, names: Sequence[str], nothing: str) -> str:
    return "\n".join(f"- {work.home}/{name}" for name in names) or nothing
