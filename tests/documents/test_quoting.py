"""Text put into a document comes out again, and no line of it is taken for the document's own."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.text.outline import outline
from agentd.text.quoting import escape, escape_line, structure, unescape, unescape_line
from tests.documents.hand_edits import NASTY_LINES, nasty_texts

OWN = structure(r"#{1,6}(?:[ \t]|$)|</?spec>|\*\*Verdict")
PIECES = st.sampled_from(
    [
        *NASTY_LINES,
        "\\",
        "&",
        "amp;",
        "#32;",
        "&#32;",
        "&nbsp;",
        " ",
        "\n",
        "#",
        "`",
        "lt;!--",
        "<!--",
        "\u3000",
        "&#13;",
    ]
)
TEXTS = (nasty_texts() | st.lists(PIECES, max_size=8).map("".join) | st.lists(PIECES, max_size=8).map("\n".join)).map(
    lambda text: text.replace("\r\n", "\n").replace("\r", "\n")
)


@given(TEXTS, st.sampled_from(["", "  "]))
def test_text_comes_out_as_it_was_and_looks_like_no_structure(text: str, pad: str) -> None:
    lines = escape(text, OWN, pad).split("\n")
    assert unescape(lines, OWN, pad) == text
    assert unescape(["", " ", *lines, "\t", ""], OWN, pad) == text
    plan = outline(lines)
    assert not plan.sections
    assert not plan.unclosed
    assert not any(line.startswith(("</spec>", "**Verdict")) for _, line in plan.plain_lines(1, len(lines)))


@given(TEXTS)
def test_white_space_at_the_ends_of_lines_does_not_matter(text: str) -> None:
    plan = outline(escape(text, OWN).split("\n"))
    lines = [line if at in plan.fenced else line + " \t" for at, line in enumerate(plan.lines, 1)]
    assert unescape(lines, OWN) == text


@given(TEXTS.map(lambda text: text.replace("\n", "")).filter(bool))
def test_a_line_comes_out_as_it_was_also_from_a_heading(text: str) -> None:
    written = escape_line(text)
    assert written == written.strip()
    assert unescape_line(written) == text
    assert unescape_line(outline([f"## {written} ##"]).sections[0].title) == text


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("Plain words.\n\n- and a list", "Plain words.\n\n- and a list"),
        ("```\n# code\n```", "```\n# code\n```"),
        ("# x", "\\# x"),
        ("\\# x", "\\\\# x"),
        ("```\nopen", "\\```\nopen"),
        ("x ", "x&#32;"),
        ("\nx", "&nbsp;\nx"),
        ("a <!-- b", "a &lt;!-- b"),
        ("&lt;!--", "&amp;lt;!--"),
        ("&copy; &amp; &#169;", "&copy; &amp; &#169;"),
        ("a\r\nb", "a\nb"),
    ],
)
def test_only_what_could_be_mistaken_is_marked(text: str, written: str) -> None:
    assert escape(text, OWN) == written


def test_what_a_person_escaped_is_read_as_markdown_means_it() -> None:
    assert unescape(["\\# x", "\\*y", "a&#32;b"], OWN) == "# x\n\\*y\na b"


def test_a_line_that_is_two_is_refused() -> None:
    with pytest.raises(ValueError, match="must be one line"):
        escape_line("a\nb")


def test_many_fences_that_never_end_take_no_long_time() -> None:
    start = time.process_time()
    text = "```yaml\n" * 20_000
    assert unescape(escape(text, OWN).split("\n"), OWN) == text
    assert time.process_time() - start < 5
