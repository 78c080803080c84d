"""What keeps a Python test from running or from counting: decorators, calls, module marks and early returns."""

import ast
import contextlib
from collections.abc import Iterator, Sequence

from agentd.proof.integrity.assertions import dotted, is_always, is_never
from agentd.proof.integrity.gathering import SPEAKS, Function
from agentd.proof.integrity.reading import Mark, line_of

_MARKS = {"skip", "skipif", "skipIf", "skipUnless", "xfail", "expectedFailure", "SkipTest"}
_CONDITIONAL = {"skipif", "skipIf", "skipUnless"}
_CALLS = {"skip", "xfail", "skipTest", "importorskip", "SkipTest", "Exception"}
RULE = "skipped_test"


def decorated(nodes: Sequence[ast.expr], lines: list[str], owner: str = "") -> Iterator[Mark]:
    """Marks in decorators, or in the value of `pytestmark`."""
    for node in nodes:
        called = {id(each.func): each for each in ast.walk(node) if isinstance(each, ast.Call)}
        for each in ast.walk(node):
            name = dotted(each).rpartition(".")[2] if isinstance(each, ast.Name | ast.Attribute) else ""
            if name in _MARKS and isinstance(each, ast.Name | ast.Attribute):
                yield _mark(name, called.get(id(each)), each.lineno, lines, owner)


def _mark(name: str, call: ast.Call | None, line: int, lines: list[str], owner: str) -> Mark:
    condition = call.args[0] if call and call.args and (name in _CONDITIONAL or name == "xfail") else None
    if call and condition is None and name in _CONDITIONAL | {"xfail"}:
        condition = next((each.value for each in call.keywords if each.arg == "condition"), None)
    said = f" where {ast.unparse(condition)}" if condition else ""
    what = "is expected to fail" if name in ("xfail", "expectedFailure") else "is skipped"
    holds = is_never if name == "skipUnless" else is_always
    sure = condition is None or holds(_meant(condition))
    return Mark(RULE, f"{what}{said}", line, line_of(lines, line), owner, sure)


def _meant(condition: ast.expr) -> ast.expr:
    """A condition; pytest takes the text of one too."""
    if isinstance(condition, ast.Constant) and isinstance(condition.value, str):
        with contextlib.suppress(SyntaxError, ValueError):
            return ast.parse(condition.value.strip(), mode="eval").body
    return condition


def called(function: Function, lines: list[str]) -> Iterator[Mark]:
    """Marks in the body of a test: it skips itself, or returns before it has claimed anything."""
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
                yield from decorated([value], lines, owner)
            elif name == "__test__" and isinstance(value, ast.Constant) and not value.value:
                yield Mark(RULE, "is not collected", node.lineno, line_of(lines, node.lineno), owner)
            elif name in ("collect_ignore", "collect_ignore_glob") and value is not None:
                what = f"is not collected ({ast.unparse(value)})"
                yield Mark(RULE, what, node.lineno, line_of(lines, node.lineno), owner or "what collect_ignore names")
        if isinstance(node, ast.Expr | ast.Raise | ast.If | ast.Try | ast.Assign):
            yield from (Mark(m.rule, m.what, m.line, m.quote, owner, m.sure) for m in _skips([node], lines, ""))


def _skips(body: Sequence[ast.stmt], lines: list[str], condition: str) -> Iterator[Mark]:
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        inner = [part for name in ("body", "orelse", "finalbody") for part in getattr(node, name, [])]
        inner += [part for handler in getattr(node, "handlers", []) for part in handler.body]
        inner += [part for case in getattr(node, "cases", []) for part in case.body]
        if inner:
            sure = isinstance(node, ast.With | ast.AsyncWith) or (isinstance(node, ast.If) and is_always(node.test))
            said = ast.unparse(node.test) if isinstance(node, ast.If) else "something"
            yield from _skips(inner, lines, condition or ("" if sure else said))
            continue
        for call in ast.walk(node):
            if isinstance(call, ast.Call) and _skipping(dotted(call)):
                unsure = "importorskip" in dotted(call)
                said = condition or (ast.unparse(call) if unsure else "")
                what = "skips itself" + (f" where {said}" if said else "")
                yield Mark(RULE, what, call.lineno, line_of(lines, call.lineno), "", not said)
            elif (
                isinstance(call, ast.Raise)
                and call.exc
                and dotted(call.exc).endswith("SkipTest")
                and isinstance(call.exc, ast.Name | ast.Attribute)
            ):
                what = "skips itself" + (f" where {condition}" if condition else "")
                yield Mark(RULE, what, call.lineno, line_of(lines, call.lineno), "", not condition)


def _skipping(name: str) -> bool:
    root, _, last = name.rpartition(".")
    if last not in _CALLS:
        return False
    if last in ("skipTest", "SkipTest", "importorskip"):
        return True
    if last == "Exception":
        return root in ("pytest.skip", "pytest.xfail")
    return root in ("pytest", "") and last in ("skip", "xfail")


def _returns(function: Function, lines: list[str]) -> Iterator[Mark]:
    """A return with something behind it, before the first claim."""
    for at, node in enumerate(function.body):
        rest = function.body[at + 1 :]
        if not rest or _claims(node):
            return
        if isinstance(node, ast.Return):
            yield Mark(RULE, "returns before it asserts anything", node.lineno, line_of(lines, node.lineno))
            return
        if isinstance(node, ast.If) and node.body and isinstance(node.body[-1], ast.Return) and not node.orelse:
            what = f"returns before it asserts anything, where {ast.unparse(node.test)}"
            yield Mark(RULE, what, node.lineno, line_of(lines, node.lineno), "", is_always(node.test))


def _claims(node: ast.stmt) -> bool:
    return any(
        isinstance(each, ast.Assert)
        or (
            isinstance(each, ast.Call)
            and bool(SPEAKS.match(dotted(each).rpartition(".")[2]) or "raises" in dotted(each))
        )
        for each in ast.walk(node)
    )


def narrows(function: Function) -> bool:
    """Whether a `load_tests` gives back something else than the tests it was given, and more of them."""
    given = [each.arg for each in function.args.args][1:2]
    inner = [node for part in function.body for node in ast.walk(part)]
    returned = [node.value for node in inner if isinstance(node, ast.Return)]
    if not given or not returned or any(not isinstance(each, ast.Name) or each.id not in given for each in returned):
        return True
    added = {
        id(node.func.value)
        for node in inner
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in ("addTest", "addTests")
    } | {id(each) for each in returned}
    return any(isinstance(node, ast.Name) and node.id in given and id(node) not in added for node in inner)
