"""What an agent can read of the specs of its change: a list, or every requirement in full."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from agentd.errors import NotFound, Refused
from agentd.families.change.documents import proposal
from agentd.library import spec
from agentd.runs.call_scope import Desk
from agentd.values import dataclass


@dataclass(frozen=True)
class ListedRequirement:
    """A requirement, its words where they were asked for."""

    id: str
    title: str
    priority: str
    description: str = ""


@dataclass(frozen=True)
class ListedScenario:
    """A scenario."""

    name: str
    given: str
    when: str
    then: str


@dataclass(frozen=True)
class ListedSpec:
    """A spec of the change; `problem` says why it could not be read."""

    id: str
    path: str
    title: str = ""
    depends: tuple[str, ...] = ()
    requirements: tuple[ListedRequirement, ...] = ()
    scenarios: tuple[ListedScenario, ...] = ()
    problem: str = ""


@dataclass(frozen=True)
class Specs:
    """Several specs, in words and as data."""

    message: str
    specs: tuple[ListedSpec, ...]


def list_specs(desk: Desk, spec_id: str | None = None) -> Specs:
    """The specs of the change without their texts; with `spec_id`, only those that it depends on, directly or not."""
    specs = _specs(desk)
    if spec_id is not None:
        known = {one.id: one for one in specs}
        if spec_id not in known:
            names = ", ".join(known) or "none"
            raise NotFound(f"spec_id: there is no spec {spec_id!r} in the change.", f"one of: {names}")
        specs = [known[name] for name in known if name in _needed(known, spec_id)]
    lines = [f"{one.id}: {one.title or one.problem} ({', '.join(r.id for r in one.requirements)})" for one in specs]
    return Specs("\n".join(lines) or "There are no specs.", tuple(map(_without_texts, specs)))


def read_all_requirements(desk: Desk) -> Specs:
    """Every spec in full."""
    specs = _specs(desk)
    return Specs("\n\n".join(map(_in_full, specs)) or "There are no specs.", tuple(specs))


def _specs(desk: Desk) -> list[ListedSpec]:
    folder = desk.folder / "specs"
    paths = sorted(folder.rglob("*.md")) if folder.is_dir() else []
    plan = proposal.read(desk.read_if_there("proposal.md"))[0]
    depends = {one.id: one.depends for one in plan.impact.affected_specs} if plan else {}
    return [_listed(desk, path, depends) for path in paths if not path.name.startswith((".", "_"))]


def _listed(desk: Desk, path: Path, depends: Mapping[str, tuple[str, ...]]) -> ListedSpec:
    name = path.relative_to(desk.folder / "specs").with_suffix("").as_posix()
    shown = desk.shown(path)
    try:
        text = desk.read(desk.path(f"specs/{name}.md"))
    except (NotFound, Refused) as error:
        return ListedSpec(name, shown, problem=error.message)
    found, findings = spec.read(text)
    if found is None:
        return ListedSpec(name, shown, problem=findings[0].message if findings else "it cannot be read")
    requirements = (ListedRequirement(one.id, one.title, one.priority, one.description) for one in found.requirements)
    scenarios = (ListedScenario(one.name, one.given, one.when, one.then) for one in found.scenarios)
    return ListedSpec(name, shown, found.title, depends.get(name, ()), tuple(requirements), tuple(scenarios))


def _without_texts(one: ListedSpec) -> ListedSpec:
    short = tuple(replace(each, description="") for each in one.requirements)
    return replace(one, requirements=short, scenarios=())


def _needed(specs: Mapping[str, ListedSpec], spec_id: str) -> set[str]:
    """The specs that a spec depends on, directly or not."""
    found: set[str] = set()
    fresh = list(specs[spec_id].depends)
    while fresh:
        name = fresh.pop()
        if name not in found and name != spec_id:
            found.add(name)
            fresh += specs[name].depends if name in specs else ()
    return found


def _in_full(one: ListedSpec) -> str:
    lines = [f"# {one.id}: {one.title or one.problem}"]
    lines += [f"## {one.id}:{each.id} {each.title} ({each.priority})\n{each.description}" for each in one.requirements]
    for each in one.scenarios:
        given = f"GIVEN {each.given}\n" if each.given else ""
        lines.append(f"### Scenario: {each.name}\n{given}WHEN {each.when}\nTHEN {each.then}")
    return "\n\n".join(lines)
