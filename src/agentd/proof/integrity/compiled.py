"""Parses test files of Go, Rust, Java and its kin, and C#: functions with what is written above them."""

import re
from collections.abc import Iterator
from dataclasses import replace

from agentd.patterns import regex
from agentd.proof.integrity.assertion_calls import claims
from agentd.proof.integrity.brace_marks import Group, around, early_return, hidden, mark_at
from agentd.proof.integrity.compiled_languages import LANGUAGES, NEVER, Language
from agentd.proof.integrity.parsed import Claim, Mark, ParsedFile, Test, mark
from agentd.proof.integrity.rules import SKIPPED
from agentd.proof.integrity.source import Source, normalized

_GO_TAG = regex(r"^//(?:go:build|\s*\+build)\s+(.*)$", re.M)
_GO_FAILS = regex(r"\b(?:[tbf]|s\.T\(\))\.(Error|Errorf|Fatal|Fatalf|Fail|FailNow)\s*\(")
_ASSERTS = regex(rf"{_GO_FAILS.pattern}|(?i:assert|expect|verify|require)")
_IF = regex(r"\bif\s+([^{}\n]*?)\s*\{")
_RAISES_ABOVE = regex(r"#\[should_panic[^\]]*\]|expected\s*=\s*\w+|\[ExpectedException[^\]]*\]")
_TABLE = regex(
    r"@(ParameterizedTest|RepeatedTest|Property|TestFactory|CsvSource|MethodSource)|#\[(case|rstest|quickcheck)|\[(Theory|TestCase|DataTestMethod)"
)


def parse(text: str, name: str) -> ParsedFile:
    """The tests of a file in the named language."""
    source, language = Source(text, name), LANGUAGES[name]
    heads = list(language.function.finditer(source.bare))
    asserting = frozenset(
        match[1] for match in heads if _claims(source, name, *_block(source, match.end()), frozenset())
    )
    groups = [_group(source, language, match) for match in language.group.finditer(source.bare)]
    found = [_function(source, name, match, groups, asserting) for match in heads]
    tags = tuple(
        mark_at(source, tag.start(), SKIPPED, f"is built only for “{tag[1]}”", "", tag[1].strip() == "ignore")
        for tag in (_GO_TAG.finditer(text) if name == "go" else ())
    )
    return ParsedFile(
        tuple(test for test, is_test in found if is_test),
        tuple(test for test, is_test in found if not is_test),
        tags,
        hidden(source, language.hides),
        comments=source.comment_lines(),
    )


def _block(source: Source, at: int) -> tuple[int, int]:
    """The body of the function whose parameters open at a position."""
    after = source.closing(at) + 1
    brace = source.bare.find("{", after)
    end = source.bare.find(";", after)
    if brace < 0 or (0 <= end < brace):
        return after, after if end < 0 else end
    return brace, source.closing(brace)


def _above(source: Source, language: Language, at: int) -> tuple[int, str]:
    """The lines above a head that belong to it, the head included, and the number of the first."""
    number = first = source.line(at)
    lines = source.code.split("\n")
    if language.above.pattern == NEVER:
        return number, source.lines[number - 1]
    while first > 1:
        above = lines[first - 2]
        comment = not above.strip() and source.lines[first - 2].strip()
        if not language.above.match(above) and not comment:
            break
        first -= 1
    return first, "\n".join(lines[first - 1 : number])


def _group(source: Source, language: Language, match: re.Match[str]) -> Group:
    start = match.start() + len(match[0]) - len(match[0].lstrip())
    first, above = _above(source, language, start)
    brace = source.bare.find("{", match.end())
    end = source.closing(brace) if brace >= 0 else len(source.bare)
    return Group(start, end, match[1], tuple(_marks(source, language, first, above, match[1])))


def _marks(source: Source, language: Language, first: int, above: str, owner: str) -> Iterator[Mark]:
    for pattern, sure in ((language.skip, True), (language.unsure, False)):
        for found in pattern.finditer(above):
            line = first + above.count("\n", 0, found.start())
            what = "is skipped" if sure else "runs on a condition only"
            yield mark(source.lines, line, SKIPPED, f"{what} ({found[0].strip()})", owner, sure)


def _function(
    source: Source, name: str, match: re.Match[str], groups: list[Group], asserting: frozenset[str]
) -> tuple[Test, bool]:
    """A function as a test, and whether it is one."""
    language = LANGUAGES[name]
    start = match.start() + len(match[0]) - len(match[0].lstrip())
    first, above = _above(source, language, start)
    opened, closed = _block(source, match.end())
    outer = around(groups, start)
    found = _claims(source, name, opened, closed, asserting)
    if raising := _RAISES_ABOVE.search(above):
        found.append(Claim(first, raising[0], "raises", normalized(raising[0]), 3, raising[0]))
    shows = name == "go" and bool(re.search(r"// (Unordered )?[Oo]utput:", source.text[opened:closed]))
    if shows:
        found.append(Claim(source.line(opened), "// Output:", "output", "", 3, "Output"))
    test = Test(
        name=" > ".join((*(group.title for group in outer), match[1].strip("`"))),
        line=source.line(start),
        start=first,
        end=source.line(closed),
        quote=source.quote(start),
        body=normalized(source.code[opened : closed + 1]),
        claims=tuple(found),
        marks=(
            *(each for group in outer for each in group.marks),
            *_marks(source, language, first, above, ""),
            *_inner(source, language, opened, closed),
            *early_return(source, opened, closed, _ASSERTS),
        ),
        many=bool(_TABLE.search(above)),
        smoke=name == "rust" and bool(re.search(r"\.(unwrap|expect)\(|\?;", source.bare[opened:closed])),
    )
    # An example without its output is built and not run.
    return test, bool(language.test.search(above)) and (shows or not match[1].startswith("Example") or name != "go")


def _inner(source: Source, language: Language, opened: int, closed: int) -> Iterator[Mark]:
    if found := language.inner.search(source.bare, opened, closed):
        line_end = source.bare.find("\n", found.start())
        call = source.code[found.start() : line_end if line_end >= 0 else closed]
        always = "assum" not in call or re.search(r"assumeTrue\(\s*false|assumeFalse\(\s*true", call)
        sure = source.depth(opened, found.start()) <= 1 and bool(always)
        said = "" if "Skip" in found[0] else f" ({normalized(call)})"
        yield mark_at(source, found.start(), SKIPPED, f"skips itself{said}", "", sure)


def _claims(source: Source, name: str, opened: int, closed: int, asserting: frozenset[str]) -> list[Claim]:
    found = list(claims(source, name, opened, closed, asserting))
    return [*found, *_go_claims(source, opened, closed)] if name == "go" else found


def _go_claims(source: Source, opened: int, closed: int) -> Iterator[Claim]:
    """`if got != want { t.Errorf(…) }` claims its condition."""
    for match in _GO_FAILS.finditer(source.bare, opened, closed):
        place = Claim(source.line(match.start()), source.quote(match.start()), match[1], "", 2, match[1])
        conditions = _IF.finditer(source.bare, opened, match.start())
        inside = [each for each in conditions if source.closing(each.end() - 1) > match.start()]
        if not inside:
            yield place
            continue
        start, end = inside[-1].span(1)
        condition = normalized(source.code[start:end].rpartition(";")[2])
        one, sign, two = condition.partition("!=")
        exact = bool(sign) and "&&" not in condition and two != "nil"
        yield replace(
            place,
            line=source.line(start),
            quote=source.quote(start),
            subject=one if sign else condition,
            expected=f"== {two}" if sign else "false",
            rank=3 if exact else 1 if condition.endswith("==nil") else 2,
            form=f"if {condition}",
            always=condition == "false" or condition.endswith("&&false"),
        )
