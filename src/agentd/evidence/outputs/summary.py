"""What an output says in numbers and cases, and the sum of several. Values only."""

from collections.abc import Iterable, Sequence

from agentd.model.evidence import Case, Counts
from agentd.values import dataclass


@dataclass(frozen=True)
class Summary:
    """`counts` is None if nothing was counted; `nothing`: the output says that there was nothing to run.

    `trouble` is why an audit could not audit, or what a command that counted nothing could not start.
    """

    counts: Counts | None = None
    cases: tuple[Case, ...] = ()
    nothing: bool = False
    trouble: str = ""


def tally(passed: int, failed: int, skipped: int, total: int = 0) -> Counts:
    """Counts that add up: the total is never less than its parts."""
    return Counts(max(total, passed + failed + skipped), passed, failed, skipped)


def tally_of(total: int, failed: int, skipped: int) -> Counts:
    """Counts of which the output gives the total, and not what passed."""
    return tally(max(0, total - failed - skipped), failed, skipped, total)


def counted(cases: Iterable[Case]) -> Counts:
    """The counts of cases by their status."""
    statuses = [case.status for case in cases]
    return tally(statuses.count("passed"), statuses.count("failed"), statuses.count("skipped"))


def summed(counts: Sequence[Counts]) -> Counts:
    """The sum of counts."""
    return Counts(
        sum(each.total for each in counts),
        sum(each.passed for each in counts),
        sum(each.failed for each in counts),
        sum(each.skipped for each in counts),
    )


def summarized(counts: Sequence[Counts], cases: Iterable[Case] = ()) -> Summary:
    """The summary of a runner: the counts that it gives, else those of the cases that it names."""
    found = tuple(cases)
    total = summed(counts) if counts else counted(found)
    return Summary(total, found, nothing=total.total == 0)


def merged(summaries: Sequence[Summary]) -> Summary:
    """Several summaries as one. Nothing was collected only if no runner counted anything."""
    counts = [each.counts for each in summaries if each.counts is not None]
    total = summed(counts) if counts else None
    nothing = any(each.nothing for each in summaries) and (total is None or total.total == 0)
    cases = tuple(case for each in summaries for case in each.cases)
    return Summary(total, cases, nothing, next((each.trouble for each in summaries if each.trouble), ""))
