"""An outcome and a self-review are taken from structured lines and from nothing else."""

import json
import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.calling.reply import find_outcome, self_review

ALLOWED = ("approved", "needs_revision", "rejected")


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ('All is well.\n{"outcome": "approved"}', "approved"),
        ('{"outcome": "Approved", "why": "tests"}\n\n', "approved"),
        ('```\n{"outcome": "approved"}\n```', "approved"),
        ('All is well:\n\n~~~json\n{"outcome": "approved"}\n~~~\n', "approved"),
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
        'An example:\n```\n{"outcome": "approved"}\n```\nis what I would write.',
        '```json\n{"why": "no outcome"}\n{"outcome": "approved"}\n```',
        '```json\n{"outcome": "approved"}\n```\n{"outcome": "rejected"}',
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


PASSES = [
    "PASS",
    "PASS: No changes needed",
    "PASS:",
    "PASS：没有问题",
    "PASS - nothing to change",
    "PASS — nothing to change",
    "PASS.",
    "**PASS**",
    "**PASS**: all four checks hold",
    "**PASS:** all four checks hold",
    "**PASS: all four checks hold**",
    "__PASS__",
    "- PASS: fine",
    "* PASS",
    "1. PASS: fine",
    "> PASS: fine",
    "> - **PASS**: fine",
    "   PASS   ",
    "`PASS`",
    "`PASS: No changes needed`",
    "<review>PASS</review>",
    "**<review>PASS</review>**",
    "<review>\nPASS\n</review>",
    '{"outcome": "pass"}',
    '{"outcome": "PASS", "why": "fine"}',
    "I read it twice.\n\nPASS: no changes needed\n",
    "I read it twice.\r\n\r\nPASS: no changes needed\r\n",
    "- PASS: completeness\n- PASS: clarity\n- PASS: impact",
    'PASS: fine\n{"outcome": "pass"}',
    "```\nNEEDS_REVISION: an example\n```\nPASS",
    "Earlier it was said that it needs revision; it does not any more.\nPASS: fine",
    "The markers are PASS and NEEDS_REVISION.\n\nPASS: it is the first.",
    "```PASS```",
    "```\nPASS\n```",
    "```text\nPASS: fine\n```\n\nNothing had to be changed.",
    "I read it twice.\n\n~~~\nPASS: fine\n~~~\n",
    '```json\n{"outcome": "pass"}\n```',
]
PASSES_NOT = [
    "",
    "   \n\n",
    "All is well.",
    "pass",
    "Pass: fine",
    "PASSED the first check",
    "PASSED: all",
    "PASSES: all",
    "BYPASS: yes",
    "PASSWORD: x",
    "PASS_WITH_NOTES: x",
    "PASS WITH NOTES",
    "PASS with notes: x",
    "PASS/FAIL",
    "PASS? I do not think so",
    "PASS or NEEDS_REVISION",
    "PASS: … / NEEDS_REVISION: …",
    "not PASS",
    "Not PASS: x",
    "this does not PASS: x",
    "This does not\u2028PASS: x",
    "I would say PASS",
    "Result: PASS",
    "Output: PASS: No changes needed",
    "`PASS`: is what I would write if it were good",
    "The marker `PASS`",
    "[ ] PASS",
    "- [ ] PASS",
    "~~PASS~~",
    "(PASS)",
    "## PASS criteria",
    "One would write\n```\nPASS: fine\n```\nif it were good.",
    "```\nPASS: …\nNEEDS_REVISION: …\n```",
    "```\nPASS or NEEDS_REVISION: x\n```",
    "```\nPASS\n```\nNEEDS_REVISION: the impact",
    "NEEDS_REVISION: the impact\n```\nPASS\n```",
    "````\n```\nPASS: fine\n````",
    "> ```\n> PASS: fine\n> ```",
    "- ```\n  PASS: fine\n  ```",
    "```\nPASS: fine",
    "    PASS: fine",
    "\tPASS: fine",
    ">     PASS: fine",
    "<!--\nPASS: fine\n-->",
    "<review>PASS",
    "we said <review>PASS</review> last time",
    "<review>NEEDS_REVISION</review>",
    "<review> NEEDS_REVISION </review>",
    "NEEDS_REVISION",
    "NEEDS_REVISION: the affected specs",
    "**NEEDS_REVISION**: the affected specs",
    "NEEDS REVISION: the affected specs",
    "PASS: fine\nNEEDS_REVISION: the impact",
    "NEEDS_REVISION: the impact\n\nPASS: now it is fine",
    "PASS\n    NEEDS_REVISION: hidden deeper",
    "PASS\n## NEEDS_REVISION",
    "PASS\n- **NEEDS_REVISION** because of the impact",
    "PASS\nso: <review>NEEDS_REVISION</review>",
    "- PASS: completeness\n- FAIL: clarity",
    '{"outcome": "needs_revision"}',
    '{"outcome": "needs_revision"}\nPASS: fine',
    '{"outcome": "pass"}\nNEEDS_REVISION: the impact',
    '{"outcome": "pass"}\n{"outcome": "needs_revision"}',
    '{"outcome": "approved"}\nPASS: fine',
    '{"outcome": ["pass"]}',
    'so {"outcome": "pass"}',
    '```json\n{"outcome": "pass"}\n```\n{"outcome": "needs_revision"}',
]


@pytest.mark.requirement(280)
@pytest.mark.parametrize("text", PASSES)
def test_a_self_review_that_says_pass_and_nothing_against_it_passes(text: str) -> None:
    assert self_review(text) == "pass"


@pytest.mark.requirement(280)
@pytest.mark.parametrize("text", PASSES_NOT)
def test_a_self_review_without_a_clear_marker_needs_revision(text: str) -> None:
    assert self_review(text) == "needs_revision"


@given(st.text())
def test_no_text_without_the_word_passes(text: str) -> None:
    if "PASS" not in text and '"outcome"' not in text:
        assert self_review(text) == "needs_revision"


@given(st.sampled_from(PASSES), st.sampled_from(["NEEDS_REVISION", "NEEDS_REVISION: x", "**NEEDS_REVISION**"]))
def test_a_marker_against_it_wins_wherever_it_stands(passing: str, against: str) -> None:
    assert self_review(f"{passing}\n{against}") == "needs_revision"
    assert self_review(f"{against}\n\n{passing}") == "needs_revision"


@given(st.text(alphabet="PAS: *->`\n \tx<review/>", max_size=40))
def test_a_pass_stands_at_the_start_of_its_line(text: str) -> None:
    if self_review(text) == "pass":
        assert any(re.match(r"[ \t>*_`\-0-9.)+]*(<review>\s*)?PASS\b", line) for line in text.split("\n"))


@given(st.text(alphabet=st.characters(exclude_characters="\n\r"), max_size=30).filter(str.strip))
def test_words_before_the_marker_make_it_prose(words: str) -> None:
    if words.strip(" \t>*_`-+.)0123456789<!~"):
        assert self_review(f"{words} PASS: fine".replace("\n", " ")) == "needs_revision" or words.endswith("PASS")
