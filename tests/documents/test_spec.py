"""Specs: written and read back, edited by hand, judged with exact lines, put right without losing a byte."""

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.errors import Corrupt
from agentd.library import spec
from agentd.model.change import PRIORITIES, Requirement, Scenario, Spec
from agentd.model.finding import Finding
from agentd.model.rules import Rules
from tests.documents.hand_edits import Edit, hand_edits, nasty_lines, nasty_texts, plain_texts

JSON = st.recursive(
    st.booleans() | st.integers(-99, 99) | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
)
TIMES = st.sampled_from(["", "2026-01-01T00:00:00Z", "2026-02-03T04:05:06Z"])


@st.composite
def specs(draw: st.DrawFn, texts: st.SearchStrategy[str], lines: st.SearchStrategy[str]) -> Spec:
    ids = draw(st.lists(st.integers(0, 30).map("R{}".format), min_size=1, max_size=3, unique=True))
    requirements = tuple(
        Requirement(
            name, draw(lines), draw(texts), draw(st.sampled_from(PRIORITIES)), draw(st.sampled_from(["draft", "done"]))
        )
        for name in ids
    )
    scenarios = [
        Scenario(draw(lines), draw(texts), draw(texts), draw(st.just("") | texts), owner)
        for owner in [*ids, ""]
        for _ in range(draw(st.integers(int(not owner), 2)))
    ]
    return Spec(
        draw(st.sampled_from(["auth-flow", "a", "0-9"])),
        draw(lines),
        draw(texts),
        requirements,
        tuple(scenarios),
        draw(st.just("") | texts.map(lambda text: f"graph TD\n{text}")),
        draw(st.none() | st.just({"type": "object"}) | JSON),
        draw(TIMES),
        draw(TIMES),
        draw(st.sampled_from(["1.0", "2.10", "1"])),
    )


PLACE = re.compile(r"Nothing is said here yet\.|\(to be completed\)|To be completed")
NASTY = specs(nasty_texts(), nasty_lines())
PLAIN = specs(plain_texts(), plain_texts())

WRITTEN = """\
---
id: auth-flow
type: spec
title: Login
archived_at: 2026-01-01
reviewer: kept
---

# Login

## Overview

People log in with a code.

## Requirements

### R1 - Codes are sent

```yaml
id: R1
priority: high
status: draft
```

The system
SHALL send a code.

### R2: Codes end

Codes end after 5 minutes.

## Acceptance Criteria

### Scenario: A code is sent

- **WHEN** a person asks for a code
- **THEN** the code is sent
"""


def found(text: str, rules: Rules = Rules()) -> list[tuple[str, int]]:  # noqa: B008
    return [(each.rule, each.line) for each in spec.read(text, rules)[1]]


def value(text: str) -> Spec:
    read, findings = spec.read(text)
    assert not findings
    assert read is not None
    return read


def line_of(text: str, part: str) -> int:
    return next(number for number, line in enumerate(text.split("\n"), 1) if part in line)


@pytest.mark.requirement(98, 99)
@given(NASTY)
def test_what_is_rendered_is_read_back_without_a_finding(document: Spec) -> None:
    text = spec.render(document)
    assert spec.read(text) == (document, ())
    assert spec.parse(text, "specs/x.md") == document


@given(NASTY, hand_edits())
def test_no_hand_edit_raises_and_every_finding_is_in_the_file(document: Spec, edit: Edit) -> None:
    text = edit(spec.render(document))
    _, findings = spec.read(text)
    lines = len(re.findall(r"\r\n|\r|\n", text)) + 1
    assert all(1 <= each.line <= lines and each.message and each.fix for each in findings)


@given(PLAIN, hand_edits(keeps=True))
def test_a_hand_edit_that_keeps_the_meaning_keeps_the_value(document: Spec, edit: Edit) -> None:
    assert spec.read(edit(spec.render(document))) == (document, ())


@given(NASTY, hand_edits())
def test_tidying_changes_nothing_that_is_read_and_is_done_once(document: Spec, edit: Edit) -> None:
    text = edit(spec.render(document))
    tidied = spec.tidy(text)
    before, faults = spec.read(text)
    after, fewer = spec.read(tidied)
    assert before == after
    assert len(fewer) <= len(faults)
    assert spec.tidy(tidied) == tidied


@given(NASTY)
def test_a_spec_as_it_is_rendered_is_tidy(document: Spec) -> None:
    text = spec.render(document)
    assert spec.tidy(text) == text == spec.fill(text)


@given(NASTY, hand_edits())
def test_what_is_filled_in_is_no_longer_missing_and_nothing_else_changes(document: Spec, edit: Edit) -> None:
    text = edit(spec.render(document))
    filled = spec.fill(text)
    rest = iter(filled.splitlines())
    assert all(any(new.startswith(line.rstrip()) for new in rest) for line in text.splitlines())
    if ("untidy", "close it") not in [(each.rule, each.fix) for each in spec.read(text)[1]]:
        assert not {"missing_heading", "missing_scenario", "missing_when_then"} & {rule for rule, _ in found(filled)}
    assert spec.fill(filled) == filled


@given(NASTY, hand_edits())
def test_the_spans_of_a_spec_are_the_whole_file(document: Spec, edit: Edit) -> None:
    text = edit(spec.render(document))
    spans = spec.split_requirements(text)
    assert "".join(span.text for span in spans) == text
    assert [span.start for span in spans[1:]] == [span.end + 1 for span in spans[:-1]]


def test_each_requirement_and_each_scenario_has_its_span() -> None:
    text = spec.render(value(WRITTEN.replace("Codes end after 5 minutes.", "\n#### Scenario: late\nWHEN a THEN b\n")))
    spans = [span for span in spec.split_requirements(text) if span.kind in ("requirement", "scenario")]
    assert [(span.kind, span.key, span.of) for span in spans] == [
        ("requirement", "R1", ""),
        ("requirement", "R2", ""),
        ("scenario", "late", "R2"),
        ("scenario", "A code is sent", ""),
    ]
    for span in spans:
        assert span.text.startswith("#")
        assert span.start == line_of(text, span.text.split("\n")[0])
        assert "".join(text.splitlines(keepends=True)[span.start - 1 : span.end]) == span.text
    assert "</spec>" not in spans[-1].text


@pytest.mark.requirement(98)
def test_a_spec_written_by_hand_is_read() -> None:
    document = value(WRITTEN)
    assert document.requirements == (
        Requirement("R1", "Codes are sent", "The system\nSHALL send a code.", "high"),
        Requirement("R2", "Codes end", "Codes end after 5 minutes."),
    )
    assert document.scenarios == (Scenario("A code is sent", "a person asks for a code", "the code is sent"),)
    assert (document.overview, document.title) == ("People log in with a code.", "Login")
    assert [one.line for one in document.requirements] == [line_of(WRITTEN, "### R1"), line_of(WRITTEN, "### R2")]
    assert document.scenarios[0].line == line_of(WRITTEN, "### Scenario")


@pytest.mark.parametrize(
    "heading",
    ["### R1 – Codes are sent", "### R1: Codes are sent", "### R1：Codes are sent", "#### [R1] Codes are sent"],
)
def test_a_requirement_is_known_by_its_id(heading: str) -> None:
    assert value(WRITTEN.replace("### R1 - Codes are sent", heading)) == value(WRITTEN)


def test_metadata_may_stand_after_the_description() -> None:
    block = "```yaml\nid: R1\npriority: high\nstatus: draft\n```\n"
    moved = WRITTEN.replace(block + "\n", "").replace("SHALL send a code.\n", "SHALL send a code.\n\n" + block)
    assert value(moved) == value(WRITTEN)


def test_metadata_may_stand_after_a_comment_or_between_the_words() -> None:
    commented = WRITTEN.replace("```yaml\nid: R1", "<!-- see R2 -->\n\n```yaml\nid: R1")
    assert value(commented).requirements[0].priority == "high"


def test_a_yaml_block_that_is_no_metadata_is_part_of_the_description() -> None:
    block = "```yaml\nserver: x\nid: 5\n```"
    text = WRITTEN.replace("Codes end after 5 minutes.", block)
    assert value(text).requirements[1].description == block


def test_a_description_may_hold_any_markdown() -> None:
    description = (
        "```md\n### R7 - no\n### Scenario: no\n- **WHEN** no\n```\n\n1. one\n   - two\n\n#### Why\n\n| a | b |"
    )
    text = WRITTEN.replace("Codes end after 5 minutes.", description)
    assert value(text).requirements[1].description == description
    assert len(value(text).scenarios) == 1


@pytest.mark.parametrize(
    "written",
    [
        "- **WHEN** x\n- **THEN** y",
        "* **When** x\n* **Then** y",
        "+ WHEN: x\n+ THEN: y",
        "WHEN x\nTHEN y",
        "When x\n\nThen y",
        "- **WHEN:** x\n- **THEN:** y",
        "**WHEN**：x\n**THEN**：y",
        "1. when x\n2. then y",
        "when: x\nthen: y",
        "WHEN x THEN y",
        "- **WHEN** x, **THEN** y",
        "- WHEN x, THEN y",
        "When x then y",
        "**WHEN**x **THEN**y",
        "- **WHEN**\n  x\n- **THEN**\n  y",
        "Some words first.\n\n- **WHEN** x\n- **THEN** y",
        "- **THEN** y\n- **WHEN** x",
    ],
)
@pytest.mark.requirement(111)
def test_when_and_then_are_read_in_every_way_people_write_them(written: str) -> None:
    text = WRITTEN.replace("- **WHEN** a person asks for a code\n- **THEN** the code is sent", written)
    assert value(text).scenarios == (Scenario("A code is sent", "x", "y"),)


@pytest.mark.parametrize(
    ("written", "given_", "when", "then"),
    [
        ("- **GIVEN** g\n- **WHEN** x\n- **THEN** y\n- **AND** z\n- **THEN** q", "g", "x", "y\nAND z\nTHEN q"),
        ("GIVEN g WHEN x THEN y", "g", "x", "y"),
        ("- WHEN a\n- AND b\n\n- THEN c", "", "a\nAND b", "c"),
        ("- WHEN a\n  when b then c\n- THEN d\n- more", "", "a\nwhen b then c", "d\n- more"),
        ("- WHEN one THEN two\n- THEN three", "", "one THEN two", "three"),
        ("**WHEN** a\n```\nTHEN no\n# no\n```\n**THEN** b", "", "a\n```\nTHEN no\n# no\n```", "b"),
        ("- **WHEN** 用户登录\n- **THEN** مرحبا", "", "用户登录", "مرحبا"),
    ],
)
def test_lines_belong_to_the_step_before_them_and_come_back_as_they_were(
    written: str, given_: str, when: str, then: str
) -> None:
    text = WRITTEN.replace("- **WHEN** a person asks for a code\n- **THEN** the code is sent", written)
    document = value(text)
    assert document.scenarios == (Scenario("A code is sent", when, then, given_),)
    assert value(spec.render(document)) == document


@pytest.mark.parametrize("level", ["###", "####"])
def test_a_scenario_under_a_requirement_belongs_to_it(level: str) -> None:
    text = WRITTEN.replace("### R2", f"{level} Scenario: One\nWHEN x THEN y\n\n### R2")
    document = value(text)
    assert [(one.name, one.requirement) for one in document.scenarios] == [("One", "R1"), ("A code is sent", "")]
    assert document.requirements == value(WRITTEN).requirements
    assert value(spec.render(document)) == document


def test_a_scenario_is_a_heading_with_when_and_then_whatever_its_title() -> None:
    text = WRITTEN.replace("### Scenario: A code is sent", "### R2\n\n#### Codes")
    assert [(one.name, one.requirement) for one in value(text).scenarios] == [("Codes", "R2")]


def test_groups_of_requirements_are_no_requirements() -> None:
    text = WRITTEN.replace("### R1", "### Sending\n\n#### R1").replace("### R2", "### Ending\n\n#### R2")
    assert value(text) == value(WRITTEN)


@pytest.mark.requirement(291)
@pytest.mark.parametrize(
    "fence", ["```mermaid\n{}\n```", "```\n{}\n```", "~~~mermaid\n{}\n~~~", "{}", "\n```mermaid\n{}\n```\n"]
)
def test_a_flow_diagram_stands_in_one_fence(fence: str) -> None:
    text = spec.render(replace(value(WRITTEN), flow_diagram=fence.format("graph TD\n  a --> b")))
    assert "## Flow Diagram\n\n```mermaid\ngraph TD\n  a --> b\n```\n" in text
    assert text.count("mermaid") == 2  # has_mermaid and the fence
    assert value(text).flow_diagram == "graph TD\n  a --> b"


@pytest.mark.parametrize("diagram", ["First:\n\n```mermaid\ngraph TD\n```\n\nThen more.", "```plantuml\na -> b\n```"])
def test_a_flow_diagram_among_words_or_in_another_language_stays_as_it_is(diagram: str) -> None:
    text = spec.render(replace(value(WRITTEN), flow_diagram=diagram))
    assert diagram in text
    assert value(text).flow_diagram == diagram


def test_a_data_model_told_in_words_is_no_problem() -> None:
    assert value(WRITTEN + "\n## Data Model\n\nA code has 6 digits.\n\n```sql\nSELECT 1\n```\n").data_model is None


@pytest.mark.parametrize(
    ("document", "message"),
    [
        (replace(value(WRITTEN), id="a/b"), "the id of a spec"),
        (replace(value(WRITTEN), title="a\nb"), "the title must be one line"),
        (replace(value(WRITTEN), requirements=(Requirement("X1", "a", "b"),)), "R and a number"),
        (replace(value(WRITTEN), requirements=(Requirement("R1", "a", "b"),) * 2), "R1 is there twice"),
        (replace(value(WRITTEN), data_model={"maximum": float("inf")}), "the data model must be JSON, without NaN"),
        (replace(value(WRITTEN), data_model=float("nan")), "the data model must be JSON, without NaN"),
        (replace(value(WRITTEN), scenarios=(Scenario("a", "", "b"),)), "'a' needs a text for WHEN"),
        (replace(value(WRITTEN), scenarios=(Scenario("a", "b", "c", requirement="R9"),)), "belongs to R9"),
    ],
)
def test_what_could_not_be_read_back_is_not_written(document: Spec, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        spec.render(document)


@pytest.mark.requirement(108, 113)
@pytest.mark.parametrize(
    ("old", "new", "rule", "at"),
    [
        (
            "---\nid: auth-flow\ntype: spec\ntitle: Login\narchived_at: 2026-01-01\nreviewer: kept\n---\n",
            "",
            "missing_frontmatter",
            "",
        ),
        ("title: Login", "title: a: b", "invalid_frontmatter", "title: a"),
        ("id: auth-flow", "id: Auth Flow", "invalid_frontmatter", "id: Auth"),
        ("type: spec", "type: tasks", "invalid_frontmatter", "type: tasks"),
        ("type: spec", "type: spec\nrequirements: 2", "invalid_frontmatter", "requirements: 2"),
        ("type: spec", "type: spec\nrequirements: {total: 3}", "untidy", "requirements: {"),
    ],
)
def test_trouble_at_the_head_is_found_where_it_stands(old: str, new: str, rule: str, at: str) -> None:
    text = WRITTEN.replace(old, new)
    assert found(text) == [(rule, line_of(text, at) if at else 1)]


@pytest.mark.requirement(109, 110, 111)
@pytest.mark.parametrize(
    ("old", "new", "rule", "at"),
    [
        ("## Overview", "## Intro", "missing_heading", "# Login"),
        ("## Requirements", "## Wishes", "missing_heading", "# Login"),
        ("## Overview", "### Overview", "untidy", "### Overview"),
        ("### R2: Codes", "## R2: Codes", "untidy", "## R2"),
        ("### R2: Codes", "### REQ-2: Codes", "invalid_requirement_format", "### REQ-2"),
        ("### R2: Codes end", "### Codes end", "invalid_requirement_format", "### Codes"),
        ("### R2: Codes end", "### R٢: Codes end", "invalid_requirement_format", "### R٢"),
        ("### R2", "### R1", "duplicate_requirement", "### R1: Codes"),
        ("id: R1", "id: R7", "invalid_requirement_format", "id: R7"),
        ("id: R1", "id: R1: x", "invalid_requirement_format", "id: R1: x"),
        ("priority: high", "priority: urgent", "invalid_value", "priority: urgent"),
        ("### Scenario: A code is sent", "", "missing_scenario", "## Acceptance"),
        ("- **WHEN** a person", "- a person", "missing_when_then", "### Scenario"),
        ("- **THEN** the code is sent", "", "missing_when_then", "### Scenario"),
        ("- **THEN** the code is sent", "- **THEN**", "missing_when_then", "### Scenario"),
        ("### Scenario", "### R9\n\n#### Scenario", "broken_reference", "#### Scenario"),
        ("## Requirements", "## Overview\n\nAgain.\n\n## Requirements", "duplicate_heading", "## Overview\n"),
        (
            "the code is sent\n",
            "the code is sent\n\n## Data Model\n\n```json\n{\n  x\n}\n```\n",
            "invalid_value",
            "  x",
        ),
        ("the code is sent\n", "the code is sent\n\n## Data Model\n\n```json\nNaN\n```\n", "invalid_value", "NaN"),
        ("the code is sent\n", "the code is sent\n\n## More\n\n```\n", "untidy", "```\n"),
    ],
)
def test_each_problem_is_found_on_its_line(old: str, new: str, rule: str, at: str) -> None:
    text = WRITTEN.replace(old, new, 1) if at != "## Overview\n" else WRITTEN.replace(old, new)
    last = {"## Overview\n": "## Overview", "```\n": "```"}.get(at)
    lines = [number for number, line in enumerate(text.split("\n"), 1) if (line == last if last else at in line)]
    assert found(text) == [(rule, lines[-1] if last else lines[0])]


@pytest.mark.requirement(107)
def test_the_rules_of_a_person_count() -> None:
    assert found(WRITTEN, Rules(required_headings=("Security",))) == [("missing_heading", line_of(WRITTEN, "# Login"))]
    assert found(WRITTEN, Rules(scenario_min_count=2)) == [("missing_scenario", line_of(WRITTEN, "## Acceptance"))]
    assert found(WRITTEN, Rules(requirement_pattern="SHALL")) == [
        ("invalid_requirement_format", line_of(WRITTEN, "### R2"))
    ]
    assert found(WRITTEN, Rules(scenario_pattern=r"WHEN\s.*THEN\s")) == []
    assert found(WRITTEN, Rules(scenario_pattern=r"^- \[ \] ")) == [("missing_scenario", line_of(WRITTEN, "## Accept"))]
    without = WRITTEN.replace("**THEN**", "")
    assert found(without, Rules(require_when_then=False)) == []
    own = WRITTEN.replace("**WHEN**", "**WENN**").replace("**THEN**", "DANN:")
    assert found(own) == [("missing_when_then", line_of(WRITTEN, "### Scenario"))]
    german = Rules(when_pattern="WENN", then_pattern="DANN")
    read, findings = spec.read(own, german)
    assert not findings
    assert read is not None
    assert read.scenarios == value(WRITTEN).scenarios
    assert spec.read(WRITTEN.replace("## Overview", "## Intro"), Rules(severity_map={"missing_heading": "Low"}))[1][
        0
    ] == Finding(
        "missing_heading",
        "the section 'Overview' is missing",
        line_of(WRITTEN, "# Login"),
        "Low",
        "add '## Overview', or agentd validate --fix",
    )


def test_a_pattern_that_is_no_pattern_is_reported_and_not_raised() -> None:
    rules = Rules(requirement_pattern="(", scenario_pattern="[", when_pattern="*")
    assert ("invalid_value", 1) in found(WRITTEN, rules)


def test_parse_refuses_at_the_first_problem_with_its_place() -> None:
    with pytest.raises(Corrupt, match=r"^specs/a\.md:\d+: the section 'Requirements' is missing\.$") as caught:
        spec.parse(WRITTEN.replace("## Requirements", "## Wishes"), "specs/a.md")
    assert caught.value.fix
    with pytest.raises(Corrupt, match=r"^specs/a\.md:1: the front matter is missing\.$"):
        spec.parse("", "specs/a.md")


def test_nothing_is_no_spec() -> None:
    assert spec.read("")[0] is None
    assert found("") == [("missing_frontmatter", 1)] + [("missing_heading", 1)] * 3 + [("missing_scenario", 1)]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_tidying_touches_only_what_is_untidy(newline: str) -> None:
    untidy = (
        "\ufeff---\nid: auth-flow  # mine\ntype:   spec\nrequirements: {ids: [R1], total: 1} # two\n---\n# Login\n"
        "### Overview\nx \t\n\n```\n# code  \n```\n## Notes\n\tkept\n## Requirements\n## R1 - a\nb\n"
        "### R2 - c\n\n## Acceptance Criteria\n### Scenario: d\nWHEN x THEN y"
    ).replace("\n", newline)
    tidy = (
        "\ufeff---\nid: auth-flow  # mine\ntype:   spec\nrequirements: {ids: [R1, R2], total: 2} # two\n---\n# Login\n\n"
        "## Overview\n\nx\n\n```\n# code  \n```\n\n## Notes\n\n\tkept\n\n## Requirements\n\n### R1 - a\n\nb\n\n"
        "### R2 - c\n\n## Acceptance Criteria\n\n### Scenario: d\n\nWHEN x THEN y"
    ).replace("\n", newline)
    assert spec.tidy(untidy) == tidy
    assert found(tidy) == []


def test_what_is_filled_in_waits_for_a_person() -> None:
    bare = "---\nid: a\n---\n\n<spec>\n\n# A\n\n### Scenario: one\n\nwords\n\n</spec>\n"
    filled = spec.fill(bare)
    places = [(number, line) for number, line in enumerate(filled.split("\n"), 1) if PLACE.search(line)]
    assert len(places) == 5
    assert found(filled) == [("placeholder", number) for number, _ in places]
    assert {(each.severity, each.fix) for each in spec.read(filled)[1]} == {("Medium", "write what is meant")}
    assert filled == (
        "---\nid: a\n---\n\n<spec>\n\n# A\n\n## Overview\n\nNothing is said here yet.\n\n"
        "### Scenario: one\n\nwords\n- **WHEN** (to be completed)\n- **THEN** (to be completed)\n\n"
        "## Requirements\n\nNothing is said here yet.\n\n"
        "## Acceptance Criteria\n\nNothing is said here yet.\n\n</spec>\n"
    )


def test_a_missing_step_or_scenario_is_filled_in_by_the_rules_of_a_person() -> None:
    rules = Rules(when_pattern=r"\*\*WENN\*\*|WENN", scenario_min_count=3)
    text = WRITTEN.replace("- **THEN** the code is sent", "- **THEN**").replace("\n", "\r\n")
    filled = spec.fill(text, rules)
    assert found(filled, rules) == [
        ("placeholder", number) for number, line in enumerate(filled.split("\r\n"), 1) if PLACE.search(line)
    ]
    assert filled.startswith(text.partition("- **WHEN**")[0])
    assert filled.count("**WENN** (to be completed)\r\n") == 3
    assert "- **THEN** (to be completed)\r\n" in filled
    assert "\n" not in filled.replace("\r\n", "")


def test_a_placeholder_stays_a_finding_until_it_is_replaced() -> None:
    filled = spec.fill("---\nid: a\n---\n")
    rules = [rule for rule, _ in found(filled)]
    assert rules == ["placeholder"] * 6
    assert spec.fill(filled) == filled
    written = filled.replace("Nothing is said here yet.", "### R1 - One").replace("(to be completed)", "a person asks")
    assert found(written) == [("placeholder", line_of(written, "### Scenario: To be completed"))]
    assert found(written.replace("To be completed", "One")) == []


def test_words_that_only_hold_a_placeholder_are_none() -> None:
    text = WRITTEN.replace(
        "the code is sent\n", "the list is marked (to be completed)\n\n```\n(to be completed)\n```\n"
    )
    assert found(text.replace("People log in", "Nothing is said here yet. People log in")) == []


@pytest.mark.requirement(110)
@pytest.mark.parametrize("instead", ["", "Codes are sent.\n\n", "- R1: Codes are sent\n\n"])
def test_a_spec_without_a_requirement_is_told_so(instead: str) -> None:
    text = WRITTEN[: WRITTEN.index("### R1")] + instead + WRITTEN[WRITTEN.index("## Acceptance") :]
    (problem,) = spec.read(text)[1]
    assert problem == Finding(
        "invalid_requirement_format",
        "the spec has no requirement",
        line_of(text, "## Requirements"),
        "High",
        "### R1 - title",
    )
    assert spec.fill(text) == text


@pytest.mark.parametrize(
    "way",
    [
        "1. {}",
        "2) {}",
        "1.2 {}",
        "**{}**",
        "__{}__",
        "*{}:*",
        "3. **{}**",
        "**4. {}**",
        "{} <!-- x -->",
        "`{}`: <!---->",
    ],
)
def test_a_section_is_known_by_its_name_whatever_is_around_it(way: str) -> None:
    text = re.sub(r"(?m)^## (.+)$", lambda line: f"## {way.format(line[1])}", WRITTEN)
    assert value(text) == value(WRITTEN)
    assert spec.fill(text) == spec.tidy(text) == text


def test_a_title_that_looks_like_a_section_is_the_title() -> None:
    text = WRITTEN.replace("Login", "1. Overview").replace("## Overview", "## Intro")
    assert found(text) == [("missing_heading", line_of(text, "# 1. Overview"))]


def test_missing_front_matter_is_for_a_person_to_write() -> None:
    text = WRITTEN[WRITTEN.index("# Login") :]
    (problem,) = spec.read(text)[1]
    assert "--fix" not in problem.fix
    assert found("---\nid: login\n---\n" + text) == []


def test_a_file_of_carriage_returns_stays_one() -> None:
    untidy = WRITTEN.replace("## Overview\n\n", "## Overview \n").replace("\n", "\r")
    assert spec.tidy(untidy) == WRITTEN.replace("\n", "\r") == spec.tidy(spec.tidy(untidy))
    without = (
        WRITTEN.replace("- **THEN** the code is sent\n", "").replace("## Overview", "## Intro").replace("\n", "\r")
    )
    filled = spec.fill(without)
    assert "\n" not in filled
    assert {rule for rule, _ in found(filled)} == {"placeholder"}
