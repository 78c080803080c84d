"""How the time of a run looks in a terminal: a line for each command, step and part, with its begin, its length and a bar."""

from collections.abc import Iterator, Sequence

from agentd.model.stamp import CHILDREN, Part
from agentd.model.waterfall import Command, Step, Waterfall

BAR = 30
NAME = 34
# Parts below this share of their command are shown together.
LEAST = 0.01
WORDS = {
    "agent": "agents",
    "project": "the project's own commands",
    "person": "waiting for a person",
    "agentd": "agentd itself",
    "between": "between commands",
}


def rows(found: Waterfall) -> Iterator[str]:
    """The waterfall, command by command, and whose the time was."""
    for command in found.commands:
        if command.gap:
            why = "waiting for a person" if command.for_person else "between commands"
            yield f"({length(command.gap)} {why})"
        yield f"{command.name}  {command.at[:19]}  {length(command.seconds)}"
        if command.uncounted:
            yield f"  (by the time of day {length(abs(command.uncounted))} {'more' if command.uncounted > 0 else 'less'}: a sleep, or a clock that was set)"
        start = command.parts[-1].end if command.parts else 0.0
        if start:
            yield row("start", 0.0, start, command.seconds, 1)
        yield from _parts(command.parts, command, 2)
        for step in command.steps:
            yield from _step(step, command, 1)
        yield f"  {shares(command.totals())}"
    if found.commands:
        yield f"Total: {shares(found.totals())}"
    if found.unstamped:
        lines = "1 line" if found.unstamped == 1 else f"{found.unstamped} lines"
        yield f"Not recorded: the times of {lines} of the diary."


def _step(step: Step, command: Command, depth: int) -> Iterator[str]:
    if step.outcome == "skip" and step.end - step.start < command.seconds * LEAST:
        return
    yield row(f"{step.name} {step.outcome}".rstrip(), step.start, step.end, command.seconds, depth)
    yield from _parts(step.parts, command, depth + 1)
    for child in step.children:
        yield row(child.name, child.start, child.end, command.seconds, depth + 1)
        for inner in child.steps:
            yield from _step(inner, command, depth + 2)


def _parts(parts: Sequence[Part], command: Command, depth: int) -> Iterator[str]:
    least = command.seconds * LEAST
    for part in parts:
        if part.end - part.start < least or part.name == CHILDREN:
            continue
        yield row(f"{part.name} {part.about}".rstrip(), part.start, part.end, command.seconds, depth)
        for one in part.inner:
            if one.end - one.start >= least:
                yield row(one.name, one.start, one.end, command.seconds, depth + 1)


def row(name: str, start: float, end: float, whole: float, depth: int) -> str:
    """One line; the bar lies in the whole as the time does."""
    title = "  " * depth + " ".join(name.split())
    title = title if len(title) <= NAME else title[: NAME - 1] + "…"
    whole = whole or 1.0
    before = min(BAR - 1, int(start / whole * BAR))
    wide = max(1, min(BAR - before, round((end - start) / whole * BAR)))
    return f"{title:<{NAME}} {length(start):>10} {length(end - start):>10}  {' ' * before}{'█' * wide}"


def shares(totals: dict[str, float]) -> str:
    """Whose the time was, without those that had none."""
    return (
        ", ".join(f"{WORDS[name]} {length(seconds)}" for name, seconds in totals.items() if seconds >= 0.0005)
        or "nothing"
    )


def length(seconds: float) -> str:
    """A length of time with about three digits."""
    if seconds < 1:
        return f"{seconds * 1000:.0f} ms"
    if seconds < 60:
        return f"{seconds:.2f} s"
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    days, hours = divmod(hours, 24)
    if days:
        return f"{days} d {hours:02} h"
    return f"{hours} h {minutes:02} min" if hours else f"{minutes} min {rest:02} s"
