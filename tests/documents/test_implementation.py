"""IMPLEMENTATION.md both ways: notes in whatever words."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.errors import Corrupt
from agentd.families.change.documents import implementation
from agentd.families.change.documents.implementation import Notes
from tests.documents.hand_edits import Edit, hand_edits, nasty_texts

NOTES = st.builds(
    Notes,
    st.from_regex(r"[a-z0-9][a-z0-9-]{0,8}", fullmatch=True),
    st.just("") | nasty_texts().map(lambda text: text.replace("\r", "")),
)


@given(NOTES)
def test_what_is_written_reads_back(document: Notes) -> None:
    assert implementation.read(implementation.render(document)) == (document, ())
    assert implementation.parse(implementation.render(document), "IMPLEMENTATION.md") == document


@given(NOTES, hand_edits())
def test_tidying_says_the_same_and_is_done_after_once(document: Notes, edit: Edit) -> None:
    edited = edit(implementation.render(document))
    tidied = implementation.tidy(edited)
    assert implementation.tidy(tidied) == tidied
    assert implementation.read(tidied) == implementation.read(edited)


def test_notes_with_any_other_title_are_kept_whole() -> None:
    assert implementation.read("# Done\n\n- a\n") == (Notes("", "# Done\n\n- a"), ())
    assert implementation.read(implementation.skeleton("x")) == (Notes("x"), ())


def test_front_matter_that_is_broken_is_told() -> None:
    _, findings = implementation.read("---\na: [\n---\nx\n")
    assert [(finding.rule, finding.file) for finding in findings] == [("invalid_frontmatter", "IMPLEMENTATION.md")]
    with pytest.raises(Corrupt, match=r"^IMPLEMENTATION\.md:"):
        implementation.parse("---\na: [\n---\nx\n", "IMPLEMENTATION.md")
