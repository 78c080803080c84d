"""Compares a test with what it was: whether it still runs, still claims as much, as exactly, and the same."""

from collections.abc import Collection, Iterator

from agentd.model.evidence import Harm
from agentd.proof.integrity.claim_pairs import pair_claims
from agentd.proof.integrity.parsed import Claim, Row, Test
from agentd.proof.integrity.rules import SKIPPED

_DEFAULT_TOLERANCES = {"rel": 1e-6, "abs": 1e-12, "rel_tol": 1e-9, "rtol": 1e-5, "atol": 1e-8}
_DEFAULT_PRECISIONS = {"places": -7.0, "digits": -2.0}


def compare(file: str, old: Test, new: Test, planned: bool, elsewhere: Collection[str] = frozenset()) -> Iterator[Harm]:
    """What a test lost; if its file is part of the plan, it may expect something else.

    `elsewhere` are the claims of new tests: what went there is not lost.
    """
    yield from skipped(file, old, new)
    yield from _rows(file, old, new, planned)
    yield from _claims(file, old, new, planned, elsewhere)


def skipped(file: str, old: Test | None, new: Test) -> Iterator[Harm]:
    """Marks that a test did not have; a new test may have conditions."""
    known = {mark.key for mark in old.marks} if old else set()
    if old and any(mark.sure and mark.rule == SKIPPED for mark in old.marks):
        known |= {mark.key for mark in new.marks if mark.rule == "skipped_test"}
    for mark in new.marks:
        if mark.key not in known and (old or mark.sure):
            whose = mark.owner or new.short
            yield Harm(mark.rule, f"{whose} {_now(mark.what, bool(old))}", file, mark.line, mark.quote)


def hollow(file: str, new: Test) -> Iterator[Harm]:
    """A new test that proves nothing."""
    if any(mark.sure for mark in new.marks):
        return
    yield from _always(file, new, new.claims)
    if not new.real and not new.smoke and not any(claim.always for claim in new.claims):
        why = "swallows all its assertions" if new.claims else "asserts nothing"
        yield Harm("empty_test", f"{new.short} is new and {why}", file, new.line, new.quote)


def _now(what: str, existed: bool) -> str:
    verb, _, rest = what.partition(" ")
    return f"{verb} now {rest}" if existed and verb == "is" else f"now {what}" if existed else f"is new, and {what}"


def _rows(file: str, old: Test, new: Test, planned: bool) -> Iterator[Harm]:
    if old.rows is None or new.rows is None or new.many:
        return
    lost, left = [], list(new.rows)
    for row in old.rows:
        equal = (each for each in left if each.values == row.values)
        wider = (each for each in left if _extends(each, row))
        if same := next(equal, None) or next(wider, None):
            left.remove(same)
        else:
            lost.append(row)
    fewer = len(old.rows) - len(new.rows)
    if fewer > 0:
        said = f": {', '.join(lost[0].values)} is gone" if lost else ""
        message = f"{new.short} is run with {fewer} set{'s' if fewer > 1 else ''} of values fewer{said}"
        yield Harm("weakened_test", message, file, new.line, new.quote)
    elif lost and left and not planned:
        message = f"{new.short} was run with {', '.join(lost[0].values)} and now with {', '.join(left[0].values)}"
        yield Harm("changed_expectation", message, file, left[0].line, left[0].quote)


def _extends(new: Row, old: Row) -> bool:
    """Whether a row has all values of another, and more."""
    left = list(new.values)
    for value in old.values:
        if value not in left:
            return False
        left.remove(value)
    return bool(left)


def _claims(file: str, old: Test, new: Test, planned: bool, elsewhere: Collection[str]) -> Iterator[Harm]:
    if any(mark.sure for mark in new.marks):
        return
    pairs, lost, fresh = pair_claims(old, new, elsewhere)
    for before, now in pairs:
        yield from _weaker(file, new, before, now, planned)
    yield from _always(file, new, fresh)
    if old.real and not new.real:
        if not any(claim.always or claim.swallowed for claim in new.claims) and not new.smoke:
            yield Harm("empty_test", f"{new.short} no longer asserts anything", file, new.line, new.quote)
        return
    lost = [claim for claim in lost if not claim.always and not claim.swallowed and claim.least]
    often, times = (1, 1) if old.rows and new.rows else (new.times[1], old.times[0])
    if lost and sum(c.most for c in new.real) * often < sum(c.least for c in old.real) * times:
        fewer = f"{len(lost)} assertion{'s' if len(lost) > 1 else ''}"
        message = f"{new.short} has lost {fewer}: “{lost[0].quote}” is gone"
        yield Harm("weakened_test", message, file, lost[0].line, lost[0].quote)


def _always(file: str, test: Test, claims: Collection[Claim]) -> Iterator[Harm]:
    """Claims that are always true; a test that claims more may say that something comes out the same twice."""
    for claim in claims:
        twice = bool(test.real) and "(" in claim.subject and claim.expected == f"== {claim.subject}"
        if claim.always and not twice:
            yield _always_true(file, test, claim)


def _always_true(file: str, test: Test, claim: Claim) -> Harm:
    message = f"{test.short} asserts what is always true: “{claim.quote}”"
    return Harm("always_true", message, file, claim.line, claim.quote)


def _weaker(file: str, test: Test, old: Claim, new: Claim, planned: bool) -> Iterator[Harm]:
    if new.always and not old.always:
        yield _always_true(file, test, new)
    elif not old.always and not old.swallowed and (found := _lost(old, new, planned)):
        rule, message = found
        yield Harm(rule, f"{test.short} {message}", file, new.line, new.quote)


def _lost(old: Claim, new: Claim, planned: bool) -> tuple[str, str] | None:
    """The rule that a changed claim breaks, and how."""
    if new.swallowed:
        return "weakened_test", f"swallows the failure of its assertion “{new.quote}”"
    same = old.subject == new.subject and old.expected == new.expected
    if new.rank < old.rank and not same:
        exact = f"asserts exactly what it did about {_short(old.subject)}"
        about = "expects the same error" if old.subject == "raises" else exact
        forms = old.form != new.form and "or" not in (old.form, new.form)
        became = f"{old.form} became {new.form}" if forms else _change(old, new)
        return "weakened_test", f"no longer {about}: {became}"
    if _looser(old, new):
        return "weakened_test", f"tolerates more than before: {_tolerances(new)} instead of {_tolerances(old)}"
    if old.expected != new.expected and not planned and not new.called:
        return "changed_expectation", f"expects something else: {_change(old, new)}"
    return None


def _change(old: Claim, new: Claim) -> str:
    """What became of a claim; by its values where its first line does not show them."""
    if old.quote != new.quote and not new.quote.endswith(("(", "[", "{")):
        return f"“{old.quote}” became “{new.quote}”"
    one, two = old.expected, new.expected
    start = next((at for at, (a, b) in enumerate(zip(one, two, strict=False)) if a != b), 0)
    cut = max(0, start - 30)
    return f"{_short(new.subject)} was {'…' * (cut > 0)}{_short(one[cut:])} and is {'…' * (cut > 0)}{_short(two[cut:])}"


def _looser(old: Claim, new: Claim) -> bool:
    before, now = dict(old.tolerances), dict(new.tolerances)
    defaults = {**_DEFAULT_TOLERANCES, **_DEFAULT_PRECISIONS}
    for name, value in now.items():
        if value > before.get(name, defaults.get(name, 1e-6 if old.rank == 3 else value)):
            return True
    return any(
        before[name] < usual for name, usual in _DEFAULT_PRECISIONS.items() if name in before and name not in now
    )


def _tolerances(claim: Claim) -> str:
    return ", ".join(f"{name} {abs(value):g}" for name, value in claim.tolerances) or "none given"


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 60 else f"{line[:59]}…"
