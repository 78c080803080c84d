"""Which claim of a test as it was corresponds to which claim of the test as it is."""

import re
from collections.abc import Collection, Iterable
from difflib import SequenceMatcher

from agentd.patterns import regex
from agentd.proof.integrity.parsed import Claim, Test

_LITERAL = regex(r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\"|\b\d[\w.]*|\b(?:True|False|None|true|false|null|nothing)\b")
_LISTED = regex(r"[\[({]_(?:, ?_)*,?[\])}]|\[\]|\{\}")
_MOST = 30  # claims that are compared with each other by likeness


def pair_claims(
    old: Test, new: Test, elsewhere: Collection[str]
) -> tuple[list[tuple[Claim, Claim]], list[Claim], list[Claim]]:
    """The pairs, the claims that are gone, and those that are new; `elsewhere` are the claims of new tests."""
    pairs: list[tuple[Claim, Claim]] = []
    lost, fresh = list(old.claims), list(new.claims)
    for same in (_states_the_same, _is_about_the_same):
        for before in list(lost):
            found = next((now for now in fresh if same(before, now)), None)
            if found:
                pairs.append((before, found))
                lost.remove(before)
                fresh.remove(found)
    lost = [claim for claim in lost if claim.text not in elsewhere and not _is_part(claim, new)]
    if is_table(new):
        tabled = {shape(claim, new.names) for claim in new.real}
        lost = [claim for claim in lost if shape(claim, old.names) not in tabled or not keeps_values(claim, new)]
        if len(lost) < len(old.claims) - len(pairs):
            known = {shape(claim, old.names) for claim in old.claims}
            fresh = [claim for claim in fresh if shape(claim, new.names) not in known]
    alike = _alike(lost, fresh)
    pairs += alike
    paired = {id(claim) for both in alike for claim in both}
    return pairs, [c for c in lost if id(c) not in paired], [c for c in fresh if id(c) not in paired]


def shape(claim: Claim, names: Iterable[str] = ()) -> str:
    """A claim without its values, and without the names that stand for values."""
    text = _LITERAL.sub("_", claim.text)
    words = [re.escape(name) for name in names]
    if words:
        text = re.sub(rf"\b(?:{'|'.join(words)})\b", "_", text)
    while (less := _LISTED.sub("_", text)) != text:
        text = less
    return re.sub(r"\s", "", text)


def keeps_values(claim: Claim, test: Test) -> bool:
    """Whether every value of a claim still occurs in a test that now takes them from a table."""
    said = test.body + " ".join(value for row in test.rows or () for value in row.values)
    return all(literal in said for literal in _LITERAL.findall(claim.text) if literal != "nothing")


def is_table(test: Test) -> bool:
    """Whether a test takes its values from a table."""
    return test.rows is not None or test.many or any(claim.most > 1 for claim in test.claims)


def _states_the_same(old: Claim, new: Claim) -> bool:
    return old.text == new.text


def _is_about_the_same(old: Claim, new: Claim) -> bool:
    return old.subject == new.subject and not old.called and not new.called


def _is_part(claim: Claim, new: Test) -> bool:
    """Whether a claim about a part is now made about the whole."""
    wholes = (other.subject for other in new.real if other.rank >= 3 and other.subject)
    return any(claim.subject.startswith((f"{whole}.", f"{whole}[", f"len({whole})")) for whole in wholes)


def _alike(lost: list[Claim], fresh: list[Claim]) -> list[tuple[Claim, Claim]]:
    """The most similar claims of both sides in pairs; a helper's call stands for more than one claim and has none."""
    near = sorted(
        (-SequenceMatcher(None, a.text[:300], b.text[:300], autojunk=False).ratio(), at, of)
        for at, a in enumerate(lost[:_MOST])
        for of, b in enumerate(fresh[:_MOST])
        if not a.called and not b.called
    )
    pairs: dict[int, int] = {}
    for _, at, of in near:
        if at not in pairs and of not in pairs.values():
            pairs[at] = of
    return [(lost[at], fresh[of]) for at, of in pairs.items()]
