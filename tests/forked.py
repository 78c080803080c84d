"""The program without the wait for its imports: a server that has loaded agentd forks itself for each call of it.

Every call is a process of its own, with its own folder, environment, streams, signals and end, as if a person had typed it;
what it does not do again is to load 400 modules. `Sandbox.begin`, and the tests that watch a start, a terminal or an import,
start the program itself; `test_forked.py` compares the two ways.

    python -m tests.forked FD        serve what comes through this socket, until its other end is closed
"""

import atexit
import contextlib
import functools
import gc
import importlib
import importlib.util
import io
import json
import os
import pkgutil
import runpy
import selectors
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NoReturn

AGENTD = (sys.executable, "-m", "agentd")
HERE = str(Path(__file__).parents[1])
PACKAGES = "PYTHONPATH"
# What loads an SDK, of modules and memory as large as all the rest. Whatever needs one is a program of its own.
SDKS = ("agentd.agents.acp_", "agentd.agents.builtin_", "agentd.mcp.http", "agentd.mcp.server")
# What Python itself reads when it starts: a call that wants another value gets a start of its own; packages may be added.
AT_START = ("PYTHON", "LC_", "LANG", "LD_", "MALLOC_")


def run(
    words: Sequence[str], cwd: Path, env: Mapping[str, str], timeout: float, module: str = AGENTD[-1]
) -> subprocess.CompletedProcess[str]:
    """Call agentd with these words, as `subprocess.run` does; or a module of the tests that calls it."""
    server, theirs = _server()
    command = [*AGENTD[:-1], module, *words]
    if server is None or _at_start(env) != theirs or any(map(_shadows, _packages(env))):
        return subprocess.run(
            command,
            cwd=cwd,
            env=env if module == AGENTD[-1] else {**env, "PYTHONPATH": HERE},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=timeout,
        )
    pipes = [os.pipe() for _ in range(3)]
    with contextlib.ExitStack() as stack:
        ours = [stack.enter_context(os.fdopen(end, "rb", 0)) for end, _ in pipes]
        with tempfile.TemporaryFile("w+") as order:
            json.dump({"module": module, "words": words, "cwd": os.fspath(cwd), "env": dict(env)}, order)
            order.flush()
            socket.send_fds(server, [b"!"], [order.fileno(), *(end for _, end in pipes)])
        for _, end in pipes:
            os.close(end)
        out, err, report = _read(ours, timeout, command)
    return subprocess.CompletedProcess(command, int(report.split()[1]), out, err)


def _at_start(env: Mapping[str, str]) -> dict[str, str]:
    return {name: value for name, value in env.items() if name.startswith(AT_START) and name != PACKAGES}


def _read(files: list[io.FileIO], timeout: float, command: list[str]) -> list[str]:
    """What was written to each, as soon as nobody holds them open any more; the last one tells the process's number first."""
    found = {file.fileno(): b"" for file in files}
    with selectors.DefaultSelector() as selector:
        for file in found:
            selector.register(file, selectors.EVENT_READ)
        while selector.get_map():
            ready = selector.select(timeout)
            if not ready:
                os.kill(int(found[files[-1].fileno()].split()[0]), signal.SIGKILL)
                raise subprocess.TimeoutExpired(command, timeout)
            for key, _ in ready:
                more = os.read(key.fd, 1 << 16)
                found[key.fd] += more
                if not more:
                    selector.unregister(key.fd)
    return [io.TextIOWrapper(io.BytesIO(text), encoding="utf-8").read() for text in found.values()]


@functools.cache
def _server() -> tuple[socket.socket | None, dict[str, str]]:
    """The one server of this process, started when it is first needed, and what it began with."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("AGENTD_")}
    env["PYTHONDONTWRITEBYTECODE"] = "1"
    if not hasattr(os, "pidfd_open"):
        return None, {}
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-m", "tests.forked", str(theirs.fileno())]
    process = subprocess.Popen(command, cwd=HERE, env=env, pass_fds=[theirs.fileno()])
    theirs.close()

    def leave() -> None:
        ours.close()
        process.wait(30)

    atexit.register(leave)
    return ours, _at_start(env)


def serve(orders: socket.socket) -> None:
    """Fork for each order; tell the number of the new process at once, and its exit code when it has ended."""
    import agentd

    for module in pkgutil.walk_packages(agentd.__path__, "agentd."):
        if not module.name.endswith("__main__") and not module.name.startswith(SDKS):
            with contextlib.suppress(ImportError):  # of an extra that is not installed
                importlib.import_module(module.name)
    gc.freeze()
    running: dict[int, tuple[int, int]] = {}
    with selectors.DefaultSelector() as selector:
        selector.register(orders, selectors.EVENT_READ)
        while True:
            for key, _ in selector.select():
                if key.fd in running:
                    pid, report = running.pop(key.fd)
                    selector.unregister(key.fd)
                    os.close(key.fd)
                    _tell(report, os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))
                    os.close(report)
                    continue
                given = socket.recv_fds(orders, 1, 4)
                if not given[0]:
                    return
                order, out, err, report = given[1]
                pid = os.fork()
                if not pid:
                    selector.close()
                    orders.close()
                    for other in (report, *running, *(one for _, one in running.values())):
                        os.close(other)
                    _become(order, out, err)
                for end in (order, out, err):
                    os.close(end)
                _tell(report, pid)
                watched = os.pidfd_open(pid)
                running[watched] = (pid, report)
                selector.register(watched, selectors.EVENT_READ)


def _tell(report: int, number: int) -> None:
    with contextlib.suppress(BrokenPipeError):
        os.write(report, b"%d\n" % number)


def _shadows(folder: str) -> bool:
    """Whether a folder has a module that Python would load in place of one that the server has loaded."""
    names = {name.partition(".")[0] for name in os.listdir(folder)} if os.path.isdir(folder) else set()
    known = folder in sys.path
    return not known and any(name.isidentifier() and importlib.util.find_spec(name) for name in names)


def _packages(env: Mapping[str, str]) -> list[str]:
    return [folder for folder in env.get(PACKAGES, "").split(os.pathsep) if folder]


def _become(order: int, out: int, err: int) -> NoReturn:
    """Be the program that was ordered, and end as Python ends."""
    with os.fdopen(order) as file:
        file.seek(0)
        wanted: dict[str, Any] = json.load(file)
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), 0)
    for given, stream in ((out, 1), (err, 2)):
        os.dup2(given, stream)
        os.close(given)
    os.chdir(wanted["cwd"])
    known, more = (_packages(around) for around in (os.environ, wanted["env"]))
    os.environ.clear()
    os.environ.update(wanted["env"])
    sys.argv = ["", *wanted["words"]]
    sys.path[: 1 + len(known)] = [wanted["cwd"] if wanted["module"] == AGENTD[-1] else HERE, *more]
    sys.stdin = io.TextIOWrapper(os.fdopen(0, "rb"), encoding="utf-8")
    sys.stdout = io.TextIOWrapper(os.fdopen(1, "wb"), encoding="utf-8")
    sys.stderr = io.TextIOWrapper(os.fdopen(2, "wb"), encoding="utf-8", errors="backslashreplace", line_buffering=True)
    code = 1
    try:
        importlib.reload(sys.modules["agentd.state.crash"])  # it reads the environment when it is loaded
        runpy.run_module(wanted["module"], run_name="__main__", alter_sys=True)
        code = 0
    except SystemExit as stop:
        code = stop.code if isinstance(stop.code, int) else 0
    except BaseException as error:
        sys.excepthook(type(error), error, error.__traceback__)
    finally:
        threading._shutdown()  # type: ignore[attr-defined]
        atexit._run_exitfuncs()
        try:
            sys.stdout.flush()
        except (OSError, ValueError):
            code = 120
        with contextlib.suppress(OSError, ValueError):
            sys.stderr.flush()
        os._exit(code)


if __name__ == "__main__":
    serve(socket.socket(fileno=int(sys.argv[1])))
