"""The start of a process: known from the system, told once, and only where a command was started."""

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

from agentd import clock

CODE = """
import json, time
time.sleep(0.3)
from agentd import clock
early = clock.startup()
clock.note_command(time.monotonic()); first = time.monotonic()
print(json.dumps([early, clock.startup(), clock.startup(), first]))
"""


def test_what_came_before_the_first_line_is_counted_and_the_start_is_told_once() -> None:
    begun = time.monotonic()
    done = subprocess.run([sys.executable, "-c", CODE], capture_output=True, check=True)
    early, (process, program, command), again, first = json.loads(done.stdout)
    assert (early, again) == (None, None)
    assert begun - 0.02 <= process <= program - 0.29  # the system counts in hundredths
    assert program <= command <= first


@pytest.mark.parametrize(
    "text", [None, b"", b"7 (x) y) R 1", b"7 (x) " + b"a " * 40, b"7 (x) " + b"9" * 18 + b" " * 40]
)
def test_where_the_system_does_not_tell_it_is_as_long_ago_as_the_processor_was_used(
    tmp_path: Path, text: bytes | None
) -> None:
    stat = tmp_path / "stat"
    if text is not None:
        stat.write_bytes(text)
    before = time.monotonic() - time.process_time()
    found = clock.process_start(str(stat))
    assert before - 0.1 <= found <= time.monotonic() - time.process_time() + 0.1


def test_a_start_that_lies_ahead_is_one_that_the_system_does_not_tell(tmp_path: Path) -> None:
    (tmp_path / "stat").write_bytes(b"7 (x) " + b"9999999999 " * 40)
    assert clock.process_start(str(tmp_path / "stat")) <= time.monotonic() - time.process_time() + 0.1
