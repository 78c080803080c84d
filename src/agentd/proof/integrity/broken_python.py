"""Parses Python test files that are not valid Python, by their lines and indentation."""

from collections.abc import Iterator

from agentd.patterns import regex
from agentd.proof.integrity.parsed import Claim, Mark, ParsedFile, Test
from agentd.proof.integrity.python_claims import ASSERTS
from agentd.proof.integrity.rules import SKIPPED
from agentd.proof.integrity.source import Source, normalized

_HEAD = regex(r"^([ \t]*)(?:async\s+)?(def|class)\s+(\w+)")
_CLAIM = regex(r"^\s*assert\b\s*(.*)|^\s*(?:with\s+)?[\w.]*\b(\w+)\s*\((.*)")
_SKIP = regex(r"@?[\w.]*\b(skip|skipif|skipIf|skipUnless|xfail|expectedFailure|skipTest|SkipTest)\b")


def parse(text: str) -> ParsedFile:
    """The tests of a file."""
    source = Source(text, "python")
    code, bare = source.code.split("\n"), source.bare.split("\n")
    tests: list[Test] = []
    others: list[Test] = []
    classes: list[tuple[int, str]] = []
    for at, line in enumerate(bare):
        head = _HEAD.match(line)
        if not head:
            continue
        depth = len(head[1])
        classes = [each for each in classes if each[0] < depth]
        if head[2] == "class":
            classes.append((depth, head[3]))
            continue
        name = " > ".join((*(each[1] for each in classes), head[3]))
        test = _test(name, at, _end(bare, at, depth), _start(bare, at), code, bare, source)
        (tests if head[3].startswith("test") else others).append(test)
    return ParsedFile(
        tuple({each.name: each for each in tests}.values()), tuple(others), comments=source.comment_lines()
    )


def _end(bare: list[str], at: int, depth: int) -> int:
    last = at
    for number in range(at + 1, len(bare)):
        line = bare[number]
        if line.strip() and len(line) - len(line.lstrip()) <= depth and not line.lstrip().startswith((")", "]")):
            break
        last = number if line.strip() else last
    return last


def _start(bare: list[str], at: int) -> int:
    while at > 0 and bare[at - 1].lstrip().startswith("@"):
        at -= 1
    return at


def _test(name: str, at: int, end: int, start: int, code: list[str], bare: list[str], source: Source) -> Test:
    return Test(
        name=name,
        line=at + 1,
        start=start + 1,
        end=end + 1,
        quote=source.lines[at].strip(),
        body=normalized("\n".join(code[at + 1 : end + 1])),
        claims=tuple(_claims(at, end, code, bare, source)),
        marks=tuple(
            Mark(SKIPPED, "is skipped", number + 1, source.lines[number].strip())
            for number in range(start, end + 1)
            if number != at and _SKIP.match(bare[number].strip().removeprefix("raise "))
        ),
        many="parametrize" in "".join(bare[start:at]),
    )


def _claims(at: int, end: int, code: list[str], bare: list[str], source: Source) -> Iterator[Claim]:
    for number in range(at + 1, end + 1):
        found = _CLAIM.match(bare[number])
        if not found:
            continue
        said = found[1] is not None
        if not said and not ASSERTS.match(found[2]) and "raises" not in found[2]:
            continue
        text = normalized(code[number])
        subject, _, answer = text.partition("==")
        always = said and text.removeprefix("assert ").rstrip() in ("True", "1")
        yield Claim(
            number + 1, source.lines[number].strip(), subject, answer, 3 if answer else 2, "assert", always=always
        )
