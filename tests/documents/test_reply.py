"""An outcome is taken from a structured line and from nothing else."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.documents.reply import find_outcome

ALLOWED = ("approved", "needs_revision", "rejected")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('All is well.\n{"outcome": "approved"}', "approved"),
        ('{"outcome": "Approved", "why": "tests"}\n\n', "approved"),
        ('{"outcome": "rejected"}\nbye\n{"outcome": "rejected"}', "rejected"),
    ],
)
def test_a_line_that_is_an_object_with_an_outcome_counts(text: str, word: str) -> None:
    assert find_outcome(text, ALLOWED).word == word


@pytest.mark.parametrize(
    "text",
    [
        "",
        "approved",
        "This is not approved",
        "VERDICT: APPROVED",
        'the line {"outcome": "approved"} in a sentence',
        '```\n{"outcome": "approved"}\n```',
        '~~~json\n{"outcome": "approved"}\n~~~',
        '{"outcome": "approved"}\n{"outcome": "rejected"}',
        '{"outcome": "not approved"}',
        '{"outcome": ["approved"]}',
        '{"outcome": null}',
        '{"verdict": "approved"}',
        '{"outcome": "approved"',
    ],
)
def test_anything_else_is_no_outcome(text: str) -> None:
    found = find_outcome(text, ALLOWED)
    assert found.word == ""
    assert found.problem


@given(st.text())
def test_prose_is_never_an_outcome(text: str) -> None:
    if '"outcome"' not in text:
        assert find_outcome(text, ALLOWED).word == ""


@given(st.lists(st.sampled_from([*ALLOWED, "perhaps"]), max_size=4), st.text(alphabet="ab \n"))
def test_the_outcome_is_what_all_lines_say(words: list[str], prose: str) -> None:
    text = prose + "\n" + "\n".join(json.dumps({"outcome": word}) for word in words)
    expected = words[0] if len(set(words)) == 1 and words[0] in ALLOWED else ""
    assert find_outcome(text, ALLOWED).word == expected
