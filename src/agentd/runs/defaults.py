"""Every setting with its default. A setting that is not here is unknown, except where people name their own keys."""

from typing import Any

from agentd.model.models import AgentModel
from agentd.model.rules import Rules

# An agent's section: `adapter` names the built-in one it is driven as, where that is not its own name.
AGENT: dict[str, Any] = {
    "adapter": "",
    "command": "",
    "args": (),
    "default": "",
    "models": (),
    "base_url": "",
    "api_key_env": "",
    "script": "",
}
DEFAULTS: dict[str, dict[str, Any]] = {
    "workflow": {
        "planning_iterations": 2,
        "implementation_iterations": 2,
        "format_iterations": 2,
        "archive_iterations": 1,
        "self_review_iterations": 3,
        "script_retries": 3,
        "retry_delay_secs": 5,
        "sequential_implementation": True,
        "human_in_loop": True,
        "generation": "sequential",
    },
    "roles": {"planner": "gemini", "challenger": "codex", "implementer": "claude", "reviewer": "codex"},
    "fallback": {},
    "gemini": AGENT
    | {
        "command": "gemini",
        "default": "flash",
        "models": (
            AgentModel("flash", "gemini-3-flash-preview", "medium", "", 0.10, 0.40),
            AgentModel("pro", "gemini-3-pro-preview", "critical", "", 1.25, 10.0),
        ),
    },
    "codex": AGENT
    | {
        "command": "codex",
        "default": "balanced",
        "models": (
            AgentModel("fast", "gpt-5.2-codex", "low", "low", 2.0, 8.0),
            AgentModel("balanced", "gpt-5.2-codex", "medium", "medium", 2.0, 8.0),
            AgentModel("deep", "gpt-5.2-codex", "high", "high", 2.0, 8.0),
            AgentModel("max", "gpt-5.2-codex", "critical", "extra high", 2.0, 8.0),
        ),
    },
    "claude": AGENT
    | {
        "command": "claude",
        "default": "balanced",
        "models": (
            AgentModel("fast", "haiku", "low", "", 0.80, 4.0),
            AgentModel("balanced", "sonnet", "medium", "", 3.0, 15.0),
            AgentModel("deep", "opus", "critical", "", 15.0, 75.0),
        ),
    },
    "opencode": AGENT | {"command": "opencode"},
    "copilot": AGENT | {"command": "copilot"},
    "acp": AGENT,
    "builtin": AGENT,
    "command": AGENT,
    "scripted": AGENT,
    "budget": {"per_call": 2.0, "per_change": 20.0, "per_day": 50.0, "calls_per_change": 100},
    "git": {"commit": False},
    "runs": {"max_parallel": 4},
    "calls": {"timeout_secs": 1800, "silence_secs": 600, "grace_secs": 5, "max_turns": 150, "transcripts_mb": 100},
    "sandbox": {"mode": "off", "writable": (), "hidden": ()},
    # "": found out when a change is implemented; (): there is none.
    "evidence": {"test": "", "lint": "", "types": "", "audit": "", "timeout_secs": 1800},
    "validation": vars(Rules()),
    "limits": {},
}
OPEN = ("roles", "fallback", "limits")
TOP = ("project_name",)
MODEL: dict[str, type] = {
    "id": str,
    "model": str,
    "complexity": str,
    "reasoning": str,
    "cost_per_1m_input": float,
    "cost_per_1m_output": float,
    "cost_per_1m_cached": float,
}
REQUIRED = {"id": "", "model": "", "complexity": ""}
CHOICES: dict[str, tuple[str, ...]] = {
    "workflow.generation": ("sequential", "one-shot"),
    "sandbox.mode": ("off", "auto", "on"),
    "codex.reasoning": ("low", "medium", "high", "extra high"),
}
