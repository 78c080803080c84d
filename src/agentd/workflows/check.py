"""Proves a table sound before anything runs on it: every way leads somewhere, and none leads round for ever."""

import graphlib
from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatch
from typing import TypeVar

from agentd.errors import Unsound
from agentd.model.workflow import RELATIVE, RESERVED, Edge, Step, Workflow, is_check
from agentd.patterns import regex
from agentd.values import dataclass

# Names become keys of counts and folders of children, so they hold neither dots nor slashes.
PLAIN = regex(r"[A-Za-z0-9][A-Za-z0-9_-]*")

Place = tuple[str, str]  # a step, and for a question the step that asked it
T = TypeVar("T")


@dataclass(frozen=True)
class Known:
    """The names a release can perform; a table may use no others."""

    checks: Collection[str]
    actions: Mapping[str, Collection[str]]
    sources: Collection[str]
    tools: Collection[str] = ()


def prove(workflow: Workflow, children: Mapping[str, Workflow] | None = None, known: Known | None = None) -> Workflow:
    """The workflow itself, or an error that names every step with a problem."""
    problems = list(find_problems(workflow, children or {}, known))
    if problems:
        lines = [f"{workflow.source}:{line}: {what}" for line, what in problems]
        raise Unsound("\n".join(lines), f"edit {workflow.source}, then: agentd workflow check {workflow.source}")
    return workflow


def find_problems(
    workflow: Workflow, children: Mapping[str, Workflow], known: Known | None
) -> Iterator[tuple[int, str]]:
    """Each problem with its line. Later proofs assume what earlier ones found sound, so they run only then."""
    for proof in (_shape, _targets, _ways, _loops, _needs):
        problems = list(proof(workflow))
        yield from problems
        if problems:
            return
    yield from _children(workflow, children)
    if known is not None:
        yield from _names(workflow, known)


def at(step: Step, what: str) -> tuple[int, str]:
    """A problem of a step, at its line."""
    return step.line, f"step '{step.name}': {what}"


def edges(workflow: Workflow, step: Step) -> Iterator[tuple[str, Edge]]:
    """Every edge a step may take, the reserved outcomes' defaults included."""
    yield from step.next.items()
    if step.kind in ("agent", "do", "each"):
        yield from ((word, edge) for word, edge in workflow.defaults.items() if word not in step.next)


def places(workflow: Workflow) -> dict[Place, set[Place]]:
    """Every place a run can come to and the places it leads to; a question is a place for each step that may ask it."""
    found: dict[Place, set[Place]] = {}
    fresh: list[Place] = [(name, "") for name in (*workflow.starts.values(), *workflow.entries.values())]
    while fresh:
        name, asked_by = place = fresh.pop()
        if place in found:
            continue
        step = workflow.steps[name]
        origin = workflow.steps.get(asked_by, step)
        targets = (target for _, edge in edges(workflow, step) for target in (edge.to, edge.then) if target)
        arrived = [workflow.steps[workflow.resolve(origin, target)] for target in targets]
        found[place] = {(other.name, origin.name if other.kind == "ask" else "") for other in arrived}
        fresh += found[place]
    return found


def successors(workflow: Workflow) -> dict[str, set[str]]:
    """Which steps each step may lead to, whoever asked."""
    found: dict[str, set[str]] = {name: set() for name in workflow.steps}
    for (name, _), targets in places(workflow).items():
        found[name] |= {target for target, _ in targets}
    return found


def _shape(workflow: Workflow) -> Iterator[tuple[int, str]]:
    if not workflow.steps:
        yield 1, "a workflow needs at least one step"
    if not workflow.starts:
        yield 1, "a workflow needs a start"
    for step in workflow.steps.values():
        for name in (step.name, *step.next):
            if not PLAIN.fullmatch(name):
                yield at(step, f"'{name}' is not a plain word (letters, digits, - and _)")
        for name in (*step.needs, *step.produces):
            if name.startswith(("/", "~")) or ".." in name.split("/") or "\\" in name or "\0" in name:
                yield at(step, f"{name} leads out of the run's folder")
        for name in step.produces:
            if is_check(name):
                yield at(step, f"'{name}' is a check's name; an artifact has a dot or a slash")
        if step.kind == "end" and step.next:
            yield at(step, "an end has no next")
        if step.kind == "end" and (step.needs or step.when or step.produces):
            yield at(step, "an end has no gate; put it on the step before")
        if step.kind == "ask" and step.when:
            yield at(step, "a question cannot be skipped, so it has no when")
        if step.kind != "end" and not step.next:
            yield at(step, "there is no way out")
        if step.forward in RESERVED:
            yield at(step, f"'{step.forward}' cannot be the way forward; list another outcome first")
        if step.kind != "agent" and step.tools:
            yield at(step, "only an agent step has tools")
        for word, edge in edges(workflow, step):
            if edge.rewind and edge.at_most is None and step.kind != "ask":
                yield at(step, f"the rewind on '{word}' needs at_most, or a person who asks for it")
            if edge.waive and step.kind != "ask":
                yield at(step, f"only a person can waive, so '{word}' cannot")
    for word in workflow.defaults:
        if word not in RESERVED:
            yield 1, f"defaults: '{word}' is not one of {', '.join(RESERVED)}"


def _targets(workflow: Workflow) -> Iterator[tuple[int, str]]:
    begins = [("start", *each) for each in workflow.starts.items()]
    for what, mode, name in begins + [("entry", *each) for each in workflow.entries.items()]:
        start = workflow.steps.get(name)
        if start is None:
            yield 1, f"{what} '{mode}' leads to '{name}', which is not a step"
        elif what == "entry" and start.kind == "end":
            yield start.line, f"step '{name}': an end is no entry, as nothing can be done there"
        elif start.kind == "ask" and any({edge.to, edge.then} & {*RELATIVE} for edge in start.next.values()):
            yield start.line, f"step '{name}': as a {what} it has no step before it, so its answers cannot refer to one"
    for command, phases in workflow.commands.items():
        for phase in phases:
            if phase not in workflow.phases:
                yield 1, f"command '{command}' works in phase '{phase}', which no step has"
    for step in workflow.steps.values():
        for word, edge in edges(workflow, step):
            for target in filter(None, (edge.to, edge.then)):
                if target not in workflow.steps and target not in RELATIVE:
                    yield at(step, f"'{word}' leads to '{target}', which is not a step")
        if step.kind != "ask" and step.next and step.next[step.forward].to in RELATIVE:
            yield at(step, f"the way forward names a step, not {step.next[step.forward].to}")
        if step.kind == "ask" and step.next[step.forward].to == "@past":
            yield at(step, "'@past' cannot be the way forward; list another answer first")


def _ways(workflow: Workflow) -> Iterator[tuple[int, str]]:
    leads = places(workflow)
    reached = {name for name, _ in leads}
    for step in workflow.steps.values():
        if step.name not in reached:
            yield step.line, f"step '{step.name}' cannot be reached"
    back: dict[Place, set[Place]] = {place: set() for place in leads}
    for place, targets in leads.items():
        for target in targets:
            back[target].add(place)
    finishing = _closure({place for place in leads if workflow.steps[place[0]].kind == "end"}, back)
    for name, asked_by in sorted(leads.keys() - finishing):
        asked = f" when '{asked_by}' asks" if asked_by else ""
        yield workflow.steps[name].line, f"step '{name}' can never come to an end{asked}"


def _loops(workflow: Workflow) -> Iterator[tuple[int, str]]:
    """Without counted edges and without people, what is left must run out."""
    free: dict[str, set[str]] = {}
    for step in workflow.steps.values():
        if step.kind == "ask":
            continue
        targets = [edge.to if edge.at_most is None else edge.then for _, edge in edges(workflow, step)]
        names = {workflow.resolve(step, target) for target in targets if target}
        free[step.name] = {name for name in names if workflow.steps[name].kind != "ask"}
    try:
        graphlib.TopologicalSorter(free).prepare()
    except graphlib.CycleError as error:
        ring = [*reversed(error.args[1])]
        line = min(workflow.steps[name].line for name in ring)
        yield line, f"step '{ring[0]}': the loop {' → '.join(ring)} has neither at_most nor a person in it"


def _needs(workflow: Workflow) -> Iterator[tuple[int, str]]:
    leads = successors(workflow)
    for step in workflow.steps.values():
        for need in step.needs:
            if is_check(need) or workflow.of:
                continue
            makers = {other.name for other in workflow.steps.values() if makes(other, need)}
            if not makers:
                yield step.line, f"step '{step.name}' needs {need}, which no step produces"
            for mode, start in workflow.starts.items() if makers else ():
                reached = _closure({start}, leads)
                before = _closure({name for maker in makers & reached for name in leads[maker]}, leads)
                if step.name in reached and step.name not in before:
                    how = f" when a run starts as {mode}" if len(workflow.starts) > 1 else ""
                    yield step.line, f"step '{step.name}' needs {need}, which is not produced before it{how}"


def makes(step: Step, need: str) -> bool:
    """Whether a step's `produces` covers a need; patterns such as 3.2-* count."""
    return any(need == name or fnmatch(need, name) for name in step.produces)


def _children(workflow: Workflow, children: Mapping[str, Workflow]) -> Iterator[tuple[int, str]]:
    for step in workflow.steps.values():
        if step.kind != "each":
            continue
        child = children.get(step.what)
        if child is None:
            yield at(step, f"there is no workflow '{step.what}' to run for each item")
            continue
        if not child.of:
            yield at(step, f"{step.what} does not say what it is a cycle 'of'")
        words = {end.what for end in child.steps.values() if end.kind == "end"}
        for word in sorted(words - set(step.next)):
            yield at(step, f"{step.what} may end with '{word}', which has no edge here")
        if step.forward not in words:
            yield at(step, f"{step.what} never ends with '{step.forward}', the way forward")
        for inner in child.steps.values():
            for need in inner.needs:
                own = [*child.steps.values(), *workflow.steps.values()]
                if not is_check(need) and not any(makes(maker, need) for maker in own):
                    yield at(step, f"{child.name}.{inner.name} needs {need}, which nobody produces")


def _names(workflow: Workflow, known: Known) -> Iterator[tuple[int, str]]:
    if workflow.of and workflow.of not in known.sources:
        yield 1, f"'of: {workflow.of}' is not known (known: {', '.join(sorted(known.sources))})"
    for step in workflow.steps.values():
        if step.kind == "do":
            yield from (at(step, what) for what in _action(step, known.actions))
        for name in step.tools:
            if name not in known.tools:
                yield at(step, f"unknown tool '{name}' (known: {', '.join(sorted(known.tools))})")
        for name in (*step.needs, *step.when):
            if is_check(name) and name not in known.checks:
                yield at(step, f"unknown check '{name}' (known: {', '.join(sorted(known.checks))})")


def _action(step: Step, actions: Mapping[str, Collection[str]]) -> Iterator[str]:
    if step.what not in actions:
        yield f"unknown action '{step.what}' (known: {', '.join(sorted(actions))})"
    else:
        for word in actions[step.what]:
            if word not in step.next:
                yield f"{step.what} may end with '{word}', which has no edge here"
        for word in step.next:
            if word not in actions[step.what] and word not in RESERVED:
                yield f"{step.what} never ends with '{word}'"


def _closure(begin: set[T], leads: Mapping[T, set[T]]) -> set[T]:
    found, fresh = set(begin), list(begin)
    while fresh:
        new = leads[fresh.pop()] - found
        found |= new
        fresh += new
    return found
