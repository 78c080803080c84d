"""What one reader found in an output, and the sum of several. Values only."""

from collections.abc import Iterable
from dataclasses import dataclass

from agentd.model.evidence import Case, Counts


@dataclass(frozen=True)
class Summary:
    """`counts` is None where nothing was counted; `nothing`: it says itself that there was nothing to run.

    `trouble` is why an audit could not audit, or what a command that counted nothing could not start.
    """

    counts: Counts | None = None
    cases: tuple[Case, ...] = ()
    nothing: bool = False
    trouble: str = ""


def tally(passed: int, failed: int, skipped: int, total: int = 0) -> Counts:
    """Counts that add up: the total is never less than its parts."""
    return Counts(max(total, passed + failed + skipped), passed, failed, skipped)


def counted(cases: Iterable[Case]) -> Counts:
    """The counts of the cases by their status."""
    statuses = [case.status for case in cases]
    return tally(statuses.count("passed"), statuses.count("failed"), statuses.count("skipped"))


def summed(counts: Iterable[Counts]) -> Counts:
    found = tuple(counts)
    return Counts(
        sum(each.total for each in found),
        sum(each.passed for each in found),
        sum(each.failed for each in found),
        sum(each.skipped for each in found),
    )


def added(readings: Iterable[Summary]) -> Summary:
    """All readings in one. Nothing was collected only if no reader counted anything."""
    found = tuple(readings)
    counts = [reading.counts for reading in found if reading.counts is not None]
    total = summed(counts) if counts else None
    nothing = any(reading.nothing for reading in found) and (total is None or total.total == 0)
    cases = tuple(case for reading in found for case in reading.cases)
    trouble = next((reading.trouble for reading in found if reading.trouble), "")
    return Summary(total, cases, nothing, trouble)
