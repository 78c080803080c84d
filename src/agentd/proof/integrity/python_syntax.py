"""Questions about a Python syntax tree: what a name refers to, and which expressions have the same value in every run."""

import ast
import contextlib
import operator
import warnings
from collections.abc import Callable, Mapping
from typing import Any

from agentd.patterns import regex

Function = ast.FunctionDef | ast.AsyncFunctionDef
UNREADABLE = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)
# The sign of each comparison, how exactly it names the answer (see Claim.rank), and what it comes to.
COMPARISONS: Mapping[type[ast.cmpop], tuple[str, float, Callable[[Any, Any], object]]] = {
    ast.Eq: ("==", 3, operator.eq),
    ast.Is: ("==", 3, operator.eq),
    ast.NotEq: ("!=", 2, operator.ne),
    ast.IsNot: ("!=", 2, operator.ne),
    ast.Lt: ("<", 2, operator.lt),
    ast.LtE: ("<=", 2, operator.le),
    ast.Gt: (">", 2, operator.gt),
    ast.GtE: (">=", 2, operator.ge),
    ast.In: ("in", 2, lambda one, many: one in many),
    ast.NotIn: ("not in", 2, lambda one, many: one not in many),
}
_CREATES = regex(
    r"_*[A-Z]|\?|(from|make|create|new)(_|$)|(next|pop|popleft|popitem|read|readline|recv|now|random|time)$"
)
_PLAIN = (ast.Constant, ast.List, ast.Tuple, ast.Dict, ast.Set, ast.UnaryOp, ast.unaryop, ast.expr_context)


def parse(text: str) -> ast.Module:
    """The tree of a file; raises one of UNREADABLE if it is not Python."""
    with warnings.catch_warnings():  # about odd escapes in the project's strings
        warnings.simplefilter("ignore")
        return ast.parse(text)


def dotted(node: ast.AST) -> str:
    """A dotted name, with `?` for anything that is not a name."""
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return dotted(node.func) if isinstance(node, ast.Call) else "?"


def last_name(node: ast.AST) -> str:
    """The last part of a dotted name."""
    return dotted(node).rpartition(".")[2]


def imported(tree: ast.Module) -> dict[str, str]:
    """The full name of each name that a file imports under another."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found.update({alias.asname: alias.name for alias in node.names if alias.asname})
        elif isinstance(node, ast.ImportFrom):
            module = "." * node.level + (node.module or "")
            found.update({alias.asname or alias.name: f"{module}.{alias.name}" for alias in node.names})
    return found


def full_name(node: ast.AST, names: Mapping[str, str]) -> str:
    """A dotted name with its first part resolved by `imported`."""
    first, dot, rest = dotted(node).partition(".")
    return f"{names.get(first, first)}{dot}{rest}"


def is_main(node: ast.AST) -> bool:
    """Whether a statement is `if __name__ == "__main__"`."""
    test = node.test if isinstance(node, ast.If) else None
    parts = test.values if isinstance(test, ast.BoolOp) and isinstance(test.op, ast.And) else [test]
    return any(
        isinstance(each, ast.Compare)
        and isinstance(each.ops[0], ast.Eq)
        and {ast.unparse(each.left), ast.unparse(each.comparators[0])} == {"__name__", "'__main__'"}
        for each in parts
    )


def is_plain(node: ast.expr) -> bool:
    """Whether an expression is a literal, or a collection of literals."""
    return all(isinstance(each, _PLAIN) for each in ast.walk(node))


def truth(node: ast.expr) -> bool | None:
    """Whether an expression is always true or always false; None if that depends on the program."""
    if isinstance(node, ast.BoolOp):
        decides = isinstance(node.op, ast.Or)
        parts = [truth(each) for each in node.values]
        return decides if decides in parts else None if None in parts else not decides
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        inner = truth(node.operand)
        return None if inner is None else not inner
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        return _comparison_truth(node.left, node.ops[0], node.comparators[0])
    if isinstance(node, ast.Tuple | ast.List | ast.Set) and (not node.elts or isinstance(node, ast.Tuple)):
        return bool(node.elts)
    if isinstance(node, ast.Constant):
        return bool(node.value)
    return True if isinstance(node, ast.Lambda | ast.JoinedStr) else None


def _comparison_truth(one: ast.expr, sign: ast.cmpop, two: ast.expr) -> bool | None:
    if isinstance(sign, ast.Eq | ast.Is | ast.LtE | ast.GtE) and is_same(one, two, calls=isinstance(sign, ast.Eq)):
        return True
    if isinstance(sign, ast.GtE) and dotted(one) == "len" and ast.unparse(two) == "0":
        return True
    with contextlib.suppress(Exception):  # not literals, or they cannot be compared
        return bool(COMPARISONS[type(sign)][2](ast.literal_eval(one), ast.literal_eval(two)))
    return None


def is_same(one: ast.expr, two: ast.expr, calls: bool) -> bool:
    """Whether both expressions are written alike and have one value; `calls`: also if they call something.

    Calls that create an object are compared to prove equality, and some calls return something else each time.
    """
    if ast.dump(one) != ast.dump(two):
        return False
    parts = list(ast.walk(one))
    if all(isinstance(each, ast.Name | ast.Attribute | ast.Constant | ast.expr_context) for each in parts):
        return True
    names = [last_name(each) for each in parts if isinstance(each, ast.Call)]
    return calls and bool(names) and not any(_CREATES.match(name) for name in names)
