"""The claims of a Python function: its assertions, those that its helpers make for it, and which of them are swallowed."""

import ast
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from agentd.patterns import regex
from agentd.proof.integrity.parsed import MANY, Claim, line_of
from agentd.proof.integrity.python_assertions import BROAD, Values, claims_of, equality, raised, tolerances_of
from agentd.proof.integrity.python_syntax import Function, dotted, is_plain, last_name, truth
from agentd.values import dataclass

ASSERTS = regex(
    r"^_*(?i:assert|expect|verif(?:y|ies)|check(?:s|ed)?|validate|should|ensure|require|must|fails?)(?![a-z])"
    r"|^\w*_(?:assert|verify|check|expect)s?(?=_|$)"
)
_OWN = regex(r"^(self|cls)\.(?!(set|tear|skip|add|sub|enter|id$|do)[A-Z_\w]*)\w+$")
_EQUAL = regex(r"^assert_?(\w*_)?(\w*equals?|is|almost_?equals?|allclose|\w*_equal|\w*_almost_equal)$", re.I)
_RAISES = regex(
    r"^(raises(_\w+)?|assert_?[Rr]aises\w*|warns|assert_?[Ww]arns\w*|deprecated_call|RaisesGroup|RaisesExc)$"
)
_CATCHES_ASSERTIONS = BROAD | {"AssertionError"}
_RANKS = {
    **dict.fromkeys(("assert_called_with", "assert_called_once_with", "assert_awaited_once_with"), 3),
    "assert_not_called": 3,
    **dict.fromkeys(("assert_called", "assert_awaited", "assertIsNotNone", "assert_"), 1),
}


@dataclass(frozen=True)
class Scope:
    """What the claims of a function are read with.

    asserting   the functions of the file that assert, with how many claims each makes
    trusted     names from modules that help tests; what they do is unknown
    defined     every function of the file
    values      the values of names
    """

    lines: list[str]
    asserting: dict[str, int]
    trusted: frozenset[str]
    defined: frozenset[str]
    values: Values


def claims(function: Function, scope: Scope) -> tuple[Claim, ...]:
    """The claims of a function in their order, without those that cannot be reached."""
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
        yield from () if truth(node.test) is False else _walk(node.body, scope, at)
        yield from () if truth(node.test) is True else _walk(node.orelse, scope, at)
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
    whole, name = dotted(call), last_name(call)
    at = replace(at, form=name)
    inherited = bool(_OWN.match(whole)) and name not in scope.defined  # by a class of another file, which may assert
    if _RAISES.match(name):
        yield raised(call, at)
    elif _EQUAL.match(name) and len(call.args) >= 2 and "not" not in name.lower():
        same = name in ("assertIs", "assert_is")
        for claim in equality(call.args[0], call.args[1], at, scope.values, identity=same):
            yield replace(claim, tolerances=tuple(sorted((*claim.tolerances, *tolerances_of(call)))))
    elif name in ("assertTrue", "assert_", "assert_true", "ok_") and call.args:
        yield from claims_of(call.args[0], at, scope.values)
    elif name in ("assertFalse", "assert_false") and call.args:
        yield from claims_of(ast.UnaryOp(ast.Not(), call.args[0]), at, scope.values)
    elif name in ("assertIsNone", "assert_is_none") and call.args:
        yield from equality(call.args[0], ast.Constant(None), at, scope.values)
    elif name in scope.asserting and whole.rpartition(".")[0] in ("", "self", "cls"):
        most = max(at.most, scope.asserting[name])
        yield replace(at, subject=ast.unparse(call), expected="", most=most, called=True)
    elif ASSERTS.match(name) or whole.partition(".")[0] in scope.trusted or inherited:
        yield _by_name(call, name, at)


def _by_name(call: ast.Call, name: str, at: Claim) -> Claim:
    """What a call claims of which only the name is known."""
    helper = not name.startswith("assert") and name != "fail"
    parts = [ast.unparse(each) for each in call.args]
    subject = f"{dotted(call).rpartition('.')[0]} {name} {parts[0] if parts else ''}"
    if parts and re.match("assert(?!_)", name) and name not in _RANKS:
        subject = parts[0]
    return replace(
        at,
        subject=subject,
        expected=f"{name} {', '.join([*parts[1:], *(ast.unparse(each) for each in call.keywords)])}",
        rank=float(_RANKS.get(name, 3 if helper else 2)),
        called=helper,
        always=name == "assertIsNotNone" and bool(call.args) and isinstance(call.args[0], ast.Constant),
        least=at.least if ASSERTS.match(name) else 0,  # a helper of another file may only prepare something
        most=MANY if helper else at.most,
    )


def _assigned_once(function: Function) -> dict[str, ast.expr]:
    """The names that have one literal value throughout the function."""
    names = (node for node in ast.walk(function) if isinstance(node, ast.Name))
    stored = Counter(node.id for node in names if isinstance(node.ctx, ast.Store))
    return {
        node.targets[0].id: node.value
        for node in ast.walk(function)
        if isinstance(node, ast.Assign)
        and len(node.targets) == 1
        and isinstance(node.targets[0], ast.Name)
        and stored[node.targets[0].id] == 1
        and is_plain(node.value)
    }


def _swallows(handler: ast.ExceptHandler) -> bool:
    """Whether a failed assertion ends here: the handler catches it and neither raises nor asserts."""
    kinds = handler.type.elts if isinstance(handler.type, ast.Tuple) else [handler.type] if handler.type else []
    if kinds and not any(last_name(kind) in _CATCHES_ASSERTIONS for kind in kinds):
        return False
    inner = [node for part in handler.body for node in ast.walk(part)]
    return not any(
        isinstance(node, ast.Raise | ast.Assert) or (isinstance(node, ast.Call) and ASSERTS.match(last_name(node)))
        for node in inner
    )


def _suppresses(node: ast.expr) -> bool:
    return (
        isinstance(node, ast.Call)
        and last_name(node) == "suppress"
        and any(last_name(each) in _CATCHES_ASSERTIONS for each in node.args)
    )


def _times(node: ast.expr) -> int | None:
    """How often a loop runs, if its source says so."""
    if isinstance(node, ast.List | ast.Tuple | ast.Set) and not any(isinstance(e, ast.Starred) for e in node.elts):
        return len(node.elts)
    if isinstance(node, ast.Call) and dotted(node) == "range" and len(node.args) == 1:
        count = node.args[0]
        return count.value if isinstance(count, ast.Constant) and isinstance(count.value, int) else None
    return None
