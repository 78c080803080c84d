"""What an agent is given and what it gives back: the two values every adapter turns into and out of a program."""

from collections.abc import Mapping
from dataclasses import field
from typing import Any, Literal, get_args

from agentd.model.usage import Usage
from agentd.values import dataclass

# What can go wrong with a call. The class decides what happens next: see `calling/retry.py`.
Failure = Literal["quota", "auth", "transient", "hang", "refused", "unreadable", "lost", "failed"]
FAILURES: tuple[Failure, ...] = get_args(Failure)

# What the configuration calls an effort, where the programs have another word for it.
EFFORT = {"extra high": "xhigh"}


@dataclass(frozen=True)
class Job:
    """One call of one agent.

    visit         counts the calls of this step from 1; a repeated attempt keeps its number
    nudges        how often the agent was reminded at this visit of what it left out, this call included
    instructions  who the agent is and how it works, for its system prompt; empty for the agent's own
    effort        how hard the model should think, in the words of its agent; empty for the agent's own choice
    session       the conversation to go on with; empty for a new one
    tools         what the agent may call through the MCP server that `server` starts
    edits, shell  whether it may change the project's files, and run commands; reading is always allowed
    litters       whether what it runs may write in its working folder all the same: the files are put back afterwards
    writable      what its tools write outside of its run, from the project's root; a folder, or a file that is locked
    scratch       a folder outside the work tree, or below the run's, where the files of its `Command` are put
    max_turns     how many turns it may take, and `max_cost` how many dollars; 0 for no limit
    program       the words that start the agent's program; empty for the adapter's own
    args          words of the person's for its command line
    settings      the agent's own section of the configuration, as text
    env           what the agent's program finds in its environment besides its adapter's own
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
    nudges: int = 0
    instructions: str = ""
    model: str = ""
    effort: str = ""
    session: str = ""
    tools: tuple[str, ...] = ()
    server: tuple[str, ...] = ()
    edits: bool = False
    shell: bool = False
    litters: bool = False
    writable: tuple[str, ...] = ()
    scratch: str = ""
    max_turns: int = 0
    max_cost: float = 0.0
    program: tuple[str, ...] = ()
    args: tuple[str, ...] = ()
    settings: Mapping[str, str] = field(default_factory=dict)
    env: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Command:
    """A program to start for a job: everything `process.run` needs, nothing executed yet.

    files   texts to be put in the job's scratch folder before, by name
    merges  settings that an agent takes from nowhere but a JSON file of the project: by path from the job's cwd, what
            must be in it. Everything else in such a file stays as it is.
    """

    argv: tuple[str, ...]
    stdin: str = ""
    env: Mapping[str, str] = field(default_factory=dict)
    files: Mapping[str, str] = field(default_factory=dict)
    merges: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)


@dataclass(frozen=True)
class Reply:
    """What the agent's output amounts to. `complete` means a result event was seen; `error` says what failed.

    failure      the class of what failed; empty while nothing did
    retry_after  the seconds its service asks to wait
    refused      the tools it wanted and was not allowed to use
    warnings     what its program warns about, such as a model it does not know or a flag that goes away
    cumulative   whether `usage` counts the whole conversation and not this call alone
    """

    text: str = ""
    outcome: str = ""
    complete: bool = False
    error: str = ""
    failure: Failure | Literal[""] = ""
    retry_after: float = 0.0
    refused: tuple[str, ...] = ()
    session: str = ""
    model: str = ""
    usage: Usage = field(default_factory=Usage)
    warnings: tuple[str, ...] = ()
    cumulative: bool = False
