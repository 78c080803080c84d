"""Reminders to agents that ended without what their step needs: in which words, in which conversation, how often."""

from collections.abc import Mapping
from typing import Any

from agentd.agents.adapter import Adapter
from agentd.agents.live_line import tidy
from agentd.calling.agent_call import AgentCall
from agentd.model.job import Reply
from agentd.model.run import Nudge, Outcome, Run
from agentd.model.tools import POWERS
from agentd.prompts.render import built_in, render
from agentd.runs.call_scope import client_trace
from agentd.runs.work import Work
from agentd.state import durable
from agentd.usage.recorded_calls import calls_in

# What the note of a failure says if the agent never got as far as agentd's tools.
UNSERVED = "it never asked agentd for its tools"
LONGEST = 1000
SAID = "what it said: "


def words(call: AgentCall, nudge: Nudge, adapter: Adapter) -> str:
    """What the agent is told, its tools named as its program names them."""
    names = " or ".join(f"`{adapter.served}{tool}`" for tool in call.tools_for(nudge.missing))
    tools = f"Call {names} for that; a reply alone does not count. " if names else ""
    values = {"missing": nudge.missing, "tools": tools, "ending": call.ending}
    return render(built_in("nudge"), values, "nudge.md")


def session(work: Work, nudge: Nudge, agent: str) -> str:
    """The conversation in which the agent is reminded; empty if it was another agent's, or its program names none."""
    made = _call(work, nudge)
    return str(made.get("session") or "") if made.get("agent") == agent else ""


def agent_of(work: Work, nudge: Nudge) -> str:
    """The agent that is reminded."""
    return str(_call(work, nudge).get("agent") or "")


def _call(work: Work, nudge: Nudge) -> Mapping[str, Any]:
    """The call that ended without what was needed, as the run keeps it."""
    name = "/".join((*work.items_above(), nudge.call))
    return next((call for call in reversed(calls_in(work.top.state.fields)) if call.get("call") == name), {})


def was_served(work: Work, call: str) -> bool:
    """Whether the agent of a call that is over asked agentd for its tools; the trace of it is removed."""
    trace = client_trace(work.store.folder, call)
    found = trace.exists()
    if found:
        durable.remove(trace, "scratch")
    return found


def undelivered(call: AgentCall, run: Run, outcome: Outcome, reply: Reply, agent: str, served: bool) -> Outcome:
    """What a reply without what the step needs comes to: a reminder, or a failure that says what the agent said.

    An agent that never asked for the tools of its step is not reminded: it does not have them.
    """
    assert run.intent is not None
    made = run.intent.nudge.times if run.intent.nudge else 0
    most = int(call.work.project.config.get("calls", "nudges"))
    equipped = served or {*POWERS}.issuperset(call.step.tools)
    said = f"; {SAID}{tidy(reply.text) or 'nothing'}"
    if not equipped:
        return Outcome("failed", f"{outcome.note}; {UNSERVED}{said}")
    if made >= most:
        return Outcome("failed", f"{outcome.note}{said}")
    note = f"{agent} ended without it: {outcome.note}{said}; reminding it ({made + 1} of {most})"
    return Outcome("failed", note, outcome.note[:LONGEST])
