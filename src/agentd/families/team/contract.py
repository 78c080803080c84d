"""What a role is sent and what it replies: the JSON of the contract, read and checked. Text in, values out."""

from collections.abc import Mapping, Sequence
from dataclasses import field
from typing import Any

from agentd.patterns import regex
from agentd.text.json_objects import one_with
from agentd.values import dataclass

STATUSES = ("OK", "BLOCKED", "NEEDS_INFO", "NEEDS_DECISION", "FAIL")
LISTS = ("files_to_create_or_update", "files_changed", "tests_added_or_updated", "commands_to_run", "manual_steps")
# Whom a reply names as the next agent when a person has to answer.
PERSON = ("user", "orchestrator", "ask_user", "person")
# Comments and findings that no status can talk away.
BLOCKING_COMMENTS = ("major", "blocker")
BLOCKING_FINDINGS = ("high", "critical")
PASS_WITH_NOTES, NEEDS_FIXES, PASS = "PASS WITH NOTES", "NEEDS FIXES", "PASS"
_WORD = regex("[A-Za-z]+")
_NUMBER = regex("[0-9]{1,9}")
PASSING_FINDINGS = ("", "low", "info", "informational", "information", "none", "minor", "note")
VERDICTS = (PASS, PASS_WITH_NOTES, NEEDS_FIXES)


@dataclass(frozen=True)
class Result:
    """A reply that keeps to the contract; `artifacts`, `gates` and `next` are as the role sent them."""

    status: str
    summary: str
    artifacts: Mapping[str, Any] = field(default_factory=dict)
    gates: Mapping[str, Any] = field(default_factory=dict)
    next: Mapping[str, Any] = field(default_factory=dict)

    def entries(self, name: str) -> tuple[Mapping[str, Any], ...]:
        """The entries of a list of the artifacts; one that is plain text is its message."""
        found = self.artifacts.get(name)
        return tuple(
            each if isinstance(each, Mapping) else {"message": str(each)}
            for each in (found if isinstance(found, list) else [])
        )

    @property
    def verdict(self) -> str:
        """What a Reviewer calls its verdict; nothing where the reply has none."""
        said = self.artifacts.get("verdict") or self.gates.get("verdict")
        return str(said or "").strip().upper().replace("_", " ")

    @property
    def reason(self) -> str:
        return str(self.next.get("reason") or self.summary)

    @property
    def next_agent(self) -> str:
        return str(self.next.get("recommended_agent") or "").strip().lower()


def read(text: str, allowed: Sequence[str]) -> tuple[Result | None, str]:
    """The one result that a reply states, or why there is none. Prose around it is ignored; two different results are an error."""
    data, problem = one_with(text, "status")
    problem = problem or _problem(data or {}, allowed)
    if data is None or problem:
        return None, problem
    parts = {name: data.get(name) or {} for name in ("artifacts", "gates", "next")}
    return Result(data["status"].strip().upper(), data["summary"].strip(), **parts), ""


def _problem(data: Mapping[str, Any], allowed: Sequence[str]) -> str:
    """Why an object is not a result of a role that may use these statuses, or nothing."""
    status, summary = data["status"], data.get("summary")
    if not isinstance(status, str) or status.strip().upper() not in STATUSES:
        return f"status is {status!r}, which is none of {', '.join(STATUSES)}"
    if status.strip().upper() not in allowed:
        return f"status is {status}, which this role does not use ({', '.join(allowed)})"
    if not isinstance(summary, str) or not summary.strip():
        return "summary is missing"
    for name in ("artifacts", "gates", "next"):
        if data.get(name) is not None and not isinstance(data[name], Mapping):
            return f"{name} must be an object"
    artifacts = data.get("artifacts") or {}
    for name in (*LISTS, "review_comments", "coverage_gaps", "findings"):
        if artifacts.get(name) is not None and not isinstance(artifacts[name], list):
            return f"artifacts.{name} must be a list"
    return ""


def outcome(result: Result, role: str, words: Sequence[str]) -> tuple[str, str]:
    """The word of the table that a result amounts to, or `failed`, with a note.

    What a reply lists counts more than its status: a blocking comment or finding is never OK.
    """
    if result.status == "FAIL":
        return "failed", result.summary
    said = _judgement(result, role)
    if said == "contradiction":
        return "failed", f"the reply says OK and {result.verdict or 'lists what blocks'}"
    if said == "ok":
        said = words[0]
    if said == "blocked":
        if "complex" in words and result.next_agent in ("specagent", "planner", "architect"):
            said = "complex"
        elif "unclear" in words and result.next_agent in PERSON:
            said = "unclear"
    if said not in words:
        return "failed", f"the reply says {result.status}, which does not fit this step: {result.summary}"
    return said, result.reason if said in ("complex", "unclear", "needs_info") else result.summary


def _judgement(result: Result, role: str) -> str:
    status = result.status.lower()
    if role == "Reviewer":
        return _review(result)
    if role == "Security":
        return _audit(result)
    if role == "QA" and status == "ok":
        ran = result.artifacts.get("test_results")
        failed = ran.get("failed") if isinstance(ran, Mapping) else 0
        number = _NUMBER.search(str(len(failed) if isinstance(failed, list) else failed))
        return "blocked" if number and int(number[0]) > 0 else "ok"
    return status


def _severity(entry: Mapping[str, Any]) -> str:
    """The first word of a severity in small letters: `high` of "High (CVSS 8)"."""
    found = _WORD.search(str(entry.get("severity", "")))
    return found[0].lower() if found else ""


def _review(result: Result) -> str:
    if result.verdict and result.verdict not in VERDICTS:
        return "contradiction"
    if result.status != "OK":
        return result.status.lower()
    if result.verdict == NEEDS_FIXES:
        return "contradiction"
    if any(_severity(one) in BLOCKING_COMMENTS for one in result.entries("review_comments")):
        return "blocked"
    return "notes" if result.verdict == PASS_WITH_NOTES else "ok"


def _audit(result: Result) -> str:
    """High and critical findings block, medium ones, and those of a severity that nobody knows, are for a person to decide;
    no status makes them less."""
    severities = {_severity(one) for one in result.entries("findings")}
    if not severities.isdisjoint(BLOCKING_FINDINGS):
        return "blocked"
    if not severities.issubset(PASSING_FINDINGS) and result.status == "OK":
        return "needs_decision"
    return result.status.lower()
