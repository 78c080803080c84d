"""The questions of the built-in workflows: their texts by name. A name that is not here is itself the question."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from agentd.model.decision import Option
from agentd.model.workflow import Step


@dataclass(frozen=True)
class Question:
    """The words around a decision; the possible answers are the outcomes of its step."""

    text: str
    header: str
    labels: Mapping[str, str] = field(default_factory=dict)


QUESTIONS = {
    "proposal_needs_revision": Question(
        "Proposal needs revision. What to do?",
        "Next",
        {
            "fix": "Auto-fix and rechallenge (Recommended)",
            "accept": "Accept the proposal as it is",
            "reject": "Reject the proposal",
        },
    ),
    "tests_could_not_run": Question(
        "The tests could not be run. Go on to the review without them?",
        "Evidence",
        {"again": "Run the tests again (Recommended)", "proceed": "Go on without test evidence (recorded)"},
    ),
    "implementation_is_stuck": Question(
        "The implementation did not pass within its limit. What to do?",
        "Next",
        {"fix": "Another round of fixes (Recommended)", "test": "I fixed it by hand: run the tests again"},
    ),
}


def question(step: Step) -> Question:
    """The question an `ask` step puts."""
    return QUESTIONS.get(step.what) or Question(step.what, "Decision")


def options(step: Step) -> tuple[Option, ...]:
    """What a person may answer: the outcomes of the step, the way forward first."""
    labels = question(step).labels
    return tuple(Option(word, labels.get(word, word.replace("_", " ").capitalize())) for word in step.next)
