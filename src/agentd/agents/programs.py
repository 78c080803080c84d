"""What the settings of the built-in agents depend on: the program of each, and the efforts it knows. It imports nothing."""

# By the name of the adapter; empty where a person names the program, or there is none.
PROGRAMS = {
    "claude": "claude",
    "codex": "codex",
    "gemini": "gemini",
    "opencode": "opencode",
    "copilot": "copilot",
    "acp": "",
    "builtin": "",
    "command": "",
    "scripted": "",
}
# The values that `reasoning` of a model may have; any where there are none.
EFFORTS = {"codex": ("low", "medium", "high", "extra high")}
