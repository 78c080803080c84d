"""Whether a reviewer's reply agrees with its report; a verdict that the two disagree about does not count."""

import re
from collections.abc import Sequence

from agentd.calling.reply import find_outcome, judge
from agentd.model.job import Reply
from agentd.patterns import regex

_ID = regex(r"[a-z0-9][a-z0-9-]*")


def contradicted(verdict: str, words: Sequence[str], reply: Reply) -> str:
    """How a reply contradicts the verdict of its review, or nothing; the reply may be silent."""
    for said in (judge([reply.outcome] if reply.outcome else [], words), find_outcome(reply.text, words)):
        if said.word != verdict.lower() and (said.word or "no outcome" not in said.problem):
            return f"its review says {verdict}, its reply {said.word.upper() if said.word else said.problem}"
    return ""


def is_of_another(change: str, named: str) -> str:
    """Why a review is about another change, or nothing; its title may have the name in words."""
    named = named.strip(" \t`*_.\"'")
    same = named == change if _ID.fullmatch(named) else change in re.sub(r"[\W_]+", "-", named.lower())
    return "" if same or not named else f"it is the review of '{named}'"
