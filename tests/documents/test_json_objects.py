"""JSON objects that are found in other text."""

import json
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.text.json_objects import objects, one_with

flat = st.dictionaries(st.text(), st.integers() | st.text())


@given(st.lists(st.tuples(st.text().filter(lambda text: "{" not in text), flat)))
def test_every_object_of_a_text_is_found_in_order(parts: list[tuple[str, dict[str, Any]]]) -> None:
    text = "".join(prose + json.dumps(value) for prose, value in parts)
    assert list(objects(text)) == [value for _, value in parts]


def test_what_is_inside_of_an_object_is_not_found_again() -> None:
    assert list(objects('{"a": {"b": {"c": 1}}} {"d": 2')) == [{"a": {"b": {"c": 1}}}]


def test_one_object_counts_however_often_it_is_repeated_and_a_different_one_is_a_contradiction() -> None:
    same = '{"status": 1, "b": 2} {"b": 2, "status": 1} {"b": 3}'
    assert one_with(same, "status") == ({"status": 1, "b": 2}, "")
    assert one_with(same + '{"status": 2}', "status") == (None, "the reply has 2 different results")
    assert one_with("{}", "status") == (None, "the reply has no JSON object with a status")


@pytest.mark.parametrize("junk", ["{" * 200_000, '{"\n' * 100_000])
def test_a_text_of_broken_objects_is_given_up_at_once(junk: str) -> None:
    began = time.process_time()
    assert one_with(junk, "status")[0] is None
    assert time.process_time() - began < 2  # seconds
