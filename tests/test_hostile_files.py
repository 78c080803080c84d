"""Whatever a repository has in the place of a file: no command crashes, hangs or fills the memory because of it."""

import json
import sys
from pathlib import Path

import pytest

from agentd import files
from agentd.evidence.detection import detect
from agentd.model.command import Command
from agentd.model.evidence import Changed
from agentd.proof.integrity.command_files import files_run
from agentd.proof.integrity.harm_audit import audit
from tests import forked
from tests.cli.conftest import planned as planned
from tests.cli.conftest import planned_once as planned_once
from tests.cli.conftest import sandbox_once as sandbox_once
from tests.hostile_files import KINDS, SECONDS, child, clear, put
from tests.impl.coding import APPROVED, HONEST
from tests.sandbox import CHANGE, Sandbox

HOME = f"agentd/changes/{CHANGE}"
LOOKING = [["status", CHANGE], ["show", CHANGE], ["validate", CHANGE], ["log", CHANGE], ["trace", CHANGE]]
PLACES: dict[str, list[list[str]]] = {
    "agentd/config.toml": LOOKING,
    "agentd/ledger.jsonl": [["cost"], ["status", CHANGE]],
    "agentd/workflows/mine.yaml": [["workflow", "list"], ["workflow", "check", "mine"], ["run", "mine", "x"], ["list"]],
    "agentd/specs/report.md": [["validate"], ["history", "report"], ["trace", CHANGE]],
    "agentd/knowledge/notes.md": [["validate"], ["status"]],
    f"{HOME}/STATE.yaml": LOOKING,
    f"{HOME}/journal.jsonl": LOOKING,
    f"{HOME}/proposal.md": LOOKING,
    f"{HOME}/tasks.md": LOOKING,
    f"{HOME}/CHALLENGE.md": LOOKING,
    f"{HOME}/specs/top-words.md": LOOKING,
    f"{HOME}/evidence.json": LOOKING,
    f"{HOME}/baseline.json": LOOKING,
    f"{HOME}/REVIEW.md": LOOKING,
    f"{HOME}/base.json": LOOKING,
    f"{HOME}/.lock": LOOKING,
    f"{HOME}/stop.json": LOOKING,
    f"{HOME}/reviews/01.md": LOOKING,
    f"{HOME}/calls/propose-1.1.jsonl": [["log", CHANGE, "--raw"], ["cost"], ["status", CHANGE]],
    ".agents-work/x/status.json": [["list"], ["status", "x"], ["log", "x"]],
    ".agents/x/state.json": [["list"], ["status", "x"], ["log", "x"]],
    ".git": [["list"], ["validate"]],
}


def ran(sandbox: Sandbox, name: str, commands: list[list[str]]) -> list[dict[str, object]]:
    words = [str(sandbox.root), name, json.dumps(commands)]
    timeout = len(KINDS) * len(commands) * SECONDS + 30
    done = forked.run(words, sandbox.root, sandbox.env, timeout, "tests.hostile_files")
    assert done.returncode == 0, done.stderr
    found = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(found) == len(KINDS) * len(commands)
    return found


@pytest.mark.parametrize("name", PLACES)
def test_no_command_fails_over_what_is_in_the_place_of_a_file(planned: Sandbox, name: str) -> None:
    bad = [one for one in ran(planned, name, PLACES[name]) if one["code"] not in (0, 1, 2, 4)]
    assert not bad, "\n".join(f"{one['kind']}: {one['command']}: {one['code']}\n{one['said']}" for one in bad)


READ = (
    "pyproject.toml",
    "package.json",
    "Makefile",
    "justfile",
    "tox.ini",
    "go.work",
    "Cargo.toml",
    "pom.xml",
    "run.sh",
)


@pytest.mark.parametrize("name", READ)
def test_detection_and_the_search_for_scripts_survive_what_is_in_the_place_of_a_file(tmp_path: Path, name: str) -> None:
    def look() -> int:
        for command in (*detect(tmp_path), Command("test", "make test"), Command("test", "sh run.sh")):
            files_run(command.run, command.folder, lambda path: files.text(tmp_path / path))
        audit([Changed(name, files.text(tmp_path / name), "")], ())
        return 0

    for kind in KINDS:
        put(kind, tmp_path / name)
        code, said = child(look)
        assert code == 0, f"{kind.__name__}: {said}"
        clear(tmp_path / name)


def test_impl_does_not_follow_an_interpreter_as_a_script(planned: Sandbox) -> None:
    (planned.root / ".venv/bin").mkdir(parents=True)
    (planned.root / ".venv/bin/python").write_bytes(b"\x7fELF\n/bin/a\0b sh x\0.sh\n")
    (planned.root / ".venv/run").write_text(f"#!/bin/sh\nexec {sys.executable} -B -m unittest discover -s tests -t .\n")
    (planned.root / ".venv/run").chmod(0o755)
    planned.set("evidence", test=".venv/run .venv/bin/python", lint=".venv/bin/python -m no_such_linter")
    planned.script(implement=HONEST, review=APPROVED)
    done = planned.run("impl", CHANGE)
    assert done.code == 0, done.out + done.err
    assert "lint not run" in done.out
