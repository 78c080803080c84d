"""What agentd will run as tests, lint, types and audit of this project, and which of it is there. Runs none of it."""

from collections.abc import Iterator

from agentd.calling.doctor.findings import Found
from agentd.evidence.detection import detect
from agentd.evidence.installation import absent_launchers, lacking, remedy
from agentd.model.command import KINDS, Command
from agentd.runs.project import Project

SET = '${EDITOR:-vi} agentd/config.toml   # [evidence] test = "make test"'


def check_commands(project: Project) -> Iterator[Found]:
    """Each command by its kind; only tests that cannot run keep `impl` waiting for an answer."""
    detected = detect(project.root, absent_launchers())
    for kind in KINDS:
        said = project.config.commands(kind)
        listed = [one for one in detected if one.kind == kind] if said is None else said
        for one in listed:
            yield _found(project, one)
        if not listed and kind == "test":
            yield Found("evidence", kind, "warning", "there is no test command; impl will ask", SET)


def _found(project: Project, one: Command) -> Found:
    lacks = lacking(one, project.root)
    facts = {"command": one.name, "source": one.source or "agentd/config.toml", "lacks": lacks or None}
    told = f"{one.name} (from {facts['source']})"
    if not lacks:
        return Found("evidence", one.kind, "ok", told, facts=facts)
    if one.kind == "test":
        told += f": {lacks} is not installed; impl will ask"
        return Found("evidence", one.kind, "warning", told, remedy(one, project.root), facts)
    return Found(
        "evidence", one.kind, "ok", f"{told}: not run, {lacks} is not installed", remedy(one, project.root), facts
    )
