"""The tasks of a tasks.md by their headings or checkboxes, and the layers that numbers stand for."""

import re
from collections.abc import Sequence

from agentd.model.change import LAYERS, Layer
from agentd.patterns import regex
from agentd.text.outline import Outline, Section
from agentd.values import dataclass

_LAYER = "data|logic|integration|testing"
_TASK = regex(rf"(task[ \t]+)?((?:{_LAYER}|\d+)\.\d+)(?:[ \t]*[:：.)–—-]|(?=[ \t])|$)[ \t]*(.*)", re.IGNORECASE)
_ODD_TASK = regex(r"task(?:[ \t]+([^\s:：]+))?[ \t]*[:：][ \t]*(.*)", re.IGNORECASE)
_LAYER_HEADING = regex(r"(?:(\d{1,9})[.)]?[ \t]+)?(\w+)(?:[ \t]+(layer))?[ \t]*$", re.IGNORECASE)
BOX = regex(
    r"([ \t]*[-*+][ \t]+\[)(.)(\][ \t]+)(?:(\d+\.\d+|(?:data|logic|integration|testing)\.\d+)(?=[\s:：]|$)[:：]?)?(.*)"
)
_ID = regex(rf"(?:({_LAYER})|(\d{{1,9}}))\.([1-9]\d{{0,8}})", re.IGNORECASE)
_WORDS: dict[str, Layer] = {layer: layer for layer in LAYERS} | {"test": "testing", "tests": "testing"}
_NUMBERS: dict[int, Layer] = dict(enumerate(LAYERS, 1))
TAGS = ("<tasks>", "</tasks>")


@dataclass(frozen=True)
class Item:
    """A task in the text: its heading or checkbox on `line`, its content up to line `end`.

    word    its id as written, if it has one
    section the layer whose section it is in
    level   of its heading; 0 for a checkbox
    box     what is in the checkbox
    """

    line: int
    end: int
    word: str
    title: str
    section: Layer | None
    level: int
    box: str = ""


@dataclass(frozen=True)
class Items:
    """All tasks of a file. `layers` maps the number before the dot to a layer; `odd` has lines that are not understood."""

    found: tuple[Item, ...]
    layers: dict[int, Layer]
    headings: tuple[tuple[Section, int], ...]
    odd: tuple[tuple[int, str], ...]

    def id(self, word: str) -> tuple[Layer, int] | None:
        """The layer and the number of an id such as `data.1` or `1.1`."""
        found = _ID.fullmatch(word)
        if found is None:
            return None
        layer = _WORDS[found[1].lower()] if found[1] else self.layers.get(int(found[2]))
        return (layer, int(found[3])) if layer else None

    def name(self, word: str) -> str:
        """An id in the form `data.1`; any other text as it is."""
        known = self.id(word)
        return f"{known[0]}.{known[1]}" if known else word


def normal_id(word: str) -> str:
    """`data.1` for `1.1`; any other text as it is."""
    return Items((), _NUMBERS, (), ()).name(word)


def items(plan: Outline) -> Items:
    """Every task, in the order of the file."""
    layers: dict[int, Layer] = dict(_NUMBERS)
    odd: list[tuple[int, str]] = []
    starts: list[tuple[int, Section | None, re.Match[str] | None, Layer | None]] = [(plan.first - 1, None, None, None)]
    headings: list[tuple[Section, int]] = []
    section: Layer | None = None
    for heading in plan.sections:
        task = _task(heading)
        layer = None if task or heading.level > 3 else _LAYER_HEADING.match(heading.title)
        known = _WORDS.get(layer[2].lower()) if layer and (layer[1] or layer[3]) else None
        if layer and known:
            section = known
            if layer[1]:
                layers[int(layer[1])] = known
            headings.append((heading, 2))
        elif task:
            headings.append((heading, 3))
        elif heading.level > 3:
            continue
        else:
            section = None if heading.level < 3 else section
            headings.append((heading, heading.level))
            if layer and layer[3]:
                odd.append((heading.line, f"'{heading.title}' is not one of the layers {', '.join(LAYERS)}"))
        starts.append((heading.line, heading, task, section))
    return Items(tuple(_cut(plan, starts, odd)), layers, tuple(headings), tuple(odd))


def _task(heading: Section) -> re.Match[str] | None:
    if heading.title[:4].lower() == "task":
        return _TASK.match(heading.title) or _ODD_TASK.match(heading.title)
    return _TASK.match(heading.title) if heading.level == 3 and "." in heading.title else None


def _cut(
    plan: Outline,
    starts: Sequence[tuple[int, Section | None, re.Match[str] | None, Layer | None]],
    odd: list[tuple[int, str]],
) -> list[Item]:
    first = plan.first
    tags = [n for n, line in enumerate(plan.lines, first) if "tasks>" in line and line.strip() in TAGS]
    tags = [number for number in tags if number not in plan.fenced]
    boxes = any("[" in line for line in plan.lines)
    found: list[Item] = []
    ends = [start[0] - 1 for start in starts[1:]] + [first + len(plan.lines) - 1]
    for (line, heading, task, section), end in zip(starts, ends, strict=True):
        if task and heading:
            end = next((tag - 1 for tag in tags if line < tag <= end), end)
            word, title = (task[2], task[3]) if task.re.pattern == _TASK.pattern else (task[1] or "", task[2])
            found.append(Item(line, end, word, title, section, heading.level))
        elif boxes:
            found += _checkboxes(plan, line + 1, end, section, odd)
    return found


def _checkboxes(plan: Outline, start: int, end: int, section: Layer | None, odd: list[tuple[int, str]]) -> list[Item]:
    """The tasks that are list items; each ends before the next line that is not indented deeper."""
    found: list[Item] = []
    number = start
    for line, text in plan.plain_lines(start, end):
        if line < number:
            continue
        box = BOX.match(text) if "[" in text else None
        if box is None:
            continue
        number = line + 1
        while number <= end and _belongs(plan, number, len(text) - len(text.lstrip())):
            number += 1
        if box[4]:
            found.append(Item(line, number - 1, box[4], box[5].strip(), section, 0, box[2]))
        elif section:
            odd.append((line, f"the task '{box[5].strip()}' has no id"))
    return found


def _belongs(plan: Outline, number: int, indent: int) -> bool:
    line = plan.lines[number - plan.first]
    return number in plan.fenced or not line.strip() or len(line) - len(line.lstrip()) > indent
