"""The configuration file that `agentd init` writes: nothing but comments, so that it changes nothing until it is edited."""

from collections.abc import Iterator

from agentd.agents.adapter import Adapter
from agentd.agents.table import ADAPTERS
from agentd.runs.defaults import DEFAULTS

HEAD = """\
# Settings of agentd for this project. Take away the "# " of a line to set it; what is not set has its default.

# Who plays each role.
"""
CALLS = """
# How often an agent that ended without what its step needs, with a question say, is reminded of it; 0 for never.
"""
WORKSPACE = """
# What installs a project in the workspaces of tasks that are worked on at once, and what is run before one is removed. Without
# these, what the first file of another tool says that has a setup, such as .cursor/worktrees.json or conductor.json.
"""
MODELS = """
# Without models of your own, each agent uses the one that its own settings name. With them, a change gets the least
# capable one that is up to its complexity. The names and prices here are examples: use those that your agent lists.
"""


def example_config() -> str:
    """The whole file; the tables of models are those of the agents' rows."""
    roles = ["[roles]", *(f'{role} = "{agent}"' for role, agent in DEFAULTS["roles"].items())]
    calls = ["[calls]", f"nudges = {DEFAULTS['calls']['nudges']}"]
    workspace = [
        "[workspace]",
        'setup = "npm ci"',
        "cleanup = []",
        f"setup_secs = {DEFAULTS['workspace']['setup_secs']}",
    ]
    models = [line for adapter in ADAPTERS.values() if adapter.models for line in _models(adapter)]
    return (
        HEAD
        + _commented(roles)
        + CALLS
        + _commented(calls)
        + WORKSPACE
        + _commented(workspace)
        + MODELS
        + _commented(models)
    )


def _models(adapter: Adapter) -> Iterator[str]:
    yield from ("", f"[{adapter.name}]", f'default = "{adapter.default_model}"')
    for model in adapter.models:
        yield from ("", f"[[{adapter.name}.models]]", f'id = "{model.id}"', f'model = "{model.model}"')
        yield f'complexity = "{model.complexity}"'
        yield from [f'reasoning = "{model.effort}"'] if model.effort else []
        yield from (
            f"cost_per_1m_input = {model.cost_per_1m_input}",
            f"cost_per_1m_output = {model.cost_per_1m_output}",
        )


def _commented(lines: list[str]) -> str:
    return "".join(f"# {line}\n" if line else "\n" for line in lines)
