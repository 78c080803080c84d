"""What an agent can read of its change: files, findings, what was implemented, the prompt of a step."""

from fnmatch import fnmatch

from agentd.calling.agent_call import AgentCall
from agentd.calling.prompt import make_prompt
from agentd.errors import NotFound, Refused
from agentd.families.change import NAME, validation
from agentd.families.change.call import ChangeCall
from agentd.families.change.documents import tasks
from agentd.git.changes import ChangedFile, changed_files
from agentd.model.finding import Finding
from agentd.runs.call_scope import Desk, work_of
from agentd.runs.tool_result import Text
from agentd.values import dataclass

# The step of a change, or of one of its children, that does a kind of task.
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


def list_changed_files(desk: Desk, base: str, pattern: str = "") -> Changed:
    """What differs from the base, without the files of the run itself."""
    own = desk.project.relative(desk.folder) + "/"
    files = tuple(
        one
        for one in changed_files(work_of(desk).cwd, base)
        if not one.path.startswith(own) and (not pattern or pattern in one.path or fnmatch(one.path, pattern))
    )
    lines = [f"{one.status:<12} {one.path}{_counts(one)}" for one in files]
    return Changed("\n".join(lines) or f"Nothing differs from {base}.", base, files)


def read_implementation_summary(desk: Desk, base: str) -> Summary:
    """The implementer's notes, the tasks and the changed files; what does not exist is left out."""
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
    """The prompt of the step that does a kind of task, or of the current step if there is none."""
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


def _counts(one: ChangedFile) -> str:
    return "" if one.added is None else f"  +{one.added} -{one.removed}"
