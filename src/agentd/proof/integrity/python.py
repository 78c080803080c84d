"""Reads a Python test file by its syntax tree; a file that does not parse is not read here at all."""

import ast
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import replace

from agentd.proof.integrity.assertions import dotted, is_always, is_never
from agentd.proof.integrity.gathering import Function, Scope, gather, is_plain
from agentd.proof.integrity.reading import MANY, Mark, Reading, Row, Test, line_of
from agentd.proof.integrity.skipping import RULE, called, decorated, module_marks, narrows
from agentd.proof.integrity.tampering import tampered

HOOKS = re.compile(
    r"^pytest_(collection_modifyitems|runtest_(makereport|protocol|call|setup|teardown|logreport)|sessionfinish|ignore_collect"
    r"|pyfunc_call|report_teststatus|collect_file|collect_directory|pycollect_\w+|deselected|cmdline_main|runtestloop"
    r"|itemcollected|assertrepr_compare|load_initial_conftests|make_collect_report|fixture_setup)$"
)
_SUPPORT = re.compile(r"(^|\.)(tests?|testing|conftest|helpers?|support|fixtures|common)(\.|$)")
_NESTS = (ast.If, ast.Try, ast.With)
Found = tuple[str, Function, tuple[Mark, ...], bool]


def read(text: str) -> Reading | None:
    """Everything the file says, or None where it is no Python that can be understood."""
    try:
        with warnings.catch_warnings():  # an odd escape in somebody's string is not ours to warn about
            warnings.simplefilter("ignore")
            tree = ast.parse(text)
        return _reading(text, tree)
    except (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError):
        return None


def _reading(text: str, tree: ast.Module) -> Reading:
    lines = text.split("\n")
    found: dict[str, Found] = {}
    for name, function, marks, test in _functions(tree.body, "", (), lines, inside=False):
        found[name] = (name, function, marks, test)
    for gone in _undone(tree.body):
        found.pop(gone, None)
    values = _constants(tree)
    defined = frozenset(
        node.name for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    )
    scope = Scope(lines, {}, frozenset(_trusted(tree)), defined, values)
    scope = replace(scope, asserting=_asserting([entry[1] for entry in found.values()], scope))
    loads = {"load_tests"} if "load_tests" in found and narrows(found["load_tests"][1]) else set()
    everything = [(test, _test(name, each, marks, scope, values)) for name, each, marks, test in found.values()]
    return Reading(
        tests=tuple(one for test, one in everything if test),
        others=tuple(one for test, one in everything if not test),
        marks=tuple(module_marks(tree.body, lines, "")),
        hidden=tuple(tampered(tree, lines)),
        hooks=tuple(one for test, one in everything if not test and (HOOKS.match(one.name) or one.name in loads)),
        comments=tuple((at, line.strip()) for at, line in enumerate(lines, 1) if line.lstrip().startswith("#")),
    )


def _functions(
    body: Sequence[ast.stmt], prefix: str, marks: tuple[Mark, ...], lines: list[str], inside: bool
) -> Iterator[Found]:
    """Every function of a module or of its classes, with what marks it from outside, and whether it is a test."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            is_test = node.name.startswith("test") and (inside or not prefix)
            yield f"{prefix}{node.name}", node, marks, is_test and not _is_fixture(node)
        elif isinstance(node, ast.ClassDef):
            own = (
                *decorated(node.decorator_list, lines, node.name),
                *module_marks(node.body, lines, node.name),
                *_unbuilt(node, lines),
            )
            collects = node.name.startswith("Test") or any("Test" in dotted(base) for base in node.bases)
            yield from _functions(node.body, f"{prefix}{node.name} > ", (*marks, *own), lines, collects)
        elif isinstance(node, _NESTS):
            yield from _functions(node.body, prefix, (*marks, *_condition(node, lines, "")), lines, inside)
            other = [*getattr(node, "orelse", []), *(part for h in getattr(node, "handlers", []) for part in h.body)]
            yield from _functions(other, prefix, (*marks, *_condition(node, lines, "not ")), lines, inside)


def _condition(node: ast.stmt, lines: list[str], negated: str) -> Iterator[Mark]:
    if not isinstance(node, ast.If) or (is_always(node.test) and not negated):
        return
    sure = is_always(node.test) if negated else is_never(node.test)
    yield Mark(
        RULE, f"is there only if {negated}{ast.unparse(node.test)}", node.lineno, line_of(lines, node.lineno), "", sure
    )


def _unbuilt(node: ast.ClassDef, lines: list[str]) -> Iterator[Mark]:
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and each.name == "__init__" and not node.bases:
            what = "is not collected: a test class must not have __init__"
            yield Mark(RULE, what, each.lineno, line_of(lines, each.lineno), node.name)


def _test(name: str, function: Function, marks: tuple[Mark, ...], scope: Scope, values: dict[str, ast.expr]) -> Test:
    lines = scope.lines
    rows, many = _rows(function, values, lines)
    return Test(
        name=name,
        line=function.lineno,
        start=min([function.lineno, *(each.lineno for each in function.decorator_list)]),
        end=function.end_lineno or function.lineno,
        quote=line_of(lines, function.lineno),
        body=_body(function),
        claims=gather(function, scope),
        marks=(*marks, *decorated(function.decorator_list, lines), *called(function, lines)),
        rows=rows,
        many=many,
        smoke=_explores(function),
        names=frozenset(_names(function)),
    )


def _body(function: Function) -> str:
    body = function.body
    if body and isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and body[1:]:
        body = body[1:]
    return "\n".join([*map(ast.unparse, function.decorator_list), ast.unparse(function.args), *map(ast.unparse, body)])


def _rows(function: Function, values: dict[str, ast.expr], lines: list[str]) -> tuple[tuple[Row, ...] | None, bool]:
    """The sets of values of all `parametrize`, one after the other; and whether there are more than are known."""
    rows: list[Row] | None = None
    many = False
    for node in function.decorator_list:
        name = dotted(node).rpartition(".")[2]
        many = many or name in ("given", "data", "ddt", "expand", "foreach", "repeat")
        if name != "parametrize" or not isinstance(node, ast.Call):
            continue
        table = (
            node.args[1] if len(node.args) > 1 else next((k.value for k in node.keywords if k.arg == "argvalues"), None)
        )
        table = values.get(table.id, table) if isinstance(table, ast.Name) else table
        if not isinstance(table, ast.List | ast.Tuple) or any(isinstance(each, ast.Starred) for each in table.elts):
            many = True
        else:
            rows = [
                *(rows or []),
                *(Row(each.lineno, _values(each), line_of(lines, each.lineno)) for each in table.elts),
            ]
    return (None if rows is None else tuple(rows)), many


def _values(node: ast.expr) -> tuple[str, ...]:
    if isinstance(node, ast.Call) and dotted(node).rpartition(".")[2] == "param":
        return tuple(map(ast.unparse, node.args))
    return tuple(map(ast.unparse, node.elts)) if isinstance(node, ast.Tuple) else (ast.unparse(node),)


def _names(function: Function) -> Iterator[str]:
    """Names whose values come from a table: parameters, and what loops run over."""
    yield from (each.arg for each in (*function.args.args, *function.args.kwonlyargs))
    for node in ast.walk(function):
        if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            yield from (each.id for each in ast.walk(node.target) if isinstance(each, ast.Name))


def _asserting(functions: Sequence[Function], scope: Scope) -> dict[str, int]:
    """The functions of the file that assert something, themselves or through each other, and how much."""
    serving = [each for each in functions if not each.name.startswith("test")]
    found: dict[str, int] = {}
    for _ in range(3):  # deep enough for a helper of a helper
        again = {}
        for each in serving:
            claims = [claim for claim in gather(each, replace(scope, asserting=found)) if not claim.always]
            if claims:
                again[each.name] = min(MANY, sum(claim.most for claim in claims))
        if again == found:
            break
        found = again
    return found


def _trusted(tree: ast.Module) -> Iterator[str]:
    """Names that come from modules which serve tests; what they do cannot be seen from here."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.level or _SUPPORT.search(node.module or "")):
            yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (a.asname or a.name.partition(".")[0] for a in node.names if _SUPPORT.search(a.name))


def _constants(tree: ast.Module) -> dict[str, ast.expr]:
    found: dict[str, list[ast.expr]] = {}
    for node in tree.body:
        target = (
            node.targets[0]
            if isinstance(node, ast.Assign)
            else node.target
            if isinstance(node, ast.AnnAssign)
            else None
        )
        value = getattr(node, "value", None)
        if isinstance(target, ast.Name) and isinstance(value, ast.expr):
            found.setdefault(target.id, []).append(value)
    rows = (ast.List, ast.Tuple)
    return {name: v[0] for name, v in found.items() if len(v) == 1 and (is_plain(v[0]) or isinstance(v[0], rows))}


def _undone(body: Sequence[ast.stmt]) -> Iterator[str]:
    """Names that a module deletes or gives another value after it has defined them."""
    for node in body:
        targets = node.targets if isinstance(node, ast.Delete | ast.Assign) else []
        yield from (each.id for each in targets if isinstance(each, ast.Name))


def _explores(function: Function) -> bool:
    """Whether a test tries many values on something: that nothing is raised is then what it proves."""
    given = any(dotted(each).rpartition(".")[2] == "given" for each in function.decorator_list)
    return given and any(isinstance(each, ast.Call) for node in function.body for each in ast.walk(node))


def _is_fixture(function: Function) -> bool:
    return any(dotted(each).rpartition(".")[2] == "fixture" for each in function.decorator_list)
