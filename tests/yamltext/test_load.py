"""The quick way and the careful way read the same."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.errors import Corrupt
from agentd.text.lossless_yaml import dump, load, parse

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


@given(DATA)
def test_what_is_dumped_is_loaded(data: dict[str, object]) -> None:
    assert load(dump(data)) == data == parse(dump(data), "x").data


@given(st.text(alphabet="ab:-# \n[]{}'\"1.~&*!|>?,\t", max_size=40))
def test_any_text_means_the_same_both_ways_or_is_refused_both_ways(text: str) -> None:
    try:
        careful = parse(text, "x").data
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
        careful = parse(text, "x").data
    except Corrupt:
        with pytest.raises(Corrupt):
            load(text)
    else:
        assert load(text) == careful


@pytest.mark.parametrize("opening", ["[", "{", "- ", "a: {"])
def test_a_text_nested_without_end_is_refused_and_not_followed(opening: str) -> None:
    with pytest.raises(Corrupt):
        load("a: " + opening * 100_000)
