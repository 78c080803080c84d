"""The program that an agent starts as its MCP server: copies between the agent and the agentd that serves the tools.

It is started by its path, with nothing imported but a little of the standard library, so that it is there at once.
`agentd mcp --run FOLDER --call CALL --socket SOCKET` are its words; the environment says what they leave out. Where
neither names a socket, agentd's stand-alone server takes its place.
"""

import os
import select
import socket
import stat
import sys

CHUNK = 1 << 16
MOST = 1 << 20
PIPE = 4096  # what a pipe that is ready takes without waiting
GONE = "agentd: agentd is not running any more, so there is nobody to answer; run the same command again"


def main(words: list[str], env: "os._Environ[str]") -> int:
    given = dict(zip(words[::2], words[1::2], strict=False))
    folder = given.get("--run") or env.get("AGENTD_DESK") or ""
    call = given.get("--call") or env.get("AGENTD_CALL") or ""
    place = given.get("--socket") or env.get("AGENTD_SOCKET") or ""
    if not place.startswith("/"):  # nobody filled it in: a person has started this agent
        own = [sys.executable, "-P", "-m", "agentd", "mcp", *words]
        os.execv(own[0], own)
    try:
        server = connect(place)
    except OSError as error:
        return say(f"{GONE} ({place}: {error.strerror or error})")
    server.sendall(b"".join(os.fsencode(part) + b"\0" for part in ("agentd", folder, call)))
    return copy(server)


def connect(place: str) -> socket.socket:
    """Connect from within the folder: the path of a socket may only be short."""
    os.chdir(os.path.dirname(place))
    name = os.path.basename(place)
    if not stat.S_ISSOCK(os.lstat(name).st_mode):
        raise OSError("it is not a socket")
    server = socket.socket(socket.AF_UNIX)
    server.connect(name)
    return server


def copy(server: socket.socket) -> int:
    """Copy until one side ends; neither side waits for the other to read. The first byte says whether one is served."""
    up, down, why, verdict, asking, answering = b"", b"", b"", b"", True, True
    while answering or down:
        readers: list[int | socket.socket] = [server] if answering and len(down) < MOST else []
        readers += [0] if asking and len(up) < MOST else []
        writers: list[int | socket.socket] = [server] if up else []
        ready, free, _ = select.select(readers, writers + ([1] if down else []), [])
        if 0 in ready:
            read = take(0)
            up, asking = up + read, bool(read)
        if server in free:
            up = up[send(server, up) :]
        if 0 in ready or server in free:
            finish(server, not asking and not up)
        if server in ready:
            read = take(server.fileno())
            answering = bool(read)
            if not verdict:
                verdict, read = read[:1], read[1:]
            down, why = (down, why + read) if verdict == b"-" else (down + read, why)
        if 1 in free:
            try:
                down = down[os.write(1, down[:PIPE]) :]
            except OSError:
                return 0  # the agent is gone
    if verdict == b"-":
        return say("agentd: " + why.decode(errors="replace"))
    return say(GONE) if asking else 0


def take(number: int) -> bytes:
    try:
        return os.read(number, CHUNK)
    except OSError:
        return b""


def send(server: socket.socket, data: bytes) -> int:
    try:
        return server.send(data[:CHUNK], socket.MSG_DONTWAIT)
    except BlockingIOError:
        return 0
    except OSError:
        return len(data)  # it is gone, and the next read says so


def finish(server: socket.socket, over: bool) -> None:
    """Tell the server that the agent has nothing more to ask."""
    try:
        server.shutdown(socket.SHUT_WR) if over else None
    except OSError:
        return


def say(why: str) -> int:
    os.write(2, why.encode(errors="replace") + b"\n")
    return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[3:], os.environ))
