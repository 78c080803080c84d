"""Reads test files of Go, Rust, Java and its kin, and C#: functions with what is written above them."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace

from agentd.proof.integrity.calls import claims
from agentd.proof.integrity.reading import Claim, Mark, Reading, Test
from agentd.proof.integrity.source import Source, one_spelling

RULE = "skipped_test"


@dataclass(frozen=True)
class Custom:
    """How a language writes a function and a group of them, what makes it a test, and what keeps it from running."""

    function: re.Pattern[str]
    group: re.Pattern[str]
    above: re.Pattern[str]  # a line that belongs to what stands below it
    test: re.Pattern[str]  # in what stands above, or in the head itself
    skip: re.Pattern[str]  # above
    unsure: re.Pattern[str]  # above
    inner: re.Pattern[str]  # in the body
    hides: re.Pattern[str]


_NEVER = r"(?!)"
_JAVA_HEAD = r"^[ \t]*(?:@[\w.]+(?:\([^()\n]*\))?[ \t]+)*(?:(?:public|protected|private|internal|static|final|async|suspend|override|virtual)\s+)*(?:fun|void|def|[\w.<>\[\]]+)\s+(`[^`\n]+`|[A-Za-z_]\w*)\s*(?=\()"
CUSTOMS = {
    "go": Custom(
        re.compile(r"^func\s+(?:\([^()\n]*\)\s*)?([A-Za-z_]\w*)\s*(?:\[[^\]\n]*\]\s*)?(?=\()", re.M),
        re.compile(_NEVER),
        re.compile(_NEVER),
        re.compile(r"^func\s+(?:\([^()\n]*\)\s*)?(Test|Fuzz|Example)(?![a-z])(?!Main\b)"),
        re.compile(_NEVER),
        re.compile(_NEVER),
        re.compile(r"\b[tbf]\.(Skip|Skipf|SkipNow)\s*\(|\.T\(\)\.Skip\w*\("),
        re.compile(r"\bos\.Exit\(\s*0\s*\)"),
    ),
    "rust": Custom(
        re.compile(r"^[ \t]*(?:#\[[^\]\n]*\][ \t]*)*(?:pub(?:\([^)\n]*\))?\s+)?(?:async\s+|unsafe\s+|const\s+)*fn\s+([A-Za-z_]\w*)\s*(?:<[^>\n]*>)?\s*(?=\()", re.M),
        re.compile(r"^[ \t]*(?:pub\s+)?mod\s+(\w+)\s*(?=\{)", re.M),
        re.compile(r"^\s*#\["),
        re.compile(r"#\[(?:\w+::)*(test|rstest|test_case|quickcheck|proptest|tokio_test)\b"),
        re.compile(r"#\[ignore\b"),
        re.compile(r"#\[cfg(?:_attr)?\((?!test\))[^\]]*\]"),
        re.compile(_NEVER),
        re.compile(r"\bprocess::exit\(\s*0\s*\)|macro_rules!\s*(?:assert|assert_eq|assert_ne)\b"),
    ),
    "java": Custom(
        re.compile(_JAVA_HEAD, re.M),
        re.compile(r"^[ \t]*(?:@[\w.]+(?:\([^()\n]*\))?\s+)*(?:(?:public|abstract|final|static|internal|open|data)\s+)*(?:class|object|interface)\s+(\w+)", re.M),
        re.compile(r"^\s*@"),
        re.compile(r"@(Test|ParameterizedTest|RepeatedTest|TestFactory|TestTemplate|Property)\b|\bvoid\s+test\w*"),
        re.compile(r"@(Disabled|Ignore|Ignored)\b(?![\w])|enabled\s*=\s*false"),
        re.compile(r"@(Disabled\w+|Enabled\w+|IgnoreIf|Requires)\b"),
        re.compile(r"\b(assumeTrue|assumeFalse|assumeThat|assumingThat|abort)\s*\(|throw\s+new\s+\w*(Skip|Assumption|Aborted)\w*"),
        re.compile(r"\bSystem\.exit\(\s*0\s*\)|\bexitProcess\(\s*0\s*\)"),
    ),
    "csharp": Custom(
        re.compile(_JAVA_HEAD.replace("(?:@[\\w.]+(?:\\([^()\\n]*\\))?[ \\t]+)*", r"(?:\[[^\]\n]*\][ \t]*)*"), re.M),
        re.compile(r"^[ \t]*(?:(?:public|abstract|sealed|static|internal|partial)\s+)*class\s+(\w+)", re.M),
        re.compile(r"^\s*\["),
        re.compile(r"\[(Fact|Theory|Test|TestMethod|TestCase|DataTestMethod|Property|SkippableFact)\b"),
        re.compile(r"\[(Ignore|Explicit)\b|\bSkip\s*="),
        re.compile(_NEVER),
        re.compile(r"\b(Assert\.Ignore|Assert\.Inconclusive|Skip\.If)\s*\("),
        re.compile(r"\bEnvironment\.Exit\(\s*0\s*\)"),
    ),
}  # fmt: skip
_GO_TAG = re.compile(r"^//(?:go:build|\s*\+build)\s+(.*)$", re.M)
_GO_FAILS = re.compile(r"\b(?:[tbf]|s\.T\(\))\.(Error|Errorf|Fatal|Fatalf|Fail|FailNow)\s*\(")
_IF = re.compile(r"\bif\s+([^{}\n]*?)\s*\{")
_RAISES_ABOVE = re.compile(r"#\[should_panic[^\]]*\]|expected\s*=\s*\w+|\[ExpectedException[^\]]*\]")
_TABLE = re.compile(
    r"@(ParameterizedTest|RepeatedTest|Property|TestFactory|CsvSource|MethodSource)|#\[(case|rstest|quickcheck)|\[(Theory|TestCase|DataTestMethod)"
)


def read(text: str, language: str) -> Reading:
    """Everything the file says."""
    source, custom = Source(text, language), CUSTOMS[language]
    heads = list(custom.function.finditer(source.bare))
    asserting = frozenset(
        match[1] for match in heads if _body_claims(source, language, *_block(source, match.end()), frozenset())
    )
    groups = [_group(source, custom, match) for match in custom.group.finditer(source.bare)]
    tests: list[Test] = []
    others: list[Test] = []
    for match in heads:
        test, is_test = _function(source, language, match, groups, asserting)
        (tests if is_test else others).append(test)
    tags = tuple(
        Mark(
            RULE,
            f"is built only for “{tag[1]}”",
            source.line(tag.start()),
            tag[0].strip(),
            "",
            tag[1].strip() == "ignore",
        )
        for tag in (_GO_TAG.finditer(text) if language == "go" else ())
    )
    hidden = tuple(
        Mark(
            "hidden_failure",
            f"{match[0]} hides what the tests come to",
            source.line(match.start()),
            source.quote(match.start()),
        )
        for match in custom.hides.finditer(source.bare)
    )
    return Reading(tuple(tests), tuple(others), tags, hidden, comments=source.comment_lines())


def _block(source: Source, at: int) -> tuple[int, int]:
    """The body of the function whose parameters open at a position."""
    after = source.closing(at) + 1
    brace = source.bare.find("{", after)
    end = source.bare.find(";", after)
    if brace < 0 or (0 <= end < brace):
        return after, after if end < 0 else end
    return brace, source.closing(brace)


def _above(source: Source, custom: Custom, at: int) -> tuple[int, str]:
    """What stands above a head and belongs to it, head included, and its first line."""
    number = source.line(at)
    first = number
    lines = source.code.split("\n") if custom.above.pattern != _NEVER else []
    while (
        first > 1
        and lines
        and (custom.above.match(lines[first - 2]) or (not lines[first - 2].strip() and source.lines[first - 2].strip()))
    ):
        first -= 1
    return first, "\n".join(lines[first - 1 : number]) if lines else source.lines[number - 1]


def _group(source: Source, custom: Custom, match: re.Match[str]) -> tuple[int, int, str, tuple[Mark, ...]]:
    start = match.start() + len(match[0]) - len(match[0].lstrip())
    first, above = _above(source, custom, start)
    brace = source.bare.find("{", match.end())
    end = source.closing(brace) if brace >= 0 else len(source.bare)
    return start, end, match[1], tuple(_marks(source, custom, first, above, match[1]))


def _marks(source: Source, custom: Custom, first: int, above: str, owner: str) -> Iterator[Mark]:
    for pattern, sure in ((custom.skip, True), (custom.unsure, False)):
        for found in pattern.finditer(above):
            line = first + above.count("\n", 0, found.start())
            what = f"is skipped ({found[0].strip()})" if sure else f"runs on a condition only ({found[0].strip()})"
            yield Mark(RULE, what, line, source.lines[line - 1].strip(), owner, sure)


def _function(
    source: Source,
    language: str,
    match: re.Match[str],
    groups: list[tuple[int, int, str, tuple[Mark, ...]]],
    asserting: frozenset[str],
) -> tuple[Test, bool]:
    custom = CUSTOMS[language]
    start = match.start() + len(match[0]) - len(match[0].lstrip())
    first, above = _above(source, custom, start)
    opened, closed = _block(source, match.end())
    around = [group for group in groups if group[0] < start < group[1]]
    inner = tuple(_inner(source, custom, opened, closed))
    found = tuple(_body_claims(source, language, opened, closed, asserting))
    raising = _RAISES_ABOVE.search(above)
    if raising:
        found = (*found, Claim(first, raising[0], "raises", one_spelling(raising[0]), 3, raising[0]))
    shows = language == "go" and bool(re.search(r"// (Unordered )?[Oo]utput:", source.text[opened:closed]))
    if shows:
        found = (*found, Claim(source.line(opened), "// Output:", "output", "", 3, "Output"))
    test = Test(
        name=" > ".join((*(group[2] for group in around), match[1].strip("`"))),
        line=source.line(start),
        start=first,
        end=source.line(closed),
        quote=source.quote(start),
        body=one_spelling(source.code[opened : closed + 1]),
        claims=found,
        marks=(*(mark for group in around for mark in group[3]), *_marks(source, custom, first, above, ""), *inner),
        many=bool(_TABLE.search(above)),
        smoke=language == "rust" and bool(re.search(r"\.(unwrap|expect)\(|\?;", source.bare[opened:closed])),
    )
    # An example without its output is built and not run.
    return test, bool(custom.test.search(above)) and (shows or not match[1].startswith("Example") or language != "go")


def _inner(source: Source, custom: Custom, opened: int, closed: int) -> Iterator[Mark]:
    found = custom.inner.search(source.bare, opened, closed)
    if found:
        depth = source.bare.count("{", opened, found.start()) - source.bare.count("}", opened, found.start())
        line_end = source.bare.find("\n", found.start())
        call = source.code[found.start() : line_end if line_end >= 0 else closed]
        sure = depth <= 1 and (
            "assum" not in call or bool(re.search(r"assumeTrue\(\s*false|assumeFalse\(\s*true", call))
        )
        said = "" if "Skip" in found[0] else f" ({one_spelling(call)})"
        yield Mark(RULE, f"skips itself{said}", source.line(found.start()), source.quote(found.start()), "", sure)
    back = re.compile(r"^\s*return\s*;?\s*$", re.M).search(source.bare, opened, closed)
    before = source.bare[opened : back.start()] if back else ""
    behind = source.bare[back.end() : closed].strip(" \n\t}") if back else ""
    if back and behind and not (_GO_FAILS.search(before) or re.search(r"assert|expect|verify|require", before, re.I)):
        at = back.start() + len(back[0]) - len(back[0].lstrip())
        sure = before.count("{") - before.count("}") <= 1
        yield Mark(RULE, "returns before it asserts anything", source.line(at), source.quote(at), "", sure)


def _body_claims(source: Source, language: str, opened: int, closed: int, asserting: frozenset[str]) -> list[Claim]:
    found = list(claims(source, language, opened, closed, asserting))
    return [*found, *_go_claims(source, opened, closed)] if language == "go" else found


def _go_claims(source: Source, opened: int, closed: int) -> Iterator[Claim]:
    """`if got != want { t.Errorf(…) }`: the condition is what is claimed."""
    for match in _GO_FAILS.finditer(source.bare, opened, closed):
        place = Claim(source.line(match.start()), source.quote(match.start()), match[1], "", 2, match[1])
        around = [
            each
            for each in _IF.finditer(source.bare, opened, match.start())
            if source.closing(each.end() - 1) > match.start()
        ]
        if not around:
            yield place
            continue
        start, end = around[-1].span(1)
        condition = one_spelling(source.code[start:end].rpartition(";")[2])
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
