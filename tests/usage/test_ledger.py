"""The ledger's lines: every call once, and no line that is torn or foreign hides another."""

import json

from hypothesis import given
from hypothesis import strategies as st

from agentd.model.usage import Usage
from agentd.usage.calls import Call, dollars_of
from agentd.usage.ledger import Entry, line, parse

COUNT = st.none() | st.integers(0, 10**9)
TEXT = st.text(max_size=8)
CALLS = st.builds(
    Call, TEXT, TEXT, st.builds(Usage, COUNT, COUNT, st.none(), COUNT), st.none() | st.floats(0, 1000), TEXT, TEXT
)
LINES = st.lists(st.tuples(st.sampled_from(["one", "two"]), CALLS), max_size=10)


def entry(run: str, call: Call) -> Entry:
    usage = call.usage
    return Entry(
        run,
        call.step,
        call.model,
        usage.tokens_in,
        usage.tokens_out,
        dollars_of(call.cost),
        usage.duration_ms,
        call.timestamp,
        call.call,
    )


def test_a_line_says_what_the_call_was() -> None:
    call = Call("challenge", "gpt-x", Usage(25, 2, duration_ms=9), 0.0660001, "2026-01-19T10:44:30Z", "challenge-1.1")
    written = line("add-oauth", call)
    assert written.endswith(b"\n")
    assert list(json.loads(written).items()) == [
        ("run", "add-oauth"),
        ("step", "challenge"),
        ("model", "gpt-x"),
        ("tokens_in", 25),
        ("tokens_out", 2),
        ("cost", 0.066),
        ("duration_ms", 9),
        ("timestamp", "2026-01-19T10:44:30Z"),
        ("call", "challenge-1.1"),
    ]


@given(LINES)
def test_what_was_written_is_read_each_call_once_and_the_last_telling(made: list[tuple[str, Call]]) -> None:
    expected = {
        (run, call.step, call.call, call.timestamp) if call.call else number: entry(run, call)
        for number, (run, call) in enumerate(made)
    }
    assert parse(b"".join(line(run, call) for run, call in made)) == list(expected.values())


@given(LINES, st.integers(0, 400))
def test_a_torn_line_costs_only_itself(made: list[tuple[str, Call]], cut: int) -> None:
    lines = [line(run, call) for run, call in made]
    whole = parse(b"".join(lines))
    torn = line("torn", Call("challenge", "m", Usage(1, 1), 1.0, "t", "c"))[:-2][: cut + 1]
    for data in (b"".join([torn, b"\n", *lines]), b"".join([*lines, torn])):
        assert parse(data) == whole


@given(st.lists(st.binary(max_size=30) | st.sampled_from([b"[1]", b"3", b'{"run":1,"step":"x"}', b"[" * 5000])))
def test_foreign_lines_are_passed_over(foreign: list[bytes]) -> None:
    mine = line("mine", Call("challenge", "m", Usage(1, 1), 1.0, "t", "c"))
    found = parse(b"\n".join([*foreign, mine.rstrip(b"\n"), b""]))
    assert found == [Entry("mine", "challenge", "m", 1, 1, 1.0, None, "t", "c")]


def test_a_figure_that_can_be_none_is_unknown() -> None:
    text = '{"run":"a","step":"b","cost":NaN,"tokens_in":-4,"tokens_out":"many","model":7}'
    assert parse(text.encode()) == [Entry("a", "b")]


def test_a_name_that_is_no_text_can_be_written() -> None:
    assert parse(line("a\udcff", Call("b", "m", Usage(), None, "t"))) == [Entry("a\udcff", "b", "m", timestamp="t")]
