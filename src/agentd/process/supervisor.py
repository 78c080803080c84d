"""A program that runs another one as its child, and stays until everything that one started is gone.

`process.run` starts it by its path. On Linux it adopts the orphans of its program, so that each process is found below
it however it hid, and the process that uses agentd stays as it is. It ends nothing.

It imports little, as it starts with each program: `signal` alone would take a third of its time.
"""

import ctypes
import errno
import os
import sys

PARENT_DEATH_SIGNAL, CHILD_SUBREAPER = 1, 36
HUP, INT, KILL, PIPE, TERM, XFSZ = 1, 2, 9, 13, 15, 25
DEFAULT, IGNORE = 0, 1
libc = ctypes.CDLL(None)
libc.signal.argtypes, libc.signal.restype = (ctypes.c_int, ctypes.c_void_p), ctypes.c_void_p


def main(report: int, parent: int, argv: list[str]) -> None:
    os.set_inheritable(report, False)
    set_option(CHILD_SUBREAPER, 1)
    die_with(parent)
    handlers = {number: libc.signal(number, IGNORE) for number in (HUP, INT, TERM)}
    own = os.getpid()
    child = os.fork()
    if child == 0:
        for number, handler in {**handlers, PIPE: DEFAULT, XFSZ: DEFAULT}.items():  # Python ignores the last two
            libc.signal(number, handler)
        os.setpgid(0, 0)
        die_with(own)
        execute(argv)
    nowhere = os.open(os.devnull, os.O_RDWR)
    for pipe in range(3):  # the program's alone
        os.dup2(nowhere, pipe)
    while True:
        try:
            pid, status, used = os.wait4(-1, 0)
        except ChildProcessError:
            os._exit(0)
        if pid == child:
            os.write(report, f"{os.waitstatus_to_exitcode(status)} {used.ru_maxrss}".encode())


def set_option(option: int, value: int) -> None:
    if sys.platform == "linux":
        libc.prctl(option, ctypes.c_ulong(value), 0, 0, 0)


def die_with(parent: int) -> None:
    """Have the kernel kill this process when the thread that started it is gone."""
    set_option(PARENT_DEATH_SIGNAL, KILL)
    if os.getppid() != parent:
        os._exit(1)


def execute(argv: list[str]) -> None:
    """Become the program; one without a `#!` line is a shell script."""
    try:
        try:
            os.execv(argv[0], argv)
        except OSError as error:
            if error.errno != errno.ENOEXEC or is_binary(argv[0]):
                raise
            os.execv("/bin/sh", ["/bin/sh", *argv])
    except OSError as error:
        os.write(2, f"{argv[0]} could not be started: {error.strerror}\n".encode(errors="replace"))
    finally:
        os._exit(126)


def is_binary(path: str) -> bool:
    """Whether a file without a `#!` line is a broken program, and not a shell script."""
    first = os.read(os.open(path, os.O_RDONLY), 512)
    return first.startswith(b"\x7fELF") or b"\0" in first


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
