"""The files of the phases: only agentd writes them, and what opens a gate is sealed by its checksum."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from agentd.runs.work import Work
from agentd.state import durable
from agentd.workspaces.work_proof import note_top

FOLDER = "phases"
EXPLORE, BRAINSTORM, PLAN, PLAN_REVIEW = "0-explore.md", "1.1-brainstorm.md", "1.2-plan.md", "1.3-plan-review.json"
TASKS, SIMPLIFY, CODE_REVIEW = "2.1-tasks.json", "2.2-simplify.md", "2.3-impl-review.json"
RESULTS, ANALYSIS, TEST_REVIEW = "3.1-test-results.json", "3.2-analysis.md", "3.3-test-review.json"
DOCUMENTATION, FINAL_REVIEW = "4.1-documentation.md", "4.2-final-review.json"
# What an agent's step leaves, by the step.
REVIEWS = {
    "review_plan": ("plan", PLAN_REVIEW),
    "review_implementation": ("implementation", CODE_REVIEW),
    "review_tests": ("tests", TEST_REVIEW),
    "review_all": ("final", FINAL_REVIEW),
}
PAGES = {
    "brainstorm": BRAINSTORM,
    "simplify": SIMPLIFY,
    "analyze_failures": ANALYSIS,
    "document": DOCUMENTATION,
}
NOT_RECORDED = "it is not recorded in state.json"
KIND_OF = {name: kind for kind, name in REVIEWS.values()}


def write(work: Work, name: str, text: str, of: str | None = None) -> None:
    """Write the file of a phase and record it; `of` seals it as agentd's own word about what has this checksum."""
    top = work.top
    durable.make_folder(top.home / FOLDER)
    top.write(f"{FOLDER}/{name}", text)
    with top.guard:
        note_top(work, files={**recorded(top), name: f"{top.project.relative(top.home)}/{FOLDER}/{name}"})
        if of is not None:
            note_top(work, seals={**_seals(top), name: {"sha256": digest(text), "of": of}})


def read(work: Work, name: str) -> str:
    return work.top.read(f"{FOLDER}/{name}")


def recorded(top: Work) -> Mapping[str, Any]:
    found = top.state.fields.get("files")
    return found if isinstance(found, Mapping) else {}


def unsealed(work: Work, name: str, text: str) -> str:
    """Why a file is not what agentd wrote, or nothing."""
    if name not in recorded(work.top):
        return NOT_RECORDED
    said = _seals(work.top).get(name)
    if not isinstance(said, Mapping) or said.get("sha256") != digest(text):
        return "it is not what agentd wrote"
    return ""


def about(work: Work, name: str) -> str:
    """The checksum of what a sealed file is about."""
    said = _seals(work.top).get(name)
    return str(said.get("of") or "") if isinstance(said, Mapping) else ""


def _seals(top: Work) -> Mapping[str, Any]:
    found = top.state.fields.get("seals")
    return found if isinstance(found, Mapping) else {}


def digest(text: str) -> str:
    return sha256(text.encode(errors="surrogateescape")).hexdigest()


def plan_digest(work: Work) -> str:
    """The checksum of the plan as it is."""
    return digest(read(work, PLAN))
