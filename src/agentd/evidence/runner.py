"""Runs a command of the project and judges its result: green, red, none or unknown, never by the exit code alone.

It changes no file itself, and the Result names the command as the project has it.
"""

import os
import shlex
import threading
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from agentd import process, temporary
from agentd.errors import AgentdError, NotFound
from agentd.evidence import bytecode, outputs
from agentd.evidence.outputs import diagnostics
from agentd.evidence.outputs.summary import Summary
from agentd.model.command import Command, Kind
from agentd.model.evidence import Case, Counts, Result, Status

# The exit codes of shells and launchers for a program that cannot be started, or is missing.
NOT_RUN = (126, 127)
NOTHING_COLLECTED = 5  # pytest, and unittest from Python 3.12 on
TAIL = 40
READ_LINES = 100_000
SHELL = {"&&", "||", ";", "|", "&", ">", ">>", "<", "2>&1"}
# Not -rA, which also prints the output of passing tests.
PYTEST = "-rfEsxXp"

Around = Callable[[Sequence[str]], Sequence[str]]


def run_command(
    command: Command,
    place: Path,
    env: Mapping[str, str | None],
    timeout: float,
    stop: threading.Event | None,
    around: Around = tuple,
    watch: Callable[[int, int], None] | None = None,
) -> Result:
    """Green only if the command was found, ended by itself, exited 0 and its output does not say otherwise.

    `around` wraps the words of the command, for example in a sandbox; `watch` is that of `process.run`. The result is not redacted.
    """
    try:
        words = _words(command)
        folder = _folder(command, place)
    except ValueError as error:
        return Result(command, "unknown", note=str(error))
    kept: deque[str] = deque(maxlen=READ_LINES)
    try:
        with temporary.folder() as compiled:
            bytecode.lay_out(compiled, place)
            done = process.run(
                around(words),
                cwd=folder,
                env={**env, **_variables(command.kind, env), "PYTHONPYCACHEPREFIX": str(compiled)},
                timeout=timeout,
                on_line=kept.append,
                stop=stop,
                watch=watch,
            )
    except AgentdError as error:
        note = error.message if command.kind == "test" else f"{os.path.basename(words[0])} is not installed"
        return Result(command, "unknown", note=note if isinstance(error, NotFound) else error.message)
    tail = (*done.output[-TAIL:], *done.errors[-TAIL:])
    seconds = round(done.seconds, 3)
    if done.ended != "exit":
        note = f"ended by agentd ({done.ended}) after {done.seconds:.0f} s"
        return Result(command, "unknown", None, seconds, output=tail, note=note)
    if done.code in NOT_RUN:
        what = diagnostics.missing_program((*done.output, *done.errors))
        note = _not_run(command, what) if what else f"exit {done.code}: it could not run"
        return Result(command, "unknown", done.code, seconds, output=tail, note=note)
    summary = outputs.read(command.kind, (*kept, *done.errors), str(folder))
    status, note = judge(command, done.code, summary)
    cases = tuple(_from_place(case, command.folder, place) for case in summary.cases)
    return Result(command, status, done.code, seconds, _counts(command.kind, done.code, summary), cases, tail, note)


def judge(command: Command, code: int, summary: Summary) -> tuple[Status, str]:
    """The status of a command that ended by itself, and a note if something is odd."""
    if command.kind == "audit":
        return _judge_audit(command, code, summary)
    if code and summary.counts is None and summary.trouble:
        return "unknown", _not_run(command, summary.trouble)
    if command.kind != "test":
        return ("green", "") if code == 0 else ("red", "")
    return _judge_tests(command, code, summary)


def _not_run(command: Command, trouble: str) -> str:
    """Why a command could not run: of a tool only that it is not installed, of tests all that was said."""
    name = diagnostics.named(trouble) if command.kind != "test" else ""
    return f"{name} is not installed" if name else f"it could not run: {trouble}"


def _judge_tests(command: Command, code: int, summary: Summary) -> tuple[Status, str]:
    counts = summary.counts
    if counts is not None and counts.failed:
        return "red", "" if code else f"it exits 0 although {counts.failed} failed"
    if summary.nothing or (code == NOTHING_COLLECTED and counts is None and "pytest" in command.run):
        return "none", "it collected no tests"
    if counts is not None and not counts.passed:
        return "none", "every test was skipped"
    if code:
        return "red", ""
    return "green", "" if counts is not None else "its output names no tests"


def _judge_audit(command: Command, code: int, summary: Summary) -> tuple[Status, str]:
    found = summary.counts.failed if summary.counts else 0
    if found and code:
        return "red", ""
    if summary.trouble:
        return "unknown", f"it could not audit: {summary.trouble}"
    if code:
        return "unknown", f"it exited {code} and named no vulnerability"
    if "--offline" in command.run:
        return "unknown", "it could not audit: it was told to stay offline"
    if found:
        return "green", f"it exits 0 although it names {found}: the project's own limit"
    return "green", "" if summary.counts is not None else "its output names no result"


def _counts(kind: Kind, code: int, summary: Summary) -> Counts | None:
    if summary.counts is None and (summary.nothing or (kind in ("lint", "types") and code == 0)):
        return Counts()
    return summary.counts


def _words(command: Command) -> list[str]:
    """The words of the command; unittest gets the option that makes it name its tests. Raises ValueError if it has none."""
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


def _variables(kind: Kind, env: Mapping[str, str | None]) -> dict[str, str]:
    """Options that make runners name their tests, added to those that are set; npm's audit finds nothing offline."""
    if kind == "audit":
        return {"npm_config_offline": "false"}
    options = {"PYTEST_ADDOPTS": PYTEST, "GOFLAGS": "-v"} if kind == "test" else {}
    known = {name: env[name] if name in env else os.environ.get(name) for name in options}
    return {name: f"{known[name]} {option}" if known[name] else option for name, option in options.items()}


def _from_place(case: Case, folder: str, place: Path) -> Case:
    """The case with its file as a path from `place`, if it is below it."""
    if not case.file:
        return case
    if not os.path.isabs(case.file):
        return replace(case, file=os.path.normpath(os.path.join(folder, case.file)))
    roots = (root for root in (os.path.normpath(place), os.path.realpath(place)) if case.file.startswith(f"{root}/"))
    root = next(roots, "")
    return replace(case, file=os.path.relpath(case.file, root)) if root else case
