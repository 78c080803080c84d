"""The diary of a run: what was written is there, and what a crash cut off does no harm."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.errors import DiskTrouble
from agentd.state import journal

EVENT = {"at": "2026-01-02T03:04:05Z", "event": "step", "note": "größer ☃"}


def test_events_are_read_in_the_order_they_were_written(tmp_path: Path) -> None:
    assert journal.read(tmp_path) == []
    journal.append(tmp_path, EVENT)
    journal.append(tmp_path, {"event": "end"})
    assert journal.read(tmp_path) == [EVENT, {"event": "end"}]
    line = '{"at":"2026-01-02T03:04:05Z","event":"step","note":"größer ☃"}\n'
    assert (tmp_path / "journal.jsonl").read_text("utf-8") == line + '{"event":"end"}\n'


def test_a_torn_last_line_is_dropped(tmp_path: Path) -> None:
    journal.append(tmp_path, EVENT)
    whole = (tmp_path / "journal.jsonl").read_bytes()
    for size in range(1, len(whole) - 1):
        (tmp_path / "journal.jsonl").write_bytes(whole + whole[:size])
        assert journal.scan(tmp_path) == ([EVENT], 1)
        assert journal.tail(tmp_path, 2) == [EVENT]


def test_a_torn_line_in_the_middle_is_skipped_and_counted(tmp_path: Path) -> None:
    code = "import sys\nfrom pathlib import Path\nfrom agentd.state import journal\n"
    code += "for n in range(5): journal.append(Path(sys.argv[1]), {'n': n, 'text': 'ü' * 30})"
    env = {**os.environ, "AGENTD_CRASH": "journal:3:torn"}
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path)], env=env, check=False)
    assert done.returncode == -signal.SIGKILL
    journal.append(tmp_path, {"n": 9})
    found = journal.scan(tmp_path)
    assert [event["n"] for event in found.events] == [0, 1, 9]
    assert found.torn == 1
    assert [event["n"] for event in journal.tail(tmp_path, 2)] == [1, 9]


@pytest.mark.parametrize("garbage", [b"[1]\n", b"null\n", b"\xff\xfe\n", b"\0\0\0\0\n", b'"text"\n'])
def test_a_line_that_is_no_event_is_skipped(tmp_path: Path, garbage: bytes) -> None:
    (tmp_path / "journal.jsonl").write_bytes(garbage + b"\n\n" + b'{"n":1}\n')
    assert journal.scan(tmp_path) == ([{"n": 1}], 1)


def test_the_tail_is_the_end_of_the_whole(tmp_path: Path) -> None:
    size = 0
    with (tmp_path / "journal.jsonl").open("wb") as file:
        for n in range(3000):
            size += file.write(b'{"n":%d,"text":"%s"}\n' % (n, b"x" * (n % 700)))
            size += file.write(b'{"torn\n') if n % 3 == 0 else 0
    assert size > 1_000_000
    whole = journal.read(tmp_path)
    assert len(whole) == 3000
    for n in (0, 1, 2, 100, 1000, 2999, 3000, 5000):
        assert journal.tail(tmp_path, n) == (whole[-n:] if n else [])


def test_an_event_longer_than_what_is_read_at_once_is_found(tmp_path: Path) -> None:
    for n in range(3):
        journal.append(tmp_path, {"n": n, "text": "é" * 200_000})
    assert [event["n"] for event in journal.tail(tmp_path, 2)] == [1, 2]


def test_threads_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    def write(thread: int) -> None:
        for n in range(25):
            journal.append(tmp_path, {"thread": thread, "n": n, "text": "x" * 5000})

    threads = [threading.Thread(target=write, args=(n,)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = journal.scan(tmp_path)
    assert found.torn == 0
    assert sorted((event["thread"], event["n"]) for event in found.events) == [
        (t, n) for t in range(4) for n in range(25)
    ]


def test_a_journal_that_cannot_be_opened_is_told(tmp_path: Path) -> None:
    (tmp_path / "journal.jsonl").mkdir()
    for act in (
        lambda: journal.read(tmp_path),
        lambda: journal.tail(tmp_path, 1),
        lambda: journal.append(tmp_path, {}),
    ):
        with pytest.raises(DiskTrouble, match=r"journal\.jsonl was not"):
            act()


@given(st.lists(st.dictionaries(st.text(), st.text(st.characters()) | st.integers() | st.none()), max_size=4))
def test_every_event_comes_back_as_it_was(
    tmp_path_factory: pytest.TempPathFactory, events: list[dict[str, Any]]
) -> None:
    folder = tmp_path_factory.mktemp("run")
    for event in events:
        journal.append(folder, event)
    assert journal.read(folder) == events
    assert journal.tail(folder, 10) == events
