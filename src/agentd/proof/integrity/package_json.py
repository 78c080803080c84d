"""package.json: its scripts about tests, and the settings of test runners that it holds."""

import json
import re
from collections.abc import Iterator

from agentd.model.evidence import Harm
from agentd.patterns import regex
from agentd.proof.integrity.rules import COMMAND, HIDDEN, SETTINGS, harm_at
from agentd.proof.integrity.shell_commands import RUNS, closure, hides, one_line

_TEST = regex(r"^(pre|post)?tests?([-_:].+)?$")
_NO_TEST = regex(r"no test(s)? specified|^\s*$")
_DOES_NOTHING = regex(r"\s*(true|:|exit 0|echo\b.*)\s*")
_BLOCKS = ("jest", "ava", "mocha", "nyc", "c8", "vitest", "tap", "tape", "cypress")


def audit_package(file: str, old: str, new: str) -> Iterator[Harm]:
    """What became of the scripts about tests, and of the settings of runners."""
    was, now = scripts(old), scripts(new)
    had = not _NO_TEST.search(was.get("test", ""))
    for name in sorted(_about_tests(was)):
        command, other = was[name], now.get(name, "")
        if one_line(command) == one_line(other) or _NO_TEST.search(command):
            continue
        if name not in now:
            yield _script(file, old, name, command, COMMAND, f"the script “{name}” ({command}) is gone")
        elif not hides(other):
            yield _script(file, new, name, other, COMMAND, f"the script “{name}” was “{command}” and is “{other}”")
    tested = _about_tests(now)
    for name, command in now.items():
        if one_line(command) == one_line(was.get(name, "")):
            continue
        what = hides(command) if name in tested or RUNS.search(command) else ""
        emptied = had and name in tested and _DOES_NOTHING.fullmatch(command) and not _NO_TEST.search(command)
        if what or emptied:
            message = f"“{what or command}” in the script “{name}” hides it when the tests fail"
            yield _script(file, new, name, command, HIDDEN, message)
        elif name in ("pretest", "posttest") and had and name not in was:
            yield _script(file, new, name, command, COMMAND, f"the script “{name}” now runs with the tests")
    before, after = _json(old), _json(new)
    for block in _BLOCKS:
        if before.get(block) != after.get(block) and (block in before or had):
            message = f"the settings of {block} in package.json have changed"
            yield harm_at(file, new, f'"{block}"', SETTINGS, message, f'"{block}"')


def scripts(text: str) -> dict[str, str]:
    """The scripts of a package.json."""
    found = _json(text).get("scripts")
    return {str(name): str(command) for name, command in found.items()} if isinstance(found, dict) else {}


def _script(file: str, text: str, name: str, command: str, rule: str, message: str) -> Harm:
    return harm_at(file, text, f'"{name}"', rule, message, f'"{name}": "{command}"')


def _about_tests(found: dict[str, str]) -> set[str]:
    calls = {name: set(re.findall(r"[\w:.-]+", command)) - {name} for name, command in found.items()}
    return closure(filter(_TEST.match, calls), calls)


def _json(text: str) -> dict[str, object]:
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}
