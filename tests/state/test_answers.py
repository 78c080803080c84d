"""Answers of people: the first one wins, a broken one is never taken for an answer."""

import json
from pathlib import Path

import pytest

from agentd.errors import BadAnswer, Corrupt, DiskTrouble
from agentd.model.decision import Answer
from agentd.state import answers

YES = Answer("d-1.a_B", "approve", "größer", "ada", "2026-01-02T03:04:05Z")


def test_the_first_answer_wins(tmp_path: Path) -> None:
    assert answers.read(tmp_path, YES.decision) is None
    assert answers.write(tmp_path, YES) is True
    assert answers.write(tmp_path, Answer(YES.decision, "reject")) is False
    assert answers.read(tmp_path, YES.decision) == YES
    assert json.loads((tmp_path / "answers" / "d-1.a_B.json").read_bytes())["value"] == "approve"


@pytest.mark.parametrize("decision", ["", "../up", "a/b", ".hidden", "-x", "a\n", "a b", "a\0", "é", "/etc/passwd"])
def test_an_id_that_leaves_the_folder_is_refused(tmp_path: Path, decision: str) -> None:
    with pytest.raises(BadAnswer, match="cannot be the id"):
        answers.write(tmp_path, Answer(decision, "x"))
    with pytest.raises(BadAnswer):
        answers.read(tmp_path, decision)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b'{"decision": "d1", "val',
        b"[]",
        b"\xff",
        b'{"decision": "d2", "value": "x"}',
        b'{"decision": "d1"}',
        b'{"decision": "d1", "value": ""}',
        b'{"decision": "d1", "value": 1}',
        b'{"decision": "d1", "value": "x", "note": 1}',
    ],
)
def test_a_torn_or_foreign_file_is_an_error_that_leaves_it_alone(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "answers" / "d1.json"
    path.parent.mkdir()
    path.write_bytes(content)
    with pytest.raises(Corrupt) as caught:
        answers.read(tmp_path, "d1")
    assert caught.value.message.startswith(f"{path}: ")
    assert caught.value.fix.startswith(f"rm {path}")
    assert path.read_bytes() == content


def test_an_answer_with_more_than_we_know_is_read(tmp_path: Path) -> None:
    (tmp_path / "answers").mkdir()
    (tmp_path / "answers" / "d1.json").write_text('{"decision": "d1", "value": "x", "mood": "good"}')
    assert answers.read(tmp_path, "d1") == Answer("d1", "x")


def test_an_answer_that_cannot_be_opened_is_told(tmp_path: Path) -> None:
    (tmp_path / "answers" / "d1.json").mkdir(parents=True)
    with pytest.raises(DiskTrouble, match="was not read"):
        answers.read(tmp_path, "d1")


def test_a_run_is_asked_to_stop_once_and_hears_it_once(tmp_path: Path) -> None:
    assert answers.stop_requested(tmp_path) is False
    assert answers.ask_to_stop(tmp_path, "ada", "2026-01-02T03:04:05Z") is True
    assert answers.ask_to_stop(tmp_path, "bob", "2026-01-02T03:04:06Z") is False
    assert answers.stop_requested(tmp_path) is True
    assert json.loads((tmp_path / "stop.json").read_bytes())["by"] == "ada"
    answers.clear_stop(tmp_path)
    answers.clear_stop(tmp_path)
    assert answers.stop_requested(tmp_path) is False
