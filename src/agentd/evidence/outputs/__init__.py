"""What the output of tests, linters, type checkers and audits says: counts, names and places. It runs nothing.

It never raises, whatever the text. Several runners in one output are added up.
"""

from collections.abc import Iterable

from agentd.evidence.outputs import audits, cargo_go, diagnostics, generic, java, javascript, node, pytest, unittest
from agentd.evidence.outputs.summary import Summary, merged
from agentd.evidence.outputs.terminal_text import clean, regrouped
from agentd.model.command import Kind

# Runners that print stack traces, of which only the project's own frames count; and the others.
TRACING = (pytest.read, unittest.read, node.read, javascript.jest, javascript.vitest, javascript.mocha)
PLAIN = (cargo_go.cargo, cargo_go.go, java.surefire, java.gradle)


def read(kind: Kind, lines: Iterable[str], root: str = "") -> Summary:
    """What the output of a command of that kind says; `root` is the folder of the project's own files."""
    if kind == "audit":
        return audits.read(tuple(lines))
    cleaned = clean(lines)
    if kind != "test":
        found = diagnostics.read(cleaned)
        return found if found.cases else Summary(trouble=diagnostics.missing_program(cleaned))
    cleaned = regrouped(cleaned)
    summaries = (*(runner(cleaned, root) for runner in TRACING), *(runner(cleaned) for runner in PLAIN))
    found = merged([each for each in summaries if each is not None])
    if found.counts is None and not found.nothing:
        found = generic.read(cleaned)
    if found.counts is None and not found.nothing:
        broken = tuple(case for case in diagnostics.read(cleaned).cases if case.status == "failed")
        return Summary(cases=broken, trouble=diagnostics.missing_program(cleaned))
    return found
