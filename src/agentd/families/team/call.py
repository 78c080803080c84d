"""An agent step of a session: what the role is sent, what it may change, and what its reply amounts to."""

from collections.abc import Sequence

from agentd.calling.agent_call import Values
from agentd.calling.call import Callers
from agentd.families.team import LAYOUT, contract, dispatch, intake, roles, session, verdicts
from agentd.families.team.session_documents import DOCUMENTS, TASKS
from agentd.model.job import Reply
from agentd.model.run import Outcome, Run
from agentd.model.workflow import RESERVED, Step
from agentd.runs import state_guard
from agentd.runs.safeguard import Safeguard
from agentd.runs.work import Work
from agentd.workspaces import work_files
from agentd.workspaces.workspace_call import WorkspaceCall, WorkspaceCallers

MOST_NOTES = 10  # of a reply are told
RECORDS = (
    "began.json",
    "checks.json",
    "evidence.json",
    "baseline.json",
    "approve-design-history.jsonl",
    "lean-notes.md",
)


class TeamCall(WorkspaceCall):
    """The calls of one step of a session or of one of its tasks."""

    def __init__(self, work: Work, step: Step) -> None:
        super().__init__(work, step)
        self.role = roles.find(work.project.root, step.what)

    @property
    def who(self) -> str:
        return self.role.name

    def arm(self) -> None:
        """Guard every document that is not this role's, and the files of a workspace that it only reads."""
        super().arm()
        work = self.work
        if work.parent is not None:
            work_files.refuse_checkout(work)
        own = self.role.writes if "write_document" in self.step.tools else ()
        others = [name for name in DOCUMENTS if name not in own]
        self.guards = [Safeguard(work.top, RECORDS, others, settings=self.writes_code)]
        if work.parent is not None:
            self.guards.append(Safeguard(work, RECORDS))

    def note_documents(self) -> None:
        """Count the dispatch, and see which instructions of the project it names."""
        if self.work.state.fields.get(session.ASKED):  # by an earlier call
            self.work.note(session.ASKED, None)
        session.count_dispatch(self.work, self.role.name)
        session.project_instructions(self.work)

    def template(self) -> tuple[str, str]:
        return (LAYOUT.folder / "prompts" / "dispatch.md").read_text(encoding="utf-8"), "dispatch.md"

    def values(self) -> Values:
        return {**super().values(), **dispatch.values(self.work, self.step, self.role)}

    def tools_for(self, missing: str) -> Sequence[str]:
        return ("write_document",) if self.step.produces and "write_document" in self.step.tools else ()

    @property
    def ending(self) -> str:
        return "Reply with the JSON object of the contract and nothing else. "

    def restore(self, run: Run) -> str:
        """Put back what was not this role's; a document of another role that it changed makes the call void."""
        state_guard.put_children_back(self.work)  # the status of every task is read from them
        said = super().restore(run)
        if TASKS not in self.step.produces:
            session.write_statuses(self.work.top, session.statuses(self.work.top))
        return said

    def _failed(self, why: str) -> Outcome:
        """A reply that cannot be used; if it was the last attempt, the person is told why."""
        self.work.note(session.ASKED, {"role": self.role.name, "words": why[:300]})
        return Outcome("failed", why)

    def judge(self, run: Run, reply: Reply) -> Outcome:
        result, problem = contract.read(reply.text, self.role.statuses)
        if result is None:
            return self._failed(problem)
        work, step = self.work, self.step
        words = [word for word in step.next if word not in RESERVED]
        word, note = contract.outcome(result, self.role.name, words)
        if word == "failed":
            return self._failed(note)
        if word == step.forward:
            missing = [f"{name}: {why}" for name in step.produces if (why := self._unwritten(run, name))]
            if missing:
                return self._failed(f"the reply says {result.status}, but {'; '.join(missing)}")
        if step.what in verdicts.KINDS:
            verdicts.keep(work, step.what, word, result)
        if step.what == "coder":
            concerns = result.gates.get("security_concerns")
            work.note("security_concerns", [str(each) for each in concerns] if isinstance(concerns, list) else [])
            session.note_growth(work, note if word == "complex" else "")
        if step.what == "spec_agent":
            intake.merge_status(work)
        if self.role.name == "Architect" and result.next_agent == "designer":
            session.note(work, ui=result.reason)
        if word in ("unclear", "needs_info", "complex", "blocked"):
            work.note(session.ASKED, {"role": self.role.name, "words": note})
        notes = result.artifacts.get("notes")
        listed = notes if isinstance(notes, list) else [notes] if isinstance(notes, str) and notes else []
        for each in listed[:MOST_NOTES]:
            work.say(f"{self.role.name}: {str(each)[:300]}")
        if len(listed) > MOST_NOTES:
            work.say(f"{self.role.name}: … and {len(listed) - MOST_NOTES} more notes")
        return Outcome(word, " ".join(note.split())[:300])


def agents() -> Callers:
    """Whoever plays the roles of a session."""
    return WorkspaceCallers(TeamCall)
