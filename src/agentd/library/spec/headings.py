"""The parts of a spec by its headings: sections, requirements and scenarios. Their content is not parsed here."""

import re
from collections.abc import Collection
from typing import Literal, NamedTuple

from agentd.library.spec import scenario_steps
from agentd.model.rules import Rules
from agentd.patterns import regex
from agentd.text import frontmatter
from agentd.text.outline import Outline, outline
from agentd.text.spacing import split_ends
from agentd.values import dataclass

Kind = Literal["text", "title", "section", "requirement", "scenario", "group", "stray"]

_Item = tuple[Kind, str, str, str]  # kind, key, title, of
_Begun = tuple[int, int, Kind, str, str, str, bool]  # a part without its end

SECTIONS = ("overview", "requirements", "acceptance criteria", "flow diagram", "data model")
REQUIREMENT = regex(r"(?:Requirement[ \t]+)?[*_`\[]*(R[0-9]+)[*_`\]]*(?:[ \t]*[-–—:：][ \t]*|\.?[ \t]+|$)(.*)")
SCENARIO = regex(r"scenario(?:[ \t]*(\d[\w.]*))?[ \t]*(?:[:：]|[-–—](?=[ \t]|$)|$)[ \t]*(.*)", re.IGNORECASE)
_BEFORE_NAME = regex(r"(?:[*_`]|[0-9]+(?:\.[0-9]+)*[.)]?[ \t]+)*")
_COMMENTS = regex(r"(?:[ \t]*<!--(?:(?!-->).)*-->)+$")
TAG = regex(r" {0,3}</?spec\b[^>]*>[ \t]*", re.IGNORECASE)


class Part(NamedTuple):
    """A heading and its lines up to the next part. `key` is the name of a section or scenario, or a requirement's id.

    `of` is the requirement above a scenario; `level` is 0 for a part without a heading. A `stray` is a heading in the place
    of a requirement, without an id.
    """

    line: int
    level: int
    kind: Kind
    key: str
    title: str
    of: str
    misplaced: bool
    end: int


@dataclass(frozen=True)
class Span:
    """A piece of a file: what it is, the lines it takes up, and these lines byte for byte."""

    kind: Kind
    key: str
    of: str
    start: int
    end: int
    text: str


@dataclass
class _Place:
    """The section, requirement and scenario that the next heading is below."""

    section: str = ""
    requirement: str = ""
    requirement_level: int = 0
    scenario_level: int = 0


def split_requirements(text: str) -> tuple[Span, ...]:
    """The file cut before each of its parts; joined in order, the texts are the file."""
    front = frontmatter.read(text)
    found = parts(outline(front.lines, front.first), str(front.data.get("title") or ""))
    lines = split_ends(text)
    last = len(lines)
    head = Part(1, 0, "text", "", "", "", False, found[0].line - 1 if found else last)
    return tuple(
        Span(part.kind, part.key, part.of, part.line, min(part.end, last), "".join(lines[part.line - 1 : part.end]))
        for part in (head, *found)
        if part.line <= min(part.end, last)
    )


def parts(sheet: Outline, title: str, rules: Rules = scenario_steps.USUAL) -> list[Part]:
    """Every part in order; a known part whose heading is one level off is marked as misplaced."""
    known = {*SECTIONS, *map(str.casefold, rules.required_headings)}
    names = [_name(section.title, known) for section in sheet.sections]
    placed = {name for name, section in zip(names, sheet.sections, strict=True) if section.level == 2}
    known -= placed
    title = title.casefold()
    place = _Place()
    found: list[_Begun] = []
    titled = False
    for name, (level, text, line, _) in zip(names, sheet.sections, strict=True):
        off = level in (1, 3) and name in known and not (level == 1 and title in (name, text.casefold()))
        item = None if off or level == 1 else _item(place, level, text)
        if item:
            found.append((line, level, *item, level == 2))
        elif level == 1 and not off and not titled:
            titled = True
            place = _Place()
            found.append((line, level, "title", "", text, "", False))
        elif off or level < 3:
            place = _Place(name)
            found.append((line, level, "section", name, text, "", off))
    return _ended(sheet, found, rules)


def _name(title: str, known: Collection[str]) -> str:
    """The name of a section in lower case; a known name may have a number, emphasis or a comment around it."""
    name = title.rstrip(":： ").casefold()
    if name in known:
        return name
    bare = _COMMENTS.sub("", name) if name.endswith("-->") else name
    begins = _BEFORE_NAME.match(bare)
    bare = bare[begins.end() if begins else 0 :].rstrip("*_`:： ")
    return bare if bare in known else name


def _item(place: _Place, level: int, text: str) -> _Item | None:
    """The part that a heading inside a section begins; None if it is plain text, or begins a section."""
    off = level == 2
    listed = place.section == "requirements"
    if off and not (listed or place.section == "acceptance criteria"):
        return None
    scenario = SCENARIO.match(text) if text[:1] in ("S", "s") else None
    if scenario:
        place.scenario_level = level
        return "scenario", scenario[2] or scenario[1] or "", text, place.requirement
    requirement = REQUIREMENT.match(text[2:-2] if text[:2] == text[-2:] == "**" else text)
    if requirement and listed:
        place.requirement, place.requirement_level, place.scenario_level = requirement[1], level, 0
        return "requirement", requirement[1], requirement[2], ""
    if off or level > place.scenario_level > 0:
        return None
    if listed:
        return _inside_requirements(place, level, text)
    if place.section == "acceptance criteria":
        place.scenario_level = 0
        if requirement or level <= place.requirement_level:
            place.requirement, place.requirement_level = (requirement[1], level) if requirement else ("", 0)
        return "group", place.requirement, text, ""
    if place.scenario_level:
        place.scenario_level = 0
        return "text", "", text, ""
    return None


def _inside_requirements(place: _Place, level: int, text: str) -> _Item | None:
    if level > place.requirement_level > 0:
        if not place.scenario_level:
            return None
        place.scenario_level = 0
        return "text", "", text, place.requirement
    place.requirement, place.requirement_level, place.scenario_level = "", 0, 0
    return "stray", "", text, ""


def _ended(sheet: Outline, found: list[_Begun], rules: Rules) -> list[Part]:
    """The parts with their last lines; the tags around a spec are parts of their own."""
    for number, line in enumerate(sheet.lines, sheet.first):
        if "<" in line and number not in sheet.fenced and TAG.fullmatch(line):
            found.append((number, 0, "text", "", "", "", False))
    found.sort()
    ends = [begun[0] - 1 for begun in found[1:]]
    ended = [Part(*begun, end) for begun, end in zip(found, [*ends, sheet.first + len(sheet.lines) - 1], strict=False)]
    for index, part in enumerate(ended):
        if part.kind in ("stray", "group"):
            ended[index] = _settled(sheet, part, ended[index + 1] if index + 1 < len(ended) else part, rules)
    return ended


def _settled(sheet: Outline, part: Part, after: Part, rules: Rules) -> Part:
    """A stray or group, with its kind corrected by what is below its heading."""
    if part.kind == "stray" and after.kind in ("requirement", "stray") and after.level > part.level:
        return part._replace(kind="group")
    if part.kind == "group":
        step = scenario_steps.read(sheet, part.line + 1, part.end, rules)
        if step.when and step.then:
            return part._replace(kind="scenario", key=part.title, of=part.key)
    return part
