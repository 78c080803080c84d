"""What state.json shows besides the position: each stage with its phases, the files, the failure. Values in, values out."""

from collections.abc import Mapping, Sequence
from copy import deepcopy
from typing import Any

from agentd.families.staged.schedule import SCHEDULE, STAGES, Entry

Shown = dict[str, Any]
MARKS = {"completed": "✓", "in_progress": "▶", "restarting": "▶", "failed": "✗", "blocked": "✗"}


def begun(without: Sequence[str]) -> Shown:
    """All stages before anything was done."""
    made: Shown = {}
    for stage in STAGES:
        off = stage in without
        word = "skipped" if off else "pending"
        made[stage] = {
            "status": word,
            "phases": {entry.phase: {"status": word} for entry in SCHEDULE if entry.stage == stage},
            "restartCount": 0,
            "blockReason": None,
            "enabled": not off,
        }
    made["EXPLORE"]["agentCount"] = 0
    return made


def moved(known: Mapping[str, Any], left: Entry | None, here: Entry | None) -> Shown:
    """The stages after a run moved on from one entry to another: what lies between was handled without being needed."""
    made = deepcopy(dict(known))
    if left is not None and left != here:
        _phase(made, left)["status"] = "completed"
    if here is None:
        return made
    at = SCHEDULE.index(here)
    for entry in SCHEDULE[:at]:
        if _phase(made, entry)["status"] in ("pending", "blocked"):
            _phase(made, entry)["status"] = "skipped"
    _phase(made, here)["status"] = "in_progress"
    for stage in STAGES:
        if stage == here.stage:
            made[stage] |= {"status": "in_progress", "blockReason": None}
        elif STAGES.index(stage) < STAGES.index(here.stage) and made[stage]["status"] != "skipped":
            made[stage] |= {"status": "completed", "blockReason": None}
    return made


def reopened(known: Mapping[str, Any], first: Entry) -> Shown:
    """The stages with a phase and all later ones to be done again."""
    made = deepcopy(dict(known))
    for entry in SCHEDULE[SCHEDULE.index(first) :]:
        if made[entry.stage]["enabled"]:
            made[entry.stage] |= {"status": "pending", "blockReason": None}
            _phase(made, entry)["status"] = "pending"
    return made


def restarted(known: Mapping[str, Any], stage: str, from_stage: str, why: str) -> Shown:
    """The stages after one is to be done again: its phases and all later ones are pending, and that is counted."""
    made = reopened(known, next(entry for entry in SCHEDULE if entry.stage == stage))
    made[stage] |= {"status": "restarting", "restartCount": made[stage]["restartCount"] + 1}
    if from_stage != stage:
        made[from_stage] |= {"status": "blocked", "blockReason": why}
    else:
        made[stage]["blockReason"] = why
    return made


def blocked(known: Mapping[str, Any], entry: Entry, why: str) -> Shown:
    made = deepcopy(dict(known))
    made[entry.stage] |= {"status": "blocked", "blockReason": why}
    _phase(made, entry)["status"] = "blocked"
    return made


def completed(known: Mapping[str, Any]) -> Shown:
    made = deepcopy(dict(known))
    for stage in made.values():
        for each in (stage, *stage["phases"].values()):
            each["status"] = "skipped" if each["status"] in ("skipped", "pending") else "completed"
    return made


def _phase(stages: Shown, entry: Entry) -> dict[str, Any]:
    found: dict[str, Any] = stages[entry.stage]["phases"][entry.phase]
    return found


SHAPES: Mapping[str, type] = {
    "stages": dict,
    "gates": dict,
    "files": dict,
    "seals": dict,
    "waivers": list,
    "bases": dict,
    "reasons": dict,
    "set_aside": list,
    "compaction": dict,
}


def malformed(fields: Mapping[str, Any]) -> str:
    """The field of state.json that a hand edit left in another shape than it has, or nothing."""
    for key, kind in SHAPES.items():
        if fields.get(key) is not None and not isinstance(fields[key], kind):
            return key
    for key in ("gates", "waivers"):
        if not all(isinstance(each, dict) for each in _entries(fields.get(key))):
            return key
    known = fields.get("stages") or begun(())
    sound = all(_is_stage(known.get(stage), stage) for stage in STAGES)
    return "" if sound else "stages"


def _entries(found: Any) -> Sequence[Any]:
    return list(found.values()) if isinstance(found, dict) else found or ()


def _is_stage(found: Any, name: str) -> bool:
    if not isinstance(found, dict) or not isinstance(found.get("phases"), dict):
        return False
    phases = [found["phases"].get(entry.phase) for entry in SCHEDULE if entry.stage == name]
    marked = all(isinstance(each, dict) and isinstance(each.get("status"), str) for each in (found, *phases))
    return marked and type(found.get("restartCount")) is int and type(found.get("enabled")) is bool


def lines(fields: Mapping[str, Any]) -> list[str]:
    """The schedule with a mark for each entry, and the gates between the stages."""
    stages, gates = fields.get("stages") or {}, fields.get("gates") or {}
    closing = {gate.get("phase"): name for name, gate in gates.items()}
    made = []
    for entry in SCHEDULE:
        stage = stages.get(entry.stage) or {}
        word = ((stage.get("phases") or {}).get(entry.phase) or {}).get("status", "pending")
        again = f" (restarted {stage['restartCount']})" if stage.get("restartCount") and _is_first(entry) else ""
        said = f"  {word}" if word in ("skipped", "blocked") else ""
        made.append(f"{MARKS.get(word, '·')} {entry.phase:<4} {entry.stage:<10} {entry.name}{again}{said}")
        if entry.phase in closing:
            files = ", ".join(map(str, gates[closing[entry.phase]].get("files") or ())) or "nothing"
            made.append(f"       [GATE] {closing[entry.phase]}: {files}")
    return made


def _is_first(entry: Entry) -> bool:
    return entry == next(each for each in SCHEDULE if each.stage == entry.stage)
