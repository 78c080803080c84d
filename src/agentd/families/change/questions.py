"""The questions of the change tables; each has the name of the step that asks it."""

from collections.abc import Callable, Mapping
from textwrap import shorten

from agentd.families.change import code_evidence, code_review
from agentd.families.change.challenge import rounds
from agentd.families.change.clarification import draft
from agentd.families.change.tasks import handed_out
from agentd.model.decision import RECOMMENDED, Option, Question
from agentd.model.verdict import only_minor
from agentd.runs.work import Work

HEADER = 12  # characters in the header of a question
SHOWN = 5  # findings that a question names
TOLD = 300  # characters of a reason in a question


def _fixed(text: str, header: str, *options: Option) -> Callable[[Work], Question]:
    return lambda work: Question(text, header, options)


def _recommended(option: Option) -> Option:
    return option._replace(label=f"{option.label} {RECOMMENDED}")


def clarification(work: Work) -> Question:
    """One of the planner's own questions. Its options are suggestions; any text is an answer."""
    asked = draft(work)
    options = [Option(words, words) for words in asked.options]
    options[:1] = map(_recommended, options[:1])
    return Question(asked.question, shorten(asked.topic, HEADER, placeholder="…"), tuple(options), free=True)


def git_setup(work: Work) -> Question:
    """Where to work on a new change; says first what git refused before."""
    known = work.state.fields.get("git")
    refused = f"{known['refused']} " if isinstance(known, Mapping) and known.get("refused") else ""
    branch = Option("branch", "New branch", "git checkout -b agentd/<change-id>")
    worktree = Option("worktree", "New worktree", "a folder of its own beside the project")
    in_place = Option("in_place", "In place", "stay on the current branch")
    return Question(f"{refused}Preferred Git workflow?", "Git Setup", (_recommended(branch), worktree, in_place))


def steer(work: Work) -> Question:
    """Asked after each challenge that wants a revision; beyond the limit it asks whether to continue at all."""
    made = len(rounds(work))
    text = "Proposal needs revision. What to do?"
    if made > int(work.project.config.get("workflow", "planning_iterations")):
        text = f"Proposal still needs revision after {made} rounds. Continue or stop?"
    fix = _recommended(Option("fix", "Auto-fix and rechallenge"))
    return Question(text, "Next", (fix, Option("manual", "Review manually"), Option("stop", "Stop here")))


def exhausted(work: Work) -> Question:
    """Asked when the loop has ended without an approval; what is recommended depends on the issues that are left."""
    made = rounds(work)
    view, fix = Option("view", "Open viewer"), Option("fix", "Continue fixing")
    proceed = Option("implement", "Proceed anyway", "the proposal was not approved; this is recorded", reason=True)
    ordered = (_recommended(view), fix, proceed)
    text = f"Still NEEDS_REVISION after {len(made)} rounds. What next?"
    if made and made[-1].verdict == "APPROVED":
        text = "The documents changed each time while they were challenged, so no approval counts. What next?"
    elif made and only_minor(made[-1].issues):
        ordered = (_recommended(proceed._replace(label="Proceed to implementation")), view, fix)
    return Question(text, "Next", ordered)


def mend(work: Work) -> Question:
    limit = work.project.config.get("workflow", "format_iterations")
    text = f"Format validation still failing after {limit} iterations. What to do?"
    check = _recommended(Option("check", "I fixed it: check again"))
    return Question(text, "Format", (check, Option("fix", "Let the planner try again"), Option("stop", "Stop here")))


def unfinished(work: Work) -> Question:
    left = ", ".join(f"{task.id} ({task.path})" for task in handed_out(work))
    text = f"The agent says it is done, but these tasks left no trace in their files: {left}. What to do?"
    again, check = Option("again", "Have them done"), Option("check", "I did them by hand: look again")
    waive = Option("waive", "Do without them", "this is recorded", reason=True)
    return Question(text, "Tasks", (_recommended(again), check, waive))


def stuck(work: Work) -> Question:
    """Asked when the loop has ended without an approval; says what prevents one."""
    limit = work.project.config.get("workflow", "implementation_iterations")
    verdict = str(work.top.state.fields.get("verdict") or "")
    why = "Major issues" if verdict == "MAJOR_ISSUES" else f"Not approved within {limit} rounds of fixes"
    told = shorten(code_review.why(work).removeprefix("not approved: "), TOLD, placeholder="…")
    text = f"{why}: manual intervention is needed{f' ({told})' if told else ''}. What to do?"
    fix, test = Option("fix", "Another round of fixes"), Option("test", "I fixed it by hand: test and review it")
    accept = Option("accept", "Take it as it is", "without an approval; this is recorded", reason=True)
    return Question(text, "Next", (_recommended(fix), test, accept))


def _about(asked: str, text: str, header: str, *options: Option) -> Callable[[Work], Question]:
    """A question about evidence, after what may repair it; `{what}` in its text stands for the findings."""

    def question(work: Work) -> Question:
        what = "; ".join(code_evidence.shown(work, asked)[:SHOWN]).rstrip(".") or "the evidence is not complete"
        fix = code_evidence.remedy(work, asked) if any(one.value == "again" for one in options) else ""
        first = f"First run: {fix}\n" if fix else ""
        again = (one._replace(description=f"after: {fix}") if fix and one.value == "again" else one for one in options)
        return Question(first + text.format(what=what), header, tuple(again))

    return question


lend_a_hand = _fixed(
    "Fix manually or let me help?",
    "Next",
    Option("help", f"Let me help: auto-fix and rechallenge {RECOMMENDED}"),
    Option("manual", "Fix manually, then: agentd plan"),
)
agree = _fixed(
    "The plan is approved. What next?",
    "Next",
    Option("implement", f"Proceed to implementation {RECOMMENDED}"),
    Option("view", "Open viewer"),
)
confirm = _fixed(
    "Implement this plan?",
    "Quick",
    Option("yes", f"Yes, do it {RECOMMENDED}"),
    Option("no", "No", "nothing is done; the documents stay to be edited"),
    Option("plan", "Plan it in full", "with agentd plan, which keeps the documents"),
)
begin_anyway = _about(
    "begin_anyway",
    "Before anything is changed: {what}. Begin all the same?",
    "Baseline",
    Option("again", f"Look again {RECOMMENDED}", "repaired, or a command set in agentd/config.toml below [evidence]"),
    Option("proceed", "Begin all the same", "from then on no new failure is allowed; this is recorded", reason=True),
)
unproven = _about(
    "unproven",
    "Not seen: {what}. Go on to the review without it?",
    "Evidence",
    Option("again", f"Run it again {RECOMMENDED}", "for good: set the command in agentd/config.toml, [] for none"),
    Option("fix", "Have the agent repair it"),
    Option("proceed", "Go on without it", "this is recorded", reason=True),
)
harmed = _about(
    "harmed",
    "Only a person can accept this: {what}. What to do?",
    "Tests",
    Option("fix", f"Have it repaired {RECOMMENDED}"),
    Option("waive", "Accept it", "this is recorded", reason=True),
)
