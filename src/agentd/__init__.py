"""agentd drives AI coding agents through durable workflows with gates. This is the library, in ten names.

project = agentd.load()                      the project around the working folder
agentd.start(project, "team", "name", "…")   begin a run
agentd.resume(project, "name")               go on with it
agentd.answer(project, "name", "UD-1", "fix")
agentd.status(project, "name")
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

_NAMES = {
    "load": ("agentd.app", "open_project"),
    "start": ("agentd.runs.lifecycle", "start"),
    "resume": ("agentd.runs.commands", "resume"),
    "answer": ("agentd.runs.commands", "answer"),
    "status": ("agentd.runs.overview", "status"),
    "Project": ("agentd.runs.project", "Project"),
    "Report": ("agentd.runs.report", "Report"),
    "Workflow": ("agentd.model.workflow", "Workflow"),
    "Run": ("agentd.model.run", "Run"),
    "AgentdError": ("agentd.errors", "AgentdError"),
}
__all__ = list(_NAMES)  # imported on first use, so that `import agentd` stays light


def __getattr__(name: str) -> Any:
    if name not in _NAMES:
        raise AttributeError(f"module 'agentd' has no attribute '{name}'")
    module, attribute = _NAMES[name]
    return getattr(import_module(module), attribute)
