"""The steps that a change goes back to: for a missing document, a reopened task, or a loop that had given up."""

from agentd.engine.decide import Stop
from agentd.families.change import QUICK, challenge, specs, tasks
from agentd.proof import record
from agentd.runs import decisions, worktree
from agentd.runs.choice import valid_answer
from agentd.runs.ports import go_to
from agentd.runs.work import Work

# The steps before the first task.
OUTSET = ("set_out", "baseline", "begin_anyway", "accept_baseline")
# The steps that need the plan of a quick change.
SKETCHED = ("check_sketch", "confirm")
# Questions about evidence, with the entry that gathers it again.
SEEN_AGAIN = {"begin_anyway": "baseline", "unproven": "review", "harmed": "review", "stuck": "review"}


def unblock(work: Work, stop: Stop, command: str) -> bool:
    """Go back to the step that writes a missing document; whether there is one.

    A question that a person has answered is never undone: then the document has to be restored.
    """
    step = work.state.run.step
    if command in ("impl", QUICK) and step in SEEN_AGAIN:
        return _back(work, SEEN_AGAIN[step], stop.note)
    if command == QUICK and step in SKETCHED and not _is_answered(work, step):
        return _back(work, "sketch", stop.note)
    if command != "plan":
        return False
    if challenge.restore_report(work):
        return True
    entry, children = ("", ()) if _is_answered(work, step) else specs.gap(work)
    order, entries = list(work.workflow.steps), work.workflow.entries
    if not entry or order.index(entries[entry]) >= order.index(step):
        return False
    return _back(work, entry, stop.note, children)


def _is_answered(work: Work, step: str) -> bool:
    asked = decisions.pending(work, step)
    return asked is not None and valid_answer(work.store.folder, asked) is not None


def _back(work: Work, entry: str, why: str, children: tuple[str, ...] = ()) -> bool:
    work.say(f"⚠ {why}: back to {work.workflow.entries[entry]}")
    go_to(work, entry, why, "back", children)
    return True


def take_up(work: Work, resolve: bool = False) -> None:
    """Set the run down where `impl` continues: at open tasks, or at repairs if the loop had given up."""
    run = work.state.run
    worktree.refuse_lost(work)
    here = work.workflow.steps.get(run.step)
    if record.base(work):
        record.hold_base(work)
    elif run.phase == "implementing" and here and here.phase == run.phase and run.step != "set_out":
        go_to(work, "implement", "the files that the change began with are not known", "back")
        return
    if resolve and run.phase == "complete":
        work.say("⚠ reopened to resolve what the review found")
        go_to(work, "resolve", "a person had it resolved", "reopened")
        return
    asked = decisions.pending(work, "stuck")
    unanswered = asked and not valid_answer(work.store.folder, asked)
    if run.step == "stuck" and unanswered and not work.project.attended:
        go_to(work, "resolve", "the command was given again", "again")
        return
    if run.phase != "implementing" or here is None or here.phase != run.phase or run.step in OUTSET:
        return
    begun_again = tuple(f"children/implement/{name}/" for name in tasks.reopened(work))
    if begun_again or (tasks.open_tasks(work) and run.step != "implement"):
        work.say("⚠ open tasks come first")
        go_to(work, "open_tasks", "there are open tasks", "back", begun_again)
