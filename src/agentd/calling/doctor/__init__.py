"""Whether this machine can do what the configuration asks for: agents, roles, agentd's own tools, git, the sandbox.

Programs are started in a scratch folder and with a time limit; the project is only read.
"""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

from agentd.calling.doctor import agents, calls, machine, roles
from agentd.calling.doctor.found import Found as Found
from agentd.errors import BadConfig
from agentd.runs.config import read_config
from agentd.runs.project import Project, open_project
from agentd.state import layout


def open_anyway() -> tuple[Project, BadConfig | None]:
    """The project around the working folder; if its configuration cannot be read, with the defaults, and the reason."""
    try:
        return open_project(), None
    except BadConfig as error:
        defaults = read_config(Path(os.devnull), env={})
        return Project(layout.find_root(Path.cwd()), defaults), error


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
