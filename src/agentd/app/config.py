"""The configuration: the project's file over the person's own over the defaults. A bad value names itself and its file."""

import os
import re
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from agentd.errors import BadConfig
from agentd.model.finding import SEVERITIES
from agentd.model.rules import SEVERITY, Rules

DEFAULTS: dict[str, dict[str, Any]] = {
    "workflow": {
        "planning_iterations": 2,
        "implementation_iterations": 2,
        "format_iterations": 2,
        "self_review_iterations": 3,
    },
    "roles": {"planner": "gemini", "challenger": "codex", "implementer": "claude", "reviewer": "codex"},
    "team": {"max_parallel": 1},
    "staged": {"max_parallel": 4, "review_retries": 3, "stage_restarts": 3, "phase_retries": 3, "task_retries": 2},
    "runs": {"max_parallel": 4},
    "calls": {"timeout_secs": 1800, "silence_secs": 600, "grace_secs": 5},
    "evidence": {"test": "", "timeout_secs": 1800},
    "scripted": {"script": ""},
    "validation": vars(Rules()),
    "limits": {},
}
OPEN = ("roles", "limits")
TOP = ("project_name",)


@dataclass(frozen=True)
class Config:
    """Every setting, with what is odd about the files it came from."""

    sections: Mapping[str, Mapping[str, Any]]
    warnings: tuple[str, ...] = field(default=())

    def get(self, section: str, key: str) -> Any:
        return self.sections[section][key]

    def limits(self) -> dict[str, int]:
        """Every number a table may name after `at_most`."""
        numbers = ("workflow", "team", "staged", "limits")
        return {key: value for name in numbers for key, value in self.sections[name].items()}

    def agent_of(self, role: str) -> str:
        """Which agent plays a role; a role without a line is played by the implementer's agent."""
        roles = self.sections["roles"]
        return str(roles.get(role) or roles["implementer"])

    def rules(self) -> Rules:
        """What documents are checked by."""
        return Rules(**self.sections["validation"])


def read_config(root: Path, env: Mapping[str, str] | None = None) -> Config:
    """The merged configuration of a project."""
    sections = {name: dict(keys) for name, keys in DEFAULTS.items()}
    warnings: list[str] = []
    for path in (personal_file(os.environ if env is None else env), root / "agentd" / "config.toml"):
        if path is not None and path.is_file():
            _merge(sections, _read(path), path, warnings)
    return Config(sections, tuple(warnings))


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


def _set(section: dict[str, Any], name: str, key: str, value: Any, path: Path, warnings: list[str]) -> None:
    if key not in section and name not in OPEN:
        warnings.append(f"{path}: unknown key {name}.{key}{_near(key, section)}")
        return
    if (name, key) == ("validation", "severity_map") and isinstance(value, dict):
        section[key] = dict(section[key])  # the defaults are shared
        for rule, severity in value.items():
            _set_severity(section[key], rule, severity, path, warnings)
        return
    kind: type = int if name == "limits" else str if name == "roles" else type(section[key])
    texts = kind is tuple and isinstance(value, list) and all(isinstance(entry, str) for entry in value)
    if not texts and (type(value) is not kind or (isinstance(value, int) and value < 0)):
        raise _bad(path, f"{name}.{key}", value, _ALLOWED[kind])
    if key.endswith("_pattern"):
        try:
            re.compile(value)
        except re.error as error:
            raise _bad(path, f"{name}.{key}", value, f"a regular expression ({error})") from None
    section[key] = tuple(value) if texts else value


def _set_severity(section: dict[str, Any], rule: str, severity: Any, path: Path, warnings: list[str]) -> None:
    if rule not in SEVERITY:
        warnings.append(f"{path}: unknown key validation.severity_map.{rule}{_near(rule, SEVERITY)}")
    elif severity not in SEVERITIES:
        raise _bad(path, f"validation.severity_map.{rule}", severity, f"one of {', '.join(SEVERITIES)}")
    else:
        section[rule] = severity


_ALLOWED = {
    int: "a whole number from 0",
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
