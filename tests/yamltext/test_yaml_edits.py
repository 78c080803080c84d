"""Random texts and random edits: an edited text says the new data, and nothing else in it has changed."""

import copy
import random
from typing import Any

import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from agentd.text.lossless_yaml import Document, dump, parse
from agentd.text.lossless_yaml.read import read
from agentd.text.lossless_yaml.scalar import spell, spell_flow, spell_key

Path = tuple[Any, ...]

words = st.sampled_from(
    ["a", "b", "key", "on", "yes", "1", "1.5", "1:30", "~", "null", "<<", "=", "- x", "a: b", "x #y", "#", "", " ", "é",
     "2026-01-02", "2026-01-02T03:04:05Z", "it's", 'say "x"', "a,b", "[x", "{", "...", "---", "😀", "\ufeff", "\x7f", "x:",
     "?", "|", ">", "!", "&a", "*a", "%", "@", "`", "0x1", "0b1", "1e5", ".5", "-", "+1", "C:\\x", "\u2028", "\x85", "y"]
)  # fmt: skip
lines = st.lists(
    st.sampled_from(["", "one", "  two", "three ", "# four", "- five", "\tsix", "k: v"]), min_size=2, max_size=5
)
texts = words | lines.map("\n".join) | st.text(max_size=6)
scalars = st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | texts
values = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=4), max_leaves=12
)
documents = st.dictionaries(texts, values, min_size=1, max_size=6)
seeds = st.integers(0, 2**32)


class Writer:
    """Writes data as a person in a bad mood would, and remembers which comment and which line belongs where."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.of_container: list[tuple[str, Path]] = []
        self.of_entry: list[tuple[str, Path]] = []
        self.of_value: list[tuple[str, Path]] = []
        self.blank_lines_count = False
        self.count = 0

    def chance(self, percent: int) -> bool:
        return self.random.randrange(100) < percent

    def comment(self, owners: list[tuple[str, Path]], path: Path) -> str:
        self.count += 1
        owners.append((f"# comment <{self.count}>", path))
        return owners[-1][0]

    def document(self, data: dict[str, Any]) -> str:
        top = "# top\n" * self.chance(20) + "---\n" * self.chance(20)
        body = "\n".join(self.block(data, 2 * self.chance(10), ()))
        end = "\n" if self.blank_lines_count else self.random.choice(("\n", "\n", "\n\n# end\n", "\n...\n"))
        text = (top + body + end).replace("\n", "\r\n" if self.chance(20) else "\n")
        return "\ufeff" * self.chance(10) + text

    def block(self, data: Any, indent: int, path: Path) -> list[str]:
        found = []
        for key, value in data.items() if isinstance(data, dict) else enumerate(data):
            if self.chance(20):
                found += [""] * (not self.blank_lines_count and self.chance(40))
                found += [" " * self.random.choice((indent, 0)) + self.comment(self.of_container, path)]
            head = f"{self.key(str(key))}{' ' * self.chance(10)}:" if isinstance(data, dict) else "-"
            found += self.entry(" " * indent + head, value, indent, (*path, key))
        return found

    def key(self, key: str) -> str:
        return self.single(key) if self.chance(20) and key.isprintable() else spell_key(key)

    def entry(self, head: str, value: Any, indent: int, path: Path) -> list[str]:
        self.blank_lines_count = False
        in_map = not head.endswith("-")
        if not value or not isinstance(value, dict | list) or self.chance(25):
            return self.leaf(head, value, indent, path)
        if not in_map and self.chance(60):
            return self.compact(head, self.block(value, indent + self.random.randint(2, 4), path))
        note = "  " + self.comment(self.of_entry, path) if self.chance(20) else ""
        least = 0 if in_map and isinstance(value, list) else 1
        return [head + note, *self.block(value, indent + self.random.randint(least, 4), path)]

    def compact(self, head: str, found: list[str]) -> list[str]:
        first, *rest = found
        text = first.lstrip(" ")
        return (
            [head, *found] if text.startswith("#") or not text else [head.ljust(len(first) - len(text)) + text, *rest]
        )

    def leaf(self, head: str, value: Any, indent: int, path: Path) -> list[str]:
        literal = self.literal(value, indent) if isinstance(value, str) and self.chance(70) else []
        if literal:
            return [f"{head} {literal[0]}", *literal[1:]]
        written = self.written(value)
        gap = " " * self.random.randint(1, 3) if written else ""
        if written and self.chance(10):
            gap = f"  {self.comment(self.of_entry, path)}\n{' ' * (indent + 2)}"
        elif not isinstance(value, dict | list):
            self.of_value.append(((head + gap + written).strip(" -"), path))
        rest = " " + self.comment(self.of_entry, path) if self.chance(20) else " " * self.chance(5)
        below = (
            [" " * (indent + self.random.randint(1, 4)) + self.comment(self.of_entry, path)] if self.chance(10) else []
        )
        return [*(head + gap + written + rest).split("\n"), *below]

    def written(self, value: Any) -> str:
        if value is None and self.chance(50):
            return ""
        if isinstance(value, dict | list):
            return spell_flow(value)
        if isinstance(value, str) and value.isprintable() and self.chance(30):
            return self.single(value)
        return spell(value)

    def single(self, text: str) -> str:
        return "'" + text.replace("'", "''") + "'"

    def literal(self, text: str, indent: int) -> list[str]:
        body = text.rstrip("\n").split("\n")
        if "\n" not in text or not body[0] or body[0][0] in " \t" or not all(line.isprintable() for line in body):
            return []
        ends = len(text) - len(text.rstrip("\n"))
        pad = " " * (indent + self.random.randint(1, 4))
        content = [pad + line if line else "" for line in body]
        if ends > 1 or self.chance(20 * ends):
            self.blank_lines_count = True
            return ["|+", *content, *[""] * (ends - 1)]
        return ["|" if ends else "|-", *content, *[""] * self.chance(30)]


def change(data: Any, other: random.Random, pool: list[Any]) -> Any:
    """Data with some of its values changed, taken away or added."""
    roll = other.randrange(10)
    if roll == 0:
        return copy.deepcopy(other.choice(pool))
    if isinstance(data, dict):
        kept = {key: change(value, other, pool) for key, value in data.items() if other.randrange(6)}
        return kept | ({f"new {roll}": copy.deepcopy(other.choice(pool))} if roll < 4 else {})
    if isinstance(data, list):
        kept_items = [change(value, other, pool) for value in data[: len(data) - (roll == 1)]]
        return kept_items + [copy.deepcopy(other.choice(pool))] * (roll > 7)
    return data if roll < 7 else copy.deepcopy(other.choice(pool))


def at(data: Any, path: Path) -> Any:
    for key in path:
        data = data[key]
    return data


def has(data: Any, path: Path) -> bool:
    try:
        at(data, path)
    except (KeyError, IndexError, TypeError):
        return False
    return True


def edited_in_place(path: Path, old: Any, new: Any) -> bool:
    """Whether each collection on the way is still the same collection, with other entries."""
    ways = [path[:size] for size in range(len(path) + 1)]
    return all(has(new, way) and at(new, way) and type(at(new, way)) is type(at(old, way)) for way in ways)


def check(writer: Writer, old: Any, new: Any, text: str) -> None:
    for comment, path in writer.of_container:
        assert comment in text or not edited_in_place(path, old, new)
    for comment, path in writer.of_entry:
        assert comment in text or not (has(new, path) and edited_in_place(path[:-1], old, new))
    for line, path in writer.of_value:
        stays = has(new, path) and edited_in_place(path[:-1], old, new) and repr(at(new, path)) == repr(at(old, path))
        assert line in text or not stays


def pieces(document: Document) -> str:
    return document.before + document.root.text + document.after


@settings(max_examples=250)
@given(documents, st.lists(values, min_size=1, max_size=4), seeds)
def test_an_edit_changes_what_it_should_and_nothing_else(data: dict[str, Any], pool: list[Any], seed: int) -> None:
    writer = Writer(seed)
    text = writer.document(data)
    document = parse(text, "f")
    assert repr(document.data) == repr(data)
    assert pieces(document) == text
    assert document.updated(copy.deepcopy(data)).text == text
    other = random.Random(seed)
    now: Any = data
    for step in range(3):
        now = {key: change(value, other, pool) for key, value in now.items() if other.randrange(5)}
        now |= {f"top {step}": copy.deepcopy(pool[0])} if other.randrange(2) else {}
        document = document.updated(now)
        assert document.data == now
        assert parse(document.text, "f").data == now, document.text
        if step == 0:
            check(writer, data, now, document.text)


@settings(max_examples=100)
@given(documents)
def test_a_new_text_says_the_same_to_every_reader(data: dict[str, Any]) -> None:
    text = dump(data)
    assert repr(parse(text, "f").data) == repr(data)
    seen = yaml.safe_load(text)
    assert list(map(str, seen)) == [
        key if key != "2026-01-02T03:04:05Z" else "2026-01-02 03:04:05+00:00" for key in data
    ]


@settings(max_examples=100)
@given(documents, seeds)
def test_both_parsers_cut_a_text_into_the_same_pieces(data: dict[str, Any], seed: int) -> None:
    text = Writer(seed).document(data).removeprefix("\ufeff")
    assert repr(read(text, "f", yaml.SafeLoader)) == repr(read(text, "f"))


ODD = """\
%YAML 1.1
---   # top
plain: words that
  go on and
  # not here
'single': 'it''s

  folded'   # after single
"double" : "a \\
  b"# close
folded: >-   # header
   one
   two


   three
flow: {a: [1,  # inside
    2], "b":3,
   c}   # after flow
empty:      # nothing
tab:\tx\t# tabbed
deep:
      - - 1   # one
        -   # nested
            x: 1
            # under x

            y: |2
               indented
      # between
      -
      - k: v
        # about l
        l:
        - 1
        - 2
          # under 2
     # odd
   # trail of deep

# about keep
keep: |+
  kept


last: [  ]
...
# after the end
"""


def paths(data: Any, path: Path = ()) -> list[Path]:
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    return [way for key, value in items for way in [(*path, key), *paths(value, (*path, key))]]


def test_every_single_edit_of_an_odd_text_says_what_it_should() -> None:
    for text in (ODD, ODD.replace("\n", "\r\n"), ODD.replace("...\n# after the end\n", "")[:-1]):
        document = parse(text, "f")
        edits = 0
        for *way, key in paths(document.data):
            for value in (None, 5, "a\nb\n", {"x": {"y": "l1\nl2"}}, [["z"], []], {}, []):
                new = copy.deepcopy(document.data)
                at(new, tuple(way))[key] = value
                assert parse(document.updated(new).text, "f").data == new
            for more in ({"x": 1}, {"x": "l1\nl2\n", "y": []}):
                new = copy.deepcopy(document.data)
                place = at(new, (*way, key))
                if isinstance(place, dict | list):
                    place.update(more) if isinstance(place, dict) else place.extend([more, "end"])
                    assert parse(document.updated(new).text, "f").data == new
            new = copy.deepcopy(document.data)
            del at(new, tuple(way))[key]
            after = document.updated(new)
            assert parse(after.text, "f").data == new
            assert after.updated(document.data).data == document.data
            edits += 1
        assert edits > 20
