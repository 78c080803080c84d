"""The built-in agents: a row of facts for each.

The rows import no adapter: the module `agentd.agents.<name>` is imported when one of its two functions is first called.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from importlib import import_module
from types import MappingProxyType

from agentd.agents.adapter import Abilities, Adapter, Folder, Traces
from agentd.agents.programs import EFFORTS, PROGRAMS
from agentd.model.job import Command, Job, Reply
from agentd.model.models import AgentModel


def _functions(name: str) -> tuple[Callable[[Job], Command], Callable[[Iterable[str]], Reply]]:
    """The two functions of a built-in adapter, whose module is imported by the first call."""

    def command(job: Job) -> Command:
        made: Command = import_module(f"agentd.agents.{name}").command(job)
        return made

    def read(lines: Iterable[str]) -> Reply:
        reply: Reply = import_module(f"agentd.agents.{name}").read(lines)
        return reply

    return command, read


def _answered_by_codex(session: str, places: Sequence[str]) -> str:
    name: str = import_module("agentd.agents.codex_sessions").answered_by(session, places)
    return name


# In the order in which they are tried where no agent that was named is installed.
_ROWS = (
    Adapter(
        "claude",
        *_functions("claude"),
        program=PROGRAMS["claude"],
        author="Claude <noreply@anthropic.com>",
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
        served="mcp__agentd__",
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
        program=PROGRAMS["codex"],
        author="Codex <noreply@openai.com>",
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
        listing=("debug", "models"),
        answered_by=_answered_by_codex,
        efforts=EFFORTS["codex"],
        traces=Traces(("CODEX_API_KEY", "OPENAI_API_KEY"), ("auth.json",)),
        served="mcp__agentd__",
        folders=(Folder(".codex", "CODEX_HOME"),),
        settings=("config.toml", "hooks", "hooks.json", "AGENTS.md"),
        project_settings=(".codex",),
    ),
    Adapter(
        "gemini",
        *_functions("gemini"),
        program=PROGRAMS["gemini"],
        author="Gemini CLI <218195315+gemini-cli@users.noreply.github.com>",
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
        served="mcp_agentd_",
        folders=(Folder(".gemini", "GEMINI_CLI_HOME", ".gemini"),),
        settings=("settings.json", "GEMINI.md"),
        project_settings=(".gemini",),
        credentials={"GOOGLE_GENAI_USE_VERTEXAI": ".config/gcloud", "GOOGLE_CLOUD_PROJECT": ".config/gcloud"},
    ),
    Adapter(
        "opencode",
        *_functions("opencode"),
        program=PROGRAMS["opencode"],
        install="npm install -g opencode-ai",
        login="opencode auth login",
        turns=("step_start",),
        can=Abilities("by id", "each call", "says its own", "agentd's", "", "by permission", "", "yes"),
        traces=Traces(
            ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"),
            ("auth.json",),
            optional=True,
        ),
        served="agentd_",
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
        program=PROGRAMS["copilot"],
        author="Copilot <223556219+Copilot@users.noreply.github.com>",
        install="npm install -g @github/copilot",
        login="copilot login",
        turns=("assistant.turn_start",),
        can=Abilities("by id", "", "", "agentd's", "", "by tool", "", "yes"),
        traces=Traces(
            ("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_BASE_URL"),
            ("config.json",),
            keychain=True,
        ),
        served="agentd-",
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
