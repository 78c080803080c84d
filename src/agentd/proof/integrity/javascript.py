"""Parses test files of JavaScript and TypeScript: `describe` and `it` with their titles, and what hides them."""

import re
from collections import Counter
from collections.abc import Iterator

from agentd.patterns import regex
from agentd.proof.integrity.assertion_calls import claims
from agentd.proof.integrity.assertion_names import T_ASSERTIONS
from agentd.proof.integrity.brace_marks import Group, around, early_return, hidden, mark_at
from agentd.proof.integrity.parsed import Mark, ParsedFile, Test
from agentd.proof.integrity.rules import SKIPPED
from agentd.proof.integrity.source import Source, normalized

FOCUSED = "focused_test"
_HEAD = regex(
    r"(?<![\w$.])(?:(?:Deno|QUnit)\.)?([xf]?(?:describe|context|suite|it|test|specify))((?:\s*\.\s*[A-Za-z]\w*)*)\s*(?=[(`])"
)
_GROUPS = ("describe", "context", "suite")
_NO_TESTS = {"describe", "step", "extend", "use", "beforeEach", "afterEach", "beforeAll", "afterAll"}  # test.describe()
_SKIPS = {
    **dict.fromkeys(("skip", "fixme", "ignore"), "is skipped"),
    **dict.fromkeys(("fails", "failing", "fail"), "is expected to fail"),
    "todo": "is only a note to write it",
    "skipIf": "is skipped on a condition",
    "runIf": "runs on a condition only",
}
_OPTION = regex(r"[{,]\s*(skip|todo|only|ignore|fails)\s*:\s*(?!false\b)[^\s,}]")
_INNER = regex(r"(?<![\w$.])(?:this|t|ctx|context|test|it)\s*\.\s*(skip|todo|fixme)\s*\(")
_ASSERTS = regex(r"expect|assert|should|\bt\.")
_FUNCTION = regex(
    r"(?:(?<![\w$.])function\s+|(?<![\w$.])(?:const|let|var)\s+)([A-Za-z_$][\w$]*)\s*(?:=\s*(?:async\s*)?(?:function)?\s*)?(?=\()"
)
_HIDES = regex(
    r"process\s*\.\s*exit\s*\(\s*0?\s*\)|process\s*\.\s*exitCode\s*=\s*0|Deno\s*\.\s*exit\s*\(\s*0?\s*\)"
    r"|(?:global|globalThis|window)\s*\.\s*(?:expect|it|test|describe|assert)\s*=(?![=>])"
    r"|(?<![\w$.])(?:assert|expect)\.(?!extend)\w+\s*=(?![=>])"
)
_DESTRUCTURED = regex(r"\(\s*\{([^{}()]*)\}\s*\)\s*(?:=>|\{)")  # ({ equal, end }) => …


def parse(text: str) -> ParsedFile:
    """The tests of a file."""
    source = Source(text, "javascript")
    asserting = frozenset(_asserting(source))
    groups: list[Group] = []
    tests: list[Test] = []
    seen: Counter[str] = Counter()
    within = 0  # a head inside a test is no test of its own
    for match in _HEAD.finditer(source.bare):
        start, kind, words = match.start(), match[1], re.findall(r"\w+", match[2])
        opened = _opening(source, match.end(), words)
        if opened is None or start < within:
            continue
        closed = source.closing(opened)
        outer = around(groups, start)
        title = _title(source, opened, closed)
        marks = (
            *(mark for group in outer for mark in group.marks),
            *_marks(source, start, opened, closed, kind, words, title),
        )
        if kind.lstrip("xf") in _GROUPS:
            groups.append(Group(start, closed, title, marks))
        elif not words or words[0] not in _NO_TESTS:
            name = " > ".join((*(group.title for group in outer), title))
            seen[name] += 1
            name = name if seen[name] == 1 else f"{name} #{seen[name]}"
            tests.append(_test(source, name, start, opened, closed, marks, asserting, "each" in words))
            within = closed
    return ParsedFile(tuple(tests), hidden=hidden(source, _HIDES), comments=source.comment_lines())


def _opening(source: Source, at: int, words: list[str]) -> int | None:
    """The bracket before the title; a table of values or a condition has its own before that."""
    if not {"each", "skipIf", "runIf"} & set(words):
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
    group = kind.lstrip("xf") in _GROUPS
    owner = f"“{title}”" if group else ""
    if kind.startswith("x"):
        yield mark_at(source, start, SKIPPED, "is skipped", owner)
    if kind.startswith("f") or "only" in words:
        yield mark_at(source, start, FOCUSED, "is focused, so that others do not run", owner)
    for word in words:
        if word in _SKIPS:
            yield mark_at(source, start, SKIPPED, _SKIPS[word], owner, _never_runs(source, start, words))
    if group:
        return
    comma = source.bare.find(",", opened, closed)
    if comma < 0 and not set(words) & set(_SKIPS) and source.bare[opened + 1 : closed].strip()[:1] in ('"', "'", "`"):
        yield mark_at(source, start, SKIPPED, "has no body")
    brace = source.bare.find("{", opened, closed)
    option = _OPTION.search(source.bare, brace, source.closing(brace)) if brace >= 0 else None
    if option and not re.search(r"=>|function", source.bare[opened:brace]):
        rule = FOCUSED if option[1] == "only" else SKIPPED
        sure = source.bare.startswith(("true", '"', "'", "`"), option.end() - 1)
        yield mark_at(source, option.start(1), rule, f"is marked “{option[1]}”", owner, sure)
    if inner := _INNER.search(source.bare, opened, closed):
        yield mark_at(source, inner.start(), SKIPPED, "skips itself", "", source.depth(opened, inner.start()) <= 1)
    yield from early_return(source, opened, closed, _ASSERTS)


def _never_runs(source: Source, start: int, words: list[str]) -> bool:
    """Whether a skipped test is skipped in every run: its condition, if it has one, is constant."""
    first = source.bare.find("(", start)
    condition = source.bare[first + 1 : source.closing(first)].strip() if first >= 0 else ""
    if "skipIf" in words:
        return condition in ("true", "1", "!false", "!0")
    return "runIf" not in words or condition in ("false", "0", "!true", "!1", "null", "undefined")


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
    begin = comma + 1 if comma >= 0 else closed
    inside = source.code[begin:closed]
    match = _DESTRUCTURED.search(source.bare, begin, closed)
    taken = frozenset(re.findall(r"\w+", match[1])) & T_ASSERTIONS if match else frozenset()
    return Test(
        name=name,
        line=source.line(start),
        start=source.line(start),
        end=source.line(closed),
        quote=source.quote(start),
        body=normalized(inside),
        claims=tuple(claims(source, "javascript", begin, closed, asserting | taken)),
        marks=marks,
        many=many,
        names=frozenset(re.findall(r"\w+", inside.partition("=>")[0])) if many else frozenset(),
    )


def _asserting(source: Source) -> Iterator[str]:
    """The functions of the file that assert something."""
    for match in _FUNCTION.finditer(source.bare):
        brace = source.bare.find("{", source.closing(match.end()))
        end = source.closing(brace) if brace >= 0 else match.end()
        if any(claims(source, "javascript", brace, end, frozenset())):
            yield match[1]
