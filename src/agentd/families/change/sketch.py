"""The plan of a quick change: whether it is valid and small, what a person sees of it, and what becomes of it without a yes."""

from collections.abc import Iterator

from agentd.families.change import format_check, plan_text, specs, tasks
from agentd.model.run import Outcome
from agentd.runs import decisions
from agentd.runs.choice import valid_answer
from agentd.runs.work import Work

QUESTION = "confirm"
MOST_TASKS, MOST_SPECS = 5, 2


def reminder(work: Work) -> Iterator[str]:
    """The plan once more, if the run waits for a yes or no to it."""
    asked = decisions.pending(work, QUESTION)
    if work.state.run.step == QUESTION and not (asked and valid_answer(work.store.folder, asked)):
        yield from plan_text.lines(work.home)


def check_sketch(work: Work) -> Outcome:
    """Check the format of a small plan and that it is small; a valid one is shown in full."""
    checked = format_check.validate(work)
    absent = specs.are_there(work)
    if absent:
        work.say(f"⚠ {absent}")
    if checked.word != "valid" or absent:
        return Outcome("invalid", absent or checked.note)
    found, affected = len(tasks.read_tasks(work)), len(specs.affected(work))
    if found > MOST_TASKS or affected > MOST_SPECS:
        return Outcome("large", f"it has {found} tasks and {affected} specs")
    for line in plan_text.lines(work.home):
        work.say(line)
    return Outcome("valid")


def put_off(work: Work) -> Outcome:
    """Leave the plan as it is, for a person to change or to forget."""
    name = work.state.run.name
    work.say(f"Nothing was done. Edit {work.project.relative(work.home)}/ and go on with: agentd resume {name}")
    work.resting = True
    return Outcome("done")


def grow(work: Work) -> Outcome:
    """Make the change an ordinary one, which keeps its documents."""
    work.note("mode", "full")
    asked = decisions.answered(work, QUESTION)
    why = f"{asked.by} wants it planned in full" if asked and asked.answer == "plan" else "it is not a small change"
    work.say(f"⚠ {why}; its documents are kept: agentd plan {work.state.run.name}")
    work.resting = True
    return Outcome("done", why)
