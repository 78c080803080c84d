"""Settings about tests in TOML: pyproject.toml, agentd's own configuration, and Cargo.toml."""

import re
from collections.abc import Iterator

from agentd.model.evidence import Harm
from agentd.patterns import regex
from agentd.proof.integrity.rules import COMMAND, SETTINGS, harm_at
from agentd.text import toml

# Settings that select, run and judge nothing.
_FREE = {
    *("markers", "minversion", "required_plugins", "cache_dir", "console_output_style", "deps", "description"),
    *("requires", "show_missing", "precision", "directory", "title", "output", "package", "wheel_build_env"),
    "basepython",
}
NARROWS = regex(
    r"--ignore\b|--ignore-glob|--deselect|(?<![\w-])-k[ =]|(?<![\w-])-m[ =]|norecursedirs|collect_ignore|testPathIgnorePatterns"
    r"|passWithNoTests|--maxfail|xfail|ignore_errors|ignore_outcome|-p no:|fail_under|allowOnly|dangerouslyIgnoreUnhandledErrors"
)
_TOOLS = ("pytest", "coverage", "tox", "nox")
_TASKS = (("poe", "tasks"), ("pdm", "scripts"), ("taskipy", "tasks"), ("hatch", "envs"), ("rye", "scripts"))
_CARGO_KEYS = ("test", "harness", "doctest", "required-features")


def audit_pyproject(file: str, old: str, new: str) -> Iterator[Harm]:
    """The settings of test tools, and the tasks about tests of task runners."""
    before, now = _table(_toml(old), "tool"), _table(_toml(new), "tool")
    for name in _TOOLS:
        yield from audit_table(file, new, f"tool.{name}", _flat(before.get(name)), _flat(now.get(name)))
    for tool, key in _TASKS:
        one, two = (_about_tests(_flat(_table(each, tool).get(key))) for each in (before, now))
        yield from audit_table(file, new, f"tool.{tool}.{key}", one, two, COMMAND)


def audit_agentd(file: str, old: str, new: str) -> Iterator[Harm]:
    """The commands that agentd itself runs."""
    one, two = (_flat(_toml(each).get("evidence")) for each in (old, new))
    for key in sorted({*one, *two}):
        if one.get(key) != two.get(key):
            message = f"[evidence] {key} was {one.get(key, 'not set')} and is {two.get(key, 'not set')}"
            yield harm_at(file, new, key, COMMAND, message, "" if key in new else f"{key} is gone")


def audit_cargo(file: str, old: str, new: str) -> Iterator[Harm]:
    """The targets of Cargo.toml, and what tests are run through."""
    before, now = _toml(old), _toml(new)
    for table in ("lib", "bin", "test", "example"):
        one, two = (_by_name(data.get(table)) for data in (before, now))
        for name in sorted({*one, *two}):
            if name not in two and table == "test":
                yield harm_at(file, old, name, SETTINGS, f"[[test]] {name} is gone")
            for key in _CARGO_KEYS:
                if name in two and two[name].get(key) != one.get(name, {}).get(key):
                    message = f"{key} of {table} {name} is now {two[name].get(key)}".replace("  ", " ")
                    yield harm_at(file, new, key, SETTINGS, message)
    if new and _table(before, "package").get("autotests") != _table(now, "package").get("autotests"):
        yield harm_at(file, new, "autotests", SETTINGS, "which tests cargo finds has changed (autotests)")
    for name in _table(now, "target"):
        runner = _table(now, "target", name).get("runner")
        if runner is not None and runner != _table(before, "target", name).get("runner"):
            yield harm_at(file, new, "runner", SETTINGS, "tests are run through another program (runner)")


def audit_table(
    file: str, text: str, name: str, old: dict[str, str], new: dict[str, str], rule: str = SETTINGS
) -> Iterator[Harm]:
    """Two versions of a table; a setting of a new table is a harm only if it narrows what is run."""
    for key in sorted({*old, *new}):
        last = key.rpartition(".")[2]
        was, now = old.get(key), new.get(key)
        added = (not old and not NARROWS.search(f"{last} = {now}")) or (was is None and rule == COMMAND)
        if was == now or last in _FREE or added:
            continue
        said = f"was {was} and is {now}" if was and now else f"is gone (was {was})" if was else f"is now {now}"
        yield harm_at(file, text, last, rule, f"{name} {last} {said}", "" if last in text else f"{last} = {was}")


def _toml(text: str) -> dict[str, object]:
    try:
        return toml.parse(text)
    except ValueError:
        return {}


def _table(data: object, *names: str) -> dict[str, object]:
    """A table inside of tables; empty if there is none."""
    for name in names:
        data = data.get(name) if isinstance(data, dict) else None
    return data if isinstance(data, dict) else {}


def _flat(value: object, prefix: str = "") -> dict[str, str]:
    if not isinstance(value, dict):
        return {prefix.rstrip("."): str(value)} if prefix and value is not None else {}
    return {k: v for name, each in value.items() for k, v in _flat(each, f"{prefix}{name}.").items()}


def _about_tests(tasks: dict[str, str]) -> dict[str, str]:
    return {name: value for name, value in tasks.items() if re.search(r"(^|[._-])(test|check|cov)", name)}


def _by_name(value: object) -> dict[str, dict[str, object]]:
    """The tables of a list of tables, or one alone, by their names."""
    entries = value if isinstance(value, list) else [value] if isinstance(value, dict) else []
    return {str(_table(entry).get("name", "")): _table(entry) for entry in entries}
