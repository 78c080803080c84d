"""REVIEW.md: what a reviewer says about an implementation. Whether it approves is read from the structure or not at all."""

import re
from dataclasses import replace
from typing import Any

from agentd.documents import bullets, frontmatter, issues, judging, quoting
from agentd.documents.judging import RULES
from agentd.documents.outline import Outline, outline
from agentd.errors import Corrupt
from agentd.model.finding import SEVERITIES, Finding
from agentd.model.rules import Rules
from agentd.model.verdict import (
    CODE_VERDICTS,
    CODE_WORDS,
    SECURITY_STATUSES,
    TEST_STATUSES,
    CodeReview,
    Issue,
    TestResults,
    contradictions,
)

LABELS = {
    "severity": "Severity",
    "description": "Description",
    "file_path": "File",
    "line_number": "Line",
    "suggestion": "Recommendation",
    "location": "Location",
    "category": "Category",
    "spec_reference": "Spec Reference",
}
_COUNTS = ("total", "passed", "failed", "skipped")
_TITLE = re.compile(r"(?:code |implementation )?review(?: report)?[ \t]*[:：][ \t]*(.*)", re.IGNORECASE)
_NUMBER = re.compile(r"\W*([0-9]{1,9})\W*")
_FIX = f"write one of {', '.join(CODE_VERDICTS)} below the heading Verdict, and nothing more"
_AGREE_FIX = "write NEEDS_CHANGES or MAJOR_ISSUES, or correct what the verdict does not go with"
_ISSUE_FIX = "write - **Severity**: High, Medium or Low, and - **Description**:, below the issue's heading"


def render(document: CodeReview) -> str:
    """A whole REVIEW.md, its issues by severity."""
    head: dict[str, Any] = {"change_id": document.change_id, "type": "review", "iteration": document.iteration}
    if document.call:
        head["call"] = document.call
    if document.files:
        head["files"] = dict(document.files)
    parts = [f"# Code Review: {quoting.escape_line(document.change_id)}\n"]
    if document.summary:
        parts.append(judging.written("Summary", document.summary))
    parts.append("## Test Results\n\n" + _tests(document.tests))
    parts.append("## Security\n\n" + (f"- **Status**: {document.security}\n" if document.security else "Not known.\n"))
    parts += ["## Issues\n", *_issues(document.issues)]
    parts.append(f"## Verdict\n\n{document.verdict or 'PENDING'}\n")
    if document.next_steps:
        parts.append(judging.written("Next Steps", document.next_steps))
    return frontmatter.write(head, "\n".join(parts))


def skeleton(change_id: str, iteration: int = 0) -> str:
    """What is there before the review has said anything."""
    return render(CodeReview(change_id, None, iteration=iteration))


def read(text: str, rules: Rules = RULES) -> tuple[CodeReview, tuple[Finding, ...]]:
    """The review, its verdict None unless exactly one is stated, and everything that is wrong with it."""
    front = frontmatter.read(text)
    plan = outline(front.lines, front.first)
    found = issues.read(plan)
    verdict, said_at, problems = judging.judge(plan, found, CODE_WORDS)
    findings = judging.findings(problems, "REVIEW.md", _FIX, rules)
    findings += judging.findings(found.problems, "REVIEW.md", _ISSUE_FIX, rules)
    tests, odd = _read_tests(plan)
    security, strange = _status(plan, ("Security", "Security Scan", "Security Results"), SECURITY_STATUSES)
    for line, said, allowed in [*odd, *strange]:
        fix = f"write - **Status**: {' or '.join(allowed)}"
        findings += judging.findings([(line, f"the status is '{said}'")], "REVIEW.md", fix, rules)
    title = next((match for part in plan.sections if (match := _TITLE.match(part.title))), None)
    iteration, files = front.data.get("iteration"), front.data.get("files")
    document = CodeReview(
        str(front.data.get("change_id") or (quoting.unescape_line(title[1]) if title else "")),
        verdict,
        tuple(sorted(found.issues, key=lambda issue: SEVERITIES.index(issue.severity))),
        judging.section(plan, "Summary"),
        tests,
        security,
        judging.section(plan, "Next Steps"),
        iteration if isinstance(iteration, int) else 0,
        str(front.data.get("call") or ""),
        {str(path): str(checksum) for path, checksum in files.items()} if isinstance(files, dict) else {},
    )
    against = [(said_at, what) for what in contradictions(verdict, document.issues, tests, security)]
    findings += judging.findings(against, "REVIEW.md", _AGREE_FIX, rules)
    findings += [
        replace(finding, severity=rules.severity(finding.rule), file="REVIEW.md")
        for finding in front.findings
        if finding.rule != "missing_frontmatter"
    ]
    return document, tuple(sorted(findings, key=lambda finding: finding.line))


def parse(text: str, source: str) -> CodeReview:
    """The review; Corrupt if it states no verdict or anything else is wrong with it."""
    document, findings = read(text)
    for finding in findings:
        if finding.severity == "High":
            raise Corrupt(f"{source}:{finding.line}: {finding.message}.", finding.fix)
    return document


def tidy(text: str) -> str:
    """The text with white space put right; it says what it said."""
    return judging.tidied(text, frontmatter.read(text))


def _tests(results: TestResults | None) -> str:
    if results is None:
        return "Not known.\n"
    counts = "".join(f"- **{name.title()}**: {getattr(results, name)}\n" for name in _COUNTS)
    return f"- **Status**: {results.status}\n{counts}"


def _issues(found: tuple[Issue, ...]) -> list[str]:
    parts = []
    number = 0
    for severity in SEVERITIES:
        group = [issue for issue in found if issue.severity == severity]
        if group:
            parts.append(f"### {severity} Severity\n")
        for issue in group:
            number += 1
            parts.append(issues.write(issue, number, 4, LABELS))
    return parts


def _read_tests(plan: Outline) -> tuple[TestResults | None, list[tuple[int, str, tuple[str, ...]]]]:
    titles = ("Test Results", "Tests", "Test")
    status, odd = _status(plan, titles, TEST_STATUSES)
    part = next((part for part in map(plan.find, titles) if part), None)
    counts = {}
    for item in bullets.fields(plan, part.line + 1, part.end, _COUNTS) if part else ():
        number = _NUMBER.fullmatch(item.lines[0])
        if number:
            counts[item.label] = int(number[1])
    if status is None and not counts:
        return None, odd
    return TestResults(status or "UNKNOWN", **counts), odd


def _status(
    plan: Outline, titles: tuple[str, ...], allowed: tuple[Any, ...]
) -> tuple[Any, list[tuple[int, str, tuple[str, ...]]]]:
    """The word behind `Status:` in a section; one that is not allowed is given back with its line."""
    part = next((part for part in map(plan.find, titles) if part), None)
    for item in bullets.fields(plan, part.line + 1, part.end, ("status",)) if part else ():
        said = item.lines[0].strip(" \t*_`.。")
        word = re.sub(r"[\s_-]+", "_", said).upper()
        return (word, []) if word in allowed else (None, [(item.line, said, allowed)])
    return None, []
