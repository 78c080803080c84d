"""The configuration: the project's file over the person's own over the defaults. A bad value names itself and its file."""

import os
import re
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from math import inf
from pathlib import Path
from typing import Any

from agentd.errors import BadConfig
from agentd.model.evidence import KINDS, Command, Kind
from agentd.model.finding import SEVERITIES
from agentd.model.models import COMPLEXITIES, AgentModel, Complexity, select
from agentd.model.rules import SEVERITY, Rules
from agentd.runs.defaults import AGENT, CHOICES, DEFAULTS, MODEL, OPEN, REQUIRED, TOP
from agentd.runs.layout import Layout


@dataclass(frozen=True)
class Config:
    """Every setting, with what is odd about the files it came from."""

    sections: Mapping[str, Mapping[str, Any]]
    warnings: tuple[str, ...] = field(default=())
    limited: tuple[str, ...] = ("workflow", "limits")

    def get(self, section: str, key: str) -> Any:
        return self.sections[section][key]

    def limits(self) -> dict[str, int]:
        """Every number a table may name after `at_most`; where there are `x_iterations`, `x_repeats` is one less."""
        found = {
            key: value for name in self.limited for key, value in self.sections[name].items() if type(value) is int
        }
        return found | {
            f"{key.removesuffix('iterations')}repeats": max(0, value - 1)
            for key, value in found.items()
            if key.endswith("_iterations")
        }

    def agent_of(self, role: str) -> str:
        """Which agent plays a role; a role without a line is played by the implementer's agent."""
        roles = self.sections["roles"]
        return str(roles.get(role) or roles["implementer"])

    def adapter_of(self, agent: str) -> str:
        """Which adapter drives an agent: the one its section names, else the one of its own name."""
        return str(self.sections.get(agent, {}).get("adapter") or agent)

    def fallback_of(self, agent: str) -> str:
        """Which agent stands in for another one that cannot go on; nothing if none does."""
        return str(self.sections["fallback"].get(agent, ""))

    def models(self, agent: str) -> tuple[AgentModel, ...]:
        """The models of an agent; none if it has no section."""
        return tuple(self.sections.get(agent, {}).get("models", ()))

    def model_for(self, agent: str, complexity: Complexity) -> AgentModel | None:
        """The agent's model for work of a complexity; of equals its default one."""
        default = self.sections.get(agent, {}).get("default", "")
        return select(sorted(self.models(agent), key=lambda model: model.id != default), complexity)

    def commands(self, kind: Kind) -> tuple[Command, ...] | None:
        """The project's commands of a kind; None where nobody has said which they are."""
        found = self.sections["evidence"][kind]
        return (found if isinstance(found, tuple) else (Command(kind, found),)) if found != "" else None

    @property
    def human_in_loop(self) -> bool:
        return self.sections["workflow"]["human_in_loop"] is True

    def rules(self) -> Rules:
        """What documents are checked by."""
        return Rules(**self.sections["validation"])

    def with_settings(self, section: str, **values: Any) -> "Config":
        """A copy with these settings in place of the files'."""
        return replace(self, sections={**self.sections, section: {**self.sections[section], **values}})


def read_config(root: Path, layouts: Iterable[Layout] = (), env: Mapping[str, str] | None = None) -> Config:
    """The merged configuration of a project, with the sections of these families."""
    paths = (personal_file(os.environ if env is None else env), root / "agentd" / "config.toml")
    files = [(path, _read(path)) for path in paths if path is not None and path.is_file()]
    named = [data[key] for _, data in files for key in ("roles", "fallback") if isinstance(data.get(key), dict)]
    others = {name: dict(AGENT) for names in named for name in names.values() if isinstance(name, str)}
    own = {name: keys for layout in layouts for name, keys in layout.settings.items()}
    sections = {**others, **{name: dict(keys) for name, keys in {**DEFAULTS, **own}.items()}}
    warnings: list[str] = []
    for path, data in files:
        _merge(sections, data, path, warnings)
    return Config(sections, tuple(warnings), ("workflow", *own, "limits"))


def personal_file(env: Mapping[str, str]) -> Path | None:
    """The person's own file, in the platform's configuration folder."""
    if sys.platform == "win32":
        base = env.get("APPDATA")
    elif sys.platform == "darwin":
        base = env.get("HOME") and f"{env['HOME']}/Library/Application Support"
    else:
        base = env.get("XDG_CONFIG_HOME") or (env.get("HOME") and f"{env['HOME']}/.config")
    return Path(base) / "agentd" / "config.toml" if base else None


def _read(path: Path) -> dict[str, Any]:
    import tomllib

    try:
        return tomllib.loads(path.read_bytes().decode("utf-8"))
    except UnicodeDecodeError:
        raise BadConfig(f"{path}: not UTF-8 text.", f"save {path} as UTF-8") from None
    except tomllib.TOMLDecodeError as error:
        raise BadConfig(f"{path}: {error}.", f"edit {path}") from None


def _merge(sections: dict[str, dict[str, Any]], data: dict[str, Any], path: Path, warnings: list[str]) -> None:
    for name, keys in data.items():
        if name in TOP:
            continue
        if name not in sections:
            warnings.append(f"{path}: unknown section [{name}]{_near(name, sections)}")
        elif not isinstance(keys, dict):
            raise BadConfig(f"{path}: {name} = {keys!r} must be a section [{name}].", f"edit {path}")
        else:
            for key, value in keys.items():
                _set(sections[name], name, key, value, path, warnings)
            ids = [model.id for model in sections[name].get("models", ())]
            default = sections[name].get("default")
            if "default" in keys and default and ids and default not in ids:
                raise _bad(path, f"{name}.default", default, f"one of {', '.join(ids)}")


def _set(section: dict[str, Any], name: str, key: str, value: Any, path: Path, warnings: list[str]) -> None:
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
    kind: type = int if name == "limits" else str if name in OPEN else type(section[key])
    section[key] = _value(f"{name}.{key}", value, kind, path, CHOICES.get(f"{name}.{key}", ()))
    if name == "validation" and key.endswith("_pattern"):
        try:
            re.compile(value)
        except re.error as error:
            raise _bad(path, f"{name}.{key}", value, f"a regular expression ({error})") from None


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
