"""`agentd trace`: every requirement with its tasks, files, tests and evidence, and each gap where it is."""

from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import yaml

from agentd.cli.command_list import COMMANDS
from agentd.families.change.documents import proposal, tasks
from agentd.git import trees
from agentd.library import spec
from agentd.model.change import Requirement, Task, Tasks
from agentd.model.command import Command
from agentd.model.evidence import Case, Counts, Evidence, Harm, Result
from agentd.proof import evidence_file
from tests.app.tree import NOW, a_proposal, a_spec, state
from tests.sandbox import CHANGE, Sandbox

OURS = ("agentd", ".agents", ".agents-work")
FIRST = Requirement("R1", "Most frequent first", "`top` SHALL give the most frequent first.")
TIES = Requirement("R2", "Ties by the alphabet", "Ties SHALL come in alphabetical order.")
TASKS = (
    Task("logic", 1, "Count and sort", "tally/words.py", "MODIFY", "top-words:R1", status="completed"),
    Task("logic", 2, "Sort ties", "tally/words.py", "MODIFY", "top-words:R2", status="completed"),
    Task("testing", 1, "Test it", "tests/test_top.py", "CREATE", "top-words:R1", "", ("logic.1",), "completed"),
)
TEST = Command("test", "python -m unittest")
CASES = (
    Case("test_first (tests.test_top.Top.test_first)", "passed"),
    Case("test_words (tests.test_words.Words.test_words)", "passed"),
)
GREEN = Result(TEST, "green", 0, 0.1, Counts(2, 2), CASES)
BEFORE = Result(TEST, "red", 1, 0.1, Counts(1, 0, 1), (Case("tests.test_top", "failed"),))


def write_change(sandbox: Sandbox, name: str = CHANGE, listed: tuple[Task, ...] = TASKS) -> Path:
    """The documents of a planned change."""
    folder = sandbox.root / "agentd" / "changes" / name
    (folder / "specs").mkdir(parents=True)
    wanted = replace(a_spec("top-words"), requirements=(FIRST, TIES))
    (folder / "proposal.md").write_text(proposal.render(a_proposal(name, "top-words")))
    (folder / "specs" / "top-words.md").write_text(spec.render(wanted))
    (folder / "tasks.md").write_text(tasks.render(Tasks(name, listed, NOW, NOW)))
    (folder / "STATE.yaml").write_text(state(name))
    return folder


def implement(sandbox: Sandbox, folder: Path, *results: Result, **more: Any) -> None:
    """The files of the tasks, and what agentd keeps when it has seen and approved them."""
    begun = trees.snapshot(sandbox.root, OURS)
    with (sandbox.root / "tally" / "words.py").open("a") as file:
        file.write("\n\ndef top(text, n):\n    return sorted(count(text).items())[:n]\n")
    (sandbox.root / "tests" / "test_top.py").write_text("# proves top-words:R1\n")
    now = trees.snapshot(sandbox.root, OURS)
    seen = Evidence(now, NOW, results or (GREEN,), **more)
    (folder / "evidence.json").write_text(evidence_file.render(seen))
    digest = sha256((folder / "evidence.json").read_bytes()).hexdigest()
    files = trees.hashes(sandbox.root, now, ["tally/words.py", "tests/test_top.py"])
    kept = {
        "base": begun,
        "evidence": {"tree": now, "sha256": digest, "status": "green"},
        "review": {"verdict": "APPROVED"},
        "approved": {"at": NOW, "by": "reviewer", "tree": now, "files": files},
    }
    save(folder, kept, "complete")


def save(folder: Path, kept: dict[str, Any], phase: str = "implementing") -> None:
    (folder / "STATE.yaml").write_text(state(folder.name, phase, yaml.safe_dump({"implementation": kept})))


def kept_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((folder / "STATE.yaml").read_text())["implementation"]
    return found


def gaps(sandbox: Sandbox, *words: str) -> dict[str, list[str]]:
    shown = sandbox.run("trace", *words, "--json")
    assert shown.code == 0, shown.out
    return {row["id"]: [gap["why"] for gap in row["gaps"]] for row in shown.data["requirements"]}


def test_a_change_that_was_planned_shows_what_is_still_to_come(sandbox: Sandbox) -> None:
    write_change(sandbox, listed=tuple(replace(task, status="pending") for task in TASKS[::2]))
    shown = sandbox.run("trace", CHANGE)
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.splitlines() == [
        "add-top-words (phase challenged): 2 requirements, 2 with gaps",
        "",
        "top-words:R1  Most frequent first",
        "  tasks     logic.1 pending, testing.1 pending",
        "  files     tally/words.py MODIFY",
        "            tests/test_top.py CREATE",
        "  tests     tests/test_top.py (testing.1), not written yet",
        "  evidence  none",
        "  ✗         task_open: logic.1 is pending, testing.1 is pending.",
        "  ✗         no_evidence: Nothing was seen of its tests: evidence.json is missing.",
        "  ✗         not_reviewed: Nobody has reviewed it.",
        "",
        "top-words:R2  Ties by the alphabet",
        "  tasks     none",
        "  files     none",
        "  tests     none",
        "  evidence  none",
        "  ✗         no_task: No task implements it.",
        "  ✗         no_test: No test of it is planned or written.",
        "  ✗         not_reviewed: Nobody has reviewed it.",
        "",
        "Next: agentd status add-top-words",
    ]


def test_a_change_that_was_seen_and_approved_has_no_gaps_but_where_no_test_is(sandbox: Sandbox) -> None:
    implement(sandbox, write_change(sandbox), before=(BEFORE,))
    shown = sandbox.run("trace", CHANGE)
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.splitlines() == [
        "add-top-words (phase complete): 2 requirements, 1 with gaps",
        "",
        "top-words:R1  Most frequent first",
        "  tasks     logic.1 completed, testing.1 completed",
        "  files     tally/words.py MODIFY",
        "            tests/test_top.py CREATE",
        "  tests     tests/test_top.py (testing.1)",
        "  evidence  green: 1 passed; red on the old code",
        "",
        "top-words:R2  Ties by the alphabet",
        "  tasks     logic.2 completed",
        "  files     tally/words.py MODIFY",
        "  tests     none",
        "  evidence  none",
        "  ✗         no_test: No test of it is planned or written.",
        "",
        "Next: agentd status add-top-words",
    ]


def test_json_has_every_link_of_every_requirement_and_the_counts(sandbox: Sandbox) -> None:
    implement(sandbox, write_change(sandbox), before=(BEFORE,))
    data = sandbox.run("trace", CHANGE, "--json").data
    first = data["requirements"][0]
    assert first == {
        "change": CHANGE,
        "spec": "top-words",
        "id": "R1",
        "title": "Most frequent first",
        "fresh": True,
        "tasks": [
            {"id": "logic.1", "title": "Count and sort", "status": "completed", "waived_by": ""},
            {"id": "testing.1", "title": "Test it", "status": "completed", "waived_by": ""},
        ],
        "files": [
            {"path": "tally/words.py", "action": "MODIFY", "task": "logic.1", "changed": True, "note": ""},
            {"path": "tests/test_top.py", "action": "CREATE", "task": "testing.1", "changed": True, "note": ""},
        ],
        "tests": [{"path": "tests/test_top.py", "how": "task", "task": "testing.1", "written": True}],
        "evidence": {
            "status": "green",
            "passed": 1,
            "failed": 0,
            "skipped": 0,
            "whole": False,
            "red_before": True,
            "stale": False,
            "waived_by": "",
            "harms": [],
        },
        "gaps": [],
    }
    expected = {"requirements": 2, "complete": 1, "with_gaps": 1, "gaps": {"no_test": 1}}
    assert data["summary"] == {"changes": 1, **expected}
    assert data["changes"][0]["summary"] == expected
    assert (data["ok"], data["exit"], data["unreadable"]) == (True, 0, [])


def test_strict_fails_where_there_is_a_gap_and_only_there(sandbox: Sandbox) -> None:
    folder = write_change(sandbox)
    implement(sandbox, folder)
    shown = sandbox.run("trace", CHANGE, "--strict", "--json")
    assert (shown.code, shown.data["ok"], shown.data["exit"]) == (1, False, 1)
    (sandbox.root / "tests" / "test_top.py").write_text("# proves top-words: R1, R2\n")
    kept = kept_of(folder)
    now = trees.snapshot(sandbox.root, OURS)
    (folder / "evidence.json").write_text(evidence_file.render(Evidence(now, NOW, (GREEN,))))
    kept["evidence"]["sha256"] = sha256((folder / "evidence.json").read_bytes()).hexdigest()
    kept["approved"]["tree"] = now
    save(folder, kept)
    shown = sandbox.run("trace", CHANGE, "--strict")
    assert shown.code == 0, shown.out
    assert "tests/test_top.py (names it)" in shown.out


def test_files_that_changed_after_the_tests_make_the_evidence_stale_and_the_approval_void(sandbox: Sandbox) -> None:
    implement(sandbox, write_change(sandbox))
    (sandbox.root / "tally" / "words.py").write_text("# all gone\n")
    assert gaps(sandbox, CHANGE)["R1"] == ["stale_evidence", "not_reviewed"]
    shown = sandbox.run("trace", CHANGE).out
    assert "evidence  green: 1 passed; stale" in shown
    assert "stale_evidence: tally/words.py changed after the tests ran." in shown


def test_a_file_that_is_as_it_was_is_marked(sandbox: Sandbox) -> None:
    folder = write_change(sandbox)
    implement(sandbox, folder)
    save(folder, {**kept_of(folder), "base": trees.snapshot(sandbox.root, OURS)})
    assert "file_unchanged" in gaps(sandbox, CHANGE)["R1"]
    assert "tally/words.py MODIFY, unchanged" in sandbox.run("trace", CHANGE).out


def test_red_tests_and_evidence_that_agentd_did_not_write_are_gaps(sandbox: Sandbox) -> None:
    failed = Case("test_first (tests.test_top.Top.test_first)", "failed", "tests/test_top.py", 3)
    folder = write_change(sandbox)
    implement(sandbox, folder, Result(TEST, "red", 1, 0.1, Counts(2, 1, 1), (failed, CASES[1])))
    assert gaps(sandbox, CHANGE)["R1"] == ["test_red"]
    text = (folder / "evidence.json").read_text()
    (folder / "evidence.json").write_text(text.replace("failed", "passed").replace("red", "green"))
    shown = sandbox.run("trace", CHANGE).out
    assert "no_evidence: Nothing was seen of its tests: evidence.json is not what agentd wrote." in shown


def test_what_a_person_waived_is_marked_with_who_it_was(sandbox: Sandbox) -> None:
    harm = Harm("passes_on_old_code", "it passes on the old code", "tests/test_top.py")
    folder = write_change(sandbox)
    implement(sandbox, folder, Result(TEST, "unknown", note="no python"), harms=(harm,))
    ids = (harm.id, f"test:{TEST.name}", "task:logic.1")
    save(folder, {**kept_of(folder), "waivers": [{"id": one, "by": "ann", "why": "known"} for one in ids]})
    assert gaps(sandbox, CHANGE)["R1"] == []
    shown = sandbox.run("trace", CHANGE).out
    assert "logic.1 completed (waived by ann)" in shown
    assert "could not run; waived by ann" in shown
    assert f"{harm.id} it passes on the old code, waived by ann" in shown


def test_a_change_that_a_person_took_as_it_is_was_not_reviewed(sandbox: Sandbox) -> None:
    folder = write_change(sandbox)
    implement(sandbox, folder)
    kept = kept_of(folder)
    save(folder, {**kept, "approved": {**kept["approved"], "by": "ann", "why": "it is late", "override": "UD-1"}})
    assert gaps(sandbox, CHANGE)["R1"] == ["not_reviewed"]
    assert "ann took it without an approval: it is late." in sandbox.run("trace", CHANGE).out


@pytest.mark.parametrize("gone", ["git", "base", "worktree"])
def test_without_git_or_the_base_or_the_worktree_it_still_shows_what_it_can(sandbox: Sandbox, gone: str) -> None:
    folder = write_change(sandbox)
    implement(sandbox, folder)
    if gone == "git":
        (sandbox.root / ".git").rename(sandbox.root / "not-git")
    elif gone == "worktree":
        with (folder / "STATE.yaml").open("a") as file:
            file.write("git: {worktree: ../gone}\n")
    else:
        save(folder, {**kept_of(folder), "base": "0" * 40})
    assert gaps(sandbox, CHANGE)["R1"] == []


def test_an_archived_change_is_shown_as_it_was_approved(sandbox: Sandbox) -> None:
    """The library has its specs by then, and the files have gone on."""
    folder = write_change(sandbox)
    implement(sandbox, folder)
    (sandbox.root / "agentd" / "specs").mkdir()
    (sandbox.root / "agentd" / "specs" / "top-words.md").write_bytes((folder / "specs" / "top-words.md").read_bytes())
    (sandbox.root / "agentd" / "archive").mkdir()
    folder.rename(sandbox.root / "agentd" / "archive" / CHANGE)
    (sandbox.root / "tally" / "words.py").write_text("# another change\n")
    assert gaps(sandbox) == {"R1": [], "R2": ["no_test"]}


def test_a_requirement_that_the_library_has_already_needs_no_proof(sandbox: Sandbox) -> None:
    folder = write_change(sandbox, listed=TASKS[::2])
    (sandbox.root / "agentd" / "specs").mkdir()
    before = replace(a_spec("top-words"), requirements=(TIES,))
    (sandbox.root / "agentd" / "specs" / "top-words.md").write_text(spec.render(before))
    implement(sandbox, folder)
    assert gaps(sandbox, CHANGE) == {"R1": [], "R2": []}
    assert "top-words:R2  Ties by the alphabet  (as before the change)" in sandbox.run("trace", CHANGE).out


def test_every_change_is_shown_with_totals_and_a_broken_one_does_not_hide_the_others(sandbox: Sandbox) -> None:
    implement(sandbox, write_change(sandbox))
    write_change(sandbox, "later", TASKS[:1])
    write_change(sandbox, "odd").joinpath("tasks.md").write_text("### Task 9.9: What\n")
    shown = sandbox.run("trace")
    assert shown.code == 1
    *_, broken, total, follow = shown.out.splitlines()
    assert broken.startswith("change/odd: unreadable, agentd/changes/odd/tasks.md:1: ")
    gaps = "(1 no_task, 3 no_test, 2 not_reviewed)"
    assert total == f"Total: 2 changes, 4 requirements, 3 with gaps {gaps}"
    assert follow.startswith("Next: ")
    data = sandbox.run("trace", "--json").data
    assert [one["change"] for one in data["changes"]] == [CHANGE, "later"]
    assert [one["change"] for one in data["unreadable"]] == ["change/odd"]
    assert data["summary"]["requirements"] == 4
    assert sandbox.run("trace", "odd").code == 1


def test_before_anything_is_planned_there_is_nothing_to_trace(sandbox: Sandbox) -> None:
    assert sandbox.run("trace").out.splitlines()[0] == f"No changes in {sandbox.root}."
    folder = sandbox.root / "agentd" / "changes" / "new"
    folder.mkdir(parents=True)
    (folder / "STATE.yaml").write_text(state("new", "proposed"))
    shown = sandbox.run("trace", "new", "--strict")
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.splitlines()[0] == "new (phase proposed): it has no specs, so there is nothing to trace"
    (folder / "proposal.md").write_text(proposal.render(a_proposal("new", "auth")))
    assert "nothing to trace yet, auth is not written" in sandbox.run("trace", "new").out


def test_a_task_that_leads_to_no_requirement_is_named(sandbox: Sandbox) -> None:
    write_change(sandbox, listed=(replace(TASKS[0], spec_ref="none"),))
    assert "logic.1 leads to no requirement (spec_ref none)" in sandbox.run("trace", CHANGE).out


def test_an_unknown_change_is_not_found(sandbox: Sandbox) -> None:
    shown = sandbox.run("trace", "nobody", "--json")
    assert (shown.code, shown.data["error"], shown.data["fix"]) == (1, "ChangeNotFound", "agentd list")


def test_a_long_line_is_folded_and_a_title_cannot_steer_the_terminal(sandbox: Sandbox) -> None:
    folder = write_change(sandbox, listed=tuple(replace(TASKS[0], number=number) for number in range(1, 20)))
    path = folder / "specs" / "top-words.md"
    path.write_text(path.read_text().replace("Most frequent first", "Most \x1b[2Jfrequent", 1))
    shown = sandbox.run("trace", CHANGE).out
    assert "\x1b" not in shown
    assert max(map(len, shown.splitlines())) <= 100


def test_a_real_change_is_traced_from_its_plan_to_the_archive(planned: Sandbox) -> None:
    assert gaps(planned) == {
        "R1": ["task_open", "no_evidence", "not_reviewed"],
        "R2": ["task_open", "no_test", "not_reviewed"],
    }
    done = planned.run("impl", CHANGE)
    assert done.code == 0, done.out + done.err
    shown = planned.run("trace", CHANGE)
    assert "tests     tests/test_top.py (testing.1)\n  evidence  green: 2 passed; red on the old code" in shown.out
    assert gaps(planned) == {"R1": [], "R2": ["no_test"]}
    assert planned.run("archive", CHANGE).code == 0
    (planned.root / "tally" / "words.py").write_text("# the next change\n")
    assert gaps(planned, CHANGE) == {"R1": [], "R2": ["no_test"]}


def test_it_is_among_the_commands() -> None:
    assert "trace" in COMMANDS
