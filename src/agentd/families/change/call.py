"""An agent step of a change: what the agent gets, what it must not change, and what its reply comes to."""

from collections.abc import Collection, Mapping, Sequence

from agentd.calling.agent_call import AgentCall, Values, is_self_review
from agentd.calling.call import Callers
from agentd.families.change import (
    LAYOUT,
    PLAN,
    challenge,
    code_review,
    context_files,
    prompt_values,
    task_status,
    troubleshooting,
)
from agentd.families.change.challenge import put_reviews_back, reviews
from agentd.families.change.documents.tasks import listed
from agentd.model.change import Review, TaskStatus
from agentd.model.job import Reply
from agentd.model.models import Complexity, assess
from agentd.model.run import Outcome, Run
from agentd.model.workflow import Step
from agentd.proof import record
from agentd.runs import checksums
from agentd.runs.safeguard import Safeguard
from agentd.runs.work import Work

RECORDS = ("baseline.json", "evidence.json", "REVIEW.md", "implementation.diff", "reviews/")
# The tool that a template tells its agent to use, with the steps that have such a template.
NEEDS = {
    "draft_questions": ("draft_questions",),
    "create_proposal": ("generate", "propose", "sketch"),
    "create_spec": ("write_spec",),
    "create_tasks": ("break_down",),
    "edit_file": ("review_proposal", "review_spec", "review_tasks", "fix_format", "fix_sketch", "revise"),
    "append_review": ("challenge",),
    "edit_code": ("implement", "mend", "resolve"),
    "create_review": ("review",),
}
# Steps whose agent finds what it needs in the prompt.
SHORT = ("sketch", "fix_sketch")
# Roles that say their verdict in a document.
JUDGES = ("challenger", "reviewer")


class ChangeCall(AgentCall):
    """One agent step of a change or of one of its children, with all its attempts."""

    def __init__(self, work: Work, step: Step) -> None:
        super().__init__(work, step)
        self.reviews: tuple[Review, ...] = ()
        self.tasks: Mapping[str, TaskStatus] = {}
        self.context = ""

    def arm(self) -> None:
        super().arm()
        self.reviews = reviews(self.work)
        self.tasks = task_status.statuses(self.work) if record.base(self.work) else {}

    def guard(self, work: Work) -> Safeguard:
        """What agents must not change: agentd's records, and from the first task on also the plan and the settings."""
        begun = bool(record.base(work))
        return Safeguard(work, RECORDS, PLAN if begun else (), settings=begun, shapes=PLAN)

    def note_documents(self) -> None:
        if self.step.what == "challenger":  # its approval counts for what it saw
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
            task_status.begin_tasks(work)
        if self.step.name in SHORT:
            return {}
        self.context, env = context_files.prepare(work.project, work.home, name, role, work.cwd)
        return env

    def template(self) -> tuple[str, str]:
        name = template_of(self.step.name, self.step.tools)
        if not name:
            return super().template()
        return (LAYOUT.folder / "prompts" / f"{name}.md").read_text(encoding="utf-8"), f"{name}.md"

    def values(self) -> Values:
        return {**super().values(), **prompt_values.values(self.work, self.step, self.context)}

    def session(self, visit: int) -> str:
        """The conversation to resume, or nothing for a new one.

        Revisions resume the planner's; so do self-reviews of documents that were generated in one call. An implementer
        that left tasks undone goes on in its own. Later challenges resume the challenger's, unless a person is in the loop.
        """
        fields, step = self.work.top.state.fields, self.step
        one_shot = fields.get("generation") == "one-shot"
        if step.name in ("revise", "fix_format", "fix_sketch") or (one_shot and is_self_review(step)):
            return str(fields.get("session_id") or "")
        if step.name == "implement" and visit > 1:
            return str(fields.get("implementer_session_id") or "")
        if step.what == "challenger" and visit > 1 and not self.work.project.config.human_in_loop:
            return str(fields.get("challenger_session_id") or "")
        return ""

    @property
    def session_key(self) -> str:
        return "session_id" if self.step.what == "planner" else f"{self.step.what}_session_id"

    def tools_for(self, missing: str) -> Sequence[str]:
        named = [tool for name, tool in self._makers().items() if f"{name}: " in missing]
        return [tool for tool in named or self._makers().values() if tool in self.step.tools]

    def _makers(self) -> Mapping[str, str]:
        """The tool for each document of this step, by the document's name."""
        return {self.work.named(name): troubleshooting.maker(name) for name in self.step.produces}

    @property
    def ending(self) -> str:
        return "" if self.step.what in JUDGES else super().ending

    def complexity(self) -> Complexity:
        """How complex the change is, by the number of its specs and tasks."""
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
            task_status.settle_ticks(work, self.tasks)
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


def agents() -> Callers:
    """Whoever plays the roles of a change."""
    return Callers(ChangeCall)


def template_of(step: str, tools: Collection[str]) -> str:
    """The name of a step's template, or nothing if the step does not have the tool that the template needs."""
    return step if any(step in NEEDS.get(tool, ()) for tool in tools) else ""
