"""Runs programs: argv in, exit code and lines out, and no process of the program left when it is over.

The only room that starts anything. It starts no threads and never looks into what a program prints.
"""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from threading import Event
from typing import Literal

from agentd.errors import AgentdError
from agentd.process.lines import Lines
from agentd.process.program import Program, find_program
from agentd.process.tree import TICK, children, end, environment_holds, memory_below, session
from agentd.values import dataclass

Ending = Literal["exit", "timeout", "silence", "stopped"]

MARK = "AGENTD_PROCESS"
LINGER = 0.5
SAMPLE = 0.1


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
    watch: Callable[[int, int], None] | None = None,
) -> Finished:
    """Runs a program to its end, or ends it with everything it started: after `timeout` seconds, after `silence`
    seconds without output, when `stop` is set, or when the caller is interrupted or `on_line` raises.

    `env` is added to this process's environment; None takes a variable away. `on_line` gets each line of stdout, in order, in the calling thread.
    `watch` gets the memory of all its processes in bytes, now and at most so far, several times a second and when it is over.
    """
    started = time.monotonic()
    folder = os.path.abspath(cwd)
    # An agentd inside an agent extends the mark it was given, so that the outer one still finds everything.
    mark = "/".join(filter(None, (os.environ.get(MARK), os.urandom(16).hex())))
    wanted = {**os.environ, **(env or {}), MARK: mark}
    around = {name: value for name, value in wanted.items() if value is not None}
    words = [find_program(argv, folder, around.get("PATH", os.defpath)), *argv[1:]]
    needle = os.fsencode(f"\0{MARK}={mark}")
    program: Program | None = None

    def belongs(pid: int) -> bool:
        if program is None:
            return environment_holds(pid, needle)
        return pid != program.pid and (environment_holds(pid, needle) or session(pid) == program.pid)

    def orphans() -> set[int]:
        return children(program.pid) if program else set()

    try:
        try:
            program = Program(words, folder, around, stdin, Lines(on_line))
        except (OSError, ValueError) as trouble:
            raise AgentdError(f"The program {argv[0]} could not be started: {trouble}.", "ulimit -a") from trouble
        ended = _watch(program, started + timeout, silence, stop, watch)
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
    if watch is not None:
        watch(0, program.largest)
    seconds = time.monotonic() - started
    return Finished(program.code, ended, tuple(program.output.kept), tuple(program.errors.kept), seconds)


def end_leftovers(name: str, value: str, grace: float = 2.0) -> list[int]:
    """Ends every process whose environment holds exactly `name=value`, with its descendants; gives their pids.

    This process and its ancestors are spared.
    """
    needle = os.fsencode(f"\0{name}={value}\0")
    ended = end(lambda pid: environment_holds(pid, needle), grace, time.sleep)
    return sorted(process.pid for process in ended)


def _watch(
    program: Program,
    deadline: float,
    silence: float | None,
    stop: Event | None,
    watch: Callable[[int, int], None] | None,
) -> Ending:
    """Moves lines until the program is over or one of the clocks or the caller says so."""
    heard = measured = time.monotonic()
    while not program.over:
        printed = program.pump(TICK)
        now = time.monotonic()
        if watch is not None and now >= measured:
            watch(*memory_below(program.pid))
            measured = now + max(SAMPLE, 20 * (time.monotonic() - now))
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
