"""The drawing shows the whole table: every phase, step, edge, limit and start, and nothing that is not there."""

import re
from collections import Counter

import pytest

from agentd.model.workflow import RELATIVE, Workflow
from agentd.workflows.diagram import draw
from tests.built_in import BUILT_IN, read_built_in
from tests.workflows.tables import table, unlimited_stages

ARROW = re.compile(r"    (\S+) --> (\S+?)(?:: (.*))?")
NOTE = re.compile(r"    %% (.+) --> (\S+): (.*)")


def expected(workflow: Workflow) -> Counter[tuple[str, str, str]]:
    """Every arrow of a table as (from, to, the word), limits left out."""
    found: Counter[tuple[str, str, str]] = Counter()
    for step in workflow.steps.values():
        for word, edge in step.next.items():
            found[step.name, edge.to, word] += 1
            if edge.then:
                found[step.name, edge.then, f"{word}, then"] += 1
    for word, edge in workflow.defaults.items():
        found["every step", edge.to, word] += 1
        if edge.then:
            found["every step", edge.then, f"{word}, then"] += 1
    return found


def drawn(text: str) -> Counter[tuple[str, str, str]]:
    found: Counter[tuple[str, str, str]] = Counter()
    for line in text.splitlines():
        match = NOTE.fullmatch(line) or ARROW.fullmatch(line)
        if match and "[*]" not in match.groups():
            begin, end, label = match.groups()
            found[begin.removeprefix("step_"), end.removeprefix("step_"), label.partition(" (")[0]] += 1
    return found


@pytest.mark.parametrize("name", BUILT_IN)
def test_every_step_and_edge_of_a_built_in_is_drawn(name: str) -> None:
    workflow = read_built_in(name)
    text = draw(workflow)
    states = re.findall(r'^ {8}state "(\S+) \((\w+): ([^"]+)\)" as step_(\w+)$', text, re.MULTILINE)
    assert [(step, kind, what) for step, kind, what, _ in states] == [
        (step.name, step.kind, step.what) for phase in workflow.phases for step in workflow.steps.values() if step.phase == phase
    ]  # fmt: skip
    assert drawn(text) == expected(workflow)
    assert re.findall(r'^ {4}state "(\S+)" as phase_\w+ \{$', text, re.MULTILINE) == list(workflow.phases)
    assert text.count("[*] --> ") == len(workflow.starts) + len(workflow.entries)
    assert text.count(" --> [*]") == sum(step.kind == "end" for step in workflow.steps.values())


@pytest.mark.parametrize("name", BUILT_IN)
def test_what_is_drawn_holds_together(name: str) -> None:
    text = draw(read_built_in(name))
    lines = text.splitlines()
    assert lines[0] == "stateDiagram-v2"
    assert text.count("{\n") == lines.count("    }")
    declared = re.findall(r" as (\w+)", text)
    assert len(set(declared)) == len(declared)
    for line in lines:
        if (arrow := ARROW.fullmatch(line)) and not line.startswith("    %%"):
            assert {arrow[1], arrow[2]} <= {*declared, "[*]"}, line
            assert not {arrow[1], arrow[2]} & {*RELATIVE}, line


def test_limits_rewinds_and_waivers_are_marked() -> None:
    text = draw(unlimited_stages())
    assert "step_run_tests --> step_implement: source_is_wrong (at most stage_restarts) (rewind)\n" in text
    assert "step_run_tests --> step_restarts_are_used_up: source_is_wrong, then\n" in text
    assert "%% what_now --> @past: skip (waive)\n" in text
    assert "%% every step --> @again: failed (at most phase_retries)\n" in text


def test_several_starts_carry_their_names() -> None:
    text = draw(read_built_in("team"))
    assert "    [*] --> step_intake: full\n    [*] --> step_intake_lean: lean\n" in text


def test_steps_named_like_words_of_mermaid_are_drawn_under_other_names() -> None:
    text = draw(
        table("""
        first: {phase: note, do: x, next: {done: state}}
        state: {phase: class, do: x, next: {done: default}}
        default: {phase: class, end: over}
    """)
    )
    words = re.findall(r"(?: as |^ {4}| --> )(\w+)", text, re.MULTILINE)
    assert {word for word in words if word != "state"} == {
        "phase_note", "phase_class", "step_first", "step_state", "step_default",
    }  # fmt: skip
