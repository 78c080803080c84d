"""Programs run to their end or are ended, and nothing they started is alive afterwards."""

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import psutil
import pytest

import agentd.errors
from agentd.errors import AgentdError, NotFound
from agentd.process import Finished, end_leftovers, run
from agentd.process.lines import KEPT_BYTES, KEPT_LINES, MAX_LINE

LONG = 20.0

SLEEPER = """
import os, signal, sys
signal.alarm(60)
if "stubborn" in sys.argv:
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
with open(sys.argv[1] + ".new", "w") as file:
    file.write(str(os.getpid()))
os.rename(sys.argv[1] + ".new", sys.argv[1])
while True:
    signal.pause()
"""

OWN_SESSION = "import subprocess, sys; subprocess.Popen(sys.argv[1:], start_new_session=True)"
# What the programs of these tests begin with: `sleeper` starts another process and returns once that one is up.
PREAMBLE = f"""
import os, signal, subprocess, sys, time
signal.alarm(60)
OWN_SESSION = {OWN_SESSION!r}
"""
PREAMBLE += """
def sleeper(name, *words, orphan=False, quiet=True, **how):
    argv = [sys.executable, "sleeper.py", name, *words]
    if orphan:
        argv = [sys.executable, "-c", OWN_SESSION, *argv]
    out = subprocess.DEVNULL if quiet else None
    started = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=out, stderr=out, **how)
    if orphan:
        started.wait()
    while not os.path.exists(name):
        time.sleep(0.005)

def own_pid(name="own"):
    with open(name + ".new", "w") as file:
        file.write(str(os.getpid()))
    os.rename(name + ".new", name)

def hang():
    while True:
        signal.pause()
"""


def wait_until(condition: Callable[[], object], seconds: float = LONG) -> None:
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def alive(pid: int) -> bool:
    try:
        return psutil.Process(pid).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


class Place:
    """A folder of programs; every process that wrote its pid there is gone when the test is."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        (folder / "sleeper.py").write_text(SLEEPER)

    def program(self, body: str) -> list[str]:
        path = self.folder / "program.py"
        path.write_text(PREAMBLE + body)
        return [sys.executable, str(path)]

    def run(
        self,
        body: str,
        *,
        stdin: str = "",
        timeout: float = LONG,
        silence: float | None = None,
        grace: float = 5.0,
        on_line: Callable[[str], None] | None = None,
        stop: threading.Event | None = None,
    ) -> Finished:
        return run(
            self.program(body),
            cwd=self.folder,
            stdin=stdin,
            timeout=timeout,
            silence=silence,
            grace=grace,
            on_line=on_line,
            stop=stop,
        )

    def caller(self, body: str, **env: str) -> "subprocess.Popen[str]":
        """Another process that uses agentd.process itself."""
        path = self.folder / "caller.py"
        path.write_text(
            f"{PREAMBLE}\nfrom agentd.process import run, end_leftovers\nfrom agentd.errors import *\n{body}"
        )
        source = str(Path(agentd.errors.__file__).parents[1])
        around = {**os.environ, "PYTHONPATH": source, **env}
        pipe = subprocess.PIPE
        return subprocess.Popen([sys.executable, str(path)], cwd=self.folder, env=around, stdout=pipe, text=True)

    def pid(self, name: str) -> int:
        wait_until((self.folder / name).exists)
        return int((self.folder / name).read_text())


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    yield Place(tmp_path)
    for file in tmp_path.iterdir():
        if not file.suffix and file.is_file():
            pid = int(file.read_text())
            if alive(pid) and str(tmp_path) in " ".join([*psutil.Process(pid).cmdline(), psutil.Process(pid).cwd()]):
                os.kill(pid, signal.SIGKILL)


def test_exit_code_and_both_outputs_are_returned(place: Place) -> None:
    done = place.run("print('one'); print('two'); print('oh', file=sys.stderr); sys.exit(3)")
    assert (done.code, done.ended, done.output, done.errors) == (3, "exit", ("one", "two"), ("oh",))
    assert 0 < done.seconds < LONG


def test_a_program_that_died_of_a_signal_has_its_negative_number(place: Place) -> None:
    done = place.run("os.kill(os.getpid(), signal.SIGSEGV)")
    assert (done.code, done.ended) == (-signal.SIGSEGV, "exit")


def test_the_memory_of_all_its_processes_is_told_while_it_runs(place: Place) -> None:
    told: list[tuple[int, int]] = []
    body = """
import subprocess, time
kept = b"x" * (40 << 20)
subprocess.run([sys.executable, "-c", "import time; kept = b'x' * (40 << 20); time.sleep(0.6)"])
"""
    run(place.program(body), cwd=place.folder, timeout=LONG, watch=lambda now, most: told.append((now, most)))
    assert max(now for now, _ in told) > 80 << 20
    assert max(most for _, most in told) < 200 << 20
    assert all(now <= most for now, most in told)


def test_the_memory_of_a_process_that_was_too_quick_to_be_seen_is_told_at_the_end(place: Place) -> None:
    told: list[tuple[int, int]] = []
    body = "kept = b'x' * (60 << 20); del kept"
    run(place.program(body), cwd=place.folder, timeout=LONG, watch=lambda now, most: told.append((now, most)))
    assert told[-1][0] == 0
    assert 60 << 20 < told[-1][1] < 200 << 20


def test_a_program_gets_its_folder_its_variables_and_those_of_agentd(place: Place) -> None:
    argv = place.program("print(os.getcwd()); print(os.environ['NEW']); print(os.environ['PATH'])")
    done = run(argv, cwd=place.folder, env={"NEW": "é"}, timeout=LONG)
    assert done.output == (str(place.folder.resolve()), "é", os.environ["PATH"])


def test_a_program_without_input_reads_an_end_at_once(place: Place) -> None:
    assert place.run("print(repr(sys.stdin.read()))").output == ("''",)


def test_input_larger_than_any_pipe_comes_back_while_it_is_written(place: Place) -> None:
    text = "".join(f"{number} é\n" for number in range(400_000))
    lines: list[str] = []
    place.run("import shutil; shutil.copyfileobj(sys.stdin, sys.stdout)", stdin=text, on_line=lines.append)
    assert "\n".join(lines) + "\n" == text


def test_a_program_that_never_reads_its_input_does_not_block(place: Place) -> None:
    done = place.run("print('done')", stdin="x" * 10_000_000)
    assert (done.code, done.output) == (0, ("done",))


def test_a_program_that_closes_its_input_goes_on(place: Place) -> None:
    done = place.run("os.close(0); print('closed', flush=True); time.sleep(0.2); print('on')", stdin="x" * 10_000_000)
    assert (done.code, done.output) == (0, ("closed", "on"))


def test_lines_are_split_at_newlines_alone_and_the_last_needs_none(place: Place) -> None:
    body = r"sys.stdout.buffer.write(b'a\x85b\x0bc\r\n\n\xff\xe2\x82z\n' + '\u2028é'.encode() + b'\rlast')"
    assert place.run(body).output == ("a\ufffdb\x0bc", "", "\ufffd\ufffdz", "\u2028é\rlast")


def test_a_character_split_over_two_writes_arrives_whole(place: Place) -> None:
    body = r"""
for byte in '🙂é'.encode():
    os.write(1, bytes([byte]))
    time.sleep(0.02)
"""
    assert place.run(body).output == ("🙂é",)


def test_a_line_of_the_longest_length_is_whole_and_a_longer_one_visibly_cut(place: Place) -> None:
    lines: list[str] = []
    place.run(f"print('x' * {MAX_LINE}); print('y' * {MAX_LINE + 5}); print('z')", on_line=lines.append)
    assert lines == ["x" * MAX_LINE, "y" * MAX_LINE + " [cut: 5 bytes more]", "z"]


def test_lines_arrive_in_order_in_the_calling_thread(place: Place) -> None:
    seen: list[tuple[str, int]] = []
    done = place.run("for n in range(5000): print(n)", on_line=lambda line: seen.append((line, threading.get_ident())))
    assert seen == [(str(number), threading.get_ident()) for number in range(5000)]
    assert done.output == tuple(str(number) for number in range(5000 - KEPT_LINES, 5000))


def test_a_line_arrives_before_the_program_is_over(place: Place) -> None:
    def answer(line: str) -> None:
        (place.folder / "answer.txt").write_text(line)

    body = "print('hello', flush=True)\nwhile not os.path.exists('answer.txt'): time.sleep(0.01)"
    assert place.run(body, on_line=answer).ended == "exit"


def test_kept_lines_are_bounded_in_bytes(place: Place) -> None:
    done = place.run("for n in range(40): print(n, 'é' * 500_000); print(n, 'e' * 1_000_000, file=sys.stderr)")
    for lines in (done.output, done.errors):
        assert lines[-1].startswith("39 ")
        assert 1 < len(lines) < 40
        assert sum(map(len, lines)) <= KEPT_BYTES


def test_memory_stays_bounded_whatever_a_program_prints(place: Place) -> None:
    place.program("""
block = ('x' * 199 + '\\n') * 5000
for _ in range(200): sys.stdout.write(block)
sys.stdout.flush()
for _ in range(50): sys.stdout.write('y' * 1_000_000); sys.stderr.write('z' * 1_000_000)
""")
    caller = place.caller("""
import resource
resource.setrlimit(resource.RLIMIT_AS, (200 << 20, 200 << 20))
count = 0
def on_line(line):
    global count
    count += 1
done = run([sys.executable, "program.py"], cwd=".", timeout=60, on_line=on_line)
print(done.code, count, done.output[-1][-30:])
""")
    out, _ = caller.communicate(timeout=60)
    assert out == f"0 1000001 yyy [cut: {50_000_000 - MAX_LINE} bytes more]\n"


def test_a_program_past_its_time_is_ended(place: Place) -> None:
    done = place.run("own_pid(); print('up', flush=True); hang()", timeout=0.5)
    assert (done.code, done.ended, done.output) == (-signal.SIGTERM, "timeout", ("up",))
    assert 0.5 <= done.seconds < 5
    assert not alive(place.pid("own"))


def test_a_flood_does_not_hold_up_the_clock(place: Place) -> None:
    done = place.run("while True: print('x' * 1000)", timeout=0.5)
    assert done.ended == "timeout"
    assert done.seconds < 5


def test_a_silent_program_is_ended(place: Place) -> None:
    done = place.run("own_pid(); print('up', flush=True); hang()", silence=0.5)
    assert (done.code, done.ended) == (-signal.SIGTERM, "silence")
    assert done.seconds < 5
    assert not alive(place.pid("own"))


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_program_that_prints_anything_anywhere_is_not_silent(place: Place, stream: str) -> None:
    body = f"for _ in range(15): sys.{stream}.write('.'); sys.{stream}.flush(); time.sleep(0.1)"
    assert place.run(body, silence=1.0).ended == "exit"


def test_a_slow_reader_of_lines_does_not_make_a_program_silent(place: Place) -> None:
    body = "for n in range(3): print(n, flush=True); time.sleep(0.05)"
    assert place.run(body, silence=1.0, on_line=lambda line: time.sleep(1.1 if line == "0" else 0)).ended == "exit"


def test_a_program_may_finish_its_last_words_when_it_is_ended(place: Place) -> None:
    body = """
def bye(*_):
    print('x' * 1_000_000)
    print('bye', flush=True)
    os._exit(7)
signal.signal(signal.SIGTERM, bye)
print('up', flush=True)
hang()
"""
    stop = threading.Event()
    done = place.run(body, stop=stop, on_line=lambda line: stop.set())
    assert (done.code, done.ended, done.output[-1]) == (7, "stopped", "bye")


def test_what_a_program_printed_before_it_was_over_is_not_lost(place: Place) -> None:
    stop = threading.Event()

    def on_line(line: str) -> None:
        if line == "up":
            (place.folder / "go.txt").touch()
            wait_until(lambda: not alive(place.pid("own")))
            stop.set()

    body = """
own_pid()
print('up', flush=True)
while not os.path.exists('go.txt'): time.sleep(0.01)
for n in range(1000): print(n)
"""
    done = place.run(body, stop=stop, on_line=on_line)
    assert done.output == ("up", *map(str, range(1000)))[-KEPT_LINES:]


def test_processes_that_ignore_the_request_are_killed_after_the_grace(place: Place) -> None:
    body = "signal.signal(signal.SIGTERM, signal.SIG_IGN); own_pid(); sleeper('child', 'stubborn'); print(1, flush=True); hang()"
    stop = threading.Event()
    done = place.run(body, grace=0.3, stop=stop, on_line=lambda line: stop.set())
    assert (done.code, done.ended) == (-signal.SIGKILL, "stopped")
    assert not alive(place.pid("own"))
    assert not alive(place.pid("child"))


FAMILY = """
own_pid()
sleeper('child')
sleeper('session', start_new_session=True)
sleeper('orphan', 'stubborn', orphan=True)
sleeper('stripped', env={}, start_new_session=True)
sleeper('holder', orphan=True, quiet=False)
print('up', flush=True)
"""
NAMES = ("own", "child", "session", "orphan", "stripped", "holder")


def test_the_whole_family_ends_with_a_stopped_program(place: Place) -> None:
    stop = threading.Event()
    done = place.run(FAMILY + "hang()", grace=0.3, stop=stop, on_line=lambda line: stop.set())
    assert done.ended == "stopped"
    assert [name for name in NAMES if alive(place.pid(name))] == []


def test_a_child_born_while_the_others_are_ended_is_ended_too(place: Place) -> None:
    body = """
signal.signal(signal.SIGTERM, lambda *_: sleeper('late', 'stubborn', orphan=True))
print('up', flush=True)
hang()
"""
    stop = threading.Event()
    done = place.run(body, grace=1.0, stop=stop, on_line=lambda line: stop.set())
    assert done.code == -signal.SIGKILL
    assert not alive(place.pid("late"))


def test_what_a_program_leaves_behind_ends_with_it_and_holds_nothing_up(place: Place) -> None:
    body = """
own_pid()
sleeper('background', quiet=False)
sleeper('orphan', 'stubborn', orphan=True, quiet=False)
sleeper('stripped', env={})
print('done')
"""
    done = place.run(body, grace=0.3)
    assert (done.code, done.ended, done.output) == (0, "exit", ("done",))
    assert done.seconds < 10
    assert [name for name in ("own", "background", "orphan", "stripped") if alive(place.pid(name))] == []


def test_the_end_of_a_pipeline_may_finish_after_its_shell(place: Place) -> None:
    body = """
code = "import os, time\\nwhile os.getppid() == %d: pass\\ntime.sleep(0.1)\\nprint('late')" % os.getpid()
subprocess.Popen([sys.executable, '-S', '-c', code])
print('early')
"""
    assert place.run(body).output == ("early", "late")


RUNAWAY = """
import os
own_pid()
if not os.fork():
    os.setsid()
    if not os.fork():
        os.closerange(0, 3)
        os.execve("/usr/bin/env", ["env", "-i", sys.executable, "sleeper.py", *sys.argv[1:]], {})
    os._exit(0)
os.wait()
while not os.path.exists(sys.argv[1]): time.sleep(0.005)
"""
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux has subreapers and parent death signals")


@on_linux
@pytest.mark.parametrize("manner", ["gentle", "stubborn"])
def test_a_process_that_left_its_session_and_its_environment_ends_with_the_program(place: Place, manner: str) -> None:
    done = run([*place.program(RUNAWAY), "away", manner], cwd=place.folder, timeout=LONG, grace=0.3)
    assert (done.code, done.ended) == (0, "exit")
    assert not psutil.pid_exists(place.pid("away")), "it is not even a zombie"


@on_linux
def test_the_process_that_runs_a_program_adopts_nothing(place: Place) -> None:
    body = """
import ctypes
def adopts():
    answer = ctypes.c_int()
    ctypes.CDLL(None).prctl(37, ctypes.byref(answer), 0, 0, 0)
    return answer.value
seen = []
run(["echo", "x"], cwd=".", timeout=9, on_line=lambda line: seen.append(adopts()))
print(seen, adopts())
"""
    assert place.caller(body).communicate(timeout=LONG)[0] == "[0] 0\n"


@on_linux
def test_an_orphan_that_is_over_is_gone_at_once(place: Place) -> None:
    """Programs wait for their daemons to be gone; a zombie would keep them waiting."""
    body = """
sleeper('daemon', orphan=True, env={})
pid = int(open('daemon').read())
os.kill(pid, signal.SIGKILL)
while True:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        break
    time.sleep(0.01)
"""
    assert place.run(body).ended == "exit"


@on_linux
def test_the_orphan_of_a_program_ends_with_it_whatever_else_runs(place: Place) -> None:
    argv = place.program(
        "own_pid(sys.argv[1])\nif sys.argv[2:]: sleeper(sys.argv[2], orphan=True, env={})\n"
        "while not os.path.exists(sys.argv[1] + '.end'): time.sleep(0.01)"
    )
    results: dict[str, Finished] = {}

    def work(*names: str) -> None:
        results[names[0]] = run([*argv, *names], cwd=place.folder, timeout=LONG)

    def finish(name: str) -> None:
        (place.folder / f"{name}.end").touch()
        threads[name].join()

    threads = {}
    for name, *orphan in (("first", "early"), ("second",), ("third", "late")):
        threads[name] = threading.Thread(target=work, args=(name, *orphan))
        threads[name].start()
        for each in (name, *orphan):
            place.pid(each)
    finish("third")
    assert not psutil.pid_exists(place.pid("late"))
    assert alive(place.pid("early"))
    finish("first")
    assert not psutil.pid_exists(place.pid("early"))
    finish("second")
    assert {name: (done.ended, done.code) for name, done in results.items()} == dict.fromkeys(threads, ("exit", 0))


def test_processes_that_the_caller_starts_itself_are_left_alone(place: Place) -> None:
    """A server has children of its own: older ones, ones of other threads, daemons that nobody waits for."""
    own = [subprocess.Popen(["sleep", "60"], start_new_session=new) for new in (False, True)]

    def start_more(line: str) -> None:
        thread = threading.Thread(target=lambda: own.append(subprocess.Popen(["sleep", "60"], start_new_session=True)))
        thread.start()
        thread.join()
        daemon = [sys.executable, "-c", OWN_SESSION, sys.executable, "sleeper.py", "daemon"]
        subprocess.run(daemon, cwd=place.folder, check=True)

    try:
        place.run("sleeper('away', orphan=True, env={}); print('up', flush=True)", on_line=start_more)
        assert not alive(place.pid("away"))
        assert [process.poll() for process in own] == [None, None, None]
        assert alive(place.pid("daemon"))
    finally:
        for process in own:
            process.kill()
    assert [process.wait() for process in own] == [-signal.SIGKILL] * 3


def test_a_process_that_got_away_with_the_pipe_does_not_hold_up_the_end(place: Place) -> None:
    """Elsewhere than on Linux it cannot be found; run() must come back all the same."""
    body = "sleeper('away', orphan=True, quiet=False, env={}); print('done')"
    done = place.run(body)
    assert (done.ended, done.output) == ("exit", ("done",))
    assert done.seconds < 10


def test_an_event_set_by_another_thread_stops_the_program(place: Place) -> None:
    stop = threading.Event()

    def set_it_later() -> None:
        place.pid("own")
        stop.set()

    thread = threading.Thread(target=set_it_later)
    thread.start()
    done = place.run("own_pid(); hang()", stop=stop)
    thread.join()
    assert (done.code, done.ended) == (-signal.SIGTERM, "stopped")


def test_an_error_in_the_reader_of_lines_ends_the_program_and_is_raised(place: Place) -> None:
    seen: list[str] = []

    def fail(line: str) -> None:
        seen.append(line)
        raise ZeroDivisionError(line)

    with pytest.raises(ZeroDivisionError, match="up"):
        place.run(FAMILY + "for n in range(10_000): print(n)\nhang()", grace=0.3, on_line=fail)
    assert seen == ["up"]
    assert [name for name in NAMES if alive(place.pid(name))] == []


INTERRUPTED = """
def interrupt(number, frame):
    raise Interrupted(number)
signal.signal(signal.SIGTERM, interrupt)
try:
    run([sys.executable, "program.py"], cwd=".", timeout=60, grace={grace})
except Interrupted as end:
    print("interrupted", end.code, flush=True)
"""


def test_a_signal_to_the_caller_ends_the_whole_family(place: Place) -> None:
    place.program(FAMILY + "own_pid('ready'); hang()")
    caller = place.caller(INTERRUPTED.format(grace=0.3))
    place.pid("ready")
    caller.terminate()
    out, _ = caller.communicate(timeout=LONG)
    assert (out, caller.returncode) == ("interrupted 143\n", 0)
    assert [name for name in NAMES if alive(place.pid(name))] == []


def test_a_second_signal_ends_the_grace_and_still_everything(place: Place) -> None:
    place.program("""
signal.signal(signal.SIGTERM, lambda *_: own_pid('asked'))
sleeper('child', 'stubborn')
own_pid('ready')
hang()
""")
    caller = place.caller(INTERRUPTED.format(grace=50))
    place.pid("ready")
    caller.terminate()
    place.pid("asked")
    caller.terminate()
    out, _ = caller.communicate(timeout=LONG)
    assert out == "interrupted 143\n"
    assert [name for name in ("ready", "child") if alive(place.pid(name))] == []


def test_a_signal_at_any_moment_of_a_start_leaves_nothing(place: Place) -> None:
    """The timer fires at another microsecond of the start each time; the program would wait for ever."""
    caller = place.caller("""
def interrupt(number, frame):
    raise Interrupted(number)
signal.signal(signal.SIGALRM, interrupt)
run(["true"], cwd=".", timeout=9)
interrupted = 0
for number in range(15):
    try:
        signal.setitimer(signal.ITIMER_REAL, 0.0002 * (number + 1))
        run(["sleep", "60"], cwd=".", timeout=0.3, grace=0.2, env={"AGENTD_RUN": os.getcwd()})
    except Interrupted:
        interrupted += 1
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
print(interrupted, end_leftovers("AGENTD_RUN", os.getcwd()))
""")
    out, _ = caller.communicate(timeout=40)
    interrupted, left = out.split(maxsplit=1)
    assert int(interrupted) > 0
    assert left == "[]\n"


CALLER = """
own_pid("caller")
run([sys.executable, "program.py"], cwd=".", timeout=60, env={"AGENTD_RUN": sys.argv[0]})
"""


@on_linux
def test_a_program_dies_with_the_agentd_that_started_it(place: Place) -> None:
    place.program("signal.signal(signal.SIGTERM, signal.SIG_IGN); own_pid(); hang()")
    caller = place.caller(CALLER)
    own = place.pid("own")
    caller.kill()
    caller.communicate()
    wait_until(lambda: not alive(own))


def test_what_outlived_a_killed_agentd_is_found_and_ended(place: Place) -> None:
    place.program(FAMILY + "own_pid('ready'); hang()")
    caller = place.caller(CALLER)
    place.pid("ready")
    caller.kill()
    caller.communicate()
    pids = {name: place.pid(name) for name in ("child", "session", "orphan", "holder")}
    assert all(map(alive, pids.values()))
    ended = end_leftovers("AGENTD_RUN", str(place.folder / "caller.py"), grace=0.3)
    assert set(pids.values()) <= set(ended)
    assert [name for name, pid in pids.items() if alive(pid)] == []
    assert end_leftovers("AGENTD_RUN", str(place.folder / "caller.py")) == []


def test_only_the_exact_value_makes_a_leftover(place: Place) -> None:
    run_folder = f"{place.folder}/a"
    started = []
    for number, value in enumerate((run_folder, f"{run_folder}b", f"x{run_folder}", str(place.folder))):
        env = {**os.environ, "AGENTD_RUN": value}
        argv = [sys.executable, "sleeper.py", f"leftover{number}"]
        started.append(subprocess.Popen(argv, cwd=place.folder, env=env))
        place.pid(f"leftover{number}")
    env = {**os.environ, "XAGENTD_RUN": run_folder, "ARG": f"AGENTD_RUN={run_folder}"}
    started.append(subprocess.Popen([sys.executable, "sleeper.py", "leftover9"], cwd=place.folder, env=env))
    place.pid("leftover9")
    try:
        assert end_leftovers("AGENTD_RUN", run_folder) == [started[0].pid]
        assert [alive(process.pid) for process in started] == [False, True, True, True, True]
    finally:
        for process in started:
            process.kill()
            process.wait()


def test_the_one_who_asks_and_its_ancestors_are_no_leftovers(place: Place) -> None:
    body = """
if len(sys.argv) == 1:
    sleeper("sibling", env={})
    sys.exit(subprocess.run([sys.executable, __file__, "inner"]).returncode + 5)
print(end_leftovers("AGENTD_RUN", os.environ["AGENTD_RUN"]))
"""
    caller = place.caller(body, AGENTD_RUN=str(place.folder))
    out, _ = caller.communicate(timeout=LONG)
    assert (out, caller.returncode) == ("[]\n", 5)
    assert alive(place.pid("sibling"))


def test_an_agentd_within_an_agent_hides_nothing_from_the_outer_one(place: Place) -> None:
    (place.folder / "inner.py").write_text(PREAMBLE + "sleeper('orphan', orphan=True); own_pid('inner'); hang()")
    source = str(Path(agentd.errors.__file__).parents[1])
    body = f"""
sys.path.insert(0, {source!r})
from agentd.process import run
own_pid()
run([sys.executable, "inner.py"], cwd=".", timeout=50)
"""

    def kill_the_agent() -> None:
        place.pid("inner")
        os.kill(place.pid("own"), signal.SIGKILL)

    thread = threading.Thread(target=kill_the_agent)
    thread.start()
    place.run(body, grace=0.3)
    thread.join()
    assert [name for name in ("own", "inner", "orphan") if alive(place.pid(name))] == []


def test_ending_one_program_leaves_the_others_alone(place: Place) -> None:
    argv = place.program("own_pid(sys.argv[1])\nwhile not os.path.exists('go.txt'): time.sleep(0.01)")
    stops = {name: threading.Event() for name in ("first", "second", "third")}
    results: dict[str, Finished] = {}

    def work(name: str) -> None:
        results[name] = run([*argv, name], cwd=place.folder, timeout=LONG, stop=stops[name])

    threads = [threading.Thread(target=work, args=(name,)) for name in stops]
    for thread in threads:
        thread.start()
    pids = [place.pid(name) for name in stops]
    stops["first"].set()
    threads[0].join()
    assert [alive(pid) for pid in pids] == [False, True, True]
    (place.folder / "go.txt").touch()
    for thread in threads:
        thread.join()
    assert [results[name].ended for name in stops] == ["stopped", "exit", "exit"]
    assert [results[name].code for name in stops] == [-signal.SIGTERM, 0, 0]


def test_a_missing_program_is_named_with_a_fix(place: Place) -> None:
    with pytest.raises(NotFound, match="no-such-program is not on the PATH") as caught:
        run(["no-such-program"], cwd=place.folder, timeout=1)
    assert "no-such-program" in caught.value.fix
    with pytest.raises(NotFound, match=r"\./gone does not exist"):
        run(["./gone"], cwd=place.folder, timeout=1)
    with pytest.raises(NotFound, match="empty"):
        run([], cwd=place.folder, timeout=1)


def test_a_program_that_is_not_executable_is_named_with_a_fix(place: Place) -> None:
    with pytest.raises(NotFound, match="not executable") as caught:
        run(["./sleeper.py"], cwd=place.folder, timeout=1)
    assert caught.value.fix == f"chmod +x {place.folder / 'sleeper.py'}"
    with pytest.raises(NotFound, match="does not exist"):
        run([str(place.folder)], cwd=place.folder, timeout=1)


def test_a_missing_folder_is_named_with_a_fix(place: Place) -> None:
    with pytest.raises(NotFound, match="gone to run true in does not exist") as caught:
        run(["true"], cwd=place.folder / "gone", timeout=1)
    assert caught.value.fix == f"mkdir -p {place.folder / 'gone'}"


@pytest.mark.parametrize("argument", ["x" * 10_000_000, "a\0b"])
def test_a_command_the_system_refuses_is_an_error_that_names_it(place: Place, argument: str) -> None:
    with pytest.raises(AgentdError, match="true could not be started"):
        run(["true", argument], cwd=place.folder, timeout=1)


def test_a_program_is_looked_up_from_its_own_folder_and_path(place: Place) -> None:
    tool = place.folder / "bin" / "tool"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\necho found $0\n")
    tool.chmod(0o755)
    for name, path in (("tool", str(tool.parent)), ("tool", "bin"), ("bin/tool", "/nowhere"), (str(tool), "/nowhere")):
        done = run([name], cwd=place.folder, env={"PATH": f"/nowhere{os.pathsep}{path}"}, timeout=LONG)
        assert done.output == (f"found {tool}",)


@on_linux
def test_a_thread_that_ends_takes_no_program_of_another_thread_with_it(place: Place) -> None:
    """The kernel's parent death signal is about threads; each program outlives the threads that did not start it."""
    argv = place.program("own_pid(sys.argv[1])\nwhile not os.path.exists(sys.argv[1] + '.end'): time.sleep(0.01)")
    results: dict[str, int] = {}

    def work(name: str) -> None:
        results[name] = run([*argv, name], cwd=place.folder, timeout=LONG).code

    threads = {name: threading.Thread(target=work, args=(name,)) for name in ("first", "second")}
    for name, thread in threads.items():
        thread.start()
        place.pid(name)
    for name, thread in threads.items():
        (place.folder / f"{name}.end").touch()
        thread.join()
    assert results == {"first": 0, "second": 0}


def test_a_script_without_an_interpreter_line_runs_in_the_shell(place: Place) -> None:
    script = place.folder / "script.sh"
    script.write_text("echo $1")
    script.chmod(0o755)
    assert run(["./script.sh", "said"], cwd=place.folder, timeout=LONG).output == ("said",)
    script.write_text("#!/gone")
    done = run(["./script.sh"], cwd=place.folder, timeout=LONG)
    assert (done.code, done.errors) == (126, (f"{script} could not be started: No such file or directory",))


def test_nothing_stays_open(place: Place) -> None:
    def count() -> tuple[int, int]:
        return psutil.Process().num_fds(), threading.active_count()

    run(["true"], cwd=place.folder, timeout=LONG)
    before = count()
    for _ in range(5):
        run(["cat"], cwd=place.folder, stdin="x", timeout=LONG)
        run(["sleep", "60"], cwd=place.folder, stdin="x", timeout=0.05)
        with pytest.raises(ZeroDivisionError):
            run(["echo", "x"], cwd=place.folder, timeout=LONG, on_line=lambda line: print(1 / 0))
    assert count() == before
    assert [child for child in psutil.Process().children() if child.name() in ("cat", "sleep", "echo")] == []


def test_importing_the_module_does_not_import_psutil(place: Place) -> None:
    caller = place.caller(
        "print('psutil' in sys.modules, run(['true'], cwd='.', timeout=9).code, 'psutil' in sys.modules)"
    )
    assert caller.communicate(timeout=LONG)[0] == "False 0 False\n"
