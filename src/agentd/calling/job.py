"""What an agent is given for a call: which model, which conversation, which tools, which words."""

import shlex
from collections.abc import Mapping
from typing import Any

from agentd.calling import model_list, nudge, roster, tool_host
from agentd.calling.agent_call import AgentCall
from agentd.calling.prompt import make_prompt
from agentd.calling.transcripts import CALL
from agentd.model.job import Job
from agentd.model.models import Complexity
from agentd.model.run import Run
from agentd.model.tools import EDIT, POWERS, SHELL
from agentd.model.workflow import RESERVED
from agentd.prompts.render import built_in
from agentd.runs.project import Project
from agentd.runs.work import Work
from agentd.usage.recorded_calls import calls_in


def make_job(call: AgentCall, run: Run, agent: str, env: Mapping[str, str], afresh: bool = False) -> Job:
    """The job of a call; `afresh` begins a new conversation where one could go on."""
    assert run.intent is not None
    work, step = call.work, call.step
    found = CALL.fullmatch(run.intent.call)
    visit = int(found["visit"]) if found else 1
    served = tuple(name for name in step.tools if name not in POWERS)
    prompt, session = make_prompt(call), _session(work, agent, call.session(visit))
    if run.intent.nudge:
        adapter = roster.find(work.project, agent)
        session = "" if afresh else nudge.session(work, run.intent.nudge, agent)
        reminder = nudge.words(call, run.intent.nudge, adapter)
        prompt = reminder if session else f"{prompt}\n\n{reminder}"
    server, connected = tool_host.connect(work, run.intent.call) if served else ((), {})
    edits, shell = (not step.tools or power in step.tools for power in (EDIT, SHELL))
    return job_for(
        work.project,
        agent,
        call.complexity(),
        call=run.intent.call,
        step=step.name,
        role=step.what,
        visit=visit,
        prompt=prompt,
        cwd=str(work.cwd),
        folder=str(work.home),
        outcomes=tuple(word for word in step.next if word not in RESERVED),
        item=work.item,
        session="" if afresh else session,
        nudges=run.intent.nudge.times if run.intent.nudge else 0,
        instructions="" if edits or shell else built_in("instructions"),
        tools=served,
        server=server,
        edits=edits,
        shell=shell,
        litters=call.litters,
        writable=tuple(path for tool in served for path in work.layout.shared.get(tool, ())),
        scratch=str(work.store.folder / "calls" / "files"),
        max_turns=int(work.project.config.get("calls", "max_turns")),
        env={**env, **connected},
    )


def job_for(project: Project, agent: str, complexity: Complexity, **fields: Any) -> Job:
    """A job with these fields, and with what the configuration says about the agent."""
    config = project.config
    model = model_list.model_for(project, agent, complexity)
    return Job(
        model=model.model if model else "",
        effort=model.effort if model else "",
        max_cost=float(config.get("calls", "max_cost")),
        program=tuple(roster.program(project, agent)),
        args=tuple(config.sections.get(agent, {}).get("args", ())),
        settings=_settings(project, agent),
        **fields,
    )


def _settings(project: Project, agent: str) -> dict[str, str]:
    """The agent's section of the configuration as text; a script is found from everywhere."""
    section = project.config.sections.get(agent, {})
    found = {
        key: shlex.join(value) if isinstance(value, tuple) else str(value)
        for key, value in section.items()
        if key != "models"
    }
    return found | ({"script": str(project.root / found["script"])} if found.get("script") else {})


def _session(work: Work, agent: str, wanted: str) -> str:
    """The conversation a call goes on with, if it was one with this agent."""
    with_others = [call for call in calls_in(work.top.state.fields) if call.get("session") == wanted]
    return wanted if all(call.get("agent") == agent for call in with_others) else ""
