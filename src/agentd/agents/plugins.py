"""The adapter of an agent by its name: a built-in one, or one that another package brings as an entry point `agentd.agents`."""

from typing import TYPE_CHECKING

from agentd.agents.adapter import Adapter
from agentd.agents.table import ADAPTERS
from agentd.errors import AgentdError, BadConfig, UnknownAgent
from agentd.model.job import Command, Job

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint, EntryPoints

GROUP = "agentd.agents"
# What an adapter of another package may define besides its two functions.
OPTIONAL = ("program", "install", "login", "turns", "can")


def find(name: str) -> Adapter:
    """The adapter of that name; other packages cannot replace a built-in one."""
    return ADAPTERS.get(name) or _find_installed(name)


def installed() -> list[str]:
    """The names of the agents of other packages."""
    return sorted({point.name for point in _entry_points()} - set(ADAPTERS))


def _entry_points() -> "EntryPoints":
    from importlib.metadata import entry_points  # some 50 ms that no built-in agent needs

    return entry_points(group=GROUP)


def _find_installed(name: str) -> Adapter:
    found = [point for point in _entry_points() if point.name == name]
    if not found:
        raise UnknownAgent(name, f"name one of these: {', '.join(sorted([*ADAPTERS, *installed()]))}")
    if len(found) > 1:
        packages = " and ".join(sorted(_package(point) for point in found))
        raise BadConfig(f"The packages {packages} both bring an agent called {name!r}.", fix=f"Keep one of {packages}.")
    return _load(found[0])


def _load(point: "EntryPoint") -> Adapter:
    package = _package(point)
    try:
        loaded = point.load()
        more = {key: getattr(loaded, key) for key in OPTIONAL if hasattr(loaded, key)}
        tools_fix = f"have the adapter {point.name} give its program the MCP server in job.server"
        adapter = Adapter(point.name, loaded.command, loaded.read, tools_fix=tools_fix, **more)
    except (Exception, SystemExit) as cause:  # importing another package's code can end in anything
        what = f"cannot be loaded: {type(cause).__name__}: {cause}"
        raise _broken(point.name, package, what, "--force-reinstall ") from cause
    if not (callable(adapter.command) and callable(adapter.read)):
        raise _broken(point.name, package, "is no adapter: `command` and `read` must be functions.")

    def command(job: Job) -> Command:
        """The adapter's own, with errors that name its package."""
        try:
            return adapter.command(job)
        except AgentdError:
            raise
        except Exception as cause:
            raise _broken(point.name, package, f"failed: {type(cause).__name__}: {cause}") from cause

    return adapter._replace(command=command)


def _broken(name: str, package: str, what: str, how: str = "") -> BadConfig:
    return BadConfig(f"The agent {name!r} of the package {package} {what}", f"pip install --upgrade {how}{package}")


def _package(point: "EntryPoint") -> str:
    return (point.dist.name if point.dist else "") or point.value
