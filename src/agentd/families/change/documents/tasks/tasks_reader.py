"""tasks.md read into a value as far as it can be understood, with a finding for every problem. Never guesses."""

from collections.abc import Iterator, Mapping
from typing import Any

from agentd.errors import Corrupt
from agentd.families.change.documents.tasks.dependencies import cycles
from agentd.families.change.documents.tasks.fields import fields
from agentd.families.change.documents.tasks.items import Items, items
from agentd.families.change.documents.tasks.plain_tasks import plain
from agentd.families.change.documents.tasks.task import finding, task_of
from agentd.families.change.documents.tasks.tasks_writer import counts
from agentd.model.change import Task, Tasks
from agentd.model.finding import Finding
from agentd.model.rules import Rules
from agentd.patterns import regex
from agentd.text import frontmatter
from agentd.text.frontmatter import Front
from agentd.text.outline import Outline, outline
from agentd.values import dataclass

RULES = Rules()
_CHANGE_ID = regex(r"[a-z0-9][a-z0-9-]*")
_UNCLOSED = "a code fence or comment begins here and never ends, so nothing below is read"
_CLOSE = "end it with a line of the same ``` or ~~~, or with -->"


@dataclass(frozen=True)
class Page:
    """A tasks.md split into front matter, outline and tasks."""

    front: Front
    plan: Outline
    items: Items


def read(text: str, rules: Rules = RULES) -> tuple[Tasks, tuple[Finding, ...]]:
    """The tasks as far as they can be understood, and everything that is wrong with them."""
    known = plain(text)
    return (known, ()) if known else with_care(text, rules)


def with_care(text: str, rules: Rules) -> tuple[Tasks, tuple[Finding, ...]]:
    """The same for a text of any form."""
    page = take_apart(text)
    findings = list(page.front.findings)
    findings += [finding("invalid_task", what, line) for line, what in page.items.odd]
    if page.plan.unclosed:
        findings.append(finding("invalid_task", _UNCLOSED, page.plan.unclosed, _CLOSE))
    elif not page.items.found:
        line = page.plan.first if page.plan.lines else page.plan.first - 1
        findings.append(finding("invalid_task", "there is no task", line, "write ### Task 1.1: title"))
    tasks: list[Task] = []
    depends: dict[str, tuple[str, ...]] = {}
    lines: dict[str, tuple[int, int]] = {}
    for item in page.items.found:
        found = fields(page.plan, item)
        task, name, problems = task_of(item, found, page.items)
        findings += problems
        if name and name in lines:
            what = f"the id {name} is taken by the task on line {lines[name][0]}"
            findings.append(finding("invalid_task", what, item.line))
            continue
        if name:
            lines[name] = item.line, found.lines.get("depends_on", item.line)
            depends[name] = task.depends if task else tuple(map(page.items.name, found.depends))
        if task:
            tasks.append(task)
    findings += _dependency_findings(depends, lines)
    document = Tasks(**_head(page.front.data), tasks=tuple(tasks))
    if not page.front.findings:
        findings += _head_findings(text, page, document)
    findings += _level_findings(page)
    return document, tuple(_judged(findings, rules))


def parse(text: str, source: str) -> Tasks:
    """The tasks; Corrupt if there is a High finding. Front matter may be missing."""
    document, findings = read(text)
    for found in findings:
        if found.severity == "High" and found.rule != "missing_frontmatter":
            raise Corrupt(f"{source}:{found.line}: {found.message}.", found.fix)
    return document


def take_apart(text: str) -> Page:
    front = frontmatter.read(text)
    plan = outline(front.lines, front.first)
    return Page(front, plan, items(plan))


def corrected(data: Mapping[str, Any], document: Tasks) -> dict[str, Any]:
    """The corrected values of those counts in the front matter that are wrong."""
    changed: dict[str, Any] = {}
    right = counts(document.tasks)
    summary, layers = data.get("summary"), data.get("layers")
    if isinstance(summary, dict):
        numbers = {key: right["summary"].get(key, value) for key, value in summary.items()}
        if numbers != summary:
            changed["summary"] = numbers
    if isinstance(layers, dict):
        fresh = {
            layer: {**entry, "task_count": right["layers"].get(layer, {}).get("task_count", 0)}
            if isinstance(entry, dict) and "task_count" in entry
            else entry
            for layer, entry in layers.items()
        }
        if fresh != layers:
            changed["layers"] = fresh
    return changed


def _dependency_findings(
    depends: Mapping[str, tuple[str, ...]], lines: Mapping[str, tuple[int, int]]
) -> Iterator[Finding]:
    seen: set[str] = set()
    backwards = False
    for name, others in depends.items():
        seen.add(name)
        for other in others:
            if other not in depends:
                what = f"task {name} depends on {other}, which does not exist"
                yield finding("unknown_task", what, lines[name][1], f"name one of {', '.join(list(depends)[:20])}")
            backwards = backwards or other not in seen or other == name
    for cycle in cycles(depends) if backwards else ():
        first = cycle.removeprefix("Circular dependency detected: ").split(" ")[0]
        yield finding("circular_dependency", cycle, lines[first][1], "take one of them out of depends_on")


def _judged(findings: list[Finding], rules: Rules) -> Iterator[Finding]:
    for found in sorted(findings, key=lambda finding: finding.line):
        fix = found.fix or f"edit line {found.line} of tasks.md"
        yield Finding(found.rule, found.message, found.line, rules.severity(found.rule), fix, "tasks.md")


def _head(data: Mapping[str, Any]) -> dict[str, Any]:
    names = {"created_at": "", "updated_at": "", "version": "1.0", "proposal_ref": "proposal.md"}
    texts = {name: str(data.get(name, usual) or usual) for name, usual in names.items()}
    return {"change_id": str(data.get("change_id") or data.get("id") or ""), **texts}


def _head_findings(text: str, page: Page, document: Tasks) -> Iterator[Finding]:
    data = page.front.data
    if data.get("type", "tasks") != "tasks":
        line = frontmatter.key_line(text, "type")
        yield finding("invalid_frontmatter", f"the type is '{data['type']}'", line, "write type: tasks")
    if not _CHANGE_ID.fullmatch(document.change_id):
        what = f"'{document.change_id}' is no id of a change" if document.change_id else "the change_id is missing"
        line = frontmatter.key_line(text, "change_id")
        yield finding("invalid_frontmatter", what, line, "write change_id: and the name of the change")
    if len(document.tasks) == len(page.items.found) and corrected(data, document):
        what = "the counts in the front matter are not those of the tasks"
        yield finding("untidy", what, frontmatter.key_line(text, "summary"), "agentd validate --fix")


def _level_findings(page: Page) -> Iterator[Finding]:
    for heading, level in page.items.headings:
        if heading.level != level:
            what = f"the heading '{heading.title}' has level {heading.level}, not {level}"
            yield finding("untidy", what, heading.line, "agentd validate --fix")


def listed(text: str) -> tuple[Task, ...]:
    """The tasks of a text, as far as they can be understood."""
    return read(text)[0].tasks if text else ()
