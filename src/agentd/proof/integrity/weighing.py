"""Compares a test with what it was: whether it still runs, still claims as much, as exactly, and the same."""

from collections.abc import Collection, Iterator, Sequence
from difflib import SequenceMatcher

from agentd.model.evidence import Harm
from agentd.proof.integrity.pairing import is_table, keeps_values, shape
from agentd.proof.integrity.reading import Claim, Row, Test

_DEFAULT_SLACK = {
    "rel": 1e-6,
    "abs": 1e-12,
    "rel_tol": 1e-9,
    "rtol": 1e-5,
    "atol": 1e-8,
    "places": -7.0,
    "digits": -2.0,
}


def weigh(file: str, old: Test, new: Test, planned: bool, elsewhere: Collection[str] = frozenset()) -> Iterator[Harm]:
    """What a test lost; where its file is part of the plan, it may expect something else.

    `elsewhere` are the claims of new tests: what went there is not lost.
    """
    yield from skipped(file, old, new)
    yield from _rows(file, old, new, planned)
    yield from _claims(file, old, new, planned, elsewhere)


def skipped(file: str, old: Test | None, new: Test) -> Iterator[Harm]:
    """Marks that a test did not have; a new test may have conditions."""
    known = {mark.key for mark in old.marks} if old else set()
    if old and any(mark.sure and mark.rule == "skipped_test" for mark in old.marks):
        known |= {mark.key for mark in new.marks if mark.rule == "skipped_test"}
    for mark in new.marks:
        if mark.key not in known and (old or mark.sure):
            whose = mark.owner or new.short
            yield Harm(mark.rule, f"{whose} {_now(mark.what, bool(old))}", file, mark.line, mark.quote)


def hollow(file: str, new: Test) -> Iterator[Harm]:
    """What a new test does not claim."""
    if any(mark.sure for mark in new.marks):
        return
    yield from (_always(file, new, claim) for claim in new.claims if claim.always and not _is_aside(claim, new))
    if not new.real and not new.smoke and not any(claim.always for claim in new.claims):
        why = "swallows all its assertions" if new.claims else "asserts nothing"
        yield Harm("empty_test", f"{new.short} is new and {why}", file, new.line, new.quote)


def _is_aside(claim: Claim, test: Test) -> bool:
    """Whether a test that claims more says that something comes out the same twice."""
    return bool(test.real) and "(" in claim.subject and claim.expected == f"== {claim.subject}"


def _now(what: str, existed: bool) -> str:
    verb, _, rest = what.partition(" ")
    return f"{verb} now {rest}" if existed and verb == "is" else f"now {what}" if existed else f"is new, and {what}"


def _rows(file: str, old: Test, new: Test, planned: bool) -> Iterator[Harm]:
    if old.rows is None or new.rows is None or new.many:
        return
    lost, left = [], list(new.rows)
    for row in old.rows:
        same = next((each for each in left if each.values == row.values), None) or next(
            (each for each in left if _holds(each, row)), None
        )
        if same:
            left.remove(same)
        else:
            lost.append(row)
    if len(new.rows) < len(old.rows):
        said = _said(lost)
        fewer = len(old.rows) - len(new.rows)
        message = f"{new.short} is run with {fewer} set{'s' if fewer > 1 else ''} of values fewer{said}"
        yield Harm("weakened_test", message, file, new.line, new.quote)
    elif lost and left and not planned:
        message = f"{new.short} was run with {', '.join(lost[0].values)} and now with {', '.join(left[0].values)}"
        yield Harm("changed_expectation", message, file, left[0].line, left[0].quote)


def _holds(new: Row, old: Row) -> bool:
    left = list(new.values)
    for value in old.values:
        if value not in left:
            return False
        left.remove(value)
    return len(new.values) > len(old.values)


def _said(rows: Sequence[Row]) -> str:
    return f": {', '.join(rows[0].values)} is gone" if rows else ""


def _claims(file: str, old: Test, new: Test, planned: bool, elsewhere: Collection[str]) -> Iterator[Harm]:
    if any(mark.sure for mark in new.marks):
        return
    pairs, lost, fresh = _matched(old, new, elsewhere)
    for before, now in pairs:
        harm = _weaker(file, new, before, now, planned)
        if harm:
            yield harm
    yield from (_always(file, new, claim) for claim in fresh if claim.always and not _is_aside(claim, new))
    if old.real and not new.real:
        if not any(claim.always or claim.swallowed for claim in new.claims) and not new.smoke:
            yield Harm("empty_test", f"{new.short} no longer asserts anything", file, new.line, new.quote)
        return
    lost = [claim for claim in lost if not claim.always and not claim.swallowed and claim.least]
    often, times = (1, 1) if old.rows and new.rows else (new.times[1], old.times[0])
    if not lost or sum(c.most for c in new.real) * often >= sum(c.least for c in old.real) * times:
        return
    gone = f"“{lost[0].quote}” is gone"
    fewer = f"{len(lost)} assertion{'s' if len(lost) > 1 else ''}"
    yield Harm("weakened_test", f"{new.short} has lost {fewer}: {gone}", file, lost[0].line, lost[0].quote)


def _matched(
    old: Test, new: Test, elsewhere: Collection[str]
) -> tuple[list[tuple[Claim, Claim]], list[Claim], list[Claim]]:
    """Claims that are the same or took another's place, those that are gone, and those that are new."""
    pairs: list[tuple[Claim, Claim]] = []
    lost, fresh = list(old.claims), list(new.claims)
    for test in (_says_the_same, _is_about_the_same):
        for before in list(lost):
            found = next((now for now in fresh if test(before, now)), None)
            if found:
                pairs.append((before, found))
                lost.remove(before)
                fresh.remove(found)
    lost = [claim for claim in lost if claim.text not in elsewhere and not _within(claim, new)]
    if is_table(new):
        tabled = {shape(claim, new.names) for claim in new.real}
        lost = [claim for claim in lost if shape(claim, old.names) not in tabled or not keeps_values(claim, new)]
        if len(lost) < len(old.claims) - len(pairs):
            before_shapes = {shape(claim, old.names) for claim in old.claims}
            fresh = [claim for claim in fresh if shape(claim, new.names) not in before_shapes]
    lost, fresh = _nearest(pairs, lost, fresh)
    return pairs, lost, fresh


def _says_the_same(old: Claim, new: Claim) -> bool:
    return old.text == new.text


def _is_about_the_same(old: Claim, new: Claim) -> bool:
    return old.subject == new.subject and not old.called and not new.called


def _nearest(
    pairs: list[tuple[Claim, Claim]], lost: list[Claim], fresh: list[Claim]
) -> tuple[list[Claim], list[Claim]]:
    """Pairs what is left by likeness; a call that asserts for the test stands for more than one claim."""
    near = sorted(
        (
            (-SequenceMatcher(None, a.text[:300], b.text[:300], autojunk=False).ratio(), at, of)
            for at, a in enumerate(lost[:30])
            for of, b in enumerate(fresh[:30])
            if not a.called and not b.called
        ),
    )
    taken: set[int] = set()
    given: set[int] = set()
    for _, at, of in near:
        if at not in taken and of not in given:
            taken.add(at)
            given.add(of)
            pairs.append((lost[at], fresh[of]))
    return (
        [claim for at, claim in enumerate(lost) if at not in taken],
        [claim for of, claim in enumerate(fresh) if of not in given],
    )


def _weaker(file: str, test: Test, old: Claim, new: Claim, planned: bool) -> Harm | None:
    if new.always and not old.always:
        return _always(file, test, new)
    if old.always or old.swallowed:
        return None
    if new.swallowed:
        message = f"{test.short} swallows the failure of its assertion “{new.quote}”"
        return Harm("weakened_test", message, file, new.line, new.quote)
    same = old.subject == new.subject and old.expected == new.expected
    if new.rank < old.rank and not same:
        about = (
            f"asserts exactly what it did about {_short(old.subject)}"
            if old.subject != "raises"
            else "expects the same error"
        )
        message = f"{test.short} no longer {about}: {_became(old, new)}"
        return Harm("weakened_test", message, file, new.line, new.quote)
    if _looser(old, new):
        message = f"{test.short} tolerates more than before: {_slack(new)} instead of {_slack(old)}"
        return Harm("weakened_test", message, file, new.line, new.quote)
    if old.expected != new.expected and not planned and not new.called:
        message = f"{test.short} expects something else: {_change(old, new)}"
        return Harm("changed_expectation", message, file, new.line, new.quote)
    return None


def _became(old: Claim, new: Claim) -> str:
    if old.form != new.form and "or" not in (old.form, new.form):
        return f"{old.form} became {new.form}"
    return _change(old, new)


def _change(old: Claim, new: Claim) -> str:
    """What became of a claim; by its values where its first line does not show them."""
    if old.quote != new.quote and not new.quote.endswith(("(", "[", "{")):
        return f"“{old.quote}” became “{new.quote}”"
    one, two = old.expected, new.expected
    start = next((at for at, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), 0)
    cut = max(0, start - 30)
    return f"{_short(new.subject)} was {'…' * (cut > 0)}{_short(one[cut:])} and is {'…' * (cut > 0)}{_short(two[cut:])}"


def _looser(old: Claim, new: Claim) -> bool:
    before, now = dict(old.slack), dict(new.slack)
    kind = "rel" if old.rank == 3 else ""
    for name, value in now.items():
        known = before.get(name, _DEFAULT_SLACK.get(name, 1e-6 if kind else value))
        if value > known:
            return True
    return any(
        name in ("places", "digits") and name not in now and value < _DEFAULT_SLACK[name]
        for name, value in before.items()
    )


def _slack(claim: Claim) -> str:
    return ", ".join(f"{name} {abs(value):g}" for name, value in claim.slack) or "none given"


def _within(claim: Claim, new: Test) -> bool:
    """Whether a claim about a part is now made about the whole."""
    return any(
        other.rank >= 3
        and claim.subject.startswith((f"{other.subject}.", f"{other.subject}[", f"len({other.subject})"))
        for other in new.real
        if other.subject
    )


def _always(file: str, test: Test, claim: Claim) -> Harm:
    return Harm(
        "always_true", f"{test.short} asserts what is always true: “{claim.quote}”", file, claim.line, claim.quote
    )


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:59]}…"
