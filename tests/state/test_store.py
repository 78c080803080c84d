"""One state file: saved with its diary, read again, and never at the cost of what a person wrote into it."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from agentd.app import LAYOUTS
from agentd.errors import Corrupt
from agentd.families import staged, team
from agentd.model.run import Run
from agentd.state import journal
from agentd.state.codecs import PLAIN, Codec
from agentd.state.store import Store, new_state

RUN = Run("w", "x", "one", "a")


@pytest.mark.parametrize(
    "codec", [layout.codec for layout in LAYOUTS], ids=lambda codec: f"{codec.file}-{codec.name_key}"
)
def test_a_state_is_saved_and_read_again(tmp_path: Path, codec: Codec) -> None:
    saved = Store(tmp_path, codec).save(new_state(RUN, description="words"), "2026-01-01T00:00:00Z", "start")
    read = Store(tmp_path, codec).load()
    assert (read.run, read.saves, read.fields["description"]) == (RUN, 1, "words")
    assert read.fields[codec.created_key] == read.fields[codec.updated_key] == "2026-01-01T00:00:00Z"
    assert saved.run == RUN


def test_each_save_is_one_numbered_line_in_the_diary(tmp_path: Path) -> None:
    store = Store(tmp_path, PLAIN)
    state = store.save(new_state(RUN), "t1", "start")
    state = store.save(replace(state, run=replace(RUN, step="b")), "t2", "end", step="a", to="b")
    assert [(event["n"], event["at"], event["event"]) for event in journal.read(tmp_path)] == [
        (1, "t1", "start"),
        (2, "t2", "end"),
    ]
    assert state.saves == 2
    assert store.load().fields["created_at"] == "t1"


def test_what_was_noted_is_saved_with_what_comes_next(tmp_path: Path) -> None:
    store = Store(tmp_path, PLAIN)
    state = store.save(new_state(RUN), "t1", "start")
    state = store.note(replace(state, run=replace(RUN, step="b")), "t2", "end")
    assert (Store(tmp_path, PLAIN).load().saves, len(journal.read(tmp_path))) == (1, 1)
    state = store.save(replace(state, run=replace(RUN, step="b", begun=True)), "t3", "begin")
    assert [(event["n"], event["at"], event["event"]) for event in journal.read(tmp_path)] == [
        (1, "t1", "start"),
        (2, "t2", "end"),
        (3, "t3", "begin"),
    ]
    assert (Store(tmp_path, PLAIN).load().saves, state.saves, store.noted) == (3, 3, [])


def test_what_was_noted_overrules_no_phase_that_was_set_meanwhile(tmp_path: Path) -> None:
    store = Store(tmp_path, PLAIN)
    state = store.note(store.save(new_state(RUN), "t1", "start"), "t2", "end")
    store.path.write_text(store.path.read_text().replace("phase: one", "phase: two"))
    with pytest.raises(Corrupt, match="phase was set to 'two' while agentd was working in 'one'"):
        store.flush(state, "t3")
    assert (store.load().run.phase, len(journal.read(tmp_path))) == ("two", 1)


def test_a_comment_written_while_agentd_works_survives(tmp_path: Path) -> None:
    store = Store(tmp_path, PLAIN)
    state = store.save(new_state(RUN), "t1", "start")
    store.path.write_text("# a thought\n" + store.path.read_text() + "mine: 1  # keep\n")
    store.save(replace(state, run=replace(RUN, step="b")), "t2", "end")
    text = store.path.read_text()
    assert text.startswith("# a thought\n")
    assert "mine: 1  # keep" in text
    assert "step: b" in text


def test_a_phase_set_while_agentd_works_is_not_overwritten(tmp_path: Path) -> None:
    store = Store(tmp_path, PLAIN)
    state = store.save(new_state(RUN), "t1", "start")
    store.path.write_text(store.path.read_text().replace("phase: one", "phase: two"))
    before = store.path.read_bytes()
    with pytest.raises(Corrupt, match="phase was set to 'two' while agentd was working in 'one'"):
        store.save(replace(state, run=replace(RUN, step="b")), "t2", "end")
    assert store.path.read_bytes() == before


@pytest.mark.parametrize(
    ("codec", "text", "line"),
    [
        (PLAIN, "name: x\nphase: one\nrun:\n  step: [1]\n", 4),
        (PLAIN, "name: x\nphase: one\nuser_decisions:\n- {}\n- {decision_id: 1}\n", 4),
        (staged.LAYOUT.codec, '{"name": "x",\n "currentStage": "PLAN",\n "version": 9}', 3),
        (staged.LAYOUT.codec, '{"name": "x",\n "currentStage"}', 2),
        (team.LAYOUT.codec, "[]", 1),
    ],
)
def test_an_error_has_the_line_of_the_value(tmp_path: Path, codec: Codec, text: str, line: int) -> None:
    store = Store(tmp_path, codec)
    store.path.write_text(text)
    with pytest.raises(Corrupt) as told:
        store.load()
    assert f"{store.path}:{line}: " in told.value.message
    assert told.value.fix
    assert store.path.read_text() == text


def test_a_family_that_keeps_json_keeps_it(tmp_path: Path) -> None:
    store = Store(tmp_path, team.LAYOUT.codec)
    state = store.save(new_state(RUN), "t1", "start")
    data = json.loads(store.path.read_text()) | {"known_issues": ["one"]}
    store.path.write_text(json.dumps(data))
    store.save(replace(state, run=replace(RUN, step="b")), "t2", "end")
    assert json.loads(store.path.read_text())["known_issues"] == ["one"]


def test_the_machines_own_unknown_keys_are_kept_too(tmp_path: Path) -> None:
    store = Store(tmp_path, PLAIN)
    store.save(new_state(RUN), "t1", "start")
    store.path.write_text(store.path.read_text() + "  later_field: 3\n")
    state = store.load()
    store.save(state, "t2", "end")
    assert "later_field: 3" in store.path.read_text()


@pytest.mark.parametrize(
    "codec", [layout.codec for layout in LAYOUTS], ids=lambda codec: f"{codec.file}-{codec.name_key}"
)
def test_looking_at_a_file_leaves_what_was_last_saved_known(tmp_path: Path, codec: Codec) -> None:
    """Else an edit that was only looked at could not be put back any more."""
    store = Store(tmp_path, codec)
    store.save(new_state(Run("w", "x", "one", "s"), mine="before"), "2026-01-01T00:00:00Z", "start")
    store.path.write_text(store.path.read_text().replace("before", "after"))
    assert store.peek().fields["mine"] == "after"
    assert store.put_back("mine") == ["mine"]
    assert store.load().fields["mine"] == "before"
