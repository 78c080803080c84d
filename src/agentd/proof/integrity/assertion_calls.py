"""What assertions that are calls or chains of calls claim, by their names: JavaScript, Go, Rust, Java, C#."""

import re
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace

from agentd.patterns import regex
from agentd.proof.integrity import assertion_names as names
from agentd.proof.integrity.parsed import MANY, Claim
from agentd.proof.integrity.source import Source

_CALL = regex(r"(?<![\w$])((?:[A-Za-z_$][\w$]*\??\s*(?:\.|::)\s*)*)([A-Za-z_$][\w$]*!?)\s*(?:<[^<>()\n]{0,60}>)?\s*\(")
_ASSERTS = regex(
    r"^_*(?i:assert|expect|verify|should|check|ensure|must|fail|debug_assert|prop_assert|and_?expect)(?![a-z])"
)
_LINK = regex(r"\s*(?:\?|!)?\.\s*([A-Za-z_$][\w$]*)")
_PREFIXES = regex(r"^(chai\.)?(assert|require|Assert|should|sinon\.assert|expect|StringAssert|CollectionAssert|cy)\.$")
_LITERAL = regex(
    r"^(-?\d[\w.]*|\".*\"|true|false|null|nil|None|undefined|Some\(.*\)|Ok\(.*\)|vec!\[.*\]|\[.*\]|\{.*\}|&?\[.*\]|[A-Z_]{3,})$"
)
_FIRST_IS_ANSWER = {"java", "go", "csharp"}
_PASSED_ON = regex(r"\s*t\s*[,)]")  # a function that is given the test can fail it
_MATCHES = regex(r"^(is|has|contains?|does|matches|starts|ends|to|a|an|include|equal|eql|length|property)(?![a-z])")
_CREATES = regex(
    r"\bnew\b|(?<![a-z0-9_$])[A-Z]\w*(<[^<>]*>)?[({]|::(new|from|default|parse)\b|\b(next|now|random|pop|shift|read)\("
    r"|\b(from|make|create|of)([A-Z_]\w*)?\("
)
_NEGATED = ("not", "never", "isNot")
_ASSERT_PREFIXES = ("assert", "require", "chai.assert", "t", "stringassert")


def claims(source: Source, language: str, start: int, end: int, asserting: frozenset[str]) -> Iterator[Claim]:
    """The claims between two positions."""
    until = start
    for match in _CALL.finditer(source.bare, start, end):
        prefix, name, opened = re.sub(r"\s", "", match[1]), match[2], match.end() - 1
        if match.start() < until:
            continue
        if _is_claim(prefix, name, language, asserting):
            found, until = _read(source, language, prefix, name, match.start(), opened, end)
            own = name in asserting and not prefix.rstrip(".:")
            yield from (replace(claim, called=True, most=MANY) for claim in found) if own else found
        elif _PASSED_ON.match(source.bare, match.end()):
            place = Claim(source.line(match.start()), source.quote(match.start()), name, "", called=True)
            yield replace(place, least=0, most=MANY, form=name)
    if language == "javascript":
        yield from _shoulds(source, start, end)


def _is_claim(prefix: str, name: str, language: str, asserting: frozenset[str]) -> bool:
    if _PREFIXES.match(prefix) and (language != "javascript" or prefix != "require."):
        return True
    if language == "javascript" and prefix in ("t.", "assert.", "tap."):
        return name in names.T_ASSERTIONS
    if language == "rust" and name in ("unwrap_err", "expect_err", "panic!", "unreachable!"):
        return True
    if language == "rust" and name == "expect":
        return False
    return bool(_ASSERTS.match(name)) or (name in asserting and not prefix)


def _read(
    source: Source, language: str, prefix: str, name: str, start: int, opened: int, end: int
) -> tuple[list[Claim], int]:
    """The claims of a call and of what is chained to it, and where they end."""
    closed = min(source.closing(opened), end)
    args, at = source.parts(opened + 1, closed), closed + 1
    links: list[tuple[str, list[str] | None]] = []
    while link := _LINK.match(source.bare, at, end):
        at, answers = link.end(), None
        if source.bare[at : at + 1] == "(":
            closed = min(source.closing(at), end)
            answers, at = source.parts(at + 1, closed), closed + 1
        links.append((link[1], answers))
    if language == "go" and args and args[0] in ("t", "b", "s.T()", "suite.T()"):
        args = args[1:]
    place = Claim(source.line(start), source.quote(start), "", "")
    words = [word for word, _ in links if word not in names.NOISE]
    if not words:
        return [_called(place, language, prefix, name, args)], at
    more = [
        _chained(place, args, [word], answers)
        for word, answers in links[:-1]
        if answers is not None and word not in names.NOISE and _MATCHES.match(word)
    ]
    return [*more, _chained(place, args, words, links[-1][1] or [])], at


def _chained(place: Claim, args: list[str], words: list[str], answers: list[str]) -> Claim:
    """`expect(x).not.toBe(y)` and its like."""
    matcher = words[-1]
    key = names.key_of(matcher)
    negated = any(word in _NEGATED for word in words)
    subject, answer = ", ".join(args), ", ".join(answers)
    if key in names.TRUTH | {"tobe", "equal"} and (answer == "true" or key in ("true", "istrue", "ok", "tobetruthy")):
        one, two = _equality(subject)
        if two:
            return replace(place, subject=one, expected=f"== {two}", form=matcher, always=_same(one, two))
    rank = names.rank_of(key, answers)
    if negated:
        only_there = answer in ("null", "undefined") or key in ("tothrow", "tobenull", "tobeundefined", "null")
        rank = 1 if only_there else min(rank, 2)
    literal = bool(_LITERAL.match(subject))
    always = literal and not negated and (subject == answer or (subject == "true" and not answer and key != "false"))
    always = always or subject.endswith("||true")
    always = always or (key in names.EQUALS and not negated and _same(subject, answer, key == "tobe"))
    expected = f"{'not ' if negated else ''}{names.word_of(key)} {answer}"
    tolerances: tuple[tuple[str, float], ...] = ()
    if key == "tobecloseto" and answers:
        expected = f"{key} {answers[0]}"
        tolerances = tuple(("digits", -float(digits)) for digits in answers[1:2] if digits.isdecimal())
    return replace(
        place, subject=subject, expected=expected, rank=rank, form=matcher, always=always, tolerances=tolerances
    )


def _called(place: Claim, language: str, prefix: str, name: str, args: list[str]) -> Claim:
    """`assertEquals(a, b)`, `assert_eq!(a, b)`, `assert.Equal(t, a, b)` and their like."""
    key = names.key_of(name)
    asserts = key.startswith("assert") or prefix.rstrip(".").lower() in _ASSERT_PREFIXES
    if key in names.TRUTH and args:
        always = args[0] == "true" or args[0].endswith("||true")
        one, two = _equality(args[0])
        if two:
            return replace(place, subject=one, expected=f"== {two}", form=name, always=always or _same(one, two))
        return replace(place, subject=args[0], expected="== true", rank=1, form=name, always=always)
    if key in names.RAISES:
        kind = next((each for each in args if re.search(r"\.class|::class|Error|Exception", each)), "")
        rank = 1.0 if names.BROAD.match(kind) else 3.0 if kind else 2.0
        return replace(place, subject="raises", expected=f"raises {kind}", rank=rank, form=f"{name}({kind})")
    if not asserts:
        said = f"{names.word_of(key)} "
        return replace(place, subject=", ".join(args), expected=said, rank=2, form=name, called=True, most=MANY)
    if len(args) < 2 or not (key in names.STRICT or re.search(r"eq|same|delta|close", key)):
        said = f"{names.word_of(key)} {', '.join(args[1:])}"
        return replace(place, subject="".join(args[:1]), expected=said, rank=names.rank_of(key, args), form=name)
    one, two = args[0], args[1]
    literals = bool(_LITERAL.match(one)), bool(_LITERAL.match(two))
    if literals == (True, False) or (language in _FIRST_IS_ANSWER and literals != (False, True)):
        one, two = two, one
    equal = "ne" not in key[-3:] and "not" not in key
    return replace(
        place,
        subject=one,
        expected=f"{'==' if equal else '!='} {two}",
        rank=3 if equal else 2,
        form=name,
        tolerances=tuple(_delta(args)),
        always=equal and _same(one, two),
    )


def _shoulds(source: Source, start: int, end: int) -> Iterator[Claim]:
    """`x.should.equal(y)`, and `.expect(200)` of a request."""
    for match in re.compile(r"(?<=[\w)\]])\s*\.\s*(should|expect)\b").finditer(source.bare, start, end):
        at = source.bare.find("\n", match.end())
        rest = source.code[match.end() : min(at if at >= 0 else end, end)]
        line, said = source.line(match.end()), rest.strip().rstrip(";")
        yield Claim(line, source.quote(match.end()), match[1], said, 2, match[1])


def _equality(text: str) -> tuple[str, str]:
    """The two sides of `a == b`; the second is empty if the text is anything else."""
    match = re.fullmatch(r"((?:[^=!<>&|]|=>|->)+)===?((?:[^=!<>&|]|=>|->)+)", text)
    if not match:
        return text, ""
    one, two = match[1].strip(), match[2].strip()
    return (two, one) if _LITERAL.match(one) and not _LITERAL.match(two) else (one, two)


def _same(one: str, two: str, identity: bool = False) -> bool:
    """Whether both sides are written alike and create nothing: two new objects are compared to prove equality.

    With `identity`, a call without arguments may return the same object twice, which is worth a proof.
    """
    return one == two and not _CREATES.search(one) and not (identity and one.endswith("()"))


def _delta(args: list[str]) -> Iterator[tuple[str, float]]:
    """The tolerance that `assertEquals(a, b, 0.1f)` takes as its third argument."""
    for each in args[2:3]:
        if re.fullmatch(r"[+-]?[\d.]+([eE][+-]?\d+)?[dfDF]?", each):
            with suppress(ValueError):
                yield "delta", float(each.rstrip("dfDF"))
