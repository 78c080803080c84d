"""What a table may list in a step's `tools`: what agentd's server has for agents, and what agents can do by themselves."""

# The words in a step's `tools` that stand for what an agent can do by itself, without agentd's server.
# Reading is always allowed: its word is for a step with no others, which would have them all.
READ, EDIT, SHELL = "read_code", "edit_code", "run_commands"
POWERS = (READ, EDIT, SHELL)
# What agentd's server has for agents.
TOOLS = (
    "draft_questions",
    "create_clarifications",
    "create_proposal",
    "create_spec",
    "create_tasks",
    "append_review",
    "create_review",
    "finish_task",
    "validate_change",
    "read_file",
    "edit_file",
    "list_specs",
    "read_all_requirements",
    "read_implementation_summary",
    "list_changed_files",
    "get_task",
    "read_knowledge",
    "list_knowledge",
    "write_knowledge",
    "write_main_spec",
)
