"""A review as an agent replies it and as its file keeps it: read, weighed against a threshold, written. Text in, values out."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from agentd.text.json_objects import one_with
from agentd.values import dataclass

KINDS = ("plan", "implementation", "tests", "final")
SEVERITIES = ("LOW", "MEDIUM", "HIGH")
QUALITIES = ("high", "acceptable", "concerning")
APPROVED, NEEDS_REVISION, HAS_ISSUES, BLOCKED = "approved", "needs_revision", "has_issues", "blocked"
# The order of the keys in the file; any other key of the reply follows.
_ORDER = ("status", "overallQuality", "issues", "metrics", "summary", "filesReviewed", "readyForCommit")


@dataclass(frozen=True)
class Issue:
    """One issue; its severity is one of SEVERITIES."""

    severity: str
    location: str
    issue: str
    suggestion: str


@dataclass(frozen=True)
class Review:
    """A valid review; `data` has the other keys of the reply, such as `metrics`."""

    status: str
    issues: tuple[Issue, ...]
    summary: str
    data: Mapping[str, Any]


def statuses(kind: str) -> tuple[str, str]:
    """The statuses that a kind of review may have."""
    return (APPROVED, BLOCKED) if kind == "final" else (APPROVED, NEEDS_REVISION)


def read(text: str, kind: str) -> tuple[Review | None, str]:
    """The one review that a reply states, or why there is none. Prose around it is passed over, a second review is not."""
    data, problem = one_with(text, "status")
    if data is None:
        return None, problem
    status = _word(data["status"])
    if status not in statuses(kind):
        return None, f"status is {_short(data['status'])}; a {kind} review has {' or '.join(statuses(kind))}"
    summary, listed = data.get("summary"), data.get("issues")
    if not isinstance(summary, str) or not summary.strip():
        return None, "summary is missing"
    if not isinstance(listed, list):
        return None, "issues must be a list"
    problem = next(filter(None, (_issue_problem(one, number) for number, one in enumerate(listed, 1))), "")
    problem = problem or _contradiction(status, listed, data) or (_final_problem(data) if kind == "final" else "")
    if problem:
        return None, problem
    issues = tuple(
        Issue(one["severity"].strip().upper(), *(_text(one.get(key)) for key in ("location", "issue", "suggestion")))
        for one in listed
    )
    rest = {key: value for key, value in data.items() if key not in ("status", "issues", "summary")}
    return Review(status, issues, summary.strip(), rest), ""


def _issue_problem(one: Any, number: int) -> str:
    if not isinstance(one, Mapping):
        return f"issue {number} must be an object"
    severity = one.get("severity")
    if not isinstance(severity, str) or severity.strip().upper() not in SEVERITIES:
        return f"issue {number}: severity is {_short(severity)}, which is none of {', '.join(reversed(SEVERITIES))}"
    return "" if _text(one.get("issue")) else f"issue {number}: issue is missing"


def _contradiction(status: str, issues: Sequence[Any], data: Mapping[str, Any]) -> str:
    if status == NEEDS_REVISION and not issues:
        return "status is needs_revision, and issues is empty"
    if status == APPROVED and not issues and data.get("readyForCommit") is False:
        return "status is approved with no issues, and readyForCommit is false"
    return ""


def _final_problem(data: Mapping[str, Any]) -> str:
    """What is wrong with the fields that only a final review has; agentd counts its metrics itself where they are missing."""
    if data.get("overallQuality") not in QUALITIES:
        return f"overallQuality is {_short(data.get('overallQuality'))}, which is none of {', '.join(QUALITIES)}"
    if not isinstance(data.get("readyForCommit"), bool):
        return "readyForCommit must be true or false"
    return "" if isinstance(data.get("metrics", {}), Mapping) else "metrics must be an object"


def _word(value: Any) -> str:
    return "_".join(value.lower().replace("-", " ").replace("_", " ").split()) if isinstance(value, str) else ""


def _text(value: Any) -> str:
    """A text of an issue; a model may write a list of places or a line number."""
    return value.strip() if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)


def _short(value: Any) -> str:
    return "missing" if value is None else repr(value)[:60]


def at_least(issues: Iterable[Issue], threshold: str) -> tuple[Issue, ...]:
    """The issues at or above a threshold: `low`, `medium` or `high`."""
    least = SEVERITIES.index(threshold.upper())
    return tuple(one for one in issues if SEVERITIES.index(one.severity) >= least)


def outcome(review: Review, kind: str, threshold: str) -> str:
    """The word of the table that a review amounts to.

    A final review goes to the fixer for any issue at the threshold, and `blocked` stops whatever the threshold. Of the other
    reviews an approval counts as it is, and a revision that asks for nothing at the threshold is an approval.
    """
    if review.status == BLOCKED:
        return BLOCKED
    left = at_least(review.issues, threshold)
    if kind == "final":
        return HAS_ISSUES if left else APPROVED
    return NEEDS_REVISION if left and review.status == NEEDS_REVISION else APPROVED


def render(review: Review) -> str:
    """The file of a review."""
    issues = [
        {"severity": one.severity, "location": one.location, "issue": one.issue, "suggestion": one.suggestion}
        for one in review.issues
    ]
    data = {**review.data, "status": review.status, "issues": issues, "summary": review.summary}
    ordered = {key: data[key] for key in (*(key for key in _ORDER if key in data), *sorted(data.keys() - {*_ORDER}))}
    return json.dumps(ordered, indent=2, ensure_ascii=False) + "\n"


def problem(text: str, kind: str, threshold: str) -> str:
    """Why a review file does not open a gate, or nothing."""
    try:
        data = json.loads(text)
    except (ValueError, RecursionError) as error:
        return f"it is not JSON: {error}"
    review, why = read(text, kind) if isinstance(data, Mapping) else (None, "it is not a JSON object")
    if review is None:
        return why
    if outcome(review, kind, threshold) == APPROVED:
        return ""
    left = len(at_least(review.issues, threshold))
    above = "" if threshold == "high" else " or above"
    listed = f"issues left of severity {threshold.upper()}{above}: {left}"
    return f"its status is {BLOCKED}" if review.status == BLOCKED else listed
