"""The host of a run's tools: whom it serves, and that nothing of it outlives its call, its run or its agentd."""

import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path

import psutil
import pytest

from agentd.app import LAYOUTS, open_project
from agentd.calling import sandbox, tool_host
from agentd.calling.sandbox_rules import Reach, rules
from agentd.calling.tool_host import ToolHost
from agentd.errors import DiskTrouble
from agentd.runs.call_scope import open_desk, work_of
from agentd.state import durable
from tests.mcp import samples
from tests.mcp.bench import Bench, Process

GONE = "agentd is not running any more"
# Starts a host, says its pid and its socket, and waits to be killed.
AGENTD = """import sys, time
from pathlib import Path
from agentd.calling.tool_host import ToolHost
host = ToolHost(Path(sys.argv[1]))
print(host.helper.pid, host.socket, flush=True)
time.sleep(600)
"""


@pytest.fixture
def host(bench: Bench) -> Iterator[ToolHost]:
    with bench.host() as host:
        yield host


def start(words: list[str]) -> Process:
    pipe = subprocess.PIPE
    return Process(subprocess.Popen(words, stdin=pipe, stdout=pipe, stderr=pipe, encoding="utf-8"))


def ended(raw: Process) -> tuple[int, str]:
    """The exit code of a forwarder, and what it said about its end."""
    _, errors = raw.process.communicate(timeout=60)
    return raw.process.returncode, errors


def died(raw: Process) -> tuple[int, str]:
    """The same of one that ends by itself, as there is nobody to answer."""
    raw.died(60)
    return ended(raw)


def eventually(holds: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not holds():
        assert time.monotonic() < deadline
        time.sleep(0.01)


def servers(host: ToolHost) -> list[psutil.Process]:
    return psutil.Process(host.helper.pid).children()


@contextmanager
def doorbell(order: bytes) -> Iterator[tuple[subprocess.Popen[str], socket.socket]]:
    """One with a short moment and an order that waits for it, for a host that says a word and ends; and the pipe to it."""
    short = (
        "import runpy, sys; do = runpy.run_path(sys.argv[1])['main']; do.__globals__['MOMENT'] = 0.05; do(sys.argv[2:])"
    )
    ours, theirs = socket.socketpair()
    with ours, socket.socket(socket.AF_UNIX) as listener:
        listener.bind("")
        listener.listen()
        ours.sendall(order)
        numbers = (listener.fileno(), theirs.fileno())
        host = ["/bin/echo", "host", *map(str, numbers)]
        words = [sys.executable, "-c", short, str(tool_host.FACE / "doorbell.py"), *host]
        with theirs:
            process = subprocess.Popen(words, pass_fds=numbers, stdout=subprocess.PIPE, text=True)
        with process:
            yield process, ours


def test_tools_are_loaded_while_the_first_call_takes_its_time_and_not_after_one_that_ended_at_once() -> None:
    with doorbell(b"end\n") as (quick, pipe):
        assert pipe.recv(64) == b"ended\n"
        with doorbell(b"") as (slow, _):
            assert slow.communicate(timeout=60)[0].startswith("host")
        pipe.close()
        assert quick.communicate(timeout=60)[0] == ""


def test_a_tool_is_called_through_the_forwarder_and_the_server_ends_with_it(bench: Bench, host: ToolHost) -> None:
    raw = start(bench.forwarder(host))
    raw.greet()
    assert not raw.call("create_proposal", samples.PROPOSAL)["isError"]
    (server,) = servers(host)
    raw.process.kill()
    raw.process.communicate()
    eventually(lambda: not server.is_running() or server.status() == psutil.STATUS_ZOMBIE)


def test_an_agent_that_reads_nothing_is_waited_for_by_nobody(bench: Bench, host: ToolHost) -> None:
    raw = start(bench.forwarder(host))
    raw.greet()
    requests = "".join(f'{{"jsonrpc":"2.0","id":{number},"method":"tools/list"}}\n' for number in range(100))
    output, _ = raw.process.communicate(requests, timeout=60)
    assert output.count("\n") == 100
    assert raw.process.returncode == 0


def test_a_killed_agentd_ends_forwarders_servers_and_the_host(bench: Bench) -> None:
    agentd = subprocess.Popen(
        [sys.executable, "-P", "-c", AGENTD, str(bench.folder)], stdout=subprocess.PIPE, encoding="utf-8"
    )
    assert agentd.stdout is not None
    pid, _, where = agentd.stdout.readline().strip().partition(" ")
    with bench.host() as other:
        words = [where if word == str(other.socket) else word for word in bench.forwarder(other)]
    raw = start(words)
    raw.greet()
    (server,) = psutil.Process(int(pid)).children()
    agentd.kill()
    agentd.wait()
    agentd.stdout.close()
    code, said = died(raw)
    assert (code, GONE in said) == (1, True), said
    eventually(lambda: not psutil.pid_exists(int(pid)) and not server.is_running())
    assert Path(where).exists()  # a kill leaves it to the next command that works on the run
    durable.sweep(bench.folder)
    assert not Path(where).exists()


def test_a_killed_host_ends_its_servers_and_is_told(bench: Bench, host: ToolHost) -> None:
    raw = start(bench.forwarder(host))
    raw.greet()
    (server,) = servers(host)
    os.kill(host.helper.pid, signal.SIGKILL)
    code, said = died(raw)
    assert (code, GONE in said) == (1, True), said
    eventually(lambda: not server.is_running())
    assert not host.helper.ask(end=[str(bench.folder), bench.call])
    code, said = died(start(bench.forwarder(host)))
    assert (code, GONE in said) == (1, True), said


def test_a_call_that_is_over_has_no_server_any_more(bench: Bench, host: ToolHost) -> None:
    raw = start(bench.forwarder(host))
    raw.greet()
    assert host.helper.ask(end=[str(bench.folder), bench.call])
    assert not servers(host)
    assert died(raw)[0] == 1
    code, said = died(start(bench.forwarder(host)))
    assert (code, f"{bench.call} is over" in said) == (1, True), said


def test_a_host_that_nobody_asks_ends_at_once(bench: Bench) -> None:
    with bench.host() as host:
        assert host.helper.ask(end=[str(bench.folder), bench.call])
        pid = host.helper.pid
    assert not psutil.pid_exists(pid)
    assert not host.socket.exists()


def test_twenty_agents_at_once_are_served(bench: Bench, host: ToolHost) -> None:
    def use(number: int) -> str:
        raw = start(bench.forwarder(host))
        raw.greet()
        page = {**samples.KNOWLEDGE, "path": f"page-{number}.md"}
        text: str = raw.call("write_knowledge", page)["content"][0]["text"]
        raw.process.communicate()
        return text

    with ThreadPoolExecutor(20) as pool:
        said = list(pool.map(use, range(20)))
    assert [f"page-{number}.md" in text for number, text in enumerate(said)] == [True] * 20
    assert len([*(bench.root / "agentd" / "knowledge").glob("page-*.md")]) == 20


def test_a_project_may_lie_at_any_depth(tmp_path: Path) -> None:
    deep = tmp_path.joinpath(*["a-folder-with-a-long-name"] * 12)
    bench = Bench(deep / "repo")
    with bench.host() as host:
        assert len(str(host.socket)) > 300
        raw = start(bench.forwarder(host))
        raw.greet()
        assert "create_proposal" in raw.tools()
        assert ended(raw)[0] == 0


def test_the_socket_is_for_this_user_alone(host: ToolHost) -> None:
    found = host.socket.stat()
    assert stat.S_ISSOCK(found.st_mode)
    assert stat.S_IMODE(found.st_mode) == 0o600


@pytest.mark.parametrize("kind", ["file", "link", "nothing"])
def test_what_is_put_in_the_place_of_the_socket_is_not_talked_to(bench: Bench, host: ToolHost, kind: str) -> None:
    elsewhere = bench.root / "elsewhere"
    host.socket.rename(elsewhere)
    if kind == "file":
        host.socket.write_text("+")
    elif kind == "link":
        host.socket.symlink_to(elsewhere)
    code, said = died(start(bench.forwarder(host)))
    assert (code, GONE in said) == (1, True), said
    assert not servers(host)


def test_a_folder_of_calls_that_is_a_link_is_refused(bench: Bench, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (bench.folder / "calls").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(DiskTrouble, match="is a link"):
        ToolHost(bench.folder)
    assert not [*(tmp_path / "elsewhere").iterdir()]


def test_a_name_that_is_taken_is_left_alone(bench: Bench) -> None:
    taken = bench.folder / "calls" / f".tools.{os.getpid()}.0.tmp"
    taken.parent.mkdir()
    taken.symlink_to(bench.root / "victim")
    with bench.host() as host:
        assert host.socket != taken
    assert taken.is_symlink()
    assert not (bench.root / "victim").exists()


GREETINGS = [
    b"",
    b"\0",
    b"GET / HTTP/1.1\r\n\r\n",
    b"agentd",
    b"agentd\0",
    b"agentd\0" + b"x" * 100_000,
    b"\xb5\0t6\xbd\xde2i\xc5\xd7\xa3",
]


@pytest.mark.parametrize("inner", ["a/" * 3000, "x" * 300, "\ud800", "../../../etc"])
def test_a_folder_that_cannot_be_one_is_refused_and_ends_nothing_else(
    bench: Bench, host: ToolHost, inner: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = start(bench.forwarder(host))
    other.greet()
    monkeypatch.chdir(host.socket.parent)
    with socket.socket(socket.AF_UNIX) as stranger:
        stranger.connect(host.socket.name)
        stranger.sendall(f"agentd\0{bench.folder}/children/{inner}\0call\0".encode(errors="surrogatepass"))
        assert stranger.recv(1) == b"-"
    assert other.tools()
    assert ended(other)[0] == 0


def test_those_that_say_nothing_keep_nobody_out(bench: Bench, host: ToolHost, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(host.socket.parent)
    with ExitStack() as stack:
        for _ in range(150):
            stack.enter_context(socket.socket(socket.AF_UNIX)).connect(host.socket.name)
        raw = start(bench.forwarder(host))
        raw.greet()
        assert psutil.Process(host.helper.pid).num_fds() < 130
        assert ended(raw)[0] == 0


def test_a_host_whose_socket_is_gone_answers_nobody(host: ToolHost) -> None:
    assert host.answers()
    host.socket.rename(host.socket.with_name("elsewhere"))
    assert not host.answers()
    host.socket.touch()
    assert not host.answers()


def test_every_call_of_a_lost_host_is_told_so_and_no_call_of_the_next(bench: Bench) -> None:
    work = work_of(open_desk(LAYOUTS, bench.folder, bench.call))
    first, second = (tool_host.connect(work, call)[0] for call in ("propose-1.1", "propose-2.1"))
    lost = work.services[tool_host.SERVICE]
    assert isinstance(lost, ToolHost)
    os.kill(lost.helper.pid, signal.SIGKILL)
    assert tool_host.end_call(work, "propose-1.1", first) == tool_host.LOST
    again, _ = tool_host.connect(work, "propose-1.2")
    assert tool_host.end_call(work, "propose-2.1", second) == tool_host.LOST
    assert tool_host.end_call(work, "propose-1.2", again) == ""
    work.end_services()


def test_a_connection_that_does_not_say_who_it_is_is_not_served(
    bench: Bench, host: ToolHost, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(host.socket.parent)
    for greeting in GREETINGS:
        with socket.socket(socket.AF_UNIX) as stranger:
            stranger.connect(host.socket.name)
            with suppress(OSError):
                stranger.sendall(greeting)
                stranger.shutdown(socket.SHUT_WR)
            with suppress(ConnectionResetError):
                assert stranger.recv(64) == b""
    raw = start(bench.forwarder(host))
    raw.greet()
    assert len(servers(host)) == 1
    assert ended(raw)[0] == 0


@pytest.mark.parametrize("call", ["", "propose-1.2", "propose-2.1", "../x"])
def test_a_call_that_is_not_under_way_has_no_tools(bench: Bench, host: ToolHost, call: str) -> None:
    raw = start(bench.forwarder(host, call))
    raw.greet()
    assert raw.tools() == []
    assert raw.call("create_proposal", samples.PROPOSAL)["isError"]
    assert not (bench.folder / "proposal.md").exists()
    raw.process.communicate()


def test_another_run_is_not_served(bench: Bench, host: ToolHost, tmp_path: Path) -> None:
    other = Bench(tmp_path / "other")
    for folder in (other.folder, bench.folder.parent, bench.folder / ".." / "x", bench.folder / "children" / "x"):
        code, said = died(start(bench.forwarder(host, folder=folder)))
        assert code == 1
        assert "is not the run that this agentd drives" in said or "There is no run in" in said, said
    assert not servers(host)


def test_an_agent_in_the_sandbox_reaches_its_tools(bench: Bench, host: ToolHost) -> None:
    front = sandbox.find_front(os.environ["PATH"])
    if front.why:
        pytest.skip(front.why)
    runs = open_project(bench.root).own_folders()
    reach = Reach(str(bench.root), str(bench.root), os.environ, edits=False, agent=True, runs=runs)
    words = sandbox.enclose(bench.forwarder(host), front, rules(reach, sys.executable), str(bench.root))
    raw = start([*words])
    raw.greet()
    assert not raw.call("create_proposal", samples.PROPOSAL)["isError"]
    assert (bench.folder / "proposal.md").is_file()
    assert ended(raw)[0] == 0
