"""An agent step of a staged run: what the agent is sent, what it may change, and what its reply amounts to."""

from agentd.calling.agent_call import Values
from agentd.calling.call import Callers
from agentd.families.staged import LAYOUT, compaction, dispatch, planning, replies
from agentd.model.job import Reply
from agentd.model.models import Complexity
from agentd.model.run import Outcome, Run
from agentd.runs.safeguard import Safeguard
from agentd.workspaces.workspace_call import WorkspaceCall, WorkspaceCallers

RECORDS = ("phases/", "began.json", "evidence.json", "baseline.json")
LEVELS: dict[str, Complexity] = {"easy": "low", "medium": "medium", "hard": "high"}
REVIEWERS: dict[str, Complexity] = {"reviewer": "high", "bug_fixer": "high", "final_reviewer": "critical"}


class StagedCall(WorkspaceCall):
    """The calls of one step of a run or of one of its children."""

    def arm(self) -> None:
        """Guard the files of all phases: agentd alone writes them."""
        super().arm()
        self.guards = [Safeguard(self.work.top, RECORDS, settings=self.writes_code)]
        if self.work.parent is not None:
            self.guards.append(Safeguard(self.work, ("*.md", "*.json")))

    def note_documents(self) -> None:
        if self.work.parent is None:
            compaction.between_phases(self.work)

    @property
    def part(self) -> str:
        """Who plays it: tasks are routed by their complexity."""
        one = planning.task_of(self.work) if self.step.what == "implementer" else None
        return f"{planning.complexity_of(self.work, one)}_{self.step.what}" if one else self.step.what

    def complexity(self) -> Complexity:
        one = planning.task_of(self.work) if self.step.what == "implementer" else None
        return LEVELS[planning.complexity_of(self.work, one)] if one else REVIEWERS.get(self.step.what, "medium")

    @property
    def seconds(self) -> float:
        """A task has a wall clock of its own."""
        limit = self.work.project.config.get("staged", "task_secs")
        return float(limit) if self.step.what == "implementer" else 0.0

    def template(self) -> tuple[str, str]:
        return (LAYOUT.folder / "prompts" / "dispatch.md").read_text(encoding="utf-8"), "dispatch.md"

    def values(self) -> Values:
        return {**super().values(), **dispatch.values(self.work, self.step)}

    @property
    def ending(self) -> str:
        return "Reply as the section “Your reply” says. "

    def judge(self, run: Run, reply: Reply) -> Outcome:
        return replies.judge(self.work, self.step, reply.text)


def agents() -> Callers:
    return WorkspaceCallers(StagedCall)
