"""What an agent is given for a call: which model, which conversation, which tools, which words. It starts nothing."""

import shlex
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from agentd.calling import roster
from agentd.calling.prompt import make_prompt
from agentd.calling.transcripts import CALL
from agentd.model.job import EDIT, POWERS, SHELL, Job
from agentd.model.models import AgentModel, assess
from agentd.model.run import Run
from agentd.model.workflow import RESERVED, Step
from agentd.prompts.render import built_in
from agentd.runs.project import Project
from agentd.usage.calls import calls_in

if TYPE_CHECKING:
    from agentd.runs.work import Work


def make_job(
    work: "Work", run: Run, step: Step, agent: str, env: Mapping[str, str] | None = None, context_file: str = ""
) -> Job:
    assert run.intent is not None
    found = CALL.fullmatch(run.intent.call)
    visit = int(found["visit"]) if found else 1
    words = tuple(word for word in step.next if word not in RESERVED)
    section = work.project.config.sections.get(agent, {})
    model = model_of(work, agent)
    served = tuple(name for name in step.tools if name not in POWERS)
    edits, shell = (not step.tools or power in step.tools for power in (EDIT, SHELL))
    config = work.project.config
    return Job(
        call=run.intent.call,
        step=step.name,
        role=step.what,
        visit=visit,
        prompt=make_prompt(work, step, words, context_file),
        cwd=str(work.cwd),
        folder=str(work.home),
        outcomes=words,
        item=work.item,
        model=model.model if model else "",
        effort=model.effort if model else "",
        session=_session(work, step, agent, visit),
        instructions="" if edits or shell else built_in("instructions"),
        tools=served,
        server=server(work.store.folder, run.intent.call) if served else (),
        edits=edits,
        shell=shell,
        scratch=str(work.store.folder / "calls" / "files"),
        max_turns=int(config.get("calls", "max_turns")),
        max_cost=float(config.get("budget", "per_call")),
        program=tuple(roster.program(work.project, agent)),
        args=tuple(section.get("args", ())),
        settings=settings(work.project, agent),
        env=env or {},
    )


def model_of(work: "Work", agent: str) -> AgentModel | None:
    """The model that fits the change: the more specs and tasks it has, the more capable."""
    specs = sum(1 for _ in work.files("specs/")) if work.is_change else 0
    path = work.home / "tasks.md"
    tasks = 0
    if work.is_change and path.is_file():
        from agentd.families.change.documents.tasks import read

        found = read(path.read_text(encoding="utf-8", errors="replace"))[0]
        tasks = len(found.tasks) if found else 0
    complexity = assess(specs, tasks) if tasks else "medium"
    return work.project.config.model_for(agent, complexity)


def settings(project: Project, agent: str) -> dict[str, str]:
    """The agent's section of the configuration as text; a script is found from everywhere."""
    section = project.config.sections.get(agent, {})
    found = {
        key: shlex.join(value) if isinstance(value, tuple) else str(value)
        for key, value in section.items()
        if key != "models"
    }
    return found | ({"script": str(project.root / found["script"])} if found.get("script") else {})


def _session(work: "Work", step: Step, agent: str, visit: int) -> str:
    """The conversation a call goes on with, if it was one with this agent."""
    session = _wanted_session(work, step, visit)
    with_others = [call for call in calls_in(work.top.state.fields) if call.get("session") == session]
    return session if all(call.get("agent") == agent for call in with_others) else ""


def _wanted_session(work: "Work", step: Step, visit: int) -> str:
    """The conversation a call is to go on with: a repair takes up the planner's, everything else begins anew.

    Documents made in one conversation are also reviewed in it; a challenger that nobody watches remembers its own.
    """
    if not work.is_change:
        return ""
    fields = work.top.state.fields
    one_shot = fields.get("generation") == "one-shot"
    resumed = step.name in ("revise", "fix_format") or (one_shot and is_self_review(step))
    if resumed:
        return str(fields.get("session_id") or "")
    if step.what == "challenger" and visit > 1 and not work.project.config.human_in_loop:
        return str(fields.get("challenger_session_id") or "")
    return ""


def server(folder: Path, call: str) -> tuple[str, ...]:
    """The program that gives an agent the tools of its step; said in full, as some agents pass on no environment."""
    # -P: without it the `agentd` folder of the project in cwd could stand in for this package.
    return (sys.executable, "-P", "-m", "agentd", "mcp", "--run", str(folder), "--call", call)


def is_self_review(step: Step) -> bool:
    """Whether the author of a document looks at it again: nothing but a clear pass is one."""
    return {"pass", "needs_revision"} <= set(step.next)
