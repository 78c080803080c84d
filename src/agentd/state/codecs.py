"""Between a run's state as values and the keys of its family's file; keys it does not know are kept as they are."""

from collections.abc import Mapping
from dataclasses import asdict, field
from typing import Any

from agentd.model.decision import Decision, Option
from agentd.model.run import Intent, Nudge, Run
from agentd.values import dataclass


@dataclass(frozen=True)
class State:
    """All that a state file says: the run, the decisions, the family's own fields, and the number of the last save.

    `shown` is what stands for the phase in the file while children are somewhere else, such as at a question.
    """

    run: Run
    decisions: tuple[Decision, ...] = ()
    fields: Mapping[str, Any] = field(default_factory=dict)
    saves: int = 0
    shown: str = ""


@dataclass(frozen=True)
class Codec:
    """One family's file: its name and the keys under which it keeps what every run has."""

    file: str
    name_key: str
    phase_key: str
    version_key: str
    version: str | int
    created_key: str
    updated_key: str


# The file of a child run, whatever its family, and of a run of a person's own workflow.
PLAIN = Codec("STATE.yaml", "name", "phase", "schema_version", "1.0", "created_at", "updated_at")


class Malformed(ValueError):
    """A key with a value that cannot be; `keys` leads to it."""

    def __init__(self, what: str, *keys: str) -> None:
        self.keys = keys
        super().__init__(what)


def decode(codec: Codec, data: Mapping[str, Any]) -> State:
    """The state in a file's data, or Malformed."""
    version = data.get(codec.version_key, codec.version)
    if str(version).split(".")[0] != str(codec.version).split(".")[0]:
        raise Malformed(f"{codec.version_key} is {version}; this agentd reads {codec.version}", codec.version_key)
    for key in (codec.name_key, codec.phase_key):
        if key not in data:
            raise Malformed(f"'{key}' is missing")
    inner = _mapping(data, "run")
    counts = _mapping(inner, "counts", "run")
    for key, count in counts.items():
        if type(count) is not int or count < 0:
            raise Malformed(f"the count of '{key}' must be a whole number", "run", "counts", key)
    intent = _mapping(inner, "intent", "run")
    shown = _text(inner, "shown", "run")
    shown = shown if shown == data[codec.phase_key] else ""  # otherwise a person has set the phase
    run = Run(
        workflow=_text(inner, "workflow", "run"),
        name=_text(data, codec.name_key),
        phase=_text(inner, "phase", "run") if shown else _text(data, codec.phase_key),
        step=_text(inner, "step", "run"),
        begun=inner.get("begun") is True,
        counts=counts,
        intent=_intent(intent) if intent else None,
        asked_by=_text(inner, "asked_by", "run"),
        spent=_text(inner, "spent", "run"),
        waived=_texts(inner, "waived", "run"),
        clear=_texts(inner, "clear", "run"),
        result=_text(inner, "result", "run"),
    )
    saves = inner.get("saves", 0)
    if type(saves) is not int or saves < 0:
        raise Malformed("saves must be a whole number", "run", "saves")
    decisions = data.get("user_decisions") or []
    if not isinstance(decisions, list):
        raise Malformed("user_decisions must be a list", "user_decisions")
    return State(run, tuple(_decision(entry, number) for number, entry in enumerate(decisions)), data, saves, shown)


def encode(codec: Codec, state: State) -> dict[str, Any]:
    """The data to write: everything the file had, with what the run knows on top."""
    run = state.run
    data = {
        codec.name_key: run.name,
        codec.phase_key: run.phase,
        codec.version_key: codec.version,
        **state.fields,
    }
    data[codec.phase_key] = state.shown or run.phase
    if state.decisions:
        data["user_decisions"] = [_record(decision) for decision in state.decisions]
    inner: dict[str, Any] = {"workflow": run.workflow, "step": run.step, "saves": state.saves}
    if state.shown:
        inner |= {"phase": run.phase, "shown": state.shown}
    if run.counts:
        inner["counts"] = dict(run.counts)
    if run.intent:
        inner["intent"] = {"call": run.intent.call, "at": run.intent.at}
        if run.intent.tools:
            inner["intent"]["tools"] = list(run.intent.tools)
        if run.intent.before:
            inner["intent"]["before"] = dict(run.intent.before)
        if run.intent.nudge:
            inner["intent"]["nudge"] = asdict(run.intent.nudge)
    for key in ("begun", "asked_by", "spent", "waived", "clear", "result"):
        value = getattr(run, key)
        if value:
            inner[key] = list(value) if isinstance(value, tuple) else value
    known = _mapping(state.fields, "run") if isinstance(state.fields.get("run"), dict) else {}
    kept = {key: value for key, value in known.items() if key not in _RUN_KEYS}
    data["run"] = {**inner, **kept}
    return data


_RUN_KEYS = (
    "workflow",
    "step",
    "saves",
    "phase",
    "shown",
    "begun",
    "counts",
    "intent",
    "asked_by",
    "spent",
    "waived",
    "clear",
    "result",
)


def _intent(data: dict[str, Any]) -> Intent:
    where = ("run", "intent")
    return Intent(
        _text(data, "call", *where),
        _text(data, "at", *where),
        _texts(data, "tools", *where),
        {name: str(digest) for name, digest in _mapping(data, "before", *where).items()},
        _nudge(_mapping(data, "nudge", *where)),
    )


def _nudge(data: dict[str, Any]) -> Nudge | None:
    where, times = ("run", "intent", "nudge"), data.get("times")
    if not data:
        return None
    if type(times) is not int or times < 1:
        raise Malformed("times must be a whole number from 1", *where, "times")
    return Nudge(times, _text(data, "call", *where), _text(data, "missing", *where))


def _record(decision: Decision) -> dict[str, Any]:
    record: dict[str, Any] = {
        "decision_id": decision.id,
        "question": decision.question,
        "status": decision.status,
        "answer": decision.answer,
        "asked_at": decision.asked_at,
        "resolved_at": decision.resolved_at,
        "state_context": decision.state_context,
        "resolution_reason": decision.resolution_reason,
        "name": decision.name,
        "header": decision.header,
        "options": [{key: text for key, text in option._asdict().items() if text} for option in decision.options],
    }
    extra = {"free": decision.free, "note": decision.note, "by": decision.by, "shown": dict(decision.shown)}
    extra |= {"item": decision.item, "visit": decision.visit}
    return record | {key: value for key, value in extra.items() if value}


def _decision(entry: Any, number: int) -> Decision:
    where = ("user_decisions", str(number))
    if not isinstance(entry, dict):
        raise Malformed("a decision must be a mapping", *where)
    status = _text(entry, "status", *where)
    answer, resolved, reason = entry.get("answer"), entry.get("resolved_at"), entry.get("resolution_reason")
    valid = {
        "pending": not answer and not resolved and not reason,
        "answered": bool(answer) and bool(resolved),
        "cancelled": bool(resolved) and bool(reason),
        "skipped": bool(resolved) and bool(reason),
    }
    if not valid.get(status, False):
        raise Malformed(
            f"a decision with status '{status}' cannot have answer {answer!r}, resolved_at {resolved!r}", *where
        )
    options = entry.get("options") or []
    if not isinstance(options, list) or not all(isinstance(option, dict) and "value" in option for option in options):
        raise Malformed("options must be a list of value and label", *where, "options")
    visit = entry.get("visit", 0)
    if type(visit) is not int:
        raise Malformed("visit must be a whole number", *where, "visit")
    return Decision(
        id=_text(entry, "decision_id", *where),
        question=_text(entry, "question", *where),
        options=tuple(
            Option(
                str(option["value"]),
                str(option.get("label", "")),
                str(option.get("description", "")),
                option.get("reason") is True,
            )
            for option in options
        ),
        state_context=_text(entry, "state_context", *where),
        asked_at=_text(entry, "asked_at", *where),
        name=_text(entry, "name", *where),
        header=_text(entry, "header", *where),
        free=entry.get("free") is True,
        status=status,  # type: ignore[arg-type]  # checked against the four words above
        answer=answer,
        note=_text(entry, "note", *where),
        by=_text(entry, "by", *where),
        resolved_at=resolved,
        resolution_reason=reason,
        shown=_mapping(entry, "shown", *where),
        item=_text(entry, "item", *where),
        visit=visit,
    )


def _text(data: Mapping[str, Any], key: str, *where: str) -> str:
    value = data.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise Malformed(f"{key} must be text, not {value!r}", *where, key)
    return value


def _texts(data: Mapping[str, Any], key: str, *where: str) -> tuple[str, ...]:
    value = data.get(key) or []
    if not isinstance(value, list) or not all(isinstance(entry, str) for entry in value):
        raise Malformed(f"{key} must be a list of texts", *where, key)
    return tuple(value)


def _mapping(data: Mapping[str, Any], key: str, *where: str) -> dict[str, Any]:
    value = data.get(key)
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise Malformed(f"{key} must be a mapping", *where, key)
    return value
