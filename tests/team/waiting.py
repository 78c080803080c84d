"""Sessions that wait at a gate; what a test gets is a copy."""

import json
from pathlib import Path
from typing import Any

from tests.sandbox import copy_sandbox, make_sandbox
from tests.team.sessions import ARCHITECTURE, HONEST, SPEC, Session, say

FULL_SPEC = SPEC.replace(
    "## Acceptance", "## Scope\nOnly words, no phrases.\n\n## Assumptions\nA text fits into memory.\n\n## Acceptance"
)
FULL_ARCHITECTURE = ARCHITECTURE + "\n## Data Flow\ntext, words, counts\n\n## Key Decisions\nA counter, see ADR-001.\n"
ADR = "# ADR-001\n\n## Context\nSpeed.\n\n## Decision\nUse collections.Counter.\n"
DESIGN = "# Words\n\n## Layout\nA table of words.\n\n## Interactions\nA click sorts it.\n\n## Components\nThe project's table.\n"
RESEARCH = "# Counting\n\n## Recommendation\nThe standard library.\n"


def intake(**status: Any) -> dict[str, Any]:
    """What SpecAgent does, with what it says about the state."""
    documents = {**HONEST["intake"]["documents"], "spec.md": FULL_SPEC, "status-draft.json": json.dumps(status)}
    return {"documents": documents, "say": say()}


def at_design(folder: Path) -> Path:
    """The repository of a session with every document of DESIGN, which waits for the approval of the design."""
    session = Session(make_sandbox(folder))
    session.script(
        intake=intake(assumptions=["ASCII is enough"], project_type="lib", research="how to count", ui="a table"),
        research={"documents": {"research/research-counting.md": RESEARCH}, "say": say()},
        design={"documents": {"architecture.md": FULL_ARCHITECTURE, "adr/ADR-001.md": ADR}, "say": say()},
        design_ui={"documents": {"design-specs/design-spec-words.md": DESIGN}, "say": say()},
    )
    ran = session.start()
    assert ran.code == 4, ran
    return session.root


def at_strategy(folder: Path) -> Path:
    """The repository of a session with one task, which waits for the choice of a review strategy."""
    session = Session(make_sandbox(folder))
    ran = session.start(answers={"approve_design": "approved"})
    assert ran.code == 4, ran
    return session.root


def copied(root: Path, folder: Path) -> Session:
    return Session(copy_sandbox(root, folder))
