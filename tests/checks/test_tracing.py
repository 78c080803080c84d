"""From requirements to evidence: what names a requirement, what was seen of its tests, and every gap in between."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from agentd.families.change.requirement_mentions import mentioned
from agentd.families.change.trace_model import GAPS, Known, Row, TracedTest, summary
from agentd.families.change.trace_rows import rows, strays
from agentd.model.change import Requirement, Scenario, Spec, Task
from agentd.model.command import Command
from agentd.model.evidence import Case, Counts, Evidence, Harm, Result, Status

TOP = Spec(
    "top-words",
    "Top words",
    "The frequent ones",
    (Requirement("R1", "Frequent first", "It SHALL."), Requirement("R2", "Ties by the alphabet", "It SHALL.")),
    (Scenario("two words", "asked", "done"),),
)
LOGIC = Task("logic", 1, "Count", "tally/words.py", "MODIFY", "top-words:R1", status="completed")
TESTING = Task("testing", 1, "Test", "tests/test_top.py", "CREATE", "top-words:R1", "", ("logic.1",), "completed")
TEST = Command("test", "pytest")
PASSED = Case("tests/test_top.py::test_order", "passed", "tests/test_top.py")
FAILED = Case("tests/test_top.py::test_order", "failed", "tests/test_top.py", 7)


def ran(*cases: Case, status: Status | None = None, total: int | None = None, command: Command = TEST) -> Result:
    failed = sum(case.status == "failed" for case in cases)
    skipped = sum(case.status == "skipped" for case in cases)
    many = len(cases) if total is None else total
    counts = Counts(many, many - failed - skipped, failed, skipped)
    return Result(command, status or ("red" if failed else "green"), counts=counts, cases=cases)


def known(*results: Result, **more: Any) -> Known:
    """A change in which everything is as it should be."""
    right: dict[str, Any] = {
        "specs": {"top-words": TOP},
        "tasks": (LOGIC, TESTING),
        "fresh": {"top-words": {"R1"}},
        "undone": {"logic.1": "", "testing.1": ""},
        "evidence": Evidence("tree", "now", results or (ran(PASSED),)),
    }
    return Known(**{**right, **more})


def first(found: Known) -> Row:
    return rows(found)[0]


def gaps(row: Row) -> Mapping[str, str]:
    assert all(gap.why in GAPS and gap.text.endswith(".") for gap in row.gaps)
    return {gap.why: gap.text for gap in row.gaps}


@pytest.mark.parametrize(
    "text",
    [
        "# proves top-words:R1",
        "def test_top_words_r1_most_frequent_first():",
        "class TopWordsR1:",
        "void testTopWordsR1First() {",
        "// specs/top-words.md#R1",
        '@pytest.mark.requirement("top-words", "R1")',
        '"""Top words: R2 and R1."""',
        "it('top_words R1: frequent first')",
    ],
)
def test_a_requirement_is_named_by_its_spec_and_its_id(text: str) -> None:
    assert ("top-words", "R1") in mentioned(text, ["top-words", "words"])
    assert not [spec for spec, _ in mentioned(text, ["top-words", "words"]) if spec == "words"]


@pytest.mark.parametrize(
    "text",
    [
        "R1",
        "def test_r1():",
        "top-words:R12",
        "top_words = f(r1)",
        "# top-words\n# R1",
        "desktop-words:R1",
        "top-wordsmith:R1",
        "STOP_WORDS_R1",
        "other-top-wordsR",
    ],
)
def test_what_only_looks_like_it_names_nothing(text: str) -> None:
    assert ("top-words", "R1") not in mentioned(text, ["top-words"])


def test_an_id_belongs_to_the_spec_before_it_on_its_line() -> None:
    assert mentioned("# auth: R1; top-words: R2, R3", ["auth", "top-words"]) == {
        ("auth", "R1"),
        ("top-words", "R2"),
        ("top-words", "R3"),
    }


def test_in_a_file_that_has_the_specs_name_the_id_alone_is_enough() -> None:
    text = "def test_r1_first():\n    r2 = 1\n# R3: ties\n"
    assert mentioned(text, ["top-words"], "tests/test_top_words.py") == {("top-words", "R1"), ("top-words", "R3")}
    assert not mentioned(text, ["top-words"], "tests/test_other.py")


def test_a_requirement_with_everything_has_no_gap() -> None:
    row = first(known())
    assert row.gaps == ()
    assert [(task.id, task.status) for task in row.tasks] == [("logic.1", "completed"), ("testing.1", "completed")]
    assert [(file.path, file.changed) for file in row.files] == [("tally/words.py", True), ("tests/test_top.py", True)]
    assert row.tests == (TracedTest("tests/test_top.py", "task", "testing.1"),)
    assert row.evidence
    assert (row.evidence.status, row.evidence.passed, row.evidence.whole) == ("green", 1, False)


def test_a_requirement_that_the_change_only_repeats_needs_nothing() -> None:
    row = rows(known())[1]
    assert (row.id, row.fresh, row.tasks, row.gaps) == ("R2", False, (), ())


def test_a_new_requirement_without_task_and_test_says_so() -> None:
    row = rows(known(fresh={"top-words": {"R1", "R2"}}, unreviewed="Nobody has reviewed it."))[1]
    assert list(gaps(row)) == ["no_task", "no_test", "not_reviewed"]


def test_an_open_task_and_a_file_that_did_not_change_are_gaps() -> None:
    left = replace(LOGIC, status="pending")
    row = first(known(tasks=(left, TESTING), undone={"logic.1": "tally/words.py has not changed", "testing.1": ""}))
    assert gaps(row) == {
        "task_open": "logic.1 is pending.",
        "file_unchanged": "tally/words.py has not changed (logic.1).",
    }
    assert [file.changed for file in row.files] == [False, True]


def test_a_task_that_a_person_did_without_is_marked_and_no_gap() -> None:
    row = first(
        known(undone={"logic.1": "tally/words.py has not changed", "testing.1": ""}, waivers={"task:logic.1": "ann"})
    )
    assert row.gaps == ()
    assert row.tasks[0].waived_by == "ann"


def test_where_nobody_can_tell_whether_a_file_changed_it_is_not_marked() -> None:
    row = first(known(undone={}))
    assert [file.changed for file in row.files] == [None, None]
    assert row.gaps == ()


def test_a_changed_test_file_that_names_the_requirement_is_a_test_of_it() -> None:
    text = "def test_top_words_r1():\n    ..."
    row = first(known(tasks=(LOGIC,), texts={"tests/test_more.py": text, "tests/test_no.py": ""}))
    assert row.tests == (TracedTest("tests/test_more.py", "named"),)


def test_a_testing_task_that_builds_on_the_requirement_counts_where_there_is_no_other_test() -> None:
    between = Task("integration", 1, "Join", "tally/__init__.py", "MODIFY", "top-words:R2", "", ("logic.1",))
    last = replace(TESTING, spec_ref="top-words:R2", depends=("integration.1",))
    row = first(known(tasks=(LOGIC, between, last)))
    assert row.tests == (TracedTest("tests/test_top.py", "via", "testing.1"),)
    assert row.gaps == ()


def test_a_failing_test_is_red_and_only_for_its_own_requirement() -> None:
    cases = (
        Case("test_top_words_r1", "failed", "tests/test_top.py"),
        Case("test_top_words_r2", "passed", "tests/test_top.py"),
    )
    second = replace(TESTING, number=2, spec_ref="top-words:R2")
    one, two = rows(known(ran(*cases), tasks=(LOGIC, TESTING, second)))
    assert gaps(one) == {"test_red": "1 of its tests fails."}
    assert two.gaps == ()
    assert two.evidence
    assert (two.evidence.passed, two.evidence.failed) == (1, 0)


def test_an_output_that_names_no_test_counts_as_a_whole() -> None:
    row = first(known(ran(total=9)))
    assert row.evidence
    assert (row.evidence.status, row.evidence.passed, row.evidence.whole) == ("green", 9, True)
    assert gaps(first(known(ran(status="red", total=9))))["test_red"].startswith("The tests are red")


def test_failures_that_are_placed_in_other_test_files_are_not_its_own() -> None:
    other = Case("tests/test_no.py::test_it", "failed", "tests/test_no.py")
    assert first(known(ran(other, total=9))).gaps == ()
    nowhere = Case("something", "failed", "tally/words.py")
    assert list(gaps(first(known(ran(nowhere, total=9))))) == ["test_red"]


def test_a_command_in_another_folder_proves_nothing_about_it() -> None:
    web = ran(total=9, command=Command("test", "npm test", "web"))
    assert gaps(first(known(web))) == {"no_evidence": "Its tests did not run."}


def test_tests_that_were_skipped_or_not_written_prove_nothing() -> None:
    skipped = Case("tests/test_top.py::test_order", "skipped", "tests/test_top.py")
    assert list(gaps(first(known(ran(skipped))))) == ["no_evidence"]
    row = first(known(undone={"logic.1": "", "testing.1": "tests/test_top.py is not there"}))
    assert list(gaps(row)) == ["file_unchanged", "no_evidence"]
    assert not row.tests[0].written


def test_tests_that_could_not_run_are_a_gap_until_a_person_waives_it() -> None:
    cannot = Result(TEST, "unknown")
    assert gaps(first(known(cannot))) == {"no_evidence": "The tests could not run."}
    row = first(known(cannot, waivers={"test:pytest": "ann"}))
    assert row.gaps == ()
    assert row.evidence
    assert row.evidence.waived_by == "ann"
    none = Evidence("tree", "now")
    assert list(gaps(first(known(evidence=none)))) == ["no_evidence"]
    assert first(known(evidence=none, waivers={"test:": "ann"})).gaps == ()


def test_without_evidence_the_reason_is_told() -> None:
    row = first(known(evidence=None, problem="evidence.json is missing"))
    assert gaps(row) == {"no_evidence": "Nothing was seen of its tests: evidence.json is missing."}
    assert row.evidence is None


def test_evidence_of_other_files_is_stale() -> None:
    row = first(known(stale="tally/words.py changed after the tests ran."))
    assert row.evidence
    assert row.evidence.stale
    assert gaps(row) == {"stale_evidence": "tally/words.py changed after the tests ran."}


def test_red_on_the_old_code_is_told_as_far_as_it_was_tried() -> None:
    def before(*results: Result) -> bool | None:
        seen = first(known(evidence=Evidence("tree", "now", (ran(PASSED),), before=results))).evidence
        assert seen
        return seen.red_before

    assert before(ran(FAILED)) is True
    assert before(ran(status="red", total=3)) is True
    assert before(ran(PASSED)) is False
    assert before() is None
    assert before(Result(TEST, "unknown")) is None


def test_harm_to_its_tests_stands_with_the_evidence_and_who_waived_it() -> None:
    harm = Harm("removed_assertion", "an assertion is gone", "tests/test_top.py")
    seen = Evidence("tree", "now", (ran(PASSED),), (harm, Harm("x", "y", "tests/test_no.py")))
    row = first(known(evidence=seen, waivers={harm.id: "ann"}))
    assert row.evidence
    assert [(one.id, one.waived_by) for one in row.evidence.harms] == [(harm.id, "ann")]


def test_tasks_that_lead_to_no_requirement_are_listed() -> None:
    found = known(tasks=(LOGIC, replace(TESTING, spec_ref="none"), replace(LOGIC, number=2, spec_ref="top-words:R9")))
    assert [task.id for task in strays(found)] == ["testing.1", "logic.2"]


def test_the_summary_counts_requirements_and_gaps() -> None:
    found = rows(known(fresh={"top-words": {"R1", "R2"}}))
    expected = {"requirements": 2, "complete": 1, "with_gaps": 1, "gaps": {"no_task": 1, "no_test": 1}}
    assert summary(found) == expected
