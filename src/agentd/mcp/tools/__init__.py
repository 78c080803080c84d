"""The tools by name: which module has the function. A module is imported only for a step that has one of its tools."""

from collections.abc import Callable
from importlib import import_module
from typing import Any

MODULES = {
    "draft_questions": "questions",
    "create_clarifications": "clarifications",
    "create_proposal": "proposal",
    "append_review": "proposal",
    "create_spec": "spec",
    "list_specs": "spec",
    "read_all_requirements": "spec",
    "create_tasks": "tasks",
    "finish_task": "tasks",
    "create_review": "review",
    "validate_change": "validation",
    "read_file": "files",
    "edit_file": "files",
    "read_knowledge": "knowledge",
    "list_knowledge": "knowledge",
    "write_knowledge": "knowledge",
    "write_main_spec": "library",
    "read_implementation_summary": "implementation",
    "list_changed_files": "implementation",
    "get_task": "prompt",
}


def find(name: str) -> Callable[..., Any]:
    """The function of a tool: its first argument is the desk, the others are what an agent sends."""
    function: Callable[..., Any] = getattr(import_module(f"agentd.mcp.tools.{MODULES[name]}"), name)
    return function
