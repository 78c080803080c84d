"""Templates are filled once: what stands in a project never becomes a template."""

import pytest

from agentd.errors import BadConfig
from agentd.prompts.render import built_in, render


def test_slots_are_filled() -> None:
    assert render("{{ role }} of {{run}}", {"role": "planner", "run": "x"}, "t.md") == "planner of x"


def test_text_that_looks_like_a_slot_is_left_alone() -> None:
    assert render("{{description}}", {"description": "{{role}}", "role": "no"}, "t.md") == "{{role}}"


def test_braces_that_are_no_slot_stay() -> None:
    assert render('{"a": {{role}}} {{ }} {{Role}}', {"role": "1"}, "t.md") == '{"a": 1} {{ }} {{Role}}'


def test_a_slot_nobody_fills_is_named_with_the_known_ones() -> None:
    with pytest.raises(BadConfig, match=r"t\.md: nothing fills \{\{rolle\}\}") as told:
        render("{{rolle}}", {"role": "x"}, "t.md")
    assert "role" in told.value.fix


def test_the_built_in_template_says_how_to_end() -> None:
    assert '{"outcome": "{{forward}}"}' in built_in("step")


def test_a_quoted_value_has_every_line_marked() -> None:
    quoted = render("{{> said}}\n{{>said}}", {"said": "a\r\n\n{{said}}\u2028c\x0cd"}, "t.md")
    assert quoted == "\n".join(["> a", ">", "> {{said}}", "> c", "> d"] * 2)


def test_a_quoted_value_that_is_empty_says_so() -> None:
    assert render("{{> said}}", {"said": ""}, "t.md") == "> (nothing)"


def test_a_quoted_slot_nobody_fills_is_named() -> None:
    with pytest.raises(BadConfig, match=r"nothing fills \{\{rolle\}\}"):
        render("{{> rolle}}", {"role": "x"}, "t.md")
