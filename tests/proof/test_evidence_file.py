"""Evidence goes to text and back unchanged; a text that is not exactly evidence is refused, with a fix."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.errors import Corrupt
from agentd.model.command import KINDS, Command
from agentd.model.evidence import Case, Counts, Evidence, Harm, Result, Status
from agentd.proof import evidence_file as document

words = st.text(max_size=12)
numbers = st.integers(0, 10**6)
commands = st.builds(Command, st.sampled_from(KINDS), words, words, words)
cases = st.builds(Case, words, st.sampled_from(["passed", "failed", "skipped"]), words, numbers)
results = st.builds(
    Result,
    commands,
    st.sampled_from(["green", "red", "none", "unknown"]),
    st.none() | st.integers(-15, 255),
    st.floats(0, 1e6),
    st.none() | st.builds(Counts, numbers, numbers, numbers, numbers),
    st.lists(cases, max_size=3).map(tuple),
    st.lists(words, max_size=3).map(tuple),
    words,
)
harms = st.builds(Harm, words, words, words, numbers, words)
evidences = st.builds(
    Evidence,
    words,
    words,
    st.lists(results, max_size=3).map(tuple),
    st.lists(harms, max_size=2).map(tuple),
    st.lists(results, max_size=2).map(tuple),
)


@given(evidences)
def test_evidence_goes_to_text_and_back(evidence: Evidence) -> None:
    text = document.render(evidence)
    assert document.read(text, "evidence.json") == evidence
    assert text.endswith("}\n")
    assert document.render(document.read(text, "evidence.json")) == text


def one(kind: str, status: Status) -> Result:
    return Result(Command("test" if kind == "test" else "audit", "x"), status)


@pytest.mark.parametrize(
    ("results", "word"),
    [
        ([], "green"),
        ([one("test", "green")], "green"),
        ([one("test", "green"), one("test", "red")], "red"),
        ([one("test", "none"), one("audit", "unknown")], "red"),
        ([one("test", "green"), one("audit", "unknown")], "green"),
        ([one("test", "unknown"), one("audit", "green")], "unknown"),
        ([one("test", "green"), one("audit", "none")], "green"),
        ([one("test", "unknown"), one("audit", "red")], "red"),
    ],
)
def test_the_status_on_top_is_the_worst(results: list[Result], word: str) -> None:
    evidence = Evidence("t", "now", tuple(results))
    assert json.loads(document.render(evidence))["status"] == word


WHOLE: dict[str, Any] = json.loads(
    document.render(
        Evidence(
            "t",
            "now",
            (Result(Command("test", "x"), "red", counts=Counts(), cases=(Case("a", "failed"),)),),
            (Harm("r", "m", "f"),),
        )
    )
)


def without(data: Any, path: list[str | int]) -> Any:
    """The data without what the path leads to."""
    copy = json.loads(json.dumps(data))
    inner = copy
    for key in path[:-1]:
        inner = inner[key]
    del inner[path[-1]]
    return copy


@pytest.mark.parametrize(
    "path",
    [
        ["tree"],
        ["results"],
        ["before"],
        ["results", 0, "command"],
        ["results", 0, "command", "run"],
        ["results", 0, "status"],
        ["results", 0, "seconds"],
        ["results", 0, "cases", 0, "name"],
        ["results", 0, "counts", "total"],
        ["harms", 0, "rule"],
    ],
)
def test_a_missing_part_is_refused(path: list[str | int]) -> None:
    with pytest.raises(Corrupt) as caught:
        document.read(json.dumps(without(WHOLE, path)), "x/evidence.json")
    assert caught.value.message.startswith("x/evidence.json is not evidence that agentd wrote: ")
    assert caught.value.fix


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "null",
        "[" * 5000,
        '{"status": "green"}',
        json.dumps({**WHOLE, "extra": 1}),
        json.dumps({**WHOLE, "tree": 7}),
        json.dumps({**WHOLE, "results": {}}),
        json.dumps({**WHOLE, "results": ["x"]}),
        json.dumps({**WHOLE, "results": [{**WHOLE["results"][0], "status": "fine"}]}),
        json.dumps({**WHOLE, "results": [{**WHOLE["results"][0], "exit_code": True}]}),
        json.dumps({**WHOLE, "results": [{**WHOLE["results"][0], "output": [1]}]}),
    ],
)
def test_anything_else_is_refused(text: str) -> None:
    with pytest.raises(Corrupt):
        document.read(text, "evidence.json")


@given(st.recursive(st.none() | st.integers() | words, lambda inner: st.lists(inner) | st.dictionaries(words, inner)))
def test_any_json_is_evidence_or_corrupt(data: object) -> None:
    with pytest.raises(Corrupt):
        document.read(json.dumps(data), "evidence.json")
