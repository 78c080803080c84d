"""FINAL: the branch is there; a pull request is opened where that is wanted and possible. Then the run is over."""

from agentd.errors import AgentdError
from agentd.families.staged import gate_files, task_steps
from agentd.landing import delivery, task
from agentd.model.run import Outcome
from agentd.runs.work import Work
from agentd.workspaces import work_landing


def complete(work: Work) -> Outcome:
    """Name the branch with what landed, and the way to a person's own branch."""
    task_steps.refuse_lost_tasks(work)
    branch, name = task.branch_of(work), f"staged/{work.state.run.name}"
    if not branch.landed():
        work.say("nothing has landed, so there is no branch to deliver")
        return Outcome("done")
    work.say(f"the work is on {branch.name}")
    if work.project.config.get("staged", "git") == "branch+PR":
        try:
            work.say(delivery.open_request(work.project, delivery.prepare(work.project, name)))
            return Outcome("done", branch.name)
        except AgentdError as error:
            work.say(f"no pull request: {error.message}")
    work.say(f"to merge it: agentd deliver {name}")
    return Outcome("done", branch.name)


def waiver_lines(work: Work) -> list[str]:
    """What a person decided to do without, and what a person accepted, in one line each."""
    accepted = work.state.fields.get("waived")
    return [
        f"⚠ {each.get('phase')} was waived by {each.get('by') or 'a person'}: {each.get('note') or each.get('answer')}"
        for each in gate_files.waivers(work.state.fields)
        if not each.get("void")
    ] + [f"⚠ accepted by a person: {text}" for text in (accepted if isinstance(accepted, list) else ())]


def finish(work: Work) -> Outcome:
    """Tell what was waived, whichever stages the run had, and leave no workspace behind."""
    task_steps.refuse_lost_tasks(work)
    for line in waiver_lines(work):
        work.say(line)
    work_landing.put_aside(work)
    return Outcome("done")
