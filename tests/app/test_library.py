"""agentd as a library: ten names, light to import, a whole change through them, and many runs at once in one process."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import psutil
import pytest

import agentd
from agentd.app import LAYOUTS
from agentd.errors import Interrupted
from tests.families import toy
from tests.families.test_toy import WRITE, Desk
from tests.sandbox import CHANGE, IDEA, make_sandbox


def test_the_library_is_at_most_ten_names_and_each_is_there() -> None:
    assert len(agentd.__all__) <= 10
    for name in agentd.__all__:
        assert getattr(agentd, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'fly'"):
        _ = agentd.fly


def test_importing_agentd_imports_nothing_else() -> None:
    code = "import sys, agentd; print([name for name in sys.modules if name.startswith(('agentd.', 'yaml', 'click'))])"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_a_change_is_planned_step_by_step_through_the_library(tmp_path: Path) -> None:
    told: list[str] = []
    project = agentd.load(make_sandbox(tmp_path).root, say=told.append)
    fields = {"clarification": "skipped: a test"}
    agentd.start(project, "change", CHANGE, IDEA, command="plan", steps=1, fields=fields)
    assert agentd.status(project, CHANGE).step == "clarify"
    before = ("write_answers", "choose_git", "set_up_git", "generate", "propose", "review_proposal", "specify")
    for step in (*before, "break_down"):
        report = agentd.resume(project, CHANGE, steps=1)
        assert (report.step, report.why) == (step, "paused")
    report = agentd.resume(project, CHANGE)
    assert (report.phase, report.why) == ("challenged", "elsewhere")
    assert agentd.resume(project, CHANGE).phase == "challenged"
    assert next(line for line in told if line.startswith("▶ ")) == "▶ propose"
    with pytest.raises(agentd.AgentdError):
        agentd.start(project, "change", CHANGE, IDEA)


class Client:
    """Who uses the server for one project: one thread drives its run, another one looks at it and answers."""

    def __init__(self, root: Path, **script: object) -> None:
        self.root = Desk(root, **script).root
        self.told: list[str] = []

    def load(self) -> agentd.Project:
        project: agentd.Project = agentd.load(self.root, say=self.told.append, layouts=(*LAYOUTS, toy.LAYOUT))
        return project

    def drive(self) -> agentd.Report:
        report = agentd.start(self.load(), "toy", "c1", "a card")
        assert (report.why, report.children) == ("waiting", {"sign/ada": "signed", "sign/bob": "signed"})
        wait_until(lambda: agentd.status(self.load(), "c1").doing == "ready")
        return agentd.resume(self.load(), "c1")

    def answer(self) -> str:
        wait_until(lambda: (self.root / "postcards" / "c1" / "card.json").exists())
        wait_until(lambda: agentd.status(self.load(), "c1").doing == "waiting")
        said = agentd.answer(self.load(), "c1", "UD-1", "yes", by=self.root.name)[1]
        return str(said.by)


class Impatient(Client):
    """Interrupts a call that hangs, and resumes the run."""

    def drive(self) -> agentd.Report:
        project = self.load()

        def interrupt() -> None:
            wait_until(lambda: [*self.root.rglob("calls/write-1.1.jsonl")])
            project.interrupted.set()

        with ThreadPoolExecutor(1) as pool:
            pool.submit(interrupt)
            with pytest.raises(Interrupted):
                agentd.start(project, "toy", "c1", "a card")
        assert agentd.status(self.load(), "c1").doing == "interrupted"
        report = agentd.resume(self.load(), "c1")
        assert report.why == "waiting"
        wait_until(lambda: agentd.status(self.load(), "c1").doing == "ready")
        return agentd.resume(self.load(), "c1")


def wait_until(condition: Callable[[], object]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.02)


def surroundings() -> dict[str, object]:
    """What a library must leave as it is in the process that uses it."""
    numbers = signal.valid_signals() - {signal.SIGKILL, signal.SIGSTOP}
    return {
        "folder": os.getcwd(),
        "environment": dict(os.environ),
        "handlers": {number: signal.getsignal(number) for number in numbers},
        "files": psutil.Process().num_fds(),
        "children": {child.pid for child in psutil.Process().children(recursive=True)},
        "threads": {thread.ident for thread in threading.enumerate()},
        "path": list(sys.path),
    }


def test_a_server_drives_runs_of_several_projects_at_once_from_its_threads(tmp_path: Path) -> None:
    own = subprocess.Popen(["sleep", "300"], start_new_session=True)  # a process of the server itself
    spawning, hanging = {**WRITE, "spawn": "setsid"}, {**WRITE, "hang": True, "times": 1}
    clients = [
        *(Client(tmp_path / f"plain-{number}") for number in range(4)),
        Client(tmp_path / "spawning", write=spawning),
        Impatient(tmp_path / "hanging", write=hanging),
    ]
    before = surroundings()
    try:
        with ThreadPoolExecutor(2 * len(clients)) as pool:
            reports = [pool.submit(client.drive) for client in clients]
            answers = [pool.submit(client.answer) for client in clients]
            assert [answer.result() for answer in answers] == [client.root.name for client in clients]
            ended = [report.result() for report in reports]
        assert [(report.phase, report.verdict, report.why) for report in ended] == [("over", "SENT", "finished")] * 6
        for client in clients:
            assert client.told.count("stamped: 8 words") == 1, client.told
        (spawned,) = [int(pid) for pid in next(clients[4].root.rglob("pids.txt")).read_text().split()]
        assert not psutil.pid_exists(spawned)
        assert own.poll() is None
        assert surroundings() == before
    finally:
        own.kill()
        own.wait()
