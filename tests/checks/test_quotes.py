"""A finding counts if what it quotes is there and the change reaches to it; an invented one never does."""

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agentd.model.evidence import Changed
from agentd.model.verdict import Issue
from agentd.review.changed_code import changed_lines, names_changed, numbered, uses
from agentd.review.code_grounding import named, place, ungrounded, unsaid

CODE = """import os


def total(items):
    found = 0
    for item in items:
        found -= item.price

    return found


def stub(): ...
"""
FAR = "\n".join([CODE, *(f"x{number} = {number}" for number in range(50)), "def last():", "    return total([])", ""])


def finding(quote: str, line: int | None = None, path: str = "src/a.py", location: str = "") -> Issue:
    return Issue("High", "t", "d", file_path=path, line_number=line, quote=quote, location=location)


def why(issue: Issue, text: str | None = CODE, lines: tuple[range, ...] = (range(1, 9999),), names: str = "") -> str:
    return ungrounded(issue, lambda path: text if path == "src/a.py" else None, lambda path: lines, lambda path: names)


# ---------------------------------------------------------------------------------------------------- what is not there


@pytest.mark.parametrize(
    ("issue", "reason"),
    [
        (finding("found -= 1", 7, ""), "it names no file"),
        (finding("found = 0", 5, "src/b.py"), "there is no file src/b.py"),
        (finding(""), "it names no line and quotes nothing"),
        (finding(" \n "), "it names no line and quotes nothing"),
        (finding("", 13), "it quotes nothing"),
        (finding("", 7), "it quotes nothing"),
        (finding("found += item.cost", 7), "the quote is not in src/a.py"),
        (finding("ound = 0", 5), "the quote is not in src/a.py"),
        (finding("found = 0\nreturn found", 5), "the quote is not in src/a.py"),
        (finding("return found ... found = 0", 5), "the quote is not in src/a.py"),
        (finding("found = 0 ... invented()", 5), "the quote is not in src/a.py"),
        (finding("…", 5), "the quote is not in src/a.py"),
        (finding("```\n```", 5), "the quote is not in src/a.py"),
    ],
)
def test_what_is_not_there_does_not_count_and_the_reason_is_told(issue: Issue, reason: str) -> None:
    assert why(issue) == reason


def test_what_a_finding_lacks_is_known_without_the_files() -> None:
    assert unsaid(finding("x", 7, "")) == "it names no file"
    assert unsaid(finding("")) == "it names no line and quotes nothing"
    assert unsaid(finding("", 10_000_000)) == "it quotes nothing"
    assert unsaid(finding("x")) == unsaid(finding("x", 10_000_000)) == ""


@pytest.mark.parametrize(
    "quote",
    [
        "found -= item.price",
        "    found -= item.price  ",
        "item.price",
        "`found -= item.price`",
        '"found -= item.price"',
        "“found -= item.price”",
        "```python\n    found -= item.price\n```",
        "```\nfound -= item.price",
        "> found -= item.price",
        "+        found -= item.price",
        "7: found -= item.price",
        "7 | found -= item.price",
        "     7\tfound -= item.price",
        "     7→        found -= item.price",
        "L7: found -= item.price",
        "src/a.py:7:        found -= item.price",
        "> 7: `found -= item.price`",
        "for item in items:\n        found -= item.price\n    return found",
        "for item in items: found -= item.price",
        "6:    for item in items:\n7:        found -= item.price",
        "@@ -4,5 +4,5 @@\n     for item in items:\n-        found += item.price\n+        found -= item.price\n \n     return found",
        "found = 0\n...\nreturn found",
        "found = 0 … return found",
        "`found = 0` ... `return found`",
        "5: found = 0\n...\n9: return found",
        "found = 0\n[...]\nreturn found",
        "for item in it…",
        "...price",
        "def stub(): ...",
        "`def stub(): ...`",
    ],
)
def test_a_quote_is_found_in_any_dress(quote: str) -> None:
    assert why(finding(quote, 7)) == ""
    assert why(finding(quote)) == ""
    assert why(finding(quote.replace("\n", "\r\n"), 7), CODE.replace("\n", "\r\n")) == ""


LINES = st.text(max_size=12) | st.sampled_from(
    ["}", "...", "…", "```", "12: x", "+ a", "- b", "> c", "@@ d", "`e`", "return", "  f(  g )", "\t", "", "x"]
)
TEXTS = st.lists(LINES).map("\n".join)


@given(TEXTS, TEXTS, st.data())
def test_an_exact_quote_of_any_changed_line_is_grounded(old: str, new: str, data: st.DataObject) -> None:
    lines = numbered(new)
    ranges = changed_lines(Changed("a", old, new))
    offered = [number for one in ranges for number in one if number <= len(lines) and lines[number - 1].split()]
    assume(offered)
    number = data.draw(st.sampled_from(offered))
    told = data.draw(st.none() | st.just(number) | st.integers(1, len(lines)))
    issue = finding(lines[number - 1], told, "a")
    assert ungrounded(issue, lambda path: new, lambda path: ranges, lambda path: "") == ""
    assert place(finding(lines[number - 1], number, "a"), new) == number


@given(TEXTS, st.lists(LINES | st.just("☃invented"), min_size=1).map("\n".join), st.none() | st.integers(1, 9))
def test_an_invented_quote_never_counts(text: str, quote: str, line: int | None) -> None:
    assume("☃" in quote and "☃" not in text)
    everywhere = (range(1, 9999),)
    assert ungrounded(finding(quote, line), lambda path: text, lambda path: everywhere, lambda path: "any")


@given(TEXTS, TEXTS)
def test_any_finding_is_judged_without_complaint(quote: str, text: str) -> None:
    assert isinstance(why(finding(quote, 1), text), str)
    assert place(finding(quote), text) <= len(numbered(text))


def test_long_quotes_and_files_are_judged_in_time() -> None:
    text = "a b\n" * 20_000
    assert why(finding("a ... b ... a ... c"), text)
    assert why(finding("a " * 20_000 + "c"), text)
    assert why(finding("`" * 3_000), text)
    assert why(finding(" \n" * 20_000 + "c"), text)


# ------------------------------------------------------------------------------------------------------------- places


@pytest.mark.parametrize(
    ("path", "line", "location", "found"),
    [
        ("src/a.py", 7, "", ("src/a.py", 7)),
        ("./src/a.py:7", None, "", ("src/a.py", 7)),
        ("`src/a.py:7-9`", None, "", ("src/a.py", 7)),
        ("src/a.py#L7-L9", None, "", ("src/a.py", 7)),
        ("src/a.py:7:3", None, "", ("src/a.py", 7)),
        ("src/a.py, line 7", None, "", ("src/a.py", 7)),
        ("src/a.py:7", 8, "", ("src/a.py", 8)),
        ("Makefile", 2, "", ("Makefile", 2)),
        ("", None, "src/a.py:7", ("src/a.py", 7)),
        ("", 7, "", ("", 7)),
    ],
)
def test_a_finding_names_its_place_in_many_ways(
    path: str, line: int | None, location: str, found: tuple[str, int]
) -> None:
    where = named(finding("x", line, path, location))
    assert (where.path, where.line) == found


def test_a_place_is_that_of_the_quote_nearest_to_the_line_named() -> None:
    text = "a\nb\na\nb\na\n"
    assert [place(finding("a", line), text) for line in (None, 1, 3, 4, 5)] == [1, 1, 3, 3, 5]
    assert place(finding("a", 90), text) == 5
    assert place(finding("z", 3), text) == 0
    assert why(finding("import os", 12)) == ""


def test_a_quote_of_what_was_removed_counts() -> None:
    old = CODE.replace("found -= item.price", "check(item)\n        found -= item.price")
    for quote in (
        "check(item)",
        "-        check(item)",
        "     for item in items:\n-        check(item)\n         found -= item.price",
    ):
        assert "\n" in quote or why(finding(quote)) == "the quote is not in src/a.py"
        known = ungrounded(
            finding(quote), lambda path: CODE, lambda path: (range(7, 8),), lambda path: "", lambda path: old
        )
        assert known == ""


def test_a_quote_of_a_file_that_was_removed_counts() -> None:
    def told(quote: str) -> str:
        return ungrounded(finding(quote), lambda path: None, lambda path: (), lambda path: "", lambda path: CODE)

    assert told("return found") == told("-    return found") == ""
    assert told("invented()") == told("") == "there is no file src/a.py"


# ------------------------------------------------------------------------------------------------ where a change reaches


def test_a_file_that_is_not_changed_counts_if_it_uses_what_is() -> None:
    issue = finding("found = 0", 5)
    assert why(issue, lines=()) == "src/a.py is not changed, and it uses no name that is"
    assert why(issue, lines=(), names="price") == ""
    assert ungrounded(issue, lambda path: CODE, lambda path: None, lambda path: "") != ""


def test_far_from_every_change_a_finding_counts_near_a_name_that_changed() -> None:
    changed = (range(7, 8),)
    far = finding("x40 = 40", 53)
    assert why(far, FAR, changed) == (
        "src/a.py:54 is more than 20 lines from every change, and no name that changed is near it"
    )
    assert why(far, FAR, changed, "total") == ""
    assert why(far, FAR, changed, "tot, other") != ""
    assert why(finding("x5 = 5", 19), FAR, changed) == ""
    assert why(finding("def last(): return total", 64), FAR, changed, "other, total") == ""


def test_a_line_that_is_named_wrongly_is_held_against_no_quote_in_the_change() -> None:
    text = "\n".join(["same()", *["x"] * 60, "same()", ""])
    assert why(finding("same()", 1), text, (range(62, 63),)) == ""


# ----------------------------------------------------------------------------------------------------- what was changed


@pytest.mark.parametrize(
    ("old", "new", "ranges"),
    [
        ("a\nb\nc\n", "a\nX\nc\n", [(2, 2)]),
        ("a\nc\n", "a\nb\nc\n", [(2, 2)]),
        ("a\nb\nc\n", "a\nc\n", [(2, 2)]),
        ("a\nb\n", "a\n", [(1, 1)]),
        ("a\n", "", [(1, 1)]),
        (None, "a\nb", [(1, 2)]),
        (None, "", []),
        ("a\n", None, []),
        ("a\nb\n", "a\r\nb", []),
        ("a\nb\nc\nd\ne\n", "X\nb\nc\nd\nY\nZ\n", [(1, 1), (5, 6)]),
    ],
)
def test_the_lines_that_a_change_touched(old: str | None, new: str | None, ranges: list[tuple[int, int]]) -> None:
    assert [(one.start, one.stop - 1) for one in changed_lines(Changed("a", old, new))] == ranges


@given(TEXTS, TEXTS)
def test_every_line_that_was_not_there_is_touched(old: str, new: str) -> None:
    touched = {number for one in changed_lines(Changed("a", old, new)) for number in one}
    kept = [line for number, line in enumerate(numbered(new), 1) if number not in touched]
    left = iter(numbered(old))
    assert all(line in left for line in kept)
    assert bool(touched) == (numbered(old) != numbered(new))


PYTHON = """import os
LIMIT = 3
a, (Bb, *Cc) = 1, (2, 3)
if os.name:
    def early(): pass

class Shop:
    rate: int = 2

    @property
    def price(self):
        x = 1
        return x

    def __init__(self):
        pass

async def sell():
    def inner():
        return 1
    return inner
"""


@pytest.mark.parametrize(
    ("line", "new", "names"),
    [
        (2, "LIMIT = 4", {"LIMIT"}),
        (3, "a, (Bb, *Cc) = 1, (2, 4)", {"Bb", "Cc"}),
        (5, "    def early(): return", {"early"}),
        (8, "    rate: int = 3", {"Shop", "rate"}),
        (10, "    @cached", {"Shop", "price"}),
        (12, "        x = 2", {"Shop", "price"}),
        (16, "        return", {"Shop"}),
        (20, "        return 2", {"sell"}),
        (1, "import sys", set()),
    ],
)
def test_the_names_of_python_are_those_around_a_changed_line(line: int, new: str, names: set[str]) -> None:
    lines = PYTHON.split("\n")
    lines[line - 1] = new
    assert names_changed([Changed("a.py", PYTHON, "\n".join(lines))]) == names


@pytest.mark.parametrize(
    ("path", "text", "names"),
    [
        ("a.go", "func (s *Shop) Price(a int) int {\n\treturn a //!\n}\n", {"Price"}),
        ("a.go", "type Shop struct {\n\tname string //!\n}\nfunc other() {\n}\n", {"Shop"}),
        ("a.go", "func f1() {\n\tdefer file.Close() //!\n}\n", {"f1"}),
        ("a.rs", "impl Shop {\n    pub(crate) fn price(&self) -> u8 {\n        1 //!\n    }\n}\n", {"price"}),
        ("a.rs", "pub const LIMIT: u8 = 3; //!\n", {"LIMIT"}),
        ("a.ts", "export interface Shop {\n  name: string; //!\n}\n", {"Shop"}),
        ("a.ts", "export default async function sell(x: number) { //!\n}\n", {"sell"}),
        ("a.ts", "export class Shop {\n  price(a: string): number {\n    return 1; //!\n  }\n}\n", {"Shop", "price"}),
        ("a.js", "export const price = (a) => {\n  return a //!\n}\n", {"price"}),
        ("a.js", "exports.price = price //!\n", {"price"}),
        ("a.js", "describe('x', () => {\n  call(a) //!\n})\n", set()),
        ("a.js", "function one() {\n}\n\nfunction two() {\n  if (x) { //!\n  }\n}\n", {"two"}),
        (
            "A.java",
            "public class Shop {\n  private int price(int a)\n  {\n    return a; //!\n  }\n}\n",
            {"Shop", "price"},
        ),
        ("a.c", "static int price(int a)\n{\n    return a; //!\n}\n#define LIMIT 3 //!\n", {"price", "LIMIT"}),
        ("a.c", "const int limit = 3; //!\n", set()),
        ("a.rs", "static mut LIMIT: u8 = 3; //!\n", {"LIMIT"}),
        ("a.go", "var limit int //!\n", {"limit"}),
        ("a.rb", "class Shop\n  def self.price\n    1 #!\n  end\nend\n", {"Shop", "price"}),
        ("a.ex", "defmodule Shop do\n  defp price(a) do\n    a #!\n  end\nend\n", {"Shop", "price"}),
        ("broken.py", "def price(:\n    return 1  #!\n", {"price"}),
        ("a.md", "class conflict is nothing here !\n", set()),
    ],
)
def test_the_names_of_other_languages_are_found_by_their_look(path: str, text: str, names: set[str]) -> None:
    assert names_changed([Changed(path, text.replace("!", ""), text)]) == names


def test_what_was_removed_or_is_new_has_names_too() -> None:
    assert names_changed([Changed("a.py", "def gone(): pass\nx1 = 1\n", "x1 = 1\n")]) == {"gone", "x1"}
    assert names_changed([Changed("a.py", "def gone(): pass\n", None)]) == {"gone"}
    assert names_changed([Changed("a.py", None, "def here(): pass\n")]) == {"here"}
    assert names_changed([Changed("a.py", "def same(): pass\n", "def same(): pass\n")]) == frozenset()


def test_a_text_uses_the_names_that_are_words_of_it() -> None:
    assert uses("shop.price(limits)", {"price", "shop", "limit"}) == "price, shop"
    assert uses("anything", ()) == ""


@given(st.sampled_from(["a.py", "a.js", "a", "a.c"]), TEXTS, TEXTS)
def test_any_change_has_names_without_complaint(path: str, old: str, new: str) -> None:
    assert all(names_changed([Changed(path, old, new)]))
