"""Secrets that are planted wherever an agent could pick them up are in no file that agentd writes."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from tests.sandbox import CHANGE, Sandbox

BY_NAME = {
    "ACME_API_KEY": "q7Wd93kfLx02mZpT",
    "DEPLOY_TOKEN": "plain-looking_9f8e7d6c5b4a",
    "DB_PASSWORD": 'horse "battery" \\ staple',
    "SERVICE_CREDENTIALS": '{"user": "u", "pass": "8dk2-k2k2"}',
}
BY_LOOK = {
    "anthropic": "sk-ant-api03-0123456789abcdefghijklmn",
    "openai": "sk-proj-0123456789abcdefghijklmn",
    "google": "AIzaSy0123456789abcdefghijklmnopqrstuv",
    "github": "ghp_0123456789abcdefghijklmnopqrstuvwxyz",
    "aws": "AKIA0123456789ABCDEF",
    "header": "Zm9vOmJhcjpzdXBlcnNlY3JldA==",
}


def spoken() -> list[str]:
    """Each secret as a program may print it."""
    plain = [f"{name}={value}" for name, value in BY_NAME.items()]
    looks = [value for name, value in BY_LOOK.items() if name != "header"]
    header = [f"Authorization: Basic {BY_LOOK['header']}", json.dumps({"authorization": f"Bearer {BY_LOOK['header']}"})]
    return [*plain, *looks, *header, json.dumps({"env": BY_NAME}), json.dumps(json.dumps(BY_NAME))]


def found(sandbox: Sandbox) -> list[tuple[str, str]]:
    """Every file below the repository that holds a secret, in plain or within JSON, but for the agents' script."""
    values = [*BY_NAME.values(), *BY_LOOK.values()]
    forms = {form for value in values for form in (value, json.dumps(value)[1:-1])}
    files = [path for path in sandbox.root.rglob("*") if path.is_file() and path.name != "demo.yaml"]
    texts = {str(path.relative_to(sandbox.root)): path.read_bytes().decode(errors="replace") for path in files}
    return [(name, form) for name, text in texts.items() for form in forms if form in text]


@pytest.fixture
def planted(sandbox: Sandbox) -> Sandbox:
    sandbox.env |= BY_NAME
    sandbox.set("workflow", retry_delay_secs=0, script_retries=1)
    return sandbox


def told(entry: dict[str, Any], **more: Any) -> dict[str, Any]:
    """An agent that says every secret on its output, on its errors, and in its last words."""
    script = "import sys\nfor line in sys.argv[1:]: print(line, file=sys.stderr)"
    return {
        **entry,
        "lines": spoken(),
        "say": " | ".join(spoken()),
        "run": ["python3", "-c", script, *spoken()],
        **more,
    }


def test_what_an_agent_says_of_secrets_is_nowhere_in_the_files(planted: Sandbox) -> None:
    steps = ("propose", "write_spec", "break_down")
    planted.script(**{step: told(planted.entry(step)) for step in steps})
    assert planted.plan().code == 0
    assert planted.calls()
    assert found(planted) == []


@pytest.mark.parametrize("failure", ["error", "quota", "transient", "no-result"])
def test_a_failure_that_quotes_secrets_is_told_without_them(planted: Sandbox, failure: str) -> None:
    planted.script(propose=told({}, fail=failure))
    ran = planted.plan()
    assert ran.code in (1, 4)
    assert found(planted) == []
    shown = ran.out + ran.err
    assert [value for value in [*BY_NAME.values(), *BY_LOOK.values()] if value in shown] == []


def test_a_document_that_quotes_a_secret_is_refused(planted: Sandbox) -> None:
    entry = {
        "change_id": "{{run}}",
        "summary": "Count words.",
        "what_changes": ["The client sends its key"],
        "impact": {"scope": "minor", "affected_files": 1},
    }
    secrets = [*BY_NAME.values(), *(value for name, value in BY_LOOK.items() if name != "header")]
    asks = [{"create_proposal": {**entry, "why": f"It wants {secret} each time."}} for secret in secrets]
    planted.script(propose={"tools": [{**ask, "expect_error": True} for ask in asks]})
    planted.set("calls", nudges=0)
    planted.plan()
    assert not (planted.folder() / "proposal.md").exists()
    raw = planted.run("log", CHANGE, "--raw").out
    assert raw.count("looks like a key, token or password") == len(secrets)
    assert found(planted) == []


def test_evidence_holds_no_secret_that_a_test_printed(planted: Sandbox) -> None:
    noisy = planted.root / "noisy.py"
    noisy.write_text("import os\nprint(os.environ)\nraise SystemExit(1)\n")
    planted.set("evidence", test="python3 noisy.py")
    assert planted.plan().code == 0
    planted.run("impl", CHANGE)
    assert (planted.folder() / "baseline.json").is_file()
    assert found(planted) == []


def test_the_files_are_really_searched(planted: Sandbox) -> None:
    Path(planted.root / "leak.txt").write_text(BY_NAME["ACME_API_KEY"])
    assert [os.path.basename(name) for name, _ in found(planted)] == ["leak.txt"]
