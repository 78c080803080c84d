"""evidence.json: what agentd saw a project's commands do, as text and back. A file that says anything else is refused."""

import json
from collections.abc import Mapping
from dataclasses import asdict
from typing import Any, Literal, TypeVar, get_args

from agentd.errors import Corrupt
from agentd.model.evidence import Case, CaseStatus, Command, Counts, Evidence, Harm, Kind, Result, Status

_FIX = "remove the file and run the command again: agentd looks at the project anew"

Value = TypeVar("Value", str, int, float, dict[str, Any], list[Any])


def status(evidence: Evidence) -> Literal["green", "red", "unknown"]:
    """Red where tests failed or there were none, or anything else is red; unknown where something could not be seen."""
    statuses = [result.status for result in evidence.results]
    if "red" in statuses or any(each.status == "none" and each.command.kind == "test" for each in evidence.results):
        return "red"
    return "unknown" if "unknown" in statuses else "green"


def render(evidence: Evidence) -> str:
    """The whole file. The status on top is for people; it is not read back."""
    return json.dumps({"status": status(evidence), **asdict(evidence)}, indent=2, ensure_ascii=False) + "\n"


def read(text: str, source: str) -> Evidence:
    """The evidence; Corrupt if the text is not exactly one."""
    try:
        data = json.loads(text)
        if not isinstance(data, dict):
            raise TypeError("it holds no object")
        data.pop("status", None)
        _only(data, ("tree", "at", "results", "harms", "before"))
        return Evidence(
            _take(data, "tree", str),
            _take(data, "at", str),
            tuple(map(_result, _take(data, "results", list))),
            tuple(map(_harm, _take(data, "harms", list))),
            tuple(map(_result, _take(data, "before", list))),
        )
    except (ValueError, TypeError, RecursionError) as error:
        raise Corrupt(f"{source} is not evidence that agentd wrote: {error}.", _FIX) from None


def _result(data: object) -> Result:
    table = _table(data)
    _only(table, ("command", "status", "exit_code", "seconds", "counts", "cases", "output", "note"))
    code = table.get("exit_code")
    counts = table.get("counts")
    seconds = table.get("seconds")
    return Result(
        _command(table.get("command")),
        _status(_one_of(table, "status", get_args(Status))),
        None if code is None else _take(table, "exit_code", int),
        _take(table, "seconds", float) if isinstance(seconds, float) else float(_take(table, "seconds", int)),
        None if counts is None else _counts(counts),
        tuple(map(_case, _take(table, "cases", list))),
        tuple(_text(line) for line in _take(table, "output", list)),
        _take(table, "note", str),
    )


def _command(data: object) -> Command:
    table = _table(data)
    _only(table, ("kind", "run", "folder", "source"))
    kind: Kind = _kind(_one_of(table, "kind", get_args(Kind)))
    return Command(kind, _take(table, "run", str), _take(table, "folder", str), _take(table, "source", str))


def _counts(data: object) -> Counts:
    table = _table(data)
    names = ("total", "passed", "failed", "skipped")
    _only(table, names)
    return Counts(*(_take(table, name, int) for name in names))


def _case(data: object) -> Case:
    table = _table(data)
    _only(table, ("name", "status", "file", "line"))
    word = _one_of(table, "status", get_args(CaseStatus))
    return Case(_take(table, "name", str), _case_status(word), _take(table, "file", str), _take(table, "line", int))


def _harm(data: object) -> Harm:
    table = _table(data)
    _only(table, ("rule", "message", "file", "line", "quote"))
    rule, message, file, quote = (_take(table, name, str) for name in ("rule", "message", "file", "quote"))
    return Harm(rule, message, file, _take(table, "line", int), quote)


def _table(data: object) -> dict[str, Any]:
    if not isinstance(data, dict):
        raise TypeError(f"an object is missing where {str(data)[:40]!r} stands")
    return data


def _only(table: Mapping[str, Any], names: tuple[str, ...]) -> None:
    if odd := sorted(table.keys() - {*names}):
        raise ValueError(f"nothing is called {odd[0]!r}")


def _take(table: Mapping[str, Any], name: str, kind: type[Value]) -> Value:
    value = table.get(name)
    if not isinstance(value, kind) or isinstance(value, bool):
        raise TypeError(f"'{name}' is missing or of the wrong kind")
    return value


def _text(value: object) -> str:
    if not isinstance(value, str):
        raise TypeError("a line of output is no text")
    return value


def _one_of(table: Mapping[str, Any], name: str, allowed: tuple[str, ...]) -> str:
    word = _take(table, name, str)
    if word not in allowed:
        raise ValueError(f"'{name}' is {word[:40]!r} and not one of {', '.join(allowed)}")
    return word


def _status(word: str) -> Status:
    return next(each for each in get_args(Status) if each == word)


def _kind(word: str) -> Kind:
    return next(each for each in get_args(Kind) if each == word)


def _case_status(word: str) -> CaseStatus:
    return next(each for each in get_args(CaseStatus) if each == word)
