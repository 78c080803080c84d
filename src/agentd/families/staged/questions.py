"""What a person is asked when a stage cannot go on by itself, and what each answer does."""

from agentd.families.staged import gate_files, phase_files, review_file
from agentd.families.staged.schedule import position
from agentd.model.decision import RECOMMENDED, Option, Question
from agentd.runs.work import Work
from agentd.workspaces import work_proof

OPTIONS = {
    "retry": Option("retry", "Retry the phase"),
    "restart": Option("restart", "Restart the stage", "its files are cleared, its code is set aside"),
    "restart_previous": Option("restart_previous", "Restart the previous stage", "to repair the cause"),
    "skip": Option("skip", "Skip the phase; it is recorded as waived", reason=True),
    "force_continue": Option("force_continue", "Go on despite the issues; that is recorded", reason=True),
    "accept": Option("accept", "It is meant so; that is recorded", reason=True),
    "give_up": Option("give_up", "Give the task up; what depends on it is not done"),
    "abort": Option("abort", "Abort; the state and all that was written is kept"),
}
MOST = 8


def _options(work: Work) -> tuple[Option, ...]:
    """The answers that the table has, the first one recommended."""
    found = [OPTIONS[word] for word in work.workflow.steps[work.state.run.step].next if word in OPTIONS]
    return (found[0]._replace(label=f"{found[0].label} {RECOMMENDED}"), *found[1:])


def _where(work: Work) -> str:
    entry = position(work.state.run)
    return f"{entry.phase} {entry.name}" if entry else work.state.run.asked_by


def _why(work: Work) -> str:
    failure = work.state.fields.get("failure")
    said = str(failure.get("error") or "") if isinstance(failure, dict) else ""
    return said or str(work.state.fields.get("why_failed") or "it did not succeed")


def what_now(work: Work) -> Question:
    return Question(f"{_where(work)} cannot go on: {_why(work)}\nWhat now?", "Blocked", _options(work))


def restarts_are_used_up(work: Work) -> Question:
    text = f"{_where(work)} failed, and the restarts of the stage are used up: {_why(work)}\nWhat now?"
    return Question(text, "Restarts", _options(work))


def final_is_blocked(work: Work) -> Question:
    text = phase_files.read(work, phase_files.FINAL_REVIEW)
    review, why = review_file.read(text, "final") if text else (None, _why(work))
    issues = review_file.at_least(review.issues, gate_files.threshold(work)) if review else ()
    listed = "\n".join(f"  - [{one.severity}] {one.location}: {one.issue}" for one in issues[:MOST])
    said = review.summary if review else why
    return Question(f"The final review does not pass: {said}\n{listed}\nWhat now?", "Final review", _options(work))


def harm_is_found(work: Work) -> Question:
    listed = "\n".join(f"  - {text}" for text in work_proof.findings(work, "harm").values())
    return Question(f"The change weakens the tests:\n{listed}\nWhat now?", "Tests", _options(work))


def tests_cannot_run(work: Work) -> Question:
    listed = "\n".join(f"  - {text}" for text in work_proof.findings(work, "unknown").values())
    return Question(f"What the project is tested with could not run:\n{listed}\nWhat now?", "Tests", _options(work))


def question_of_a_task(work: Work) -> Question:
    asked = str(work.state.fields.get("asked") or "something is unclear")
    return Question(f"The agent asks: {asked}", "Question", (OPTIONS["give_up"],), free=True)
