"""questions.yaml, parsed and rendered: the questions that a planner wants to ask before it proposes anything."""

import re
from collections.abc import Mapping
from typing import Any

from agentd.errors import Corrupt
from agentd.model.change import Draft
from agentd.text import lossless_yaml

MOST = 5


def render(change: str, drafts: tuple[Draft, ...]) -> str:
    """A whole questions.yaml; ValueError, with words for an agent, if it cannot be written."""
    listed = [_written(draft) for draft in drafts]
    for number, entry in enumerate(listed, 1):
        _, problem = _read(entry, number)
        if problem:
            raise ValueError(problem)
    return lossless_yaml.dump({"change": change, "questions": listed})


def read(text: str) -> tuple[tuple[Draft, ...], str]:
    """The questions as far as they can be understood, and the first problem."""
    try:
        data = lossless_yaml.load(text)
    except Corrupt as error:
        return (), re.sub(r"\A:?(\d+):\d+: ", r"line \1: ", error.message).rstrip(".")
    listed = data.get("questions")
    if not isinstance(listed, list) or not listed:
        return (), "'questions' is not a list of questions"
    drafts = []
    first = f"{len(listed)} questions are more than the {MOST} that may be asked" if len(listed) > MOST else ""
    for number, entry in enumerate(listed, 1):
        draft, problem = _read(entry, number)
        drafts += [draft] if draft else []
        first = first or problem
    return tuple(drafts), first


def _written(draft: Draft) -> dict[str, Any]:
    entry: dict[str, Any] = {"topic": draft.topic, "question": draft.question}
    if draft.options:
        entry["options"] = list(draft.options)
    return entry | ({"rationale": draft.rationale} if draft.rationale else {})


def _read(entry: object, number: int) -> tuple[Draft | None, str]:
    """A question, or None and the problem with it."""
    if not isinstance(entry, Mapping):
        return None, f"question {number} has no topic and no question"
    options = entry.get("options") or []
    texts = {key: entry.get(key) or "" for key in ("topic", "question", "rationale")}
    odd = next((key for key, value in texts.items() if not isinstance(value, str)), "")
    if odd:
        return None, f"the {odd} of question {number} is not text"
    missing = next((key for key in ("topic", "question") if not texts[key].strip()), "")
    if missing:
        return None, f"question {number} has no {missing}"
    if not isinstance(options, list) or not all(isinstance(option, str) and option.strip() for option in options):
        return None, f"the options of question {number} are not a list of texts"
    if len(set(options)) < len(options):
        return None, f"question {number} has the same option twice"
    return Draft(texts["topic"], texts["question"], tuple(options), texts["rationale"]), ""
