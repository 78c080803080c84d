"""The transcripts of agent calls: what each program printed, redacted, between a line on who was called and one on how it ended.

A transcript alone tells what a call came to, also after a kill. Old ones make room for new ones.
"""

import json
import os
import re
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, TextIO

from agentd import files
from agentd.agents.adapter import Adapter
from agentd.agents.events import BEGIN, END, count_of, load, text_of, warnings_in
from agentd.agents.table import ADAPTERS
from agentd.calling import roster
from agentd.model.job import Job, Reply
from agentd.patterns import regex
from agentd.redaction import redact, secret_values
from agentd.runs.overview import begun
from agentd.runs.work import Work
from agentd.state import durable
from agentd.usage.recorded_calls import calls_in
from agentd.values import dataclass

CALL = regex(r"(?P<step>.+)-(?P<visit>\d+)\.(?P<attempt>\d+)")
MEGABYTE = 1 << 20


@dataclass(frozen=True)
class Told:
    """What a transcript says: who was called with how much, what came of it, and how long that took, if it tells."""

    agent: str
    model: str
    bytes_in: int | None
    reply: Reply
    seconds: float = 0.0


def path_of(work: Work, call: str) -> Path:
    return work.store.folder / "calls" / f"{call}.jsonl"


def visits(work: Work, step: str) -> int:
    """How often a step was called, also before its run began anew, which removes transcripts."""
    above = "".join(f"{item}/" for item in work.items_above())
    names = [str(one.get("call")) for one in calls_in(work.top.state.fields)]
    recorded = [CALL.fullmatch(name.removeprefix(above)) for name in names if name.startswith(above)]
    known = [int(found["visit"]) for found in recorded if found and found["step"] == step]
    return max((*known, *(int(found["visit"]) for found, _ in _of_step(work.store.folder, step))), default=0)


def _of_step(folder: Path, step: str = "") -> Iterator[tuple[re.Match[str], Path]]:
    calls = folder / "calls"
    for path in calls.glob("*.jsonl") if calls.is_dir() else ():
        found = CALL.fullmatch(path.stem)
        if found and (not step or found["step"] == step):
            yield found, path


@contextmanager
def written(path: Path) -> Iterator[TextIO]:
    """A transcript as it is written; a disk that does not take it is told in words."""
    durable.make_folder(path.parent)
    durable.refuse_links(path)
    try:
        with path.open("w", encoding="utf-8", errors="replace", buffering=1) as log:
            yield log
    except OSError as error:
        raise durable.trouble(path, error) from error


def first_line(agent: str, job: Job, at: str = "", mark: str = "") -> str:
    """Who is called with how much. The last line repeats the mark, which the program does not know."""
    size = len(job.prompt.encode(errors="replace")) + len(job.instructions.encode(errors="replace"))
    return _line(BEGIN, agent=agent, model=job.model, bytes_in=size, at=at, mark=mark)


def last_line(code: int, ended: str, seconds: float, errors: Sequence[str], mark: str = "") -> str:
    return _line(END, code=code, ended=ended, seconds=round(seconds, 3), errors=list(errors), mark=mark)


def _line(word: str, **values: Any) -> str:
    return json.dumps({"agentd": word, **values}, ensure_ascii=False) + "\n"


def read(work: Work, call: str, role: str) -> Told:
    """What a call came to, read by the adapter of the agent that was called."""
    lines = files.read(path_of(work, call)).decode(errors="replace").split("\n")
    head = load(lines[0]) or {}
    agent = text_of(head.get("agent")) if head.get("agentd") == BEGIN else ""
    agent = agent or roster.player(work.project, role).agent
    reply = make_reply(roster.find(work.project, agent), agent, lines, secret_values(work.secrets()))
    end = next((event for line in reversed(lines) if (event := load(line)) and event.get("agentd") == END), {})
    took = end.get("seconds")
    seconds = float(took) if isinstance(took, int | float) and end.get("mark") == head.get("mark") else 0.0
    return Told(agent, text_of(head.get("model")), count_of(head.get("bytes_in")), reply, seconds)


def make_reply(adapter: Adapter, agent: str, lines: list[str], secrets: Sequence[str]) -> Reply:
    """What the lines of a transcript say, without secrets, and with the model where only the agent's own files tell it."""
    reply = _read(adapter, agent, lines)
    if adapter.answered_by and reply.session and not reply.model:
        places = adapter.folders[0].places(os.path.expanduser("~"), os.environ)
        reply = replace(reply, model=adapter.answered_by(reply.session, places))
    return clean(replace(reply, warnings=reply.warnings or warnings_in(_genuine(lines))), secrets)


def _read(adapter: Adapter, agent: str, lines: list[str]) -> Reply:
    """What an adapter makes of a transcript; one that cannot is no reason to stop for good."""
    try:
        reply = adapter.read(_genuine(lines))
    except (Exception, RecursionError) as error:  # other packages bring adapters, and agents print anything
        return Reply(
            error=f"what {agent} printed cannot be read ({type(error).__name__}: {error})", failure="unreadable"
        )
    if not isinstance(reply, Reply):
        return Reply(error=f"the adapter of {agent} made no reply of what it printed", failure="unreadable")
    return reply


def _genuine(lines: list[str]) -> list[str]:
    """The lines without what only looks like agentd's own: its last one carries the mark of its first."""
    mark = text_of((load(lines[0]) or {}).get("mark"))
    return [line for number, line in enumerate(lines) if not number or not _is_forged(line, mark)]


def _is_forged(line: str, mark: str) -> bool:
    event = load(line) if '"agentd"' in line else None
    return event is not None and event.get("agentd") in (BEGIN, END) and (event.get("mark") != mark or not mark)


def clean(reply: Reply, secrets: Sequence[str]) -> Reply:
    """A reply without secrets, which may have come in pieces, and without letters that no file can hold."""

    def text(value: str) -> str:
        return redact(value.encode(errors="replace").decode(), secrets)

    return replace(
        reply,
        text=text(reply.text),
        error=text(reply.error),
        outcome=text(reply.outcome),
        session=text(reply.session),
        model=text(reply.model),
        refused=tuple(map(text, reply.refused)),
        warnings=tuple(map(text, reply.warnings)),
    )


def rotate(folder: Path, limit: int, sessions: Collection[str] = ()) -> None:
    """Remove the oldest transcripts of a run until they fit into so many megabytes; the last of each step stays.

    The conversations that agents keep beside them are counted and removed too, except those of these sessions.
    """
    calls = folder / "calls"
    starts = [adapter.conversations for adapter in ADAPTERS.values() if adapter.conversations]
    kept = {calls / f"{start}{session}.json" for start in starts for session in sessions}
    paths = [*calls.glob("*.jsonl"), *(path for start in starts for path in calls.glob(f"{start}*.json"))]
    found = sorted((begun(path), path.name, path) for path in paths)
    size = sum(path.stat().st_size for path in paths)
    latest: dict[str, tuple[int, int, Path]] = {}
    for match, path in _of_step(folder):
        latest[match["step"]] = max(
            latest.get(match["step"], (0, 0, path)), (int(match["visit"]), int(match["attempt"]), path)
        )
    kept |= {path for _, _, path in latest.values()}
    for _, _, path in found:
        if not limit or size <= limit * MEGABYTE:
            return
        if path not in kept:
            size -= path.stat().st_size
            durable.remove(path, "transcript")
