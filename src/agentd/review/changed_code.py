"""What a change touched: lines of the files as they are now, and the names of the definitions around them.

Python is parsed; other languages are recognised by patterns and indentation.
"""

import ast
import re
from collections.abc import Collection, Iterator, Sequence
from difflib import SequenceMatcher

from agentd.model.evidence import Changed
from agentd.patterns import regex

NEAR = 20  # lines; code that is this close to a change counts as part of it
_LONGEST = 300  # characters of a line that are searched for a definition
_NAME = r"([A-Za-z_$][\w$]*)"
_MODIFIERS = (
    r"(?:(?:export|default|declare|async|public|private|protected|internal|static|final|abstract|sealed|open|override"
    r"|virtual|unsafe|inline|data|suspend|local|partial|readonly|pub(?:\([\w: ]*\))?|extern(?:\s+\"\w+\")?)\s+)*"
)
_DEFINED = regex(
    rf"\s*{_MODIFIERS}(?:(?:const\s+)?(?:fn|enum)|function\s*\*?|def|defp|defn|defmacro|defmodule|func|fun|sub|class"
    rf"|struct|interface|trait|type|protocol|record|object|module|namespace|union|macro_rules!)\s+"
    rf"(?:\([^)]*\)\s*|self\.)?{_NAME}"
)
_HELD = regex(
    rf"(?:#\s*define\s+|{_MODIFIERS}(?:let|var|val)\s+|{_MODIFIERS}(?:const\s+|(?<=static\s))(?:mut\s+)?(?=[\w$]+\s*[:=])"
    rf"|(?:module\.)?exports\.|(?=[A-Z]\w*\s*[:=])){_NAME}"
)
_TYPED = regex(rf"\s*((?:[\w<>\[\],.*&:?@]+\s+)*)[*&]*{_NAME}\s*\([^;()]*(?:\([^;()]*\)[^;()]*)*\)[^;()]*$")
_NO_NAMES = frozenset(
    ("await", "assert", "case", "catch", "do", "elif", "else", "except", "for", "foreach", "if", "lock", "match", "new")
    + ("not", "or", "and", "raise", "return", "switch", "throw", "try", "unless", "until", "using", "when", "while")
    + ("with", "yield", "function", "super", "this", "self", "constructor", "init", "main")
)
_NO_CODE = (".md", ".txt", ".rst", ".json", ".yaml", ".yml", ".toml", ".ini", ".cfg", ".lock", ".html", ".css", ".csv")


def numbered(text: str) -> list[str]:
    """The lines of a text, without an empty last one."""
    lines = text.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    return lines if lines[-1] else lines[:-1]


def changed_lines(change: Changed) -> tuple[range, ...]:
    """The lines of the new file that a change touched; a removal touches the line after it."""
    if change.new is None:
        return ()
    return _ranges(numbered(change.old or ""), numbered(change.new))


def names_changed(changed: Sequence[Changed]) -> frozenset[str]:
    """The names of functions, classes, methods and constants that a change touched or removed."""
    found: set[str] = set()
    for one in changed:
        old, new = numbered(one.old or ""), numbered(one.new or "")
        found.update(_names(one.path, new, _ranges(old, new) if one.new is not None else ()))
        found.update(_names(one.path, old, _ranges(new, old) if one.old is not None else ()))
    return frozenset(name for name in found if len(name) > 1 and not (name.startswith("__") and name.endswith("__")))


def uses(text: str, names: Collection[str]) -> str:
    """The names that occur in a text as words, separated by commas."""
    words = frozenset(re.findall(r"[\w$]+", text)) if names else frozenset()
    return ", ".join(sorted(words.intersection(names)))


def _ranges(old: Sequence[str], new: Sequence[str]) -> tuple[range, ...]:
    head = 0
    while head < min(len(old), len(new)) and old[head] == new[head]:
        head += 1
    tail = 0
    while tail < min(len(old), len(new)) - head and old[-1 - tail] == new[-1 - tail]:
        tail += 1
    blocks = SequenceMatcher(None, old[head : len(old) - tail], new[head : len(new) - tail]).get_opcodes()
    found = []
    for kind, _, _, start, end in blocks:
        if kind != "equal":
            first = head + start + 1
            found.append(range(first, head + end + 1) if end > start else _behind(first, len(new)))
    return tuple(found)


def _behind(line: int, size: int) -> range:
    """The line after a removal, or the last line."""
    line = max(min(line, size), 1)
    return range(line, line + 1)


def _names(path: str, lines: Sequence[str], ranges: Sequence[range]) -> Iterator[str]:
    if not ranges or path.lower().endswith(_NO_CODE):
        return
    touched = frozenset(number for one in ranges for number in one)
    if path.endswith((".py", ".pyi")):
        try:
            tree = ast.parse("\n".join(lines))
        except (SyntaxError, ValueError, RecursionError, MemoryError):
            pass
        else:
            yield from _in_python(tree, touched)
            return
    yield from _by_look(lines, touched)


def _in_python(tree: ast.Module, touched: Collection[int]) -> Iterator[str]:
    """The names of definitions with a touched line, except those inside functions."""
    todo: list[ast.AST] = [tree]
    while todo:
        for node in ast.iter_child_nodes(todo.pop()):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
                first = min([node.lineno, *(each.lineno for each in node.decorator_list)])
                if _touches(first, node.end_lineno, touched):
                    yield node.name
                if isinstance(node, ast.ClassDef):
                    todo.append(node)
            elif isinstance(node, ast.Assign | ast.AnnAssign | ast.AugAssign):
                named = [each for each in ast.walk(node) if isinstance(each, ast.Name)]
                if _touches(node.lineno, node.end_lineno, touched):
                    yield from (each.id for each in named if isinstance(each.ctx, ast.Store))
            elif isinstance(node, ast.If | ast.Try | ast.With | ast.For | ast.While | ast.ExceptHandler):
                todo.append(node)


def _touches(first: int, last: int | None, touched: Collection[int]) -> bool:
    return any(number in touched for number in range(first, (last or first) + 1))


def _by_look(lines: Sequence[str], touched: Collection[int]) -> Iterator[str]:
    """The names defined on touched lines, and of the definitions that enclose them by indentation."""
    within: list[tuple[int, str]] = []
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        line = line[:_LONGEST].expandtabs(4)
        indent = len(line) - len(line.lstrip())
        closing = line.lstrip()[0] in "{})]"
        while within and within[-1][0] >= indent + closing:
            within.pop()
        name = _defined(line, indent)
        if name:
            within.append((indent, name))
        if number in touched:
            yield from (known for _, known in within)


def _defined(line: str, indent: int) -> str:
    """The name that a line defines; empty if none."""
    found = _DEFINED.match(line) or (_HELD.match(line) if not indent else None)
    if found:
        return found[1]
    typed = _TYPED.match(line) if line.rstrip()[-1] in "{)" and line.split()[0] not in _NO_NAMES else None
    # A call looks the same, but has neither a type before it nor a body after it.
    return typed[2] if typed and typed[2] not in _NO_NAMES and (typed[1] or line.rstrip()[-1] == "{") else ""
