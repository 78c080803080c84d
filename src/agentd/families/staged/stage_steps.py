"""How a stage begins, and what becomes of the code of one that is done again: it is set aside under a ref, never deleted."""

from agentd.families.staged import compaction, phase_files, task_steps
from agentd.landing import run_landing, task
from agentd.model.run import Outcome
from agentd.runs.work import Work
from agentd.workspaces import work_landing, work_proof

CODE = ("IMPLEMENT", "TEST", "FINAL")
GOES_ON = ("open_review", "open_analysis", "open_test_review", "open_final_review")
BASES, ASIDE = "bases", "set_aside"


def begin_stage(work: Work) -> Outcome:
    """Compact what came before, and begin at the commit at which this stage began the first time."""
    stage = work.state.run.phase
    compaction.between_stages(work)
    if stage not in CODE:
        return Outcome("done")
    branch = task.branch_of(work)
    work_landing.put_aside(work)
    bases = dict(work.state.fields.get(BASES) or {})
    base, tip = str(bases.get(stage) or ""), branch.tip()
    note = ""
    if not base:
        task_steps.refuse_lost_tasks(work)
    if base and base != tip:
        aside = list(work.state.fields.get(ASIDE) or [])
        ref = branch.set_back(base, f"{stage.lower()}-{len(aside) + 1}")
        run_landing.forget(work)
        work.say(f"the code of {stage} so far is set aside as {ref}")
        work.note(ASIDE, [*aside, {"stage": stage, "ref": ref, "commit": tip}])
        note = ref
    landed = branch.landed()
    known = {name: commit for name, commit in work_landing.landed_tasks(work).items() if landed.get(name) == commit}
    kept = {name: commit for name, commit in bases.items() if name in CODE and CODE.index(name) < CODE.index(stage)}
    work.note(BASES, {**kept, stage: base or tip})
    work.note(work_landing.LANDED_TASKS, known)
    work.note(task_steps.GIVEN_UP, {})
    return Outcome("done", note)


def open_workspace(work: Work) -> Outcome:
    """A workspace for what comes; a phase in the middle of a stage goes on in the one that is there."""
    left = task.workspace_of(work) if work.state.run.step in GOES_ON and not work_landing.is_closed(work) else None
    if left is not None and work.cwd.is_dir():
        return Outcome("done", left.place)
    outcome = work_proof.open_workspace(work)
    if outcome.word != "done":
        work.note("why_failed", outcome.note)
    return outcome


def give_up_on_review(work: Work) -> Outcome:
    """The fixes are used up: what is left to repair is kept for the next attempt at the stage."""
    name = {"IMPLEMENT": phase_files.CODE_REVIEW}.get(work.state.run.phase, phase_files.FINAL_REVIEW)
    last = phase_files.read(work, name) or str(work.state.fields.get("why_failed") or "")
    work.note("reasons", {**dict(work.state.fields.get("reasons") or {}), work.state.run.phase: last[:4000]})
    why = str(work.state.fields.get("why_failed") or "the review does not pass")
    return Outcome("done", f"the fixes are used up: {why}"[:300])


def put_away(work: Work) -> Outcome:
    """The run is aborted: its workspaces go, what was written in them is kept, and so is the state."""
    return work_landing.put_aside(work)
