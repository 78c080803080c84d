"""Issues keep their identity from round to round, however they are worded, and a loop that gets nowhere is seen."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.model.severity import SEVERITIES, Severity
from agentd.model.verdict import Issue
from agentd.review.issue_ledger import Entry, converging, table
from agentd.review.issue_ledger import entries as ledger
from tests.checks.rewordings import DIFFERENT, EMPTY, LIMIT, ROTATION, SAME, STATE, STORAGE, TIES, Words

Round = tuple[Issue, ...]


def issue(words: Words, where: str = "top-words:R1", severity: Severity = "High") -> Issue:
    return Issue(severity, *words, spec_reference=where)


def told(rounds: Sequence[Round]) -> list[tuple[str, str, tuple[int, ...]]]:
    return [(entry.id, entry.state, entry.seen) for entry in ledger(rounds)]


# ---------------------------------------------------------------------------------------------------------- identity


@pytest.mark.parametrize(("before", "after"), [*SAME, *((two, one) for one, two in SAME)])
def test_the_same_problem_in_other_words_is_one_issue(before: Words, after: Words) -> None:
    assert told([(issue(before),), (issue(after, severity="Low"),)]) == [("I1", "open", (1, 2))]


@pytest.mark.parametrize(("before", "after"), [*DIFFERENT, *((two, one) for one, two in DIFFERENT)])
def test_another_problem_at_the_same_requirement_is_another_issue(before: Words, after: Words) -> None:
    assert told([(issue(before),), (issue(after),)]) == [("I1", "fixed", (1,)), ("I2", "new", (2,))]


def test_all_rewordings_at_one_requirement_find_their_own() -> None:
    pairs = list({before[0]: (before, after) for before, after in SAME}.values())
    first = tuple(issue(before) for before, _ in pairs)
    second = tuple(issue(after) for _, after in reversed(pairs))
    found = ledger([first, second])
    assert [entry.state for entry in found] == ["open"] * len(pairs)
    assert [entry.issue.title for entry in found] == [after[0] for _, after in pairs]


@pytest.mark.parametrize(
    "title",
    ["I2: still so", "I2", "[I2] still so", "(I2) still so", "**I2**: still so", "**I2:** still so", "I2 - still so",
     "I2 — still so", "i2: still so", "I2 (open): still so", "Issue I2: still so", "Issue: I2", "`I2` still so", "【I2】仍然"],
)  # fmt: skip
@pytest.mark.parametrize("where", ["", "auth:R7"])
def test_an_issue_that_names_its_entry_is_that_entry(title: str, where: str) -> None:
    rounds = [(issue(TIES), issue(EMPTY), issue(STATE)), (issue((title, "Nothing was done about it."), where),)]
    assert told(rounds)[1:] == [("I2", "open", (1, 2)), ("I3", "fixed", (1,))]


def test_the_name_may_stand_at_the_start_of_the_description() -> None:
    assert told([(issue(TIES), issue(EMPTY)), (issue(("", "[I2] as before"), ""),)])[1] == ("I2", "open", (1, 2))


@pytest.mark.parametrize(
    "title", ["I18n of errors", "I2C bus", "I/O errors", "I2 words", "As in I2: x", "I2.5", "II2: x", "I9: x"]
)
def test_what_only_looks_like_a_name_is_none(title: str) -> None:
    assert told([(issue(TIES), issue(EMPTY)), (issue((title, "Something else entirely."), ""),)])[-1][:2] == (
        "I3",
        "new",
    )


def test_two_that_name_one_entry_are_two_and_the_likelier_one_has_it() -> None:
    second = (issue(("I1: Something else", "Entirely.")), issue(("I1: Ties", "The order of equal counts.")))
    found = ledger([(issue(TIES),), second])
    assert [(entry.id, entry.state) for entry in found] == [("I1", "open"), ("I2", "new")]
    assert found[0].issue.title == "I1: Ties"


@pytest.mark.parametrize(
    "where", ["specs/top-words.md#R1", "Top-Words: R1", "`top-words:R1`", "R1", "top-words", "auth:R2, top-words:R1"]
)
def test_a_place_may_be_written_in_several_ways(where: str) -> None:
    assert told([(issue(TIES),), (issue(SAME[0][1], where),)]) == [("I1", "open", (1, 2))]


def test_what_is_very_much_alike_is_one_issue_wherever_it_is() -> None:
    down = ("Provider outage is not handled", "If GitHub is down the user sees a stack trace.")
    again = ("Provider outage is not handled", "When GitHub is down, the user still sees a stack trace.")
    assert told([(issue(down),), (issue(again, "auth:R4"),)]) == [("I1", "open", (1, 2))]
    assert told([(issue(down, ""),), (issue(again, ""),)]) == [("I1", "open", (1, 2))]


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (TIES, ("Ties of names", "Names that compare equal come in any order.")),
        (LIMIT, ("No rate limit on password reset", "Attackers can send mails without limit.")),
        (("No error scenario", "There is none."), ("No error scenario", "There is none.")),
    ],
)
def test_what_is_said_of_another_place_is_another_issue(before: Words, after: Words) -> None:
    assert told([(issue(before),), (issue(after, "auth:R4"),)])[0][1] == "fixed"


def test_the_severity_is_no_part_of_what_an_issue_is() -> None:
    (entry,) = ledger([(issue(TIES, severity="High"),), (issue(TIES, severity="Low"),)])
    assert (entry.state, entry.issue.severity) == ("open", "Low")


# ------------------------------------------------------------------------------------------------------------- states


def test_an_issue_is_new_open_fixed_and_reopened() -> None:
    ties, empty = issue(TIES), issue(EMPTY)
    assert told([]) == []
    assert told([()]) == []
    assert told([(ties,)]) == [("I1", "new", (1,))]
    assert told([(ties,), (ties, empty)]) == [("I1", "open", (1, 2)), ("I2", "new", (2,))]
    assert told([(ties,), (ties, empty), (empty,)]) == [("I1", "fixed", (1, 2)), ("I2", "open", (2, 3))]
    assert told([(ties,), (empty,), (ties,)]) == [("I1", "reopened", (1, 3)), ("I2", "fixed", (2,))]
    assert told([(ties,), (), (ties,), (ties,)]) == [("I1", "open", (1, 3, 4))]


def test_an_issue_that_comes_back_in_other_words_is_reopened() -> None:
    rounds = [(issue(ROTATION),), (issue(STORAGE),), (issue(SAME[9][1]),)]
    assert told(rounds)[0] == ("I1", "reopened", (1, 3))


POOL = [issue(words, where) for pair in (*SAME, *DIFFERENT) for words in pair for where in ("top-words:R1", "")]
POOL += [
    issue(("I1: x", "y")),
    issue(("I2: x", "y"), ""),
    Issue("Low", "", ""),
    Issue("Low", "", "", location="src/x.py"),
]
ISSUES = st.builds(
    replace, st.sampled_from(POOL), severity=st.sampled_from(SEVERITIES), suggestion=st.sampled_from(["", "Do it."])
) | st.builds(Issue, st.sampled_from(SEVERITIES), st.text(max_size=12), st.text(max_size=12), st.text(max_size=8))
ROUNDS = st.lists(st.lists(ISSUES, max_size=5).map(tuple), max_size=4)


@given(ROUNDS)
def test_every_issue_of_the_last_round_is_in_exactly_one_entry(rounds: list[Round]) -> None:
    found = ledger(rounds)
    open_ones = [entry.issue for entry in found if entry.state != "fixed"]
    assert Counter(open_ones) == Counter(rounds[-1] if rounds else ())
    assert [entry.id for entry in found] == [f"I{number}" for number in range(1, len(found) + 1)]
    for number, issues in enumerate(rounds, 1):
        assert sum(number in entry.seen for entry in found) == len(issues)


@given(ROUNDS, st.lists(ISSUES, max_size=5).map(tuple))
def test_a_further_round_changes_no_identity(rounds: list[Round], more: Round) -> None:
    before, after = ledger(rounds), ledger([*rounds, more])
    assert [entry.id for entry in after[: len(before)]] == [entry.id for entry in before]
    for old, new in zip(before, after, strict=False):
        assert new.seen in (old.seen, (*old.seen, len(rounds) + 1))
    assert all(entry.seen == (len(rounds) + 1,) for entry in after[len(before) :])


@given(st.lists(ISSUES, max_size=6).map(tuple), st.integers(2, 4))
def test_identical_rounds_leave_everything_open(issues: Round, times: int) -> None:
    found = ledger([issues] * times)
    assert len(found) == len(issues)
    assert all(entry.state == "open" for entry in found)


@given(ROUNDS, st.lists(ISSUES, max_size=5).map(tuple))
def test_a_round_that_is_repeated_leaves_all_of_it_open(rounds: list[Round], issues: Round) -> None:
    found = [entry for entry in ledger([*rounds, issues, issues]) if entry.state != "fixed"]
    assert all(entry.state == "open" for entry in found)


@given(ROUNDS)
def test_the_same_rounds_give_the_same_ledger(rounds: list[Round]) -> None:
    assert ledger(rounds) == ledger(list(rounds))
    assert len(table(ledger(rounds))) == len(ledger(rounds))


# -------------------------------------------------------------------------------------------------------- convergence


def judged(rounds: list[Round]) -> str:
    return converging(ledger(rounds), rounds)


def test_a_loop_that_gets_somewhere_converges() -> None:
    a, b, c = issue(TIES), issue(EMPTY), issue(STATE)
    assert judged([]) == ""
    assert judged([(a, b)]) == ""
    assert judged([(a, b), (a, b)]) == ""
    assert judged([(a, b), (a, b, c)]) == ""
    assert judged([(a, b, c), (a, b), (a,)]) == ""
    assert judged([(a,), (a, b), ()]) == ""


def test_an_issue_that_came_back_is_named() -> None:
    a, b = issue(TIES), issue(EMPTY)
    assert judged([(a, b), (b,), (a,)]) == "I1 was fixed and came back"
    assert judged([(a, b), (), (a, b)]) == "I1, I2 were fixed and came back"


def test_as_many_issues_that_count_after_a_revision_are_told() -> None:
    a, b, c = issue(TIES), issue(EMPTY, severity="Medium"), issue(STATE)
    low = issue(LIMIT, severity="Low")
    assert "2 High and Medium issues" in judged([(a, b, c), (a, b), (a, b)])
    assert "1 High and Medium issue," in judged([(a, b), (a,), (c,)])
    assert "2 High and Medium issues, after 1" in judged([(a,), (a,), (a, b)])
    assert judged([(low,), (low,), (low,)]) == ""
    assert judged([(a,), (a, b), (a, low)]) == ""


# --------------------------------------------------------------------------------------------------------- for people


def test_the_ledger_is_a_table_that_lines_up() -> None:
    nowhere = Issue("Low", "", "No title\nat all", file_path="src/x.py", line_number=7)
    doubtful = replace(issue(("I3: Who may", "x"), "top-words:R9"), ungrounded="there is no requirement top-words:R9")
    lines = table(ledger([(issue(TIES), nowhere), (issue(TIES), replace(doubtful, severity="Medium"))]))
    assert lines == [
        "I1  open      High    top-words:R1  Ties are left open (rounds 1, 2)",
        "I2  fixed     Low     src/x.py:7    No title at all (round 1)",
        "I3  new       Medium  top-words:R9  Who may (round 2) (ungrounded: there is no requirement top-words:R9)",
    ]
    assert table([]) == []
    assert table([Entry("I1", Issue("High", "x", ""), "new", (1,))]) == ["I1  new       High    -  x (round 1)"]
