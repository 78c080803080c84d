"""proposal.md: what is written reads back, what people do to it is read or refused with its line, reviews stay."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.errors import Corrupt
from agentd.families.change.documents import proposal
from agentd.families.change.documents.proposal.name_lists import is_spec
from agentd.model.change import REVIEW_STATUSES, SCOPES, AffectedSpec, Impact, Proposal, Review, ReviewStatus
from agentd.model.rules import Rules
from agentd.review.verdict_words import stated
from agentd.text import frontmatter
from tests.documents.hand_edits import LETTERS, Edit, hand_edits, names, nasty_lines, nasty_texts, plain_texts
from tests.documents.valid import valid

VALUE = Proposal(
    "add-oauth",
    "People sign in with their account.",
    "Passwords get lost.\n\nOften.",
    ("Add the code flow", "Keep sessions\nin the database"),
    Impact(
        "minor", 12, 3, (AffectedSpec("auth-flow"), AffectedSpec("session", ("auth-flow",))), ("src/auth.py",), None
    ),
    created_at="2026-01-02T03:04:05Z",
    updated_at="2026-01-02T03:04:05Z",
    author="gemini",
)
WRITTEN = proposal.render(VALUE)
OWN_FILE = """\
---
id: add-oauth
---
# Change: add-oauth

## Summary
People sign in.
## Why
It helps.
## What Changes
- one
## Impact
- Scope: patch
- Affected Files: 1
- Affected specs: auth-flow
"""
REVIEW = Review(
    "needs_revision", 1, "codex", "## Summary\n\nNot yet.\n\n## Verdict\n\n- [ ] APPROVED\n- [x] NEEDS_REVISION"
)


def normal(text: str) -> str:
    return text.replace("\r\n", "\n").replace("\r", "\n")


def agrees(review: Review) -> bool:
    words = stated(review.content.split("\n"), REVIEW_STATUSES)
    return review.status == "resolved" or all(each.word == review.status for each in words)


def reviews(texts: st.SearchStrategy[str]) -> st.SearchStrategy[Review]:
    content = (texts | st.just("")).map(lambda text: normal(text).replace("erdict", "erditc").replace("[x]", "[ ]"))
    return st.builds(Review, st.sampled_from(REVIEW_STATUSES), st.integers(1, 9), st.text(max_size=9), content)


def impacts(texts: st.SearchStrategy[str], lines: st.SearchStrategy[str]) -> st.SearchStrategy[Impact]:
    name = st.text(LETTERS, min_size=1, max_size=12).filter(is_spec)
    affected = st.builds(AffectedSpec, name, st.lists(name, max_size=2).map(tuple), st.booleans())
    said = lines.filter(lambda line: line.strip().casefold() not in ("-", "none", "none.", "n/a", "n/a."))
    return st.builds(
        Impact,
        st.sampled_from(SCOPES),
        st.integers(1, 10**9 - 1),
        st.integers(0, 99),
        st.lists(affected, max_size=3, unique_by=lambda each: each.id).map(tuple),
        st.lists(said, max_size=3).map(tuple),
        st.none() | texts.filter(lambda text: text.strip(" \t\n*_`.。").casefold() not in NOTHING),
    )


NOTHING = ("", "-", "none", "n/a", "no", "nothing")


def proposals(texts: st.SearchStrategy[str], lines: st.SearchStrategy[str]) -> st.SearchStrategy[Proposal]:
    texts = texts.map(normal)
    return st.builds(
        Proposal,
        id=names(13),
        summary=texts,
        why=texts,
        what_changes=st.lists(texts, min_size=1, max_size=3).map(tuple),
        impact=impacts(texts, lines),
        created_at=st.datetimes().map(lambda time: time.isoformat()) | st.just(""),
        updated_at=st.just("") | lines,
        author=st.just("") | lines,
        status=st.sampled_from(["proposed", "challenged", "approved", "rejected"]),
        version=st.sampled_from(["1.0", "2", "", "1.10"]),
        iteration=st.integers(1, 99),
        reviews=st.lists(reviews(texts), max_size=3).map(tuple),
    )


NASTY = proposals(nasty_texts(), nasty_lines().map(lambda line: line.replace("\r", " ")))
PLAIN = proposals(plain_texts(), plain_texts(2))


@given(NASTY)
def test_what_is_written_reads_back_and_nothing_is_wrong_with_it(value: Proposal) -> None:
    text = proposal.render(value)
    assert proposal.read(text) == (value, ())
    assert proposal.affected_specs(text) == tuple(spec.id for spec in value.impact.affected_specs)
    assert proposal.removed_specs(text) == tuple(spec.id for spec in value.impact.affected_specs if spec.removed)


@given(PLAIN, hand_edits(keeps=True))
def test_edits_that_mean_nothing_change_no_value(value: Proposal, edit: Edit) -> None:
    read, findings = proposal.read(edit(proposal.render(value)))
    assert read == value
    assert {finding.rule for finding in findings} <= {"stale_checksum"}


@given(PLAIN, hand_edits())
def test_an_edit_keeps_the_value_or_is_found(value: Proposal, edit: Edit) -> None:
    """A whole review that was cut out leaves no trace in the text, so only the proposal itself is compared."""
    text = edit(proposal.render(value))
    read, findings = proposal.read(text)
    assert findings or (read and replace(read, reviews=())) == replace(value, reviews=())


@given(NASTY, hand_edits())
def test_every_finding_is_on_a_line_of_the_file(value: Proposal, edit: Edit) -> None:
    text = edit(proposal.render(value))
    _, findings = proposal.read(text)
    count = len(normal(text).split("\n"))
    assert all(1 <= finding.line <= count and finding.message for finding in findings)


@given(NASTY, hand_edits())
def test_tidying_changes_the_form_alone_and_only_once(value: Proposal, edit: Edit) -> None:
    text = edit(proposal.render(value))
    tidied = proposal.tidy(text)
    read, findings = proposal.read(tidied)
    before, problems = proposal.read(text)
    assert proposal.tidy(tidied) == tidied
    assert read == before
    assert {each.rule for each in findings} <= {each.rule for each in problems} - {"stale_checksum"}
    assert proposal.body(tidied) == proposal.body(text)


@given(st.text() | nasty_texts(12))
def test_any_text_is_read_without_an_error(text: str) -> None:
    value, findings = proposal.read(text)
    assert value is None
    assert findings
    assert isinstance(proposal.tidy(text), str)


@given(NASTY, hand_edits(), reviews(nasty_texts()))
def test_adding_a_review_changes_nothing_else(value: Proposal, edit: Edit, review: Review) -> None:
    text = edit(proposal.render(value))
    before = proposal.reviews(text)
    try:
        longer = proposal.append_review(text, review)
    except Corrupt:
        assert proposal.read(text)[1]
        return
    same = [index for index, each in enumerate(before) if each.iteration == review.iteration]
    if same and before[same[-1]].status == "resolved":
        assert proposal.reviews(longer) == (*before[: same[-1]], review, *before[same[-1] + 1 :])
    else:
        assert longer.startswith(text)
        assert proposal.reviews(longer) == (*before, review)
    assert proposal.body(longer) == proposal.body(text)


@given(NASTY, PLAIN, hand_edits(keeps=True))
def test_a_second_proposal_keeps_the_reviews_byte_for_byte(old: Proposal, new: Proposal, edit: Edit) -> None:
    text = edit(proposal.render(old))
    changed = proposal.replace_body(text, new)
    read, findings = proposal.read(changed)
    assert read == replace(
        new,
        created_at=old.created_at or new.created_at,
        updated_at=new.updated_at or old.updated_at,
        author=new.author or old.author,
        reviews=proposal.reviews(text),
    )
    assert not findings
    start = text.find('\n<review status="')
    assert start < 0 or changed.endswith(text[start:].rstrip("\r\n") + ("\r\n" if "\r\n" in text else "\n"))


# ---------------------------------------------------------------------------------------------------- the written file


def test_the_file_has_every_section_and_a_checksum() -> None:
    head, _, body = WRITTEN.partition("\n---\n")
    assert "checksum: sha256:" in head
    assert body == (
        "\n<proposal>\n\n# Change: add-oauth\n\n## Summary\n\nPeople sign in with their account.\n\n## Why\n\n"
        "Passwords get lost.\n\nOften.\n\n## What Changes\n\n- Add the code flow\n- Keep sessions\n  in the database\n\n"
        "## Impact\n\n- **Scope**: minor\n- **Affected Files**: 12\n- **New Files**: 3\n"
        "- **Affected specs**: `auth-flow`, `session`\n- **Affected code**: `src/auth.py`\n- **Breaking Changes**: none\n\n"
        "</proposal>\n"
    )


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (replace(VALUE, id="Add OAuth"), "lower-case letters"),
        (replace(VALUE, id="../x"), "lower-case letters"),
        (replace(VALUE, summary=" \n"), "Summary is empty"),
        (replace(VALUE, why=""), "Why is empty"),
        (replace(VALUE, what_changes=()), "What_changes is empty"),
        (replace(VALUE, what_changes=("a", " ")), "One of what_changes is empty"),
        (replace(VALUE, status="done"), "not one of proposed"),
        (replace(VALUE, iteration=0), "less than 1"),
        (replace(VALUE, impact=Impact("huge", 1)), "not one of patch, minor, major"),  # type: ignore[arg-type]
        (replace(VALUE, impact=Impact("minor", 0)), "number from 1"),
        (replace(VALUE, impact=Impact("minor", 1, affected_specs=(AffectedSpec("A"),))), "no name of a spec"),
        (replace(VALUE, impact=Impact("minor", 1, affected_specs=(AffectedSpec("none"),))), "no name of a spec"),
        (replace(VALUE, impact=Impact("minor", 1, affected_specs=(AffectedSpec("a"),) * 2)), "names a twice"),
        (replace(VALUE, impact=Impact("minor", 1, affected_code=("a\nb",))), "one line"),
        (replace(VALUE, reviews=(Review("approved", 0, "x", ""),)), "less than 1"),
        (replace(VALUE, reviews=(Review("approved", 1, "x", "Verdict: REJECTED"),)), "state one verdict"),
        (replace(VALUE, reviews=(Review("done", 1, "x", ""),)), "not one of approved"),  # type: ignore[arg-type]
    ],
)
def test_what_cannot_be_written_is_refused_in_words_to_act_on(value: Proposal, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        proposal.render(value)


def test_a_breaking_change_that_says_none_is_none() -> None:
    written = proposal.render(replace(VALUE, impact=replace(VALUE.impact, breaking_changes="None.")))
    assert valid(proposal, written) == VALUE


# ----------------------------------------------------------------------------------------------- people's own writing


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("## What Changes", "## what changes:"),
        ("- Add the code flow\n", "1. Add the code flow\n"),
        ("- Add the code flow\n- Keep", "Add the code flow\n\n- Keep"),
        ("- Add the code flow\n", "### First\n\n-   Add the code flow\n\n### Then\n\n"),
        ("- Keep sessions\n  in", "- Keep sessions\nin"),
        ("- **Scope**: minor", "* scope： **Minor**"),
        ("- **Scope**: minor", "__Scope:__ `minor`."),
        ("- **Scope**: minor\n", ""),
        ("**Affected Files**: 12", "Affected files: １２ files"),
        ("- **New Files**: 3\n", "- New File: 3 (about)\n- Risk: none\n"),
        ("- **Affected code**: `src/auth.py`", "**Affected code**:\n- src/auth.py\n"),
        ("- **Affected code**: `src/auth.py`", '- Affected code: ["src/auth.py"]'),
        ("- **Breaking Changes**: none", "- Breaking changes: N/A"),
        ("- **Breaking Changes**: none\n", ""),
        ("version: '1.0'", "version: 1.0"),
        ("author: gemini", "author:   gemini # who else\nteam: web"),
        ("<proposal>\n", ""),
    ],
)
def test_people_write_it_their_own_way(old: str, new: str) -> None:
    text = WRITTEN.replace('version: "1.0"', "version: '1.0'")
    assert old in text
    value, findings = proposal.read(text.replace(old, new))
    assert value == VALUE
    assert {finding.rule for finding in findings} <= {"stale_checksum"}


def test_a_file_of_a_person_without_tags_and_checksum_has_nothing_wrong() -> None:
    impact = Impact("patch", 1, affected_specs=(AffectedSpec("auth-flow"),))
    assert proposal.read(OWN_FILE) == (Proposal("add-oauth", "People sign in.", "It helps.", ("one",), impact), ())


def test_headings_in_code_and_comments_are_no_sections() -> None:
    hidden = "```md\n## Impact\n- Scope: major\n```\n\n<!--\n## Why\nNo.\n-->"
    value, findings = proposal.read(OWN_FILE.replace("People sign in.", f"People sign in.\n{hidden}"))
    assert value
    assert value.impact.scope == "patch"
    assert value.why == "It helps."
    assert not findings


# ------------------------------------------------------------------------------------------------------ affected specs


@pytest.mark.parametrize(
    ("line", "ids"),
    [
        pytest.param(
            "- Affected specs: `auth-flow`, `session`", ("auth-flow", "session"), marks=pytest.mark.requirement(38)
        ),
        pytest.param(
            "- **Affected specs**: `a` (new), `b` and `c`", ("a", "b", "c"), marks=pytest.mark.requirement(38)
        ),
        pytest.param(
            '- Affected specs: ["auth-flow", "session"]', ("auth-flow", "session"), marks=pytest.mark.requirement(39)
        ),
        pytest.param("- Affected specs: ['a','b']", ("a", "b"), marks=pytest.mark.requirement(39)),
        pytest.param("- Affected specs: [`a`, b]", ("a", "b"), marks=pytest.mark.requirement(39)),
        pytest.param("- Affected specs: []", (), marks=pytest.mark.requirement(39)),
        pytest.param(
            "- Affected specs: auth-flow, session", ("auth-flow", "session"), marks=pytest.mark.requirement(40)
        ),
        pytest.param("Affected specs: a", ("a",), marks=pytest.mark.requirement(40)),
        pytest.param("* AFFECTED SPECS:  a ,  b  ", ("a", "b"), marks=pytest.mark.requirement(41)),
        pytest.param("- affected specs: none", (), marks=pytest.mark.requirement(41)),
        pytest.param("- affected specs: N/A", (), marks=pytest.mark.requirement(41)),
        pytest.param("- Affected specs:", (), marks=pytest.mark.requirement(41)),
        pytest.param("- Affected specs: a, , None, `n/a`, b,", ("a", "b"), marks=pytest.mark.requirement(41)),
        ("- **Affected specs:** `a`", ("a",)),
        ("- Affected specs：a，b、c", ("a", "b", "c")),
        ("- Affected specs: `none`", ()),
        ("- Affected specs: a, a", ("a",)),
        ("- Affected specs: specs/a.md, `specs/b.md`", ("a", "b")),
        ("- Affected specs:\n  - `a`: new\n  - b\n- Other: c", ("a", "b")),
        ("- Affected specs: `a`,\n  `b`", ("a", "b")),
        ("- Affected specs: a\n- unknown thing", ("a",)),
    ],
)
def test_affected_specs_are_read_from_their_line(line: str, ids: tuple[str, ...]) -> None:
    assert proposal.affected_specs(f"# Change: x\n\n{line}\n") == ids
    text = OWN_FILE.replace("- Affected specs: auth-flow", line)
    assert proposal.affected_specs(text) == ids
    assert proposal.read(text)[1] == ()


def test_a_line_in_code_or_in_a_review_names_no_spec() -> None:
    text = OWN_FILE.replace("It helps.", "```\n- Affected specs: no\n```\n- Affected specs: not-here")
    text = proposal.append_review(text, replace(REVIEW, content="- Affected specs: nor-here"))
    assert proposal.affected_specs(text) == ("auth-flow",)


def test_the_line_wins_over_the_front_matter_with_a_warning_and_keeps_what_depends() -> None:
    text = WRITTEN.replace("**Affected specs**: `auth-flow`, `session`", "**Affected specs**: session, audit")
    value, findings = proposal.read(text)
    assert value
    assert value.impact.affected_specs == (AffectedSpec("session", ("auth-flow",)), AffectedSpec("audit"))
    found = [finding for finding in findings if finding.rule == "different_affected_specs"]
    assert [(each.severity, text.split("\n")[each.line - 1]) for each in found] == [
        ("Medium", "- **Affected specs**: session, audit")
    ]
    assert proposal.read(proposal.tidy(text)) == (value, ())


@pytest.mark.parametrize(
    ("line", "ids"),
    [
        ("`top-words`, `old-report` (removed)", ("old-report",)),
        ("`top-words` (removed), `old-report` (Removed).", ("top-words", "old-report")),
        ("`top-words` and `old-report` (removed)", ("old-report",)),
        ("`top-words` (removed) and `old-report`", ("top-words",)),
        ("`top-words`, `old-report (removed)`", ("old-report",)),
        ("`top-words`, `old-report` **(removed)**", ("old-report",)),
        ("top-words, old-report (removed)", ("old-report",)),
        ("top-words, *old-report* **(removed)**.", ("old-report",)),
        ('["top-words", "old-report" (removed)]', ("old-report",)),
        ("top-words，specs/old-report.md（removed）", ("old-report",)),
        ("\n  - `top-words`\n  - `old-report` (removed)", ("old-report",)),
        ("\n  - top-words\n  - old-report (removed)", ("old-report",)),
        ("`top-words` (new), `old-report`", ()),
        ("`top-words`, `old-report` (removed R3)", ()),
        ("`top-words`, `old-report` (to be removed)", ()),
        ("`top-words`, `old-report`, `old-report` (removed)", ()),
    ],
)
def test_only_what_is_marked_as_removed_on_the_line_is(line: str, ids: tuple[str, ...]) -> None:
    text = OWN_FILE.replace("- Affected specs: auth-flow", f"- **Affected specs**: {line}")
    assert proposal.affected_specs(text) == ("top-words", "old-report")
    assert proposal.removed_specs(text) == ids
    assert proposal.read(text)[1] == ()


def test_a_file_of_code_that_is_removed_keeps_its_remark() -> None:
    value, _ = proposal.read(OWN_FILE + "- Affected code: src/old.py (removed)\n")
    assert value
    assert value.impact.affected_code == ("src/old.py (removed)",)


def test_a_removed_spec_is_named_with_its_place_in_the_library() -> None:
    impact = replace(VALUE.impact, affected_specs=(AffectedSpec("auth-flow"), AffectedSpec("old-login", removed=True)))
    text = proposal.render(replace(VALUE, impact=impact))
    assert "- **Affected specs**: `auth-flow`, `old-login` (removed)\n" in text
    assert frontmatter.read(text).data["affected_specs"] == [
        {"id": "auth-flow", "path": "specs/auth-flow.md", "depends": []},
        {"id": "old-login", "path": "agentd/specs/old-login.md", "depends": [], "removed": True},
    ]


@pytest.mark.parametrize(("marked", "line"), [(False, "`session` (removed)"), (True, "`session`")])
def test_whether_a_spec_is_removed_is_for_the_line_to_say_and_tidying_follows_it(marked: bool, line: str) -> None:
    specs = (AffectedSpec("session", ("auth-flow",), marked),)
    text = proposal.render(replace(VALUE, impact=replace(VALUE.impact, affected_specs=specs)))
    text = text.replace("id: session\n", "id: session\n    owner: me\n")
    text = text.replace("`session` (removed)" if marked else "`session`", line)
    value, findings = proposal.read(text)
    assert value
    assert value.impact.affected_specs == (replace(specs[0], removed=not marked),)
    (found,) = [finding for finding in findings if finding.rule == "different_affected_specs"]
    said = ("session, the front matter session (removed)", "session (removed), the front matter session")
    assert found.message == f"the line says {said[not marked]}; the line counts"
    tidied = proposal.tidy(text)
    assert proposal.read(tidied) == (value, ())
    (entry,) = frontmatter.read(tidied).data["affected_specs"]
    assert (entry.get("removed"), entry["owner"]) == (None if marked else True, "me")


def test_a_mark_that_is_neither_true_nor_false_removes_nothing_and_is_found() -> None:
    text = OWN_FILE.replace("---\n#", "affected_specs: [{id: auth-flow, removed: perhaps}]\n---\n#")
    text = text.replace("- Affected specs: auth-flow\n", "")
    value, findings = proposal.read(text)
    assert value
    assert value.impact.affected_specs == (AffectedSpec("auth-flow"),)
    assert [(each.rule, each.line) for each in findings] == [("invalid_frontmatter", 3)]
    for word, ids in (("true", ("auth-flow",)), ("false", ()), ("", ())):
        assert proposal.removed_specs(text.replace("perhaps", word)) == ids
        assert not proposal.read(text.replace("perhaps", word))[1]


def test_a_removal_is_part_of_what_an_approval_binds() -> None:
    text = OWN_FILE.replace("---\n#", "affected_specs: [{id: auth-flow, removed: true}]\n---\n#")
    text = text.replace("- Affected specs: auth-flow\n", "")
    assert proposal.body(text) != proposal.body(text.replace("removed: true", "removed: false"))


def test_without_the_line_the_front_matter_says_which_specs() -> None:
    assert proposal.affected_specs(WRITTEN.replace("- **Affected specs**: `auth-flow`, `session`\n", "")) == (
        "auth-flow",
        "session",
    )


# ------------------------------------------------------------------------------------------------------------ findings


@pytest.mark.requirement(108, 109)
@pytest.mark.parametrize(
    ("old", "new", "rule", "severity", "line"),
    [
        ("---\nid: add-oauth\n---\n", "", "missing_frontmatter", "High", 1),
        ("id: add-oauth\n", "id: a: b\n", "invalid_frontmatter", "High", 2),
        ("id: add-oauth\n", "a: b\n", "invalid_frontmatter", "High", 1),
        ("id: add-oauth\n", "a: b\nid: ../x\n", "invalid_frontmatter", "High", 3),
        ("---\n#", "type: spec\n---\n#", "invalid_frontmatter", "High", 3),
        ("---\n#", "status: done\n---\n#", "invalid_frontmatter", "High", 3),
        ("---\n#", "iteration: 0\n---\n#", "invalid_frontmatter", "High", 3),
        ("---\n#", "impact: big\n---\n#", "invalid_frontmatter", "High", 3),
        ("---\n#", "affected_specs:\n  - path: x\n---\n#", "invalid_frontmatter", "High", 3),
        ("---\n#", "affected_specs: [other]\n---\n#", "different_affected_specs", "Medium", 16),
        ("---\n#", "checksum: sha256:00\n---\n#", "stale_checksum", "Low", 3),
        ("## Why", "## Because", "missing_heading", "High", 15),
        ("## Why", "### Why", "untidy", "Low", 8),
        ("It helps.\n", "", "invalid_value", "High", 8),
        ("## Impact", "## Why\nAgain.\n## Impact", "duplicate_heading", "Medium", 12),
        ("- Scope: patch", "- Scope: tiny", "invalid_value", "High", 13),
        ("- Scope: patch\n", "", "invalid_value", "High", 1),
        ("- Scope: patch", "- Scope: patch\n- Scope: major", "invalid_value", "High", 14),
        ("- Affected Files: 1", "- Affected Files: some", "invalid_value", "High", 14),
        ("- Affected Files: 1", "- Affected Files: 0", "invalid_value", "High", 14),
        ("- Affected Files: 1\n", "", "invalid_value", "High", 1),
        ("specs: auth-flow", "specs: the auth spec", "invalid_value", "High", 15),
        ("It helps.", "```\nIt helps.", "missing_heading", "High", 9),
        ("auth-flow\n", "auth-flow\n\n<!-- to do\n", "untidy", "Low", 17),
        ("auth-flow\n", 'auth-flow\n\n<review status="approved">\n', "invalid_review", "High", 17),
        ("auth-flow\n", "auth-flow\n</review>\n", "invalid_review", "High", 16),
    ],
)
def test_each_problem_is_found_on_its_line(old: str, new: str, rule: str, severity: str, line: int) -> None:
    assert old in OWN_FILE
    _, findings = proposal.read(OWN_FILE.replace(old, new, 1))
    assert (rule, severity, line) in [(each.rule, each.severity, each.line) for each in findings]
    assert all(each.fix for each in findings if each.message and each.rule != "invalid_frontmatter")


def test_severities_come_from_the_rules() -> None:
    rules = Rules(severity_map={"missing_heading": "Low", "missing_frontmatter": "Medium"})
    _, findings = proposal.read("## Why\n\nSo.\n", rules)
    assert {finding.rule: finding.severity for finding in findings} == {
        "missing_frontmatter": "Medium",
        "missing_heading": "Low",
        "invalid_value": "High",
    }


def test_a_scope_that_does_not_exist_is_told_with_its_line() -> None:
    value, findings = proposal.read(OWN_FILE.replace("patch", "tiny"))
    found = next(found for found in findings if found.severity == "High")
    assert (value, found.line) == (None, 13)
    assert found.message == "the scope 'tiny' is not one of patch, minor, major"


# ------------------------------------------------------------------------------------------------------------- reviews


def block(status: str = "approved", content: str = "Fine.", iteration: int = 1) -> str:
    return f'<review status="{status}" iteration="{iteration}" reviewer="codex">\n\n{content}\n\n</review>\n'


def test_a_review_is_added_at_the_end() -> None:
    assert proposal.append_review(WRITTEN, REVIEW) == (
        WRITTEN
        + '\n<review status="needs_revision" iteration="1" reviewer="codex">\n\n## Summary\n\nNot yet.\n\n## Verdict\n\n'
        "- [ ] APPROVED\n- [x] NEEDS_REVISION\n\n</review>\n"
    )


def test_a_review_of_a_resolved_iteration_takes_the_place_of_the_latest() -> None:
    text = (
        WRITTEN
        + "\n"
        + block("resolved")
        + "\nmine\n\n"
        + block("resolved", "Second.")
        + "\n"
        + block("rejected", "x", 2)
    )
    changed = proposal.append_review(text, Review("approved", 1, "codex", "Now fine."))
    assert changed == text.replace(block("resolved", "Second."), block("approved", "Now fine."))


def attempt(call: str, content: str = "Fine.") -> Review:
    return Review("approved", 1, "codex", content, call=call)


def test_a_later_attempt_at_a_visit_takes_the_place_of_an_earlier_one() -> None:
    text = proposal.append_review(WRITTEN, attempt("challenge-1.1", "One."))
    before = proposal.append_review(text, attempt("challenge-2.1", "Cut off."))
    after = proposal.append_review(before, attempt("challenge-2.12", "Two."))
    assert after == before.replace("challenge-2.1", "challenge-2.12").replace("Cut off.", "Two.")
    assert after.startswith(text)
    assert proposal.append_review(after, attempt("challenge-2.12", "Two.")) == after


def test_an_earlier_attempt_goes_even_if_somebody_wrote_below_it() -> None:
    first = proposal.append_review(WRITTEN, attempt("challenge-1.1", "One."))
    before = proposal.append_review(first, attempt("challenge-2.1", "Cut off."))
    mine = "\n" + block("rejected", "By hand.", 7)
    after = proposal.append_review(before + mine, attempt("challenge-2.2", "Two."))
    assert after.startswith(first + mine)
    found = proposal.reviews(after)
    assert [(each.content, each.call) for each in found] == [
        ("One.", "challenge-1.1"),
        ("By hand.", ""),
        ("Two.", "challenge-2.2"),
    ]
    assert proposal.body(after) == proposal.body(before)


@pytest.mark.parametrize("call", ["", "challenge", "challenge-1", "1.2", ".1", "challenge-1.x"])
def test_a_name_that_is_no_attempt_replaces_nothing(call: str) -> None:
    for other in ("", call, "challenge-1.1"):
        text = proposal.append_review(WRITTEN, attempt(other, "Other."))
        assert proposal.append_review(text, attempt(call, "Mine.")).startswith(text)


@pytest.mark.parametrize(
    "other", ["challenge-1.1", "challenge-21.1", "rechallenge-2.1", "review-2.1", "x.challenge-2.1"]
)
def test_a_review_of_another_visit_stays(other: str) -> None:
    text = proposal.append_review(WRITTEN, attempt(other, "Other."))
    assert proposal.append_review(text, attempt("challenge-2.2", "Mine.")).startswith(text)


@given(st.lists(st.tuples(st.sampled_from(["challenge-1", "challenge-2", "review-1"]), st.integers(1, 3)), max_size=8))
def test_there_is_one_review_for_each_visit(calls: list[tuple[str, int]]) -> None:
    text, last = WRITTEN, {}
    for number, (visit, count) in enumerate(calls):
        review = Review("approved", number + 1, "codex", f"Number {number}.", call=f"{visit}.{count}")
        kept = [each for each in proposal.reviews(text) if not each.call.startswith(visit)]
        text = proposal.append_review(text, review)
        last[visit] = review
        assert proposal.reviews(text) == (*kept, review)
    assert set(proposal.reviews(text)) == set(last.values())
    assert proposal.read(text)[1] == ()


def test_a_review_whose_words_look_like_tags_comes_back_unchanged() -> None:
    content = '</review>\n<review status="approved" iteration="9" reviewer="me">\nyes\n</review>\n```\n</proposal>'
    review = Review("rejected", 1, 'a "b" <c> & d\n&quot;', content)
    assert proposal.reviews(proposal.append_review(WRITTEN, review)) == (review,)


def test_a_review_keeps_the_line_ends_of_the_file() -> None:
    text = WRITTEN.replace("\n", "\r\n")
    longer = proposal.append_review(text, REVIEW)
    assert longer.startswith(text)
    assert longer.count("\n") == longer.count("\r\n")
    assert proposal.reviews(longer) == (REVIEW,)


@pytest.mark.parametrize(
    "text",
    [
        "```\n" + block() + "```\n",
        "<!--\n" + block() + "-->\n",
        " " + block().replace("\n</review>", "\n </review>"),
        "> " + block().replace("\n", "\n> "),
        "- " + block().replace("\n", "\n  "),
    ],
)
def test_a_review_in_code_in_a_comment_or_indented_is_none(text: str) -> None:
    assert proposal.reviews(f"{WRITTEN}\n{text}\n") == ()
    assert proposal.verdict(f"{WRITTEN}\n{text}\n") == (None, ())


@pytest.mark.parametrize(
    "tag",
    [
        "<review>PASS</review>",
        "<review status=approved iteration=1 reviewer=me>",
        '<review status="approved" reviewer="me" iteration="1">',
        '<review status="approved" iteration="1" reviewer="me"/>',
    ],
)
def test_a_tag_in_another_form_is_no_review_and_is_said_so(tag: str) -> None:
    text = f"{WRITTEN}\n{tag}\nFine.\n"
    value, findings = proposal.read(text)
    assert value == VALUE
    assert [(each.rule, text.split("\n")[each.line - 1]) for each in findings if each.rule != "stale_checksum"] == [
        ("invalid_review", tag)
    ]
    with pytest.raises(Corrupt, match=r"^proposal\.md:\d+: "):
        proposal.append_review(text, REVIEW)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (block().replace("</review>", "") + block(iteration=2), 1),
        (block("done"), 1),
        (block(iteration=0), 1),
        (block(content="```\ncode"), 1),
        ("```\n" + block(), 1),
    ],
)
def test_a_broken_review_block_is_never_an_approval(text: str, line: int) -> None:
    first = WRITTEN.count("\n") + 1
    status, findings = proposal.verdict(f"{WRITTEN}\n{text}")
    assert status is None
    assert [(each.rule, each.line) for each in findings] == [("invalid_review", first + line)]
    with pytest.raises(Corrupt):
        proposal.append_review(f"{WRITTEN}\n{text}", REVIEW)
    with pytest.raises(Corrupt):
        proposal.replace_body(f"{WRITTEN}\n{text}", VALUE)


@pytest.mark.parametrize("status", ["approved", "needs_revision", "rejected"])
@pytest.mark.parametrize(
    "content",
    [
        "Words.",
        "**Verdict**: {}",
        "**Verdict:** {}.",
        "- verdict： `{}`",
        "## Verdict\n\n**{}**\n\nWords follow.",
        "### Verdict: {}",
        "- [x] {}",
        "* [X] **{}** - as it should be\n- [ ] APPROVED\n- [ ] REJECTED\n- [x] tests were run",
        "**Verdict**:\n\n{}",
        "The verdict is not approved, not rejected.\n\n```\nVerdict: other\n```",
    ],
)
@pytest.mark.requirement(49)
def test_the_verdict_is_read_from_the_structure(status: ReviewStatus, content: str) -> None:
    text = proposal.append_review(WRITTEN, Review(status, 1, "codex", content.format(status.upper())))
    assert proposal.verdict(text) == (status, ())
    assert proposal.read(text)[1] == ()


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("**Verdict**: REJECTED", "REJECTED"),
        ("Verdict: not approved", "not approved"),
        ("Verdict: approved, once it is fixed", "approved, once it is fixed"),
        ("- [x] NEEDS_REVISION", "NEEDS_REVISION"),
        ("- [x] approved if fixed", "approved if fixed"),
        ("**Verdict**: APPROVED\n\n- [x] needs revision", "needs revision"),
        ("## Verdict\n\nREJECTED", "REJECTED"),
    ],
)
def test_two_verdicts_that_disagree_are_an_error_that_names_both(content: str, said: str) -> None:
    text = f"{WRITTEN}\n{block('approved', content)}"
    status, findings = proposal.verdict(text)
    assert status is None
    assert [finding.message for finding in findings] == [f"the block's status is 'approved', its text says '{said}'"]
    assert said in text.split("\n")[findings[0].line - 1]
    assert findings[0] in proposal.read(text)[1]
    with pytest.raises(ValueError, match="state one verdict"):
        proposal.append_review(WRITTEN, Review("approved", 1, "codex", content))


def test_the_latest_review_counts() -> None:
    text = f"{WRITTEN}\n{block('approved')}\n{block('needs_revision', 'Verdict: NEEDS_REVISION', 2)}"
    assert proposal.verdict(text) == ("needs_revision", ())
    assert proposal.verdict(text + block("resolved", "Verdict: APPROVED", 3)) == ("resolved", ())
    assert proposal.verdict(WRITTEN) == (None, ())


# ------------------------------------------------------------------------------------------------ the body and rewriting


def test_the_body_is_bound_without_reviews_status_and_white_space() -> None:
    reviewed = proposal.append_review(WRITTEN, REVIEW)
    moved = reviewed.replace("status: proposed", "status: challenged").replace("\n\n## Why", "  \r\n\n\n\n## Why")
    assert proposal.body(moved) == proposal.body(WRITTEN)
    for old, new in [
        ("Often.", "Always."),
        ("`session`", "`audit`"),
        ("- auth-flow", "- other"),
        ("author: ", "author: x"),
    ]:
        assert old in WRITTEN
        assert proposal.body(WRITTEN.replace(old, new)) != proposal.body(WRITTEN)


def test_a_changed_body_makes_the_checksum_stale_until_it_is_tidied() -> None:
    text = WRITTEN.replace("Often.", "Always.")
    _, findings = proposal.read(text)
    assert [(each.rule, text.split("\n")[each.line - 1][:9]) for each in findings] == [("stale_checksum", "checksum:")]
    tidied = proposal.tidy(text)
    assert proposal.read(tidied)[1] == ()
    changed = [new for old, new in zip(text.split("\n"), tidied.split("\n"), strict=True) if old != new]
    assert [line[:9] for line in changed] == ["checksum:"]


def test_tidying_keeps_the_bytes_of_everything_else() -> None:
    text = "\ufeff" + OWN_FILE.replace("add-oauth\n---", "add-oauth # mine\nzeta:   1\n---").replace(
        "## Why", "### Why"
    )
    text = (text + "\n```\ncode  \n```\n\n## Mine\n\tx\t\n\n" + block(content="a  ")).replace("\n", "\r\n")
    expected = text.replace("### Why", "## Why").replace("\tx\t", "\tx").replace("#Mine\r\n", "# Mine\r\n\r\n")
    for title in ("Summary", "Why", "What Changes", "Impact", "Mine"):
        expected = expected.replace(f"## {title}\r\n", f"\r\n## {title}\r\n\r\n").replace("\r\n\r\n\r\n", "\r\n\r\n")
    expected = expected.replace("---\r\n# Change: add-oauth\r\n", "---\r\n# Change: add-oauth\r\n")
    assert proposal.tidy(text) == expected


def test_a_new_body_leaves_sections_keys_and_bytes_of_a_person_alone() -> None:
    text = WRITTEN.replace("author: gemini", "author: gemini\nteam: web   # ours")
    text = text.replace("## Impact", "## Mine\n\nwords  \n\n## Impact").replace("## Why\n\n", "## Why\n\n\n\n")
    text = text + "\n" + block("needs_revision", "a  \n<b>") + "\nlast words"
    new = replace(VALUE, summary="Other words.", iteration=2)
    changed = proposal.replace_body(text, new)
    line = next(each for each in changed.split("\n") if each.startswith("checksum: "))
    old = next(each for each in WRITTEN.split("\n") if each.startswith("checksum: "))
    expected = text.replace("People sign in with their account.", "Other words.").replace(
        "iteration: 1\n", "iteration: 2\n", 1
    )
    assert changed == expected.replace(old, line) + "\n"
    assert proposal.read(changed)[0] == replace(new, reviews=proposal.reviews(text))


def test_a_new_body_fills_in_what_is_missing() -> None:
    text = "---\nid: add-oauth\n---\n\n# Change: add-oauth\n\n## Mine\n\nx\n\n" + block()
    value, findings = proposal.read(proposal.replace_body(text, VALUE))
    assert value == replace(VALUE, reviews=proposal.reviews(text))
    assert not findings


@pytest.mark.parametrize(("old", "new", "line"), [("type: proposal", "type: a: b", 3), ("\n---\n", "\n--\n", 1)])
def test_a_proposal_with_broken_front_matter_is_not_overwritten(old: str, new: str, line: int) -> None:
    with pytest.raises(Corrupt, match=rf"^proposal\.md:{line}: "):
        proposal.replace_body(WRITTEN.replace(old, new), VALUE)


def test_half_a_character_is_no_reason_to_fail() -> None:
    assert proposal.read(WRITTEN.replace("Often", "\ud800"))[0]
