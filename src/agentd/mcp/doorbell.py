"""The host of a run's tools before anybody asks for them: it waits for the first connection, and then becomes the host.

Started by its path with the words of the host, it costs next to nothing: many agents end without having used a tool.
It becomes the host without a connection if the first call takes more than a moment, so that the tools are loaded while an
agent is still starting.
"""

import os
import select
import socket
import sys

MOMENT = 0.7


def main(host: list[str]) -> None:
    listener, control = int(host[-2]), socket.socket(fileno=int(host[-1]))
    moment: float | None = MOMENT
    while True:
        ready = select.select([listener, control.fileno()], [], [], moment)[0]
        if listener in ready or not ready:
            os.set_inheritable(listener, True)
            control.set_inheritable(True)
            os.execv(host[0], host)
        if not control.recv(1 << 16):
            return
        control.sendall(b"ended\n")  # there is no server yet for any call
        moment = None  # agents that end so soon are not slow to start


if __name__ == "__main__":
    main(sys.argv[1:])
