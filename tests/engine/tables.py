"""Small tables as values, written in one line a step."""

from collections.abc import Mapping
from dataclasses import replace

from agentd.model.workflow import Edge, Kind, Step, Workflow


def step(
    name: str,
    kind: Kind = "do",
    phase: str = "one",
    what: str = "",
    needs: tuple[str, ...] = (),
    when: tuple[str, ...] = (),
    produces: tuple[str, ...] = (),
    **ways: str | Edge,
) -> Step:
    """A step whose outcomes are the remaining keywords: `done="next_step"`, or an `Edge` for more."""
    edges = {word: Edge(way) if isinstance(way, str) else way for word, way in ways.items()}
    return Step(name, phase, kind, what or name, edges, needs, when, produces)


def table(
    *steps: Step,
    commands: Mapping[str, tuple[str, ...]] | None = None,
    defaults: Mapping[str, Edge] | None = None,
    starts: Mapping[str, str] | None = None,
) -> Workflow:
    """A workflow that starts at its first step."""
    return Workflow(
        "small",
        {step.name: step for step in steps},
        starts or {"full": steps[0].name},
        commands=commands or {},
        defaults=defaults or {},
    )


def with_step(workflow: Workflow, changed: Step) -> Workflow:
    """The table with one step replaced, in its place."""
    return replace(workflow, steps={**workflow.steps, changed.name: changed})
