"""Repositories whose agents write down each time they run: outside the code, of which a review is bound to every file."""

import yaml

from tests.sandbox import Sandbox

RECORD = "agentd/record.txt"
ANSWERS = "agentd/answers.yaml"


def with_record(sandbox: Sandbox) -> Sandbox:
    """Every entry of the script writes down that it was played, and costs something."""
    script = yaml.safe_load((sandbox.root / "agentd" / "demo.yaml").read_text(encoding="utf-8"))
    record = {"record": str(sandbox.root / RECORD), "usage": {"tokens_in": 1000, "tokens_out": 100}}
    played = {
        step: [{**entry, **record} for entry in (entries if isinstance(entries, list) else [entries])]
        for step, entries in script.items()
    }
    sandbox.script(**played)
    return sandbox


def after(sandbox: Sandbox, *words: str, code: int = 0) -> Sandbox:
    ran = sandbox.run(*words)
    assert ran.code == code, ran.out + ran.err
    return sandbox
