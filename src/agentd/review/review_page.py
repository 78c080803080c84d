"""REVIEW.md: what a reviewer says about an implementation. Whether it approves is read from the structure or not at all.

What agentd adds stands apart, and nothing that it says is the reviewer's verdict.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

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
from agentd.review import added_sections, issue_list, page_reader
from agentd.review.page_reader import RULES
from agentd.text import bullets, frontmatter, lossless_yaml, quoting
from agentd.text.outline import Outline, outline
from agentd.text.spacing import split_ends

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
_LONE = re.compile(r"\r(?!\n)")
_COUNTS = ("total", "passed", "failed", "skipped")
_TITLE = re.compile(r"(?:code |implementation )?review(?: report)?[ \t]*[:：][ \t]*(.*)", re.IGNORECASE)
_NUMBER = re.compile(r"\W*([0-9]{1,9})\W*")
_FIX = f"write one of {', '.join(CODE_VERDICTS)} below the heading Verdict, and nothing more"
_AGREE_FIX = "write NEEDS_CHANGES or MAJOR_ISSUES, or correct what the verdict does not go with"
_ISSUE_FIX = "write - **Severity**: High, Medium or Low, and - **Description**:, below the issue's heading"


def render(document: CodeReview) -> str:
    """A whole REVIEW.md, its issues by severity and what is agentd's at the end."""
    head: dict[str, Any] = {"change_id": document.change_id, "type": "review", "iteration": document.iteration}
    if document.call:
        head["call"] = document.call
    if document.files:
        head["files"] = dict(document.files)
    if document.tree:
        head["tree"] = document.tree
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
    """The review with what is agentd's, and that alone; all that the reviewer wrote stays byte for byte.

    Where nothing is given for them, neither sections of agentd's nor a tree or files stay; a call stays. A head that
    cannot be read is left as it is, and binds the review to nothing. Lines that end with CR alone end with LF then.
    """
    text = added_sections.put(_LONE.sub("\n", text), _added(evidence, remarks, decision))
    front = frontmatter.read(text)
    ours: dict[str, Any] = {"call": call, "files": dict(files or {}), "tree": tree}
    ours = {key: value for key, value in ours.items() if value or (key != "call" and key in front.data)}
    return _headed(text, front, ours) if ours else text


def _headed(text: str, front: frontmatter.Front, data: Mapping[str, Any]) -> str:
    if any(finding.rule == "invalid_frontmatter" for finding in front.findings):
        return text
    try:
        headed = frontmatter.update(text, data)
    except Corrupt:
        headed = text
    again = frontmatter.read(headed)
    if again.data == {**front.data, **data} and again.lines[-len(front.lines) :] == front.lines:
        return headed
    body = "".join(split_ends(text)[front.first - 1 :])
    return (
        f"---\n{lossless_yaml.dump({**front.data, **data})}---\n{body}"  # of a head that its own words cannot say it in
    )


def skeleton(change_id: str, iteration: int = 0) -> str:
    """What is there before the review has said anything."""
    return render(CodeReview(change_id, None, iteration=iteration))


def read(text: str, rules: Rules = RULES) -> tuple[CodeReview, tuple[Finding, ...]]:
    """The review, its verdict None unless exactly one is stated, and everything that is wrong with it."""
    front = frontmatter.read(text)
    whole = outline(front.lines, front.first)
    plan = added_sections.without(whole)
    found = issue_list.read(plan)
    verdict, said_at, problems = page_reader.judge(plan, found, CODE_WORDS)
    findings = page_reader.findings(problems, "REVIEW.md", _FIX, rules)
    findings += page_reader.findings(found.problems, "REVIEW.md", _ISSUE_FIX, rules)
    tests, odd = _read_tests(plan)
    security, strange = _status(plan, ("Security", "Security Scan", "Security Results"), SECURITY_STATUSES)
    for line, said, allowed in [*odd, *strange]:
        fix = f"write - **Status**: {' or '.join(allowed)}"
        findings += page_reader.findings([(line, f"the status is '{said}'")], "REVIEW.md", fix, rules)
    title = next((match for part in plan.sections if (match := _TITLE.match(part.title))), None)
    iteration, files = front.data.get("iteration"), front.data.get("files")
    document = CodeReview(
        str(front.data.get("change_id") or (quoting.unescape_line(title[1]) if title else "")),
        verdict,
        tuple(
            replace(issue, ungrounded="")  # which is not for a reviewer to say
            for issue in sorted(found.issues, key=lambda issue: SEVERITIES.index(issue.severity))
        ),
        page_reader.section(plan, "Summary"),
        tests,
        security,
        page_reader.section(plan, "Next Steps"),
        iteration if isinstance(iteration, int) else 0,
        str(front.data.get("call") or ""),
        {str(path): str(checksum) for path, checksum in files.items()} if isinstance(files, dict) else {},
        str(front.data.get("tree") or ""),
        *_read_added(whole),
    )
    against = [(said_at, what) for what in contradictions(verdict, document.issues, tests, security)]
    findings += page_reader.findings(against, "REVIEW.md", _AGREE_FIX, rules)
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
    return page_reader.tidied(text, frontmatter.read(text))


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


def _issues(found: tuple[Issue, ...]) -> list[str]:
    parts = []
    number = 0
    for severity in SEVERITIES:
        group = [issue for issue in found if issue.severity == severity]
        if group:
            parts.append(f"### {severity} Severity\n")
        for issue in group:
            number += 1
            parts.append(issue_list.write(issue, number, 4, LABELS))
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
