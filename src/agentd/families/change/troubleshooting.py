"""Errors with a known cause: what happened, why, and commands to paste."""

import re
from collections.abc import Sequence

from agentd.calling.nudge import SAID, UNSERVED
from agentd.errors import AgentdError, AgentFailed, GateClosed
from agentd.model.finding import Finding
from agentd.model.workflow import Step

CONFIG = "agentd/config.toml"
CYCLE = "Circular dependency detected"
VERDICT = "Could not parse challenge verdict"
REVIEW_VERDICT = "Could not parse review verdict"
_TOOLS = {
    "proposal.md": "create_proposal",
    "tasks.md": "create_tasks",
    "questions.yaml": "draft_questions",
    "CHALLENGE.md": "append_review",
    "REVIEW.md": "create_review",
}


def maker(document: str) -> str:
    """The tool that writes a document of a step."""
    return _TOOLS.get(document) or ("create_spec" if document.startswith("specs/") else "")


def unwritten(step: Step, change: str, agent: str, why: str) -> AgentdError | None:
    """The error for an agent that finished without its document, also after it was reminded."""
    missing = [name for name in step.produces if re.search(re.escape(name).replace(r"\{item\}", r"[\w-]+") + ": ", why)]
    tool = next((tool for tool in map(maker, missing) if tool in step.tools), "")
    if not tool:
        return None
    if UNSERVED not in why.partition(f"; {SAID}")[0]:
        return AgentFailed(
            f"{agent} did not call {tool}",
            f"agentd plan {change}",
            f"{agent} {why.removeprefix('the agent ')}",
            (
                f"Read what it did: agentd log {change} --raw",
                f"Answer its question in the idea, or have another agent plan: [roles] in {CONFIG}",
                f"Try again: agentd plan {change}",
            ),
        )
    return AgentFailed(
        f"{tool} MCP tool failed",
        f"agentd plan {change}",
        f"{agent} {why.removeprefix('the agent ')}; its MCP server may not be running or not be registered",
        (
            f"Check {agent}'s MCP configuration",
            f"Verify that the server agentd is registered: agentd log {change}",
            "Test: agentd mcp --help",
        ),
    )


def unclear_verdict(change: str, agent: str, note: str) -> AgentdError | None:
    """The error for a challenger or a reviewer whose verdict could not be read; None if the note is about another failure."""
    what, _, why = note.partition(": ")
    folder = f"agentd/changes/{change}"
    if what == REVIEW_VERDICT:
        steps = (f"Read {folder}/REVIEW.md", f"Have it reviewed once more: agentd impl {change}")
        return AgentFailed(what, f"agentd impl {change}", f"{agent} did not leave a review that counts: {why}", steps)
    if what != VERDICT:
        return None
    return AgentFailed(
        what,
        f"agentd challenge {change}",
        f"{agent} did not follow the output format{f': {why}' if why else ''}",
        (
            f"Read {folder}/CHALLENGE.md and look for the verdict",
            f"Have it reviewed once more: agentd challenge {change}",
            f"Or decide yourself: set the phase in {folder}/STATE.yaml by hand",
        ),
    )


def bad_format(change: str, findings: Sequence[Finding], iterations: int | None = None) -> AgentdError:
    """The error for documents with findings; with `iterations`, the planner has tried that often to fix them."""
    cycle = next((found for found in findings if found.message.startswith(CYCLE)), None)
    if cycle:
        return GateClosed(
            cycle.message,
            f"agentd challenge {change}",
            "The tasks depend on each other in a circle",
            (f"Edit {cycle.file}:{cycle.line}", "Fix the dependency chain", f"Re-run: agentd challenge {change}"),
        )
    listed = tuple(f"Edit {found.file}:{found.line}: {found.message}" for found in findings[:10])
    what, cause = "Format validation failed", "The documents break the rules of their format"
    if iterations is not None:
        what = f"Format validation still failing after {iterations} iterations"
        cause = "The planner was not able to fix the format by itself"
    steps = (*listed, f"Run: agentd validate {change}", f"Run: agentd challenge {change}")
    return GateClosed(what, f"agentd validate {change}", cause, steps)
