"""What keeps a Python test from running: decorators, calls, module marks and early returns."""

import ast
import contextlib
from collections.abc import Iterator, Sequence
from dataclasses import replace

from agentd.proof.integrity.parsed import Mark, mark
from agentd.proof.integrity.python_claims import ASSERTS
from agentd.proof.integrity.python_syntax import Function, dotted, last_name, truth
from agentd.proof.integrity.rules import SKIPPED

_CONDITIONAL = {"skipif", "skipIf", "skipUnless", "xfail"}
_MARKS = {*_CONDITIONAL, "skip", "expectedFailure", "SkipTest"}
_CALLS = {"skip", "xfail", "pytest.skip", "pytest.xfail", "pytest.skip.Exception", "pytest.xfail.Exception"}


def decorator_marks(nodes: Sequence[ast.expr], lines: list[str], owner: str = "") -> Iterator[Mark]:
    """Marks in decorators, or in the value of `pytestmark`."""
    for node in nodes:
        calls = {id(each.func): each for each in ast.walk(node) if isinstance(each, ast.Call)}
        for each in ast.walk(node):
            if isinstance(each, ast.Name | ast.Attribute) and last_name(each) in _MARKS:
                yield _decorator(last_name(each), calls.get(id(each)), each.lineno, lines, owner)


def _decorator(name: str, call: ast.Call | None, line: int, lines: list[str], owner: str) -> Mark:
    condition = None
    if call and name in _CONDITIONAL:
        named = (each.value for each in call.keywords if each.arg == "condition")
        condition = call.args[0] if call.args else next(named, None)
    said = f" where {ast.unparse(condition)}" if condition else ""
    what = "is expected to fail" if name in ("xfail", "expectedFailure") else "is skipped"
    sure = condition is None or truth(_parsed(condition)) is (name != "skipUnless")
    return mark(lines, line, SKIPPED, f"{what}{said}", owner, sure)


def _parsed(condition: ast.expr) -> ast.expr:
    """A condition; pytest accepts its source text too."""
    if isinstance(condition, ast.Constant) and isinstance(condition.value, str):
        with contextlib.suppress(SyntaxError, ValueError):
            return ast.parse(condition.value.strip(), mode="eval").body
    return condition


def body_marks(function: Function, lines: list[str]) -> Iterator[Mark]:
    """Marks in the body of a test: it skips itself, or returns before it asserts anything."""
    yield from _skips(function.body, lines, "")
    yield from _returns(function, lines)


def module_marks(body: Sequence[ast.stmt], lines: list[str], owner: str) -> Iterator[Mark]:
    """Marks of a whole file or class."""
    for node in body:
        targets = (
            node.targets if isinstance(node, ast.Assign) else [node.target] if isinstance(node, ast.AnnAssign) else []
        )
        value = getattr(node, "value", None)
        for name in (target.id for target in targets if isinstance(target, ast.Name)):
            if name == "pytestmark" and value is not None:
                yield from decorator_marks([value], lines, owner)
            elif name == "__test__" and isinstance(value, ast.Constant) and not value.value:
                yield mark(lines, node.lineno, SKIPPED, "is not collected", owner)
            elif name in ("collect_ignore", "collect_ignore_glob") and value is not None:
                what = f"is not collected ({ast.unparse(value)})"
                yield mark(lines, node.lineno, SKIPPED, what, owner or "what collect_ignore names")
        if isinstance(node, ast.Expr | ast.Raise | ast.If | ast.Try | ast.Assign):
            yield from (replace(each, owner=owner) for each in _skips([node], lines, ""))


def _skips(body: Sequence[ast.stmt], lines: list[str], condition: str) -> Iterator[Mark]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        inner = [part for name in ("body", "orelse", "finalbody") for part in getattr(node, name, [])]
        inner += [part for name in ("handlers", "cases") for each in getattr(node, name, []) for part in each.body]
        if inner:
            sure = isinstance(node, ast.With | ast.AsyncWith) or (isinstance(node, ast.If) and truth(node.test) is True)
            said = ast.unparse(node.test) if isinstance(node, ast.If) else "something"
            yield from _skips(inner, lines, condition or ("" if sure else said))
            continue
        for each in ast.walk(node):
            if isinstance(each, ast.Raise | ast.Call) and _is_skip(each):
                said = condition or (ast.unparse(each) if "importorskip" in dotted(each) else "")
                what = "skips itself" + (f" where {said}" if said else "")
                yield mark(lines, each.lineno, SKIPPED, what, sure=not said)


def _is_skip(node: ast.Raise | ast.Call) -> bool:
    if isinstance(node, ast.Raise):
        return isinstance(node.exc, ast.Name | ast.Attribute) and dotted(node.exc).endswith("SkipTest")
    return dotted(node) in _CALLS or last_name(node) in ("skipTest", "SkipTest", "importorskip")


def _returns(function: Function, lines: list[str]) -> Iterator[Mark]:
    """A return before the first assertion, with something after it."""
    for at, node in enumerate(function.body):
        if not function.body[at + 1 :] or _asserts(node):
            return
        if isinstance(node, ast.Return):
            yield mark(lines, node.lineno, SKIPPED, "returns before it asserts anything")
            return
        if isinstance(node, ast.If) and node.body and isinstance(node.body[-1], ast.Return) and not node.orelse:
            what = f"returns before it asserts anything, where {ast.unparse(node.test)}"
            yield mark(lines, node.lineno, SKIPPED, what, sure=truth(node.test) is True)


def _asserts(node: ast.stmt) -> bool:
    return any(
        isinstance(each, ast.Assert)
        or (isinstance(each, ast.Call) and (ASSERTS.match(last_name(each)) or "raises" in dotted(each)))
        for each in ast.walk(node)
    )


def narrows(function: Function) -> bool:
    """Whether a `load_tests` does anything but add to the tests it is given."""
    given = [each.arg for each in function.args.args][1:2]
    inner = [node for part in function.body for node in ast.walk(part)]
    returned = [node.value for node in inner if isinstance(node, ast.Return)]
    if not given or not returned or any(not isinstance(each, ast.Name) or each.id not in given for each in returned):
        return True
    allowed = {id(each) for each in returned} | {
        id(node.func.value)
        for node in inner
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("addTest", "addTests")
    }
    return any(isinstance(node, ast.Name) and node.id in given and id(node) not in allowed for node in inner)
