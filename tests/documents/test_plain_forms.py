"""Documents in the form that agentd writes are read by a few expressions: with the result of the careful reader, or not at all."""

import re
from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.families.change.documents import proposal, tasks
from agentd.families.change.documents.proposal import plain_proposal, proposal_reader
from agentd.families.change.documents.tasks import plain_tasks, tasks_reader
from agentd.library import spec
from agentd.library.spec import plain_spec, spec_reader
from agentd.model.change import (
    AffectedSpec,
    Impact,
    Proposal,
    Requirement,
    Review,
    Scenario,
    Spec,
    Task,
    Tasks,
)
from agentd.model.rules import Rules
from agentd.text import frontmatter
from tests.documents.hand_edits import NASTY_LINES, TYPED, Edit, hand_edits, slips
from tests.documents.test_proposal import NASTY as PROPOSALS
from tests.documents.test_spec import NASTY as NASTY_SPECS
from tests.documents.test_spec import PLAIN as PLAIN_SPECS
from tests.documents.test_tasks import documents

TIME = "2026-01-02T03:04:05Z"
SPEC = Spec(
    "auth-flow",
    "Login",
    "People log in with a `code`.\n\n- once\n  - or twice, if it's < 5 s",
    (
        Requirement("R1", "Codes", "The system SHALL send a code.", "high", "draft"),
        Requirement("R20", "Limits: 3 tries", "After three tries\nit waits.\n\nAnd no longer."),
    ),
    (
        Scenario("Sent", "a person asks", "a code comes\nAND it is short", "a person", "R1"),
        Scenario("Late", "the code is old\nBUT known", "it is refused"),
    ),
    created_at=TIME,
    updated_at=TIME,
)
TASKS = Tasks(
    "add-login",
    (
        Task("data", 1, "Store codes", "src/codes.py", "CREATE", "auth-flow:R1", "Keep them short.\n\n- [ ] hashed"),
        Task("testing", 2, "Test: codes", "tests/a b.py", "MODIFY", "auth-flow:R20", "", ("data.1",), "completed"),
    ),
    TIME,
)
PROPOSAL = Proposal(
    "add-login",
    "People log in: at last",
    "They ask for it.\n\nOften, and it's cheap.",
    ("A login", "A `code` by mail"),
    Impact(
        "minor",
        3,
        1,
        (AffectedSpec("auth-flow"), AffectedSpec("mail", ("auth-flow", "users"))),
        ("src/a.py", "src/b/"),
        "Old links end.",
    ),
    TIME,
    TIME,
    "planner",
    reviews=(
        Review("needs_revision", 1, "challenger", "## Issues\n\n```\ncode\n```\nToo short.", call="challenge-1.1"),
        Review("approved", 2, "challenger", "Good."),
    ),
)
ORDINARY_SPECS = PLAIN_SPECS.map(lambda one: replace(one, flow_diagram="", data_model=None)) | st.just(SPEC)
ORDINARY_TASKS = documents(nasty=False).map(lambda one: replace(one, change_id="a", updated_at=TIME)) | st.just(TASKS)
STRICT = Rules(required_headings=("Overview", "Risks"))
PATTERN = Rules(scenario_pattern="IF .* SO", then_pattern="SO")


def test_a_document_as_agentd_writes_it_is_read_by_expressions() -> None:
    assert repr(plain_spec.plain(spec.render(SPEC), Rules())) == repr(
        spec_reader.with_care(spec.render(SPEC), Rules())[0]
    )
    assert plain_spec.plain(spec.render(SPEC), Rules()) == SPEC
    assert plain_tasks.plain(tasks.render(TASKS)) == TASKS
    for document in (PROPOSAL, replace(PROPOSAL, reviews=()), replace(PROPOSAL, impact=Impact("major", 1))):
        assert plain_proposal.plain(proposal.render(document), Rules()) == document


@given(ORDINARY_SPECS | NASTY_SPECS, slips() | hand_edits(), st.sampled_from([Rules(), Rules(), STRICT, PATTERN]))
def test_a_spec_is_read_as_the_careful_reader_reads_it_or_not_at_all(document: Spec, edit: Edit, rules: Rules) -> None:
    text = edit(spec.render(document))
    known = plain_spec.plain(text, rules)
    value, findings = spec_reader.with_care(text, rules)
    assert known is None or (repr(known), findings) == (repr(value), ())


@given(ORDINARY_TASKS | documents(), slips() | hand_edits())
def test_tasks_are_read_as_the_careful_reader_reads_them_or_not_at_all(document: Tasks, edit: Edit) -> None:
    text = edit(tasks.render(document))
    known = plain_tasks.plain(text)
    value, findings = tasks_reader.with_care(text, Rules())
    assert known is None or (repr(known), findings) == (repr(value), ())


@given(st.just(PROPOSAL) | PROPOSALS, slips() | hand_edits())
def test_a_proposal_is_read_as_the_careful_reader_reads_it_or_not_at_all(document: Proposal, edit: Edit) -> None:
    text = sealed(edit(proposal.render(document)))
    known = plain_proposal.plain(text, Rules())
    value, findings = proposal_reader.with_care(text, Rules())
    assert known is None or (repr(known), findings) == (repr(value), ())


@pytest.mark.parametrize("place", ["before", "behind", "between", "instead"])
def test_whatever_is_typed_on_any_line_is_read_as_the_careful_reader_reads_it_or_not_at_all(place: str) -> None:
    for text, read, with_care in (
        (spec.render(SPEC), lambda text: plain_spec.plain(text, Rules()), spec_reader.with_care),
        (tasks.render(TASKS), plain_tasks.plain, tasks_reader.with_care),
        (proposal.render(PROPOSAL), lambda text: plain_proposal.plain(text, Rules()), proposal_reader.with_care),
    ):
        plain = 0
        for edited in typed(text, place):
            edited = sealed(edited)
            known = read(edited)
            if known is not None:
                plain += 1
                value, findings = with_care(edited, Rules())
                assert (repr(known), findings) == (repr(value), ()), edited
        assert plain


def sealed(text: str) -> str:
    """The text with the checksum that it has to have, if it has one."""
    if "\nchecksum: " not in text:
        return text
    right = frontmatter.checksum(proposal.body(text))
    return re.sub(r"(?m)^checksum: .*", f"checksum: {right}", text, count=1)


def typed(text: str, place: str) -> Iterator[str]:
    """The text with each piece of structure on each of its lines."""
    lines = text.split("\n")
    pieces = {*TYPED, *NASTY_LINES, *([] if "\nchecksum: " in text else lines)}  # a checksum takes long
    for number, line in enumerate(lines):
        for piece in pieces:
            new = {"before": [piece + line], "behind": [line + piece], "between": [piece, line], "instead": [piece]}
            yield "\n".join([*lines[:number], *new[place], *lines[number + 1 :]])


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("id: auth-flow", "id: null"),
        ("total: 2", "total: 3"),
        ("- R20\n", "- R1\n"),
        ("R20", "R1"),
        ("# Login", "# Data Model"),
        ("After three tries", "Nothing is said here yet."),
    ],
)
def test_a_spec_with_something_wrong_is_left_to_the_careful_reader(old: str, new: str) -> None:
    assert plain_spec.plain(spec.render(SPEC).replace(old, new), Rules()) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("completed: 1", "completed: 2"),
        ("task_count: 1", "task_count: 2"),
        ("4.2: Test", "1.1: Test"),
        ("file: src/codes.py", "file: src/../../codes.py"),
        ("- data.1", "- data.2"),
        ("1. Data", "2. Logic"),
    ],
)
def test_tasks_with_something_wrong_are_left_to_the_careful_reader(old: str, new: str) -> None:
    assert plain_tasks.plain(tasks.render(TASKS).replace(old, new)) is None


def test_two_tasks_of_one_name_are_left_to_the_careful_reader() -> None:
    twice = replace(TASKS, tasks=(TASKS.tasks[0], replace(TASKS.tasks[0], title="Again")))
    assert plain_tasks.plain(tasks.render(twice)) is None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("id: add-login", "id: null"),
        ("They ask", "Nobody asks"),
        ("`auth-flow`, `mail`", "`mail`, `auth-flow`"),
        ('status="approved"', 'status="good"'),
        ("Good.", "**Verdict**: REJECTED"),
        ("</proposal>\n", "</proposal>\n\nMore.\n"),
    ],
)
def test_a_proposal_with_something_wrong_is_left_to_the_careful_reader(old: str, new: str) -> None:
    text = proposal.render(PROPOSAL)
    assert old in text
    assert plain_proposal.plain(text.replace(old, new), Rules()) is None
