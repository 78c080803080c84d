"""What words at a gate are taken for: approval only where there is nothing else in them, and otherwise never."""

import re

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from agentd.families.team.gate_words import APPROVED, CHANGES, is_deferral, meaning, part, strategy

CLEAR = [
    "approved",
    "Approved!",
    "approve",
    "I approve",
    "looks good",
    "Looks good to me.",
    "LGTM",
    "LGTM, thanks!",
    "@kim lgtm :)",
    "go ahead",
    "yes, go ahead",
    "ok",
    "this works for me",
    "sounds good",
    "the design is fine as it is",
    "Everything looks great. Thank you very much for doing this and writing it down!",
    "Nice work, approved",
    "ok, I think this is good enough",
    "no objections",
    "no changes needed, ship it",
    "let's do it",
    "👍",
    "👍🏽 thanks",
    "+1",
]
CHANGE = [
    "fix the spelling",
    "change the layout",
    "I have concerns",
    "not approved",
    "I do not approve",
    "looks good but rename the module",
    "looks good, but rename the module",
    "approved with changes",
    "approved: but rename it",
    "approved if the tests pass",
    "LGTM modulo a nit",
    "one small thing, otherwise ok",
    "ok once the criteria are complete",
    "go ahead and rename it",
    "yes and no",
    "is this approved?",
    "looks good?",
    "don't go ahead",
    "no",
    "thanks, please add a section on errors",
    "fine. thanks for this please rename it",
    "changes-requested: a smaller scope",
    "changes-requested",
]
UNCLEAR = [
    "",
    "thanks",
    "nice catch",
    "hm",
    "looks good so far",
    "never approved",
    "disapproved",
    "approved, never",
    "LGTM 👎",
    "for me",
    "fine, whatever",
    "good grief",
]
# Other languages, a few with an English word among the others.
FOREIGN = ["genehmigt", "sieht gut aus", "ok, aber nicht so", "passt, nur der Name nicht", "oui", "pas ok", "d'accord", "vale, pero cambia el nombre", "承認します", "ок, но переименуй", "kein ok"]  # fmt: skip


@pytest.mark.requirement(299)
@pytest.mark.parametrize("words", CLEAR)
def test_words_of_approval_and_nothing_else_approve(words: str) -> None:
    assert meaning(words) == APPROVED
    assert meaning(f"  {words.upper()}\n") == APPROVED


@pytest.mark.requirement(176, 299)
@pytest.mark.parametrize("words", CHANGE)
def test_a_wish_a_condition_or_a_question_asks_for_changes(words: str) -> None:
    assert meaning(words) == CHANGES


@pytest.mark.requirement(299)
@pytest.mark.parametrize("words", [*UNCLEAR, *FOREIGN])
def test_words_that_can_be_read_either_way_are_not_understood(words: str) -> None:
    assert meaning(words) == ""


@given(st.sampled_from(CLEAR), st.text())
def test_a_word_that_is_not_known_takes_an_approval_away(words: str, more: str) -> None:
    assume(not re.search("thank|thx|cheers", more.lower()))  # what anybody is thanked for is courtesy
    assert meaning(f"{words}, {more} xq") != APPROVED
    assert meaning(f"{more} xq, {words}") != APPROVED


@given(st.sampled_from(CLEAR), st.sampled_from(CHANGE), st.sampled_from([", ", ". ", "! ", " and ", " - "]))
def test_an_approval_beside_a_wish_is_no_approval(words: str, wish: str, between: str) -> None:
    assert meaning(f"{words}{between}{wish}") != APPROVED
    assert meaning(f"{wish}{between}{words}") != APPROVED


@pytest.mark.requirement(174)
def test_a_deferral_is_a_word_of_its_own() -> None:
    assert all(map(is_deferral, ["later", "Not now.", "cancel", "deferred"]))
    assert not any(map(is_deferral, ["cancel the second criterion", "later is better", "approved", ""]))


@pytest.mark.requirement(170)
@pytest.mark.parametrize(
    ("words", "about"),
    [
        ("the scope is too large", "spec"),
        ("AC-002 cannot be tested", "spec"),
        ("use a queue instead", "architecture"),
        ("move the button to the left", "design"),
    ],
)
def test_a_correction_is_about_the_document_that_its_words_name(words: str, about: str) -> None:
    assert part(words, has_design=True) == about
    assert part(words, has_design=False) == ("architecture" if about == "design" else about)


@pytest.mark.requirement(181, 182)
def test_a_strategy_is_one_of_two_words_however_it_is_spelled() -> None:
    assert [strategy(words) for words in ("per-batch", "Per Batch", "per_batch review")] == ["per-batch"] * 3
    assert [strategy(words) for words in ("single-final", " Single final review ")] == ["single-final"] * 2
    assert not any(map(strategy, ["", "both", "per-batch please", "final", "per-task", "yes"]))
