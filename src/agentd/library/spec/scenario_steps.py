"""The steps of a scenario: GIVEN, WHEN and THEN, in any of the ways people write them.

A step begins with the first line that has its label; AND, BUT and a repeated label belong to the step before them.
"""

import re
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import NamedTuple

from agentd.model.change import Scenario
from agentd.model.rules import Rules
from agentd.patterns import regex
from agentd.text import quoting
from agentd.text.outline import Outline, opens, outline

Label = Callable[[str], tuple[str, str] | None]

STEPS = ("given", "when", "then")
USUAL = Rules()
_PAD = "  "
_BULLET = r"(?:[-*+]|\d{1,3}[.)])[ \t]+"
_END = r"(?![A-Za-z0-9_])"
_ANY = "given|when|then|and|but"
_WAYS = (
    rf"(?:{_BULLET})?\*\*(?i:({_ANY}))[:：]?\*\*[:：]?",
    rf"{_BULLET}(?i:({_ANY})){_END}[:：]?",
    rf"(GIVEN|Given|WHEN|When|THEN|Then){_END}[:：]?",
    r"(?i:(given|when|then))[:：]",
)
_LABEL = regex(rf" {{0,3}}(?:{'|'.join(_WAYS)})[ \t]*")
_BEFORE_LABEL = regex(rf" {{0,3}}(?:{_BULLET})?(?:\*\*(?=\w))?")
_AFTER_LABEL = regex(r"[:：]?(?:\*\*)?[:：]?[ \t]*")
_JOINED = r"(?<![A-Za-z0-9_])(?:\*\*(?i:{0})[:：]?\*\*|{1}(?![A-Za-z0-9_]))[:：]?[ \t]*"
_MORE = regex(r" +\\?(AND|BUT|GIVEN|WHEN|THEN) (\S.*)")
_OWN = quoting.structure("|".join((r"#{1,6}(?:[ \t]|$)", r"</?(?i:spec)\b", *_WAYS)))


class Steps(NamedTuple):
    """The texts of the steps, and the line on which each begins."""

    lines: Mapping[str, int]
    given: str = ""
    when: str = ""
    then: str = ""


def read(sheet: Outline, start: int, end: int, rules: Rules = USUAL) -> Steps:
    """The steps between two lines; text before the first step is ignored."""
    label = labels(rules.when_pattern, rules.then_pattern)
    fenced = sheet.fenced
    found: dict[str, list[str]] = {}
    lines: dict[str, int] = {}
    current: list[str] = []
    for number, line in enumerate(sheet.lines[start - sheet.first : end - sheet.first + 1], start):
        begins = label(line) if line and number not in fenced else None
        if begins is None:
            current.append(line)
            continue
        word, rest = begins
        step = word.lower()
        if step in STEPS and step not in found:
            current = found[step] = [rest]
            lines[step] = number
            continue
        while current and not current[-1].strip():
            current.pop()
        current.append(f"{word} {rest}".rstrip())
    if len(found) < len(STEPS):
        for earlier, later in (("given", "when"), ("when", "then")):
            if later not in found and earlier in found and _split(found, earlier, later, rules):
                lines[later] = lines[earlier]
    return Steps(lines, *[_text(found[step]) if step in found else "" for step in STEPS])


def _text(lines: list[str]) -> str:
    while lines and not lines[-1].strip():
        lines.pop()
    if len(lines) == 1 and "\\" not in lines[0] and "&" not in lines[0]:
        return lines[0].strip(" \t")
    return quoting.unescape(lines, _OWN, _PAD)


@lru_cache(maxsize=64)
def labels(when_pattern: str, then_pattern: str) -> Label:
    """The function that recognises the beginning of a step, with configured patterns for WHEN and THEN."""
    own = {"when": when_pattern, "then": then_pattern}
    changed = {step: pattern for step, pattern in own.items() if pattern != getattr(USUAL, f"{step}_pattern")}
    if not changed:
        return _usual_label
    compiled = {step: _compiled(pattern) for step, pattern in changed.items()}

    def label(line: str) -> tuple[str, str] | None:
        usual = _usual_label(line)
        if usual and usual[0].lower() not in compiled:
            return usual
        for step, pattern in compiled.items():
            before = _BEFORE_LABEL.match(line)
            for at in {before.end(), before.end() - 2, 0} if before else {0}:
                there = pattern.match(line, max(at, 0))
                if there and there[0]:
                    after = _AFTER_LABEL.match(line, there.end())
                    return step.upper(), line[after.end() if after else there.end() :]
        return None

    return label


def _usual_label(line: str) -> tuple[str, str] | None:
    found = _LABEL.match(line)
    return (found[found.lastindex or 0], line[found.end() :]) if found else None


def _compiled(pattern: str) -> re.Pattern[str]:
    """A configured pattern; one that is not a regular expression matches nothing and is reported by `rule_checks`."""
    try:
        return re.compile(pattern)
    except re.error:
        return re.compile(r"(?!)")


def _split(found: dict[str, list[str]], earlier: str, later: str, rules: Rules) -> bool:
    """Split a step off the one before it, as in `WHEN x THEN y`; whether there was one."""
    own = getattr(rules, f"{later}_pattern")
    usual = own == getattr(USUAL, f"{later}_pattern")
    pattern = _compiled(_JOINED.format(later, later.upper()) if usual else rf"(?:{own})[:：]?[ \t]*")
    lines = found[earlier]
    places = [(index, there) for index, line in enumerate(lines) if (there := pattern.search(line))]
    if not places and usual:
        loose = re.compile(_JOINED.format(later, f"(?i:{later})"))
        places = [(index, there) for index, line in enumerate(lines) for there in loose.finditer(line)]
        places = places if len(places) == 1 else []
    if not places:
        return False
    index, there = places[0]
    found[later] = [lines[index][there.end() :], *lines[index + 1 :]]
    found[earlier] = [*lines[:index], lines[index][: there.start()].rstrip(" \t,，、;；")]
    return True


def write(scenario: Scenario) -> list[str]:
    """The lines of a scenario below its heading."""
    steps = {"given": scenario.given, "when": scenario.when, "then": scenario.then}
    written: list[str] = []
    begun = {"AND", "BUT"}
    for step, text in steps.items():
        if text:
            begun.add(step.upper())
            written += _write(step.upper(), text, begun)
        elif step != "given":
            raise ValueError(f"scenario {scenario.name!r} needs a text for {step.upper()}")
    return written


def _write(word: str, text: str, begun: set[str]) -> list[str]:
    block = quoting.escape(text, _OWN, _PAD).split("\n")
    fenced = outline(block, 0).fenced
    for index, line in enumerate(block):
        more = _MORE.fullmatch(line) if index and index not in fenced and block[index - 1].strip() else None
        if more and more[1] in begun:
            block[index] = f"- **{more[1]}** {more[2]}"
    if text[0].isspace() or opens(block[0]):
        return [f"- **{word}**", *block]
    return [f"- **{word}** {block[0].removeprefix(_PAD)}", *block[1:]]
