"""Whether this machine can do what the configuration asks for: agents, roles, agentd's own tools, git, the sandbox.

Programs are started in a scratch folder and with a time limit; the project is only read.
"""

import tempfile
from collections.abc import Iterator
from pathlib import Path

from agentd.calling.doctor import agents, calls, machine, roles
from agentd.calling.doctor.found import Found as Found
from agentd.errors import BadConfig
from agentd.runs.project import Project


def examine(project: Project, unread: BadConfig | None = None, live: bool = False) -> Iterator[Found]:
    """Everything there is to say, each thing as soon as it is known; `live`: after a real call of each agent, too."""
    with tempfile.TemporaryDirectory(prefix="agentd-doctor-") as name:
        scratch = Path(name).resolve()
        parts = list(roles.cast(project))
        known: dict[str, Found] = {}
        for found in agents.look(project, parts, scratch):
            known[found.name] = found
            yield found
        yield from roles.judge(project, parts, known)
        yield from machine.look(project, scratch)
        yield from machine.configuration(project, unread)
        if live:
            yield from calls.make(project, parts, scratch)
