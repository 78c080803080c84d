"""The limits that a table names instead of giving a number."""

from collections.abc import Mapping
from dataclasses import replace

from agentd.errors import Unsound
from agentd.model.workflow import Edge, Workflow


def with_limits(workflow: Workflow, limits: Mapping[str, int]) -> Workflow:
    """The table with every named limit replaced by its number."""

    def numbered(edge: Edge, line: int = 1, step: str = "") -> Edge:
        if not isinstance(edge.at_most, str):
            return edge
        if edge.at_most not in limits:
            known = ", ".join(sorted(limits))
            where = f"{workflow.source}:{line}: " + (f"step '{step}': " if step else "defaults: ")
            raise Unsound(f"{where}unknown limit '{edge.at_most}' (a number, or one of: {known}).")
        return replace(edge, at_most=limits[edge.at_most])

    return replace(
        workflow,
        defaults={word: numbered(edge) for word, edge in workflow.defaults.items()},
        steps={
            name: replace(step, next={word: numbered(edge, step.line, name) for word, edge in step.next.items()})
            for name, step in workflow.steps.items()
        },
    )
