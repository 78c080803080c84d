"""The documents of a session: what each must have, and why one does not count. Text in, values out."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agentd.engine.waves import Item, waves
from agentd.errors import AgentdError, Corrupt
from agentd.patterns import regex
from agentd.text import lossless_yaml
from agentd.text.outline import outline, split_lines
from agentd.values import dataclass

SPEC, ACCEPTANCE, ARCHITECTURE, TASKS, REPORT = (
    "spec.md",
    "acceptance.json",
    "architecture.md",
    "tasks.yaml",
    "report.md",
)
# What a design is, and all documents of a session; a folder ends with a slash.
DESIGN_DOCUMENTS = (SPEC, ACCEPTANCE, ARCHITECTURE, "adr/", "design-specs/", "research/")
DOCUMENTS = (*DESIGN_DOCUMENTS, TASKS, REPORT)
TASK_STATUSES = ("not-started", "in-progress", "implemented", "completed", "blocked")
TYPES = ("feat", "fix", "refactor", "chore", "test", "docs")
FLAGS = ("security", "perf", "breaking-change", "none")
CHECKS = ("cmd", "manual", "test")
EXCERPT = 300
REPORT_PARTS = ("what was done", "how to run", "how to test", "known issues")
_TASK_ID, _CRITERION_ID = regex(r"T-\d{3,}"), regex(r"AC-\d{3,}")
_HEADING = regex(r"^#{1,6}[ \t]+(.*?)[ \t#]*$", re.MULTILINE)


@dataclass(frozen=True)
class Check:
    """One way to verify something: a command that must end with 0, a test that must pass, or a person who looks."""

    kind: str
    what: str

    def __str__(self) -> str:
        return f"{self.kind}: {self.what}"


@dataclass(frozen=True)
class Criterion:
    """An acceptance criterion with its checks."""

    id: str
    description: str
    verify: tuple[Check, ...]


@dataclass(frozen=True)
class Task:
    """A task of tasks.yaml."""

    id: str
    title: str
    status: str
    type: str
    goal: str
    depends_on: tuple[str, ...] = ()
    non_goals: tuple[str, ...] = ()
    context_files: tuple[str, ...] = ()
    files_expected: tuple[str, ...] = ()
    acceptance_checks: tuple[Check, ...] = ()
    risk_flags: tuple[str, ...] = ()
    done_when: tuple[str, ...] = ()

    @property
    def item(self) -> Item:
        return Item(self.id, self.depends_on, self.files_expected)


class Invalid(ValueError):
    """A document that cannot be used; the message names every problem."""


def headings(text: str) -> tuple[str, ...]:
    """The headings of a Markdown text in small letters, those in code fences apart."""
    outside = re.sub(r"^(```|~~~).*?^\1", "", text, flags=re.MULTILINE | re.DOTALL)
    return tuple(found.lower() for found in _HEADING.findall(outside))


def _missing(text: str, wanted: Sequence[str]) -> list[str]:
    found = headings(text)
    return [name for name in wanted if not any(re.search(rf"(?<![\w-]){name}", heading) for heading in found)]


def excerpts(text: str, wanted: Sequence[str]) -> list[str]:
    """The sections of a Markdown text whose titles have one of these words, each with the beginning of what it says."""
    found = outline(split_lines(text))
    named = (part for part in found.sections if any(word in part.title.lower() for word in wanted))
    return [f"{part.title}: {' '.join(found.text(part.line + 1, part.end).split())}"[:EXCERPT] for part in named]


def spec_problem(text: str, lean: bool = False) -> str:
    """Why spec.md does not count: a lean one needs its goal and its criteria, a full one its definition of done too."""
    wanted = ["goal", "acceptance criteria", *([] if lean else ["definition of done"])]
    missing = _missing(text, wanted)
    return f"it has no heading {', '.join(missing)}" if missing else ""


def architecture_problem(text: str) -> str:
    missing = _missing(text, ("overview", "modules"))
    return f"it has no heading {', '.join(missing)}" if missing else ""


def report_problem(text: str) -> str:
    """Why report.md does not count: a part is missing, or has a heading and nothing else."""
    missing = _missing(text, REPORT_PARTS)
    if missing:
        return f"it has no heading {', '.join(missing)}"
    heads = list(_HEADING.finditer(text))
    ends = [one.start() for one in heads[1:]] + [len(text)]
    bare = {one[1].lower() for one, end in zip(heads, ends, strict=True) if not text[one.end() : end].strip()}
    empty = [part for part in REPORT_PARTS if all(name in bare for name in headings(text) if part in name)]
    return f"it says nothing below {', '.join(empty)}" if empty else ""


def read_check(text: Any) -> Check | None:
    """The check that a text states as `cmd: …`, `manual: …` or `test: …`; None for any other text."""
    kind, colon, what = str(text).partition(":")
    known = kind.strip().lower() in CHECKS and colon and what.strip()
    return Check(kind.strip().lower(), what.strip()) if known and isinstance(text, str) else None


def criteria(text: str) -> tuple[Criterion, ...]:
    """The criteria of acceptance.json, or Invalid."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise Invalid(f"it is not JSON: {error}") from None
    listed = data.get("acceptance_criteria") if isinstance(data, Mapping) else None
    if not isinstance(listed, list) or not listed:
        raise Invalid("it has no acceptance_criteria")
    problems, found = [], []
    for number, entry in enumerate(listed, 1):
        one = entry if isinstance(entry, Mapping) else {}
        name, about = str(one.get("id") or ""), str(one.get("description") or "").strip()
        checks, wrong = _checks(one.get("verify"))
        where = name or f"criterion {number}"
        if not _CRITERION_ID.fullmatch(name):
            problems.append(f"{where}: its id must be like AC-001")
        if not about:
            problems.append(f"{where}: it has no description")
        problems += [f"{where}: {what}" for what in wrong or ([] if checks else ["verify names no check"])]
        found.append(Criterion(name, about, checks))
    problems += [f"{name} is there twice" for name in _twice([one.id for one in found])]
    if problems:
        raise Invalid("; ".join(problems))
    return tuple(found)


def _checks(value: Any) -> tuple[tuple[Check, ...], list[str]]:
    listed = value if isinstance(value, list) else []
    found = [(entry, read_check(entry)) for entry in listed]
    wrong = [f"{str(entry)[:60]!r} is none of cmd: …, test: …, manual: …" for entry, check in found if check is None]
    return tuple(check for _, check in found if check is not None), wrong


def tasks(text: str) -> tuple[Task, ...]:
    """The tasks of tasks.yaml, or Invalid."""
    try:
        data = lossless_yaml.parse(text, TASKS).data
    except Corrupt as error:
        raise Invalid(error.message) from None
    listed = data.get("tasks") if isinstance(data, Mapping) else None
    if not isinstance(listed, list) or not listed:
        raise Invalid("it has no tasks")
    problems: list[str] = []
    found = [_task(entry, number, problems) for number, entry in enumerate(listed, 1)]
    problems += [f"{name} is there twice" for name in _twice([one.id for one in found])]
    if not problems:
        try:
            waves([one.item for one in found])
        except AgentdError as error:
            problems.append(error.message.rstrip("."))
    if problems:
        raise Invalid("; ".join(problems))
    return tuple(found)


def _task(entry: Any, number: int, problems: list[str]) -> Task:
    one = entry if isinstance(entry, Mapping) else {}
    name = str(one.get("id") or "")
    where = name or f"task {number}"
    checks, wrong = _checks(one.get("acceptance_checks"))
    wrong += [] if _TASK_ID.fullmatch(name) else ["its id must be like T-001"]
    wrong += [] if str(one.get("goal") or "").strip() else ["it has no goal"]
    wrong += [] if one.get("status") in TASK_STATUSES else [f"its status must be one of {', '.join(TASK_STATUSES)}"]
    wrong += [] if checks or wrong else ["acceptance_checks is empty"]
    kind, flags = str(one.get("type") or "feat"), _texts(one.get("risk_flags"))
    wrong += [] if kind in TYPES else [f"its type must be one of {', '.join(TYPES)}"]
    wrong += [f"the risk flag {flag} is none of {', '.join(FLAGS)}" for flag in flags if flag not in FLAGS]
    for path in (*_texts(one.get("files_expected")), *_texts(one.get("context_files"))):
        if path.startswith(("/", "~")) or ".." in path.split("/"):
            wrong.append(f"{path} leads out of the project")
    for key in ("depends_on", "done_when"):
        if not isinstance(one.get(key), list):
            wrong.append(f"{key} must be a list")
    if isinstance(one.get("files_expected"), str):
        wrong.append("files_expected must be a list")
    if isinstance(one.get("done_when"), list) and not one["done_when"]:
        wrong.append("done_when is empty")
    problems += [f"{where}: {what}" for what in wrong]
    return Task(
        id=name,
        title=str(one.get("title") or one.get("goal") or name),
        status=str(one.get("status") or ""),
        type=kind,
        goal=str(one.get("goal") or ""),
        depends_on=_texts(one.get("depends_on")),
        non_goals=_texts(one.get("non_goals")),
        context_files=_texts(one.get("context_files")),
        files_expected=_texts(one.get("files_expected")),
        acceptance_checks=checks,
        risk_flags=flags,
        done_when=_texts(one.get("done_when")),
    )


def _texts(value: Any) -> tuple[str, ...]:
    return tuple(map(str, value)) if isinstance(value, list) else ()


def _twice(names: Sequence[str]) -> Iterator[str]:
    yield from dict.fromkeys(name for name in names if names.count(name) > 1)


def with_statuses(text: str, statuses: Mapping[str, str]) -> str:
    """tasks.yaml with the status of each task; every other byte stays."""
    document = lossless_yaml.parse(text, TASKS)
    data = dict(document.data)
    data["tasks"] = [
        {**one, "status": statuses[str(one.get("id"))]} if str(one.get("id")) in statuses else one
        for one in data["tasks"]
    ]
    return text if data == document.data else document.updated(data).text


def without_statuses(text: str) -> str:
    """tasks.yaml as an answer is bound to it: what is planned, not how far it is."""
    try:
        listed = tasks(text)
    except Invalid:
        return text
    return with_statuses(text, dict.fromkeys((one.id for one in listed), TASK_STATUSES[0]))


def problem(name: str, text: str, lean: bool = False) -> str:
    """Why a document of a session does not count, by its name; nothing for one that is free in its form."""
    try:
        if name == ACCEPTANCE:
            criteria(text)
        if name == TASKS and len(tasks(text)) > 1 and lean:
            return "a lean session has exactly one task"
    except Invalid as error:
        return str(error)
    checks = {SPEC: lambda: spec_problem(text, lean), ARCHITECTURE: lambda: architecture_problem(text)}
    return checks[name]() if name in checks else report_problem(text) if name == REPORT else ""
