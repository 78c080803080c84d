"""Whether the tasks cover what the specs require."""

from collections.abc import Callable, Iterator, Mapping

from agentd.library.claims import named
from agentd.model.change import Spec, Tasks
from agentd.model.finding import Finding
from agentd.model.rules import Rules


def every_requirement_has_a_task(
    specs: Mapping[str, Spec], tasks: Tasks, rules: Rules, changed: Callable[[str], frozenset[str]]
) -> Iterator[Finding]:
    """A finding for each requirement that no task names. `changed` tells which of a spec's are new: the others are done."""
    covered = {named(task.spec_ref) for task in tasks.tasks}
    for name, spec in specs.items():
        bare = [entry for entry in spec.requirements if (name, entry.id) not in covered]
        new = changed(name) if bare else frozenset()
        for entry in bare:
            if entry.id in new:
                yield Finding(
                    "uncovered_requirement",
                    f"no task implements {entry.id} ({entry.title})",
                    entry.line,
                    rules.severity("uncovered_requirement"),
                    f"add a task with spec_ref {name}:{entry.id} to tasks.md",
                    f"specs/{name}.md",
                )
