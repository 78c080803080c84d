"""Whether somebody is logged in with an agent, as far as that can be told without a call.

Of a file with credentials nothing is known here but that it is there.
"""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Traces:
    """What a login leaves behind: variables, and files below the home of the agent."""

    names: tuple[str, ...]
    home_name: str = ""
    home: str = ""
    files: tuple[str, ...] = ()


TRACES = {
    "claude": Traces(
        (
            "ANTHROPIC_API_KEY",
            "ANTHROPIC_AUTH_TOKEN",
            "CLAUDE_CODE_OAUTH_TOKEN",
            "CLAUDE_CODE_USE_BEDROCK",
            "CLAUDE_CODE_USE_VERTEX",
            "CLAUDE_CODE_USE_FOUNDRY",
        ),
        "CLAUDE_CONFIG_DIR",
        ".claude",
        (".credentials.json",),
    ),
    "codex": Traces(("CODEX_API_KEY", "OPENAI_API_KEY"), "CODEX_HOME", ".codex", ("auth.json",)),
    "gemini": Traces(
        ("GEMINI_API_KEY", "GOOGLE_API_KEY", "GOOGLE_GENAI_USE_VERTEXAI", "GOOGLE_GENAI_USE_GCA"),
        "GEMINI_CLI_HOME",
        "",
        (".gemini/oauth_creds.json", ".gemini/gemini-credentials.json"),
    ),
    "opencode": Traces(
        ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "GEMINI_API_KEY", "OPENROUTER_API_KEY"),
        "XDG_DATA_HOME",
        ".local/share",
        ("opencode/auth.json",),
    ),
    "copilot": Traces(
        ("COPILOT_GITHUB_TOKEN", "GH_TOKEN", "GITHUB_TOKEN", "COPILOT_PROVIDER_BASE_URL"),
        "COPILOT_HOME",
        ".copilot",
        ("config.json",),
    ),
}
# Those that keep their login where the system keeps keys, if it does.
KEYCHAIN = ("claude", "copilot")


def trace(adapter: str, section: Mapping[str, Any], env: Mapping[str, str]) -> str | None:
    """By what somebody is logged in; nothing if nobody seems to be, and None where there is no telling."""
    if adapter == "builtin" and section.get("api_key_env"):
        name = str(section["api_key_env"])
        return name if env.get(name) else ""
    traces = TRACES.get(adapter)
    if traces is None:
        return None
    set_ = next((name for name in traces.names if env.get(name)), "")
    if set_:
        return set_
    base = env.get(traces.home_name) or os.path.join(env.get("HOME") or os.path.expanduser("~"), traces.home)
    found = next((path for name in traces.files if os.path.exists(path := os.path.join(base, name))), "")
    return found or (None if adapter in KEYCHAIN and sys.platform == "darwin" else "")
