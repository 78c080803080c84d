"""A program that was started under `supervisor.py`: what it reads and prints is moved without blocking, its end is heard of."""

import os
import selectors
import shlex
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import IO

from agentd.errors import NotFound
from agentd.process.lines import Lines
from agentd.process.tree import INSIST

CHUNK = 1 << 16
SUPERVISOR = os.path.join(os.path.dirname(__file__), "supervisor.py")


class Program:
    """A started program and its pipes. Nothing here blocks longer than asked, whoever holds the other ends.

    `pid` is that of the supervisor, which leads the session of the program and is reaped last: until then no other
    process can have its number.
    """

    def __init__(self, words: Sequence[str], folder: str, env: Mapping[str, str], stdin: str, output: Lines) -> None:
        ours, theirs = os.pipe()
        report = os.fdopen(ours, "rb", buffering=0)
        try:
            self._popen = subprocess.Popen(
                [sys.executable, "-I", "-S", SUPERVISOR, str(theirs), str(os.getpid()), *words],
                bufsize=0,
                stdin=subprocess.PIPE if stdin else subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                cwd=folder,
                env=env,
                start_new_session=True,
                pass_fds=(theirs,),
            )
        except BaseException:
            report.close()
            raise
        finally:
            os.close(theirs)
        self.pid = self._popen.pid
        self.code, self.over, self.largest = -signal.SIGKILL, False, 0
        self.output, self.errors = output, Lines()
        self._unsent = memoryview(stdin.encode("utf-8", "replace"))
        self._report = report
        self._selector = selectors.DefaultSelector()
        self._printing = 0
        self._register(report, selectors.EVENT_READ, self._hear)
        if self._popen.stdin is not None:
            self._register(self._popen.stdin, selectors.EVENT_WRITE, self._write)
        for pipe, lines in ((self._popen.stdout, self.output), (self._popen.stderr, self.errors)):
            assert pipe is not None
            self._register(pipe, selectors.EVENT_READ, partial(self._read, lines=lines))
            self._printing += 1

    def printing(self) -> bool:
        """Whether somebody still holds stdout or stderr."""
        return self._printing > 0

    def pump(self, seconds: float) -> bool:
        """Waits at most that long for the pipes and moves what is there; True when something was printed."""
        heard = False
        for key, _ in self._selector.select(seconds):
            heard |= key.data(key.fileobj)
        return heard

    def drain(self) -> None:
        """Takes what the pipes still hold, up to 2 MiB: a process that got away may print for ever."""
        for _ in range((2 << 20) // CHUNK):
            if not self.pump(0):
                break
        self.output.finish()
        self.errors.finish()

    def close(self) -> None:
        """Wait until the supervisor has seen everything end, and take its report if it was not heard yet."""
        try:
            self._popen.wait(INSIST)
        except subprocess.TimeoutExpired:
            self._popen.kill()
            self._popen.wait()
        if not self.over:
            self._hear(self._report)
        self._selector.close()
        for pipe in (self._popen.stdin, self._popen.stdout, self._popen.stderr, self._report):
            if pipe is not None:
                pipe.close()

    def _register(self, pipe: IO[bytes], event: int, move: Callable[[IO[bytes]], bool]) -> None:
        os.set_blocking(pipe.fileno(), False)
        self._selector.register(pipe, event, move)

    def _drop(self, pipe: IO[bytes]) -> None:
        self._selector.unregister(pipe)
        pipe.close()

    def _hear(self, pipe: IO[bytes]) -> bool:
        """The exit code and the memory of the largest process, from the supervisor; without them, the supervisor itself was killed."""
        told = os.read(pipe.fileno(), 64).split()
        if told:
            self.code = int(told[0])
            self.largest = int(told[1]) * (1 if sys.platform == "darwin" else 1024)
        self.over = True
        self._drop(pipe)
        return False

    def _read(self, pipe: IO[bytes], lines: Lines) -> bool:
        chunk = os.read(pipe.fileno(), CHUNK)
        if chunk:
            lines.feed(chunk)
            return True
        self._drop(pipe)
        self._printing -= 1
        return False

    def _write(self, pipe: IO[bytes]) -> bool:
        try:
            self._unsent = self._unsent[os.write(pipe.fileno(), self._unsent[:CHUNK]) :]
        except BlockingIOError:
            return False
        except OSError:
            self._unsent = self._unsent[:0]  # the program closed its stdin: it has read what it wants
        if not self._unsent:
            self._drop(pipe)
        return False


def find_program(argv: Sequence[str], folder: str, path: str) -> str:
    """The file to execute, found as the program's own folder and PATH would find it."""
    if not argv or not argv[0]:
        raise NotFound("The command to run is empty.", "give the command a program to start")
    name = argv[0]
    if not os.path.isdir(folder):
        raise NotFound(f"The folder {folder} to run {name} in does not exist.", f"mkdir -p {shlex.quote(folder)}")
    places = (folder,) if os.sep in name else tuple(os.path.join(folder, place) for place in path.split(os.pathsep))
    files = [file for place in places if os.path.isfile(file := os.path.normpath(os.path.join(place, name)))]
    for file in files:
        if os.access(file, os.X_OK):
            return file
    if files:
        raise NotFound(f"The program {files[0]} is not executable.", f"chmod +x {shlex.quote(files[0])}")
    if os.sep in name:
        raise NotFound(f"The program {name} does not exist.", f"ls -l {shlex.quote(os.path.join(folder, name))}")
    raise NotFound(f"The program {name} is not on the PATH.", f"install {name}, then check: command -v {name}")
