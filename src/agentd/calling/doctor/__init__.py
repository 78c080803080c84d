"""Whether this machine can do what the configuration asks for: agents, roles, agentd's own tools, git, the
sandbox, and the project's own commands.

Programs are started in a scratch folder, side by side and with a time limit each; the project is only read.
"""

from collections.abc import Generator
from concurrent.futures import ThreadPoolExecutor

from agentd import temporary
from agentd.calling.doctor import agents, evidence, machine, trial
from agentd.calling.doctor.findings import Found as Found
from agentd.calling.doctor.side_by_side import results
from agentd.errors import BadConfig
from agentd.runs.project import Project


def examine(project: Project, unread: BadConfig | None = None, live: bool = False) -> Generator[Found, None, None]:
    """Check everything, and report each thing in its turn. `live` adds a real call of each agent that plays a role;
    `unread` is why the configuration cannot be read."""
    with temporary.folder() as made, ThreadPoolExecutor(2) as pool:
        scratch = made.resolve()
        server = pool.submit(trial.try_server, project, scratch / "server")
        besides = pool.submit(lambda: [*machine.check_machine(project, scratch), *evidence.check_commands(project)])
        cast = agents.find_cast(project)
        known = {}
        for found in agents.check_agents(project, cast, scratch, live):
            known[found.name] = found
            yield found
        yield from agents.check_roles(project, cast, known)
        yield from results([server])
        for listed in results([besides]):
            yield from listed
        yield from machine.check_configuration(project, unread)
        if live:
            yield from trial.try_agents(project, agents.playing(cast).values(), scratch)
