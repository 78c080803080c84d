"""Edits of a tasks.md that leave the rest of its text as it is, byte for byte."""

import re

from agentd.errors import Corrupt, NotFound
from agentd.families.change.documents.tasks.fields import LABEL, Fields, fields
from agentd.families.change.documents.tasks.items import BOX, Item, normal_id
from agentd.families.change.documents.tasks.task import BOXES, place_of
from agentd.families.change.documents.tasks.tasks_reader import Page, corrected, read, take_apart
from agentd.model.change import TaskStatus
from agentd.patterns import regex
from agentd.text import frontmatter, lossless_yaml
from agentd.text.spacing import line_end, spaced, split_ends

_ONE_LINE = regex(r"[ \t]*[\"']?status[\"']?[ \t]*:[ \t]+[\w\"'][^{\[]*$")


def tidy(text: str) -> str:
    """The text with white space, levels of headings and counts corrected; its content stays as it is."""
    page = take_apart(text)
    lines = split_ends(text)
    for heading, level in page.items.headings:
        if abs(heading.level - level) == 1:
            lines[heading.line - 1] = re.sub("#+", "#" * level, lines[heading.line - 1], count=1)
    headings = [heading.line for heading, _ in page.items.headings]
    return _recounted(spaced("".join(lines), page.plan.first, page.plan.fenced, headings, ()))


def set_status(text: str, task_id: str, status: TaskStatus) -> str:
    """The text with one task's status changed, and the counts; everything else stays byte for byte."""
    page = take_apart(text)
    item = _the_item(page, task_id)
    found = fields(page.plan, item)
    if found.problem:
        raise Corrupt(f"tasks.md:{found.problem[0]}: {found.problem[1]}.", f"edit line {found.problem[0]} of tasks.md")
    lines = split_ends(text)
    if found.block:
        start, end = found.block
        block = lossless_yaml.parse("".join(lines[start - 1 : end]), "tasks.md")
        lines[start - 1 : end] = [block.updated({**block.data, "status": status}).text]
    else:
        _set_label(lines, item, found, status)
    return _recounted("".join(lines))


def without_status(text: str) -> str:
    """The text without statuses and extra white space: equal for texts that differ only in these."""
    page = take_apart(text)
    first = page.plan.first
    lines = list(page.plan.lines)
    for item in page.items.found:
        found = fields(page.plan, item)
        if item.box:
            lines[item.line - first] = _ticked(lines[item.line - first], " ")
        if "status" not in found.lines:
            continue
        at = found.lines["status"] - first
        if not found.block or _ONE_LINE.match(lines[at]):
            lines[at] = ""
        else:
            _without_key(lines, found.block[0] - first, found.block[1] - first)
    return "\n".join(line.rstrip() for line in lines if line.strip()) + "\n"


def _the_item(page: Page, task_id: str) -> Item:
    wanted = normal_id(task_id)
    found = [item for item in page.items.found if place_of(item, fields(page.plan, item), page.items) == wanted]
    if len(found) == 1:
        return found[0]
    if found:
        raise Corrupt(
            f"tasks.md:{found[1].line}: the id {wanted} stands twice.", f"edit line {found[1].line} of tasks.md"
        )
    raise NotFound(f"There is no task {wanted} in tasks.md.", "${EDITOR:-vi} tasks.md")


def _set_label(lines: list[str], item: Item, found: Fields, status: TaskStatus) -> None:
    """Change the checkbox and the line `Status:`; a task with neither gets that line."""
    if item.box:
        lines[item.line - 1] = _ticked(lines[item.line - 1], BOXES[status])
    if "status" in found.lines:
        at = found.lines["status"] - 1
        label = LABEL.match(lines[at])
        if label:
            lines[at] = lines[at][: label.start(2)] + status + lines[at][len(lines[at].rstrip()) :]
    elif not item.box:
        after = max(found.lines.values(), default=item.line)
        line = lines[after - 1]
        newline = line_end("".join(lines))
        lines[after - 1] = line.rstrip("\r\n") + newline
        lines.insert(after, f"- Status: {status}{newline}")


def _ticked(line: str, mark: str) -> str:
    box = BOX.match(line)
    return line[: box.start(2)] + mark + line[box.end(2) :] if box else line


def _without_key(lines: list[str], start: int, end: int) -> None:
    """Write a block again without its status; a block that cannot be read stays."""
    try:
        data = lossless_yaml.load("\n".join(lines[start : end + 1]))
    except Corrupt:
        return
    data.pop("status", None)
    lines[start : end + 1] = [lossless_yaml.dump(data), *[""] * (end - start)]


def _recounted(text: str) -> str:
    document, _ = read(text)
    page = take_apart(text)
    changed = corrected(page.front.data, document) if len(document.tasks) == len(page.items.found) else {}
    return frontmatter.update(text, changed) if changed else text
