"""The built-in tables as a run sees them, with numbers for their named limits, and a short way to write a small one."""

from functools import cache
from pathlib import Path
from textwrap import dedent

from agentd.model.workflow import Workflow
from agentd.workflows.check import find_problems
from agentd.workflows.limits import with_limits
from agentd.workflows.load import parse
from tests.built_in import BUILT_IN, read_built_in

LIMITS = {
    "planning_iterations": 2,
    "format_iterations": 2,
    "self_review_repeats": 2,
    "implementation_iterations": 2,
    "review_retries": 3,
    "phase_retries": 3,
    "stage_restarts": 3,
    "task_retries": 2,
    "nudges": 2,
}


@cache
def built_in(name: str) -> Workflow:
    return with_limits(read_built_in(name), LIMITS)


@cache
def stages() -> Workflow:
    """A table with stages, gates, waivers and restarts that belongs to no family."""
    return with_limits(unlimited_stages(), LIMITS)


def unlimited_stages() -> Workflow:
    return parse(Path(__file__).with_name("stages.yaml").read_text(encoding="utf-8"), "stages.yaml")


def built_ins() -> dict[str, Workflow]:
    return {name: built_in(name) for name in BUILT_IN}


def table(text: str, header: str = "name: small\nstarts: {full: first}\n") -> Workflow:
    """A small table: the steps alone, under a header that starts at `first`."""
    steps = "\n".join(f"  {line}" for line in dedent(text).strip().splitlines())
    return parse(f"{header}steps:\n{steps}\n", "small.yaml")


def problems(workflow: Workflow) -> list[str]:
    return [what for _, what in find_problems(workflow, built_ins(), None)]
