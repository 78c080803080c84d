"""The values of a configuration file, checked one by one: a bad one names itself and its file, an unknown one is a warning."""

import re
from collections.abc import Mapping
from math import inf
from pathlib import Path
from types import MappingProxyType
from typing import Any

from agentd.errors import BadConfig
from agentd.model.command import KINDS, Command, Kind
from agentd.model.models import COMPLEXITIES, AgentModel
from agentd.model.rules import SEVERITY
from agentd.model.severity import SEVERITIES
from agentd.runs.defaults import CHOICES, COMMANDS, MODEL, OPEN, REQUIRED, TOP


def merge(
    sections: dict[str, dict[str, Any]],
    data: dict[str, Any],
    path: Path,
    warnings: list[str],
    choices: Mapping[str, tuple[str, ...]] = MappingProxyType({}),
) -> None:
    """Put the settings of a file over those that are there; `choices` are the words that families allow for theirs."""
    for name, keys in data.items():
        if name in TOP:
            continue
        if name not in sections:
            warnings.append(f"{path}: unknown section [{name}]{_near(name, sections)}")
        elif not isinstance(keys, dict):
            raise BadConfig(f"{path}: {name} = {keys!r} must be a section [{name}].", f"edit {path}")
        else:
            for key, value in keys.items():
                _set(sections[name], name, key, value, path, warnings, {**CHOICES, **choices})
            ids = [model.id for model in sections[name].get("models", ())]
            default = sections[name].get("default")
            if "default" in keys and default and ids and default not in ids:
                raise _bad(path, f"{name}.default", default, f"one of {', '.join(ids)}")


def _set(
    section: dict[str, Any],
    name: str,
    key: str,
    value: Any,
    path: Path,
    warnings: list[str],
    choices: Mapping[str, tuple[str, ...]],
) -> None:
    if key not in section and name not in OPEN:
        warnings.append(f"{path}: unknown key {name}.{key}{_near(key, section)}")
        return
    if (name, key) == ("validation", "severity_map") and isinstance(value, dict):
        section[key] = dict(section[key])  # the defaults are shared
        for rule, severity in value.items():
            _set_severity(section[key], rule, severity, path, warnings)
        return
    if key == "models":
        section[key] = _models(name, value, path, warnings)
        return
    if name == "evidence" and key in KINDS and not isinstance(value, str):
        section[key] = _commands(next(kind for kind in KINDS if kind == key), value, path)
        return
    if f"{name}.{key}" in COMMANDS:
        section[key] = _lines(f"{name}.{key}", value, path)
        return
    kind: type = int if name == "limits" else str if name in OPEN else type(section[key])
    if kind is tuple and section[key] and type(section[key][0]) is int:
        section[key] = _numbers(f"{name}.{key}", value, path)
        return
    section[key] = _value(f"{name}.{key}", value, kind, path, choices.get(f"{name}.{key}", ()))
    if name == "validation" and key.endswith("_pattern"):
        try:
            re.compile(value)
        except re.error as error:
            raise _bad(path, f"{name}.{key}", value, f"a regular expression ({error})") from None


def _numbers(where: str, value: Any, path: Path) -> tuple[int, ...]:
    if not isinstance(value, list) or not value or not all(type(each) is int and each >= 0 for each in value):
        raise _bad(path, where, value, "a list of whole numbers from 0")
    return tuple(value)


def _value(where: str, value: Any, kind: type, path: Path, choices: tuple[str, ...] = ()) -> Any:
    """The value of a setting, if it is of its kind and one of its choices."""
    if kind is tuple and isinstance(value, list) and all(isinstance(entry, str) for entry in value):
        return tuple(value)
    if kind is float and type(value) is int:
        value = float(value) if value < 10**300 else inf
    if type(value) is not kind or (isinstance(value, int | float) and not 0 <= value < inf):
        raise _bad(path, where, value, _ALLOWED[kind])
    if choices and value not in choices:
        raise _bad(path, where, value, f"one of {', '.join(choices)}")
    return value


def _lines(where: str, value: Any, path: Path) -> str | tuple[str, ...]:
    """A command, or a list of commands."""
    listed = value if isinstance(value, list) else [value]
    if not all(isinstance(entry, str) and "\0" not in entry for entry in listed):
        raise _bad(path, where, value, "a command or a list of commands")
    return value if isinstance(value, str) else tuple(value)


def _commands(kind: Kind, value: Any, path: Path) -> tuple[Command, ...]:
    """The commands of a kind, each in the place of work or in a folder below it."""
    found = []
    for entry in value if isinstance(value, list) else [value]:
        said = {"run": entry} if isinstance(entry, str) else entry
        if not isinstance(said, dict) or not {"run"} <= said.keys() <= {"run", "in"}:
            allowed = 'a command, or a list of commands and of {in = "folder", run = "command"}'
            raise _bad(path, f"evidence.{kind}", value, allowed)
        run, folder = said["run"], said.get("in", "")
        if not isinstance(run, str) or not run.strip() or not isinstance(folder, str) or _leaves(folder):
            raise _bad(path, f"evidence.{kind}", entry, "a command that is not empty, in a folder of the project")
        found.append(Command(kind, run, folder.strip("/").removeprefix("./")))
    return tuple(found)


def _leaves(folder: str) -> bool:
    return folder.startswith(("/", "~")) or ".." in folder.split("/")


def _models(agent: str, value: Any, path: Path, warnings: list[str]) -> tuple[AgentModel, ...]:
    """The models of an agent: a list of tables, each checked like a section."""
    if not isinstance(value, list) or not all(isinstance(entry, dict) for entry in value):
        raise _bad(path, f"{agent}.models", value, f"a list of tables [[{agent}.models]]")
    choices = {"complexity": COMPLEXITIES, "reasoning": CHOICES.get(f"{agent}.reasoning", ())}
    found: dict[str, AgentModel] = {}
    for number, entry in enumerate(value):
        where = f"{agent}.models[{number}]"
        known: dict[str, Any] = {}
        for key, given in {**REQUIRED, **entry}.items():
            if key not in MODEL:
                warnings.append(f"{path}: unknown key {where}.{key}{_near(key, MODEL)}")
            else:
                known[key] = _value(f"{where}.{key}", given, MODEL[key], path, choices.get(key, ()))
        for key in REQUIRED:
            if not known[key]:
                raise _bad(path, f"{where}.{key}", "", "text that is not empty")
        if known["id"] in found:
            raise _bad(path, f"{where}.id", known["id"], "another one than those before")
        found[known["id"]] = AgentModel(effort=known.pop("reasoning", ""), **known)
    return tuple(found.values())


def _set_severity(section: dict[str, Any], rule: str, severity: Any, path: Path, warnings: list[str]) -> None:
    if rule not in SEVERITY:
        warnings.append(f"{path}: unknown key validation.severity_map.{rule}{_near(rule, SEVERITY)}")
    elif severity not in SEVERITIES:
        raise _bad(path, f"validation.severity_map.{rule}", severity, f"one of {', '.join(SEVERITIES)}")
    else:
        section[rule] = severity


_ALLOWED = {
    int: "a whole number from 0",
    float: "a number from 0",
    bool: "true or false",
    str: "text",
    tuple: "a list of texts",
    dict: "a section",
}


def _bad(path: Path, key: str, value: Any, allowed: str) -> BadConfig:
    return BadConfig(f"{path}: {key} = {value!r} is not allowed: it must be {allowed}.", f"edit {path}")


def _near(name: str, known: Mapping[str, Any]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, list(known), 1)
    return f" (did you mean {near[0]}?)" if near else ""
