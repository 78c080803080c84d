"""The tools by name: which module has the function. A module is imported only for a step that has one of its tools."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

_TOOLS = {
    "questions": ("draft_questions", "create_clarifications"),
    "proposal": ("create_proposal", "append_review"),
    "spec": ("create_spec", "list_specs", "read_all_requirements"),
    "tasks": ("create_tasks", "finish_task"),
    "review": ("create_review",),
    "documents": (
        "validate_change",
        "read_file",
        "edit_file",
        "get_task",
        "read_implementation_summary",
        "list_changed_files",
    ),
    "session": ("read_document", "write_document"),
    "knowledge": ("read_knowledge", "list_knowledge", "write_knowledge", "write_main_spec"),
}
MODULES = {name: module for module, names in _TOOLS.items() for name in names}


def find(name: str) -> Callable[..., Any]:
    """The function of a tool: its first argument is the desk, the others are what an agent sends."""
    function: Callable[..., Any] = getattr(import_module(f"agentd.mcp.tools.{MODULES[name]}"), name)
    return function
