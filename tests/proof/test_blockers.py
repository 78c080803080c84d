"""What keeps an implementation from an approval: red, nothing collected and fewer tests always do, whatever is waived."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.model.command import Command, Kind
from agentd.model.evidence import Case, Counts, Evidence, Harm, Result, Status
from agentd.proof.blockers import NO_TESTS, blockers, in_words, status, wanting

TEST = Command("test", "pytest -q")
LINT = Command("lint", "ruff check .")
AUDIT = Command("audit", "pip-audit")


def ran(passed: int = 3, *failing: str, command: Command = TEST, **more: object) -> Result:
    """A run of the tests with so many that passed and these that failed."""
    counts = Counts(passed + len(failing), passed, len(failing))
    cases = tuple(Case(name, "failed") for name in failing)
    made = Result(command, "red" if failing else "green", 1 if failing else 0, 0.1, counts, cases)
    return replace(made, **more)  # type: ignore[arg-type]


def seen(*results: Result, harms: tuple[Harm, ...] = ()) -> Evidence:
    return Evidence("tree", "now", results, harms)


def words(now: Evidence, before: Evidence | None = None, *waived: str) -> list[str]:
    return [one.why for one in blockers(now, before, waived)]


statuses: st.SearchStrategy[Status] = st.sampled_from(["green", "red", "none", "unknown"])
kinds: st.SearchStrategy[Kind] = st.sampled_from(["test", "lint", "types", "audit"])
results = st.builds(
    lambda kind, status, run, counts: Result(Command(kind, run), status, 0, 0.0, counts),
    kinds,
    statuses,
    st.sampled_from(["a", "b"]),
    st.none() | st.builds(Counts, st.integers(0, 9), st.integers(0, 9), st.integers(0, 9)),
)
evidences = st.builds(lambda found: Evidence("tree", "now", tuple(found)), st.lists(results, max_size=5))


@given(evidences, st.none() | evidences, st.lists(st.sampled_from(["test:a", "test:b", "audit:a", NO_TESTS, ""])))
def test_red_and_nothing_collected_are_never_waived_and_never_approved(
    now: Evidence, before: Evidence | None, waived: list[str]
) -> None:
    found = blockers(now, before, waived)
    for one in now.results:
        if one.command.kind == "test" and one.status in ("red", "none"):
            assert any(each.why == one.status for each in found)
    if not found:
        assert all(one.status in ("green", "unknown") for one in now.results if one.command.kind == "test")


@given(evidences, evidences)
def test_fewer_tests_than_before_always_stand_in_the_way(now: Evidence, before: Evidence) -> None:
    def executed(evidence: Evidence) -> int:
        counts = [one.counts for one in evidence.results if one.command.kind == "test" and one.counts]
        return sum(each.passed + each.failed for each in counts)

    told = any(one.counts for one in before.results if one.command.kind == "test")
    if told and executed(now) < executed(before):
        assert "fewer" in [one.why for one in blockers(now, before, ["", "test:a", "test:b"])]


def test_green_tests_stand_in_nobodys_way() -> None:
    assert blockers(seen(ran(3)), seen(ran(3))) == ()
    assert status(()) == "green"


def test_what_was_red_before_may_stay_red_and_nothing_else() -> None:
    before = seen(ran(3, "test_old"))
    assert words(seen(ran(4, "test_old")), before) == []
    assert words(seen(ran(4, "test_new")), before) == ["red"]
    assert words(seen(ran(4, "test_old", "test_new")), before) == ["red"]


def test_a_red_run_that_does_not_name_all_its_failures_may_hide_a_new_one() -> None:
    before = seen(ran(3, "test_old"))
    hidden = replace(ran(3, "test_old"), counts=Counts(5, 3, 2))
    assert words(seen(hidden), before) == ["red"]
    assert words(seen(replace(ran(3, "test_old"), counts=None)), before)[:1] == ["red"]


def test_skipped_tests_did_not_run() -> None:
    skipped = replace(ran(2), counts=Counts(3, 2, 0, 1))
    assert words(seen(skipped), seen(ran(3))) == ["fewer"]


def test_an_output_that_names_no_tests_any_more_is_fewer() -> None:
    assert words(seen(replace(ran(3), counts=None)), seen(ran(3))) == ["fewer"]


def test_what_ran_before_and_can_no_longer_is_for_a_person() -> None:
    audit = Result(AUDIT, "unknown", 1, note="no network")
    now, before = seen(ran(3), audit), seen(ran(3), Result(AUDIT, "green", 0))
    assert words(now, before) == ["unknown"]
    assert words(now, before, "audit:pip-audit") == []
    assert "could not audit" in blockers(now, before)[0].text


def test_a_tool_that_never_ran_is_a_note_and_tests_that_cannot_run_are_for_a_person() -> None:
    tools = [Result(one, "unknown", note="it is not installed") for one in (LINT, AUDIT)]
    assert words(seen(ran(3), *tools), seen(ran(3), *tools)) == []
    assert words(seen(ran(3), *tools)) == []
    assert words(seen(Result(TEST, "unknown"), *tools)) == ["unknown"]
    assert words(seen()) == ["unknown"]
    assert words(seen(), None, NO_TESTS) == []


@pytest.mark.parametrize(("before", "expected"), [(None, ["red"]), ("green", ["red"]), ("red", [])])
def test_a_linter_that_was_red_before_is_not_held_against_the_change(
    before: Status | None, expected: list[str]
) -> None:
    red = Result(LINT, "red", 1, 0.0, Counts(2, 0, 2), (Case("a.py:1 E1", "failed"),))
    was = seen(ran(3), replace(red, status=before)) if before else seen(ran(3))
    assert words(seen(ran(3), red), was) == expected


def test_more_problems_than_before_are_new_ones() -> None:
    two = Result(LINT, "red", 1, 0.0, Counts(2, 0, 2))
    three = replace(two, counts=Counts(3, 0, 3))
    assert words(seen(ran(3), three), seen(ran(3), two)) == ["red"]


def test_harm_to_the_tests_is_waived_by_its_id_alone() -> None:
    harm = Harm("skipped_test", "test_x is skipped now", "tests/test_x.py", 3, "@skip")
    now = seen(ran(3), harms=(harm,))
    assert words(now) == ["harm"]
    assert words(now, None, harm.id) == []
    assert words(now, None, "T-00000000") == ["harm"]
    assert replace(harm, line=9).id == harm.id


def test_a_baseline_is_wanting_if_its_tests_are_not_green() -> None:
    assert wanting(seen(ran(3))) == ()
    assert [one.why for one in wanting(seen())] == ["unknown"]
    assert [one.why for one in wanting(seen(ran(3, "test_x"), Result(AUDIT, "unknown")))] == ["red"]
    assert [one.why for one in wanting(seen(Result(TEST, "unknown"), Result(AUDIT, "unknown")))] == ["unknown"]
    assert wanting(seen(ran(3), Result(LINT, "red", 1))) == ()


def test_a_result_is_told_in_one_line() -> None:
    assert in_words(ran(3, "test_x")) == "tests red: 3 passed, 1 failed"
    assert in_words(Result(AUDIT, "unknown", None, note="pip-audit is not installed")) == (
        "security audit could not audit: pip-audit is not installed"
    )
    assert in_words(Result(Command("types", "mypy ."), "unknown", 127, note="mypy is not installed")) == (
        "type check not run: mypy is not installed"
    )
