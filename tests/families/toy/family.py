"""What the toy family does: one action, one check, one question, its items, and its own words."""

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from agentd.calling.call import Callers
from agentd.engine.waves import Item
from agentd.model.decision import Option, Question
from agentd.model.run import Outcome
from agentd.runs.family import Family
from agentd.runs.work import Work
from agentd.state.codecs import State


def somebody_signs(work: Work) -> str:
    return "" if friends(work) else "the card names nobody"


def stamp(work: Work) -> Outcome:
    work.note("stamps", len(work.read("card.md").split()))
    work.write("stamp.txt", f"{work.state.fields['stamps']} words\n")
    return Outcome("done", f"{work.state.fields['stamps']} words")


def friends(work: Work) -> Sequence[Item]:
    return [Item(line.removeprefix("- ")) for line in work.top.read("card.md").splitlines() if line.startswith("- ")]


def send(work: Work) -> Question:
    return Question(f"Send it to {len(friends(work))} friends?", "Post", (Option("yes", "Send"), Option("no", "Keep")))


def problem_with(work: Work, path: Path) -> str:
    return "" if path.read_text() == f"{work.state.fields.get('stamps')} words\n" else "it is not agentd's stamp"


def fields(work: Work, event: str, details: Mapping[str, str]) -> Mapping[str, Any]:
    return {"signed": sorted(path.parent.name for path in work.top.store.folder.glob("children/sign/*/name.md"))}


def lines(work: Work, event: str, details: Mapping[str, str]) -> list[str] | None:
    return [f"stamped: {details['note']}"] if details.get("step") == "stamp" and event == "end" else None


def summary(state: State) -> Mapping[str, Any]:
    return {"verdict": "SENT" if state.run.result == "sent" else ""}


def may_begin(work: Work, item: Item, under_way: Sequence[Item]) -> str:
    return f"waits for the pen: {time.monotonic()} on the clock" if item.id == "shy" else ""


FAMILY = Family(Callers, lines=lines, fields=fields, summary=summary, may_begin=may_begin)
