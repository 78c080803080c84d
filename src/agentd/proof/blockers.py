"""What keeps an implementation from being approved, by what agentd saw alone. Nothing a reviewer says is looked at here."""

from collections.abc import Collection, Iterable, Sequence
from typing import Literal

from agentd.model.command import Kind
from agentd.model.evidence import Case, Evidence, Result
from agentd.values import dataclass

Why = Literal["red", "none", "fewer", "unknown", "harm"]
NO_TESTS = "test:"
NAMED = 5
WAIVABLE: tuple[Why, ...] = ("unknown", "harm")
WORDS = {"test": "tests", "lint": "lint", "types": "type check", "audit": "security audit"}


@dataclass(frozen=True)
class Blocker:
    """One reason. `id` is what a person's waiver names; red, nothing collected and fewer tests cannot be waived."""

    why: Why
    id: str
    text: str


def blockers(now: Evidence, baseline: Evidence | None, waived: Collection[str] = ()) -> tuple[Blocker, ...]:
    """Everything in the way of an approval of exactly the tree that was looked at."""
    found = [*_tests(now, baseline), *_others(now, baseline)]
    found += [Blocker("harm", harm.id, f"{_place(harm.file, harm.line)}: {harm.message}") for harm in now.harms]
    return tuple(one for one in found if one.why not in WAIVABLE or one.id not in waived)


def wanting(baseline: Evidence) -> tuple[Blocker, ...]:
    """What is not as it should be before anything was changed: a person decides whether to begin all the same."""
    missing = [] if _of(baseline, "test") else [Blocker("unknown", NO_TESTS, "there is no test command")]
    return (*missing, *(_blocker(one) for one in _of(baseline, "test") if one.status != "green"))


def status(found: Sequence[Blocker]) -> str:
    """The worst of it in one word."""
    return next(
        (why for why in ("red", "none", "fewer", "unknown", "harm") if any(b.why == why for b in found)), "green"
    )


def in_words(result: Result) -> str:
    """What a command came to, in one line."""
    counts = result.counts
    told = f"exit {result.exit_code}" if result.exit_code is not None else ""
    if counts and result.command.kind == "test":
        parts = [f"{counts.passed} passed", f"{counts.failed} failed"]
        told = ", ".join([*parts, *([f"{counts.skipped} skipped"] if counts.skipped else [])])
    elif counts and counts.failed:
        told = f"{counts.failed} problem{'s' if counts.failed > 1 else ''}"
    if result.status == "unknown" and result.command.kind != "test" and result.note:
        told = ""
    return f"{WORDS[result.command.kind]} {_colour(result)}: " + "; ".join(filter(None, (told, result.note)))


def _colour(result: Result) -> str:
    unknown = {"test": "could not run", "audit": "could not audit"}.get(result.command.kind, "not run")
    said = {"none": "collected nothing", "unknown": unknown}
    return said.get(result.status, result.status)


def _tests(now: Evidence, baseline: Evidence | None) -> Iterable[Blocker]:
    results = _of(now, "test")
    if not results:
        yield Blocker("unknown", NO_TESTS, "there is no test command")
    known = _failing(_of(baseline, "test"))
    for one in results:
        if one.status != "green" and not _all_known(one, known):
            yield _blocker(one)
    before, after = _executed(_of(baseline, "test")), _executed(results)
    if before is not None and after is None:
        yield Blocker("fewer", "", f"{before} tests ran before the change, and now the output names none")
    elif before is not None and after is not None and after < before:
        yield Blocker("fewer", "", f"fewer tests than before the change: {after}, were {before}")


def _others(now: Evidence, baseline: Evidence | None) -> Iterable[Blocker]:
    """Linters, type checkers and audits: what was wrong before is not held against the change, nor what could not run."""
    kinds: tuple[Kind, ...] = ("lint", "types", "audit")
    for kind in kinds:
        before = {one.command: one for one in _of(baseline, kind)}
        for one in _of(now, kind):
            was = before.get(one.command)
            ran = was is not None and was.status != "unknown"
            if (one.status == "unknown" and ran) or (one.status == "red" and not _no_worse(one, was)):
                yield _blocker(one)


def _no_worse(now: Result, was: Result | None) -> bool:
    if was is None or was.status != "red" or now.counts is None or was.counts is None:
        return was is not None and was.status == "red" and now.counts is None
    return now.counts.failed <= was.counts.failed and {c.name for c in now.cases} <= {c.name for c in was.cases}


def _blocker(one: Result) -> Blocker:
    why: Why = "red" if one.status == "green" else one.status
    failing = [f"{case.name} ({_place(case.file, case.line)})" if case.file else case.name for case in _failed(one)]
    more = f" and {len(failing) - NAMED} more" if len(failing) > NAMED else ""
    listed = f": {', '.join(failing[:NAMED])}{more}" if failing else ""
    command = "" if why == "red" else f" ({one.command.name})"
    return Blocker(why, f"{one.command.kind}:{one.command.name}", f"{in_words(one)}{command}{listed}")


def _all_known(one: Result, known: Collection[str]) -> bool:
    """Whether a red run shows no failure that was not there before; what it does not name may be any."""
    failing = _failed(one)
    named = one.status == "red" and failing and one.counts is not None and one.counts.failed <= len(failing)
    return bool(named) and {case.name for case in failing} <= set(known)


def _failing(results: Iterable[Result]) -> frozenset[str]:
    return frozenset(case.name for one in results for case in _failed(one))


def _failed(one: Result) -> list[Case]:
    return [case for case in one.cases if case.status == "failed"]


def _executed(results: Sequence[Result]) -> int | None:
    """How many tests ran, not counting those that were skipped; None where no output tells."""
    counts = [one.counts for one in results if one.counts is not None]
    return sum(count.passed + count.failed for count in counts) if counts else None


def _of(evidence: Evidence | None, kind: Kind) -> list[Result]:
    return [one for one in evidence.results if one.command.kind == kind] if evidence else []


def _place(file: str, line: int) -> str:
    return f"{file}:{line}" if line else file
