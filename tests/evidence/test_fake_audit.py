"""Audits, proved with a program that prints what the real tools print: green, red with names, unknown."""

import json
import shlex
import sys
from pathlib import Path

import pytest

from agentd.evidence.runner import run_command
from agentd.model.command import Command
from agentd.model.evidence import Result
from tests.evidence import fake_audit

PACKAGES = {"flask": "0.5", "minimist": "1.2.0", "six": "1.16.0"}
ADVISORIES = [
    {"name": "flask", "id": "PYSEC-2019-179", "title": "A denial of service", "severity": "high", "fixed": "1.0"},
    {"name": "minimist", "id": "GHSA-xvch-5gv4-984h", "title": "Pollution", "severity": "critical", "fixed": "1.2.6"},
]
NAMED = {
    "pip-audit": ["flask 0.5: PYSEC-2019-179", "minimist 1.2.0: GHSA-xvch-5gv4-984h"],
    "pip-audit --json": ["flask 0.5: PYSEC-2019-179", "minimist 1.2.0: GHSA-xvch-5gv4-984h"],
    "npm": ["flask <1.0", "minimist <1.2.6"],
    "npm --json": ["flask <1.0", "minimist <1.2.6"],
    "cargo": ["flask 0.5: PYSEC-2019-179", "minimist 1.2.0: GHSA-xvch-5gv4-984h"],
}


def audit(tool: str, folder: Path, **facts: object) -> Result:
    (folder / "audit.json").write_text(json.dumps(facts))
    run = f"{shlex.quote(sys.executable)} {shlex.quote(fake_audit.__file__)} --as {tool}"
    return run_command(Command("audit", run), folder, {}, 60.0, None)


@pytest.mark.parametrize("tool", NAMED)
def test_a_clean_audit_is_green(tmp_path: Path, tool: str) -> None:
    found = audit(tool, tmp_path, packages=PACKAGES)
    assert found.counts is not None
    assert (found.status, found.exit_code, found.counts.total, found.note) == ("green", 0, 0, "")


@pytest.mark.parametrize("tool", NAMED)
def test_vulnerabilities_are_red_and_named(tmp_path: Path, tool: str) -> None:
    found = audit(tool, tmp_path, packages=PACKAGES, advisories=ADVISORIES)
    assert found.counts is not None
    assert (found.status, found.exit_code, found.counts.failed) == ("red", 1, 2)
    assert [case.name for case in found.cases] == NAMED[tool]


@pytest.mark.parametrize("tool", NAMED)
def test_one_vulnerability_is_spelled_as_one(tmp_path: Path, tool: str) -> None:
    found = audit(tool, tmp_path, packages=PACKAGES, advisories=ADVISORIES[:1])
    assert found.counts is not None
    assert (found.status, found.counts.failed) == ("red", 1)


@pytest.mark.parametrize("tool", NAMED)
def test_an_audit_that_reaches_nobody_is_unknown(tmp_path: Path, tool: str) -> None:
    found = audit(tool, tmp_path, packages=PACKAGES, advisories=ADVISORIES, offline=True)
    assert (found.status, found.exit_code) == ("unknown", 0 if tool.startswith("pip-audit") else 1)
    assert found.note.startswith("it could not audit: ")


def test_a_package_that_is_not_used_is_not_vulnerable(tmp_path: Path) -> None:
    assert audit("npm", tmp_path, packages={"six": "1.16.0"}, advisories=ADVISORIES).status == "green"
