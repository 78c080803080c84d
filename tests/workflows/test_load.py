"""A malformed table is refused with file, line and step; a well-formed one is read as it stands."""

from pathlib import Path

import pytest

from agentd.app import LAYOUTS
from agentd.errors import NotFound, Unsound
from agentd.model.workflow import Edge, Step
from agentd.runs.tables import Tables
from agentd.workflows.limits import with_limits
from agentd.workflows.load import parse
from agentd.workflows.shipped import shipped
from tests.built_in import BUILT_IN, read_built_in

WHOLE = """\
name: mine
about: "what it does"
starts: {full: write, quick: check}
commands: {go: [draft]}
defaults: {failed: {to: "@again", at_most: 2, then: stuck}}
steps:
  write:
    phase: draft
    when: [text_is_missing]
    agent: writer
    produces: [text.md]
    tools: [read_file]
    next: {done: check}
  check:
    phase: draft
    needs: [text.md, text_is_short]
    do: count_words
    next:
      good: over
      bad: {to: write, at_most: rounds, then: stuck}
  stuck: {phase: draft, ask: what_now, next: {on: "@again", restart: {to: "@phase", rewind: true}, off: over}}
  over: {phase: finished, end: over}
"""


def refusal(text: str) -> str:
    with pytest.raises(Unsound) as caught:
        parse(text, "mine.yaml")
    assert "agentd workflow check mine.yaml" in caught.value.fix
    return caught.value.message


def test_a_table_is_read_as_it_stands() -> None:
    workflow = parse(WHOLE, "mine.yaml")
    assert (workflow.name, workflow.about, workflow.source) == ("mine", "what it does", "mine.yaml")
    assert dict(workflow.starts) == {"full": "write", "quick": "check"}
    assert dict(workflow.commands) == {"go": ("draft",)}
    assert dict(workflow.defaults) == {"failed": Edge("@again", at_most=2, then="stuck")}
    assert workflow.phases == ("draft", "finished")
    assert list(workflow.steps) == ["write", "check", "stuck", "over"]
    assert workflow.steps["write"] == Step(
        name="write",
        phase="draft",
        kind="agent",
        what="writer",
        next={"done": Edge("check")},
        when=("text_is_missing",),
        produces=("text.md",),
        tools=("read_file",),
        line=7,
    )
    assert workflow.steps["check"].needs == ("text.md", "text_is_short")
    assert workflow.steps["check"].next["bad"] == Edge("write", at_most="rounds", then="stuck")
    assert workflow.steps["stuck"].next["restart"] == Edge("@phase", rewind=True)


def test_words_that_yaml_takes_for_values_stay_words() -> None:
    text = "name: 1.0\nstarts: {full: on}\nsteps:\n  on: {phase: 2.10, ask: yes, next: {no: off, null: on}}\n"
    workflow = parse(text + "  off: {phase: 0x1, end: ~}\n", "mine.yaml")
    assert workflow.name == "1.0"
    assert list(workflow.steps["on"].next) == ["no", "null"]
    assert (workflow.steps["on"].what, workflow.steps["on"].phase, workflow.steps["off"].what) == ("yes", "2.10", "~")


def test_a_named_limit_becomes_its_number_and_an_unknown_one_is_refused() -> None:
    workflow = with_limits(parse(WHOLE, "mine.yaml"), {"rounds": 4})
    assert workflow.steps["check"].next["bad"].at_most == 4
    assert workflow.defaults["failed"].at_most == 2
    with pytest.raises(Unsound, match=r"mine\.yaml:\d+: step 'check': unknown limit 'rounds' .*turns"):
        with_limits(parse(WHOLE, "mine.yaml"), {"turns": 4})


def test_a_text_nested_without_end_is_refused_and_not_followed() -> None:
    with pytest.raises(Unsound, match="nested too deeply"):
        parse("[" * 100_000, "mine.yaml")


def test_every_built_in_is_there_and_knows_its_own_name() -> None:
    assert [read_built_in(name).name for name in BUILT_IN] == list(BUILT_IN)


def test_an_unknown_built_in_is_not_found(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match="no built-in workflow 'chnage'"):
        Tables(tmp_path, LAYOUTS, {}).find("chnage")


def test_an_empty_file_is_refused() -> None:
    for text in ("", "\n\n", "# only a comment\n"):
        assert refusal(text) == "mine.yaml:1: the file is empty"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("name: mine\nsteps: {a: [b}\n", 2),
        ("name: mine\n\tstarts: x\n", 2),
        ("name: mine\nsteps:\n  a: *nobody\n", 3),
        ('name: "mine\n', 2),
        ("name: mine\n--- \nname: other\n", 2),
    ],
)
def test_bad_yaml_is_refused_with_its_line(text: str, line: int) -> None:
    assert refusal(text).startswith(f"mine.yaml:{line}: ")


def test_characters_yaml_does_not_allow_are_refused() -> None:
    assert refusal("name: a\x00b\n").startswith("mine.yaml:1: ")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        # keys
        ("about:", "abuot:", "mine.yaml:2: unknown key 'abuot' in a workflow (did you mean 'about'?)"),
        (
            "    agent: writer",
            "    agnet: writer",
            "mine.yaml:10: step 'write': unknown key 'agnet' in a step (did you mean",
        ),
        ("at_most: rounds", "at_least: rounds", "mine.yaml:20: step 'check': unknown key 'at_least' in an edge"),
        (
            "    tools: [read_file]",
            "    if: x > 1",
            "mine.yaml:12: step 'write': unknown key 'if' in a step (known: phase,",
        ),
        # kinds and phases
        (
            "    agent: writer",
            "    agent: writer\n    do: x",
            "mine.yaml:7: step 'write': a step has exactly one of agent, ask,",
        ),
        ("    agent: writer", "    agent: writer\n    do: x", "it has agent and do"),
        (
            "    agent: writer\n",
            "",
            "mine.yaml:7: step 'write': a step has exactly one of agent, ask, do, each, end; it has none",
        ),
        ("    phase: draft\n    when", "    when", "mine.yaml:7: step 'write': a step needs a phase"),
        # doubles
        ("  over: {", "  write: {", "mine.yaml:22: 'write' stands twice in steps"),
        ("    do: count_words", "    do: x\n    do: y", "mine.yaml:18: step 'check': 'do' stands twice in a step"),
        ("{on: ", "{off: over, on: ", "mine.yaml:21: step 'stuck': 'off' stands twice in next"),
        ("quick: check", "full: check", "mine.yaml:3: 'full' stands twice in starts"),
        # edges
        (", then: stuck}\n  stuck", "}\n  stuck", "mine.yaml:20: step 'check': 'at_most' and 'then' go together"),
        ("at_most: rounds, ", "", "mine.yaml:20: step 'check': 'at_most' and 'then' go together"),
        ("{to: write, ", "{", "mine.yaml:20: step 'check': an edge needs 'to'"),
        ("good: over", "good: {to: over, budget: x}", "mine.yaml:19: step 'check': a 'budget' needs 'at_most'"),
        ("rewind: true", "rewind: yes", "mine.yaml:21: step 'stuck': rewind must be true or false"),
        ("good: over", "good: [over]", "mine.yaml:19: step 'check': an edge must be a mapping"),
        ("good: over", "good:", "mine.yaml:19: step 'check': a target must be a word"),
        ('{failed: {to: "@again", ', "{failed: {", "mine.yaml:5: step 'defaults': an edge needs 'to'"),
        # shapes
        ("produces: [text.md]", "produces: text.md", "mine.yaml:11: step 'write': produces must be a list"),
        (
            "produces: [text.md]",
            "produces: [[text.md]]",
            "mine.yaml:11: step 'write': an entry of produces must be a word",
        ),
        ("next: {done: check}", "next: check", "mine.yaml:13: step 'write': next must be a mapping"),
        ("agent: writer", "agent: {role: writer}", "mine.yaml:10: step 'write': agent must be a word"),
        ("phase: draft\n    when", "phase: ''\n    when", "mine.yaml:8: step 'write': phase must be a word"),
        ("starts: {full: write, quick: check}", "starts: write", "mine.yaml:3: starts must be a mapping"),
        ("commands: {go: [draft]}", "commands: {go: draft}", "mine.yaml:4: a command's phases must be a list"),
        (
            "  over: {phase: finished, end: over}",
            "  over: [end]",
            "mine.yaml:22: step 'over': a step must be a mapping",
        ),
        ("name: mine\n", "", "mine.yaml:1: a workflow needs 'name'"),
        ("starts: {full: write, quick: check}\n", "", "mine.yaml:1: a workflow needs 'starts'"),
    ],
)
def test_a_malformed_table_is_refused_where_it_is_wrong(old: str, new: str, message: str) -> None:
    assert WHOLE.count(old) == 1, old
    assert message in refusal(WHOLE.replace(old, new))


@pytest.mark.parametrize("text", ["- name: mine\n", "mine\n", "[]\n"])
def test_a_file_that_is_no_mapping_is_refused(text: str) -> None:
    assert refusal(text) == "mine.yaml:1: a workflow must be a mapping"


def test_reading_a_table_makes_nothing_of_its_tags() -> None:
    text = WHOLE.replace("name: mine", "name: !!python/object/apply:os.getcwd []")
    assert refusal(text) == "mine.yaml:1: name must be a word"


@pytest.mark.parametrize("name", BUILT_IN)
def test_a_shipped_table_says_the_same_when_it_is_compiled(name: str, tmp_path: Path) -> None:
    text = next(layout.table(name) for layout in LAYOUTS if name in layout.workflows).read_text(encoding="utf-8")
    path = tmp_path / f"{name}.yaml"
    path.write_text(text, encoding="utf-8")
    assert shipped(path) == shipped(path) == parse(text, path.name)


def test_a_shipped_table_that_was_edited_is_read_anew(tmp_path: Path) -> None:
    path = tmp_path / "small.yaml"
    path.write_text(WHOLE, encoding="utf-8")
    before = shipped(path)
    path.write_text(f"# More.\n{WHOLE}", encoding="utf-8")
    assert shipped(path) == parse(path.read_text(encoding="utf-8"), path.name) != before


def test_no_module_has_the_name_of_a_table_beside_it() -> None:
    """Python keeps what it compiles from both under the same name."""
    tables = [layout.table(name) for layout in LAYOUTS for name in layout.workflows]
    assert tables
    assert not [path for path in tables if path.with_suffix(".py").exists()]
