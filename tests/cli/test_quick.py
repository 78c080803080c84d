"""`agentd quick`: one command, at most one question, three calls."""

import json
from typing import Any

import pytest

from agentd.families.change.quick import slug
from tests.cli.quick_plans import NAME, WORDS, planned_as, scripted, without_specs
from tests.impl.coding import APPROVED, HONEST, verdict
from tests.plan.plans import answered, spied, steps
from tests.sandbox import YES, Sandbox

CALLS = ["implement-1.1", "review-1.1", "sketch-1.1"]


def quick(sandbox: Sandbox, *words: str) -> Any:
    return sandbox.run("quick", WORDS, *words)


def text(sandbox: Sandbox, name: str) -> str:
    return (sandbox.folder(NAME) / name).read_text(encoding="utf-8")


def test_a_small_change_is_planned_shown_implemented_and_reviewed_in_one_command(sandbox: Sandbox) -> None:
    scripted(sandbox)
    done = quick(sandbox, *answered(sandbox, confirm="yes"))
    assert done.code == 0, done.out + done.err
    assert done.out.rstrip().endswith(f"Next: agentd archive {NAME} && agentd commit {NAME}")
    for line in ("## What Changes", "### R2 - Ties by the alphabet", "### Task 4.1: Test the order"):
        assert done.out.splitlines().count(line) == 1
    assert "change_id:" not in done.out
    assert sandbox.calls(sandbox.folder(NAME)) == CALLS
    state = sandbox.state(NAME)
    assert state["phase"] == "complete"
    assert [(one["name"], one["answer"]) for one in state["user_decisions"]] == [("confirm", "yes")]
    assert set(state["approval"]["documents"]) == {"proposal.md", "specs/top-words.md", "tasks.md"}
    assert state["implementation"]["approved"]["by"] == "reviewer"
    assert sandbox.run("archive", NAME).code == 0
    assert (sandbox.root / "agentd" / "specs" / "top-words.md").is_file()


def test_yes_in_advance_is_recorded_as_the_persons_decision(sandbox: Sandbox) -> None:
    scripted(sandbox)
    sandbox.env["USER"] = "ada"
    assert quick(sandbox, "--yes").code == 0
    (decision,) = sandbox.state(NAME)["user_decisions"]
    assert (decision["answer"], decision["by"], decision["note"]) == ("yes", "ada", "--yes")
    approval = sandbox.state(NAME)["approval"]
    assert (approval["by"], approval["why"], approval["decision"]) == ("ada", "--yes", decision["decision_id"])


def test_without_anybody_there_the_question_stays_open_and_an_answer_goes_on(sandbox: Sandbox) -> None:
    scripted(sandbox)
    waiting = quick(sandbox)
    assert waiting.code == 4
    assert f"Next: agentd answer {NAME} UD-1 yes" in waiting.out
    again = quick(sandbox)
    assert "### Task 4.1: Test the order" in again.out, "the plan is shown once more"
    assert sandbox.run("answer", NAME, "UD-1", "yes").out.rstrip().endswith(f"agentd resume {NAME}")
    assert sandbox.run("resume", NAME).code == 0
    assert sandbox.state(NAME)["phase"] == "complete"
    assert sandbox.calls(sandbox.folder(NAME)) == CALLS


def test_all_tasks_are_one_call_also_if_they_are_of_several_specs(sandbox: Sandbox) -> None:
    files = {f"tally/part{number}.py": "" for number in (1, 2)}
    scripted(sandbox, sketch=planned_as("top-words", "report"), implement={**HONEST, "files": files})
    quick(sandbox, "--yes")
    assert sandbox.calls(sandbox.folder(NAME)).count("implement-1.1") == 1
    assert steps(sandbox, folder=sandbox.folder(NAME) / "children" / "implement" / "all")[:1] == ["implement"]


def test_a_change_that_nobody_can_observe_has_no_spec(sandbox: Sandbox) -> None:
    scripted(sandbox, sketch=without_specs(), implement={"append": {"README.md": "\nA line.\n"}})
    done = quick(sandbox, "--yes", "--archive")
    assert done.code == 0, done.out + done.err
    assert sandbox.state(NAME)["phase"] == "archived"


def test_no_leaves_everything_as_it_is_and_asks_again_when_it_goes_on(sandbox: Sandbox) -> None:
    scripted(sandbox)
    refused = quick(sandbox, *answered(sandbox, confirm="no"))
    assert refused.code == 4
    assert sandbox.state(NAME)["phase"] == "proposed"
    assert sandbox.calls(sandbox.folder(NAME)) == ["sketch-1.1"]
    assert quick(sandbox, "--yes").code == 0
    assert [one["answer"] for one in sandbox.state(NAME)["user_decisions"]] == ["no", "yes"]


def test_a_plan_that_changes_after_the_yes_is_not_implemented(sandbox: Sandbox) -> None:
    scripted(sandbox)
    quick(sandbox)
    sandbox.run("answer", NAME, "UD-1", "yes")
    path = sandbox.folder(NAME) / "specs" / "top-words.md"
    path.write_text(path.read_text().replace("a tie", "many ties"))
    again = quick(sandbox)
    assert again.code == 4
    assert "is void: specs/top-words.md changed after it was shown" in again.out
    assert sandbox.calls(sandbox.folder(NAME)) == ["sketch-1.1"]


def test_who_wants_it_planned_in_full_goes_on_with_plan_and_keeps_the_documents(sandbox: Sandbox) -> None:
    scripted(sandbox, challenge=YES)
    grown = quick(sandbox, *answered(sandbox, confirm="plan"))
    assert grown.code == 4
    assert grown.out.rstrip().endswith(f"Next: agentd plan {NAME}")
    before = text(sandbox, "tasks.md")
    assert quick(sandbox, "--yes").code == 4, "the quick way is over"
    assert sandbox.calls(sandbox.folder(NAME)) == ["sketch-1.1"]
    assert sandbox.run("plan", NAME).code == 0
    assert sandbox.calls(sandbox.folder(NAME)) == ["challenge-1.1", "sketch-1.1"]
    assert text(sandbox, "tasks.md") == before
    assert sandbox.state(NAME)["phase"] == "challenged"


def test_plan_on_a_quick_change_plans_it_in_full(sandbox: Sandbox) -> None:
    scripted(sandbox, challenge=YES)
    quick(sandbox)
    assert sandbox.run("plan", NAME).code == 0
    assert sandbox.calls(sandbox.folder(NAME)) == ["challenge-1.1", "sketch-1.1"]
    assert [one["status"] for one in sandbox.state(NAME)["user_decisions"]] == ["cancelled"]


@pytest.mark.parametrize(
    "plan", [planned_as("a-spec", times=6), planned_as("one", "two", "three")], ids=["tasks", "specs"]
)
def test_a_plan_that_is_not_small_goes_on_with_plan_unasked(sandbox: Sandbox, plan: dict[str, Any]) -> None:
    scripted(sandbox, sketch=plan)
    large = quick(sandbox, "--yes")
    assert large.code == 4
    assert large.out.rstrip().endswith(f"Next: agentd plan {NAME}")
    assert "user_decisions" not in sandbox.state(NAME) or not sandbox.state(NAME)["user_decisions"]


def test_a_format_error_goes_back_to_the_planner_once(sandbox: Sandbox) -> None:
    good = planned_as("top-words")["documents"]
    broken = {
        **good,
        "specs/top-words.md": good["specs/top-words.md"].replace("SHALL", "may").replace("### R1", "### A1"),
    }
    scripted(
        sandbox,
        sketch={"documents": broken},
        fix_sketch={"documents": {"specs/top-words.md": good["specs/top-words.md"]}},
    )
    assert quick(sandbox).code == 4
    assert sandbox.calls(sandbox.folder(NAME)) == ["fix_sketch-1.1", "sketch-1.1"]
    assert sandbox.state(NAME)["user_decisions"][0]["status"] == "pending"


def test_a_format_that_stays_wrong_goes_on_with_plan(sandbox: Sandbox) -> None:
    broken = {name: body.replace("### R1", "### A1") for name, body in planned_as("top-words")["documents"].items()}
    scripted(sandbox, sketch={"documents": broken}, fix_sketch={"say": "I see nothing wrong."})
    wrong = quick(sandbox, "--yes")
    assert wrong.code == 4
    assert wrong.out.rstrip().endswith(f"Next: agentd plan {NAME}")
    assert sandbox.calls(sandbox.folder(NAME)) == ["fix_sketch-1.1", "sketch-1.1"]


def test_a_change_without_a_review_says_who_chose_that(sandbox: Sandbox) -> None:
    scripted(sandbox)
    sandbox.env["USER"] = "ada"
    done = quick(sandbox, "--yes", "--no-review", "--archive")
    assert done.code == 0, done.out + done.err
    assert sandbox.calls(sandbox.folder(NAME)) == ["implement-1.1", "sketch-1.1"]
    state = sandbox.state(NAME)
    assert state["unreviewed"]["by"] == "ada"
    assert (state["implementation"]["approved"]["by"], state["implementation"]["approved"]["override"]) == (
        "ada",
        "--no-review",
    )
    assert state["verdict"] == "NOT_REVIEWED"
    assert "Not reviewed: ada chose --no-review." in text(sandbox, "REVIEW.md")
    assert "## Evidence" in text(sandbox, "REVIEW.md")
    assert sandbox.run("validate", NAME).code == 0
    assert json.loads(text(sandbox, "archive.json"))["unreviewed"] == "ada"
    assert "ada took it without an approval" in sandbox.run("trace", NAME).out


def test_a_reviewed_change_is_archived_as_one(sandbox: Sandbox) -> None:
    scripted(sandbox)
    assert quick(sandbox, "--yes", "--archive").code == 0
    assert json.loads(text(sandbox, "archive.json"))["unreviewed"] == ""


def test_without_a_review_red_tests_still_count(sandbox: Sandbox) -> None:
    wrong = {
        **HONEST,
        "append": {"tally/words.py": "\n\ndef top(text: str, n: int) -> list[tuple[str, int]]:\n    return []\n"},
    }
    right = {
        "replace": {
            "tally/words.py": [
                ["return []", "return sorted(count(text).items(), key=lambda pair: (-pair[1], pair[0]))[:n]"]
            ]
        }
    }
    scripted(sandbox, implement=wrong, resolve=right)
    done = quick(sandbox, "--yes", "--no-review")
    assert done.code == 0, done.out + done.err
    assert sandbox.calls(sandbox.folder(NAME)) == ["implement-1.1", "resolve-1.1", "sketch-1.1"]


def test_a_change_that_was_not_reviewed_can_be_reviewed_later(sandbox: Sandbox) -> None:
    scripted(sandbox)
    quick(sandbox, "--yes", "--no-review")
    assert sandbox.run("impl", NAME, "--re-review").code == 0
    assert sandbox.state(NAME)["implementation"]["approved"]["by"] == "reviewer"


def test_an_agent_cannot_do_away_with_its_review(sandbox: Sandbox) -> None:
    forged = [["mode: quick", "mode: quick\nunreviewed: {by: ada}"]]
    scripted(sandbox, implement={**HONEST, "replace": {**HONEST["replace"], "run:STATE.yaml": forged}})
    refused = quick(sandbox, "--yes")
    assert refused.code == 1
    assert "unreviewed in STATE.yaml changed while the agent worked, and was put back" in refused.out
    assert "unreviewed" not in sandbox.state(NAME)


def test_what_the_reviewer_finds_is_repaired_as_ever(sandbox: Sandbox) -> None:
    scripted(
        sandbox,
        review=[verdict("NEEDS_CHANGES", "No limit"), APPROVED],
        resolve={"append": {"tally/words.py": "\n# At most n.\n"}},
    )
    assert quick(sandbox, "--yes").code == 0
    assert sandbox.calls(sandbox.folder(NAME)) == [*CALLS[:1], "resolve-1.1", "review-1.1", "review-2.1", "sketch-1.1"]


def test_the_same_words_go_on_and_other_words_begin_another_change(sandbox: Sandbox) -> None:
    scripted(sandbox)
    quick(sandbox)
    assert sandbox.run("quick", "Give THE most frequent words!").code == 4
    changes = sorted(path.name for path in (sandbox.root / "agentd" / "changes").iterdir() if path.is_dir())
    assert changes == [NAME, f"{NAME}-2"]


def test_the_id_may_be_given(sandbox: Sandbox) -> None:
    scripted(sandbox)
    assert quick(sandbox, "--id", "mine", "--json").data["name"] == "mine"
    assert quick(sandbox, "--id", "mine", "--yes").code == 0


@pytest.mark.parametrize("more", [(), ("--id", "mine")], ids=["named by its words", "named by a person"])
def test_what_is_done_and_archived_is_not_done_twice(sandbox: Sandbox, more: tuple[str, ...]) -> None:
    scripted(sandbox, sketch=without_specs(), implement={"append": {"README.md": "\nA line.\n"}})
    first = quick(sandbox, "--yes", "--archive", *more)
    assert first.code == 0, first.out + first.err
    again = quick(sandbox, "--yes", "--archive", *more)
    assert again.code == 0, again.out + again.err
    assert "it is done and archived; to do it once more, add --id NEW-ID" in again.out
    assert again.out.splitlines()[-1] == first.out.splitlines()[-1]
    assert not [path for path in (sandbox.root / "agentd" / "changes").iterdir() if path.is_dir()]


def test_other_words_for_an_id_that_is_taken_are_refused(sandbox: Sandbox) -> None:
    scripted(sandbox)
    quick(sandbox, "--id", "mine")
    refused = sandbox.run("quick", "Remove everything", "--id", "mine", "--yes")
    assert refused.code == 2
    assert f"“{WORDS}”, not “Remove everything”" in refused.err
    assert "Fix:   agentd resume mine   # or give another --id" in refused.err
    assert sandbox.state("mine")["phase"] == "proposed"


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("fix the typo in the help text", "fix-typo-help-text"),
        ("Größe: don't   round!", "groe-dont-round"),
        ("to be or not", "not"),
        ("修正", "change"),
        ("a" * 90, "a" * 40),
        (f"fix {'x' * 60}", "fix"),
    ],
)
def test_an_id_is_made_of_the_words_that_say_most(words: str, name: str) -> None:
    assert slug(words) == name


def test_without_git_nothing_is_spent(sandbox: Sandbox) -> None:
    scripted(sandbox)
    (sandbox.root / ".git").rename(sandbox.root / "git")
    refused = quick(sandbox, "--yes")
    assert refused.code == 1
    assert "git init" in refused.err
    assert not (sandbox.root / "agentd" / "changes").exists()


def test_the_planner_is_told_little_and_offered_few_tools(sandbox: Sandbox) -> None:
    spy = spied(scripted(sandbox))
    quick(sandbox)
    (job,) = spy.of("sketch")
    assert len(job["prompt"]) < 2000
    assert "GEMINI.md" not in job["prompt"]
    assert not (sandbox.folder(NAME) / "GEMINI.md").exists()
    assert len(job["tools"]) == 5


def test_missing_documents_are_written_again(sandbox: Sandbox) -> None:
    scripted(sandbox)
    quick(sandbox)
    (sandbox.folder(NAME) / "tasks.md").unlink()
    assert quick(sandbox, "--yes").code == 0
    assert sandbox.calls(sandbox.folder(NAME)) == [*CALLS[:2], "sketch-1.1", "sketch-2.1"]


def test_a_planner_that_asks_about_a_small_change_is_reminded(sandbox: Sandbox) -> None:
    scripted(sandbox)
    asks = {"say": "Is it the order you mean?", "tools": [], "session": "s-3", "nudged": [sandbox.entry("sketch")]}
    sandbox.script(sketch=asks)
    spy = spied(sandbox)
    done = quick(sandbox, "--yes")
    assert done.code == 0, done.out + done.err
    first, second = spy.of("sketch")
    assert (first["session"], second["session"]) == ("", "s-3")
    assert "`create_proposal` or `create_tasks`" in second["prompt"]
    assert sandbox.calls(sandbox.folder(NAME)) == ["implement-1.1", "review-1.1", "sketch-1.1", "sketch-1.2"]
