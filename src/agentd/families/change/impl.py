"""`agentd impl`: implement a change whose plan was approved, or review it again."""

from collections.abc import Sequence
from dataclasses import replace

from agentd import process
from agentd.calling import readiness
from agentd.engine.decide import Stop
from agentd.errors import ChangeNotReady, UsageError
from agentd.families.change import NAME, approval, code_verdict, git_setup
from agentd.families.change.reentry import take_up
from agentd.families.change.tasks import want
from agentd.runs import state_guard
from agentd.runs.lifecycle import go_on, look
from agentd.runs.ports import Ports
from agentd.runs.project import Project
from agentd.runs.report import Report
from agentd.runs.work import Work
from agentd.state.layout import Place


def impl(
    project: Project, change: str, tasks: Sequence[str] = (), re_review: bool = False, resolve: bool = False
) -> Report:
    """Implement an approved change or some of its tasks; or review a complete one again, or resolve that review."""
    place = project.find(change, NAME)
    phase = state_guard.standing(project.workflow(NAME), project.store(place).load().run).phase
    _refuse_options(change, phase, tasks, re_review, resolve)
    if phase == "complete" and re_review:
        again = review_again(project, place)
        follow = f"agentd impl {place.name} --resolve" if again.exit_code == 1 else again.next
        return replace(again, action="Reviewed", next=follow)
    if phase == "complete" and not resolve:
        approval.warn(project, place)
        return replace(look(project, place), action="AlreadyComplete")
    if phase in ("proposed", "rejected", "archived"):
        fixes = {
            "proposed": f"agentd plan {change}",
            "rejected": f"agentd status {change}",
            "archived": f"agentd log {change}",
        }
        raise ChangeNotReady(f"'{change}' is {phase}, so there is nothing to implement.", fixes[phase])
    git_setup.refuse_without_git(project)
    if phase == "challenged":
        workflow = project.workflow(NAME)
        readiness.refuse_unready(project, workflow, workflow.first(phase).name, "impl")

    def first(work: Work) -> None:
        if tasks:
            want(work, tasks)
        take_up(work, resolve)

    return go_on(project, place, "impl", first=first)


def _refuse_options(change: str, phase: str, tasks: Sequence[str], re_review: bool, resolve: bool) -> None:
    """Refuse options that exclude each other or do not fit the phase, before anything is done."""
    if sum(map(bool, (tasks, re_review, resolve))) > 1:
        raise UsageError("Use only one of --tasks, --re-review and --resolve.", f"agentd impl {change}")
    if phase == "complete" and tasks:
        raise UsageError(f"'{change}' is complete, so it has no tasks left.", f"agentd impl {change} --resolve")
    # After a kill the same command continues, and --resolve may have reopened the change by then.
    if (re_review and phase != "complete") or (resolve and phase not in ("complete", "implementing")):
        raise UsageError(f"'{change}' is {phase}; only a complete change is reviewed again.", f"agentd impl {change}")


def review_again(project: Project, place: Place) -> Report:
    """Test and review a complete change again."""
    return go_on(project, place, first=_review_again)


def _review_again(work: Work) -> Stop:
    """Drive one more review as a child run; the change stays complete whatever it says."""
    process.end_leftovers("AGENTD_RUN", str(work.store.folder))
    again = work.workflow.steps[work.workflow.entries["re_review"]]
    stop = Ports(work).drive_child(work.state.run, again, code_verdict.items(work)[0])
    if work.state is not work.saved:
        work.keep("reviewed again", outcome=stop.note)
    if stop.why != "finished":
        return stop
    if stop.note == "approved":
        work.say("✅ reviewed again: APPROVED")
        return Stop("elsewhere", "reviewed again: approved")
    name = work.state.run.name
    work.say(f"⚠ reviewed again: not approved; the change stays complete. To repair it: agentd impl {name} --resolve")
    return Stop("failed", f"reviewed again: not approved; agentd impl {name} --resolve reopens it")
