"""Which lines of a side are gone once a conflict is settled."""

from pathlib import Path

import pytest

from agentd.landing import dropped_lines, workspace
from agentd.landing.dropped_lines import gone
from tests.landing.repositories import branch, finished, make

BASE = "def count(text):\n    return len(text.split())\n"
MINE = "def count(text, sep=None):\n    return len(text.split(sep))\n\n\ndef first(text):\n    return text[0]\n"
THEIRS = "def count(text: str):\n    return len(text.split())\n\n\ndef last(text):\n    return text[-1]\n"


@pytest.mark.parametrize(
    ("settled", "lost"),
    [
        (f"{MINE}\n{THEIRS}", []),
        (MINE.replace("text, sep", "text: str, sep") + THEIRS[60:], []),  # both in one line
        (MINE.replace("    ", "\t") + "\ndef count(text: str):\n", []),  # spacing alone
        (MINE.partition("def first")[0], ["def first(text):", "return text[0]"]),
        (THEIRS, ["def count(text, sep=None):", "return len(text.split(sep))", "def first(text):", "return text[0]"]),
    ],
)
def test_a_line_that_is_gone_is_named_and_one_that_was_rewritten_is_not(settled: str, lost: list[str]) -> None:
    found = gone({"a.py": BASE}, {"a.py": MINE}, {"a.py": THEIRS}, {"a.py": settled})
    assert found == ({"a.py": tuple(lost)} if lost else {})


def test_a_line_that_moved_to_another_file_is_there() -> None:
    assert gone({"a": "x\n"}, {"a": "x\ny\n"}, {"a": "z\n"}, {"a": "z\n", "b": "y\n"}) == {}
    assert gone({"a": "x\n"}, {"a": "x\ny\n"}, {"a": None}, {"a": None}) == {"a": ("y",)}


def test_a_file_without_text_is_named_if_only_the_other_side_of_it_is_left(tmp_path: Path) -> None:
    root = make(tmp_path)
    line = branch(root)
    commits = {}
    for task in ("T1", "T2", "T3"):
        one = workspace.make(line, task)
        (one.path / "data.bin").write_bytes(b"\0" + task.encode())
        commits[task] = finished(line, one).commit
    first, other, third = commits.values()
    assert dropped_lines.find(root, line.start, first, other, other) == {"data.bin": ("the whole file",)}
    assert dropped_lines.find(root, line.start, other, first, other) == {}
    assert dropped_lines.find(root, line.start, first, other, third) == {}  # made of both, for all that can be known
