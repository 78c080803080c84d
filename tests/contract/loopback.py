"""A network with nothing but this machine in it.

`python -m tests.contract.loopback WORD…` brings the loopback interface of a new network namespace up, then becomes WORD….
"""

import fcntl
import os
import socket
import struct
import sys

_GET, _SET, _UP = 0x8913, 0x8914, 0x1  # SIOCGIFFLAGS, SIOCSIFFLAGS, IFF_UP


def bring_up() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        fcntl.ioctl(handle, _SET, _request("lo", _flags(handle, "lo") | _UP))


def alone() -> bool:
    """Whether no program started here could reach any other machine: a kernel may add interfaces, but they are down."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as handle:
        others = (name for _, name in socket.if_nameindex() if name != "lo")
        return not any(_flags(handle, name) & _UP for name in others)


def _flags(handle: socket.socket, name: str) -> int:
    (flags,) = struct.unpack_from("h", fcntl.ioctl(handle, _GET, _request(name, 0)), 16)
    return int(flags)


def _request(name: str, flags: int) -> bytes:
    return struct.pack("16sh22x", name.encode(), flags)


if __name__ == "__main__":
    bring_up()
    assert alone(), "this network reaches further than this machine"
    os.execvp(sys.argv[1], sys.argv[1:])
