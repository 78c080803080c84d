"""The process that serves tools to the agents of a run, and the words that connect an agent with it.

It is started with the first call that has tools, and ends when the run is not driven any more. Where no socket can be
made, each agent starts a server of its own.
"""

import errno
import itertools
import os
import socket
import stat
import sys
from contextlib import suppress
from pathlib import Path

from agentd.agents.command import own_program
from agentd.process.helper import Helper
from agentd.runs.work import Work
from agentd.state import durable

SERVICE = "tools"
FACE = Path(__file__).parents[1] / "mcp"
BARE = (sys.executable, "-I", "-S")  # for programs that need nothing but a little of the standard library
OPEN = "/proc/self/fd"  # through it a folder is named by its number: the path of a socket may only be short
MINE = stat.S_IRUSR | stat.S_IWUSR
WAITING = 128


class ToolHost:
    """The host of one run: its process, and the socket on which agents reach it."""

    def __init__(self, run: Path) -> None:
        folder = run / "calls"
        durable.make_folder(folder)
        durable.refuse_links(folder)
        self._folder = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC)
        self._name = ""
        try:
            with socket.socket(socket.AF_UNIX) as listener:
                self._bind(listener, folder)
                self.socket = folder / self._name
                host = own_program("agentd.mcp.host")
                words = (*BARE, str(FACE / "doorbell.py"), *host, str(run), str(listener.fileno()))
                self.helper = Helper(words, (listener.fileno(),))
        except BaseException:
            self._remove()
            raise

    def words(self, folder: Path, call: str) -> tuple[str, ...]:
        """The words that give the agent of a call its tools, in full, as some agents pass on no environment."""
        forwarder = (*BARE, str(FACE / "forward.py"), "agentd", "mcp")
        return (*forwarder, "--run", str(folder), "--call", call, "--socket", str(self.socket))

    def close(self) -> None:
        """End the process and the servers that it forked; twice does no harm."""
        if self._folder >= 0:
            self.helper.close()
            self._remove()

    def _bind(self, listener: socket.socket, folder: Path) -> None:
        """Listen in a folder, for this user alone. A socket that a kill leaves is swept like a file half written."""
        place = f"{OPEN}/{self._folder}" if os.path.isdir(OPEN) else str(folder)
        with suppress(OSError):
            os.fchmod(listener.fileno(), MINE)  # Linux makes it so from the first moment
        for number in itertools.count():
            name = f".tools.{os.getpid()}.{number}.tmp"
            try:
                listener.bind(f"{place}/{name}")
                break
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
        self._name = name
        os.chmod(name, MINE, dir_fd=self._folder)
        listener.listen(WAITING)

    def _remove(self) -> None:
        if self._name:
            with suppress(OSError):
                os.unlink(self._name, dir_fd=self._folder)
        os.close(self._folder)
        self._folder = -1


def connect(work: Work, call: str) -> tuple[tuple[str, ...], dict[str, str]]:
    """The words that give the agent of a call its tools, and what an agent finds in its environment that takes no words."""
    top, folder = work.top, work.store.folder
    with top.guard:
        host = top.services.get(SERVICE)
        if isinstance(host, ToolHost) and not host.helper.alive():
            host.close()
            host = None
        try:
            host = host or ToolHost(top.store.folder)
        except OSError:  # a disk without sockets, a path that is too long
            return alone(folder, call), {}
        top.services[SERVICE] = host
    assert isinstance(host, ToolHost)
    return host.words(folder, call), {"AGENTD_SOCKET": str(host.socket)}


def end_call(work: Work, call: str) -> bool:
    """End what still serves a call that is over; False if the host was gone before."""
    host = work.top.services.get(SERVICE)
    if not isinstance(host, ToolHost):
        return True
    with work.top.guard:
        return host.helper.ask(end=[str(work.store.folder), call])


def alone(folder: Path, call: str) -> tuple[str, ...]:
    """The words of a server that needs nobody else."""
    return (*own_program("agentd"), "mcp", "--run", str(folder), "--call", call)
