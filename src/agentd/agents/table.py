"""Which agents there are: a row of facts for each built-in one, and entry points `agentd.agents` for those of other packages.

The rows import no adapter: the module `agentd.agents.<name>` is imported when one of its two functions is first called.
Commands that need the facts alone, such as `agentd status`, stay quick to start.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Literal

from agentd.errors import AgentdError, BadConfig, UnknownAgent
from agentd.model.job import Command, Job, Reply
from agentd.model.models import AgentModel

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints

GROUP = "agentd.agents"


@dataclass(frozen=True)
class Abilities:
    """What an agent's program can do, each in a word or two for the table in the docs; empty where it cannot."""

    resume: str = ""
    usage: str = ""
    cost: str = ""
    turn_cap: str = ""
    cost_cap: str = ""
    allow_list: str = ""
    structured_output: str = ""
    effort: str = ""


@dataclass(frozen=True)
class Folder:
    """Where an agent keeps its own files: `path` below the home folder, or `below` in the folder that `variable` names.

    It is named after the agent's program.
    """

    path: str
    variable: str = ""
    below: str = ""

    def places(self, home: str, env: Mapping[str, str]) -> list[str]:
        """Where the folder may be; the agent uses the first one."""
        moved = env.get(self.variable)
        return [*([os.path.join(moved, self.below)] if moved else []), os.path.join(home, self.path)]


@dataclass(frozen=True)
class Traces:
    """What a login leaves behind.

    variables  environment variables, each of which is a login
    files      in the agent's first folder
    keychain   whether macOS may keep the login in its keychain instead
    setting    the key of the agent's section that names the variable
    """

    variables: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    keychain: bool = False
    setting: str = ""


@dataclass(frozen=True)
class Adapter:
    """One agent: how a job becomes a program, how the program's output becomes a reply, and everything else that differs
    from agent to agent.

    program           what has to be on the PATH; `command` in the agent's section of the configuration names another one
    install           what to type where it is not installed, and `login` where nobody is logged in
    turns             the types of event that are turns: counted by agentd where the program has no cap of its own
    package           the Python package that it needs
    needs             the key of the agent's section that has no default and must be set
    models            the default of the setting of this name, and `default_model` that of `default`
    efforts           the values that `reasoning` of a model may have; any if there are none
    traces            how to recognize a login; None if that is not possible
    tools_fix         what to do if the agent does not ask for agentd's tools and only its owner can change that
    conversations     how the names of the files begin in which it keeps its conversations, in `calls/` of the run
    folders           where it keeps its own files, the one with its login first; `home_files` are single files at home
    settings          files in its folders that say which programs it starts and what it is told
    project_settings  the same for one project, at the top of the work tree. Whole folders: a file in a folder that may
                      be moved away is not protected.
    credentials       where other programs keep a login that this agent uses too if a variable is set, by the variable
    temp_variable     the variable that names its temporary folder
    """

    name: str
    command: Callable[[Job], Command]
    read: Callable[[Iterable[str]], Reply]
    program: str = ""
    install: str = ""
    login: str = ""
    turns: tuple[str, ...] = ()
    can: Abilities = Abilities()
    package: str = ""
    needs: Literal["", "command", "models", "script"] = ""
    models: tuple[AgentModel, ...] = ()
    default_model: str = ""
    efforts: tuple[str, ...] = ()
    traces: Traces | None = None
    tools_fix: str = ""
    conversations: str = ""
    folders: tuple[Folder, ...] = ()
    home_files: tuple[str, ...] = ()
    settings: tuple[str, ...] = ()
    project_settings: tuple[str, ...] = ()
    credentials: Mapping[str, str] = field(default_factory=dict)
    temp_variable: str = ""


# What an adapter of another package may define besides its two functions.
OPTIONAL = ("program", "install", "login", "turns", "can")


def _functions(name: str) -> tuple[Callable[[Job], Command], Callable[[Iterable[str]], Reply]]:
    """The two functions of a built-in adapter, whose module is imported by the first call."""

    def command(job: Job) -> Command:
        made: Command = import_module(f"agentd.agents.{name}").command(job)
        return made

    def read(lines: Iterable[str]) -> Reply:
        reply: Reply = import_module(f"agentd.agents.{name}").read(lines)
        return reply

    return command, read


# In the order in which they are tried where no agent that was named is installed.
_ROWS = (
    Adapter(
        "claude",
        *_functions("claude"),
        program="claude",
        install="npm install -g @anthropic-ai/claude-code",
        login="claude auth login",
        can=Abilities("by id", "each call", "says its own", "its own", "its own", "by tool and path", "yes", "yes"),
        models=(
            AgentModel("fast", "haiku", "low", "", 0.80, 4.0),
            AgentModel("balanced", "sonnet", "medium", "", 3.0, 15.0),
            AgentModel("deep", "opus", "critical", "", 15.0, 75.0),
        ),
        default_model="balanced",
        traces=Traces(
            (
                "ANTHROPIC_API_KEY",
                "ANTHROPIC_AUTH_TOKEN",
                "CLAUDE_CODE_OAUTH_TOKEN",
                "CLAUDE_CODE_USE_BEDROCK",
                "CLAUDE_CODE_USE_VERTEX",
                "CLAUDE_CODE_USE_FOUNDRY",
            ),
            (".credentials.json",),
            keychain=True,
        ),
        folders=(Folder(".claude", "CLAUDE_CONFIG_DIR"),),
        home_files=(".claude.json",),
        settings=("settings.json", "hooks", "CLAUDE.md"),
        project_settings=(".claude", ".mcp.json"),
        credentials={
            "CLAUDE_CODE_USE_BEDROCK": ".aws",
            "CLAUDE_CODE_USE_FOUNDRY": ".azure",
            "CLAUDE_CODE_USE_VERTEX": ".config/gcloud",
        },
        temp_variable="CLAUDE_CODE_TMPDIR",
    ),
    Adapter(
        "codex",
        *_functions("codex"),
        program="codex",
        install="npm install -g @openai/codex",
        login="codex login",
        turns=("item.completed",),
        can=Abilities("by id", "taken apart", "", "agentd's", "", "by sandbox and tool", "yes", "yes"),
        models=(
            AgentModel("fast", "gpt-5.2-codex", "low", "low", 2.0, 8.0),
            AgentModel("balanced", "gpt-5.2-codex", "medium", "medium", 2.0, 8.0),
            AgentModel("deep", "gpt-5.2-codex", "high", "high", 2.0, 8.0),
            AgentModel("max", "gpt-5.2-codex", "critical", "extra high", 2.0, 8.0),
        ),
        default_model="balanced",
        efforts=("low", "medium", "high", "extra high"),
        traces=Traces(("CODEX_API_KEY", "OPENAI_API_KEY"), ("auth.json",)),
        folders=(Folder(".codex", "CODEX_HOME"),),
        settings=("config.toml", "hooks", "hooks.json", "AGENTS.md"),
        project_settings=(".codex",),
    ),
    Adapter(
        "gemini",
        *_functions("gemini"),
        program="gemini",
        install="npm install -g @google/gemini-cli",
        login="gemini   # and choose how to log in",
        turns=("tool_use",),
        can=Abilities("by id, same folder", "each call", "", "agentd's", "", "by policy", "", ""),
        models=(
            AgentModel("flash", "gemini-3-flash-preview", "medium", "", 0.10, 0.40),
            AgentModel("pro", "gemini-3-pro-preview", "critical", "", 1.25, 10.0),
        ),
        default_model="flash",
        traces=Traces(
            ("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA"),
            ("oauth_creds.json", "gemini-credentials.json"),
        ),
        folders=(Folder(".gemini", "GEMINI_CLI_HOME", ".gemini"),),
        settings=("settings.json", "GEMINI.md"),
        project_settings=(".gemini",),
        credentials={"GOOGLE_GENAI_USE_VERTEXAI": ".config/gcloud", "GOOGLE_CLOUD_PROJECT": ".config/gcloud"},
    ),
    Adapter(
        "opencode",
        *_functions("opencode"),
        program="opencode",
        install="npm install -g opencode-ai",
        login="opencode auth login",
        turns=("step_start",),
        can=Abilities("by id", "each call", "says its own", "agentd's", "", "by permission", "", "yes"),
        traces=Traces(("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"), ("auth.json",)),
        folders=(
            Folder(".local/share/opencode", "XDG_DATA_HOME", "opencode"),
            Folder(".cache/opencode", "XDG_CACHE_HOME", "opencode"),
            Folder(".config/opencode", "XDG_CONFIG_HOME", "opencode"),
            Folder(".local/state/opencode", "XDG_STATE_HOME", "opencode"),
        ),
        settings=("opencode.json", "AGENTS.md"),
        project_settings=(".opencode", "opencode.json", "opencode.jsonc"),
    ),
    Adapter(
        "copilot",
        *_functions("copilot"),
        program="copilot",
        install="npm install -g @github/copilot",
        login="copilot login",
        turns=("assistant.turn_start",),
        can=Abilities("by id", "", "", "agentd's", "", "by tool", "", "yes"),
        traces=Traces(
            ("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_BASE_URL"),
            ("config.json",),
            keychain=True,
        ),
        folders=(Folder(".copilot", "COPILOT_HOME"),),
    ),
    Adapter(
        "acp",
        *_functions("acp"),
        install="pip install 'agentd-workflows[acp]'",
        can=Abilities("by id", "uneven", "some say it", "by tools", "some", "by request", "", "some"),
        package="acp",
        needs="command",
        folders=(Folder(".qwen"),),
        project_settings=(".qwen",),
    ),
    Adapter(
        "builtin",
        *_functions("builtin"),
        install="pip install 'agentd-workflows[api]'",
        can=Abilities("by id", "each call", "", "its own", "if priced", "by tool and path", "", "yes"),
        package="pydantic_ai",
        needs="models",
        traces=Traces(setting="api_key_env"),
        conversations="builtin-",
    ),
    Adapter(
        "command",
        *_functions("command"),
        can=Abilities("if it does", "if it says so"),
        needs="command",
        tools_fix="have [{agent}] command start the MCP server whose words are in $AGENTD_SERVER",
    ),
    Adapter("scripted", *_functions("scripted"), can=Abilities("by id", "as scripted"), needs="script"),
)
ADAPTERS: Mapping[str, Adapter] = MappingProxyType({row.name: row for row in _ROWS})


def find(name: str) -> Adapter:
    """The adapter of that name; other packages cannot replace a built-in one."""
    return ADAPTERS.get(name) or _find_installed(name)


def installed() -> list[str]:
    """The names of the agents of other packages."""
    return sorted({point.name for point in _entry_points()} - set(ADAPTERS))


def _entry_points() -> EntryPoints:
    from importlib.metadata import entry_points  # some 50 ms that no built-in agent needs

    return entry_points(group=GROUP)


def _find_installed(name: str) -> Adapter:
    found = [point for point in _entry_points() if point.name == name]
    if not found:
        raise UnknownAgent(name, f"name one of these: {', '.join(sorted([*ADAPTERS, *installed()]))}")
    if len(found) > 1:
        packages = " and ".join(sorted(_package(point) for point in found))
        raise BadConfig(f"The packages {packages} both bring an agent called {name!r}.", fix=f"Keep one of {packages}.")
    return _load(found[0])


def _load(point: EntryPoint) -> Adapter:
    package = _package(point)
    try:
        loaded = point.load()
        more = {key: getattr(loaded, key) for key in OPTIONAL if hasattr(loaded, key)}
        tools_fix = f"have the adapter {point.name} give its program the MCP server in job.server"
        adapter = Adapter(point.name, loaded.command, loaded.read, tools_fix=tools_fix, **more)
    except (Exception, SystemExit) as cause:  # importing another package's code can end in anything
        raise BadConfig(
            f"The agent {point.name!r} of the package {package} cannot be loaded: {type(cause).__name__}: {cause}",
            fix=f"pip install --upgrade --force-reinstall {package}",
        ) from cause
    if not (callable(adapter.command) and callable(adapter.read)):
        raise BadConfig(
            f"The agent {point.name!r} of the package {package} is no adapter: `command` and `read` must be functions.",
            fix=f"pip install --upgrade {package}",
        )
    return replace(adapter, command=_blaming(package, adapter))


def _blaming(package: str, adapter: Adapter) -> Callable[[Job], Command]:
    """The adapter's `command`, with errors that name its package."""

    def command(job: Job) -> Command:
        try:
            return adapter.command(job)
        except AgentdError:
            raise
        except Exception as cause:
            raise BadConfig(
                f"The agent {adapter.name!r} of the package {package} failed: {type(cause).__name__}: {cause}",
                fix=f"pip install --upgrade {package}",
            ) from cause

    return command


def _package(point: EntryPoint) -> str:
    return (point.dist.name if point.dist else "") or point.value
