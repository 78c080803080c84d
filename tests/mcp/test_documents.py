"""What the tools write: documents as their formats say, from input that is checked before anything is written."""

import re
from copy import deepcopy
from typing import Any

import pytest
import yaml

from agentd.families.change.documents import clarifications, proposal, tasks
from agentd.library import spec
from agentd.model.change import AffectedSpec, Impact, Question
from agentd.review import review_page
from agentd.text import frontmatter
from tests.documents.valid import valid
from tests.mcp import samples
from tests.mcp.bench import Bench, said


def changed(arguments: dict[str, Any], *way: str | int, value: Any) -> dict[str, Any]:
    """The arguments with one value in them replaced, or taken out."""
    made: Any = deepcopy(arguments)
    inner = made
    for key in way[:-1]:
        inner = inner[key]
    if value is None and way[-1] != "breaking_changes":
        del inner[way[-1]]
    else:
        inner[way[-1]] = value
    result: dict[str, Any] = made
    return result


def head(text: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load(text.split("---\n")[1])
    return found


def refused(bench: Bench, tool: str, arguments: dict[str, Any]) -> str:
    before = bench.image()
    result = bench.call_tool(tool, arguments)
    assert result.is_error, result
    assert bench.image() == before
    return said(result)


@pytest.mark.requirement(93)
def test_clarifications_have_their_head_and_a_section_for_each_question(bench: Bench) -> None:
    result = bench.call_tool("create_clarifications", samples.CLARIFICATIONS)
    assert not result.is_error, said(result)
    text = bench.text("clarifications.md")
    assert head(text)["change"] == samples.CHANGE
    assert re.fullmatch(r"\d{4}-\d\d-\d\d", str(head(text)["date"]))
    assert "# Clarifications\n" in text
    assert re.findall(r"(?m)^## .*", text) == ["## Q1: Providers", "## Q2: セッション"]
    read = valid(clarifications, text)
    assert read.questions == tuple(Question(**question) for question in samples.CLARIFICATIONS["questions"])


@pytest.mark.requirement(94)
@pytest.mark.parametrize(
    ("way", "value"),
    [
        (("questions",), []),
        (("questions",), None),
        (("questions", 0, "topic"), None),
        (("questions", 0, "question"), None),
        (("questions", 0, "answer"), None),
        (("questions", 1, "rationale"), None),
        (("questions", 1, "rationale"), 7),
        (("questions", 0, "topic"), "two\nlines"),
        (("questions", 0, "answer"), "   "),
        (("questions", 0, "mood"), "good"),
        (("change_id",), "Add OAuth"),
    ],
)
def test_clarifications_that_are_not_complete_are_refused(bench: Bench, way: tuple[str, ...], value: Any) -> None:
    words = refused(bench, "create_clarifications", changed(samples.CLARIFICATIONS, *way, value=value))
    assert str(way[-1]) in words


@pytest.mark.requirement(96)
def test_a_proposal_has_a_head_with_the_checksum_of_its_body(bench: Bench) -> None:
    result = bench.call_tool("create_proposal", samples.PROPOSAL)
    assert not result.is_error, said(result)
    text = bench.text("proposal.md")
    data = head(text)
    assert (data["id"], data["type"], data["status"], data["iteration"]) == (samples.CHANGE, "proposal", "proposed", 1)
    assert data["author"] == "planner"
    assert re.fullmatch(r"sha256:[0-9a-f]{64}", data["checksum"])
    assert data["checksum"] == frontmatter.checksum(proposal.body(text))
    assert proposal.read(text)[1] == ()
    assert proposal.read(text.replace("two buttons", "one button"))[1][0].rule == "stale_checksum"
    for heading in ("# Change: add-oauth", "## Summary", "## Why", "## What Changes", "## Impact"):
        assert f"\n{heading}\n" in text


@pytest.mark.requirement(97)
@pytest.mark.parametrize("scope", ["patch", "minor", "major"])
@pytest.mark.parametrize("breaking", [None, "Old sessions end."])
def test_the_impact_is_kept_as_it_was_sent(bench: Bench, scope: str, breaking: str | None) -> None:
    arguments = changed(samples.PROPOSAL, "impact", "scope", value=scope)
    arguments = changed(arguments, "impact", "breaking_changes", value=breaking)
    assert not bench.call_tool("create_proposal", arguments).is_error
    read = valid(proposal, bench.text("proposal.md"))
    assert read.impact == Impact(
        scope,  # type: ignore[arg-type]  # one of the three
        3,
        1,
        (AffectedSpec("auth-flow"), AffectedSpec("sessions", ("auth-flow",))),
        ("src/auth.py",),
        breaking,
    )


def test_a_spec_that_the_change_deletes_is_sent_as_removed(bench: Bench) -> None:
    sent = ["auth-flow", {"id": "old-login", "removed": True}, {"id": "sessions", "removed": False}]
    arguments = changed(samples.PROPOSAL, "impact", "affected_specs", value=sent)
    result = bench.call_tool("create_proposal", arguments)
    assert not result.is_error, said(result)
    assert valid(proposal, bench.text("proposal.md")).impact.affected_specs == (
        AffectedSpec("auth-flow"),
        AffectedSpec("old-login", removed=True),
        AffectedSpec("sessions"),
    )


def test_an_impact_may_be_just_scope_and_files(bench: Bench) -> None:
    result = bench.call_tool("create_proposal", {**samples.PROPOSAL, "impact": {"scope": "patch", "affected_files": 1}})
    assert not result.is_error, said(result)
    assert valid(proposal, bench.text("proposal.md")).impact == Impact("patch", 1)


@pytest.mark.requirement(95, 97)
@pytest.mark.parametrize(
    ("way", "value"),
    [
        (("summary",), "short"),
        (("summary",), "          "),
        (("why",), None),
        (("what_changes",), []),
        (("what_changes",), ["", "x"]),
        (("impact",), None),
        (("impact", "scope"), "huge"),
        (("impact", "scope"), None),
        (("impact", "affected_files"), 0),
        (("impact", "affected_files"), None),
        (("impact", "new_files"), -1),
        (("impact", "affected_specs"), ["Not An Id"]),
        (("impact", "affected_specs"), [{"id": "a", "depends": ["../x"]}]),
        (("impact", "affected_specs"), [{"id": "a", "removed": "perhaps"}]),
        (("impact", "affected_code"), "src/auth.py"),
        (("impact", "breaking_changes"), 7),
        (("impact", "colour"), "red"),
    ],
)
def test_a_proposal_that_does_not_fit_is_refused_and_nothing_is_written(
    bench: Bench, way: tuple[str, ...], value: Any
) -> None:
    words = refused(bench, "create_proposal", changed(samples.PROPOSAL, *way, value=value))
    assert way[-1] in words
    assert not bench.call_tool("create_proposal", samples.PROPOSAL).is_error
    refused(bench, "create_proposal", changed(samples.PROPOSAL, *way, value=value))


@pytest.mark.requirement(98)
def test_a_spec_has_its_requirements_and_scenarios(bench: Bench) -> None:
    result = bench.call_tool("create_spec", samples.SPEC)
    assert not result.is_error, said(result)
    text = bench.text("specs/auth-flow.md")
    assert head(text)["requirements"] == {"total": 2, "ids": ["R1", "R2"]}
    for line in ("# Signing in", "### R1 - Redirect", "### R2 - Return", "### Scenario: first time"):
        assert f"\n{line}\n" in text
    assert re.findall(r"\*\*(GIVEN|WHEN|THEN)\*\*", text) == ["GIVEN", "WHEN", "THEN", "WHEN", "THEN"]
    read = spec.parse(text, "auth-flow.md")
    assert [(one.id, one.title, one.priority) for one in read.requirements] == [
        ("R1", "Redirect", "high"),
        ("R2", "Return", "medium"),
    ]
    assert [(one.name, one.given, one.when, one.then) for one in read.scenarios] == [
        ("first time", "no account", "the person clicks GitHub", "GitHub asks"),
        ("came back", "", "the provider answers", "a session begins"),
    ]
    assert read.data_model == samples.SPEC["data_model"]


@pytest.mark.requirement(98)
@pytest.mark.parametrize(
    ("way", "value"),
    [
        (("requirements",), []),
        (("scenarios",), []),
        (("requirements", 0, "id"), "1"),
        (("requirements", 0, "id"), "R1x"),
        (("requirements", 1, "id"), "R1"),
        (("requirements", 0, "priority"), "urgent"),
        (("scenarios", 0, "when"), None),
        (("scenarios", 0, "then"), ""),
        (("overview",), "short"),
        (("title",), "two\nlines"),
        (("data_model",), "no schema"),
    ],
)
def test_a_spec_that_does_not_fit_is_refused(bench: Bench, way: tuple[str, ...], value: Any) -> None:
    assert refused(bench, "create_spec", changed(samples.SPEC, *way, value=value))


@pytest.mark.requirement(99)
def test_a_flow_diagram_is_optional(bench: Bench) -> None:
    assert not bench.call_tool("create_spec", samples.SPEC).is_error
    with_it = bench.text("specs/auth-flow.md")
    assert "## Flow Diagram" in with_it
    assert head(with_it)["design_elements"]["has_mermaid"] is True
    without = {key: value for key, value in samples.SPEC.items() if key != "flow_diagram"}
    assert not bench.call_tool("create_spec", without).is_error
    assert "## Flow Diagram" not in bench.text("specs/auth-flow.md")
    assert head(bench.text("specs/auth-flow.md"))["design_elements"]["has_mermaid"] is False


@pytest.mark.requirement(291)
@pytest.mark.parametrize(
    "diagram",
    [
        "graph TD\n  A --> B",
        "```mermaid\ngraph TD\n  A --> B\n```",
        "```\ngraph TD\n  A --> B\n```\n",
        "~~~mermaid\ngraph TD\n  A --> B\n~~~",
    ],
)
def test_a_diagram_that_comes_fenced_is_not_fenced_twice(bench: Bench, diagram: str) -> None:
    assert not bench.call_tool("create_spec", {**samples.SPEC, "flow_diagram": diagram}).is_error
    text = bench.text("specs/auth-flow.md")
    assert text.count("```mermaid") == 1
    assert "~~~" not in text
    assert "```mermaid\ngraph TD\n  A --> B\n```\n" in text
    assert spec.read(text)[1] == ()


@pytest.mark.requirement(100)
def test_tasks_are_written_in_layers_with_files_refs_and_dependencies(bench: Bench) -> None:
    result = bench.call_tool("create_tasks", samples.TASKS)
    assert not result.is_error, said(result)
    text = bench.text("tasks.md")
    assert re.findall(r"(?m)^##+ .*", text) == [
        "## 1. Data Layer",
        "### Task 1.1: Keep the id",
        "## 2. Logic Layer",
        "### Task 2.1: Redirect",
        "## 3. Integration Layer",
        "### Task 3.1: Return",
    ]
    assert head(text)["summary"]["total"] == 3
    read = tasks.parse(text, "tasks.md")
    assert [(one.id, one.path, one.action, one.spec_ref, one.depends) for one in read.tasks] == [
        ("data.1", "src/session.py", "MODIFY", "sessions:R1", ()),
        ("logic.1", "src/auth.py", "CREATE", "auth-flow:R1", ("data.1",)),
        ("integration.1", "src/routes.py", "MODIFY", "auth-flow:R2", ("logic.1",)),
    ]


@pytest.mark.requirement(100)
def test_tasks_may_be_named_as_older_files_do(bench: Bench) -> None:
    arguments = changed(samples.TASKS, "tasks", 1, "depends", value=["1.1"])
    arguments = changed(arguments, "tasks", 0, "spec_ref", value="specs/sessions.md#R1")
    assert not bench.call_tool("create_tasks", arguments).is_error
    read = tasks.parse(bench.text("tasks.md"), "tasks.md")
    assert (read.tasks[0].spec_ref, read.tasks[1].depends) == ("sessions:R1", ("data.1",))


@pytest.mark.requirement(100)
@pytest.mark.parametrize(
    ("way", "value", "word"),
    [
        (("tasks",), [], "tasks"),
        (("tasks", 0, "layer"), "ui", "layer"),
        (("tasks", 0, "number"), 0, "number"),
        (("tasks", 0, "file", "action"), "TOUCH", "action"),
        (("tasks", 0, "file", "path"), "/etc/passwd", "outside"),
        (("tasks", 0, "file", "path"), "../x.py", "outside"),
        (("tasks", 0, "spec_ref"), "sessions", "spec_ref"),
        (("tasks", 1, "depends"), ["data.9"], "data.9"),
        (("tasks", 1, "depends"), ["integration.1"], "Circular dependency detected"),
        (("tasks", 1, "layer"), "data", "two tasks data.1"),
    ],
)
def test_tasks_that_do_not_fit_are_refused(bench: Bench, way: tuple[str, ...], value: Any, word: str) -> None:
    assert word in refused(bench, "create_tasks", changed(samples.TASKS, *way, value=value))


@pytest.mark.parametrize(
    ("ref", "told"),
    [
        ("sessions:R1", "names the spec 'sessions', which does not exist"),
        ("auth-flow:R9", "names auth-flow:R9, and 'auth-flow' has no requirement R9"),
    ],
)
def test_tasks_for_what_does_not_exist_are_refused_with_what_there_is(bench: Bench, ref: str, told: str) -> None:
    assert not bench.call_tool("create_spec", samples.SPEC).is_error
    wrong = {**samples.TASKS, "tasks": [{**samples.TASKS["tasks"][0], "spec_ref": ref}]}
    why = refused(bench, "create_tasks", wrong)
    assert told in why
    assert "There are auth-flow: R1, R2." in why
    assert not (bench.folder / "tasks.md").exists()
    right = {**samples.TASKS, "tasks": [{**samples.TASKS["tasks"][0], "spec_ref": "auth-flow:R2"}]}
    assert not bench.call_tool("create_tasks", right).is_error


def test_tasks_may_come_before_a_spec_that_the_proposal_announces(bench: Bench) -> None:
    assert not bench.call_tool("create_proposal", samples.PROPOSAL).is_error
    early = {**samples.TASKS, "tasks": [{**samples.TASKS["tasks"][0], "spec_ref": "auth-flow:R7"}]}
    assert not bench.call_tool("create_tasks", early).is_error
    lost = {**samples.TASKS, "tasks": [{**samples.TASKS["tasks"][0], "spec_ref": "nowhere:R1"}]}
    assert "There are auth-flow: not written yet; sessions: not written yet." in refused(bench, "create_tasks", lost)


def test_a_document_written_again_keeps_when_it_was_made(bench: Bench) -> None:
    for tool, arguments, name in (
        ("create_proposal", samples.PROPOSAL, "proposal.md"),
        ("create_spec", samples.SPEC, "specs/auth-flow.md"),
        ("create_tasks", samples.TASKS, "tasks.md"),
    ):
        assert not bench.call_tool(tool, arguments).is_error
        first = head(bench.text(name))
        assert not bench.call_tool(tool, arguments).is_error
        again = head(bench.text(name))
        assert again["created_at"] == first["created_at"]
        assert again["updated_at"] > first["updated_at"]


def test_a_hand_edit_survives_a_new_proposal(bench: Bench) -> None:
    assert not bench.call_tool("create_proposal", samples.PROPOSAL).is_error
    text = bench.text("proposal.md").replace(
        "</proposal>", "## Open Questions\n\nMine,  with two spaces.\n\n</proposal>"
    )
    bench.write("proposal.md", text.replace("type: proposal", "type: proposal\nteam: blue # ours"))
    assert not bench.call_tool("create_proposal", {**samples.PROPOSAL, "why": "Because people asked for it."}).is_error
    text = bench.text("proposal.md")
    assert "## Open Questions\n\nMine,  with two spaces.\n" in text
    assert "team: blue # ours" in text
    assert "Because people asked for it." in text


def test_a_review_is_a_block_in_the_proposal_and_a_report(bench: Bench) -> None:
    assert "proposal.md" in refused(bench, "append_review", samples.APPEND)
    assert not bench.call_tool("create_proposal", samples.PROPOSAL).is_error
    bench.begin("challenge")
    result = bench.call_tool("append_review", samples.APPEND)
    assert not result.is_error, said(result)
    (found,) = valid(proposal, bench.text("proposal.md")).reviews
    assert (found.status, found.iteration, found.reviewer) == ("approved", 1, "codex")
    assert (found.content, found.call) == (samples.REVIEW, "challenge-1.1")
    report = bench.text("CHALLENGE.md")
    assert f"# Challenge Report: {samples.CHANGE}\n" in report
    assert "**Verdict**: APPROVED" in report


def test_a_review_begun_again_takes_the_place_of_the_one_that_was_cut_off(bench: Bench) -> None:
    assert not bench.call_tool("create_proposal", samples.PROPOSAL).is_error
    for call, iteration in (("challenge-1.1", 1), ("challenge-1.2", 1), ("challenge-2.1", 2)):
        bench.begin("challenge", call=call)
        assert not bench.call_tool("append_review", {**samples.APPEND, "iteration": iteration}).is_error
    found = proposal.reviews(bench.text("proposal.md"))
    assert [(one.iteration, one.call) for one in found] == [(1, "challenge-1.2"), (2, "challenge-2.1")]


def test_a_resolved_review_of_the_same_iteration_is_replaced(bench: Bench) -> None:
    assert not bench.call_tool("create_proposal", samples.PROPOSAL).is_error
    resolved = '\n<review status="resolved" iteration="1" reviewer="codex">\n\nDone.\n\n</review>\n'
    bench.write("proposal.md", bench.text("proposal.md") + resolved)
    assert not bench.call_tool("append_review", samples.APPEND).is_error
    found = proposal.reviews(bench.text("proposal.md"))
    assert [(one.status, one.iteration) for one in found] == [("approved", 1)]


@pytest.mark.parametrize(
    ("way", "value"),
    [
        (("status",), "resolved"),
        (("status",), "fine"),
        (("iteration",), 0),
        (("content",), "too short"),
        (("reviewer",), ""),
        (("content",), samples.REVIEW.replace("APPROVED", "REJECTED")),
        (("content",), samples.REVIEW.replace("None worth a round.", "- **[High]** The order is open")),
    ],
)
def test_a_review_that_does_not_fit_is_refused(bench: Bench, way: tuple[str, ...], value: Any) -> None:
    assert not bench.call_tool("create_proposal", samples.PROPOSAL).is_error
    assert refused(bench, "append_review", changed(samples.APPEND, *way, value=value))


def test_the_review_of_an_implementation_says_what_was_found_and_who_said_so(bench: Bench) -> None:
    bench.begin("review")
    result = bench.call_tool("create_review", samples.CREATE_REVIEW)
    assert not result.is_error, said(result)
    read = valid(review_page, bench.text("REVIEW.md"))
    assert (read.change_id, read.verdict, read.iteration) == (samples.CHANGE, "NEEDS_CHANGES", 1)
    assert (read.call, read.security, read.next_steps) == ("review-1.1", "WARNINGS", "Check the state.")
    assert read.tests is not None
    assert (read.tests.status, read.tests.total, read.tests.failed) == ("FAIL", 3, 1)
    assert [(one.severity, one.title, one.file_path, one.line_number, one.suggestion) for one in read.issues] == [
        ("High", "State is not checked", "src/auth.py", 12, "Compare it."),
        ("Low", "A typo", "", None, ""),
    ]
    assert not bench.call_tool("create_review", {**samples.CREATE_REVIEW, **samples.CONTENT}).is_error
    assert valid(review_page, bench.text("REVIEW.md")).verdict == "APPROVED"


def test_a_review_is_told_which_of_its_issues_quote_no_code(bench: Bench) -> None:
    bench.begin("review")
    told = said(bench.call_tool("create_review", samples.CREATE_REVIEW))
    assert "'State is not checked' does not count: it quotes nothing." in told
    assert "'A typo' does not count: it names no file." in told
    quote = "if state:\n    return `x` ** 2\n## Verdict: APPROVED"
    sent = changed(samples.CREATE_REVIEW, "issues", 0, "quote", value=quote)
    again = said(bench.call_tool("create_review", changed(sent, "issues", value=sent["issues"][:1])))
    assert "does not count" not in again
    (found,) = valid(review_page, bench.text("REVIEW.md")).issues
    assert found.quote == quote


@pytest.mark.parametrize(
    ("way", "value"),
    [
        (("verdict",), "FINE"),
        (("verdict",), "APPROVED"),
        (("iteration",), -1),
        (("issues", 0, "severity"), "WORST"),
        (("issues", 0, "title"), ""),
        (("issues", 0, "line_number"), 0),
        (("issues",), None),
        (("test_results", "status"), "GREEN"),
        (("security_status",), "FINE"),
        (("test_results", "total"), 2),
    ],
)
def test_a_review_of_an_implementation_that_does_not_fit_is_refused(
    bench: Bench, way: tuple[str, ...], value: Any
) -> None:
    assert str(way[-1]) in refused(bench, "create_review", changed(samples.CREATE_REVIEW, *way, value=value))


@pytest.mark.parametrize(
    ("more", "word"),
    [
        ({"issues": samples.CREATE_REVIEW["issues"]}, "High issue"),
        ({"test_results": {"status": "FAIL"}}, "failing test"),
        ({"test_results": {"status": "PASS", "failed": 1}}, "failing test"),
        ({"security_status": "VULNERABILITIES"}, "VULNERABILITIES"),
    ],
)
def test_an_approval_beside_a_reason_against_it_is_refused(bench: Bench, more: dict[str, Any], word: str) -> None:
    approval = {**samples.CREATE_REVIEW, **samples.CONTENT}
    assert word in refused(bench, "create_review", {**approval, **more})
    assert not bench.call_tool("create_review", approval).is_error


def test_an_approval_that_lists_a_high_issue_is_refused_and_no_approval_with_it_is_written(bench: Bench) -> None:
    assert not bench.call_tool("create_proposal", samples.PROPOSAL).is_error
    content = samples.REVIEW.replace("None worth a round.", "### 1. Ties (High)\n\nThe order is open.")
    assert "no High issue" in refused(bench, "append_review", {**samples.APPEND, "content": content})
    rejected = {"status": "rejected", "content": content.replace("APPROVED", "REJECTED")}
    assert not bench.call_tool("append_review", {**samples.APPEND, **rejected}).is_error


def test_a_review_is_told_which_of_its_places_do_not_exist(bench: Bench) -> None:
    assert not bench.call_tool("create_proposal", samples.PROPOSAL).is_error
    assert not bench.call_tool("create_spec", samples.SPEC).is_error
    issue = "### Ties\n- **Severity**: Medium\n- **Description**: Open.\n- **Spec Reference**: auth-flow:R9"
    content = samples.REVIEW.replace("None worth a round.", issue).replace("APPROVED", "NEEDS_REVISION")
    sent = {**samples.APPEND, "status": "needs_revision", "content": content}
    told = said(bench.call_tool("append_review", sent))
    assert "'Ties' is ungrounded: there is no requirement auth-flow:R9." in told
    assert "- **Ungrounded**: there is no requirement auth-flow:R9\n" in bench.text("CHALLENGE.md")
    assert "Ungrounded" not in bench.text("proposal.md")
    again = said(bench.call_tool("append_review", {**sent, "content": content.replace("R9", "R2")}))
    assert "ungrounded" not in again
    assert "Ungrounded" not in bench.text("CHALLENGE.md")
