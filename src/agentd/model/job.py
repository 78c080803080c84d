"""What an agent is given and what it gives back: the two values every adapter turns into and out of a program."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from agentd.model.usage import Usage


@dataclass(frozen=True)
class Job:
    """One call of one agent.

    visit    counts the calls of this step from 1; a repeated attempt keeps its number
    tools    what the agent may call through the MCP server that `server` starts
    effort   how hard the model should think, in the words of its agent; empty for the agent's own choice
    session  the conversation to go on with; empty for a new one
    env      what the agent's program finds in its environment besides its adapter's own
    """

    call: str
    step: str
    role: str
    visit: int
    prompt: str
    cwd: str
    folder: str
    outcomes: tuple[str, ...] = ("done",)
    item: str = ""
    model: str = ""
    effort: str = ""
    session: str = ""
    tools: tuple[str, ...] = ()
    server: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Command:
    """A program to start for a job: everything `process.run` needs, nothing executed yet."""

    argv: tuple[str, ...]
    stdin: str = ""
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Reply:
    """What the agent's output amounts to. `complete` means a result event was seen; `error` says what failed.

    `lost` means that the conversation it was to go on with is not there any more.
    """

    text: str = ""
    outcome: str = ""
    complete: bool = False
    error: str = ""
    lost: bool = False
    session: str = ""
    model: str = ""
    usage: Usage = field(default_factory=Usage)
