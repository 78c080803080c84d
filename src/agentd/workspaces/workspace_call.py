"""An agent's call in a workspace: who may only read there gets the files put back, and its repository is repaired."""

import shlex

from agentd.calling import sandbox
from agentd.calling.agent_call import AgentCall
from agentd.calling.call import Callers
from agentd.landing import task
from agentd.landing.run_landing import refuse_unready_repository
from agentd.model.run import Run
from agentd.model.tools import EDIT, SHELL
from agentd.model.workflow import Step, Workflow
from agentd.runs.project import Project
from agentd.runs.work import Work
from agentd.state.reading import printable
from agentd.workspaces import work_files


class WorkspaceCall(AgentCall):
    """The calls of one step whose agent writes code in a workspace, or looks at it there."""

    def __init__(self, work: Work, step: Step) -> None:
        super().__init__(work, step)
        self.files = ""
        self.outside: dict[str, tuple[int, int]] | None = None

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
            if not sandbox.confines(self.work.project, self.work.cwd):
                self.outside = work_files.checkout_marks(self.work.project.root)
        self.files = "" if EDIT in self.step.tools else work_files.tree_if_any(self.work)

    @property
    def litters(self) -> bool:
        return SHELL in self.step.tools and bool(self.files)

    def restore(self, run: Run) -> str:
        said = super().restore(run)
        if self.writes_code:
            task.mend_repository(self.work)
        self._tell_outside()
        if self.files and work_files.put_back(self.work, self.files):
            self.work.say(f"⚠ {self.who} changed files of the workspace; they have been put back")
        return said

    def _tell_outside(self) -> None:
        """Name what changed in the person's checkout meanwhile: nobody can tell who wrote it, so nothing is put back."""
        if self.outside is None:
            return
        root, before = self.work.project.root, self.outside
        now = work_files.checkout_marks(root)
        ours = tuple(f"{folder}/" for folder in self.work.project.own_folders())
        changed = sorted(name for name in {*before, *now} if before.get(name) != now.get(name))
        listed = [printable(name) for name in changed if not name.startswith(ours)]
        if listed:
            self.work.say(
                f"⚠ in your checkout changed, by you or by {self.who}, which no sandbox confines: {', '.join(listed)}; "
                f"to see how: git -C {shlex.quote(str(root))} diff HEAD"
            )


class WorkspaceCallers(Callers):
    """The agents of a family whose runs need a repository before they pay for the first call."""

    def refuse_unready(self, project: Project, workflow: Workflow, step: str, command: str) -> None:
        refuse_unready_repository(project.root)
        super().refuse_unready(project, workflow, step, command)
