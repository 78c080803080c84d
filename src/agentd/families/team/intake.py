"""From a goal to documents: what SpecAgent adds to the state, what a lean session can do without it, and the gates of DESIGN."""

import json
import re
from collections.abc import Mapping
from pathlib import Path

from agentd import files
from agentd.families.team import session
from agentd.families.team.session_documents import ACCEPTANCE, ARCHITECTURE, SPEC, TASKS, Invalid, criteria, problem
from agentd.model.run import Outcome
from agentd.runs.work import Work
from agentd.state import durable
from agentd.text import lossless_yaml

DRAFT = "status-draft.json"
TYPES = ("web", "api", "cli", "lib", "mixed")


def merge_status(work: Work) -> None:
    """Take what SpecAgent may say about the state into status.json: assumptions, the kind of project, what is needed."""
    path = work.top.home / DRAFT
    if not path.is_file():
        return
    try:
        found = json.loads(files.read(path))
    except (OSError, ValueError, RecursionError):
        found = {}
    data = found if isinstance(found, Mapping) else {}
    listed = data.get("assumptions")
    said = {
        "assumptions": [str(each) for each in listed] if isinstance(listed, list) else [],
        "project_type": data["project_type"] if data.get("project_type") in TYPES else "mixed",
        **{name: str(data[name]) for name in ("research", "ui") if isinstance(data.get(name), str)},
    }
    session.note(work, **said)
    durable.remove(path, "document")


def write_minimal_artifacts(work: Work) -> Outcome:
    """A lean session whose SpecAgent is not to be had: the goal itself is the specification."""
    goal = str(work.state.fields.get("description") or "").strip()
    title = " ".join(goal.split("\n")[0].split())[:100]
    criterion = {"id": "AC-001", "description": title, "verify": [f"manual: {title}"]}
    one = {
        "id": "T-001",
        "status": "not-started",
        "type": "feat",
        "title": title,
        "depends_on": [],
        "goal": goal,
        "non_goals": [],
        "context_files": [],
        "files_expected": [],
        "acceptance_checks": [f"manual: {title}"],
        "risk_flags": ["none"],
        "done_when": [title],
    }
    work.write(SPEC, f"# {title}\n\n## Goal\n\n{goal}\n\n## Acceptance Criteria\n\n- AC-001: {title}\n")
    work.write(ACCEPTANCE, json.dumps({"acceptance_criteria": [criterion]}, indent=2, ensure_ascii=False) + "\n")
    work.write(TASKS, lossless_yaml.dump({"project": {"name": title, "definition_of_done": [title]}, "tasks": [one]}))
    return Outcome("done", "SpecAgent is not available: the goal itself is the specification")


def leave_lean(work: Work) -> Outcome:
    """The task is more than a lean session is for: what was learned is kept, and the full session begins."""
    why = "; ".join(session.grown(work).values())
    text = f"# Why this is no lean session\n\n{why}\n\n## The lean specification\n\n{work.read(SPEC)}\n"
    work.write("lean-notes.md", text)
    session.note(work, mode="full", active_tasks={}, grown={})
    return Outcome("done", why)


def document_problem(work: Work, path: Path) -> str:
    """Why a document of the session does not count, or nothing."""
    name = path.relative_to(work.top.home).as_posix()
    found = problem(name, work.top.read(name), session.is_lean(work))
    return found or (spec_is_testable(work) if name == ACCEPTANCE else "")


def spec_is_testable(work: Work) -> str:
    """Why the specification cannot be tested: it names a criterion for which there is no check."""
    return _unknown_criteria(work, SPEC)


def _unknown_criteria(work: Work, name: str) -> str:
    try:
        known = {one.id for one in criteria(work.top.read(ACCEPTANCE))}
    except Invalid as error:
        return f"{ACCEPTANCE}: {error}"
    unknown = sorted({*re.findall(r"\bAC-\d{3,}\b", work.top.read(name))} - known)
    return f"{name} names {', '.join(unknown)}, which {ACCEPTANCE} does not have" if unknown else ""


def research_is_needed(work: Work) -> str:
    why = work.state.fields.get("research")
    return "" if why and not any(work.files("research/*")) else "nothing has to be researched"


def research_is_there(work: Work) -> str:
    wanted = work.state.fields.get("research")
    return "research was wanted, and there is no report" if wanted and not any(work.files("research/*")) else ""


def ui_is_involved(work: Work) -> str:
    return "" if work.state.fields.get("ui") else "nothing that people see changes"


def ui_design_is_there(work: Work) -> str:
    wanted = work.state.fields.get("ui")
    return (
        "what people see changes, and there is no design for it"
        if wanted and not any(work.files("design-specs/*"))
        else ""
    )


def design_is_consistent(work: Work) -> str:
    """Why the architecture does not fit the specification: it names criteria that are not there, or no risks."""
    unknown = _unknown_criteria(work, ARCHITECTURE)
    risks = re.search(r"\brisks?\b", work.read(ARCHITECTURE), re.IGNORECASE)
    return unknown or ("" if risks else f"{ARCHITECTURE} records no risks")
