"""CHALLENGE.md: a challenger's report on a plan. Its verdict is read from the structure, never from prose."""

import re

from agentd.model.change import Review
from agentd.model.finding import Finding
from agentd.model.rules import Rules
from agentd.model.verdict import PLAN_VERDICTS, PLAN_WORDS, Challenge, PlanVerdict, contradictions, verdict_of
from agentd.patterns import regex
from agentd.review import issue_list, page_reader
from agentd.review.page_reader import RULES, Form, Page
from agentd.review.page_reader import tidy as tidy
from agentd.text import frontmatter, quoting
from agentd.text.outline import outline, split_lines

LABELS = {
    "severity": "Severity",
    "description": "Description",
    "suggestion": "Suggestion",
    "spec_reference": "Spec Reference",
    "category": "Category",
    "location": "Location",
    "file_path": "File",
    "line_number": "Line",
    "ungrounded": "Ungrounded",
}
FORM: Form[PlanVerdict] = Form(
    "CHALLENGE.md",
    PLAN_WORDS,
    regex(r"challenge(?: report)?[ \t]*[:：][ \t]*(.*)", re.IGNORECASE),
    f"write **Verdict**: and one of {', '.join(PLAN_VERDICTS)} below the heading Verdict, and nothing more",
    "write NEEDS_REVISION or REJECTED, or give the issues the severity that they have",
)


def render(document: Challenge) -> str:
    """A whole CHALLENGE.md."""
    parts = [f"# Challenge Report: {quoting.escape_line(document.change_id)}\n"]
    parts.append(f"## Verdict\n\n**Verdict**: {document.verdict or 'PENDING'}\n")
    parts.append("## Issues\n")
    parts += [issue_list.write(issue, number, 3, LABELS) for number, issue in enumerate(document.issues, 1)]
    parts.append(page_reader.written("Summary", document.summary))
    if document.next_steps:
        parts.append(page_reader.written("Next Steps", document.next_steps))
    return "\n".join(parts)


def skeleton(change_id: str) -> str:
    """CHALLENGE.md before the challenger has written anything."""
    return render(Challenge(change_id, None))


def from_review(change_id: str, review: Review) -> Challenge:
    """The challenge that a review block of proposal.md makes; the status of the block is the verdict."""
    plan = outline(split_lines(review.content))
    found = issue_list.read(plan)
    summary = page_reader.section(plan, "Summary")
    if not summary and not found.issues:
        summary = review.content
    return Challenge(
        change_id, verdict_of(review.status), tuple(found.issues), summary, page_reader.section(plan, "Next Steps")
    )


def read(text: str, rules: Rules = RULES) -> tuple[Challenge, tuple[Finding, ...]]:
    """The challenge, its verdict None unless exactly one is stated, and everything that is wrong with it."""
    page = _page(text, rules)
    for against in contradictions(page.verdict, page.issues):
        page.report(against, page.line, FORM.agree_fix)
    if page.verdict == "NEEDS_REVISION" and not page.issues:
        what = "the verdict is NEEDS_REVISION and there are no issues"
        page.report(what, page.issues_line, "write what to revise below the heading Issues", "missing_issues")
    texts = page.section("Summary"), page.section("Next Steps")
    return Challenge(page.change_id, page.verdict, page.issues, *texts), tuple(page.findings)


def verdict_line(text: str) -> int:
    """The line that states the verdict."""
    return _page(text, RULES).line


def _page(text: str, rules: Rules) -> Page[PlanVerdict]:
    front = frontmatter.read(text)
    return Page(outline(front.lines, front.first), FORM, rules)
