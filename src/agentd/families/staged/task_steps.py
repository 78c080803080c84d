"""What agentd does with the work of a task, or of a stage, in its workspace: look at it, land it, put it aside."""

import json
import time
from collections.abc import Mapping
from typing import Any

from agentd.engine.waves import waves
from agentd.families.staged import phase_files, planning
from agentd.landing.documents import RED
from agentd.model.run import Outcome
from agentd.proof import record
from agentd.proof.evidence import Planned
from agentd.runs import decisions, ports
from agentd.runs.work import Work
from agentd.workspaces import work_landing, work_proof
from agentd.workspaces.work_files import is_untouched, tree

SUMMARY, WHY, REVIEWED = (
    "summary",
    "why_failed",
    {"IMPLEMENT": phase_files.CODE_REVIEW, "TEST": phase_files.TEST_REVIEW},
)
ACCEPT = "accept"
GIVEN_UP = "failed_tasks"  # the tasks that failed, each with why: their own files go before they are tried again


def examine(work: Work) -> Outcome:
    """Look at what was done in the workspace; what a person just accepted of the last look does not count any more."""
    _waive_accepted(work)
    outcome = work_proof.examine(work, _planned(work))
    work.note(WHY, "" if outcome.word == "green" else outcome.note)
    return outcome


def _waive_accepted(work: Work) -> None:
    said = decisions.last_answered(work)
    if said is not None and said.answer == ACCEPT:
        kind = "harm" if said.name == "harm_is_found" else "unknown"
        accepted = work_proof.findings(work, kind)
        if accepted:
            record.waive(work, said, accepted)
            known = work.top.state.fields.get("waived")
            listed = [*known] if isinstance(known, list) else []
            work_proof.note_top(work, waived=list(dict.fromkeys([*listed, *accepted.values()])))


def _planned(work: Work) -> Planned:
    one = planning.task_of(work) if work.parent else None
    listed = (one,) if one else planning.tasks_of(work)
    named = frozenset(path for each in listed for path in each.files if "*" not in path)
    return Planned(named, red_first=one is not None)


def refuse_lost_tasks(work: Work) -> None:
    """What the tasks landed is what is built upon, reviewed and delivered: it has to be on the branch."""
    work_landing.refuse_lost(work, f"agentd resume staged/{work.top.state.run.name} --from-phase 2.1")


def land(work: Work) -> Outcome:
    """Bring what was done onto the branch of the run; `stale` if a review is about other files than those that are there."""
    refuse_lost_tasks(work)
    if work_landing.is_over(work):
        return _close(work) if work_landing.is_closed(work) else _bring(work)
    if is_untouched(work):
        return _close(work) if work.parent is None else Outcome("red", "nothing was changed in the workspace")
    review = REVIEWED.get(work.state.run.phase, phase_files.FINAL_REVIEW)
    if work.parent is None and phase_files.about(work, review) != tree(work):
        return Outcome("stale", f"{review} is not about these files")
    if not work_proof.is_proved(work):
        outcome = examine(work)
        if outcome.word != "green":
            work.write(RED, f"# It did not land\n\n{outcome.note}\n")
            return Outcome("red", outcome.note)
    outcome = _bring(work)
    work.note(WHY, "" if outcome.word == "landed" else f"{outcome.word}: {outcome.note}")
    return outcome


def _close(work: Work) -> Outcome:
    return work_landing.close(work, "nothing was changed")


def _bring(work: Work) -> Outcome:
    one = planning.task_of(work) if work.parent else None
    goal = str(work.top.state.fields.get("description") or "").split("\n")[0]
    subject = f"{one.id}: {one.name}" if one else f"{work.state.run.phase.lower()}: {goal}"
    return work_landing.bring(work, subject, one.files if one else ())


def land_if_green(work: Work) -> Outcome:
    """A person goes on despite what is left: land what is green, and put aside what is not."""
    refuse_lost_tasks(work)
    if work_landing.is_over(work) or is_untouched(work):
        return Outcome("done", land(work).note)
    if examine(work).word == "green" and _bring(work).word == "landed":
        return Outcome("done", "landed")
    work_landing.put_aside(work)
    return Outcome("done", "what could not land is kept below refs/agentd/")


def put_aside(work: Work) -> Outcome:
    """A task failed: its workspace goes, all that was written in it is kept, and the run keeps why."""
    why = str(work.state.fields.get(WHY) or work.state.fields.get(SUMMARY) or "it did not succeed")
    with work.top.guard:
        work_proof.note_top(work, **{GIVEN_UP: {**_given_up(work), work.item: why[:500]}})
    return work_landing.put_aside(work)


def _given_up(work: Work) -> Mapping[str, Any]:
    found = work.top.state.fields.get(GIVEN_UP)
    return found if isinstance(found, Mapping) else {}


def back_off(work: Work) -> Outcome:
    """Give what failed some time before it is tried again; a signal or a request to stop ends the wait."""
    secs = work.project.config.get("staged", "backoff_secs") or (0,)
    seconds = float(secs[min(max(work.state.run.counts.get("failures", 1), 1), len(secs)) - 1])
    if seconds:
        work.say(f"waits {seconds:g} s before the next attempt")
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0 and not ports.Ports(work).stopping():
        work.project.interrupted.wait(min(left, 0.2))
    return Outcome("done")


def results(work: Work) -> dict[str, tuple[str, str]]:
    """What became of each task so far, and what is said of it; one that never began waits for another that failed."""
    found, given_up = {}, _given_up(work)
    for item in planning.plan_tasks(work):
        store = ports.child_store(work, "implement", item.id)
        state = store.peek() if store.exists() else None
        if state and state.run.result == "done":
            found[item.id] = ("completed", str(state.fields.get(SUMMARY) or ""))
        elif item.id in given_up:
            found[item.id] = ("failed", str(given_up[item.id]))
        else:
            found[item.id] = ("blocked", "what it depends on failed")
    return found


def gather_tasks(work: Work) -> Outcome:
    """What became of every task, wave by wave."""
    words, listed = results(work), []
    for number, names in enumerate(waves(planning.plan_tasks(work)), 1):
        shown = [{"id": name, "status": words[name][0], "summary": words[name][1][:500]} for name in names]
        listed.append({"waveNumber": number, "tasks": shown})
    done = [name for name, (word, _) in words.items() if word == "completed"]
    failed = [name for name in words if name not in done]
    data = {"waves": listed, "completedTasks": done, "failedTasks": failed}
    phase_files.write(
        work, phase_files.TASKS, json.dumps(data, indent=2, ensure_ascii=False) + "\n", of=phase_files.plan_digest(work)
    )
    return Outcome("done", f"{len(done)} completed" + (f", {len(failed)} not" if failed else ""))
