"""Review files: what a reply amounts to, and why a file opens no gate."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.families.staged import review_file
from agentd.families.staged.review_file import Issue, Review

HIGH, LOW = (
    {"severity": severity, "location": "src/a.py:3", "issue": "It fails.", "suggestion": "Fix it."}
    for severity in ("HIGH", "LOW")
)
FINAL: dict[str, Any] = {"overallQuality": "acceptable", "readyForCommit": True, "metrics": {"tasksCompleted": 3}}


def reply(status: Any = "approved", *issues: Any, **more: Any) -> str:
    return json.dumps({"status": status, "issues": list(issues), "summary": "All seen.", **more})


def read(text: str, kind: str = "plan") -> Review:
    found, why = review_file.read(text, kind)
    assert found is not None, why
    return found


def outcome(kind: str, threshold: str, status: str, *issues: Any) -> str:
    more = FINAL if kind == "final" else {}
    return review_file.outcome(read(reply(status, *issues, **more), kind), kind, threshold)


def test_a_review_is_found_in_the_prose_around_it() -> None:
    said = f"I looked at {{everything}}.\n```json\n{reply('needs_revision', HIGH)}\n```\nThat is all."
    assert read(said) == Review(
        "needs_revision", (Issue("HIGH", "src/a.py:3", "It fails.", "Fix it."),), "All seen.", {}
    )


@pytest.mark.requirement(309)
@pytest.mark.parametrize(
    ("kind", "statuses"),
    [
        ("plan", ["approved", "needs_revision"]),
        ("implementation", ["approved", "needs_revision"]),
        ("tests", ["approved", "needs_revision"]),
        ("final", ["approved", "blocked"]),
    ],
)
def test_a_kind_of_review_has_its_own_two_statuses(kind: str, statuses: list[str]) -> None:
    words = ["approved", "needs_revision", "blocked", "has_issues", "rejected", "", None, True, ["approved"]]
    taken = [word for word in words if review_file.read(reply(word, HIGH, **FINAL), kind)[0]]
    assert taken == statuses


@pytest.mark.parametrize("status", ["Needs Revision", "NEEDS-REVISION", " needs_revision "])
def test_a_status_counts_however_its_words_are_joined(status: str) -> None:
    assert read(reply(status, LOW)).status == "needs_revision"


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("Looks good to me.", "no JSON object with a status"),
        (reply() + reply("needs_revision", LOW), "2 different results"),
        (reply("approved", summary=" "), "summary is missing"),
        (reply("approved", summary=3), "summary is missing"),
        (reply("approved", issues=None), "issues must be a list"),
        (reply("approved", issues={"0": HIGH}), "issues must be a list"),
        (reply("approved", "It fails."), "issue 1 must be an object"),
        (reply("needs_revision", LOW, {**HIGH, "severity": "critical"}), "issue 2: severity is 'critical'"),
        (reply("needs_revision", {"issue": "It fails."}), "issue 1: severity is missing"),
        (reply("needs_revision", {**HIGH, "issue": ""}), "issue 1: issue is missing"),
        (reply("needs_revision"), "needs_revision, and issues is empty"),
    ],
)
def test_a_reply_that_is_no_review_says_why(text: str, why: str) -> None:
    found, said = review_file.read(text, "implementation")
    assert found is None
    assert why in said


@pytest.mark.parametrize(
    ("more", "why"),
    [
        ({"overallQuality": "superb"}, "overallQuality is 'superb'"),
        ({"readyForCommit": "yes"}, "readyForCommit must be true or false"),
        ({"metrics": [3]}, "metrics must be an object"),
        ({"readyForCommit": False}, "approved with no issues, and readyForCommit is false"),
    ],
)
def test_a_final_review_has_its_own_fields(more: dict[str, Any], why: str) -> None:
    assert read(reply(**FINAL), "final").data == FINAL
    assert why in review_file.read(reply(**{**FINAL, **more}), "final")[1]


def test_a_review_that_is_repeated_word_for_word_counts_once() -> None:
    assert read(reply() + "\nAgain: " + reply()).status == "approved"


@pytest.mark.parametrize(("threshold", "kept"), [("low", "LMH"), ("medium", "MH"), ("high", "H")])
def test_only_the_issues_at_the_threshold_are_for_the_fixer(threshold: str, kept: str) -> None:
    issues = [Issue(severity, "a", "b", "c") for severity in ("LOW", "MEDIUM", "HIGH")]
    assert "".join(one.severity[0] for one in review_file.at_least(issues, threshold)) == kept


@pytest.mark.parametrize("kind", ["plan", "implementation", "tests"])
def test_a_review_is_weighed_by_its_status_and_the_threshold(kind: str) -> None:
    assert outcome(kind, "low", "approved") == "approved"
    assert outcome(kind, "low", "approved", HIGH) == "approved"
    assert outcome(kind, "low", "needs_revision", LOW) == "needs_revision"
    assert outcome(kind, "medium", "needs_revision", LOW) == "approved"
    assert outcome(kind, "medium", "needs_revision", LOW, HIGH) == "needs_revision"


def test_a_final_review_with_issues_goes_to_the_fixer_and_a_blocked_one_stops_whatever_the_threshold() -> None:
    assert outcome("final", "low", "approved") == "approved"
    assert outcome("final", "low", "approved", LOW) == "has_issues"
    assert outcome("final", "high", "approved", LOW) == "approved"
    assert outcome("final", "high", "blocked", LOW) == "blocked"
    assert outcome("final", "high", "blocked") == "blocked"


@pytest.mark.parametrize(
    ("text", "kind", "threshold", "why"),
    [
        (reply(), "plan", "low", ""),
        (reply("approved", HIGH), "plan", "low", ""),
        (reply("needs_revision", LOW), "tests", "medium", ""),
        (reply("needs_revision", LOW), "tests", "low", "issues left of severity LOW or above: 1"),
        (reply("needs_revision", HIGH, HIGH), "tests", "high", "issues left of severity HIGH: 2"),
        (reply("approved", LOW, **FINAL), "final", "high", ""),
        (reply("approved", LOW, **FINAL), "final", "low", "issues left of severity LOW or above: 1"),
        (reply("blocked", **FINAL), "final", "high", "its status is blocked"),
        (reply("blocked", **FINAL), "plan", "low", "status is 'blocked'; a plan review has approved or needs_revision"),
        ("", "plan", "low", "it is not JSON"),
        ("[]", "plan", "low", "it is not a JSON object"),
        ("{}", "plan", "low", "no JSON object with a status"),
        (f"Here it is: {reply()}", "plan", "low", "it is not JSON"),
        ("[" * 100_000, "plan", "low", "it is not JSON"),
    ],
)
def test_a_file_opens_its_gate_only_with_an_approval_or_no_issue_left(
    text: str, kind: str, threshold: str, why: str
) -> None:
    said = review_file.problem(text, kind, threshold)
    assert why in said
    assert bool(said) == bool(why)


texts = st.text(st.characters(exclude_categories=["Cs"]), min_size=1).filter(lambda text: text.strip() == text)
issues = st.builds(Issue, st.sampled_from(review_file.SEVERITIES), texts, texts, texts)
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | texts, lambda inner: st.lists(inner) | st.dictionaries(texts, inner)
)


@given(
    st.lists(issues, min_size=1).map(tuple),
    texts,
    st.dictionaries(texts.filter(lambda key: key not in ("status", "issues", "summary")), json_values),
    st.sampled_from(review_file.KINDS),
    st.sampled_from((0, 1)),
)
def test_what_is_written_is_read_again(
    issues: tuple[Issue, ...], summary: str, data: dict[str, Any], kind: str, which: int
) -> None:
    review = Review(review_file.statuses(kind)[which], issues, summary, {**data, **FINAL} if kind == "final" else data)
    written = review_file.render(review)
    again = read(written, kind)
    assert again == review
    assert review_file.render(again) == written


def test_a_file_has_the_keys_in_the_order_of_its_format() -> None:
    more = {"zoo": 1, "readyForCommit": True, "overallQuality": "high", "metrics": {}}
    assert list(json.loads(review_file.render(read(reply(**more), "final")))) == [
        "status", "overallQuality", "issues", "metrics", "summary", "readyForCommit", "zoo",
    ]  # fmt: skip
