"""Whether what one document names is there in the others."""

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping

from agentd.library.claims import named
from agentd.model.change import Proposal, Spec, Tasks
from agentd.model.finding import Finding
from agentd.model.rules import Rules


def every_spec_ref_leads_to_a_requirement(
    tasks: Tasks, requirements: Callable[[str], Collection[str] | None], specs: Collection[str], rules: Rules
) -> Iterator[Finding]:
    """A finding for each task whose spec_ref leads nowhere.

    `requirements` gives the ids of a spec, None where there is no such spec; `specs` are the names to choose from.
    """
    for task in tasks.tasks:
        spec, requirement = named(task.spec_ref)
        if task.spec_ref == "none" and specs:
            yield Finding(
                "invalid_task",
                f"task {task.id} is for no requirement, although the change has specs",
                task.line,
                rules.severity("invalid_task"),
                f"write spec_ref: {min(specs)}:R1",
                "tasks.md",
            )
        if not spec or not requirement:
            continue  # not a spec_ref at all, which reading the tasks has told
        known = requirements(spec)
        if known is None:
            from difflib import get_close_matches

            near = get_close_matches(spec, specs, 1) or sorted(specs)[:1]
            yield Finding(
                "unknown_spec",
                f"task {task.id} names the spec '{spec}', which does not exist",
                task.line,
                rules.severity("unknown_spec"),
                f"write spec_ref: {near[0]}:{requirement}" if near else f"write specs/{spec}.md",
                "tasks.md",
            )
        elif requirement not in known:
            yield Finding(
                "unknown_requirement",
                f"task {task.id} names {spec}:{requirement}, and '{spec}' has no requirement {requirement}",
                task.line,
                rules.severity("unknown_requirement"),
                f"name one of {', '.join(sorted(known)[:20]) or 'the requirements of another spec'} in spec_ref",
                "tasks.md",
            )


def every_affected_spec_is_there(
    proposal: Proposal,
    specs: Collection[str],
    exists: Callable[[str], bool],
    line_of: Callable[[str], int],
    rules: Rules,
) -> Iterator[Finding]:
    """A finding for each spec the proposal names that the change does not have, and for each that one of them needs.

    One that is removed has no file in the change.
    """
    affected = {spec.id for spec in proposal.impact.affected_specs}
    for spec in proposal.impact.affected_specs:
        if spec.id not in specs and not spec.removed:
            yield Finding(
                "missing_spec",
                f"the affected spec '{spec.id}' has no file specs/{spec.id}.md",
                line_of(spec.id),
                rules.severity("missing_spec"),
                f"write specs/{spec.id}.md, or take '{spec.id}' out of 'Affected specs:'",
                "proposal.md",
            )
        for other in spec.depends:
            if other not in affected and other not in specs and not exists(other):
                yield Finding(
                    "broken_reference",
                    f"the affected spec '{spec.id}' depends on '{other}', which does not exist",
                    line_of(other),
                    rules.severity("broken_reference"),
                    f"write specs/{other}.md, or take '{other}' out of what '{spec.id}' depends on",
                    "proposal.md",
                )


def every_removed_spec_can_go(
    removed: Mapping[str, int], specs: Collection[str], in_library: Callable[[str], bool], rules: Rules
) -> Iterator[Finding]:
    """A finding for each removed spec that the change has a file for, and for each that the library does not have.

    `removed` has the line of the proposal for each.
    """
    for name, line in removed.items():
        if name in specs:
            yield Finding(
                "invalid_value",
                f"the spec '{name}' is removed and written at the same time",
                line,
                rules.severity("invalid_value"),
                f"delete specs/{name}.md, or take '(removed)' from '{name}' in 'Affected specs:'",
                "proposal.md",
            )
        if not in_library(name):
            yield Finding(
                "broken_reference",
                f"the spec '{name}' is to be removed, and is not in the library",
                line,
                rules.severity("broken_reference"),
                f"take '{name}' out of 'Affected specs:', or correct its name",
                "proposal.md",
            )


def every_spec_is_named(
    proposal: Proposal, tasks: Tasks | None, specs: Mapping[str, Spec | None], rules: Rules
) -> Iterator[Finding]:
    """A finding for each spec of the change that neither its proposal nor one of its tasks names."""
    wanted = {spec.id for spec in proposal.impact.affected_specs}
    wanted |= {named(task.spec_ref)[0] for task in tasks.tasks} if tasks else set()
    for name in specs:
        if name not in wanted:
            yield Finding(
                "orphan_spec",
                f"neither the proposal nor a task names the spec '{name}'",
                1,
                rules.severity("orphan_spec"),
                f"add {name} to 'Affected specs:' in proposal.md, or delete specs/{name}.md",
                f"specs/{name}.md",
            )


def every_link_leads_somewhere(
    file: str, links: Iterable[tuple[int, str]], problem: Callable[[str, str], str], rules: Rules
) -> Iterator[Finding]:
    """A finding for each relative link that is broken. `problem` tells why, for a file and a target in it."""
    for line, target in links:
        why = problem(file, target)
        if why:
            yield Finding(
                "broken_reference",
                f"the link to {target} is broken: {why}",
                line,
                rules.severity("broken_reference"),
                f"edit the link on line {line} of {file}",
                file,
            )
