"""Specs as people and agents write them, in several languages and line ends, and what a change does to one.

An edit says what it writes and what it stands on, so that a test can tell two that have nothing to do with each other.
"""

from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, TypeVar

from hypothesis import strategies as st

LANGUAGES = {
    "en": (("Overview", "Requirements", "Acceptance Criteria"), ("The system SHALL send a code", "Codes end", "Ties")),
    "zh": (("概述", "需求", "验收标准"), ("系统必须发送验证码", "验证码会过期", "平局")),
    "he": (("סקירה", "דרישות", "קריטריונים"), ("המערכת שולחת קוד", "הקוד פג", "תיקו")),
    "ar": (("نظرة عامة", "Requirements", "Acceptance Criteria"), ("يرسل النظام رمزًا", "ينتهي الرمز", "تعادل")),
}
WORDS = ("Mine", "别人的", "שלהם", "جديد")
T = TypeVar("T", bound=tuple[Any, ...])
CODE = "```md\n## R9 - no heading {0}\n<spec>\n---\n```"
COMMENT = "<!-- kept {0}\n### R8 - nor this\n-->"


class Scenario(NamedTuple):
    name: str
    then: str


class Requirement(NamedTuple):
    id: str
    title: str
    body: str
    scenarios: tuple[Scenario, ...] = ()
    metadata: bool = True


class Section(NamedTuple):
    title: str
    body: str


@dataclass(frozen=True)
class Draft:
    """A spec before it is written down. `head` has the keys of the front matter, none if there is to be none."""

    headings: tuple[str, str, str]
    title: str
    overview: str
    requirements: tuple[Requirement, ...]
    criteria: tuple[Scenario, ...]
    extra: tuple[Section, ...]
    head: tuple[tuple[str, str], ...] = ()
    tags: bool = False
    wide: bool = False
    newline: str = "\n"
    last: str = "\n"

    def text(self) -> str:
        """The file; the counts at its head are right."""
        between = "\n\n\n" if self.wide else "\n\n"
        sections = [f"# {self.title}", f"## {self.headings[0]}\n\n{self.overview}"]
        sections.append("\n\n".join([f"## {self.headings[1]}", *map(_requirement, self.requirements)]))
        sections.append("\n\n".join([f"## {self.headings[2]}", *(_scenario(each, "###") for each in self.criteria)]))
        sections += [f"## {title}\n\n{body}" for title, body in self.extra]
        body = between.join(["<spec>", *sections, "</spec>"] if self.tags else sections)
        return (self._head() + body + self.last).replace("\n", self.newline)

    def _head(self) -> str:
        if not self.head:
            return ""
        ids = [each.id for each in self.requirements]
        listed = "".join(f"\n  - {name}" for name in ids) or " []"
        lines = [f"{key}: {value}" if key else f"# {value}" for key, value in self.head]
        return "\n".join(["---", *lines, f"requirements:\n  total: {len(ids)}\n  ids:{listed}", "---", "", ""])


@dataclass(frozen=True)
class Edit:
    """Something a change does. Two edits are independent if neither writes what the other writes or stands on."""

    name: str
    writes: frozenset[str]
    stands_on: frozenset[str]
    apply: Callable[[Draft], Draft]

    def __repr__(self) -> str:
        return f"<{self.name}>"

    def is_independent_of(self, other: "Edit") -> bool:
        return not (self.writes & (other.writes | other.stands_on) or other.writes & self.stands_on)


def _requirement(each: Requirement) -> str:
    metadata = f"```yaml\nid: {each.id}\npriority: high\n```\n\n" if each.metadata else ""
    own = f"### {each.id} - {each.title}\n\n{metadata}{each.body}"
    return "\n\n".join([own, *(_scenario(one, "####") for one in each.scenarios)])


def _scenario(each: Scenario, level: str) -> str:
    return f"{level} Scenario: {each.name}\n\n- **WHEN** it begins\n- **THEN** {each.then}"


@st.composite
def drafts(draw: st.DrawFn, newline: str = "") -> Draft:
    """A whole spec in which every sentence is there once."""
    language = draw(st.sampled_from(sorted(LANGUAGES)))
    headings, (sentence, title, name) = LANGUAGES[language]
    shape = draw(st.integers(0, 2**10 - 1))  # one number for all that is there or not: drawing takes the time
    on = [bool(shape & 1 << bit) for bit in range(10)]
    requirements = tuple(
        Requirement(
            f"R{number}",
            f"{title} {number}",
            f"{sentence} {number}.\n{'  ' if on[0] else ''}And {number} more." + (f"\n\n{CODE.format(number)}" * on[1]),
            tuple(
                Scenario(f"{name} {number}.{nth}", f"it is {number}.{nth}") for nth in range(draw(st.integers(0, 2)))
            ),
            on[2],
        )
        for number in range(1, draw(st.integers(1, 4)) + 1)
    )
    extra = tuple(
        Section(f"{title} S{nth}", f"{sentence} S{nth}." + f"\n\n{COMMENT.format(nth)}" * on[3]) for nth in range(2)
    )
    head = (
        ("id", "x"),
        ("title", f"{title}"),
        ("version", "1.0"),
        ("", "who"),
        ("owner", "ana"),
        ("updated_at", "2026-01-01"),
    )
    return Draft(
        headings,
        f"{title} T",
        f"{sentence} O.",
        requirements,
        tuple(Scenario(f"{name} C{nth}", f"it is C{nth}") for nth in range(1 + on[4])),
        extra if on[5] else (),
        head if on[6] else (),
        on[7],
        on[8],
        newline or draw(st.sampled_from(["\n", "\r\n"])),
        "\n" if on[9] else "",
    )


def edits(draft: Draft, nth: int) -> list[Edit]:
    """Everything the `nth` change could do to a spec, in its own words."""
    words = WORDS[nth % len(WORDS)]
    made = [*_of_requirements(draft, nth, words), *_of_scenarios(draft, nth, words), *_of_sections(draft, nth, words)]
    return [*made, *(_of_head(nth) if draft.head else ())]


@st.composite
def changed(draw: st.DrawFn, draft: Draft, nth: int, most: int = 3) -> Draft:
    """The spec as the `nth` change leaves it after some edits, whatever other changes do."""
    possible = edits(draft, nth)
    for at in draw(st.lists(st.integers(0, len(possible) - 1), min_size=1, max_size=most, unique=True)):
        draft = possible[at].apply(draft)
    return draft


@st.composite
def independent(draw: st.DrawFn, draft: Draft, count: int) -> list[Edit]:
    """One edit for each of several changes, no two of which have to do with each other."""
    chosen: list[Edit] = []
    for nth in range(1, count + 1):
        possible = [edit for edit in edits(draft, nth) if all(map(edit.is_independent_of, chosen))]
        chosen.append(possible[draw(st.integers(0, len(possible) - 1))])
    return chosen


def _edit(name: str, writes: Collection[str], stands_on: Collection[str], apply: Callable[[Draft], Draft]) -> Edit:
    return Edit(name, frozenset(writes), frozenset(stands_on), apply)


def _swap(items: tuple[T, ...], name: str, new: T | None) -> tuple[T, ...]:
    """The items, the one of that name replaced or taken away."""
    swapped = (new if item[0] == name else item for item in items)
    return tuple(item for item in swapped if item is not None)


def _put(items: tuple[T, ...], after: str, new: T) -> tuple[T, ...]:
    """The items with a new one after the one of that name, or before all."""
    at = next((place for place, item in enumerate(items, 1) if item[0] == after), 0)
    return (*items[:at], new, *items[at:])


def _requirement_to(name: str, new: Requirement | None) -> Callable[[Draft], Draft]:
    return lambda it: replace(it, requirements=_swap(it.requirements, name, new))


def _requirement_after(name: str, new: Requirement) -> Callable[[Draft], Draft]:
    return lambda it: replace(it, requirements=_put(it.requirements, name, new))


def _inserted(at: int, new: Requirement) -> Callable[[Draft], Draft]:
    """The requirements with one more, and those after it numbered anew."""

    def apply(it: Draft) -> Draft:
        later = tuple(each._replace(id=f"R{int(each.id[1:]) + 1}") for each in it.requirements[at:])
        return replace(it, requirements=(*it.requirements[:at], new, *later))

    return apply


def _section_to(name: str, new: Section | None) -> Callable[[Draft], Draft]:
    return lambda it: replace(it, extra=_swap(it.extra, name, new))


def _key_to(name: str, value: str) -> Callable[[Draft], Draft]:
    return lambda it: replace(it, head=_swap(it.head, name, (name, value)))


def _scenarios_to(of: str, change: Callable[[tuple[Scenario, ...]], tuple[Scenario, ...]]) -> Callable[[Draft], Draft]:
    """The scenarios of a requirement changed, or those of the criteria."""

    def apply(it: Draft) -> Draft:
        if not of:
            return replace(it, criteria=change(it.criteria))
        owner = next((each for each in it.requirements if each.id == of), None)
        new = owner and owner._replace(scenarios=change(owner.scenarios))
        return replace(it, requirements=_swap(it.requirements, of, new))

    return apply


def _of_requirements(draft: Draft, nth: int, words: str) -> Iterator[Edit]:
    for place, after in enumerate(["", *(each.id for each in draft.requirements)]):
        name = f"R{20 - nth if place % 2 else 10 + nth}"
        new = Requirement(name, f"{words} new {nth}", f"{words} text {nth}.")
        yield _edit(f"add {name} after {after}", {name}, {after} - {""}, _requirement_after(after, new))
    for each in draft.requirements:
        name = each.id
        text, body = f"{name} text", f"{words} instead {nth}.\nAnd so on {nth}."
        new_name = f"R{30 + nth}"
        yield _edit(f"change {name}", {text}, {name}, _requirement_to(name, each._replace(body=body)))
        retitled = each._replace(title=f"{words} title {nth}")
        yield _edit(f"retitle {name}", {text}, {name}, _requirement_to(name, retitled))
        renamed = each._replace(id=new_name)
        yield _edit(f"rename {name}", {text, new_name}, {name}, _requirement_to(name, renamed))
        yield _edit(f"remove {name}", {text, name}, {name}, _requirement_to(name, None))
    for at, each in enumerate(draft.requirements):
        later, around = draft.requirements[at:], draft.requirements[max(at - 1, 0) :]
        new = Requirement(each.id, f"{words} first {nth}", f"{words} put before {nth}.")
        writes = {"numbers", *(f"{one.id} text" for one in later)}
        yield _edit(f"insert before {each.id}", writes, [one.id for one in around], _inserted(at, new))
    if len(draft.requirements) > 1:
        turned = lambda it: replace(it, requirements=(*it.requirements[-1:], *it.requirements[:-1]))  # noqa: E731
        yield _edit("turn around", {"order"}, (), turned)


def _of_scenarios(draft: Draft, nth: int, words: str) -> Iterator[Edit]:
    new = Scenario(f"{words} case {nth}", f"{words} case ends {nth}")
    for of, found in [("", draft.criteria), *((each.id, each.scenarios) for each in draft.requirements)]:
        on = {of} - {""}
        last = found[-1].name if found else ""
        added = _scenarios_to(of, lambda them, last=last: _put(them, last, new))  # type: ignore[misc]
        yield _edit(f"add a scenario to {of}", {f"{of} {new.name}"}, {*on, f"{of} {last}"}, added)
        for each in found:
            name, key = each.name, f"{of} {each.name}"
            one = each._replace(then=f"{words} otherwise {nth}")
            to_one = _scenarios_to(of, lambda them, name=name, one=one: _swap(them, name, one))  # type: ignore[misc]
            yield _edit(f"change {key}", {f"{key} text"}, {*on, key}, to_one)
            gone = _scenarios_to(of, lambda them, name=name: _swap(them, name, None))  # type: ignore[misc]
            yield _edit(f"remove {key}", {key, f"{key} text"}, on, gone)


def _of_sections(draft: Draft, nth: int, words: str) -> Iterator[Edit]:
    yield _edit("overview", {"overview"}, (), lambda it: replace(it, overview=f"{words} overview {nth}."))
    yield _edit("title", {"title"}, (), lambda it: replace(it, title=f"{words} spec {nth}"))
    last = draft.extra[-1].title if draft.extra else ""
    new = Section(f"{words} section {nth}", f"{words} section text {nth}.")
    yield _edit("add a section", {new.title}, {last}, lambda it: replace(it, extra=_put(it.extra, last, new)))
    for each in draft.extra:
        text, one = f"{each.title} text", each._replace(body=f"{words} other {nth}.")
        yield _edit(f"change {each.title}", {text}, {each.title}, _section_to(each.title, one))
        retitled = each._replace(title=f"{words} heading {nth}")
        yield _edit(
            f"retitle {each.title}", {text, f"{each.title} name"}, {each.title}, _section_to(each.title, retitled)
        )
        yield _edit(f"remove {each.title}", {text, each.title}, (), _section_to(each.title, None))


def _of_head(nth: int) -> Iterator[Edit]:
    name = f"key{nth}"
    yield _edit("add a key", {name}, (), lambda it: replace(it, head=(*it.head, (name, "new"))))
    yield _edit("owner", {"owner"}, (), _key_to("owner", f"ben {nth}"))
    yield _edit("version", {f"version {nth}"}, (), _key_to("version", f"1.{nth * 9}"))
    yield _edit("time", {f"time {nth}"}, (), _key_to("updated_at", f"2026-01-0{nth + 1}"))
    without = lambda it: replace(it, head=_swap(it.head, "updated_at", None))  # noqa: E731
    yield _edit("no time", {f"time {nth}"}, (), without)
