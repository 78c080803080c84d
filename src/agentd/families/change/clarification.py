"""The clarification of a new change: when it is needed, what is asked, and how the answers become clarifications.md."""

import re
import shlex
from collections.abc import Sequence
from pathlib import Path

from agentd import files
from agentd.engine.waves import Item
from agentd.errors import AgentdError, ClarificationNeeded, UsageError
from agentd.families.change.documents import clarifications, question_drafts
from agentd.model.change import Clarifications, Draft, Question
from agentd.model.run import Outcome
from agentd.patterns import regex
from agentd.runs.ports import child_store
from agentd.runs.work import Work

ENOUGH_WORDS = 40
ENOUGH_POINTS = 3
FEWEST, MOST = 3, 5
LARGEST = 1_000_000
FILE = "questions.yaml"
_POINT = regex(r"^[ \t]*(?:[-*+•]|\d+[.)、])[ \t]*\S", re.MULTILINE)
_UNSPACED = regex(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff]")


def is_detailed(description: str) -> bool:
    """Whether a description needs no clarification: it has forty words, or a list of three points."""
    # Chinese and Japanese have no spaces between words; about two characters make a word.
    words = len(_UNSPACED.sub(" ", description).split()) + len(_UNSPACED.findall(description)) // 2
    return words >= ENOUGH_WORDS or len(_POINT.findall(description)) >= ENOUGH_POINTS


def from_words(description: str) -> tuple[str, bool]:
    """The text of a description, and whether it is detailed; `@notes.md` stands for the text of that file."""
    if not description.startswith("@"):
        return description, is_detailed(description)
    path = Path(description[1:])
    try:
        with path.open("rb") as file:
            text = file.read(LARGEST + 1)
        if len(text) > LARGEST:
            raise UsageError(f"{path} is larger than {LARGEST} bytes.", f"head -c {LARGEST} {path}")
        said = text.decode().strip()
    except UnicodeDecodeError:
        raise UsageError(f"{path} is not UTF-8 text.", f"iconv -f latin1 -t utf-8 {path}") from None
    except (OSError, ValueError) as error:
        raise UsageError(f"{path}: {getattr(error, 'strerror', None) or error}.", "ls -l") from None
    if not said:
        raise UsageError(f"{path} is empty.", f"$EDITOR {path}")
    return said, True


def refuse_unclarified(change: str, description: str) -> None:
    """Refuse a short description without clarifications if nobody is there to ask, so that no agent has to guess."""
    raise ClarificationNeeded(
        f"'{change}' is a new change with a short description, and there is no clarifications.md.\n"
        f"Say more ({ENOUGH_WORDS} words, a list of {ENOUGH_POINTS} points, or @notes.md), answer the planner's questions "
        "on a terminal or with --answers FILE,\n"
        f"or write agentd/changes/{change}/clarifications.md yourself.",
        f"agentd plan {change} {shlex.quote(' '.join(description.split()))} --skip-clarify",
    )


def is_wanted(work: Work) -> str:
    """Why nothing has to be clarified, or nothing."""
    if not work.artifact("clarifications.md"):
        return "clarifications.md is there"
    if not work.artifact("proposal.md"):
        return "proposal.md is there"
    return str(work.state.fields.get("clarification") or "")


def items(work: Work) -> Sequence[Item]:
    """One item for each question of questions.yaml."""
    return [Item(f"Q{number}") for number, _ in enumerate(_drafts(work), 1)]


def draft(work: Work) -> Draft:
    """The question that this child run asks."""
    return _drafts(work)[int(work.item.removeprefix("Q")) - 1]


def write_answers(work: Work) -> Outcome:
    """Write clarifications.md from the questions and their answers."""
    asked = []
    for number, one in enumerate(_drafts(work), 1):
        store = child_store(work, "clarify", f"Q{number}")
        decision = next((each for each in store.load().decisions if each.status == "answered"), None)
        if decision is None:
            raise store.corrupt("the answer is not there any more", "user_decisions")
        # The answer belongs to the question as it was asked; questions.yaml may have changed since.
        put = decision.question.removeprefix(f"Q{number}: ")
        same = put == one.question
        why = decision.note or (one.rationale if same else "") or f"answered by {decision.by}"
        asked.append(Question(one.topic if same else decision.header, put, str(decision.answer), why))
    document = Clarifications(work.state.run.name, work.project.now()[:10], tuple(asked))
    work.write("clarifications.md", clarifications.render(document))
    return Outcome("done", f"{len(asked)} answers")


def problem_with(_: Work, path: Path) -> str:
    """What is wrong with questions.yaml, or nothing."""
    try:
        found, problem = question_drafts.read(files.read(path).decode())
    except (OSError, UnicodeDecodeError) as error:
        return str(error)
    if not problem and not FEWEST <= len(found) <= MOST:
        return f"it has {len(found)} questions, not {FEWEST} to {MOST}"
    return problem


def _drafts(work: Work) -> tuple[Draft, ...]:
    path = work.home / FILE
    problem = problem_with(work, path)
    if problem:
        raise AgentdError(f"{path}: {problem}.", f"rm {path}   # then: agentd plan {work.top.state.run.name}")
    return question_drafts.read(files.read(path).decode())[0]
