"""What a gate looks at: whether the file of a phase is agentd's own, has valid content, and says what opens the gate."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agentd.families.staged import phase_files, plan_file, review_file
from agentd.runs.work import Work


def threshold(work: Work) -> str:
    return str(work.project.config.get("staged", "block_on_severity"))


def page_problem(work: Work, path: Path) -> str:
    """Why a page does not count; it is what agentd recorded, whatever a person made of its words since."""
    if path.name not in phase_files.recorded(work.top):
        return phase_files.NOT_RECORDED
    return "" if phase_files.read(work, path.name).strip() else "it is empty"


def plan_problem(work: Work, path: Path) -> str:
    wrong = page_problem(work, path)
    if wrong:
        return wrong
    try:
        plan_file.read(phase_files.read(work, path.name))
    except plan_file.Invalid as error:
        return str(error)
    return ""


def review_problem(work: Work, path: Path) -> str:
    """Why a review does not open its gate, or nothing: it has to be an approval of what is there now."""
    name, text = path.name, phase_files.read(work, path.name)
    wrong = phase_files.unsealed(work, name, text)
    if wrong:
        return wrong
    if name == phase_files.PLAN_REVIEW and phase_files.about(work, name) != phase_files.plan_digest(work):
        return f"{phase_files.PLAN} changed after it was reviewed"
    return review_file.problem(text, phase_files.KIND_OF[name], threshold(work))


def tasks_problem(work: Work, path: Path) -> str:
    text = phase_files.read(work, path.name)
    wrong = phase_files.unsealed(work, path.name, text)
    if wrong:
        return wrong
    if phase_files.about(work, path.name) != phase_files.plan_digest(work):
        return f"{phase_files.PLAN} changed after its tasks were done"
    failed = json.loads(text)["failedTasks"]
    return f"{', '.join(map(str, failed))} failed" if failed and not waived(work, "2.1") else ""


def results_problem(work: Work, path: Path) -> str:
    text = phase_files.read(work, path.name)
    wrong = phase_files.unsealed(work, path.name, text)
    return wrong or ("" if json.loads(text)["passed"] else "the tests did not pass")


def waived(work: Work, phase: str) -> bool:
    """Whether a person decided to go on without a phase."""
    return any(each.get("phase") == phase and not each.get("void") for each in waivers(work.top.state.fields))


def waivers(fields: Mapping[str, Any]) -> list[Mapping[str, Any]]:
    found = fields.get("waivers")
    return [each for each in found if isinstance(each, Mapping)] if isinstance(found, list) else []
