"""REVIEW.md: a reviewer's report on an implementation. Its verdict is read from the structure, never from prose.

What agentd adds has sections of its own, and is never read as the reviewer's verdict.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from agentd.model.finding import Finding
from agentd.model.rules import Rules
from agentd.model.severity import SEVERITIES
from agentd.model.verdict import (
    CODE_VERDICTS,
    CODE_WORDS,
    SECURITY_STATUSES,
    TEST_STATUSES,
    CodeReview,
    CodeVerdict,
    Issue,
    TestResults,
    contradictions,
)
from agentd.patterns import regex
from agentd.review import added_sections, issue_list, page_reader
from agentd.review.page_reader import RULES, Form, Page
from agentd.review.page_reader import tidy as tidy
from agentd.text import bullets, frontmatter, quoting
from agentd.text.bullets import Item
from agentd.text.outline import Outline, outline

LABELS = {
    "severity": "Severity",
    "description": "Description",
    "file_path": "File",
    "line_number": "Line",
    "quote": "Quote",
    "suggestion": "Recommendation",
    "location": "Location",
    "category": "Category",
    "spec_reference": "Spec Reference",
}
OUTCOME, REMARKS, EVIDENCE = "Outcome", "agentd's Remarks", "Evidence"
_LONE = regex(r"\r(?!\n)")
_TESTS = ("Test Results", "Tests", "Test")
_COUNTS = ("total", "passed", "failed", "skipped")
_NUMBER = regex(r"\W*([0-9]{1,9})\W*")
FORM: Form[CodeVerdict] = Form(
    "REVIEW.md",
    CODE_WORDS,
    regex(r"(?:code |implementation )?review(?: report)?[ \t]*[:：][ \t]*(.*)", re.IGNORECASE),
    f"write one of {', '.join(CODE_VERDICTS)} below the heading Verdict, and nothing more",
    "write NEEDS_CHANGES or MAJOR_ISSUES, or correct what the verdict does not go with",
)


def render(document: CodeReview) -> str:
    """A whole REVIEW.md: its issues by severity, agentd's own sections at the end."""
    head: dict[str, Any] = {"change_id": document.change_id, "type": "review", "iteration": document.iteration}
    ours = {"call": document.call, "files": dict(document.files), "tree": document.tree}
    ours["unreviewed"] = document.unreviewed
    head |= {key: value for key, value in ours.items() if value}
    parts = [f"# Code Review: {quoting.escape_line(document.change_id)}\n"]
    if document.summary:
        parts.append(page_reader.written("Summary", document.summary))
    parts.append("## Test Results\n\n" + _tests(document.tests))
    parts.append("## Security\n\n" + (f"- **Status**: {document.security}\n" if document.security else "Not known.\n"))
    parts += ["## Issues\n", *_issues(document.issues)]
    parts.append(f"## Verdict\n\n{document.verdict or 'PENDING'}\n")
    if document.next_steps:
        parts.append(page_reader.written("Next Steps", document.next_steps))
    text = frontmatter.write(head, "\n".join(parts))
    return added_sections.put(text, _added(document.evidence, document.remarks, document.decision))


def finished(
    text: str,
    *,
    evidence: str = "",
    remarks: Sequence[str] = (),
    decision: str = "",
    tree: str = "",
    files: Mapping[str, str] | None = None,
    call: str = "",
) -> str:
    """The review with these additions of agentd's in place of earlier ones; the reviewer's text stays byte for byte.

    A call that is not given stays; a tree and files that are not given are removed. Front matter that cannot be read is
    left alone, and binds the review to nothing. Lines that end with CR alone end with LF afterwards.
    """
    text = added_sections.put(_LONE.sub("\n", text), _added(evidence, remarks, decision))
    front = frontmatter.read(text)
    ours: dict[str, Any] = {"call": call, "files": dict(files or {}), "tree": tree}
    ours = {key: value for key, value in ours.items() if value or (key != "call" and key in front.data)}
    return added_sections.put_keys(text, front, ours) if ours else text


def skeleton(change_id: str, iteration: int = 0) -> str:
    """REVIEW.md before the reviewer has written anything."""
    return render(CodeReview(change_id, None, iteration=iteration))


def read(text: str, rules: Rules = RULES) -> tuple[CodeReview, tuple[Finding, ...]]:
    """The review, its verdict None unless exactly one is stated, and everything that is wrong with it."""
    front = frontmatter.read(text)
    whole = outline(front.lines, front.first)
    page = Page(added_sections.without(whole), FORM, rules)
    iteration, files = front.data.get("iteration"), front.data.get("files")
    document = CodeReview(
        str(front.data.get("change_id") or page.change_id),
        page.verdict,
        tuple(replace(issue, ungrounded="") for issue in _by_severity(page.issues)),  # a reviewer cannot say that
        page.section("Summary"),
        _read_tests(page),
        _status(page, ("Security", "Security Scan", "Security Results"), SECURITY_STATUSES),
        page.section("Next Steps"),
        iteration if isinstance(iteration, int) else 0,
        str(front.data.get("call") or ""),
        {str(path): str(checksum) for path, checksum in files.items()} if isinstance(files, dict) else {},
        str(front.data.get("tree") or ""),
        *_read_added(whole),
        str(front.data.get("unreviewed") or ""),
    )
    if document.unreviewed:  # then there is no verdict to be missed
        page.findings = [found for found in page.findings if found.fix != FORM.verdict_fix]
    for against in contradictions(page.verdict, document.issues, document.tests, document.security):
        page.report(against, page.line, FORM.agree_fix)
    for found in front.findings:
        if found.rule != "missing_frontmatter":
            page.report(found.message, found.line, found.fix, found.rule)
    return document, tuple(page.findings)


def _added(evidence: str, remarks: Sequence[str], decision: str) -> dict[str, str]:
    listed = "\n".join(bullets.write("-", remark, page_reader.OWN) for remark in remarks if remark.strip())
    written = {
        OUTCOME: quoting.escape(decision, page_reader.OWN) if decision.strip() else "",
        REMARKS: listed,
        EVIDENCE: quoting.escape(evidence, added_sections.TEXT) if evidence.strip() else "",
    }
    return {title: body for title, body in written.items() if body}


def _read_added(plan: Outline) -> tuple[str, tuple[str, ...], str]:
    """The evidence, the remarks and the decision."""
    listed = outline(added_sections.lines(plan, REMARKS))
    remarks = tuple(bullets.read(item, page_reader.OWN) for item in bullets.items(listed, 1, len(listed.lines)))
    evidence = quoting.unescape(added_sections.lines(plan, EVIDENCE), added_sections.TEXT)
    return evidence, remarks, quoting.unescape(added_sections.lines(plan, OUTCOME), page_reader.OWN)


def _tests(results: TestResults | None) -> str:
    if results is None:
        return "Not known.\n"
    counts = "".join(f"- **{name.title()}**: {getattr(results, name)}\n" for name in _COUNTS)
    return f"- **Status**: {results.status}\n{counts}"


def _issues(found: Sequence[Issue]) -> list[str]:
    parts = []
    before = ""
    for number, issue in enumerate(_by_severity(found), 1):
        if issue.severity != before:
            parts.append(f"### {issue.severity} Severity\n")
        parts.append(issue_list.write(issue, number, 4, LABELS))
        before = issue.severity
    return parts


def _by_severity(found: Sequence[Issue]) -> list[Issue]:
    return sorted(found, key=lambda issue: SEVERITIES.index(issue.severity))


def _read_tests(page: Page[CodeVerdict]) -> TestResults | None:
    status = _status(page, _TESTS, TEST_STATUSES)
    numbers = {item.label: _NUMBER.fullmatch(item.lines[0]) for item in _fields(page.plan, _TESTS, _COUNTS)}
    counts = {label: int(number[1]) for label, number in numbers.items() if number}
    return TestResults(status or "UNKNOWN", **counts) if status or counts else None


def _status(page: Page[CodeVerdict], titles: tuple[str, ...], allowed: tuple[Any, ...]) -> Any:
    """The word behind `Status:` in a section; None, with a finding, if it is not allowed."""
    item = next(iter(_fields(page.plan, titles, ("status",))), None)
    if item is None:
        return None
    said = item.lines[0].strip(" \t*_`.。")
    word = re.sub(r"[\s_-]+", "_", said).upper()
    if word in allowed:
        return word
    page.report(f"the status is '{said}'", item.line, f"write - **Status**: {' or '.join(allowed)}")
    return None


def _fields(plan: Outline, titles: tuple[str, ...], labels: tuple[str, ...]) -> list[Item]:
    """The labelled lines of the first section with one of these titles."""
    part = next(filter(None, map(plan.find, titles)), None)
    return bullets.fields(plan, part.line + 1, part.end, labels) if part else []
