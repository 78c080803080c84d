"""What a Python assertion claims: about what, which answer, how exactly, and whether it can fail."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import replace

from agentd.proof.integrity.parsed import MANY, Claim
from agentd.proof.integrity.python_syntax import COMPARISONS, dotted, is_same, last_name, truth

BROAD = {"Exception", "BaseException"}
_FALSY = {"[]", "{}", "()", "''", "0", "0.0", "set()", "dict()", "list()", "tuple()", "False", "frozenset()", "b''"}
_TOLERANCES = {"rel", "abs", "rel_tol", "abs_tol", "rtol", "atol", "delta", "msec", "tolerance"}
_PRECISIONS = {"places", "decimal", "significant"}  # a larger number is stricter
Tolerances = tuple[tuple[str, float], ...]
Values = Mapping[str, ast.expr]


def claims_of(node: ast.expr, at: Claim, values: Values) -> Iterator[Claim]:
    """What `assert node` claims; `at` has its place."""
    if isinstance(node, ast.BoolOp) and isinstance(node.op, ast.And):
        for each in node.values:
            yield from claims_of(each, at, values)
    elif isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq | ast.Is):
        same = isinstance(node.ops[0], ast.Is)
        yield from equality(node.left, node.comparators[0], at, values, always=truth(node) is True, identity=same)
    else:
        yield replace(_single(node, at), always=truth(node) is True)


def equality(
    one: ast.expr, two: ast.expr, at: Claim, values: Values, always: bool = False, identity: bool = False
) -> Iterator[Claim]:
    """What `one == two` claims, or `one is two`; tuples are compared element by element."""
    sequence = ast.Tuple | ast.List
    if isinstance(one, sequence) and isinstance(two, sequence) and len(one.elts) == len(two.elts) > 1 and not always:
        for left, right in zip(one.elts, two.elts, strict=True):
            yield from equality(left, right, at, values)
        return
    if _is_answer(one) and not _is_answer(two):
        one, two = two, one
    answer = _without_approx(two)
    said = ast.unparse(values.get(answer.id, answer) if isinstance(answer, ast.Name) else answer)
    yield replace(
        at,
        subject=ast.unparse(_without_approx(one)),
        expected=f"== {'nothing' if said in _FALSY else said}",
        form=at.form or "==",
        rank=3,
        tolerances=tuple(sorted((*_approx(one), *_approx(two)))),
        always=always or is_same(one, two, calls=not identity),
        most=at.most * (len(one.elts) if isinstance(one, ast.Tuple) else 1),
    )


def tolerances_of(call: ast.Call) -> Tolerances:
    """The tolerances that a call is given by name; a larger number is looser."""
    named = {str(each.arg): each.value.value for each in call.keywords if isinstance(each.value, ast.Constant)}
    return tuple(
        (name, float(-value if name in _PRECISIONS else value))
        for name, value in sorted(named.items())
        if name in _TOLERANCES | _PRECISIONS and isinstance(value, int | float)
    )


def raised(call: ast.Call, at: Claim) -> Claim:
    """What `raises(…)` claims."""
    kind = call.args[0] if call.args else next((k.value for k in call.keywords if "exception" in (k.arg or "")), None)
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind] if kind else []
    names = [last_name(each) for each in kinds]
    words = {each.arg: each.value for each in call.keywords if each.arg in ("match", "check")}
    regex = words.get("match") or (call.args[1] if "Regex" in dotted(call) and len(call.args) > 1 else None)
    rank = 1.0 if not names or BROAD & set(names) else 2.0 if len(names) > 1 else 3.0
    said = f" {ast.unparse(regex)}" if regex else ""
    return replace(
        at,
        subject="raises",
        expected=f"raises {', '.join(sorted(names))}{said}",
        rank=rank + (0.5 if words or regex else 0),
        form=f"{last_name(call)}({', '.join(names)})",
    )


def _single(node: ast.expr, at: Claim) -> Claim:
    if isinstance(node, ast.NamedExpr):
        return _single(node.value, at)
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        return replace(at, subject=ast.unparse(node.operand), expected="== nothing", rank=3, form="not")
    if isinstance(node, ast.Compare):
        return _comparison(node, at)
    if isinstance(node, ast.BoolOp):
        parts = [_single(each, at) for each in node.values]
        return replace(parts[0], expected=ast.unparse(node), rank=min(each.rank for each in parts) - 0.5, form="or")
    if isinstance(node, ast.Call):
        return _predicate(node, at)
    return replace(at, subject=ast.unparse(node), expected="== True", rank=1, form=at.form or "assert")


def _comparison(node: ast.Compare, at: Claim) -> Claim:
    sign, rank, _ = COMPARISONS[type(node.ops[-1])]
    one, two = node.left, node.comparators[-1]
    if node.ops[1:]:
        one = ast.Compare(node.left, node.ops[:-1], node.comparators[:-1])
    elif isinstance(node.ops[0], ast.In | ast.NotIn) and not _is_answer(two):
        one, two = two, one  # what is looked for is the answer
    said, form = f"{sign} {ast.unparse(two)}", sign
    if said == "!= None":
        rank, form = 1, "is not None"
    return replace(at, subject=ast.unparse(one), expected=said, rank=rank, form=at.form or form)


def _predicate(node: ast.Call, at: Claim) -> Claim:
    name, inner = dotted(node), node.args[0] if node.args else None
    if name in ("all", "any") and isinstance(inner, ast.GeneratorExp | ast.ListComp):
        claim = next(claims_of(inner.elt, replace(at, most=MANY), {}))
        over = ", ".join(ast.unparse(each.iter) for each in inner.generators)
        return replace(claim, subject=f"{claim.subject} for {over}", rank=claim.rank if name == "all" else 2, form=name)
    bare = ast.Call(node.func, node.args, [k for k in node.keywords if k.arg not in _TOLERANCES | _PRECISIONS])
    return replace(
        at,
        subject=ast.unparse(bare),
        expected="== True",
        rank=1 if name in ("bool", "len", "callable") else 2,
        form=at.form or name,
        tolerances=tolerances_of(node),
    )


def _is_answer(node: ast.expr) -> bool:
    """Whether an expression looks like the expected value rather than the tested one."""
    if isinstance(node, ast.Name | ast.Attribute):
        name = last_name(node)
        return name.isupper() or name.startswith(("expect", "want"))
    if isinstance(node, ast.List | ast.Tuple | ast.Set):
        return all(map(_is_answer, node.elts))
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Dict) and all(map(_is_answer, node.values)))


def _without_approx(node: ast.expr) -> ast.expr:
    return node.args[0] if isinstance(node, ast.Call) and last_name(node) == "approx" and node.args else node


def _approx(node: ast.expr) -> Tolerances:
    """The tolerances of `approx(…)`, which takes the first without a name."""
    if not isinstance(node, ast.Call) or _without_approx(node) is node:
        return ()
    first = [each.value for each in node.args[1:2] if isinstance(each, ast.Constant)]
    return (*tolerances_of(node), *(("rel", float(value)) for value in first if isinstance(value, int | float)))
