"""Whether this machine can do what the configuration asks for: agents, roles, agentd's own tools, git, the
sandbox, and the project's own commands.

Programs are started in a scratch folder and with a time limit; the project is only read.
"""

from collections.abc import Iterator

from agentd import temporary
from agentd.calling.doctor import agents, evidence, machine, trial
from agentd.calling.doctor.findings import Found as Found
from agentd.errors import BadConfig
from agentd.runs.project import Project


def examine(project: Project, unread: BadConfig | None = None, live: bool = False) -> Iterator[Found]:
    """Check everything, and report each thing as soon as it is known. `live` adds a real call of each agent that plays a
    role; `unread` is why the configuration cannot be read."""
    with temporary.folder() as made:
        scratch = made.resolve()
        cast = agents.find_cast(project)
        known = {}
        for found in agents.check_agents(project, cast, scratch, live):
            known[found.name] = found
            yield found
        yield from agents.check_roles(project, cast, known)
        yield trial.try_server(project, scratch / "server")
        yield from machine.check_machine(project, scratch)
        yield from evidence.check_commands(project)
        yield from machine.check_configuration(project, unread)
        if live:
            yield from trial.try_agents(project, agents.playing(cast).values(), scratch)
