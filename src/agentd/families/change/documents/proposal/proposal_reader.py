"""A proposal read into a value, with a finding for every problem. Never raises."""

from dataclasses import replace

from agentd.families.change.documents.proposal import impact, review_blocks
from agentd.families.change.documents.proposal.approved_text import approved_text
from agentd.families.change.documents.proposal.impact import OWN, Read, Report
from agentd.families.change.documents.proposal.name_lists import ID
from agentd.families.change.documents.proposal.page import SECTIONS, Page, take_apart
from agentd.families.change.documents.proposal.plain_proposal import plain
from agentd.model.change import Proposal, ReviewStatus
from agentd.model.finding import Finding
from agentd.model.rules import Rules
from agentd.review.verdict_words import stated
from agentd.text import bullets, frontmatter
from agentd.values import dataclass

STATUSES = ("proposed", "challenged", "approved", "rejected")
RULES = Rules()


@dataclass(frozen=True)
class Reading:
    """The parts of a proposal, its impact, the findings so far, and the function that adds one."""

    page: Page
    impact: Read
    findings: list[Finding]
    report: Report


def read(text: str, rules: Rules = RULES) -> tuple[Proposal | None, tuple[Finding, ...]]:
    """The proposal, None if not enough of it can be understood; and every finding."""
    known = plain(text, rules)
    return (known, ()) if known else with_care(text, rules)


def with_care(text: str, rules: Rules) -> tuple[Proposal | None, tuple[Finding, ...]]:
    """The same for a text of any form."""
    reading = look(text, rules)
    value = _value(reading)
    _check_sections(reading)
    said = reading.page.front.data.get("checksum")
    if said is not None and said != frontmatter.checksum(bound(reading)):
        what = "the body has changed since its checksum was taken"
        reading.report("stale_checksum", what, "checksum", "agentd validate --fix")
    reading.findings.extend(verdict_of(reading.page, rules)[1])
    return value, tuple(sorted(reading.findings, key=lambda finding: finding.line))


def look(text: str, rules: Rules = RULES) -> Reading:
    """Read the parts and the impact."""
    page = take_apart(text, rules)
    found = [replace(each, severity=rules.severity(each.rule)) for each in page.front.findings]
    found += page.blocks.findings

    def report(rule: str, message: str, where: int | str, fix: str) -> None:
        line = frontmatter.key_line(text, where) if isinstance(where, str) else where
        found.append(Finding(rule, message, max(1, min(line, page.last)), rules.severity(rule), fix))

    heading = page.headings.get("impact")
    start, end = (heading.line + 1, page.ends["impact"]) if heading else (page.front.first, page.closing - 1)
    seen = impact.read(impact.labelled(page.view, start, end), page.front.data, report)
    return Reading(page, seen, found, report)


def bound(reading: Reading) -> str:
    """The text that an approval is bound to: all but reviews, white space and keys that change along the way."""
    page, seen = reading.page, reading.impact
    lines, fenced = list(page.view.lines), page.view.fenced
    for name, heading in page.headings.items():
        lines[heading.line - page.view.first] = f"## {SECTIONS[name]}"
    lines = [line if number in fenced else line.rstrip(" \t") for number, line in enumerate(lines, page.view.first)]
    return approved_text(page.front.data, (seen.scope, seen.affected_files, seen.new_files), seen.specs, lines)


def verdict_of(page: Page, rules: Rules) -> tuple[ReviewStatus | None, tuple[Finding, ...]]:
    """The status of the latest review; None, with a finding, if its text contradicts it."""
    if page.blocks.findings or not page.blocks.found:
        return None, ()
    latest = page.blocks.found[-1]
    first = page.front.first
    said = stated(
        page.front.lines[latest.line - first + 1 : latest.end - first], review_blocks.VERDICTS, latest.line + 1
    )
    against = review_blocks.contradiction(latest.review, said)
    if against is None:
        return latest.review.status, ()
    what = f"the block's status is '{latest.review.status}', its text says '{against.said}'"
    fix = "Make the status of the block and its text agree."
    return None, (Finding("invalid_review", what, against.line, rules.severity("invalid_review"), fix),)


def _value(reading: Reading) -> Proposal | None:
    page, data, report = reading.page, reading.page.front.data, reading.report
    name = _identity(page, report)
    status, iteration = data.get("status", "proposed"), data.get("iteration", 1)
    if status not in STATUSES:
        what = f"the status '{status}' is not one of {', '.join(STATUSES)}"
        report("invalid_frontmatter", what, "status", "Write `status: proposed`.")
    if type(iteration) is not int or iteration < 1:
        what = f"the iteration '{iteration}' is not a number from 1"
        report("invalid_frontmatter", what, "iteration", "Write `iteration: 1`.")
        iteration = 1
    value = reading.impact.value
    if not name or value is None:
        return None
    return Proposal(
        name,
        page.text("summary"),
        page.text("why"),
        _changes(page),
        value,
        created_at=_words(data.get("created_at")),
        updated_at=_words(data.get("updated_at")),
        author=_words(data.get("author")),
        status=str(status),
        version=_words(data.get("version", "1.0")),
        iteration=iteration,
        reviews=page.blocks.reviews,
    )


def _words(value: object) -> str:
    return "" if value is None else str(value)


def _changes(page: Page) -> tuple[str, ...]:
    heading = page.headings.get("what changes")
    if heading is None:
        return ()
    below = {part.line for part in page.view.sections}
    items = bullets.items(page.view, heading.line + 1, page.ends["what changes"])
    return tuple(bullets.read(item, OWN) for item in items if item.line not in below)


def _identity(page: Page, report: Report) -> str:
    data = page.front.data
    if data.get("type", "proposal") != "proposal":
        report("invalid_frontmatter", f"the type is '{data['type']}'", "type", "Write `type: proposal`.")
    name = data.get("id")
    if name is None:
        titles = [part.title for part in page.view.sections if part.level == 1]
        name = next((title[7:].strip() for title in titles if title[:7].casefold() == "change:"), None)
        if data:
            report("invalid_frontmatter", "the front matter has no id", 1, "Write `id: name-of-the-change`.")
    if isinstance(name, str) and ID.fullmatch(name):
        return name
    if name is not None:
        what = f"the id '{name}' is not made of lower-case letters, digits and hyphens"
        report("invalid_frontmatter", what, "id", "Write the name of the change's folder.")
    return ""


def _check_sections(reading: Reading) -> None:
    page, report = reading.page, reading.report
    for name, title in SECTIONS.items():
        heading = page.headings.get(name)
        if heading is None:
            line = page.view.unclosed or page.closing - 1
            report("missing_heading", f"the section '{title}' is missing", line, f"Add `## {title}`.")
            continue
        if heading.level != 2:
            what = f"the heading '{title}' is at level {heading.level}, not 2"
            report("untidy", what, heading.line, "agentd validate --fix")
        if not any(page.lines(name)):
            report("invalid_value", f"the section '{title}' is empty", heading.line, f"Write below `## {title}`.")
    for part in page.doubled:
        what = f"the section '{part.title}' stands twice; the first one is read"
        report("duplicate_heading", what, part.line, "Make one section of the two.")
    if page.view.unclosed:
        report("untidy", "the code fence or comment that begins here is never closed", page.view.unclosed, "Close it.")
