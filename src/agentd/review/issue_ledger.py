"""The issues of a review loop across its rounds: new, open, fixed or reopened, and whether the loop converges.

Two issues are the same if one names the other's id, or if they are alike; the severity does not matter.
"""

from collections.abc import Sequence
from typing import Literal

from agentd.model.verdict import Issue, count
from agentd.review.similarity import ID, Said, likeness
from agentd.values import dataclass

State = Literal["new", "open", "fixed", "reopened"]


@dataclass(frozen=True)
class Entry:
    """One issue in its latest wording. `seen` has the rounds that reported it, from 1."""

    id: str
    issue: Issue
    state: State
    seen: tuple[int, ...]


def entries(rounds: Sequence[tuple[Issue, ...]]) -> tuple[Entry, ...]:
    """What became of every issue, in the order of their first appearance."""
    latest: list[Said] = []
    seen: list[list[int]] = []
    for number, issues in enumerate(rounds, 1):
        said = [Said(issue) for issue in issues]
        known = _matches(latest, seen, said)
        for at, one in enumerate(said):
            if at in known:
                latest[known[at]] = one
                seen[known[at]].append(number)
            else:
                latest.append(one)
                seen.append([number])
    return tuple(
        Entry(f"I{at}", one.issue, _state(named, len(rounds)), tuple(named))
        for at, (one, named) in enumerate(zip(latest, seen, strict=True), 1)
    )


def converging(entries: Sequence[Entry], rounds: Sequence[tuple[Issue, ...]]) -> str:
    """Why a loop does not converge, or nothing: an issue came back, or High and Medium issues did not become fewer."""
    again = [entry.id for entry in entries if entry.state == "reopened"]
    if again and len(rounds) >= 2:
        return f"{', '.join(again)} {'was' if len(again) == 1 else 'were'} fixed and came back"
    if len(rounds) < 3:
        return ""
    before, now = (sum(list(count(issues).values())[:2]) for issues in rounds[-2:])
    if 0 < now >= before:
        return f"the last revision left {now} High and Medium issue{'' if now == 1 else 's'}, after {before} before it"
    return ""


def table(entries: Sequence[Entry]) -> list[str]:
    """The entries as lines of a table."""
    rows = [(entry.id, entry.state, entry.issue.severity, _where(entry.issue), _told(entry)) for entry in entries]
    widths = [max((len(row[column]) for row in rows), default=0) for column in (0, 3)]
    return [
        f"{row[0]:<{widths[0]}}  {row[1]:<8}  {row[2]:<6}  {row[3]:<{widths[1]}}  {row[4]}".rstrip() for row in rows
    ]


def _matches(latest: Sequence[Said], seen: Sequence[Sequence[int]], said: Sequence[Said]) -> dict[int, int]:
    """The known entry for each issue of a round, by index; the surest matches are made first."""
    pairs = [
        (score, seen[old][-1], -old, -new)
        for new, one in enumerate(said)
        for old, before in enumerate(latest)
        if (score := likeness(one, before, f"I{old + 1}"))
    ]
    found: dict[int, int] = {}
    taken: set[int] = set()
    for _, _, old, new in sorted(pairs, reverse=True):
        if -new not in found and -old not in taken:
            found[-new] = -old
            taken.add(-old)
    return found


def _state(seen: Sequence[int], last: int) -> State:
    if seen[-1] != last:
        return "fixed"
    if len(seen) == 1:
        return "new"
    return "open" if seen[-2] == last - 1 else "reopened"


def _where(issue: Issue) -> str:
    line = f":{issue.line_number}" if issue.file_path and issue.line_number else ""
    return _short(issue.spec_reference or f"{issue.file_path}{line}" or issue.location, 40) or "-"


def _told(entry: Entry) -> str:
    issue = entry.issue
    title = _short(ID.sub("", issue.title) or ID.sub("", issue.description), 100)
    seen = f"(round{'s' if len(entry.seen) > 1 else ''} {', '.join(map(str, entry.seen))})"
    doubt = f" (ungrounded: {issue.ungrounded})" if issue.ungrounded else ""
    return f"{title} {seen}{doubt}".strip()


def _short(text: str, size: int) -> str:
    line = " ".join(text.split())
    return line if len(line) <= size else line[: size - 1].rstrip() + "…"
