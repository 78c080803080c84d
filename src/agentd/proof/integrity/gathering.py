"""Finds the assertions of a Python function, also those it leaves to others, and says which of them are swallowed."""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from agentd.proof.integrity.assertions import (
    BROAD,
    Values,
    claims_of,
    dotted,
    equality,
    is_always,
    is_never,
    raised,
    slack_of,
)
from agentd.proof.integrity.reading import MANY, Claim, line_of

Function = ast.FunctionDef | ast.AsyncFunctionDef
SPEAKS = re.compile(
    r"^_*(?i:assert|expect|verif(?:y|ies)|check(?:s|ed)?|validate|should|ensure|require|must|fails?)(?![a-z])"
    r"|^\w*_(?:assert|verify|check|expect)s?(?=_|$)"
)
_OWN = re.compile(r"^(self|cls)\.(?!(set|tear|skip|add|sub|enter|id$|do)[A-Z_\w]*)\w+$")
_EQUAL = re.compile(r"^assert_?(\w*_)?(\w*equals?|is|almost_?equals?|allclose|\w*_equal|\w*_almost_equal)$", re.I)
_RAISES = re.compile(
    r"^(raises(_\w+)?|assert_?[Rr]aises\w*|warns|assert_?[Ww]arns\w*|deprecated_call|RaisesGroup|RaisesExc)$"
)
_TAKES_ALL = BROAD | {"AssertionError"}
_RANKS = {
    "assert_called_with": 3,
    "assert_called_once_with": 3,
    "assert_awaited_once_with": 3,
    "assert_not_called": 3,
    "assert_called": 1,
    "assert_awaited": 1,
    "assertIsNotNone": 1,
    "assert_": 1,
}


@dataclass(frozen=True)
class Scope:
    """What a function's claims are read with: the file's lines, names that assert, and values of names."""

    lines: list[str]
    asserting: dict[str, int]
    trusted: frozenset[str]
    defined: frozenset[str]
    values: Values


def gather(function: Function, scope: Scope) -> tuple[Claim, ...]:
    """The claims of a function in their order; whatever stands behind its last `return` is not among them."""
    own = _assigned_once(function)
    return tuple(_walk(function.body, replace(scope, values={**scope.values, **own}), Claim(0, "", "", "")))


def _walk(body: Sequence[ast.stmt], scope: Scope, at: Claim) -> Iterator[Claim]:
    for node in body:
        here = replace(at, line=node.lineno, quote=line_of(scope.lines, node.lineno))
        yield from _statement(node, scope, here)
        if isinstance(node, ast.Return | ast.Continue | ast.Break | ast.Raise):
            return


def _statement(node: ast.stmt, scope: Scope, at: Claim) -> Iterator[Claim]:
    if isinstance(node, ast.Assert):
        yield from claims_of(node.test, at, scope.values)
        yield from _calls(node.test, scope, at)
    elif isinstance(node, ast.Try | ast.TryStar):
        yield from _walk(node.body, scope, replace(at, swallowed=at.swallowed or any(map(_swallows, node.handlers))))
        for part in (*(handler.body for handler in node.handlers), node.orelse, node.finalbody):
            yield from _walk(part, scope, at)
    elif isinstance(node, ast.With | ast.AsyncWith):
        for item in node.items:
            yield from _calls(item.context_expr, scope, at)
        gone = any(_suppresses(item.context_expr) for item in node.items)
        yield from _walk(node.body, scope, replace(at, swallowed=at.swallowed or gone))
    elif isinstance(node, ast.For | ast.AsyncFor | ast.While):
        times = _times(node.iter) if not isinstance(node, ast.While) else None
        often = replace(at, least=at.least * (times or 1), most=at.most * (MANY if times is None else times))
        yield from _walk(node.body, scope, often)
        yield from _walk(node.orelse, scope, at)
    elif isinstance(node, ast.If):
        yield from () if is_never(node.test) else _walk(node.body, scope, at)
        yield from () if is_always(node.test) else _walk(node.orelse, scope, at)
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        yield from _walk(node.body, scope, at)
    elif isinstance(node, ast.Match):
        for case in node.cases:
            yield from _walk(case.body, scope, at)
    elif isinstance(node, ast.Raise) and node.exc and dotted(node.exc) == "AssertionError":
        yield replace(at, subject=ast.unparse(node), expected="never", rank=2, form="raise AssertionError")
    else:
        yield from _calls(node, scope, at)


def _calls(node: ast.AST, scope: Scope, at: Claim) -> Iterator[Claim]:
    for call in ast.walk(node):
        if isinstance(call, ast.Call):
            yield from _call(call, scope, at)


def _call(call: ast.Call, scope: Scope, at: Claim) -> Iterator[Claim]:
    name = dotted(call).rpartition(".")[2]
    at = replace(at, form=name)
    if _RAISES.match(name):
        yield raised(call, at)
    elif _EQUAL.match(name) and len(call.args) >= 2 and "not" not in name.lower():
        same = name in ("assertIs", "assert_is")
        for claim in equality(call.args[0], call.args[1], at, scope.values, identity=same):
            yield replace(claim, slack=tuple(sorted((*claim.slack, *slack_of(call)))))
    elif name in ("assertTrue", "assert_", "assert_true", "ok_") and call.args:
        yield from claims_of(call.args[0], at, scope.values)
    elif name in ("assertFalse", "assert_false") and call.args:
        yield from claims_of(ast.UnaryOp(ast.Not(), call.args[0]), at, scope.values)
    elif name in ("assertIsNone", "assert_is_none") and call.args:
        yield from equality(call.args[0], ast.Constant(None), at, scope.values)
    elif name in scope.asserting and dotted(call).rpartition(".")[0] in ("", "self", "cls"):
        most = max(at.most, scope.asserting[name])
        yield replace(at, subject=ast.unparse(call), expected="", most=most, called=True)
    elif SPEAKS.match(name) or dotted(call).partition(".")[0] in scope.trusted or _inherited(dotted(call), name, scope):
        yield _spoken(call, name, at)


def _spoken(call: ast.Call, name: str, at: Claim) -> Claim:
    helper = not name.startswith(("assert_", "assert")) and name != "fail"
    always = name in ("assertIsNotNone",) and bool(call.args) and isinstance(call.args[0], ast.Constant)
    parts = [ast.unparse(each) for each in call.args]
    subject = f"{dotted(call).rpartition('.')[0]} {name} {parts[0] if parts else ''}"
    expected = f"{name} {', '.join([*parts[1:], *(ast.unparse(each) for each in call.keywords)])}"
    if name.startswith("assert") and len(parts) and name not in _RANKS and not name.startswith("assert_"):
        subject = parts[0]
    rank = float(_RANKS.get(name, 3 if helper else 2))
    least = at.least if SPEAKS.match(name) else 0  # it comes from a module that serves tests, and may only prepare
    often = MANY if helper else at.most
    return replace(
        at, subject=subject, expected=expected, rank=rank, called=helper, always=always, least=least, most=often
    )


def _inherited(whole: str, name: str, scope: Scope) -> bool:
    """Whether a method comes from a class of another file, where it may well assert."""
    return bool(_OWN.match(whole)) and name not in scope.defined


def _assigned_once(function: Function) -> dict[str, ast.expr]:
    """Plain values that names have throughout the function."""
    found: dict[str, list[ast.expr | None]] = {}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.setdefault(node.id, []).append(None)
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            found.setdefault(node.targets[0].id, []).append(node.value)
    once = {name: [each for each in values if each] for name, values in found.items() if len(values) == 2}
    return {name: values[0] for name, values in once.items() if values and is_plain(values[0])}


def is_plain(node: ast.expr) -> bool:
    """Whether an expression is a value written out."""
    return all(
        isinstance(
            each,
            ast.Constant | ast.List | ast.Tuple | ast.Dict | ast.Set | ast.UnaryOp | ast.unaryop | ast.expr_context,
        )
        for each in ast.walk(node)
    )


def _swallows(handler: ast.ExceptHandler) -> bool:
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type] if handler.type else []
    takes = not kinds or any(dotted(kind).rpartition(".")[2] in _TAKES_ALL for kind in kinds)
    speaks = any(
        isinstance(node, ast.Raise | ast.Assert)
        or (isinstance(node, ast.Call) and SPEAKS.match(dotted(node).rpartition(".")[2]))
        for part in handler.body
        for node in ast.walk(part)
    )
    return takes and not speaks


def _suppresses(node: ast.expr) -> bool:
    if not isinstance(node, ast.Call) or dotted(node).rpartition(".")[2] != "suppress":
        return False
    return any(dotted(each).rpartition(".")[2] in _TAKES_ALL for each in node.args)


def _times(node: ast.expr) -> int | None:
    if isinstance(node, ast.List | ast.Tuple | ast.Set) and not any(isinstance(e, ast.Starred) for e in node.elts):
        return len(node.elts)
    if isinstance(node, ast.Call) and dotted(node) == "range" and len(node.args) == 1:
        count = node.args[0]
        return count.value if isinstance(count, ast.Constant) and isinstance(count.value, int) else None
    return None
