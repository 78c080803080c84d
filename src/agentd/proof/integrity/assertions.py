"""What a Python assertion claims: about what, which answer, how exactly, and whether it could fail at all."""

import ast
import contextlib
import operator
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from agentd.proof.integrity.reading import MANY, Claim

BROAD = {"Exception", "BaseException"}
_FALSY = {"[]", "{}", "()", "''", "0", "0.0", "set()", "dict()", "list()", "tuple()", "False", "frozenset()", "b''"}
_OPERATORS: Mapping[type[ast.cmpop], tuple[str, float]] = {
    ast.Eq: ("==", 3),
    ast.Is: ("==", 3),
    ast.NotEq: ("!=", 2),
    ast.IsNot: ("!=", 2),
    ast.Lt: ("<", 2),
    ast.LtE: ("<=", 2),
    ast.Gt: (">", 2),
    ast.GtE: (">=", 2),
    ast.In: ("in", 2),
    ast.NotIn: ("not in", 2),
}
_EVALUATED: Mapping[type[ast.cmpop], Callable[[Any, Any], object]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.eq,
    ast.IsNot: operator.ne,
    ast.In: lambda one, many: one in many,
    ast.NotIn: lambda one, many: one not in many,
}
_SLACK = {"rel", "abs", "rel_tol", "abs_tol", "rtol", "atol", "delta", "msec", "tolerance"}
_FINE = {"places", "decimal", "significant"}  # more of these is stricter
_MAKES = re.compile(
    r"_*[A-Z]|\?|(from|make|create|new)(_|$)|(next|pop|popleft|popitem|read|readline|recv|now|random|time)$"
)
Values = Mapping[str, ast.expr]


def dotted(node: ast.AST) -> str:
    """A name with its dots, `?` for whatever is no name."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return dotted(node.func) if isinstance(node, ast.Call) else "?"


def claims_of(node: ast.expr, at: Claim, values: Values) -> Iterator[Claim]:
    """What `assert node` claims; `at` has its place."""
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        for each in node.values:
            yield from claims_of(each, at, values)
    elif isinstance(node, ast.Compare) and len(node.ops) == 1 and type(node.ops[0]) in (ast.Eq, ast.Is):
        same = isinstance(node.ops[0], ast.Is)
        yield from equality(node.left, node.comparators[0], at, values, always=is_always(node), identity=same)
    else:
        yield replace(_single(node, at), always=is_always(node))


def equality(
    one: ast.expr, two: ast.expr, at: Claim, values: Values, always: bool = False, identity: bool = False
) -> Iterator[Claim]:
    """What `one == two` claims, or `one is two`; a tuple is compared part by part."""
    both = isinstance(one, ast.Tuple | ast.List) and isinstance(two, ast.Tuple | ast.List)
    if both and len(one.elts) == len(two.elts) > 1 and not always:  # type: ignore[attr-defined]
        for left, right in zip(one.elts, two.elts, strict=True):  # type: ignore[attr-defined]
            yield from equality(left, right, at, values)
        return
    if _answers(one) and not _answers(two):
        one, two = two, one
    slack = tuple(sorted((*_slack(one), *_slack(two))))
    answer = _text(_unwrapped(two), values)
    answer = "nothing" if answer in _FALSY else answer
    parts = len(one.elts) if isinstance(one, ast.Tuple) else 1
    yield replace(
        at,
        subject=_text(_unwrapped(one), {}),
        expected=f"== {answer}",
        form=at.form or "==",
        rank=3,
        slack=slack,
        always=always or _same(one, two, calls=not identity),
        most=at.most * parts,
    )


def is_always(node: ast.expr) -> bool:
    """Whether an expression is true whatever the program does."""
    if isinstance(node, ast.BoolOp):
        test = any if isinstance(node.op, ast.Or) else all
        return test(is_always(each) for each in node.values)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return is_never(node.operand)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return _compares_always(node.left, node.ops[0], node.comparators[0])
    if isinstance(node, ast.Tuple):
        return bool(node.elts)
    return isinstance(node, ast.Constant | ast.Lambda | ast.JoinedStr) and bool(getattr(node, "value", True))


def is_never(node: ast.expr) -> bool:
    """Whether an expression is false whatever the program does."""
    if isinstance(node, ast.BoolOp):
        test = any if isinstance(node.op, ast.And) else all
        return test(is_never(each) for each in node.values)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return is_always(node.operand)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        with contextlib.suppress(Exception):  # whatever is no literal, or cannot be compared
            one, two = ast.literal_eval(node.left), ast.literal_eval(node.comparators[0])
            return not _EVALUATED[type(node.ops[0])](one, two)
        return False
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return not node.elts
    return isinstance(node, ast.Constant) and not node.value


def slack_of(call: ast.Call) -> tuple[tuple[str, float], ...]:
    """The tolerances that a call grants by name; a larger number is looser."""
    found = []
    for each in call.keywords:
        value = each.value
        if each.arg in _SLACK | _FINE and isinstance(value, ast.Constant) and isinstance(value.value, int | float):
            found.append((str(each.arg), float(-value.value if each.arg in _FINE else value.value)))
    return tuple(sorted(found))


def raised(call: ast.Call, at: Claim) -> Claim:
    """What `raises(…)` claims."""
    kind = call.args[0] if call.args else next((k.value for k in call.keywords if "exception" in (k.arg or "")), None)
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind] if kind else []
    names = [dotted(each).rpartition(".")[2] for each in kinds]
    words = {each.arg: each.value for each in call.keywords if each.arg in ("match", "check")}
    regex = words.get("match") or (call.args[1] if "Regex" in dotted(call) and len(call.args) > 1 else None)
    rank = 1.0 if not names or BROAD & set(names) else 2.0 if len(names) > 1 else 3.0
    said = f" {ast.unparse(regex)}" if regex else ""
    return replace(
        at,
        subject="raises",
        expected=f"raises {', '.join(sorted(names))}{said}",
        rank=rank + (0.5 if words or regex else 0),
        form=f"{dotted(call).rpartition('.')[2]}({', '.join(names)})",
    )


def _single(node: ast.expr, at: Claim) -> Claim:
    if isinstance(node, ast.NamedExpr):
        return _single(node.value, at)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return replace(at, subject=_text(node.operand, {}), expected="== nothing", rank=3, form="not")
    if isinstance(node, ast.Compare):
        return _comparison(node, at)
    if isinstance(node, ast.BoolOp):
        parts = [_single(each, at) for each in node.values]
        return replace(parts[0], expected=_text(node, {}), rank=min(each.rank for each in parts) - 0.5, form="or")
    if isinstance(node, ast.Call):
        return _predicate(node, at)
    return replace(at, subject=_text(node, {}), expected="== True", rank=1, form=at.form or "assert")


def _comparison(node: ast.Compare, at: Claim) -> Claim:
    sign, rank = _OPERATORS[type(node.ops[-1])]
    one, two = node.left, node.comparators[-1]
    if node.ops[1:]:
        one = ast.Compare(node.left, node.ops[:-1], node.comparators[:-1])
    elif isinstance(node.ops[0], ast.In | ast.NotIn) and not _answers(two):
        one, two = two, one  # what is looked for is the answer
    answer = ast.unparse(two)
    if (sign, answer) == ("!=", "None"):
        return replace(at, subject=_text(one, {}), expected="!= None", rank=1, form=at.form or "is not None")
    return replace(at, subject=_text(one, {}), expected=f"{sign} {answer}", rank=rank, form=at.form or sign)


def _predicate(node: ast.Call, at: Claim) -> Claim:
    name, inner = dotted(node), node.args[0] if node.args else None
    if name in ("all", "any") and isinstance(inner, ast.GeneratorExp | ast.ListComp):
        claim = next(claims_of(inner.elt, replace(at, most=MANY), {}))
        over = ", ".join(ast.unparse(each.iter) for each in inner.generators)
        return replace(claim, subject=f"{claim.subject} for {over}", rank=claim.rank if name == "all" else 2, form=name)
    rank = 1 if name in ("bool", "len", "callable") else 2
    slack = slack_of(node)
    bare = ast.Call(node.func, node.args, [each for each in node.keywords if each.arg not in _SLACK | _FINE])
    return replace(at, subject=ast.unparse(bare), expected="== True", rank=rank, form=at.form or name, slack=slack)


def _compares_always(one: ast.expr, sign: ast.cmpop, two: ast.expr) -> bool:
    if isinstance(sign, ast.Eq | ast.Is | ast.LtE | ast.GtE) and _same(one, two, calls=isinstance(sign, ast.Eq)):
        return True
    if isinstance(sign, ast.GtE) and dotted(one) == "len" and ast.unparse(two) == "0":
        return True
    if isinstance(sign, ast.IsNot) and ast.unparse(two) == "None":
        return isinstance(one, ast.Constant) and one.value is not None
    with contextlib.suppress(Exception):  # whatever is no literal, or cannot be compared
        return bool(_EVALUATED[type(sign)](ast.literal_eval(one), ast.literal_eval(two)))
    return False


def _same(one: ast.expr, two: ast.expr, calls: bool) -> bool:
    """Whether both sides are the same words; with `calls` also where they call something.

    What makes an object is compared to prove that equal ones are equal, and some calls give something else each time.
    """
    if ast.dump(one) != ast.dump(two):
        return False
    parts = list(ast.walk(one))
    if all(isinstance(each, ast.Name | ast.Attribute | ast.Constant | ast.expr_context) for each in parts):
        return True
    names = [dotted(each).rpartition(".")[2] for each in parts if isinstance(each, ast.Call)]
    return calls and bool(names) and not any(_MAKES.match(name) for name in names)


def _answers(node: ast.expr) -> bool:
    """Whether an expression looks like the answer rather than the question."""
    if isinstance(node, ast.Name | ast.Attribute):
        name = dotted(node).rpartition(".")[2]
        return name.isupper() or name.startswith(("expect", "want"))
    if isinstance(node, ast.Constant):
        return True
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return all(_answers(each) for each in node.elts)
    return isinstance(node, ast.Dict) and all(_answers(each) for each in node.values)


def _unwrapped(node: ast.expr) -> ast.expr:
    near = isinstance(node, ast.Call) and dotted(node).rpartition(".")[2] == "approx" and node.args
    return node.args[0] if near else node  # type: ignore[attr-defined]


def _slack(node: ast.expr) -> tuple[tuple[str, float], ...]:
    if not isinstance(node, ast.Call) or _unwrapped(node) is node:
        return ()
    rel = node.args[1] if len(node.args) > 1 else None
    first = isinstance(rel, ast.Constant) and isinstance(rel.value, int | float)
    return (*slack_of(node), *((("rel", float(rel.value)),) if first else ()))  # type: ignore[union-attr]


def _text(node: ast.expr, values: Values) -> str:
    if isinstance(node, ast.Name) and node.id in values:
        return ast.unparse(values[node.id])
    return ast.unparse(node)
