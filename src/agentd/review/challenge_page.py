"""CHALLENGE.md: what a challenger says about a plan. Whether it approves is read from the structure or not at all."""

import re

from agentd.errors import Corrupt
from agentd.model.change import Review
from agentd.model.finding import Finding
from agentd.model.rules import Rules
from agentd.model.verdict import PLAN_VERDICTS, PLAN_WORDS, Challenge, contradictions, verdict_of
from agentd.review import issue_list, page_reader
from agentd.review.page_reader import RULES
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
_TITLE = re.compile(r"challenge(?: report)?[ \t]*[:：][ \t]*(.*)", re.IGNORECASE)
_FIX = f"write **Verdict**: and one of {', '.join(PLAN_VERDICTS)} below the heading Verdict, and nothing more"
_AGREE_FIX = "write NEEDS_REVISION or REJECTED, or give the issues the severity that they have"
_ISSUE_FIX = "write - **Severity**: High, Medium or Low, and - **Description**:, below the issue's heading"


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
    """What is there before the challenger has said anything."""
    return render(Challenge(change_id, None))


def from_review(change_id: str, review: Review) -> Challenge:
    """The challenge that a review block of proposal.md stands for; its status is the verdict."""
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
    front = frontmatter.read(text)
    plan = outline(front.lines, front.first)
    found = issue_list.read(plan)
    verdict, said, problems = page_reader.judge(plan, found, PLAN_WORDS)
    title = next((match for part in plan.sections if (match := _TITLE.match(part.title))), None)
    document = Challenge(
        quoting.unescape_line(title[1]) if title else "",
        verdict,
        tuple(found.issues),
        page_reader.section(plan, "Summary"),
        page_reader.section(plan, "Next Steps"),
    )
    findings = page_reader.findings(problems, "CHALLENGE.md", _FIX, rules)
    against = [(said, what) for what in contradictions(verdict, document.issues)]
    findings += page_reader.findings(against, "CHALLENGE.md", _AGREE_FIX, rules)
    findings += page_reader.findings(found.problems, "CHALLENGE.md", _ISSUE_FIX, rules)
    if verdict == "NEEDS_REVISION" and not found.issues:
        what = "the verdict is NEEDS_REVISION and there are no issues"
        line = next((start for start, _ in found.sections), page_reader.top(plan))
        fix = "write what has to be revised below the heading Issues"
        findings.append(Finding("missing_issues", what, line, rules.severity("missing_issues"), fix, "CHALLENGE.md"))
    return document, tuple(sorted(findings, key=lambda finding: finding.line))


def verdict_line(text: str) -> int:
    """The line that states the verdict."""
    front = frontmatter.read(text)
    plan = outline(front.lines, front.first)
    return page_reader.judge(plan, issue_list.read(plan), PLAN_WORDS)[1]


def parse(text: str, source: str) -> Challenge:
    """The challenge; Corrupt if it states no verdict or anything else is wrong with it."""
    document, findings = read(text)
    for finding in findings:
        if finding.severity == "High":
            raise Corrupt(f"{source}:{finding.line}: {finding.message}.", finding.fix)
    return document


def tidy(text: str) -> str:
    """The text with white space put right; it says what it said."""
    return page_reader.tidied(text, frontmatter.read(text))
