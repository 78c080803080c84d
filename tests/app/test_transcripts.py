"""Transcripts of a run, and the conversations beside them, make room for new ones."""

import os
from pathlib import Path

from agentd.calling import transcripts


def test_old_conversations_make_room_but_those_that_a_run_goes_on_with_stay(tmp_path: Path) -> None:
    calls = tmp_path / "calls"
    calls.mkdir()
    for age, name in enumerate(("builtin-old.json", "builtin-named.json", "write-1.1.jsonl", "write-1.2.jsonl")):
        (calls / name).write_text("x" * 600_000)
        os.utime(calls / name, (age, age))
    transcripts.rotate(tmp_path, 1, {"named", ""})
    assert sorted(path.name for path in calls.iterdir()) == ["builtin-named.json", "write-1.2.jsonl"]
    transcripts.rotate(tmp_path, 1)
    assert [path.name for path in calls.iterdir()] == ["write-1.2.jsonl"]
