"""A table with some of its phases taken out: what led into them leads past them, and their gates move to what follows."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from agentd.errors import UsageError
from agentd.model.workflow import Edge, Step, Workflow, is_check


def without(workflow: Workflow, phases: Sequence[str]) -> Workflow:
    """The table without these phases.

    An edge that rewinds to one of them goes to the nearest phase before it that is left, and is counted with the others
    that lead back there; any other edge goes on to the nearest phase after it. A step that needs what a phase would have
    produced needs instead what that phase needed. A question that nothing asks any more is gone too.
    """
    if not phases:
        return workflow
    unknown = [phase for phase in phases if phase not in workflow.phases]
    if unknown:
        raise UsageError(f"{workflow.name} has no phase '{unknown[0]}'.", f"one of: {', '.join(workflow.phases)}")
    made = _Shortened(workflow, frozenset(phases)).table()
    edges = [*made.defaults.values(), *(edge for step in made.steps.values() for edge in step.next.values())]
    asked = {target for edge in edges for target in (edge.to, edge.then)}
    return replace(made, steps={name: step for name, step in made.steps.items() if step.kind != "ask" or name in asked})


class _Shortened:
    def __init__(self, workflow: Workflow, phases: Collection[str]) -> None:
        self.workflow, self.gone = workflow, phases
        self.kept: Mapping[str, Step] = {
            name: step for name, step in workflow.steps.items() if step.phase not in self.gone
        }

    def table(self) -> Workflow:
        workflow = self.workflow
        return replace(
            workflow,
            steps={name: self._step(step) for name, step in self.kept.items()},
            starts={mode: self._target(name, back=False) for mode, name in workflow.starts.items()},
            entries={name: step for name, step in workflow.entries.items() if step in self.kept},
            defaults={word: self._edge(edge) for word, edge in workflow.defaults.items()},
            without=tuple(phase for phase in workflow.phases if phase in self.gone),
        )

    def _step(self, step: Step) -> Step:
        needs = dict.fromkeys(name for need in step.needs for name in self._needs(need))
        return replace(step, needs=tuple(needs), next={word: self._edge(edge) for word, edge in step.next.items()})

    def _edge(self, edge: Edge) -> Edge:
        to, then = self._target(edge.to, edge.rewind), edge.then and self._target(edge.then, back=False)
        budget = edge.budget
        if edge.rewind and budget and to != edge.to:
            same = (other for step in self.kept.values() for other in step.next.values() if other.rewind)
            budget = next((other.budget for other in same if other.to == to and other.budget), budget)
        return replace(edge, to=to, then=then, budget=budget)

    def _target(self, name: str, back: bool) -> str:
        """The step that a run comes to where it would have come to this one."""
        if name not in self.workflow.steps or name in self.kept:
            return name
        order = self.workflow.phases
        at = order.index(self.workflow.steps[name].phase)
        before, after = order[:at][::-1], order[at + 1 :]
        left = [phase for phase in (*before, *after) if phase not in self.gone] if back else []
        left = left or [phase for phase in (*after, *before) if phase not in self.gone]
        if not left:
            raise UsageError(f"Nothing of {self.workflow.name} is left.", f"agentd workflow show {self.workflow.name}")
        return self.workflow.first(left[0]).name

    def _needs(self, need: str) -> list[str]:
        """What stands for a need: itself, if anything that is left produces it."""
        if is_check(need):
            return [need]
        makers = [
            step
            for step in self.workflow.steps.values()
            if any(need == name or fnmatchcase(need, name) for name in step.produces)
        ]
        if not makers or any(step.name in self.kept for step in makers):
            return [need]
        return [name for each in self.workflow.first(makers[0].phase).needs for name in self._needs(each)]
