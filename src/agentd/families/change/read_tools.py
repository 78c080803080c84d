"""What an agent can read of its change: files, specs, requirements, what was implemented, the words of a task."""

from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path

from agentd.calling.agent_call import AgentCall
from agentd.calling.prompt import make_prompt
from agentd.errors import NotFound, Refused
from agentd.families.change import NAME, validation
from agentd.families.change.call import ChangeCall
from agentd.families.change.documents import proposal, tasks
from agentd.git.changes import ChangedFile, changed_files
from agentd.library import spec
from agentd.model.change import Spec
from agentd.model.finding import Finding
from agentd.runs.call_scope import Desk, work_of
from agentd.runs.tool_result import Text

# The step of the change workflow, or of its cycle for one spec, that does a kind of task.
STEPS = {
    "create_proposal": "propose",
    "create_spec": "write_spec",
    "create_tasks": "break_down",
    "review_proposal": "review_proposal",
    "review_spec": "review_spec",
    "review_tasks": "review_tasks",
    "revise_proposal": "revise",
    "revise_spec": "revise",
    "revise_tasks": "revise",
    "implement": "implement",
    "review_impl": "review",
    "code_review": "review",
    "resolve": "resolve",
}


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


@dataclass(frozen=True)
class Changed:
    """The files that differ from a base."""

    message: str
    base: str
    files: tuple[ChangedFile, ...]


@dataclass(frozen=True)
class TaskState:
    """How far a task is."""

    id: str
    title: str
    status: str
    path: str


@dataclass(frozen=True)
class Summary:
    """What the implementation came to."""

    message: str
    notes: str
    tasks: tuple[TaskState, ...]
    files: tuple[ChangedFile, ...]


@dataclass(frozen=True)
class Checked:
    """Whether a change is valid, and everything that was found."""

    message: str
    valid: bool
    high_count: int
    medium_count: int
    low_count: int
    findings: tuple[Finding, ...]


def validate_change(desk: Desk, strict: bool) -> Checked:
    """What `agentd validate` says about the change."""
    found = validation.validate_change(desk.project, desk.folder.name)
    valid = found.strict if strict else found.valid
    counts = found.counts
    numbers = ", ".join(f"{count} {word}" for word, count in counts.items())
    lines = [
        f"{each.file}:{each.line}: {each.severity}, {each.rule}: {each.message}. Fix: {each.fix}"
        for each in found.findings
    ]
    message = "\n".join([f"{'Valid' if valid else 'Not valid'}: {numbers}.", *lines])
    return Checked(message, valid, counts["high"], counts["medium"], counts["low"], found.findings)


def read_file(desk: Desk, name: str) -> Text:
    path = desk.path(name)
    if path.is_dir() or not path.exists():
        files = ", ".join(sorted(_documents(desk))) or "none"
        raise NotFound(f"file: there is no file {name!r} in the change.", f"one of: {files}")
    return Text(desk.read(path), desk.shown(path))


def list_specs(desk: Desk, spec_id: str | None = None) -> Specs:
    """The specs of the change, or those that one of them depends on, by however many steps."""
    specs = _specs(desk)
    if spec_id is not None:
        known = {one.id: one for one in specs}
        if spec_id not in known:
            names = ", ".join(known) or "none"
            raise NotFound(f"spec_id: there is no spec {spec_id!r} in the change.", f"one of: {names}")
        before = _before(known, spec_id)
        specs = [one for one in specs if one.id in before]
    lines = [f"{one.id}: {one.title or one.problem} ({', '.join(r.id for r in one.requirements)})" for one in specs]
    short = (_without_words(one) for one in specs)
    return Specs("\n".join(lines) or "There are no specs.", tuple(short))


def read_all_requirements(desk: Desk) -> Specs:
    """Every spec in full."""
    specs = _specs(desk)
    return Specs("\n\n".join(map(_in_full, specs)) or "There are no specs.", tuple(specs))


def list_changed_files(desk: Desk, base: str, pattern: str = "") -> Changed:
    """What differs from the base, but for the run's own files."""
    own = desk.project.relative(desk.folder) + "/"
    files = tuple(
        one
        for one in changed_files(work_of(desk).cwd, base)
        if not one.path.startswith(own) and (not pattern or pattern in one.path or fnmatch(one.path, pattern))
    )
    lines = [f"{one.status:<12} {one.path}{_counts(one)}" for one in files]
    return Changed("\n".join(lines) or f"Nothing differs from {base}.", base, files)


def read_implementation_summary(desk: Desk, base: str) -> Summary:
    """The implementer's notes, the tasks and the files, each as far as it is there."""
    notes = desk.read_if_there("IMPLEMENTATION.md")
    found = tasks.read(desk.read_if_there("tasks.md"))[0]
    states = tuple(TaskState(one.id, one.title, one.status, one.path) for one in found.tasks) if found else ()
    changed = list_changed_files(desk, base)
    parts = [
        notes.strip() or "There is no IMPLEMENTATION.md.",
        "## Tasks",
        "\n".join(f"- {one.id} {one.status}: {one.title} ({one.path})" for one in states) or "none",
        "## Changed files",
        changed.message,
    ]
    return Summary("\n\n".join(parts), notes, states, changed.files)


def get_task(desk: Desk, kind: str) -> Text:
    """The prompt of the step that does a kind of task; without such a step, that of the step under way."""
    work = work_of(desk)
    own = desk.layout.name == NAME
    names = (NAME, "change-spec", "change-part") if own else ()
    tables = (work.workflow, *map(desk.project.workflow, names))
    known = (table.steps.get(name) for name in (STEPS[kind], work.state.run.step) for table in tables)
    step = next((found for found in known if found and found.kind == "agent"), None)
    if step is None:
        raise Refused(f"task_type: this workflow has no step for {kind}.", "read the files of the change instead")
    return Text(make_prompt(ChangeCall(work, step) if own else AgentCall(work, step)))


def _documents(desk: Desk) -> list[str]:
    inner = (path.relative_to(desk.folder) for path in desk.folder.rglob("*.md"))
    return [path.as_posix() for path in inner if not any(part.startswith(".") for part in path.parts)]


def _specs(desk: Desk) -> list[ListedSpec]:
    folder = desk.folder / "specs"
    paths = sorted(folder.rglob("*.md")) if folder.is_dir() else []
    depends = _depends(desk)
    return [_listed(desk, path, depends) for path in paths if not path.name.startswith((".", "_"))]


def _depends(desk: Desk) -> dict[str, tuple[str, ...]]:
    found = proposal.read(desk.read_if_there("proposal.md"))[0]
    return {one.id: one.depends for one in found.impact.affected_specs} if found else {}


def _listed(desk: Desk, path: Path, depends: dict[str, tuple[str, ...]]) -> ListedSpec:
    name = path.relative_to(desk.folder / "specs").with_suffix("").as_posix()
    shown = desk.shown(path)
    try:
        text = desk.read(desk.path(f"specs/{name}.md"))
    except (NotFound, Refused) as error:
        return ListedSpec(name, shown, problem=error.message)
    found, findings = spec.read(text)
    if found is None:
        return ListedSpec(name, shown, problem=findings[0].message if findings else "it cannot be read")
    return _filled(found, name, shown, depends.get(name, ()))


def _filled(found: Spec, name: str, shown: str, depends: tuple[str, ...]) -> ListedSpec:
    return ListedSpec(
        id=name,
        path=shown,
        title=found.title,
        depends=depends,
        requirements=tuple(
            ListedRequirement(one.id, one.title, one.priority, one.description) for one in found.requirements
        ),
        scenarios=tuple(ListedScenario(one.name, one.given, one.when, one.then) for one in found.scenarios),
    )


def _without_words(one: ListedSpec) -> ListedSpec:
    short = tuple(ListedRequirement(each.id, each.title, each.priority) for each in one.requirements)
    return ListedSpec(one.id, one.path, one.title, one.depends, short, (), one.problem)


def _before(specs: dict[str, ListedSpec], spec_id: str) -> set[str]:
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


def _counts(one: ChangedFile) -> str:
    return "" if one.added is None else f"  +{one.added} -{one.removed}"
