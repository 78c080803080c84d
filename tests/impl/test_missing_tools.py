"""What is not installed: a tool is a note, tests that cannot run are one question with its remedy, and nothing is changed."""

import shlex
import sys
import tomllib

import pytest

from agentd import demo
from tests.impl.coding import APPROVED, HONEST, report, seen
from tests.plan.plans import spied
from tests.sandbox import CHANGE, Sandbox


def test_a_tool_that_is_not_installed_is_a_note_for_reviewer_and_person_and_no_question(planned: Sandbox) -> None:
    planned.set("evidence", lint="no-such-linter .", types=f"{sys.executable} -m no_such_types", audit="no-such-audit")
    planned.script(implement=HONEST, review=APPROVED)
    spy = spied(planned)
    done = planned.run("impl", CHANGE)
    assert done.code == 0, done.out + done.err
    assert "lint not run: no-such-linter is not installed" in done.out
    kept = {one.command.kind: one.note for one in seen(planned).results if one.status == "unknown"}
    assert kept["types"] == "no_such_types is not installed"
    assert kept.keys() == {"lint", "types", "audit"}
    assert "type check not run: no_such_types is not installed" in spy.of("review")[0]["prompt"]
    assert "lint not run: no-such-linter is not installed" in report(planned)


def test_tests_that_cannot_run_ask_once_with_the_remedy_first_and_again_helps_after_it(planned: Sandbox) -> None:
    config = planned.root / "agentd" / "config.toml"
    data = tomllib.loads(config.read_text())
    if "evidence" in data:
        config.write_text(config.read_text().partition("[evidence]")[0])
    (planned.root / "pytest.ini").write_text("[pytest]\n")
    programs = planned.root.parent / "programs"
    programs.mkdir()
    (programs / "python3").write_text('#!/bin/sh\necho "python3: No module named pytest" >&2\nexit 1\n')
    (programs / "python3").chmod(0o755)
    planned.env["PATH"] = f"{programs}:{planned.env['PATH']}"
    planned.env.pop("VIRTUAL_ENV", None)
    planned.script(implement=HONEST, review=APPROVED)
    asked = planned.run("impl", CHANGE, "--json")
    assert asked.code == 4, asked.out + asked.err
    (question,) = (one["question"] for one in asked.data["decisions"])
    assert question.startswith("First run: python3 -m venv .venv && .venv/bin/pip install ")
    assert "No module named pytest" in question
    (planned.root / ".venv/bin").mkdir(parents=True)
    (planned.root / ".venv/bin/python").write_text(f"#!/bin/sh\nexec {shlex.join(demo.tests())} -v\n")  # quicker
    (planned.root / ".venv/bin/python").chmod(0o755)
    assert planned.run("answer", CHANGE, "UD-1", "again").code == 0
    done = planned.run("impl", CHANGE)
    assert done.code == 0, done.out + done.err
    assert tomllib.loads(config.read_text())["evidence"]["test"] == ".venv/bin/python -m pytest"


@pytest.mark.parametrize("kind", ["lint", "types", "audit"])
def test_what_is_no_test_runs_on_a_copy_and_changes_nothing(planned: Sandbox, kind: str) -> None:
    fixer = planned.root / "fixer.sh"
    fixer.write_text("#!/bin/sh\necho '# fixed' >> tally/words.py\n")
    fixer.chmod(0o755)
    planned.set("evidence", **{kind: "./fixer.sh"})
    planned.script(implement=HONEST, review=APPROVED)
    done = planned.run("impl", CHANGE)
    assert done.code == 0, done.out + done.err
    assert "# fixed" not in (planned.root / "tally" / "words.py").read_text()
    assert next(one.exit_code for one in seen(planned).results if one.command.kind == kind) == 0
