"""Whether two issues are the same problem in other words, by their wording and by the places they name."""

import re
import unicodedata
from collections.abc import Sequence
from dataclasses import replace
from difflib import SequenceMatcher
from functools import cached_property

from agentd.model.verdict import Issue
from agentd.patterns import regex
from agentd.review.plan_grounding import Place, places

# How alike two issues must be, depending on their places. The thresholds are tuned with the rewordings in the tests.
SAME_PLACE = 0.55
NO_PLACE = 0.67
OTHER_PLACE = 0.75
SAME_TITLE = 0.75
VERBATIM = 0.8
LONGEST = 400  # words of an issue that are compared

ID = regex(
    r"\A[\s\[(（【*_`#]*(?:issue[\s:：#]*)?(I[1-9]\d{0,5})"
    r"(?:\s*[\])）】*_`:：—–][\])）】*_`:：—–\s-]*|\s+-\s+|(?=\s*[(（])|\s*\Z)",
    re.IGNORECASE,
)
_UNSPACED = r"\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff"
_WORD = regex(rf"[{_UNSPACED}]+|[^\W_{_UNSPACED}]+")
_ENDING = regex(r"(?<=\w{3})(?:ations?|ions?|ings?|ness|ly|ed|es|s|e)\Z")
# Words that reviewers use about any problem do not distinguish issues.
_COMMON_WORDS = """
    a about above after again all also although an and any are as at be because been before being below between but by
    can cannot could did do does done each either even every first for from has have how if in into is it its itself
    just least less made make makes many may might more most much must need needed needs neither never no nor not
    nothing now of off on once one only or other our out over own per rather same shall should since so some still such
    than that the their them then there these they this those though through thus to too two under until up upon use
    used uses using very was we well were what when where whether which while who whom whose why will with within
    without would yet you your
    add added ambiguity ambiguous behavior behaviour case cases clear clearly consider cover covered covers define
    defined defines definition describe described describes document happen happens handle handled handling issue lack
    lacks leave leaves left mention mentioned mentions miss missing open plan problem proposal remain remains
    requirement requirements resolved reviewer round say says said scenario scenarios section show shown shows spec
    specs specification specified specifies specify state stated states suggest task tasks test tests unclear undefined
    unspecified unresolved
"""
_COMMON = frozenset(_COMMON_WORDS.split())
_COMMON_UNSPACED = regex(
    "没有|沒有|没|沒|仍然|仍|未|不|的|了|是|在|与|和|及|对|有|应该|应|需要|需|说明|定义|规定|问题|场景|場景|要求|缺少"
)


class Said:
    """An issue prepared for comparison; `id` is the ledger entry that it names."""

    def __init__(self, issue: Issue) -> None:
        self.issue = issue
        self.places = places(issue)
        found = ID.match(issue.title) or ID.match(issue.description)
        self.id = found[1].upper() if found else ""

    @cached_property
    def exactly(self) -> Issue:
        return replace(self.issue, severity="High", ungrounded="")

    @cached_property
    def title(self) -> list[str]:
        return _words(ID.sub("", self.issue.title))

    @cached_property
    def words(self) -> list[str]:
        return (self.title + _words(ID.sub("", self.issue.description)))[:LONGEST]

    @cached_property
    def topic(self) -> frozenset[str]:
        """The distinguishing words of the title."""
        return _telling(self.title) - self.where

    @cached_property
    def telling(self) -> frozenset[str]:
        """The words that distinguish the issue from others, without those of its place."""
        return self.topic | _telling(self.words) - self.where

    @cached_property
    def where(self) -> frozenset[str]:
        return _telling(_words(" ".join(f"{place.spec} {place.requirement}" for place in self.places)))


def likeness(one: Said, before: Said, name: str) -> float:
    """How sure it is that an issue is the earlier one with this id; 0 if it is another.

    The same text is surest, then the id, then similar text at the same place.
    """
    if one.exactly == before.exactly:
        return 4
    alike = _overlap(one.telling, before.telling)
    if one.id == name:
        return 3 + alike
    near = any(_touch(place, other) for place in one.places for other in before.places)
    if near:
        titled = 0.7 * alike + 0.3 * _overlap(one.topic, before.topic) + 0.05
        same = max(alike, titled) >= SAME_PLACE or _same_title(one, before)
    elif one.places and before.places:
        # A few shared words are not enough for two different places.
        same = alike >= OTHER_PLACE and len(one.telling & before.telling) >= 3
    else:
        same = alike >= NO_PLACE or one.words == before.words
    return (2 if near else 1) + alike if same and not _replaced(one, before) else 0


def _same_title(one: Said, before: Said) -> bool:
    shared = one.topic & before.topic
    equal = one.title == before.title and len(one.title) >= 3 and bool(shared)
    return equal or (len(shared) >= 2 and _overlap(one.topic, before.topic) >= SAME_TITLE)


def _replaced(one: Said, before: Said) -> bool:
    """Whether the two texts differ only in their subject: then it is another problem of the same kind."""
    here, there = one.telling - before.telling, before.telling - one.telling
    if not all(any(not word.isdecimal() for word in only) for only in (here, there)):
        return False
    return SequenceMatcher(None, one.words, before.words, autojunk=False).ratio() >= VERBATIM


def _overlap(one: frozenset[str], other: frozenset[str]) -> float:
    """How much two sets overlap, from 0 to 1; a superset scores better than a partial overlap."""
    shared = len(one & other)
    return shared / (len(one) + len(other)) + shared / min(len(one), len(other)) / 2 if shared else 0.0


def _touch(one: Place, other: Place) -> bool:
    """Whether two places are the same, as far as both are given."""
    if one.path and one.path == other.path:
        return True
    if one.requirement and other.requirement:
        return one.requirement == other.requirement and (one.spec == other.spec or not one.spec or not other.spec)
    return bool(one.spec) and one.spec == other.spec


def _words(text: str) -> list[str]:
    return _WORD.findall(unicodedata.normalize("NFKC", text).casefold())


def _telling(words: Sequence[str]) -> frozenset[str]:
    """The stems of distinguishing words, and pairs of characters in scripts without spaces."""
    found: set[str] = set()
    for word in words:
        if re.match(f"[{_UNSPACED}]", word):
            for part in filter(None, _COMMON_UNSPACED.split(word)):
                found.update(part[at : at + 2] for at in range(max(len(part) - 1, 1)))
        elif word not in _COMMON:
            found.add(_ENDING.sub("", word))
    return frozenset(found)
