"""Trouble with agents that people meet: each with its cause and with what to do about it, in words to paste."""

from agentd.errors import AgentdError, AgentFailed, AgentUnavailable
from agentd.model.job import Failure


def out_of_service(agent: str, login: str, failure: Failure, note: str, again: str) -> AgentdError:
    """An agent that cannot be called before a person has done something, or time has passed. Nothing is lost."""
    if failure == "auth":
        return AgentFailed(
            note, login or again, f"{agent} is not logged in, or its key is not valid", (f"Log in, then: {again}",)
        )
    return AgentUnavailable(
        note,
        again,
        f"{agent} is out of quota; nothing is lost",
        (
            "Wait until its limit is reset, then go on with the same command",
            f'Or have another agent stand in, below [fallback] in agentd/config.toml: {agent} = "claude"',
        ),
    )


def lost_conversation(session: str) -> list[str]:
    """A warning: the call goes on in a new conversation."""
    return [
        f"⚠ Session {session} not found",
        "  Cause: it expired, or the agent's sessions were cleared",
        "  Solution: going on in a fresh session; delete session_id in STATE.yaml to do so from the start",
    ]
