"""`agentd validate`: check the documents of changes and the spec library."""

import os

import click

from agentd import workers
from agentd.cli.driving import project_for
from agentd.cli.face import json_option, plain, project_here
from agentd.cli.output import tell
from agentd.errors import UsageError
from agentd.families.change import validation
from agentd.families.change.validation import Validation


@click.command()
@click.argument("change", default="")
@click.option("--specs", is_flag=True, help="Check only the spec library, agentd/specs/.")
@click.option("--strict", is_flag=True, help="Fail on any finding, not only on one of severity High.")
@click.option("--fix", is_flag=True, help="Put right what needs no person, and fill in missing headings and scenarios.")
@click.option(
    "--verbose", is_flag=True, help="Name every file that was checked, and those not checked since they changed."
)
@json_option
def command(change: str, specs: bool, strict: bool, fix: bool, verbose: bool, as_json: bool) -> int:
    """Check the documents of CHANGE, or of all active changes and the spec library. No agent is called."""
    if change and specs:
        raise UsageError("A change and --specs cannot be checked at once.", f"agentd validate {change}")
    project = project_for(as_json) if fix else project_here(as_json)
    if change:
        found = validation.validate_change(project, change, fix)
    elif specs:
        found = validation.validate_library(project, fix)
    else:
        found = validation.validate_all(project, fix, workers.available())
    if project.interrupted.is_set():  # Python has lost the exception that the signal raised
        raise project.interruption()
    code = 0 if (found.strict if strict else found.valid) and not found.held else 1
    return tell(as_json, found.to_data(), lines(found, str(project.root), verbose), code)


def lines(found: Validation, root: str, verbose: bool) -> list[str]:
    """What a person reads: one line a finding, each with its fix, and the counts."""

    def path(name: str) -> str:
        return plain(os.path.join(root, name))

    told = [f"{path(name)}: checked" for name in found.files] if verbose else []
    told += [f"{path(name)}: changed since it was last recorded" for name in found.stale_files] if verbose else []
    told += [f"{path(name)}: fixed" for name in found.fixed]
    told += [f"not fixed: {why}" for why in found.held]
    for finding in found.findings:
        told.append(f"{path(finding.file)}:{finding.line}: {finding.severity} {finding.rule}: {finding.message}")
        told.append(f"  Fix: {finding.fix}")
    counts = ", ".join(f"{count} {severity.capitalize()}" for severity, count in found.counts.items())
    return [*told, f"{len(found.files)} documents: {counts}"]
