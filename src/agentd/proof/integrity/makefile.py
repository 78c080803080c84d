"""Makefiles and justfiles: the targets test and check, and whatever they depend on, must stay."""

import re
from collections.abc import Iterator, Mapping

from agentd.model.evidence import Harm
from agentd.patterns import regex
from agentd.proof.integrity.rules import COMMAND, HIDDEN, harm_at
from agentd.proof.integrity.shell_commands import RUNS, closure, hides, joined, one_line
from agentd.values import dataclass

_ROOT = regex(r"^(pre|post)?(tests?|check|verify)$|^tests?[-_:].+")
_INSTALLS = regex(
    r"\b(pip|uv|npm|yarn|pnpm|poetry|cargo|go|apt-get|brew)\b.*\b(install|sync|ci|add|get)\b|^@?(echo|printf|mkdir|rm)\b"
)
_CLEANS = regex(r"[@-]*\s*(docker|kill|pkill|rm|find)\b")
_MAKES = regex(r"(?:\$\(MAKE\)|\$\{MAKE\}|\bmake|\bjust)((?:\s+[\w.=-]+)+)")
_HEAD = regex(r"^@?([\w./%-]+(?:[ \t]+[\w./%=\"'*+$-]+)*)\s*::?(?![=:])\s*(.*)$")
_USED = regex(r"\$[({](\w+)[)}]|\{\{\s*(\w+)\s*\}\}")
_VARIABLE = regex(r"^(?:export\s+)?(\w+)\s*[:?+]?:?=\s*(.*)$", re.M)


@dataclass
class Target:
    """A target: its line, what it depends on, and its recipe."""

    line: int
    needs: list[str]
    recipe: list[str]


def targets(text: str) -> dict[str, Target]:
    """The targets of a Makefile or justfile."""
    found: dict[str, Target] = {}
    current: list[Target] = []
    for number, line in joined(text):
        head = _HEAD.match(line)
        if line[:1] in (" ", "\t") and current:
            for target in current:
                target.recipe.append(line.strip())
        elif head:
            words, _, inline = head[2].partition(";")
            names = head[1].split() if "\t" in text else head[1].split()[:1]
            current = [found.setdefault(name, Target(number, [], [])) for name in names]
            for target in current:
                target.needs += words.split("#")[0].split()
                target.recipe += filter(None, [inline.strip()])
        elif line.strip():
            current = []
    return found


def audit_make(file: str, old: str, new: str) -> Iterator[Harm]:
    """What became of the targets about tests, and of the variables that they use."""
    before, now = targets(old), targets(new)
    wanted, about = _about_tests(before), _about_tests(now)
    for name in sorted(wanted):
        was = before[name]
        if name in now:
            for need in was.needs:
                if need in wanted and need not in now[name].needs:
                    quote = new.split("\n")[now[name].line - 1].strip()
                    yield Harm(COMMAND, f"{name} no longer depends on {need}", file, now[name].line, quote)
            yield from _recipe(file, new, name, was.recipe, now[name].recipe)
        elif was.recipe or was.needs:
            yield Harm(COMMAND, f"the target {name} is gone", file, was.line, f"{name}:")
    known = {one_line(each) for target in before.values() for each in target.recipe}
    for name, target in now.items():
        fresh = [each for each in target.recipe if one_line(each) not in known]
        yield from _hidden(file, new, name, [each for each in fresh if name in about or RUNS.search(each)])
    yield from _variables(file, old, new, [each for name in wanted for each in before[name].recipe])


def _about_tests(rules: Mapping[str, Target]) -> set[str]:
    calls = {
        name: {
            *target.needs,
            *(word for line in target.recipe for found in _MAKES.findall(line) for word in found.split()),
        }
        for name, target in rules.items()
    }
    return closure(filter(_ROOT.match, calls), calls)


def _recipe(file: str, text: str, name: str, old: list[str], new: list[str]) -> Iterator[Harm]:
    before, now = {one_line(each) for each in old}, {one_line(each) for each in new}
    added = [each for each in new if one_line(each) not in before]
    for each in old:
        if one_line(each) in now or _INSTALLS.search(each):
            continue
        instead = added.pop(0) if added else ""
        if instead and (hides(instead) or instead.startswith("-") or "+e" in instead):
            continue  # reported as hidden
        said = f"became “{instead}”" if instead else "is gone"
        place = instead or f"{name}:"
        yield harm_at(file, text, place, COMMAND, f"{name}: “{each}” {said}", place)


def _hidden(file: str, text: str, name: str, recipe: list[str]) -> Iterator[Harm]:
    for each in recipe:
        cleans = _INSTALLS.search(each) or _CLEANS.match(each)
        forgiven = re.match(r"^@?-", each) and not cleans
        what = "-" if forgiven else "set +e" if re.search(r"\bset \+e\b", each) else "" if cleans else hides(each)
        if what:
            yield harm_at(file, text, each, HIDDEN, f"{name}: “{what}” hides it when the tests fail", each)


def _variables(file: str, old: str, new: str, recipes: list[str]) -> Iterator[Harm]:
    """Values of variables that the recipes use."""
    before, now = dict(_VARIABLE.findall(old)), dict(_VARIABLE.findall(new))
    for name in sorted(one or two for one, two in set(_USED.findall(" ".join(recipes)))):
        was, value = before.get(name), now.get(name, "")
        if was is not None and was.split() != value.split() and re.search(r"TEST|ARG|FLAG|OPT", name, re.I):
            message = f"{name}, which the test command uses, was “{was}” and is “{value}”"
            yield harm_at(file, new, name, COMMAND, message, f"{name} = {value}")
