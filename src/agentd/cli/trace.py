"""`agentd trace`: what proves each requirement, and where nothing does."""

from collections.abc import Iterator
from textwrap import wrap

import click

from agentd.cli.face import json_option, project_here
from agentd.cli.output import tell
from agentd.cli.run_rows import FIRST
from agentd.families.change.trace import trace
from agentd.families.change.trace_model import Row, Seen, Trace, TracedFile, TracedTask, TracedTest, Traces

WIDTH = 100
INDENT = " " * 12


@click.command()
@click.argument("change", default="")
@click.option("--strict", is_flag=True, help="Exit with 1 if there is a gap.")
@json_option
def command(change: str, strict: bool, as_json: bool) -> int:
    """What proves each requirement of CHANGE, or of every change: its tasks, files, tests and evidence, and the gaps."""
    project = project_here(as_json)
    found = trace(project, change)
    follow = next_command(found, change)
    code = 1 if found.unreadable or (strict and found.gaps) else 0
    lines = [line for one in found.changes for line in lines_of(one)]
    lines += [f"{entry.name}: unreadable, {entry.error.message}" for entry in found.unreadable]
    if not lines:
        lines = [f"No changes in {project.root}."]
    elif not change:
        lines.append(totals(found))
    return tell(as_json, {"change": change, **found.to_data(), "next": follow}, [*lines, f"Next: {follow}"], code)


def next_command(found: Traces, change: str) -> str:
    """What a person looks at next."""
    if found.unreadable:
        return found.unreadable[0].error.fix
    if change:
        return f"agentd status {change}"
    wanting = [one.change for one in found.changes if any(row.gaps for row in one.rows)]
    if wanting:
        return f"agentd trace {wanting[0]}"
    return "agentd status" if found.changes else FIRST


def lines_of(one: Trace) -> Iterator[str]:
    """A change: its requirements one below the other, and what leads to none of them."""
    gaps = sum(bool(row.gaps) for row in one.rows)
    yield f"{one.change} (phase {one.phase}): " + (counted(len(one.rows), gaps) if one.rows else empty(one))
    for row in one.rows:
        yield ""
        yield from lines_of_row(row)
    if one.rows and one.missing:
        yield from ("", *part("missing", [f"the spec {name}, which is not written yet" for name in one.missing]))
    if one.strays:
        told = [f"{task.id} leads to no requirement (spec_ref {task.spec_ref})" for task in one.strays]
        yield from ("", *part("tasks", told))
    yield ""


def counted(requirements: int, gaps: int) -> str:
    many = f"{requirements} requirement{'' if requirements == 1 else 's'}"
    return f"{many}, {f'{gaps} with gaps' if gaps else 'no gaps'}"


def empty(one: Trace) -> str:
    """Why there is nothing to trace."""
    if one.missing:
        return f"nothing to trace yet, {', '.join(one.missing)} {'is' if len(one.missing) == 1 else 'are'} not written"
    return "it has no specs, so there is nothing to trace"


def lines_of_row(row: Row) -> Iterator[str]:
    """A requirement, and below it what leads from it to the evidence, link by link."""
    yield f"{row.spec}:{row.id}  {row.title}" + ("" if row.fresh else "  (as before the change)")
    if not row.fresh and not row.tasks:
        return
    yield from part("tasks", [", ".join(map(of_task, row.tasks)) or "none"])
    yield from part("files", list(dict.fromkeys(map(of_file, row.files))) or ["none"])
    yield from part("tests", [of_test(test) for test in row.tests] or ["none"])
    yield from part("evidence", list(of_evidence(row.evidence)) if row.evidence else ["none"])
    for gap in row.gaps:
        yield from part("✗", [f"{gap.why}: {gap.text}"])


def of_task(task: TracedTask) -> str:
    return f"{task.id} {task.status}" + (f" (waived by {task.waived_by})" if task.waived_by else "")


def of_file(file: TracedFile) -> str:
    return f"{file.path} {file.action}" + (", unchanged" if file.changed is False else "")


def of_test(test: TracedTest) -> str:
    how = {"task": test.task, "named": "names it", "via": f"via {test.task}"}[test.how]
    return f"{test.path} ({how})" + ("" if test.written else ", not written yet")


def of_evidence(seen: Seen) -> Iterator[str]:
    """What was seen of the tests, and what is to be said about it."""
    word = {"none": "did not run", "unknown": "could not run"}.get(seen.status, seen.status)
    counts = [f"{number} {what}" for number, what in counts_of(seen) if number]
    told = [f"{word}: {', '.join(counts)}" if counts else word]
    told += ["of the whole test command"] if seen.whole and counts else []
    told += [f"{'red' if seen.red_before else 'not red'} on the old code"] if seen.red_before is not None else []
    told += [f"waived by {seen.waived_by}"] if seen.waived_by else []
    told += ["stale"] if seen.stale else []
    yield "; ".join(told)
    for harm in seen.harms:
        yield f"{harm.id} {harm.message}" + (f", waived by {harm.waived_by}" if harm.waived_by else "")


def counts_of(seen: Seen) -> tuple[tuple[int, str], ...]:
    return (seen.passed, "passed"), (seen.failed, "failed"), (seen.skipped, "skipped")


def part(title: str, entries: list[str]) -> Iterator[str]:
    """A link of the chain: its title, then each entry on lines of its own, none of them too wide if it has spaces."""
    for number, entry in enumerate(entries):
        first = f"  {title:<10}" if not number else INDENT
        yield from wrap(
            entry,
            WIDTH,
            initial_indent=first,
            subsequent_indent=INDENT,
            break_long_words=False,
            break_on_hyphens=False,
        )


def totals(found: Traces) -> str:
    told = ", ".join(f"{number} {why}" for why, number in found.gaps.items())
    many = f"{len(found.changes)} change{'' if len(found.changes) == 1 else 's'}"
    rows = counted(len(found.rows), sum(bool(row.gaps) for row in found.rows))
    return f"Total: {many}, {rows}" + (f" ({told})" if told else "")
