"""What is wanted gets into a settings file, and whatever a person wrote there stays as it was, comments and all."""

import json
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.text.jsonc import Broken, merged

WANTED = {"mcpServers": {"agentd": {"command": "python", "args": ["-m", "agentd"], "env": {"A": "$A"}, "trust": True}}}
ENTRY = json.dumps(WANTED["mcpServers"]["agentd"])


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", '{\n  "a": {\n    "b": 1\n  }\n}\n'),
        ("// mine", '// mine\n{\n  "a": {\n    "b": 1\n  }\n}\n'),
        ("{}", '{\n  "a": {\n    "b": 1\n  }\n}'),
        ("{\n}\n", '{\n  "a": {\n    "b": 1\n  }\n}\n'),
        ("{ // none yet\n}", '{ // none yet\n  "a": {\n    "b": 1\n  }\n}'),
        ('{"x": 1}', '{"x": 1, "a": {"b": 1}}'),
        ('{"x": 1,}', '{"x": 1, "a": {"b": 1},}'),
        ('{"x": 1 // one\n}', '{"x": 1, // one\n  "a": {"b": 1}\n}'),
        (
            '{\n\t"x": 1 /* one */ // two\n\t// end\n}',
            '{\n\t"x": 1, /* one */ // two\n\t"a": {\n\t\t"b": 1\n\t}\n\t// end\n}',
        ),
        ('{\r\n    "x": 1\r\n}\r\n', '{\r\n    "x": 1,\r\n    "a": {\r\n        "b": 1\r\n    }\r\n}\r\n'),
        ('{"a": {}}', '{"a": {\n  "b": 1\n}}'),
        ('{"a": {"c": 2}}', '{"a": {"c": 2, "b": 1}}'),
        ('{"a": {"b": 2 /* why */}}', '{"a": {"b": 1 /* why */}}'),
        ('{"a": {"b": true}}', '{"a": {"b": 1}}'),
        ('{"a": {"b": 5}, "a": {"b": 2}}', '{"a": {"b": 5}, "a": {"b": 1}}'),
        ('\ufeff{"\\u0061": {"b": 2}}', '\ufeff{"\\u0061": {"b": 1}}'),
    ],
)
def test_an_entry_is_put_where_a_person_would_put_it(before: str, after: str) -> None:
    assert merged(before, {"a": {"b": 1}}) == after


@pytest.mark.parametrize(
    "text",
    [
        '{"a": {"b": 1, "more": [1, 2,], /* c */ "x": null,},} // end',
        '{"a":{"b":1.0e0}, "a" : { "b" : 1 }}',
    ],
)
def test_what_is_there_is_not_written_again(text: str) -> None:
    assert merged(text, {"a": {"b": 1}}) == text


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("{", 1, "property name"),
        ("{\n /* never ends", 2, "property name"),
        ('{"x" 1}', 1, "Expecting ':'"),
        ('{\n"x": 1\n"y": 2}', 3, "Expecting ','"),
        ('{"x": 1,, }', 1, "property name|Illegal trailing comma"),
        ("{,}", 1, "property name"),
        ("{ // none\n , }", 2, "property name"),
        ('{"x": [/**/,]}', 1, "Expecting value"),
        ('{"x": [1,,]}', 1, "Expecting value|Illegal trailing comma"),
        ('{"x": [1 2]}', 1, "Expecting ','"),
        ('{"x": [1, 2}', 1, "Expecting ','"),
        ('{"x": tru}', 1, "Expecting value"),
        ('{"x": 01}', 1, "Expecting ','"),
        ("{'x': 1}", 1, "property name"),
        ('{"x": "a\nb"}', 1, "control character"),
        ("[]", 1, "something else than an object"),
        ("{}\n{}", 2, "Extra data"),
        ('{\n"a": []}', 2, "'a' is no object"),
        ('{"x": ' + "9" * 5000 + "}", 1, "too long"),
        ("[" * 100_000, 1, "too deeply"),
    ],
)
def test_a_broken_text_is_told_with_its_line(text: str, line: int, why: str) -> None:
    with pytest.raises(Broken, match=why) as caught:
        merged(text, {"a": {"b": 1}})
    assert caught.value.line == line


GAPS = st.lists(
    st.sampled_from([" ", "\n", "\t", "\r\n", "// it's mine, {\n", '/* "not" } an entry, */', "/**/", "//\n"]),
    max_size=3,
).map("".join)
NAMES = st.sampled_from(["mcpServers", "agentd", "command", "args", "env", "A", "theme", 'a "b" \\ /', "//", "é"])
SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-5, 5)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(max_size=5)
)


@st.composite
def documents(draw: st.DrawFn, depth: int = 0, whole: bool = True) -> tuple[str, Any]:
    """A text of JSON with comments, and what it means."""
    kind = "object" if whole else draw(st.sampled_from(["object", "array", "scalar"] if depth < 4 else ["scalar"]))
    if kind == "scalar":
        value = draw(SCALARS)
        return json.dumps(value, ensure_ascii=draw(st.booleans())), value
    count = draw(st.integers(0, 3))
    inner = [draw(documents(depth + 1, False)) for _ in range(count)]
    comma = draw(st.sampled_from(["", ","])) if count else ""
    if kind == "array":
        parts = [draw(GAPS) + text + draw(GAPS) for text, _ in inner]
        return "[" + ",".join(parts) + comma + draw(GAPS) + "]", [value for _, value in inner]
    names = [draw(NAMES) for _ in inner]
    parts = [
        draw(GAPS) + json.dumps(name) + draw(GAPS) + ":" + draw(GAPS) + text + draw(GAPS)
        for name, (text, _) in zip(names, inner, strict=True)
    ]
    text = "{" + ",".join(parts) + comma + draw(GAPS) + "}"
    return text, {name: value for name, (_, value) in zip(names, inner, strict=True)}


def together(data: Any, wanted: Mapping[str, Any]) -> Any:
    """What the two mean together, or nothing where the one has something else in the place of the other."""
    result = dict(data)
    for name, value in wanted.items():
        if isinstance(value, dict) and name in result:
            if not isinstance(result[name], dict):
                raise TypeError
            result[name] = together(result[name], value)
        else:
            result[name] = value
    return result


def plain(text: str) -> Any:
    """What a text means, read by other means: comments and the commas after last entries taken out."""
    kept, at, string = "", 0, False
    while at < len(text):
        if string:
            step = 2 if text[at] == "\\" else 1
            string = text[at] != '"'
            kept += text[at : at + step]
        elif text.startswith(("//", "/*"), at):
            end = text.index("*/", at + 2) + 2 if text[at + 1] == "*" else (text + "\n").index("\n", at)
            step = end - at
        else:
            step = 1
            string = text[at] == '"'
            if text[at] in "}]" and kept.rstrip().endswith(","):
                kept = kept.rstrip()[:-1]
            kept += text[at]
        at += step
    return json.loads(kept)


def holds_in_order(text: str, parts: str) -> bool:
    """Whether a text still has every character of another, in the same order."""
    rest = iter(text)
    return all(character in rest for character in parts)


@given(documents(), GAPS, GAPS)
def test_everything_else_survives_and_the_entry_is_there(document: tuple[str, Any], before: str, after: str) -> None:
    text, data = before + document[0] + after, document[1]
    assert plain(text) == data
    try:
        meant = together(data, WANTED)
    except TypeError:
        with pytest.raises(Broken, match="is no object"):
            merged(text, WANTED)
        return
    result = merged(text, WANTED)
    assert json.dumps(plain(result)) == json.dumps(meant)
    assert merged(result, WANTED) == result
    if "agentd" not in (data.get("mcpServers") or {}):
        assert holds_in_order(result, text)
        assert len(result) > len(text)


@given(st.text(alphabet=st.sampled_from('{}[]":,/*\\ \n1tea-.'), max_size=30) | st.text(max_size=10))
def test_any_text_is_merged_or_called_broken(text: str) -> None:
    line, result = 0, ""
    try:
        result = merged(text, WANTED)
    except Broken as error:
        line = error.line
    if result:
        assert plain(result.removeprefix("\ufeff"))["mcpServers"]["agentd"] == json.loads(ENTRY)
        assert merged(result, WANTED) == result
    else:
        assert 1 <= line <= text.count("\n") + 1
