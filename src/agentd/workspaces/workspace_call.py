"""An agent's call in a workspace: who may only read there gets the files put back, and its repository is repaired."""

from agentd.calling.agent_call import AgentCall
from agentd.calling.call import Callers
from agentd.landing import task
from agentd.landing.run_landing import refuse_unready_repository
from agentd.model.run import Run
from agentd.model.tools import EDIT, SHELL
from agentd.model.workflow import Step, Workflow
from agentd.runs.project import Project
from agentd.runs.work import Work
from agentd.workspaces import work_files


class WorkspaceCall(AgentCall):
    """The calls of one step whose agent writes code in a workspace, or looks at it there."""

    def __init__(self, work: Work, step: Step) -> None:
        super().__init__(work, step)
        self.files = ""

    @property
    def writes_code(self) -> bool:
        return not {EDIT, SHELL}.isdisjoint(self.step.tools)

    @property
    def who(self) -> str:
        """What a person calls the agent."""
        return self.part.replace("_", " ")

    def arm(self) -> None:
        if self.writes_code:
            work_files.refuse_checkout(self.work)
        self.files = "" if EDIT in self.step.tools else work_files.tree_if_any(self.work)

    @property
    def litters(self) -> bool:
        return SHELL in self.step.tools and bool(self.files)

    def restore(self, run: Run) -> str:
        said = super().restore(run)
        if self.writes_code:
            task.mend_repository(self.work)
        if self.files and work_files.put_back(self.work, self.files):
            self.work.say(f"⚠ {self.who} changed files of the workspace; they have been put back")
        return said


class WorkspaceCallers(Callers):
    """The agents of a family whose runs need a repository before they pay for the first call."""

    def refuse_unready(self, project: Project, workflow: Workflow, step: str, command: str) -> None:
        refuse_unready_repository(project.root)
        super().refuse_unready(project, workflow, step, command)
