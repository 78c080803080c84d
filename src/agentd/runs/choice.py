"""What a person's answer chooses: one of the values of the decision it is about."""

from pathlib import Path

from agentd.errors import BadAnswer, Corrupt
from agentd.model.decision import RECOMMENDED, Answer, Decision
from agentd.state import answers


def valid_answer(folder: Path, decision: Decision) -> Answer | None:
    """The answer on disk, if it answers this very question with one of its values."""
    try:
        found = answers.read(folder, decision.id)
        return choose(decision, found) if found and found.asked_at == decision.asked_at else None
    except (BadAnswer, Corrupt):
        return None


def writable(text: str) -> str:
    """Words that are not UTF-8 arrive with lone surrogates, which no file can hold."""
    return text.encode(errors="replace").decode()


def choose(decision: Decision, answer: Answer, run: str = "RUN") -> Answer:
    """The answer with its value in the decision's own word: a value, a label, or its number in the list."""
    said = answer.value.strip().lower()
    options = decision.options
    names = [option.value.lower() for option in options]
    spelled = [name.replace("_", "-") for name in names]
    labels = [option.label.removesuffix(RECOMMENDED).strip().lower() for option in options]
    numbers = [str(number) for number in range(1, len(options) + 1)]
    for spellings in (names, spelled, [option.label.lower() for option in options], labels, numbers):
        if said in spellings:
            option = options[spellings.index(said)]
            if option.reason and not answer.note.strip():
                raise BadAnswer(
                    f"'{option.value}' needs a reason (--note).",
                    f'agentd answer {run} {decision.id} {option.value} --note "why"',
                )
            return answer._replace(decision=decision.id, value=option.value)
    if decision.free and said:
        return answer._replace(decision=decision.id, value=writable(answer.value.strip()))
    known = ", ".join(option.value for option in decision.options)
    raise BadAnswer(
        f"'{answer.value}' does not answer {decision.id} ({decision.title}); the answers are: {known}.",
        "agentd status",
    )
