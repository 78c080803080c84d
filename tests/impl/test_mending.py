"""Hand edits, lost files and wrong options while a change is implemented: each is told, none is a dead end, nothing is lost."""

import json
import re
from pathlib import Path

import pytest

from tests.impl.coding import APPROVED, HONEST, called, report, seen, verdict
from tests.plan.plans import answered
from tests.sandbox import CHANGE, Sandbox, copy_sandbox
from tests.shared import Shared

MAJOR = verdict("MAJOR_ISSUES", "Wrong at its root")
TOLD = {"append": {"tally/words.py": "\n# told\n"}}


@pytest.fixture(scope="session")
def stuck_once(planned_once: Path, shared: Shared) -> Path:
    """A change that waits for a person after MAJOR_ISSUES."""

    def make(folder: Path) -> Path:
        made = copy_sandbox(planned_once, folder)
        made.script(implement=HONEST, review=[MAJOR, APPROVED], resolve=TOLD)
        assert made.run("impl", CHANGE).code == 4
        return made.root

    return shared.once("stuck", make)


@pytest.fixture
def stuck(stuck_once: Path, tmp_path: Path) -> Sandbox:
    return copy_sandbox(stuck_once, tmp_path)


def test_the_question_at_the_end_of_the_loop_says_what_is_wrong(stuck: Sandbox) -> None:
    (asked,) = stuck.run("status", CHANGE, "--json").data["decisions"]
    assert "MAJOR_ISSUES: Wrong at its root" in asked["question"]
    accept = next(option for option in asked["options"] if option["value"] == "accept")
    assert accept["note_required"] is True


@pytest.mark.parametrize("name", ["evidence.json", "REVIEW.md", "baseline.json"])
def test_a_lost_record_is_made_again(stuck: Sandbox, name: str) -> None:
    before = seen(stuck, "baseline.json").results[0].counts
    (stuck.folder() / name).unlink()
    done = stuck.run("impl", CHANGE)
    assert done.code == 0, done.out + done.err
    assert (stuck.folder() / name).is_file()
    assert seen(stuck, "baseline.json").results[0].counts == before


def test_a_baseline_that_was_lost_is_made_on_the_files_of_then(stuck: Sandbox) -> None:
    (stuck.folder() / "baseline.json").write_text("{}")
    red = stuck.root / "tests" / "test_words.py"
    red.write_text(red.read_text().replace('"not": 1}', '"not": 2}'))
    refused = stuck.run("impl", CHANGE)
    assert refused.code == 4
    assert "baseline.json is not what agentd wrote: the commands run once more" in refused.out
    assert seen(stuck, "baseline.json").results[0].status == "green"
    assert "tests red" in refused.out


def test_a_plan_that_changes_while_it_is_implemented_is_put_to_a_person(stuck: Sandbox) -> None:
    spec = stuck.folder() / "specs" / "top-words.md"
    spec.write_text(spec.read_text().replace("at most n pairs", "any number of pairs"))
    stuck.set("workflow", human_in_loop=True)
    asked = stuck.run("impl", CHANGE)
    assert asked.code == 4
    assert "specs/top-words.md changed after the plan was approved" in asked.out
    done = stuck.run("impl", CHANGE, *answered(stuck, harmed={"value": "waive", "note": "we agreed"}))
    assert done.code == 0, done.out + done.err
    assert [one["why"] for one in stuck.state()["implementation"]["waivers"]] == ["we agreed"]


def test_what_changes_in_the_settings_while_an_agent_works_is_put_back_and_kept_beside(planned: Sandbox) -> None:
    config = planned.root / "agentd" / "config.toml"
    mine = ["sh", "-c", f"echo '# a remark' >> {config}"]
    planned.script(implement=[{**HONEST, "run": mine}, {}], review=APPROVED)
    stopped = planned.run("impl", CHANGE)
    assert stopped.code == 1
    assert "agentd/config.toml was changed while the agent worked and has been put back" in stopped.out
    assert "# a remark" not in config.read_text()
    assert "# a remark" in config.with_name("config.toml.changed-1").read_text()
    assert planned.run("impl", CHANGE).code == 0


def test_a_spec_that_another_change_brings_into_the_library_meanwhile_stays(planned: Sandbox) -> None:
    library = planned.root / "agentd" / "specs"
    brought = ["sh", "-c", f"mkdir -p {library} && echo other > {library}/other.md"]
    planned.script(implement={**HONEST, "run": brought}, review=APPROVED)
    assert planned.run("impl", CHANGE).code == 0
    assert (library / "other.md").is_file()


def test_a_repair_that_takes_a_task_back_is_no_dead_end(planned: Sandbox) -> None:
    undo = {"delete": ["tests/test_top.py"]}
    again = {"files": HONEST["files"]}
    planned.script(implement=HONEST, review=[verdict("NEEDS_CHANGES", "Wrong order"), APPROVED], resolve=[undo, again])
    done = planned.run("impl", CHANGE)
    assert done.code == 0, done.out + done.err
    assert "tests/test_top.py is not there" in report(planned) + done.out


def test_tests_are_tried_on_the_old_code_also_where_something_was_red_before(planned: Sandbox) -> None:
    test = planned.root / "tests" / "test_words.py"
    test.write_text(test.read_text().replace('"not": 1}', '"not": 2}'))
    worthless = HONEST["files"]["tests/test_top.py"]
    worthless = re.sub(r"top\(.*?\), \[.*", 'len("b a b"), 5)', worthless).replace("import top", "import count")
    planned.script(implement={**HONEST, "files": {"tests/test_top.py": worthless}}, review=APPROVED)
    asked = planned.run("impl", CHANGE, *answered(planned, begin_anyway={"value": "proceed", "note": "known"}))
    assert asked.code != 0
    assert "passes on the code as it was before the change" in asked.out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--tasks", "2.1"), "is complete"),
        (("--tasks", ""), "names no task"),
        (("--re-review", "--resolve"), "Use only one of"),
    ],
)
def test_options_that_do_not_fit_are_refused(complete: Sandbox, words: tuple[str, ...], said: str) -> None:
    before = called(complete)
    refused = complete.run("impl", CHANGE, *words)
    assert refused.code == 2
    assert said in refused.err
    assert called(complete) == before


def test_only_a_complete_change_is_reviewed_again(stuck: Sandbox) -> None:
    refused = stuck.run("impl", CHANGE, "--re-review")
    assert refused.code == 2
    assert "only a complete change is reviewed again" in refused.err
    done = stuck.run("impl", CHANGE, "--resolve")
    assert done.code == 0, done.out + done.err


def test_files_that_changed_after_the_approval_are_named(complete: Sandbox) -> None:
    with (complete.root / "tally" / "words.py").open("a") as file:
        file.write("\nBROKEN = 1\n")
    told = complete.run("impl", CHANGE)
    assert told.code == 0
    assert "tally/words.py changed after it was approved" in told.out
    assert f"agentd impl {CHANGE} --re-review" in told.out


def test_a_review_that_refuses_a_complete_change_says_so_and_nothing_else(complete: Sandbox) -> None:
    complete.script(review=verdict("NEEDS_CHANGES", "Wrong order"))
    refused = complete.run("impl", CHANGE, "--re-review")
    assert refused.code == 1
    assert "✅ Implementation complete" not in refused.out
    assert refused.out.splitlines()[-1] == f"Next: agentd impl {CHANGE} --resolve"


def test_what_is_taken_without_an_approval_is_bound_to_the_files_as_they_are(stuck: Sandbox) -> None:
    with (stuck.root / "tally" / "words.py").open("a") as file:
        file.write("\nBY_HAND = 1\n")
    done = stuck.run("impl", CHANGE, *answered(stuck, stuck={"value": "accept", "note": "we know"}))
    assert done.code == 0, done.out + done.err
    kept = stuck.state()["implementation"]
    assert kept["approved"]["tree"] != kept["evidence"]["tree"]


def test_without_its_beginning_nothing_is_approved(stuck: Sandbox) -> None:
    state = stuck.state_file()
    text = state.read_text()
    start = text.index("implementation:\n")
    rest = re.search(r"^\S", text[start + 1 :], re.MULTILINE)
    end = start + 1 + rest.start() if rest else len(text)
    state.write_text(text[:start] + text[end:])
    stuck.run("impl", CHANGE)
    assert stuck.state()["phase"] == "implementing"
    assert "approved" not in json.dumps(stuck.state().get("implementation", {}))


def test_a_file_that_git_ignores_is_told_as_that(planned: Sandbox) -> None:
    ignore = planned.root / ".gitignore"
    ignore.write_text(ignore.read_text() + "tests/test_top.py\n")
    planned.script(implement=[HONEST, {}], review=APPROVED)
    asked = planned.run("impl", CHANGE)
    assert asked.code == 4
    assert "tests/test_top.py is there, but git ignores it" in asked.out
    assert Path(planned.root / "tests" / "test_top.py").is_file()
