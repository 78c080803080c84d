"""The program that serves tools to the agents of one run: one process for each connection, forked with everything loaded.

`doorbell` becomes it. It ends with the agentd that drives the run: with the pipe between the two. It loads no SDK.
"""

import json
import os
import selectors
import signal
import socket
import sys
import threading
from contextlib import suppress
from dataclasses import field
from pathlib import Path
from typing import Any

from agentd.app import LAYOUTS
from agentd.errors import AgentdError, Refused
from agentd.mcp.protocol import LARGEST_LINE, Conversation
from agentd.mcp.tool import make_tool
from agentd.mcp.toolbox import Toolbox
from agentd.mcp.tools import MODULES
from agentd.runs.call_scope import open_desk
from agentd.values import dataclass

CHUNK = 1 << 16
LONGEST_GREETING = 1 << 14
AT_ONCE = 100


@dataclass
class Host:
    """The run whose calls are served, who asks for them, and the processes that answer.

    `life` is a pipe whose end tells those processes that this one is gone; nothing is written to it.
    """

    run: Path
    listener: socket.socket
    control: socket.socket
    servers: dict[int, tuple[str, str]] = field(default_factory=dict)
    over: set[tuple[str, str]] = field(default_factory=set)
    greetings: dict[socket.socket, bytes] = field(default_factory=dict)
    selector: selectors.BaseSelector = field(default_factory=selectors.DefaultSelector)
    life: tuple[int, int] = field(default_factory=os.pipe)

    def serve(self) -> None:
        """Answer until the agentd that started this has ended."""
        orders = b""
        self.selector.register(self.listener, selectors.EVENT_READ)
        self.selector.register(self.control, selectors.EVENT_READ)
        while True:
            for key, _ in self.selector.select():
                self.reap()
                if key.fileobj is self.listener:
                    self.accept()
                elif key.fileobj is self.control:
                    read = self.control.recv(CHUNK)
                    if not read:
                        return
                    *lines, orders = (orders + read).split(b"\n")
                    for line in lines:
                        self.obey(json.loads(line))
                else:
                    assert isinstance(key.fileobj, socket.socket)
                    self.listen(key.fileobj)

    def obey(self, order: dict[str, Any]) -> None:
        """End the servers of a call that is over."""
        folder, call = order["end"]
        self.over.add((os.path.realpath(folder), call))
        for pid in [pid for pid, served in self.servers.items() if served in self.over]:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
            del self.servers[pid]
        self.control.sendall(b"ended\n")

    def reap(self) -> None:
        for pid in [*self.servers]:
            if os.waitpid(pid, os.WNOHANG)[0]:
                del self.servers[pid]

    def accept(self) -> None:
        with suppress(OSError):
            connection, _ = self.listener.accept()
            connection.setblocking(False)
            self.greetings[connection] = b""
            self.selector.register(connection, selectors.EVENT_READ)
            if len(self.greetings) > AT_ONCE:
                self.forget(next(iter(self.greetings)))  # the one that has said nothing for the longest time

    def listen(self, connection: socket.socket) -> None:
        """Read who a connection is from; once that is said, a process of its own answers it."""
        try:
            read = connection.recv(LONGEST_GREETING)
        except OSError:
            read = b""
        said = self.greetings[connection] + read
        self.greetings[connection] = said
        if not read or said[: len(b"agentd\0")] != b"agentd\0"[: len(said)] or len(said) > 2 * LONGEST_GREETING:
            self.forget(connection)
        elif said.count(b"\0") >= 3:
            _, folder, call, begun = said.split(b"\0", 3)
            self.start(connection, os.fsdecode(folder), call.decode(errors="replace"), begun)

    def forget(self, connection: socket.socket) -> None:
        self.selector.unregister(connection)
        del self.greetings[connection]
        connection.close()

    def start(self, connection: socket.socket, folder: str, call: str, begun: bytes) -> None:
        """Answer a connection in a process of its own, unless its call is over: what it sent may have waited."""
        try:
            toolbox = self.toolbox_of(folder, call)
            pid = os.fork()
        except (AgentdError, OSError, ValueError) as error:  # nothing that one connection says ends the others
            with suppress(OSError):
                connection.send(b"-" + str(error).encode(errors="replace"))
            return self.forget(connection)
        if pid:
            self.servers[pid] = os.path.realpath(folder), call
            return self.forget(connection)
        try:
            os.close(self.life[1])
            for other in (self.listener, self.control, *(other for other in self.greetings if other is not connection)):
                other.close()
            connection.setblocking(True)
            threading.Thread(target=end_with, args=[self.life[0]], daemon=True).start()
            answer(connection, Conversation(toolbox), begun)
        except OSError:  # the agent is gone
            pass
        finally:
            os._exit(0)

    def toolbox_of(self, folder: str, call: str) -> Toolbox:
        """The tools of a call of the run that is served, or of one of its children: loaded here, for all that follow."""
        real = Path(os.path.realpath(folder))
        if real != self.run and not real.is_relative_to(self.run / "children"):
            raise Refused(f"{folder} is not the run that this agentd drives.")
        if (str(real), call) in self.over:
            raise Refused(f"The call {call} is over.")
        if len(self.servers) >= AT_ONCE:
            raise Refused(f"{AT_ONCE} connections are served already, and no more.")
        desk = open_desk(LAYOUTS, real, call)
        for name in desk.tools():
            if name in MODULES:
                make_tool(name)
        return Toolbox(desk)


def end_with(life: int) -> None:
    """End this process as soon as the host has ended."""
    os.read(life, 1)
    os._exit(1)


def answer(connection: socket.socket, conversation: Conversation, begun: bytes) -> None:
    """Answer line by line until the agent closes the connection, or sends a line that is too long."""
    connection.sendall(b"+")
    buffer, searched = bytearray(begun), 0
    while searched <= LARGEST_LINE:
        while (end := buffer.find(b"\n", searched)) >= 0:
            line, searched = bytes(buffer[: end + 1]), 0
            del buffer[: end + 1]
            connection.sendall(conversation.answer(line))
        searched = len(buffer)
        read = connection.recv(CHUNK)
        if not read:
            return
        buffer += read


def main(run: str, listener: int, control: int) -> None:
    Host(Path(os.path.realpath(run)), socket.socket(fileno=listener), socket.socket(fileno=control)).serve()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
