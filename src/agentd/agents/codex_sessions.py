"""The files in which codex keeps its conversations: only they tell which model answered."""

from collections.abc import Sequence
from contextlib import nullcontext
from pathlib import Path

from agentd.agents.events import load
from agentd.patterns import regex

SESSION = regex(r"[0-9A-Za-z-]{8,64}")


def answered_by(session: str, places: Sequence[str]) -> str:
    """The model of the last turn of a conversation, as codex keeps it in one of these folders; empty if it does not."""
    if not SESSION.fullmatch(session):
        return ""
    files = (path for place in places for path in Path(place).glob(f"sessions/*/*/*/rollout-*-{session}.jsonl"))
    path, model = next(files, None), ""
    try:
        with path.open(encoding="utf-8", errors="replace") if path else nullcontext(()) as lines:
            for line in lines:
                match load(line) if '"turn_context"' in line else None:
                    case {"type": "turn_context", "payload": {"model": str(name)}}:
                        model = name
    except OSError:
        return ""
    return model
