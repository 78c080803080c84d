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
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path

from agentd.agents.command import own_program
from agentd.process.helper import Helper
from agentd.runs.work import Work
from agentd.state import durable

SERVICE = "tools"
LOST = "the process that serves agentd's tools ended during the call"
FACE = Path(__file__).parents[1] / "mcp"
BARE = (sys.executable, "-I", "-S")  # for programs that need nothing but a little of the standard library
OPEN = "/proc/self/fd"  # through it a folder is named by its number: the path of a socket may only be short
MINE = stat.S_IRUSR | stat.S_IWUSR
WAITING = 128


class ToolHost:
    """The host of one run: its process, and the socket on which agents reach it, whose name is never used again."""

    _numbers = itertools.count()

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

    @property
    def env(self) -> dict[str, str]:
        """What an agent finds in its environment that takes its server's words from a file of the project."""
        return {"AGENTD_SOCKET": str(self.socket)}

    def answers(self) -> bool:
        """Whether the process runs and its socket is where it was made."""
        return self.helper.alive() and self._found() == self._made

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
        for number in self._numbers:
            name = f".tools.{os.getpid()}.{number}.tmp"
            try:
                listener.bind(f"{place}/{name}")
                break
            except OSError as error:
                if error.errno != errno.EADDRINUSE:
                    raise
        self._name = name
        os.chmod(name, MINE, dir_fd=self._folder)
        self._made = self._found()
        listener.listen(WAITING)

    def _found(self) -> tuple[int, int] | None:
        """What stands at the socket's name now."""
        try:
            there = os.stat(self._name, dir_fd=self._folder, follow_symlinks=False)
        except OSError:
            return None
        return there.st_dev, there.st_ino

    def _remove(self) -> None:
        if self._name:
            with suppress(OSError):
                os.unlink(self._name, dir_fd=self._folder)
        os.close(self._folder)
        self._folder = -1


def connect(work: Work, call: str) -> tuple[tuple[str, ...], dict[str, str]]:
    """The words that give the agent of a call its tools, and variables for an agent that gets no words of a call."""
    top, folder = work.top, work.store.folder
    with top.guard:
        host = top.services.get(SERVICE)
        if isinstance(host, ToolHost) and not host.answers():
            host.close()
            host = None
        try:
            host = host or ToolHost(top.store.folder)
        except OSError:  # a disk without sockets, a path that is too long
            return alone(folder, call), {}
        top.services[SERVICE] = host
    assert isinstance(host, ToolHost)
    return host.words(folder, call), host.env


def end_call(work: Work, call: str, words: Sequence[str]) -> str:
    """End what still serves a call that is over; gives why its tools were lost, if the host that its words lead to was."""
    with work.top.guard:
        host = work.top.services.get(SERVICE)
        if "--socket" not in words:
            return ""
        if not isinstance(host, ToolHost) or str(host.socket) not in words:
            return LOST
        ended = host.answers() and host.helper.ask(end=[str(work.store.folder), call])
        return "" if ended else ": ".join(filter(None, (LOST, host.helper.complaint())))


def alone(folder: Path, call: str) -> tuple[str, ...]:
    """The words of a server that needs nobody else."""
    return (*own_program("agentd"), "mcp", "--run", str(folder), "--call", call)
