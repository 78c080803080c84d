"""Compaction: a short summary of what is done takes the place of its files in later prompts. No agent is called for it."""

from agentd.families.staged import phase_files, stage_summary
from agentd.families.staged.schedule import SCHEDULE, STAGES, position
from agentd.runs.work import Work

KEY = "compaction"


def between_stages(work: Work) -> None:
    """Summarize every stage that is over, if the project wants it."""
    here = position(work.state.run)
    if here is not None and work.project.config.get("staged", "compact_between_stages"):
        for stage in STAGES[: STAGES.index(here.stage)]:
            _compact(work, stage, [entry.phase for entry in SCHEDULE if entry.stage == stage])


def between_phases(work: Work) -> None:
    """Summarize every phase that is over, if the project wants it."""
    here = position(work.state.run)
    if here is not None and work.project.config.get("staged", "compact_between_phases"):
        for entry in SCHEDULE[: SCHEDULE.index(here)]:
            _compact(work, entry.phase, [entry.phase])


def _compact(work: Work, what: str, phases: list[str]) -> None:
    """Write the summary of these phases, and keep where it is; what was summarized as it is now is not done again."""
    files = {
        name: phase_files.read(work, name)
        for name in phase_files.recorded(work.top)
        if name.partition("-")[0] in phases and "summary" not in name
    }
    name = summary_name(what)
    text = stage_summary.summary(what, files) if files else ""
    if not files or (name in phase_files.recorded(work.top) and phase_files.read(work, name) == text):
        return
    before = sum(len(each.encode(errors="replace")) for each in files.values())
    after = len(text.encode(errors="replace"))
    phase_files.write(work, name, text)
    known = work.state.fields.get(KEY)
    history = list(known.get("history") or []) if isinstance(known, dict) else []
    made = {"stage": what, "file": name, "at": work.project.now(), "bytesBefore": before, "bytesAfter": after}
    work.note(KEY, {"lastCompactedAt": made["at"], "history": [*history, made]})
    work.keep("compact", stage=what, file=name, before=str(before), after=str(after))


def summary_name(what: str) -> str:
    return f"{what}-summary.md"
