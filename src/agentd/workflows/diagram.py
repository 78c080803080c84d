"""A table as a Mermaid state diagram: the same drawing in the documentation and for `agentd workflow show --diagram`."""

from collections.abc import Iterator

from agentd.model.workflow import RELATIVE, Edge, Workflow


def draw(workflow: Workflow) -> str:
    """The whole table; a dashed note stands where a person decides, a limit where an edge has one."""
    lines = ["stateDiagram-v2"]
    for phase in workflow.phases:
        lines.append(f'    state "{_text(phase)}" as {_id(phase, "phase")} {{')
        for step in workflow.steps.values():
            if step.phase == phase:
                lines.append(f'        state "{step.name} ({step.kind}: {_text(step.what)})" as {_id(step.name)}')
        lines.append("    }")
    for mode, name in workflow.starts.items():
        label = f": {mode}" if len(workflow.starts) > 1 else ""
        lines.append(f"    [*] --> {_id(name)}{label}")
    for entry, name in workflow.entries.items():
        lines.append(f"    [*] --> {_id(name)}: {_text(entry)} (entry)")
    notes = []
    for step in workflow.steps.values():
        if step.kind == "end":
            lines.append(f"    {_id(step.name)} --> [*]")
        for word, edge in step.next.items():
            for target, label in _arrows(word, edge):
                if target in RELATIVE:
                    notes.append(f"{step.name} --> {target}: {label}")
                else:
                    lines.append(f"    {_id(step.name)} --> {_id(target)}: {label}")
    for word, edge in workflow.defaults.items():
        notes += [f"every step --> {target}: {label}" for target, label in _arrows(word, edge)]
    lines += [f"    %% {note}" for note in notes]
    return "\n".join(lines) + "\n"


def _arrows(word: str, edge: Edge) -> Iterator[tuple[str, str]]:
    yield edge.to, f"{word}{_marks(edge)}"
    if edge.then:
        yield edge.then, f"{word}, then"


def _marks(edge: Edge) -> str:
    limit = f" (at most {edge.at_most})" if edge.at_most is not None else ""
    return limit + (" (rewind)" if edge.rewind else "") + (" (waive)" if edge.waive else "")


def _id(name: str, kind: str = "step") -> str:
    """Prefixed, because a bare `state`, `note` or `default` is a word of Mermaid's own."""
    return f"{kind}_" + "".join(char if char.isalnum() else "_" for char in name)


def _text(text: str) -> str:
    return " ".join(text.replace('"', "'").replace(":", " ").split())
