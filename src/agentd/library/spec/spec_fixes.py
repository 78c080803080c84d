"""Fixes of a spec: `tidy` changes no content, `fill` adds placeholders for a person. All other bytes stay."""

import re
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from agentd.errors import Corrupt
from agentd.library.spec import scenario_steps
from agentd.library.spec.headings import Part, parts
from agentd.library.spec.placeholders import EMPTY_SCENARIO, EMPTY_SECTION, EMPTY_STEP
from agentd.library.spec.rule_checks import counted, missing_headings, missing_scenarios
from agentd.library.spec.spec_reader import read
from agentd.model.rules import Rules
from agentd.text import frontmatter
from agentd.text.outline import Outline, outline
from agentd.text.spacing import line_end, spaced, split_ends


def tidy(text: str) -> str:
    """The text with white space, levels of headings and counts in the front matter corrected."""
    _, sheet, found = _take_apart(text, scenario_steps.USUAL)
    headings = {part.line for part in found if part.level}
    off = {part.line for part in found if part.misplaced and part.kind == "section"}
    deeper = {part.line for part in found if part.misplaced} - off
    for levels in (True, False):
        new = _deepened(text, deeper) if levels else text
        new = _with_counts(spaced(new, sheet.first, sheet.fenced, headings, off if levels else ()))
        if _says_the_same(text, new):
            return new
    return text


def fill(text: str, rules: Rules = scenario_steps.USUAL) -> str:
    """The text with placeholders for missing sections, steps and scenarios."""
    if outline(frontmatter.read(text).lines).unclosed:
        return text  # an unclosed fence or comment would hide what is added
    for title in missing_headings(_take_apart(text, rules)[2], rules):
        text = _unless_in_vain(text, _with_section(text, title, rules), rules)
    if rules.require_when_then:
        text = _with_steps(text, rules)
    _, sheet, found = _take_apart(text, rules)
    new = text
    for _ in range(missing_scenarios(sheet, found, rules)):
        new = _with_scenario(new, rules)
    return _unless_in_vain(text, new, rules)


def _take_apart(text: str, rules: Rules) -> tuple[frontmatter.Front, Outline, list[Part]]:
    front = frontmatter.read(text)
    sheet = outline(front.lines, front.first)
    return front, sheet, parts(sheet, str(front.data.get("title") or ""), rules)


def _says_the_same(old: str, new: str) -> bool:
    (before, faults), (after, fewer) = read(old), read(new)
    return before == after and Counter(each.rule for each in fewer) <= Counter(each.rule for each in faults)


def _deepened(text: str, headings: Collection[int]) -> str:
    lines = split_ends(text)
    for number in headings:
        lines[number - 1] = lines[number - 1].replace("#", "##", 1)
    return "".join(lines)


def _with_counts(text: str) -> str:
    spec, _ = read(text)
    front = frontmatter.read(text)
    said = front.data.get("requirements")
    if spec is None or not isinstance(said, dict) or counted(said, spec) == said:
        return text
    try:
        updated = frontmatter.update(text, {"requirements": counted(said, spec)})
    except Corrupt:
        return text  # it cannot be edited in place
    return updated if frontmatter.read(updated).lines == front.lines else text


def _unless_in_vain(old: str, new: str, rules: Rules) -> str:
    """The new text, if it has fewer findings apart from placeholders; else the old one."""
    before, after = (sum(each.rule != "placeholder" for each in read(text, rules)[1]) for text in (old, new))
    return new if after < before else old


def _with_section(text: str, title: str, rules: Rules) -> str:
    _, _, found = _take_apart(text, rules)
    before = next((part.line for part in found if part.kind not in ("text", "title")), 0)
    if title.casefold() == "requirements":
        before = next((part.line for part in found if part.key == "acceptance criteria"), 0)
    elif title.casefold() != "overview":
        before = 0
    return _insert(text, before or _closing(text, found), [f"## {title}", "", EMPTY_SECTION])


def _closing(text: str, found: Sequence[Part]) -> int:
    """The line before which new parts are added at the end."""
    last = found[-1] if found else None
    return (
        last.line if last and last.kind == "text" and not last.level and len(found) > 1 else len(split_ends(text)) + 1
    )


def _with_scenario(text: str, rules: Rules) -> str:
    _, _, found = _take_apart(text, rules)
    names = {part.key for part in found if part.kind == "scenario"}
    number = next(n for n in range(1, len(names) + 2) if _numbered(n) not in names)
    lines = [f"### Scenario: {_numbered(number)}", "", _step("when", rules), _step("then", rules)]
    start = next((index for index, part in enumerate(found) if part.key == "acceptance criteria"), len(found))
    after = next((p.line for p in found[start + 1 :] if p.kind == "section" or not p.level), 0)
    return _insert(text, after or _closing(text, found), lines)


def _numbered(number: int) -> str:
    return EMPTY_SCENARIO if number == 1 else f"{EMPTY_SCENARIO} {number}"


def _with_steps(text: str, rules: Rules) -> str:
    """The text with WHEN and THEN in each scenario; from last to first, so that line numbers stay valid."""
    _, sheet, found = _take_apart(text, rules)
    lines = split_ends(text)
    for part in reversed([part for part in found if part.kind == "scenario"]):
        there = scenario_steps.read(sheet, part.line + 1, part.end, rules)
        last = part.end
        while not sheet.lines[last - sheet.first].strip():
            last -= 1
        for step, after in (("then", last), ("when", there.lines.get("then", last + 1) - 1)):
            if not getattr(there, step):
                _add_step(lines, step, there.lines, after, after == part.line, rules)
    return "".join(lines)


def _add_step(lines: list[str], step: str, there: Mapping[str, int], after: int, first: bool, rules: Rules) -> None:
    """A step at the end of its own line if that is there and empty, else on a line of its own."""
    at = there.get(step, 0)
    newline = line_end(lines[0])
    if at and list(there.values()).count(at) == 1:
        bare = lines[at - 1].rstrip("\r\n")
        lines[at - 1] = f"{bare.rstrip()} {EMPTY_STEP}{lines[at - 1][len(bare) :]}"
        return
    if not lines[after - 1].endswith(("\n", "\r")):
        lines[after - 1] += newline
    new = _step(step, rules) + newline
    lines.insert(after, newline + new if first else new)


def _step(step: str, rules: Rules) -> str:
    """An empty step in words that the rules take for one."""
    pattern = getattr(rules, f"{step}_pattern")
    words = [f"**{step.upper()}**", *(re.sub(r"\\(.)", r"\1", each) for each in pattern.split("|"))]
    label = scenario_steps.labels(rules.when_pattern, rules.then_pattern)
    lines = [f"- {word} {EMPTY_STEP}" for word in words]
    return next((line for line in lines if label(line) and label(line) == (step.upper(), EMPTY_STEP)), lines[0])


def _insert(text: str, before: int, new: Sequence[str]) -> str:
    """The text with lines before a line, and a free line around them."""
    newline = line_end(text)
    lines = split_ends(text)
    if before > 1 and lines and not lines[before - 2].endswith(("\n", "\r")):
        lines[before - 2] += newline
    block = [line + newline for line in new]
    if before > 1 and lines[before - 2].strip():
        block.insert(0, newline)
    if before <= len(lines):
        block.append(newline)
    return "".join([*lines[: before - 1], *block, *lines[before - 1 :]])
