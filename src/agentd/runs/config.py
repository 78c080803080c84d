"""The configuration: the project's file over the person's own over the defaults. A bad value names itself and its file."""

import os
import shlex
import sys
from collections.abc import Iterable, Mapping
from dataclasses import field, replace
from pathlib import Path
from typing import Any

from agentd import files
from agentd.errors import BadConfig
from agentd.model.command import Command, Kind
from agentd.model.models import AgentModel, Complexity, select
from agentd.model.rules import Rules
from agentd.runs.config_values import merge
from agentd.runs.defaults import AGENT, DEFAULTS, WITH_REVIEWER
from agentd.runs.layout import Layout
from agentd.state import reading
from agentd.text import toml
from agentd.values import dataclass


@dataclass(frozen=True)
class Config:
    """Every setting, with what is odd about the files it came from; `brought` has the agents whose program the project's
    own file names."""

    sections: Mapping[str, Mapping[str, Any]]
    warnings: tuple[str, ...] = field(default=())
    limited: tuple[str, ...] = ("workflow", "limits")
    brought: frozenset[str] = frozenset()

    def get(self, section: str, key: str) -> Any:
        return self.sections[section][key]

    def limits(self) -> dict[str, int]:
        """Every number a table may name after `at_most`; where there are `x_iterations`, `x_repeats` is one less.

        `nudges` of `[calls]` is one of them: what agentd finds undone after a call is a reminder too.
        """
        found = {
            key: value for name in self.limited for key, value in self.sections[name].items() if type(value) is int
        }
        return (
            {"nudges": int(self.get("calls", "nudges"))}
            | found
            | {
                f"{key.removesuffix('iterations')}repeats": max(0, value - 1)
                for key, value in found.items()
                if key.endswith("_iterations")
            }
        )

    def agent_of(self, role: str) -> str:
        """Which agent plays a role; one without a line is played by the reviewer's agent if it is a review or its fix, else by
        the implementer's."""
        roles = self.sections["roles"]
        return str(roles.get(role) or roles["reviewer" if role in WITH_REVIEWER else "implementer"])

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
    found = [
        (path, _read(path, brought))
        for path, brought in zip(paths, (False, True), strict=True)
        if path is not None and (path.is_file() or (brought and path.is_symlink()))
    ]
    named = [data[key] for _, data in found for key in ("roles", "fallback") if isinstance(data.get(key), dict)]
    others = {name: dict(AGENT) for names in named for name in names.values() if isinstance(name, str)}
    own = {name: keys for layout in layouts for name, keys in layout.settings.items()}
    sections = {**others, **{name: dict(keys) for name, keys in {**DEFAULTS, **own}.items()}}
    choices = {key: words for layout in layouts for key, words in layout.choices.items()}
    warnings: list[str] = []
    for path, data in found:
        merge(sections, data, path, warnings, choices)
    for name, keys in sections.items():
        if keys.get("default") and not keys["models"]:
            warnings.append(
                f"[{name}] default = {keys['default']!r} chooses among [[{name}.models]], and there are none"
            )
    theirs = next((data for path, data in found if path == paths[1]), {})
    brought = frozenset(name for name, keys in theirs.items() if isinstance(keys, dict) and "command" in keys)
    return Config(sections, tuple(warnings), ("workflow", *own, "limits"), brought)


def personal_file(env: Mapping[str, str]) -> Path | None:
    """The person's own file, in the platform's configuration folder."""
    if sys.platform == "win32":
        base = env.get("APPDATA")
    elif sys.platform == "darwin":
        base = env.get("HOME") and f"{env['HOME']}/Library/Application Support"
    else:
        base = env.get("XDG_CONFIG_HOME") or (env.get("HOME") and f"{env['HOME']}/.config")
    return Path(base) / "agentd" / "config.toml" if base else None


def _read(path: Path, brought: bool) -> dict[str, Any]:
    """A file of settings; one that the project brings is not read through a link."""
    try:
        return toml.parse((reading.own(path) if brought else files.read(path, files.SMALL)).decode("utf-8"))
    except UnicodeDecodeError:
        raise BadConfig(f"{path}: not UTF-8 text.", f"save {path} as UTF-8") from None
    except ValueError as error:
        raise BadConfig(f"{path}: {error}.", f"edit {path}") from None
    except OSError as error:
        raise BadConfig(f"{path}: {error.strerror}.", f"ls -l {shlex.quote(str(path))}") from None
