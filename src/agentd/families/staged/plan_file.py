"""A plan: tasks with their files, dependencies, complexity and instructions. Read, merged and written; text in, values out.

What models write is read in many spellings; what cannot be understood is a problem with its line, never a guess.
"""

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import field

from agentd.engine.waves import Item, waves
from agentd.errors import AgentdError
from agentd.families.staged import task_fields
from agentd.families.staged.task_fields import WHOLE_AREA, Reference
from agentd.patterns import regex
from agentd.text.outline import Outline, outline, split_lines
from agentd.values import dataclass

AREAS = ("schema", "api", "logic", "frontend", "tests", "config", "docs")
LEVEL = 3  # of a task's heading; those in its instructions are below
_TASK = regex(
    r"(?i)(?:\[x\])?[^\w`]*task[ -]+#?([a-z]{0,2}\d[\w.]*?)[*_`]*(?:[ \t]*[:–—)|][*_]*|\.?[ \t]+-+|\.?(?=[ \t]|$))[ \t]*(.*)"
)
_DECORATION = regex(r"^[*_`\s]+|[*_`\s]+$")
_NO_TASKS = regex(r"(?im)^\W*no tasks\b")
_RULE = regex(r"\s*(?:-{3,}|\*{3,}|_{3,})\s*")


@dataclass(frozen=True)
class Task:
    """A task of a plan; `depends` has the numbers of other tasks. `complexity` is empty where the plan rates none."""

    number: int
    name: str
    files: tuple[str, ...]
    depends: tuple[int, ...]
    complexity: str
    instructions: str

    @property
    def id(self) -> str:
        return f"task-{self.number}"

    @property
    def item(self) -> Item:
        return Item(self.id, tuple(f"task-{number}" for number in self.depends), self.files)


class Invalid(ValueError):
    """A plan that cannot be worked through; the message names every problem."""

    def __init__(self, problems: Sequence[str]) -> None:
        super().__init__("; ".join(problems))
        self.problems = tuple(problems)


@dataclass(frozen=True)
class _Draft:
    """A task as it is written in one text, its dependencies by that text's own numbers."""

    line: int
    number: int
    name: str
    files: tuple[str, ...] = ()
    depends: tuple[Reference, ...] = ()
    complexity: str = ""
    instructions: str = ""
    problems: tuple[str, ...] = field(default=())

    def complaint(self, what: str, line: int = 0) -> str:
        return f"line {line or self.line}: Task {self.number}: {what}"


def read(text: str) -> tuple[Task, ...]:
    """The tasks of a plan, or Invalid.

    A plan of which no task names dependencies is worked through in its order; one that rates no task has no complexity.
    """
    drafts, problems = _drafts(text, ())
    if not drafts and not problems:
        problems = ["it has no task; a task begins with a line such as '### Task 1: Add the parser'"]
    numbers = {draft.number for draft in drafts}
    for draft in drafts:
        problems += [
            draft.complaint(f"it depends on Task {other}, which does not exist")
            for _, other in draft.depends
            if other not in numbers
        ]
    tasks = tuple(_task(draft, draft.number, [number for _, number in draft.depends]) for draft in drafts)
    _check(tasks, problems)
    return tasks


def _check(tasks: Sequence[Task], problems: Sequence[str]) -> None:
    """Raise Invalid for the problems found so far, or else for a cycle."""
    if not problems:
        try:
            waves(task.item for task in tasks)
        except AgentdError as error:
            problems = [error.message.rstrip(".")]
    if problems:
        raise Invalid(problems)


def _task(draft: _Draft, number: int, depends: Sequence[int]) -> Task:
    return Task(number, draft.name, draft.files, tuple(dict.fromkeys(depends)), draft.complexity, draft.instructions)


def _drafts(text: str, areas: Collection[str]) -> tuple[list[_Draft], list[str]]:
    """The tasks of a text and the problems of all of them; `areas` are the words that may stand for other texts."""
    found = outline(split_lines(text))
    problems = [f"line {found.unclosed}: what begins here never ends"] if found.unclosed else []
    headings = [(part, match) for part in found.sections if (match := _TASK.fullmatch(part.title))]
    starts = [part.line for part, _ in headings]
    bodies = []
    for index, (part, match) in enumerate(headings):
        if not match[1].isdecimal() or len(match[1]) > 6:
            problems.append(f"line {part.line}: Task {match[1]}: its number must be a whole number")
            continue
        end = min([part.end, *(start - 1 for start in starts[index + 1 : index + 2])])
        body = task_fields.split(_lines(found, part.line + 1, end, LEVEL - part.level))
        bodies.append((_Draft(part.line, int(match[1]), _DECORATION.sub("", match[2])), body))
    numbers = [draft.number for draft, _ in bodies]
    problems += [
        draft.complaint("this number is there twice")
        for index, (draft, _) in enumerate(bodies)
        if draft.number in numbers[:index]
    ]
    used = {name for _, body in bodies for name in body.fields}
    drafts: list[_Draft] = []
    for draft, body in bodies:
        drafts.append(_filled(draft, body, used, numbers, areas, {one.number: one.files for one in drafts}))
    return drafts, [*problems, *(problem for draft in drafts for problem in draft.problems)]


def _lines(found: Outline, start: int, end: int, deeper: int) -> Iterator[tuple[int, str, bool]]:
    """The lines of a task with their numbers and whether they are code; headings are made `deeper` if that is above 0."""
    inner = {part.line: part.level for part in found.sections}
    for number in range(start, end + 1):
        line = found.lines[number - found.first]
        more = "#" * min(deeper, 6 - inner[number]) if number in inner and deeper > 0 else ""
        yield number, more + (line.lstrip() if more else line), number in found.fenced


def _filled(
    draft: _Draft,
    body: task_fields.Body,
    used: Collection[str],
    numbers: Sequence[int],
    areas: Collection[str],
    known: Mapping[int, Sequence[str]],
) -> _Draft:
    """A draft with its fields, and what is wrong with them."""
    problems = [] if draft.name else [draft.complaint("it has no name")]
    files: tuple[str, ...] = ()
    depends: tuple[Reference, ...] = ()
    complexity = ""
    for name in ("files", "dependencies", "complexity"):
        if name not in body.fields and (name in used or name == "files"):
            problems.append(draft.complaint(f"it has no **{name.title()}**"))
    if "dependencies" not in used:
        depends = tuple(("", number) for number in numbers[: numbers.index(draft.number)][-1:])
    for name, (line, value) in body.fields.items():
        wrong: list[str] = []
        if name == "files":
            files = task_fields.files(value, known, wrong)
        elif name == "dependencies":
            depends = task_fields.dependencies(value, draft.number, numbers, areas, wrong)
        elif name == "complexity":
            complexity = task_fields.complexity(value, wrong)
        problems += [draft.complaint(what, line) for what in wrong]
    lines = list(body.text)
    while lines and (not lines[-1].strip() or _RULE.fullmatch(lines[-1])):
        lines.pop()
    instructions = "\n".join(lines).strip("\n").rstrip()
    problems += [] if instructions else [draft.complaint("it has no **Instructions**")]
    twice = [draft.complaint(f"**{name.title()}** is there twice", line) for name, line in body.repeated]
    return _Draft(draft.line, draft.number, draft.name, files, depends, complexity, instructions, (*twice, *problems))


def area_problem(text: str) -> str:
    """Why the plan of one area cannot be used, or nothing; whether another area has the tasks it names shows in `merge`."""
    drafts, problems = _drafts(text, AREAS)
    if not drafts and not problems and not _NO_TASKS.search(text):
        problems = ["it has no task; where nothing is to be done, it says 'No tasks'"]
    numbers = {draft.number for draft in drafts}
    for draft in drafts:
        unknown = [number for area, number in draft.depends if not area and number not in numbers]
        problems += [draft.complaint(f"it depends on Task {number}, which does not exist") for number in unknown]
    return "; ".join(problems)


def merge(parts: Mapping[str, str]) -> str:
    """The plans of several areas, each with numbers of its own, as one plan with new numbers; or Invalid.

    A dependency on another area is its name, for all of its tasks, or its name with a number: `schema Task 2`.
    """
    order = sorted(parts, key=lambda area: (AREAS.index(area) if area in AREAS else len(AREAS), area))
    read_parts = {area: _drafts(parts[area], {*AREAS, *parts}) for area in order}
    problems = [f"{area}: {problem}" for area, (_, found) in read_parts.items() for problem in found]
    for area, (drafts, found) in read_parts.items():
        if not drafts and not found and not _NO_TASKS.search(parts[area]):
            problems.append(f"{area}: it has no task; where nothing is to be done, it says 'No tasks'")
    written = [(area, draft) for area, (drafts, _) in read_parts.items() for draft in drafts]
    if not written and not problems:
        problems.append("no area has a task")
    numbers = {(area, draft.number): number for number, (area, draft) in enumerate(written, 1)}
    tasks = []
    for area, draft in written:
        depends: list[int] = []
        for other, local in draft.depends:
            meant = [
                number
                for (place, known), number in numbers.items()
                if place == (other or area) and local in (known, WHOLE_AREA)
            ]
            depends += meant
            if not meant and not (local == WHOLE_AREA and other in parts):
                named = f"Task {local}" + (f" of {other}" if other else "") if local != WHOLE_AREA else other
                problems.append(f"{area}: {draft.complaint(f'it depends on {named}, which does not exist')}")
        tasks.append(_task(draft, numbers[area, draft.number], depends))
    _check(tasks, problems)
    return render(tasks, "Plan")


def render(tasks: Sequence[Task], title: str) -> str:
    """The plan file of these tasks."""
    parts = [f"# {' '.join(title.split())}"]
    for task in tasks:
        depends = ", ".join(f"Task {number}" for number in task.depends) or "none"
        parts += [
            f"### Task {task.number}: {task.name}",
            f"**Files:** {', '.join(f'`{path}`' for path in task.files) or 'none'}",
            f"**Dependencies:** {depends}",
            *([f"**Complexity:** {task.complexity}"] if task.complexity else []),
            f"**Instructions:**\n\n{task.instructions}",
        ]
    names = {task.id: task for task in tasks}
    graph = [
        f"- Wave {number}: " + ", ".join(_with_dependencies(names[name]) for name in wave)
        for number, wave in enumerate(waves(task.item for task in tasks), 1)
    ]
    return "\n\n".join([*parts, "## Dependency Graph", "\n".join(graph)]) + "\n"


def _with_dependencies(task: Task) -> str:
    after = " and ".join(str(number) for number in task.depends)
    return f"Task {task.number}" + (f" (after {after})" if after else "")
