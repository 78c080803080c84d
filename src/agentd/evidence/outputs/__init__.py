"""What the output of tests, linters, type checkers and audits says: counts, names and places. It runs nothing.

It never raises, whatever the text. Several runners in one output are added up.
"""

from collections.abc import Iterable

from agentd.evidence.outputs import (
    audits,
    cargo_go,
    diagnostics,
    generic,
    java,
    javascript,
    missing,
    node,
    pytest,
    unittest,
)
from agentd.evidence.outputs.lines import clean, regrouped
from agentd.evidence.outputs.summary import Summary, added
from agentd.model.evidence import Kind

# Those that need to know which frames of a stack are the project's own, and those that do not.
TRACING = (
    pytest.read,
    unittest.read,
    node.read,
    javascript.jest,
    javascript.vitest,
    javascript.mocha,
)
TELLING = (cargo_go.cargo, cargo_go.go, java.surefire, java.gradle)


def read(kind: Kind, lines: Iterable[str], root: str = "") -> Summary:
    """What the output of a command of that kind says; `root` is the folder that the project's own files lie in."""
    if kind == "audit":
        return audits.read(tuple(lines))
    cleaned = clean(lines)
    if kind != "test":
        found = diagnostics.read(cleaned)
        return found if found.cases else Summary(trouble=missing.read(cleaned))
    cleaned = regrouped(cleaned)
    readings = (*(runner(cleaned, root) for runner in TRACING), *(runner(cleaned) for runner in TELLING))
    found = added(reading for reading in readings if reading is not None)
    if found.counts is None and not found.nothing:
        found = generic.read(cleaned)
    if found.counts is None and not found.nothing:
        broken = tuple(case for case in diagnostics.read(cleaned).cases if case.status == "failed")
        return Summary(cases=broken, trouble=missing.read(cleaned))
    return found
