"""Runs a command of the project and says what it came to: green, red, none, or unknown. It believes no exit code alone.

It never changes a file itself and never changes the command that a Result names.
"""

import os
import shlex
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path
from tempfile import TemporaryDirectory

from agentd import process
from agentd.errors import AgentdError
from agentd.evidence import outputs
from agentd.evidence.outputs.summary import Summary
from agentd.model.evidence import Case, Command, Counts, Kind, Result, Status

# What shells and launchers exit with for a program that cannot be started or is not there.
NOT_RUN = (126, 127)
NOTHING_COLLECTED = 5  # pytest, and unittest from Python 3.12 on
TAIL = 40
READ_LINES = 100_000
SHELL = {"&&", "||", ";", "|", "&", ">", ">>", "<", "2>&1"}
# -rA would print what passing tests printed as well.
PYTEST = "-rfEsxXp"

Around = Callable[[Sequence[str]], Sequence[str]]


def look(
    command: Command,
    place: Path,
    env: Mapping[str, str | None],
    timeout: float,
    stop: threading.Event | None,
    around: Around = tuple,
) -> Result:
    """Green only if the command was found, ended by itself, exited 0 and its output does not say otherwise.

    `around` makes the words that start the command out of the command's own. What the output names is not redacted.
    """
    try:
        words = _words(command)
        folder = _folder(command, place)
    except ValueError as error:
        return Result(command, "unknown", note=str(error))
    kept: deque[str] = deque(maxlen=READ_LINES)
    try:
        # Python believes compiled files beside the sources, and whoever wrote them may have compiled something else.
        with TemporaryDirectory(prefix="agentd-", ignore_cleanup_errors=True) as compiled:
            done = process.run(
                around(words),
                cwd=folder,
                env={**env, **_telling(command.kind, env), "PYTHONPYCACHEPREFIX": compiled},
                timeout=timeout,
                on_line=kept.append,
                stop=stop,
            )
    except AgentdError as error:
        return Result(command, "unknown", note=error.message)
    tail = (*done.output[-TAIL:], *done.errors[-TAIL:])
    seconds = round(done.seconds, 3)
    if done.ended != "exit":
        note = f"ended by agentd ({done.ended}) after {done.seconds:.0f} s"
        return Result(command, "unknown", None, seconds, output=tail, note=note)
    if done.code in NOT_RUN:
        note = f"exit {done.code}: it could not run"
        return Result(command, "unknown", done.code, seconds, output=tail, note=note)
    reading = outputs.read(command.kind, (*kept, *done.errors), str(folder))
    status, note = judge(command, done.code, reading)
    cases = tuple(_from_place(case, command.folder, place) for case in reading.cases)
    return Result(command, status, done.code, seconds, _counts(command.kind, done.code, reading), cases, tail, note)


def judge(command: Command, code: int, reading: Summary) -> tuple[Status, str]:
    """The status of a command that ended by itself, and what is odd about it."""
    if command.kind == "audit":
        return _judge_audit(command, code, reading)
    if code and reading.counts is None and reading.trouble:
        return "unknown", f"it could not run: {reading.trouble}"
    if command.kind != "test":
        return ("green", "") if code == 0 else ("red", "")
    return _judge_tests(command, code, reading)


def _judge_tests(command: Command, code: int, reading: Summary) -> tuple[Status, str]:
    counts = reading.counts
    if counts is not None and counts.failed:
        return "red", "" if code else f"it exits 0 although {counts.failed} failed"
    if reading.nothing or (code == NOTHING_COLLECTED and counts is None and "pytest" in command.run):
        return "none", "it collected no tests"
    if counts is not None and not counts.passed:
        return "none", "every test was skipped"
    if code:
        return "red", ""
    return "green", "" if counts is not None else "its output names no tests"


def _judge_audit(command: Command, code: int, reading: Summary) -> tuple[Status, str]:
    found = reading.counts.failed if reading.counts else 0
    if found and code:
        return "red", ""
    if reading.trouble:
        return "unknown", f"it could not audit: {reading.trouble}"
    if code:
        return "unknown", f"it exited {code} and named no vulnerability"
    if "--offline" in command.run:
        return "unknown", "it could not audit: it was told to stay offline"
    if found:
        return "green", f"it exits 0 although it names {found}: the project's own limit"
    return "green", "" if reading.counts is not None else "its output names no result"


def _counts(kind: Kind, code: int, reading: Summary) -> Counts | None:
    if reading.counts is None and (reading.nothing or (kind in ("lint", "types") and code == 0)):
        return Counts()
    return reading.counts


def _words(command: Command) -> list[str]:
    """The words to start; unittest gets the option that makes it name its tests. ValueError if there are none."""
    try:
        words = shlex.split(command.run)
    except ValueError as error:
        raise ValueError(f"the command cannot be read: {error}") from None
    if not words:
        raise ValueError("there is no command")
    if odd := next((word for word in words if word in SHELL), ""):
        raise ValueError(f"{odd} is for a shell: write sh -c '…', or a target of a Makefile")
    told = {"-v", "--verbose", "-q", "--quiet", "-h", "--help"}
    if command.kind == "test" and ("-m", "unittest") in pairwise(words) and not told & {*words}:
        words.append("-v")
    return words


def _folder(command: Command, place: Path) -> Path:
    folder = Path(os.path.normpath(place / command.folder))
    if not folder.is_relative_to(os.path.normpath(place)):
        raise ValueError(f"the folder {command.folder} is outside of the project")
    return folder


def _telling(kind: Kind, env: Mapping[str, str | None]) -> dict[str, str]:
    """What makes runners name their tests, and npm ask its service: told to stay offline it finds nothing, and says so.

    Each is added to what is there.
    """

    def with_more(name: str, more: str) -> str:
        there = env[name] if name in env else os.environ.get(name)
        return f"{there} {more}" if there else more

    if kind == "test":
        return {"PYTEST_ADDOPTS": with_more("PYTEST_ADDOPTS", PYTEST), "GOFLAGS": with_more("GOFLAGS", "-v")}
    return {"npm_config_offline": "false"} if kind == "audit" else {}


def _from_place(case: Case, folder: str, place: Path) -> Case:
    """The case with its file as seen from the place of work, where it lies in it."""
    if not case.file:
        return case
    file = case.file
    if not os.path.isabs(file):
        file = os.path.normpath(os.path.join(folder, file))
    else:
        for root in (os.path.normpath(place), os.path.realpath(place)):
            if file.startswith(f"{root}/"):
                file = os.path.relpath(file, root)
                break
    return replace(case, file=file)
