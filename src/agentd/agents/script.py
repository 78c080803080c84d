"""The script of the scripted agent: reads the YAML, checks every entry and picks the one to play. It does none of it.

YAML is loaded only for what is not JSON, which is YAML too: each call of the agent is a process of its own.
"""

import json
import math
from collections.abc import Callable, Mapping
from typing import Any

Entry = Mapping[str, Any]
Script = Mapping[str, list[Entry]]
Kind = tuple[Callable[[Any], bool], str]  # does a value fit, and what to call it when it does not

# The failures that a script may name by their class.
CLASSES = ("quota", "auth", "transient", "refused", "unreadable", "lost")
WORDS = ("tag:yaml.org,2002:str", "tag:yaml.org,2002:merge")


class Trouble(Exception):
    """What is wrong, in one sentence."""


def _one_of(*words: str) -> Kind:
    return lambda value: value in words, f"one of {', '.join(words)}"


def _list_of(kind: Kind) -> Kind:
    return lambda value: isinstance(value, list) and all(map(kind[0], value)), f"a list, each {kind[1]}"


def _by_path(kind: Kind) -> Kind:
    return (
        lambda value: isinstance(value, dict) and all(TEXT[0](path) and kind[0](value[path]) for path in value),
        f"a mapping from path to {kind[1]}",
    )


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value < math.inf


def _is_edit(value: Any) -> bool:
    return isinstance(value, list) and len(value) == 2 and all(map(TEXT[0], value)) and value[0] != ""


def _is_argv(value: Any) -> bool:
    return isinstance(value, list) and value != [] and all(map(TEXT[0], value))


def _is_usage(value: Any) -> bool:
    return isinstance(value, dict) and all(
        name in ("tokens_in", "tokens_out", "cached_in", "cost")
        and _is_number(number)
        and (name == "cost" or type(number) is int)
        for name, number in value.items()
    )


def _is_tool_call(value: Any) -> bool:
    """One tool with its arguments, and perhaps what is expected of it."""
    if not isinstance(value, dict) or not isinstance(value.get("expect_error", False), bool):
        return False
    calls = [arguments for name, arguments in value.items() if name != "expect_error"]
    return len(calls) == 1 and isinstance(calls[0], dict)


def _are_entries(value: Any) -> bool:
    return _list_of((_is_entry, ""))[0](value) and value != []


def _is_entry(value: Any) -> bool:
    return isinstance(value, dict) and all(key in KEYS and KEYS[key][0](part) for key, part in value.items())


TEXT = (lambda value: isinstance(value, str), "text (quote it)")
FLAG = (lambda value: isinstance(value, bool), "true or false")

KEYS: Mapping[str, Kind] = {
    "record": TEXT,
    "wait_for": TEXT,
    "documents": _by_path(TEXT),
    "files": _by_path(TEXT),
    "append": _by_path(TEXT),
    "replace": _by_path(_list_of((_is_edit, "[old, new]"))),
    "delete": _list_of(TEXT),
    "nudged": (_are_entries, "a list of entries, the first for the first reminder"),
    "tools": _list_of((_is_tool_call, "one tool: its arguments, with expect_error: true where it must refuse")),
    "run": (lambda value: _is_argv(value) or _list_of((_is_argv, ""))[0](value), "one command or a list of commands"),
    "lines": _list_of(TEXT),
    "say": TEXT,
    "outcome": TEXT,
    "usage": (_is_usage, "a mapping of tokens_in, tokens_out, cached_in and cost to numbers"),
    "session": TEXT,
    "model": TEXT,
    "spawn": _one_of("child", "setsid"),
    "hang": (lambda value: FLAG[0](value) or (_is_number(value) and value < 1e6), "true or a number of seconds"),
    "ignore_term": FLAG,
    "fail": _one_of("error", "exit", "garbage", "no-result", "empty", "crash", *CLASSES),
    "code": (lambda value: type(value) is int and 0 <= value <= 255, "an exit code from 0 to 255"),
    "times": (lambda value: type(value) is int and value > 0, "how many attempts of a call fail, from 1"),
    "retry_after": (_is_number, "a number of seconds"),
    "refused": _list_of(TEXT),
    "cumulative": FLAG,
    "after": _one_of("start", "writes"),
}


def load(text: str | bytes, name: str) -> Script:
    """Every entry by step, all of them checked; `name` is the file to name when something is wrong."""
    found = _from_json(text)
    return _from_yaml(text, name) if found is None else found


def _from_json(text: str | bytes) -> Script | None:
    """The script, if it is written in JSON and nothing is wrong with it."""
    try:
        read = json.loads(text, object_pairs_hook=_object, parse_float=_decimal, parse_constant=_decimal)
        script = {step: value if isinstance(value, list) else [value] for step, value in read.items()}
    except (ValueError, AttributeError, RecursionError):
        return None
    return script if all(_is_entry(entry) for entries in script.values() for entry in entries) else None


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        raise ValueError("a key stands twice")
    return found


def _decimal(text: str) -> float:
    """Of what JSON calls a number, YAML calls `1e5` and `NaN` words."""
    if text.strip("-.0123456789"):
        raise ValueError(text)
    return float(text)


def _from_yaml(text: str | bytes, name: str) -> Script:
    import yaml

    try:
        loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)(text)
        root = loader.get_single_node()
        script: dict[str, list[Entry]] = {}
        for step, value in _pairs(root, name, "the script"):
            entries = value.value if value.id == "sequence" else [value]
            script[step.value] = [_entry(loader, node, step.value, name) for node in entries]
        return script
    except yaml.MarkedYAMLError as trouble:
        mark = trouble.problem_mark or trouble.context_mark
        raise Trouble(f"{name}, line {mark.line + 1 if mark else '?'}: {trouble.problem}.") from None
    except yaml.YAMLError as trouble:
        raise Trouble(f"{name}: {' '.join(str(trouble).split())}.") from None


def choose(script: Script, step: str, item: str, visit: int, nudges: int = 0) -> Entry:
    """The entry of this visit; the last one repeats, and `step@item` comes before `step`.

    After a reminder it is that of `nudged` in the entry, if there is one.
    """
    entries = (script.get(f"{step}@{item}") if item else None) or script.get(step)
    if not entries:
        raise Trouble(f"The script has nothing for step {step}{f' (item {item})' if item else ''}.")
    entry = entries[min(max(visit, 1), len(entries)) - 1]
    reminded = entry.get("nudged") if nudges else None
    return reminded[min(nudges, len(reminded)) - 1] if reminded else entry


def fill(value: Any, words: Mapping[str, str]) -> Any:
    """The same value with every `{{word}}` replaced, in keys too."""
    if isinstance(value, str):
        for word, meaning in words.items():
            value = value.replace("{{" + word + "}}", meaning)
        return value
    if isinstance(value, list):
        return [fill(part, words) for part in value]
    if isinstance(value, dict):
        return {fill(key, words): fill(part, words) for key, part in value.items()}
    return value


def _pairs(node: Any, name: str, what: str) -> list[tuple[Any, Any]]:
    """The pairs of a mapping whose keys are words and differ: YAML alone would silently keep the last of two."""
    if getattr(node, "id", "") != "mapping":
        where = f"{name}, line {node.start_mark.line + 1}" if node else name
        raise Trouble(f"{where}: {what} must be a mapping.")
    seen = set()
    for key, _ in node.value:
        where = f"{name}, line {key.start_mark.line + 1}: {what}"
        if key.tag not in WORDS:
            raise Trouble(f"{where} has a key that is no text; quote it.")
        if key.value in seen:
            raise Trouble(f"{where} has the key `{key.value}` twice.")
        seen.add(key.value)
    return list(node.value)


def _entry(loader: Any, node: Any, step: str, name: str) -> Entry:
    lines = {key.value: key.start_mark.line + 1 for key, _ in _pairs(node, name, f"an entry of step `{step}`")}
    entry: Entry = loader.construct_object(node, deep=True)
    for key, value in entry.items():
        where = f"{name}, line {lines.get(key, node.start_mark.line + 1)}: step `{step}`"
        if key not in KEYS:
            raise Trouble(f"{where} has an unknown key `{key}`{_nearest(key)}.")
        fits, kind = KEYS[key]
        if not fits(value):
            raise Trouble(f"{where}: `{key}` must be {kind}.")
    return entry


def _nearest(key: str) -> str:
    from difflib import get_close_matches

    return "".join(f"; did you mean `{near}`?" for near in get_close_matches(str(key), KEYS, 1, 0.4))
