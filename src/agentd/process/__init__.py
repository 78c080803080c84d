"""Runs programs: argv in, exit code and lines out, and no process of the program left when it is over.

The only module that starts anything. It starts no threads and never looks into what a program prints.
"""

import os
import selectors
import shlex
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from threading import Event
from typing import IO, Literal

from agentd.errors import AgentdError, NotFound
from agentd.process.lines import Lines
from agentd.process.tree import INSIST, TICK, children, end, environment_holds, session

Ending = Literal["exit", "timeout", "silence", "stopped"]

MARK = "AGENTD_PROCESS"
CHUNK = 1 << 16
LINGER = 0.5
SUPERVISOR = os.path.join(os.path.dirname(__file__), "supervisor.py")


@dataclass(frozen=True)
class Finished:
    """How a program ended: `code` is -N for signal N, `output` and `errors` hold the last lines of a flood."""

    code: int
    ended: Ending
    output: tuple[str, ...]
    errors: tuple[str, ...]
    seconds: float


def run(
    argv: Sequence[str],
    *,
    cwd: str | os.PathLike[str],
    env: Mapping[str, str | None] | None = None,
    stdin: str = "",
    timeout: float,
    silence: float | None = None,
    grace: float = 5.0,
    on_line: Callable[[str], None] | None = None,
    stop: Event | None = None,
) -> Finished:
    """Runs a program to its end, or ends it with everything it started: after `timeout` seconds, after `silence`
    seconds without output, when `stop` is set, or when the caller is interrupted or `on_line` raises.

    `env` is added to this process's environment; None takes a variable away. `on_line` gets each line of stdout, in order, in the calling thread.
    """
    started = time.monotonic()
    folder = os.path.abspath(cwd)
    # An agentd inside an agent extends the mark it was given, so that the outer one still finds everything.
    mark = "/".join(filter(None, (os.environ.get(MARK), os.urandom(16).hex())))
    wanted = {**os.environ, **(env or {}), MARK: mark}
    around = {name: value for name, value in wanted.items() if value is not None}
    words = [_find_program(argv, folder, around.get("PATH", os.defpath)), *argv[1:]]
    needle = os.fsencode(f"\0{MARK}={mark}")
    program: _Program | None = None

    def belongs(pid: int) -> bool:
        if program is None:
            return environment_holds(pid, needle)
        return pid != program.pid and (environment_holds(pid, needle) or session(pid) == program.pid)

    def orphans() -> set[int]:
        return children(program.pid) if program else set()

    try:
        try:
            program = _Program(words, folder, around, stdin, Lines(on_line))
        except (OSError, ValueError) as trouble:
            raise AgentdError(f"The program {argv[0]} could not be started: {trouble}.", "ulimit -a") from trouble
        ended = _watch(program, started + timeout, silence, stop)
        end(belongs, grace, program.pump, orphans)
        program.drain()
    except BaseException:
        if program is None:
            time.sleep(2 * TICK)  # interrupted between fork and exec: the child does not carry the mark yet
        else:
            program.output.on_line = None
        end(belongs, grace, program.pump if program else time.sleep, orphans)
        raise
    finally:
        if program is not None:
            program.close()
    seconds = time.monotonic() - started
    return Finished(program.code, ended, tuple(program.output.kept), tuple(program.errors.kept), seconds)


def end_leftovers(name: str, value: str, grace: float = 2.0) -> list[int]:
    """Ends every process whose environment holds exactly `name=value`, with its descendants; gives their pids.

    This process and its ancestors are spared.
    """
    needle = os.fsencode(f"\0{name}={value}\0")
    ended = end(lambda pid: environment_holds(pid, needle), grace, time.sleep)
    return sorted(process.pid for process in ended)


def _find_program(argv: Sequence[str], folder: str, path: str) -> str:
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


class _Program:
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
        self.code, self.over = -signal.SIGKILL, False
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
        """The exit code, from the supervisor; without one, the supervisor itself was killed."""
        told = os.read(pipe.fileno(), 32)
        if told:
            self.code = int(told)
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


def _watch(program: _Program, deadline: float, silence: float | None, stop: Event | None) -> Ending:
    """Moves lines until the program is over or one of the clocks or the caller says so."""
    heard = time.monotonic()
    while not program.over:
        printed = program.pump(TICK)
        now = time.monotonic()
        if printed:
            heard = now
        if stop is not None and stop.is_set():
            return "stopped"
        if now >= deadline:
            return "timeout"
        if silence is not None and now - heard >= silence:
            return "silence"
    linger = time.monotonic() + LINGER  # for the end of a pipeline: `tee` outlives its shell by a moment
    while program.printing() and time.monotonic() < linger:
        program.pump(TICK / 10)
    return "exit"
