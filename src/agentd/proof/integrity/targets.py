"""Makefiles, justfiles and the scripts of package.json: commands by name, of which those about tests must stay."""

import json
import re
from collections.abc import Iterator, Mapping

from agentd.model.evidence import Harm
from agentd.proof.integrity.shell_commands import COMMAND, HIDDEN, RUNS, closure, hides, rules_of

_ROOT = re.compile(r"^(pre|post)?(tests?|check|verify)$|^tests?[-_:].+")
_NAMED_TEST = re.compile(r"^(pre|post)?tests?([-_:].+)?$")
_NO_TEST = re.compile(r"no test(s)? specified|^\s*$")
_INSTALLS = re.compile(
    r"\b(pip|uv|npm|yarn|pnpm|poetry|cargo|go|apt-get|brew)\b.*\b(install|sync|ci|add|get)\b|^@?(echo|printf|mkdir|rm)\b"
)
_MAKES = re.compile(r"(?:\$\(MAKE\)|\$\{MAKE\}|\bmake|\bjust)((?:\s+[\w.=-]+)+)")
_BLOCKS = ("jest", "ava", "mocha", "nyc", "c8", "vitest", "tap", "tape", "cypress")
SETTINGS = "changed_test_settings"


def audit_make(file: str, old: str | None, new: str | None) -> Iterator[Harm]:
    """The targets test and check and what they depend on."""
    before, now = rules_of(old or ""), rules_of(new or "")
    lines = (new or "").split("\n")
    wanted = _wanted(before)
    for name in sorted(wanted):
        line, needs, recipe = before[name]
        if name not in now:
            if recipe or needs:
                yield Harm(COMMAND, f"the target {name} is gone", file, line, f"{name}:")
            continue
        for need in needs:
            if need not in now[name][1] and need in wanted:
                yield Harm(
                    COMMAND, f"{name} no longer depends on {need}", file, now[name][0], lines[now[name][0] - 1].strip()
                )
        yield from _recipe(file, name, recipe, now[name][2], lines)
    known = {_spelled(each) for _, _, recipe in before.values() for each in recipe}
    about = _wanted(now)
    for name, (_, _, recipe) in now.items():
        yield from _hidden(file, name, [each for each in recipe if _spelled(each) not in known], name in about, lines)
    yield from _variables(file, old or "", new or "", [each for name in wanted for each in before[name][2]], lines)


def _wanted(rules: Mapping[str, tuple[int, list[str], list[str]]]) -> set[str]:
    calls = {
        name: {*needs, *(word for line in recipe for found in _MAKES.findall(line) for word in found.split())}
        for name, (_, needs, recipe) in rules.items()
    }
    return closure(filter(_ROOT.match, calls), calls)


def _recipe(file: str, name: str, old: list[str], new: list[str], lines: list[str]) -> Iterator[Harm]:
    now = {_spelled(each) for each in new}
    added = [each for each in new if _spelled(each) not in {_spelled(one) for one in old}]
    for each in old:
        if _spelled(each) in now or _INSTALLS.search(each):
            continue
        instead = added.pop(0) if added else ""
        if instead and (hides(instead) or instead.startswith("-") or "+e" in instead):
            continue  # told as hidden
        line = _find(lines, instead or f"{name}:")
        said = f"became “{instead}”" if instead else "is gone"
        yield Harm(COMMAND, f"{name}: “{each}” {said}", file, line, instead or f"{name}:")


def _hidden(file: str, name: str, recipe: list[str], about: bool, lines: list[str]) -> Iterator[Harm]:
    for each in recipe:
        if not about and not RUNS.search(each):
            continue
        cleans = _INSTALLS.search(each) or re.match(r"[@-]*\s*(docker|kill|pkill|rm|find)\b", each)
        forgiven = re.match(r"^@?-", each) and not cleans
        what = "-" if forgiven else "set +e" if re.search(r"\bset \+e\b", each) else "" if cleans else hides(each)
        if what:
            yield Harm(HIDDEN, f"{name}: “{what}” hides it when the tests fail", file, _find(lines, each), each)


def _variables(file: str, old: str, new: str, recipes: list[str], lines: list[str]) -> Iterator[Harm]:
    """Values of variables that the recipes use."""
    used = set(re.findall(r"\$[({](\w+)[)}]|\{\{\s*(\w+)\s*\}\}", " ".join(recipes)))
    values = re.compile(r"^(?:export\s+)?(\w+)\s*[:?+]?:?=\s*(.*)$", re.M)
    before, now = (dict(values.findall(text)) for text in (old, new))
    for name in sorted(one or two for one, two in used):
        if (
            name in before
            and before[name].split() != now.get(name, "").split()
            and re.search(r"TEST|ARG|FLAG|OPT", name, re.I)
        ):
            message = f"{name}, which the test command uses, was “{before[name]}” and is “{now.get(name, '')}”"
            yield Harm(COMMAND, message, file, _find(lines, f"{name}"), f"{name} = {now.get(name, '')}")


def audit_package(file: str, old: str | None, new: str | None) -> Iterator[Harm]:
    """The scripts of package.json about tests, and the settings of runners that stand there."""
    before, now = _json(old), _json(new)
    lines = (new or "").split("\n")
    scripts, then = _scripts(before), _scripts(now)
    had = bool(scripts.get("test")) and not _NO_TEST.search(scripts["test"])
    calls = {name: set(re.findall(r"[\w:.-]+", command)) - {name} for name, command in scripts.items()}
    for name in closure([each for each in sorted(calls) if _NAMED_TEST.match(each)], calls):
        command = scripts[name]
        if _spelled(command) == _spelled(then.get(name, "")) or _NO_TEST.search(command):
            continue
        if name not in then:
            yield Harm(
                COMMAND,
                f"the script “{name}” ({command}) is gone",
                file,
                _line(old or "", f'"{name}"'),
                f'"{name}": "{command}"',
            )
        elif not hides(then[name]):
            message = f"the script “{name}” was “{command}” and is “{then[name]}”"
            yield Harm(COMMAND, message, file, _find(lines, f'"{name}"'), f'"{name}": "{then[name]}"')
    about = {name: set(re.findall(r"[\w:.-]+", command)) - {name} for name, command in then.items()}
    tested = closure(filter(_NAMED_TEST.match, about), about)
    for name, command in then.items():
        if _spelled(command) == _spelled(scripts.get(name, "")):
            continue
        what = hides(command) if name in tested or RUNS.search(command) else ""
        if what or (
            name in tested
            and re.fullmatch(r"\s*(true|:|exit 0|echo\b.*)\s*", command)
            and not _NO_TEST.search(command)
            and had
        ):
            message = f"“{what or command}” in the script “{name}” hides it when the tests fail"
            yield Harm(HIDDEN, message, file, _find(lines, f'"{name}"'), f'"{name}": "{command}"')
        elif name in ("pretest", "posttest") and had and name not in scripts:
            message = f"the script “{name}” now runs with the tests"
            yield Harm(COMMAND, message, file, _find(lines, f'"{name}"'), f'"{name}": "{command}"')
    for block in _BLOCKS:
        if before.get(block) != now.get(block) and (block in before or had):
            message = f"the settings of {block} in package.json have changed"
            yield Harm(SETTINGS, message, file, _find(lines, f'"{block}"'), f'"{block}"')


def _json(text: str | None) -> dict[str, object]:
    try:
        found = json.loads(text or "{}")
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _scripts(package: dict[str, object]) -> dict[str, str]:
    scripts = package.get("scripts")
    return {str(name): str(command) for name, command in scripts.items()} if isinstance(scripts, dict) else {}


def _spelled(command: str) -> str:
    return " ".join(command.split())


def _find(lines: list[str], needle: str) -> int:
    """The line that holds a text, 0 if none does."""
    return next((number for number, line in enumerate(lines, 1) if needle in line), 0) if needle else 0


def _line(text: str, needle: str) -> int:
    return _find(text.split("\n"), needle)
