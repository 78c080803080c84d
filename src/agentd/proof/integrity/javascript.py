"""Reads test files of JavaScript and TypeScript: `describe` and `it` with their titles, and what hides them."""

import re
from collections.abc import Iterator

from agentd.proof.integrity.calls import claims
from agentd.proof.integrity.matchers import ASKED
from agentd.proof.integrity.reading import Mark, Reading, Test
from agentd.proof.integrity.source import Source, one_spelling

_HEAD = re.compile(
    r"(?<![\w$.])(?:(?:Deno|QUnit)\.)?([xf]?(?:describe|context|suite|it|test|specify))((?:\s*\.\s*[A-Za-z]\w*)*)\s*(?=[(`])"
)
_GROUPS = ("describe", "context", "suite")
_SKIPS = {
    "skip": "is skipped",
    "todo": "is only a note to write it",
    "fixme": "is skipped",
    "fails": "is expected to fail",
}
_SKIPS |= {"failing": "is expected to fail", "fail": "is expected to fail", "skipIf": "is skipped on a condition"}
_SKIPS |= {"runIf": "runs on a condition only", "ignore": "is skipped"}
_OPTION = re.compile(r"[{,]\s*(skip|todo|only|ignore|fails)\s*:\s*(?!false\b)[^\s,}]")
_INNER = re.compile(r"(?<![\w$.])(?:this|t|ctx|context|test|it)\s*\.\s*(skip|todo|fixme)\s*\(")
_RETURN = re.compile(r"^\s*return\s*;?\s*$", re.M)
_FUNCTION = re.compile(
    r"(?:(?<![\w$.])function\s+|(?<![\w$.])(?:const|let|var)\s+)([A-Za-z_$][\w$]*)\s*(?:=\s*(?:async\s*)?(?:function)?\s*)?(?=\()"
)
_HIDES = re.compile(
    r"process\s*\.\s*exit\s*\(\s*0?\s*\)|process\s*\.\s*exitCode\s*=\s*0|Deno\s*\.\s*exit\s*\(\s*0?\s*\)"
    r"|(?:global|globalThis|window)\s*\.\s*(?:expect|it|test|describe|assert)\s*=(?![=>])"
    r"|(?<![\w$.])(?:assert|expect)\.(?!extend)\w+\s*=(?![=>])"
)
_TAKEN = re.compile(r"\(\s*\{([^{}()]*)\}\s*\)\s*(?:=>|\{)")  # ({ equal, end }) => …
SKIPPED, FOCUSED = "skipped_test", "focused_test"


def read(text: str) -> Reading:
    """Everything the file says."""
    source = Source(text, "javascript")
    asserting = frozenset(_asserting(source))
    groups: list[tuple[int, int, str, tuple[Mark, ...]]] = []
    tests: list[Test] = []
    seen: dict[str, int] = {}
    within = 0  # a head inside a test is no test of its own
    for match in _HEAD.finditer(source.bare):
        kind, words = match[1], re.findall(r"\w+", match[2])
        opened = _opening(source, match.end(), words)
        if opened is None or match.start() < within:
            continue
        closed = source.closing(opened)
        around = [group for group in groups if group[0] < match.start() < group[1]]
        title = _title(source, opened, closed)
        marks = (
            *(mark for group in around for mark in group[3]),
            *_marks(source, match.start(), opened, closed, kind, words, title),
        )
        if kind.lstrip("xf") in _GROUPS:
            groups.append((match.start(), closed, title, tuple(marks)))
            continue
        if words[:1] in (
            ["describe"],
            ["step"],
            ["extend"],
            ["use"],
            ["beforeEach"],
            ["afterEach"],
            ["beforeAll"],
            ["afterAll"],
        ):
            continue
        name = " > ".join((*(group[2] for group in around), title))
        seen[name] = seen.get(name, 0) + 1
        name = name if seen[name] == 1 else f"{name} #{seen[name]}"
        tests.append(_test(source, name, match.start(), opened, closed, marks, asserting, "each" in words))
        within = closed
    hidden = tuple(
        Mark(
            "hidden_failure",
            f"{match[0].strip()} hides what the tests come to",
            source.line(match.start()),
            source.quote(match.start()),
        )
        for match in _HIDES.finditer(source.bare)
    )
    return Reading(tuple(tests), hidden=hidden, comments=source.comment_lines())


def _opening(source: Source, at: int, words: list[str]) -> int | None:
    """The bracket before the title; that of a table of values comes before it."""
    if "each" not in words and "skipIf" not in words and "runIf" not in words:
        return at if source.bare[at] == "(" else None
    after = 1 + (source.closing(at) if source.bare[at] == "(" else source.bare.find("`", at + 1))
    found = re.compile(r"\s*\(").match(source.bare, after) if after > 0 else None
    return found.end() - 1 if found else None


def _title(source: Source, opened: int, closed: int) -> str:
    first = source.parts(opened + 1, closed)[:1]
    return first[0].strip('"')[:200] if first else ""


def _marks(
    source: Source, start: int, opened: int, closed: int, kind: str, words: list[str], title: str
) -> Iterator[Mark]:
    line, quote, group = source.line(start), source.quote(start), kind.lstrip("xf") in _GROUPS
    owner = f"“{title}”" if group else ""
    sure = _is_constant(source, start, words)
    if kind.startswith("x"):
        yield Mark(SKIPPED, "is skipped", line, quote, owner)
    if kind.startswith("f") or "only" in words:
        yield Mark(FOCUSED, "is focused, so that others do not run", line, quote, owner)
    for word in words:
        if word in _SKIPS:
            yield Mark(SKIPPED, _SKIPS[word], line, quote, owner, sure)
    if group:
        return
    comma = source.bare.find(",", opened, closed)
    if comma < 0 and not set(words) & set(_SKIPS) and source.bare[opened + 1 : closed].strip()[:1] in ('"', "'", "`"):
        yield Mark(SKIPPED, "has no body", line, quote)
    brace = source.bare.find("{", opened, closed)
    option = _OPTION.search(source.bare, brace, source.closing(brace)) if brace >= 0 else None
    if option and not re.search(r"=>|function", source.bare[opened:brace]):
        rule = FOCUSED if option[1] == "only" else SKIPPED
        value = source.bare[option.end() - 1 : option.end() + 3]
        at, sure = option.start(1), value.startswith(("true", '"', "'", "`"))
        yield Mark(rule, f"is marked “{option[1]}”", source.line(at), source.quote(at), owner, sure)
    inner = _INNER.search(source.bare, opened, closed)
    if inner:
        depth = source.bare.count("{", opened, inner.start()) - source.bare.count("}", opened, inner.start())
        yield Mark(SKIPPED, "skips itself", source.line(inner.start()), source.quote(inner.start()), "", depth <= 1)
    yield from _early(source, opened, closed)


def _is_constant(source: Source, start: int, words: list[str]) -> bool:
    """Whether a test never runs: always, but for conditions that say something."""
    first = source.bare.find("(", start)
    condition = source.bare[first + 1 : source.closing(first)].strip() if first >= 0 else ""
    if "skipIf" in words:
        return condition in ("true", "1", "!false", "!0")
    return "runIf" not in words or condition in ("false", "0", "!true", "!1", "null", "undefined")


def _early(source: Source, opened: int, closed: int) -> Iterator[Mark]:
    back = _RETURN.search(source.bare, opened, closed)
    before = source.bare[opened : back.start()] if back else ""
    if (
        back
        and source.bare[back.end() : closed].strip(" \n\t};)")
        and not re.search(r"expect|assert|should|\bt\.", before)
    ):
        at = back.start() + len(back[0]) - len(back[0].lstrip())
        sure = before.count("{") - before.count("}") <= 1
        yield Mark(SKIPPED, "returns before it asserts anything", source.line(at), source.quote(at), "", sure)


def _test(
    source: Source,
    name: str,
    start: int,
    opened: int,
    closed: int,
    marks: tuple[Mark, ...],
    asserting: frozenset[str],
    many: bool,
) -> Test:
    comma = source.bare.find(",", opened, closed)
    inside = source.code[comma + 1 if comma >= 0 else closed : closed]
    taken = _TAKEN.search(source.bare, comma, closed) if comma >= 0 else None
    asked = frozenset(re.findall(r"\w+", taken[1])) & ASKED if taken else frozenset()
    found = tuple(claims(source, "javascript", comma if comma >= 0 else closed, closed, asserting | asked))
    return Test(
        name=name,
        line=source.line(start),
        start=source.line(start),
        end=source.line(closed),
        quote=source.quote(start),
        body=one_spelling(inside),
        claims=found,
        marks=marks,
        many=many,
        names=frozenset(re.findall(r"\w+", inside.partition("=>")[0])) if many else frozenset(),
    )


def _asserting(source: Source) -> Iterator[str]:
    """The functions of the file that assert something."""
    for match in _FUNCTION.finditer(source.bare):
        brace = source.bare.find("{", source.closing(match.end()))
        end = source.closing(brace) if brace >= 0 else match.end()
        if any(True for _ in claims(source, "javascript", brace, end, frozenset())):
            yield match[1]
