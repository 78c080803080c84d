"""`agentd impl` from the outside: phases, tasks, the review loop, and where the same command goes on."""

import re
import sys
from typing import Any

import pytest
import yaml

from tests.evidence import fake_audit
from tests.impl.coding import APPROVED, HONEST, QUOTE, called, report, seen, tasks, verdict
from tests.plan.plans import answered, plan_of, spied, steps
from tests.sandbox import CHANGE, IDEA, NEVER, YES, Sandbox

FAKE_AUDIT = f"{sys.executable} {fake_audit.__file__} --as pip-audit"


def phases(sandbox: Sandbox) -> list[str]:
    return list(dict.fromkeys(event["phase"] for event in sandbox.events() if "phase" in event))


@pytest.mark.requirement(57, 60)
def test_impl_takes_an_approved_plan_to_implementing_and_an_approved_review_to_complete(planned: Sandbox) -> None:
    planned.script(implement=HONEST, review=APPROVED)
    done = planned.run("impl", CHANGE)
    assert done.code == 0, done.out + done.err
    assert phases(planned)[-3:] == ["challenged", "implementing", "complete"]
    assert called(planned) == ["implement-1.1 implement/top-words", "review-1.1"] or "implement-1.1" in str(
        called(planned)
    )
    assert planned.state()["verdict"] == "APPROVED"
    assert done.out.splitlines()[-1] == f"Next: agentd archive {CHANGE} && agentd commit {CHANGE}"


@pytest.mark.requirement(58)
def test_impl_on_implementing_goes_on_with_the_first_task_that_is_not_done(planned: Sandbox) -> None:
    first = {**HONEST, "append": {"tally/words.py": "\n# begun\n"}, "fail": "error"}
    planned.script(implement=[{key: value for key, value in first.items() if key != "files"}, HONEST], review=APPROVED)
    stopped = planned.run("impl", CHANGE)
    assert (stopped.code, planned.state()["phase"]) == (1, "implementing")
    assert "completed" not in tasks(planned)
    planned.script(implement=HONEST | {"replace": {}, "append": {"tally/words.py": HONEST["append"]["tally/words.py"]}})
    done = planned.run("impl", CHANGE)
    assert done.code == 0, done.out + done.err
    assert planned.state()["phase"] == "complete"


@pytest.mark.requirement(59)
def test_impl_refuses_what_is_proposed_rejected_or_archived_and_says_what_to_do(sandbox: Sandbox) -> None:
    sandbox.script(challenge=[{"fail": "error"}, NEVER, YES])
    sandbox.plan()
    proposed = sandbox.run("impl", CHANGE, "--json")
    assert (proposed.code, proposed.data["error"], proposed.data["fix"]) == (
        1,
        "ChangeNotReady",
        f"agentd plan {CHANGE}",
    )
    sandbox.run("plan", CHANGE)
    assert sandbox.state()["phase"] == "rejected"
    assert sandbox.run("impl", CHANGE, "--json").data["error"] == "ChangeNotReady"
    sandbox.edit_state("phase: rejected", "phase: complete")
    assert sandbox.run("archive", CHANGE).code == 0
    archived = sandbox.run("impl", CHANGE, "--json")
    assert (archived.code, archived.data["error"]) == (1, "ChangeNotReady")


@pytest.mark.requirement(61)
@pytest.mark.parametrize("word", ["NEEDS_FIX", "NEEDS_CHANGES"])
def test_a_review_that_asks_for_a_fix_is_fixed_without_leaving_implementing(planned: Sandbox, word: str) -> None:
    planned.script(
        implement=HONEST,
        review=[verdict(word, "No docstring"), APPROVED],
        resolve={"append": {"tally/words.py": "\n# told\n"}},
    )
    done = planned.run("impl", CHANGE)
    assert done.code == 0, done.out + done.err
    ends = [(event["step"], event["outcome"], event["phase"]) for event in planned.events() if event["event"] == "end"]
    assert ("judge", "needs_changes", "implementing") in ends
    assert ("resolve", "done", "implementing") in ends
    assert planned.state()["phase"] == "complete"


@pytest.mark.requirement(62)
def test_the_implementer_is_given_the_proposal_the_specs_and_the_tasks(planned: Sandbox) -> None:
    planned.script(implement=HONEST, review=APPROVED)
    spy = spied(planned)
    assert planned.run("impl", CHANGE).code == 0
    (job,) = spy.of("implement")
    for name in ("proposal.md", "specs/top-words.md", "tasks.md"):
        assert f"{planned.folder()}/{name}" in job["prompt"]
    assert "logic.1 Count and sort: MODIFY tally/words.py (top-words:R1)" in job["prompt"]
    assert "read_all_requirements" in job["tools"]
    assert job["edits"]
    assert job["shell"]


@pytest.mark.requirement(294)
def test_the_prompts_demand_tests_of_the_implementer_and_logic_edge_cases_and_best_practices_of_the_reviewer(
    planned: Sandbox,
) -> None:
    planned.script(implement=HONEST, review=APPROVED)
    spy = spied(planned)
    assert planned.run("impl", CHANGE).code == 0
    assert "Write tests with the code" in spy.of("implement")[0]["prompt"]
    (review,) = spy.of("review")
    for words in ("1. Logic", "Edge cases", "Best practices", "tests green: 3 passed"):
        assert words in review["prompt"]
    assert not review["edits"]
    assert not review["shell"]


@pytest.mark.requirement(63)
def test_a_review_comes_with_the_tests_a_security_scan_and_a_code_review(planned: Sandbox) -> None:
    (planned.root / "audit.json").write_text('{"packages": {"left": "1.0"}, "advisories": []}')
    planned.set("evidence", audit=FAKE_AUDIT)
    planned.script(implement=HONEST, review=APPROVED)
    done = planned.run("impl", CHANGE)
    assert done.code == 0, done.out + done.err
    found = {one.command.kind: one for one in seen(planned).results}
    assert (found["test"].status, found["audit"].status) == ("green", "green")
    assert found["test"].counts
    assert found["test"].counts.total == 3
    assert "review-1.1" in str(called(planned))
    assert "## Evidence" in report(planned)
    assert "fake_audit" in report(planned)


@pytest.mark.requirement(64)
@pytest.mark.parametrize(
    ("word", "phase"), [("APPROVED", "complete"), ("NEEDS_CHANGES", "implementing"), ("MAJOR_ISSUES", "implementing")]
)
def test_the_review_is_written_down_with_its_verdict(planned: Sandbox, word: str, phase: str) -> None:
    issues = () if word == "APPROVED" else ("Wrong order",)
    planned.script(implement=HONEST, review=verdict(word, *issues), resolve={"append": {"tally/words.py": "\n# x\n"}})
    planned.run("impl", CHANGE)
    assert re.search(rf"## Verdict\n\n{word}\n", report(planned))
    assert planned.state()["phase"] == phase
    assert planned.state()["verdict"] == word


@pytest.mark.requirement(65, 67)
def test_fixes_and_reviews_alternate_up_to_the_limit_and_then_a_person_is_needed(planned: Sandbox) -> None:
    texts = ["Wrong order", "No limit", "Bad name"]
    planned.script(
        implement=HONEST,
        review=[verdict("NEEDS_CHANGES", text) for text in texts],
        resolve=[{"append": {"tally/words.py": f"\n# {number}\n"}} for number in range(3)],
    )
    stopped = planned.run("impl", CHANGE)
    assert stopped.code == 4
    assert [call.split()[0] for call in called(planned) if "resolve" in call] == ["resolve-1.1", "resolve-2.1"]
    assert planned.state()["phase"] == "implementing"
    assert "manual intervention" in stopped.out


@pytest.mark.requirement(66, 70)
def test_major_issues_stop_the_loop_at_once_and_the_same_command_resolves_them(planned: Sandbox) -> None:
    planned.script(
        implement=HONEST,
        review=[verdict("MAJOR_ISSUES", "Wrong at its root"), APPROVED],
        resolve={"append": {"tally/words.py": "\n# righted\n"}},
    )
    stopped = planned.run("impl", CHANGE)
    assert (stopped.code, planned.state()["phase"]) == (4, "implementing")
    assert "resolve" not in str(called(planned))
    assert "Major issues" in stopped.out
    done = planned.run("impl", CHANGE)
    assert done.code == 0, done.out + done.err
    assert "resolve-1.1" in str(called(planned))
    assert planned.state()["phase"] == "complete"


@pytest.mark.requirement(68)
def test_an_implementation_without_a_review_goes_on_with_the_review(planned: Sandbox) -> None:
    planned.script(implement=HONEST, review={"fail": "error"})
    assert planned.run("impl", CHANGE).code == 1
    (planned.folder() / "REVIEW.md").unlink(missing_ok=True)
    planned.edit_state("phase: implementing", "phase: complete")
    planned.edit_state("phase: complete", "phase: implementing")
    planned.edit_state("  step: review", "  step: baseline")
    planned.script(review=APPROVED)
    before = [call for call in called(planned) if "implement" in call]
    done = planned.run("impl", CHANGE)
    assert done.code == 0, done.out + done.err
    assert [call for call in called(planned) if "implement" in call] == before
    assert planned.state()["phase"] == "complete"


@pytest.mark.requirement(69)
def test_an_approval_that_was_not_saved_is_taken_up_and_kept(complete: Sandbox) -> None:
    before = called(complete)
    complete.edit_state("phase: complete", "phase: implementing")
    done = complete.run("impl", CHANGE)
    assert done.code == 0, done.out + done.err
    assert called(complete) == before
    assert complete.state()["phase"] == "complete"


@pytest.mark.requirement(69)
def test_an_approval_of_other_files_is_stale_and_reviewed_again(complete: Sandbox) -> None:
    complete.edit_state("phase: complete", "phase: implementing")
    with (complete.root / "tally" / "words.py").open("a") as file:
        file.write("\n# changed by hand\n")
    done = complete.run("impl", CHANGE)
    assert done.code == 0, done.out + done.err
    assert "the approval is stale: tally/words.py changed after the tests ran" in done.out
    assert "review-2.1" in str(called(complete))


@pytest.mark.requirement(70)
def test_an_implementation_with_a_review_that_asks_for_changes_goes_on_with_resolving(planned: Sandbox) -> None:
    planned.script(
        implement=HONEST,
        review=[verdict("NEEDS_CHANGES", "Wrong order"), APPROVED],
        resolve=[{"fail": "error"}, {"append": {"tally/words.py": "\n# told\n"}}],
    )
    assert planned.run("impl", CHANGE).code == 1
    planned.edit_state("  step: resolve", "  step: baseline")
    done = planned.run("impl", CHANGE)
    assert done.code == 0, done.out + done.err
    assert steps(planned)[-4:] == ["resolve", "test", "review", "judge"]


@pytest.mark.requirement(71)
def test_impl_on_a_complete_change_is_a_success_with_a_hint(complete: Sandbox) -> None:
    before = called(complete)
    again = complete.run("impl", CHANGE)
    assert again.code == 0
    assert "✅ Implementation complete" in again.out
    assert again.out.splitlines()[-1] == f"Next: agentd archive {CHANGE} && agentd commit {CHANGE}"
    assert called(complete) == before


def make(*names: str) -> dict[str, Any]:
    """What an implementer does for each of these parts: a module and a test for it."""
    made = {}
    for number, name in enumerate(names, 1):
        made[f"implement@{name}"] = {
            "files": {f"tally/part{number}.py": f"NAME = '{name}'\n"},
        }
    return made


@pytest.mark.requirement(72)
def test_tasks_are_done_spec_by_spec_or_all_at_once(sandbox: Sandbox) -> None:
    sandbox.script(**plan_of("first", "second"), **make("first", "second"), review=APPROVED)
    assert sandbox.plan().code == 0
    done = sandbox.run("impl", CHANGE)
    assert done.code == 0, done.out + done.err
    items = [path.parent.parent.name for path in sandbox.folder().rglob("calls/implement-*.jsonl")]
    assert sorted(items) == ["first", "second"]
    every = {"files": {f"tally/part{number}.py": f"NUMBER = {number}\n" for number in (1, 2)}}
    sandbox.set("workflow", sequential_implementation=False)
    sandbox.script(
        **plan_of("third", "fourth"), implement={"files": {f"tally/part{n}.py": f"N = {n}\n" for n in (1, 2)}}
    )
    assert sandbox.run("plan", "other", IDEA).code == 0
    sandbox.script(implement=every)
    done = sandbox.run("impl", "other")
    assert done.code == 0, done.out + done.err
    calls = list(sandbox.folder("other").rglob("calls/implement-*.jsonl"))
    assert [path.parent.parent.name for path in calls] == ["all"]


def test_only_the_tasks_a_person_names_are_done_and_the_rest_later(sandbox: Sandbox) -> None:
    sandbox.script(**plan_of("first", "second"), review=APPROVED)
    sandbox.script(implement=[{"files": {"tally/part2.py": "B = 1\n"}}])
    assert sandbox.plan().code == 0
    some = sandbox.run("impl", CHANGE, "--tasks", "2.2")
    assert some.code == 0, some.out + some.err
    assert "still open: logic.1" in some.out
    assert sandbox.state()["phase"] == "implementing"
    sandbox.script(**{"implement@first": {"files": {"tally/part1.py": "A = 1\n"}}})
    done = sandbox.run("impl", CHANGE)
    assert done.code == 0, done.out + done.err
    assert sandbox.state()["phase"] == "complete"
    wrong = sandbox.run("impl", "nothing", "--tasks", "9.9")
    assert wrong.code == 1


@pytest.mark.requirement(295)
def test_a_complete_change_is_reviewed_again_and_stays_complete_until_it_is_reopened(complete: Sandbox) -> None:
    good = complete.run("impl", CHANGE, "--re-review")
    assert good.code == 0, good.out + good.err
    assert "reviewed again: APPROVED" in good.out
    complete.script(review=[APPROVED, verdict("NEEDS_CHANGES", "Wrong order")])
    complete.script(review=verdict("NEEDS_CHANGES", "Wrong order"))
    bad = complete.run("impl", CHANGE, "--re-review")
    assert (bad.code, complete.state()["phase"]) == (1, "complete")
    assert f"agentd impl {CHANGE} --resolve" in bad.out
    complete.script(resolve={"append": {"tally/words.py": "\n# told\n"}}, review=APPROVED)
    done = complete.run("impl", CHANGE, "--resolve")
    assert done.code == 0, done.out + done.err
    assert complete.state()["phase"] == "complete"
    assert "reopened" in [event["event"] for event in complete.events()]


def test_a_red_baseline_is_decided_by_a_person_and_from_then_on_nothing_new_may_fail(planned: Sandbox) -> None:
    test = planned.root / "tests" / "test_words.py"
    test.write_text(test.read_text().replace('"not": 1}', '"not": 2}'))
    planned.script(implement=HONEST, review=APPROVED)
    asked = planned.run("impl", CHANGE)
    assert asked.code == 4
    assert "tests red" in asked.out
    assert "implement-1.1" not in str(called(planned))
    done = planned.run("impl", CHANGE, *answered(planned, begin_anyway={"value": "proceed", "note": "known"}))
    assert done.code == 0, done.out + done.err
    assert planned.state()["phase"] == "complete"


def test_a_loop_that_gives_up_can_be_overridden_with_a_reason_and_that_is_no_approval(planned: Sandbox) -> None:
    planned.script(implement=HONEST, review=verdict("MAJOR_ISSUES", "Wrong at its root"))
    assert planned.run("impl", CHANGE).code == 4
    decision = planned.run("status", CHANGE, "--json").data["decisions"][0]["decision_id"]
    assert planned.run("answer", CHANGE, decision, "accept").code != 0
    assert planned.run("answer", CHANGE, decision, "accept", "--note", "we know").code == 0
    done = planned.run("impl", CHANGE)
    assert done.code == 0, done.out + done.err
    state = planned.state()
    assert (state["phase"], state["verdict"]) == ("complete", "MAJOR_ISSUES")
    assert state["implementation"]["approved"]["override"] == decision
    assert "without an approval: we know" in report(planned)


def test_what_is_found_about_the_project_is_shown_and_kept_in_its_configuration(planned: Sandbox) -> None:
    planned.set("evidence", test="")
    planned.script(implement=HONEST, review=APPROVED)
    done = planned.run("impl", CHANGE)
    assert done.code == 0, done.out + done.err
    assert "tests: python3 -m unittest discover -s tests -t ." in done.out
    text = (planned.root / "agentd" / "config.toml").read_text()
    assert 'test = "python3 -m unittest discover -s tests -t ."' in text


def test_an_ungrounded_finding_does_not_block_and_is_told(planned: Sandbox) -> None:
    planned.script(
        implement=HONEST,
        review=[verdict("NEEDS_CHANGES", "Invented", quote="this line is nowhere at all"), APPROVED],
    )
    done = planned.run("impl", CHANGE)
    assert done.code == 0, done.out + done.err
    assert "ungrounded" in done.out
    assert "resolve" not in str(called(planned))
    assert QUOTE in (planned.root / "tally" / "words.py").read_text()


def test_the_state_keeps_what_was_approved_bound_to_the_files(complete: Sandbox) -> None:
    kept = complete.state()["implementation"]
    assert set(kept["approved"]["files"]) == {"tally/__init__.py", "tally/words.py", "tests/test_top.py"}
    assert kept["approved"]["tree"] == seen(complete).tree
    front = yaml.safe_load(report(complete).split("---")[1])
    assert front["files"] == kept["approved"]["files"]
