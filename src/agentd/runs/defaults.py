"""Every setting with its default. A setting that is not here is unknown, except where people name their own keys."""

from typing import Any

from agentd.agents.programs import EFFORTS, PROGRAMS
from agentd.model.rules import Rules

# An agent's section. `adapter` names the adapter that drives it, if that is not the one of its own name.
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
    **{name: AGENT | {"command": program} for name, program in PROGRAMS.items()},
    "budget": {"per_call": 2.0, "per_change": 20.0, "per_day": 50.0, "calls_per_change": 100},
    "git": {"commit": "ask"},
    # "": what the files of other tools say; (): nothing is run.
    "workspace": {"copy": (), "link": (), "setup": "", "cleanup": "", "setup_secs": 900},
    "runs": {"max_parallel": 4, "wait_when_busy": True},
    "calls": {
        "timeout_secs": 1800,
        "silence_secs": 600,
        "grace_secs": 5,
        "nudges": 2,
        "max_turns": 0,
        "max_cost": 0.0,
        "transcripts_mb": 100,
    },
    "sandbox": {"mode": "workspaces", "writable": (), "hidden": ()},
    # "": found out when a change is implemented; (): there is none.
    "evidence": {"test": "", "lint": "", "types": "", "audit": "", "timeout_secs": 1800, "at_once": 0},
    "validation": vars(Rules()),
    "limits": {},
}
WITH_REVIEWER = ("bug_fixer", "final_reviewer")
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
COMMANDS = ("workspace.setup", "workspace.cleanup")  # a command, or a list of them
CHOICES: dict[str, tuple[str, ...]] = {
    "workflow.generation": ("sequential", "one-shot"),
    "git.commit": ("ask", "auto", "never"),
    "sandbox.mode": ("off", "workspaces", "auto", "on"),
    **{f"{name}.reasoning": efforts for name, efforts in EFFORTS.items()},
}
