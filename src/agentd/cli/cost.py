"""`agentd cost`: what agent calls cost, by run, by step or by model."""

import click

from agentd.cli.face import json_option, project_here
from agentd.cli.output import tell
from agentd.cli.run_rows import FIRST
from agentd.runs.costs import Costs, Row, costs, dollars


@click.command()
@click.argument("run", default="")
@click.option(
    "--by", type=click.Choice(["step", "model"]), default=None, help="One line for each step or model, not each run."
)
@json_option
def command(run: str, by: str | None, as_json: bool) -> int:
    """What the agent calls of RUN cost, or those of every run. A cost that nobody knows is shown as unknown."""
    project = project_here(as_json)
    found = costs(project, run, by or "")
    follow = next_command(found, run)
    lines = table(found) if found.rows else []
    lines += [f"{entry.name}: unreadable, {entry.error.message}" for entry in found.unreadable]
    lines = lines or [f"No {'agent calls' if run or by else 'runs'} in {run or project.root}."]
    return tell(as_json, {**found.to_data(), "next": follow}, [*lines, f"Next: {follow}"], 1 if found.unreadable else 0)


def next_command(found: Costs, run: str) -> str:
    """What a person looks at next."""
    if found.unreadable:
        return found.unreadable[0].error.fix
    if run:
        return f"agentd status {run}" if found.by else f"agentd cost {run} --by step"
    if not found.rows:
        return FIRST
    dearest = max(found.rows, key=lambda row: (row.cost or 0.0, row.calls))
    return "agentd cost" if found.by else f"agentd cost {dearest.name} --by step"


def table(found: Costs) -> list[str]:
    """The rows under their titles, the figures aligned to the right; by step also what was written and answered."""
    rows = [*found.rows, *([found.total] if len(found.rows) > 1 else [])]
    titles = [found.by or "run", "calls", "tokens in", "cached", "tokens out", "cost"]
    lines = [titles, *([row.name, *figures(row), cost(row)] for row in rows)]
    if found.by:
        titles[2:2], titles[-1:-1] = ["bytes in"], ["bytes out"]
        for line, row in zip(lines[1:], rows, strict=True):
            line[2:2], line[-1:-1] = [amount(row.bytes_in)], [amount(row.bytes_out)]
    widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
    return ["  ".join((line[0].ljust(widths[0]), *map(str.rjust, line[1:], widths[1:]))).rstrip() for line in lines]


def figures(row: Row) -> tuple[str, ...]:
    tokens = (amount(number) or "unknown" for number in (row.tokens_in, row.tokens_out))
    tokens_in, tokens_out = tokens if row.calls else ("0", "0")
    return (str(row.calls), tokens_in, amount(row.cached_in), tokens_out)


def amount(number: int | None) -> str:
    return "" if number is None else f"{number:,}"


def cost(row: Row) -> str:
    """A cost in dollars, with as many calls as nobody knows the cost of."""
    if row.cost is None:
        return "unknown"
    return dollars(row.cost) + (f" + {row.unknown} unknown" if row.unknown else "")
