"""What a role is sent: the input of the contract, and the words around it."""

import json
from collections.abc import Iterator, Mapping
from typing import Any

from agentd.calling.agent_call import Values
from agentd.families.team import LAYOUT, readme, session, verdicts, workspaces
from agentd.families.team.roles import Role
from agentd.families.team.session_documents import ACCEPTANCE, DOCUMENTS, Invalid, Task, criteria
from agentd.git import repository
from agentd.model.workflow import Step
from agentd.prompts.render import render
from agentd.runs.work import Work
from agentd.workspaces import work_files, work_proof

GOALS = {
    "single-final": "Single-final review of all session changes",
    "per-batch": "Cross-task final review of all session changes",
}
FEEDBACK = ("red.md", "conflict.md", "lean-notes.md")


def values(work: Work, step: Step, role: Role) -> Values:
    """What fills the slots of the dispatch template."""
    return {
        "identity": lambda: role.text,
        "contract": lambda: render(
            (LAYOUT.folder / "contract.md").read_text(encoding="utf-8").strip(),
            {"statuses": ", ".join(role.statuses)},
            "contract.md",
        ),
        "instructions": lambda: _instructions(work),
        "session": lambda: _shown(work, ""),
        "documents": lambda: _documents(role, step),
        "input": lambda: json.dumps(task_input(work, step, role), indent=2, ensure_ascii=False),
    }


def _instructions(work: Work) -> str:
    found = session.project_instructions(work)
    if not found:
        return ""
    named = " and ".join(found)
    return f"\n## The project's own instructions\nRead {named} and follow them, below the contract and your role.\n"


def _documents(role: Role, step: Step) -> str:
    if not role.writes or "write_document" not in step.tools:
        return "Read them with read_document; you write none of them."
    return f"Read them with read_document. You write {', '.join(role.writes)}, each with write_document."


def task_input(work: Work, step: Step, role: Role) -> dict[str, Any]:
    """The input of the contract."""
    top = work.top
    one = session.task_of(work)
    return {
        "task": {
            **(_task(one) if one else _meta(work, step)),
            "mode": str(top.state.fields.get("mode") or "full"),
            "step": step.name,
            "context_files": [*context_files(work, role), *(one.context_files if one else ())],
            "session_changed_files": work_files.changed_files(work) if role.name == "Reviewer" else [],
            "constraints": list(_constraints(work)),
            **_material(work, step),
        },
        "project_type": str(top.state.fields.get("project_type") or "mixed"),
        "repo_state": _repository(work),
        "tools_available": list(step.tools),
        "artifact_list": [_shown(work, name) for name in _all_documents(top)],
    }


def _task(one: Task) -> dict[str, Any]:
    return {
        "id": one.id,
        "title": one.title,
        "goal": one.goal,
        "non_goals": list(one.non_goals),
        "acceptance_checks": list(map(str, one.acceptance_checks)),
        "risk_flags": list(one.risk_flags) or ["none"],
        "files_expected": list(one.files_expected),
        "done_when": list(one.done_when),
    }


def _meta(work: Work, step: Step) -> dict[str, Any]:
    goal = str(work.top.state.fields.get("description") or "")
    reviewing = step.what in ("reviewer", "qa", "security")
    flags = {flag for one in session.listed(work) for flag in one.risk_flags} - {"none"}
    return {
        "id": session.META,
        "title": goal.split("\n")[0][:100],
        "goal": GOALS.get(verdicts.strategy(work), goal) if reviewing else goal,
        "non_goals": [],
        "acceptance_checks": list(_all_checks(work)),
        "risk_flags": sorted(flags) or ["none"],
    }


def _all_checks(work: Work) -> Iterator[str]:
    try:
        found = criteria(work.top.read(ACCEPTANCE))
    except Invalid:
        return
    yield from dict.fromkeys(str(check) for one in found for check in one.verify)


def context_files(work: Work, role: Role) -> list[str]:
    """The documents of the session that a role is given, as far as they are there."""
    top = work.top
    return [
        _shown(work, path.relative_to(top.home).as_posix()) for name in role.context for path in sorted(top.files(name))
    ]


def _all_documents(top: Work) -> list[str]:
    return [path.relative_to(top.home).as_posix() for name in DOCUMENTS for path in sorted(top.files(name))]


def _shown(work: Work, name: str) -> str:
    """A document by its path from the project's root."""
    return f"{work.project.relative(work.top.home)}/{name}".removesuffix("/")


def _constraints(work: Work) -> Iterator[str]:
    """What a person decided and a role has to keep to."""
    for one in session.said_here(work):
        yield f"{one.question} → {one.answer}" + (f": {one.note}" if one.note else "")


def _repository(work: Work) -> dict[str, str]:
    last = work.top.state.fields.get("last_ci_result")
    said = last if isinstance(last, Mapping) else {}
    return {
        "branch": workspaces.branch_name(work) or repository.current_branch(work.project.root),
        "ci_status": str(said.get("status") or "unknown"),
        "last_failed_step": str(said.get("failed") or ""),
    }


def _material(work: Work, step: Step) -> dict[str, Any]:
    """What a repair is about, and the diff of a review."""
    found: dict[str, Any] = {}
    feedback = {
        name: text
        for name in FEEDBACK
        if (text := work.read(name) or (work.top.read(name) if name == FEEDBACK[-1] else ""))
    }
    if feedback:
        found["documents"] = feedback
    if step.what == "coder":
        found["findings"] = verdicts.open_findings(work)
    if step.what in ("reviewer", "security", "qa"):
        found["diff"] = work_files.diff(work)
    if step.what in ("reviewer", "qa"):
        found["evidence"] = work_proof.evidence_lines(work)
    if step.what == "docs":
        found["readme_names_gone"] = readme.outdated(work)
    if step.name in session.CORRECTIONS:
        found["correction"] = str(work.state.fields.get("correction") or "")
    return found
