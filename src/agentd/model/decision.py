"""A question put to a person, as a record: pending on disk before anyone is asked, resolved once."""

from collections.abc import Mapping
from dataclasses import field
from typing import Literal, NamedTuple

from agentd.values import dataclass

Status = Literal["pending", "answered", "cancelled", "skipped"]
RECOMMENDED = "(Recommended)"


class Option(NamedTuple):
    """One possible answer: the word that is recorded and the text a person sees. `reason`: it is taken only with a why."""

    value: str
    label: str
    description: str = ""
    reason: bool = False


class Question(NamedTuple):
    """What a person is asked and what they may answer, the recommended answer first; `free`: any words will do.

    `id`: the record has this id each time, and only its latest state is kept.
    """

    text: str
    header: str
    options: tuple[Option, ...]
    free: bool = False
    id: str = ""


@dataclass(frozen=True)
class Decision:
    """The record of one question. `shown` maps each document the person saw to its checksum at that moment.

    `free`: any words are an answer, the options are only suggestions. `item` is the child run that asks, where another run
    keeps the record, and `visit` the number of its save at that moment: it tells the question from an earlier one.
    """

    id: str
    question: str
    options: tuple[Option, ...]
    state_context: str
    asked_at: str
    name: str = ""
    header: str = ""
    free: bool = False
    status: Status = "pending"
    answer: str | None = None
    note: str = ""
    by: str = ""
    resolved_at: str | None = None
    resolution_reason: str | None = None
    shown: Mapping[str, str] = field(default_factory=dict)
    item: str = ""
    visit: int = 0

    @property
    def title(self) -> str:
        """The first line of the question, for where it is only named."""
        return self.question.partition("\n")[0]


class Answer(NamedTuple):
    """What a person said to a decision: one of its values, with an optional note.

    `asked_at` is the decision's own, so that an answer from before the question was put answers nothing.
    """

    decision: str
    value: str
    note: str = ""
    by: str = ""
    at: str = ""
    asked_at: str = ""
