"""The trace of a call's tools: what the server notes is read as it was, and what else stands there does no harm."""

import time
from pathlib import Path

import pytest

from agentd.runs import tool_trace
from agentd.runs.tool_trace import MOST, ToolTrace


def test_the_first_request_and_each_call_are_read_as_they_were(tmp_path: Path) -> None:
    path = tmp_path / "x.served"
    assert tool_trace.read(path) == ToolTrace()
    before = time.monotonic()
    tool_trace.note(path, "read_file", before)
    assert not path.exists()
    path.write_bytes(tool_trace.opening())
    tool_trace.note(path, "read_file", before)
    found = tool_trace.read(path)
    assert found.asked == pytest.approx(before, abs=1)
    ((name, begun, ended),) = found.calls
    assert name == "read_file"
    assert begun == pytest.approx(before, abs=0.001)
    assert begun <= ended <= time.monotonic() + 0.001


def test_a_trace_without_a_time_was_made_when_its_file_was(tmp_path: Path) -> None:
    path = tmp_path / "x.served"
    path.touch()
    assert tool_trace.read(path).asked == pytest.approx(time.monotonic(), abs=1)


def test_what_is_no_call_is_left_out_and_a_link_is_not_followed(tmp_path: Path) -> None:
    path = tmp_path / "x.served"
    strange = b"x\nx nan inf\nx 1e999 1\n" + b"x" * 101 + b" 1 2\n\xff 1\na b c\nread_file 3 4 5\n"
    path.write_bytes(b"1.5\nread_file 1 2\n" + strange + b"more 1 2\n" * MOST)
    found = tool_trace.read(path)
    assert (found.asked, found.calls[:2]) == (1.5, (("read_file", 1.0, 2.0), ("more", 1.0, 2.0)))
    assert len(found.calls) == MOST
    linked = tmp_path / "y.served"
    linked.symlink_to(path)
    tool_trace.note(linked, "write_file", 1.0)
    assert tool_trace.read(linked) == ToolTrace()
    assert b"write_file" not in path.read_bytes()
