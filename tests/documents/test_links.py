"""Links and anchors of a document: all that lead to files nearby, none that stand in code."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.text.links import anchors, links


@pytest.mark.parametrize(
    ("line", "targets"),
    [
        ("see [a](specs/a.md)", ["specs/a.md"]),
        ("see [a](specs/a.md#r1-x 'title') and ![b](b.png)", ["specs/a.md#r1-x", "b.png"]),
        ("[a](<a file.md>) [b](b_(1).md)", ["a file.md", "b_(1).md"]),
        ("[a](#here)", ["#here"]),
        ('[a]: specs/a.md "title"', ["specs/a.md"]),
        ("[a](https://example.org) [b](mailto:x@y.z) [c](/etc/x) [d]()", []),
        ("`[a](b.md)` and ``[c](`d.md)``", []),
        ("    [a](b.md)", []),
        ("[^1]: a note", []),
        ("- [ ] 1.1 not a link (really)", []),
        ("[a]:no", []),
    ],
)
def test_relative_links_are_found_and_nothing_else(line: str, targets: list[str]) -> None:
    assert list(links(f"---\nid: '[x](y)'\n---\n\n{line}\n")) == [(5, target) for target in targets]


def test_links_in_code_fences_do_not_count() -> None:
    assert list(links("```\n[a](b.md)\n```\n[c](d.md)\n")) == [(4, "d.md")]


def test_anchors_are_headings_requirements_and_what_is_marked() -> None:
    text = '# The Title!\n## R1 - Log in\n## Twice\n## Twice\n<a id="mark"></a>\n```\n# not this\n```\n## 登录 流程\n'
    assert anchors(text) == {"the-title", "r1---log-in", "r1", "twice", "twice-1", "mark", "登录-流程"}


@given(st.text(alphabet="[]()#`:<>\\ \n\t-ab\ufeff", max_size=80))
def test_any_text_has_links_within_its_lines(text: str) -> None:
    for line, target in links(text):
        assert 1 <= line <= text.count("\n") + text.count("\r") + 1
        assert target
    anchors(text)
