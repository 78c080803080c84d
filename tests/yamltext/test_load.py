"""The quick way and the careful way read the same."""

import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.errors import Corrupt
from agentd.text.lossless_yaml import dump, load, parse
from agentd.text.lossless_yaml.load import cut
from agentd.text.lossless_yaml.pieces import plain
from agentd.text.lossless_yaml.read import read

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-99, 99)
    | st.text(max_size=12)
    | st.sampled_from(["on", "1e5", "2026-01-01"])
)
DATA = st.dictionaries(
    st.text(min_size=1, max_size=8),
    st.recursive(
        SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3)
    ),
    min_size=1,
    max_size=5,
)


WORDS = st.from_regex(r"[a-z]{1,3}[_.-]?[a-z0-9]{0,3}", fullmatch=True)
PLAIN = st.dictionaries(
    WORDS,
    st.recursive(
        SCALARS | WORDS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(WORDS, inner, max_size=3)
    ),
    min_size=1,
    max_size=5,
)


def carefully(text: str) -> object:
    return plain(read(text.removeprefix("\ufeff"), "x")[1].data)


@given(DATA | PLAIN)
def test_what_is_dumped_is_loaded(data: dict[str, object]) -> None:
    assert load(dump(data)) == data == parse(dump(data), "x").data == carefully(dump(data))


@pytest.mark.parametrize(
    "value", ["90ec964abe", '"1"', "1", "1.0", "x y", "[a, b]", "[]", "true", "null", "~", '""', ""]
)
def test_a_scalar_keeps_its_spelling(value: str) -> None:
    text = f"a: {value}\nb:\n  - {value}\n  - c: {value}\n    d: 1\n"
    assert cut(text, "x") == read(text, "x")


@given(PLAIN)
def test_a_text_has_the_same_pieces_both_ways(data: dict[str, object]) -> None:
    assert cut(dump(data), "x") == read(dump(data), "x")


@given(PLAIN, st.data())
def test_a_text_that_somebody_edited_has_the_same_pieces_both_ways(
    data: dict[str, object], edit: st.DataObject
) -> None:
    text = dump(data)
    at = edit.draw(st.integers(0, len(text)))
    edited = (
        text[:at] + edit.draw(st.sampled_from([" ", "\n", "#", "'", "x", ": ", "- ", "\n\n", "[]", "~"])) + text[at:]
    )
    try:
        careful = read(edited, "x")
    except Corrupt:
        with pytest.raises(Corrupt):
            cut(edited, "x")
    else:
        assert cut(edited, "x") == careful


def test_a_state_that_agentd_wrote_needs_no_parser() -> None:
    state = {
        "name": "x",
        "version": "2.0",
        "at": "2026-01-01T00:00:00Z",
        "run": {"counts": {"a.b": 1}},
        "list": [{"a": 1}],
    }
    code = f"from agentd.text import lossless_yaml as y; import sys; y.parse({dump(state)!r}, 'x'); print('yaml' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout == b"False\n"


def test_a_plain_text_nested_without_end_is_refused() -> None:
    with pytest.raises(Corrupt):
        parse("\n".join(" " * depth + "a:" for depth in range(0, 4000, 2)) + " 1\n", "x")


@given(st.text(alphabet="ab:-# \n[]{}'\"1.~&*!|>?,\t", max_size=40))
def test_any_text_means_the_same_both_ways_or_is_refused_both_ways(text: str) -> None:
    try:
        careful = carefully(text)
    except Corrupt:
        with pytest.raises(Corrupt):
            load(text)
    else:
        assert load(text) == careful


@pytest.mark.parametrize("text", ["", "a", "[1]", "a: 1\na: 2", "a: \x00", "a: {", "? [1]\n: 2", "<<: {a: 1}"])
def test_what_is_no_plain_mapping_is_refused_with_its_place(text: str) -> None:
    with pytest.raises(Corrupt, match=r":\d+:\d+: "):
        load(text)


@given(
    st.lists(
        st.sampled_from(["a: 1", "b:", "- a", "- c: x y", "d: [e, f]", '"g"', "- ", "h: 2026-01-01", ""]), max_size=8
    ),
    st.data(),
)
def test_plain_blocks_mean_the_same_both_ways_or_are_refused_both_ways(lines: list[str], data: st.DataObject) -> None:
    text = "\n".join(data.draw(st.sampled_from(["", " ", "  ", "    "])) + line for line in lines)
    try:
        careful = carefully(text)
    except Corrupt:
        with pytest.raises(Corrupt):
            load(text)
    else:
        assert load(text) == careful


@pytest.mark.parametrize("opening", ["[", "{", "- ", "a: {"])
def test_a_text_nested_without_end_is_refused_and_not_followed(opening: str) -> None:
    with pytest.raises(Corrupt):
        load("a: " + opening * 100_000)
