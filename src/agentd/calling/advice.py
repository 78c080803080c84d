"""Errors and warnings about agents, each with its cause and a fix to paste."""

from agentd.calling.roster import STANDBYS
from agentd.errors import AgentdError, AgentFailed, AgentUnavailable
from agentd.model.job import Failure


def out_of_service(agent: str, login: str, failure: Failure, note: str, again: str) -> AgentdError:
    """The error for an agent that needs a login, or has to wait for its quota. The run can be continued."""
    if failure == "auth":
        return AgentFailed(
            note, login or again, f"{agent} is not logged in, or its key is not valid", (f"Log in, then: {again}",)
        )
    other = next(name for name in STANDBYS if name != agent)
    return AgentUnavailable(
        note,
        again,
        f"{agent} is out of quota; nothing is lost",
        (
            "Wait until its limit is reset, then go on with the same command",
            f'Or have another agent stand in, below [fallback] in agentd/config.toml: {agent} = "{other}"',
        ),
    )


def lost_conversation(session: str) -> list[str]:
    """The warning that a call starts a new conversation, because the old one does not exist any more."""
    return [
        f"⚠ Session {session} not found",
        "  Cause: it expired, or the agent's sessions were cleared",
        "  Solution: going on in a fresh session; delete session_id in STATE.yaml to do so from the start",
    ]
