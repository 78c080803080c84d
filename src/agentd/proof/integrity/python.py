"""Parses a Python test file by its syntax tree; `broken_python` takes files that do not parse."""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import replace

from agentd.patterns import regex
from agentd.proof.integrity.hidden_failures import hidden_failures
from agentd.proof.integrity.parsed import MANY, Mark, ParsedFile, Row, Test, line_of, mark
from agentd.proof.integrity.python_claims import Scope, claims
from agentd.proof.integrity.python_skips import body_marks, decorator_marks, module_marks, narrows
from agentd.proof.integrity.python_syntax import UNREADABLE, Function, dotted, is_plain, last_name, truth
from agentd.proof.integrity.python_syntax import parse as parse_python
from agentd.proof.integrity.rules import SKIPPED

HOOKS = regex(
    r"^pytest_(collection_modifyitems|runtest_(makereport|protocol|call|setup|teardown|logreport)|sessionfinish|ignore_collect"
    r"|pyfunc_call|report_teststatus|collect_file|collect_directory|pycollect_\w+|deselected|cmdline_main|runtestloop"
    r"|itemcollected|assertrepr_compare|load_initial_conftests|make_collect_report|fixture_setup)$"
)
_SUPPORT = regex(r"(^|\.)(tests?|testing|conftest|helpers?|support|fixtures|common)(\.|$)")
Found = tuple[str, Function, tuple[Mark, ...], bool]


def parse(text: str) -> ParsedFile | None:
    """The tests of a file; None if it does not parse."""
    try:
        return _parsed(text, parse_python(text))
    except UNREADABLE:
        return None


def _parsed(text: str, tree: ast.Module) -> ParsedFile:
    lines = text.split("\n")
    found = {each[0]: each for each in _functions(tree.body, "", (), lines, inside=False)}
    for gone in _redefined(tree.body):
        found.pop(gone, None)
    functions = (ast.FunctionDef, ast.AsyncFunctionDef)
    defined = frozenset(node.name for node in ast.walk(tree) if isinstance(node, functions))
    scope = Scope(lines, {}, frozenset(_trusted(tree)), defined, _constants(tree))
    scope = replace(scope, asserting=_asserting([entry[1] for entry in found.values()], scope))
    loads = {"load_tests"} if "load_tests" in found and narrows(found["load_tests"][1]) else set()
    everything = [(is_test, _test(name, each, marks, scope)) for name, each, marks, is_test in found.values()]
    others = tuple(one for is_test, one in everything if not is_test)
    return ParsedFile(
        tests=tuple(one for is_test, one in everything if is_test),
        others=others,
        marks=tuple(module_marks(tree.body, lines, "")),
        hidden=tuple(hidden_failures(tree, lines)),
        hooks=tuple(one for one in others if HOOKS.match(one.name) or one.name in loads),
        comments=tuple((at, line.strip()) for at, line in enumerate(lines, 1) if line.lstrip().startswith("#")),
    )


def _functions(
    body: Sequence[ast.stmt], prefix: str, marks: tuple[Mark, ...], lines: list[str], inside: bool
) -> Iterator[Found]:
    """Every function of a module and of its classes, with the marks around it, and whether it is a test."""
    for node in body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            fixture = any(last_name(each) == "fixture" for each in node.decorator_list)
            is_test = node.name.startswith("test") and (inside or not prefix) and not fixture
            yield f"{prefix}{node.name}", node, marks, is_test
        elif isinstance(node, ast.ClassDef):
            own = (
                *decorator_marks(node.decorator_list, lines, node.name),
                *module_marks(node.body, lines, node.name),
                *_constructor(node, lines),
            )
            collects = node.name.startswith("Test") or any("Test" in dotted(base) for base in node.bases)
            yield from _functions(node.body, f"{prefix}{node.name} > ", (*marks, *own), lines, collects)
        elif isinstance(node, ast.If | ast.Try | ast.With):
            yield from _functions(node.body, prefix, (*marks, *_condition(node, lines, "")), lines, inside)
            other = [*getattr(node, "orelse", []), *(part for h in getattr(node, "handlers", []) for part in h.body)]
            yield from _functions(other, prefix, (*marks, *_condition(node, lines, "not ")), lines, inside)


def _condition(node: ast.stmt, lines: list[str], negated: str) -> Iterator[Mark]:
    if isinstance(node, ast.If) and (negated or truth(node.test) is not True):
        what = f"is there only if {negated}{ast.unparse(node.test)}"
        yield mark(lines, node.lineno, SKIPPED, what, sure=truth(node.test) is bool(negated))


def _constructor(node: ast.ClassDef, lines: list[str]) -> Iterator[Mark]:
    for each in node.body:
        if isinstance(each, ast.FunctionDef) and each.name == "__init__" and not node.bases:
            what = "is not collected: a test class must not have __init__"
            yield mark(lines, each.lineno, SKIPPED, what, node.name)


def _test(name: str, function: Function, marks: tuple[Mark, ...], scope: Scope) -> Test:
    lines = scope.lines
    rows, many = _rows(function, scope)
    return Test(
        name=name,
        line=function.lineno,
        start=min([function.lineno, *(each.lineno for each in function.decorator_list)]),
        end=function.end_lineno or function.lineno,
        quote=line_of(lines, function.lineno),
        body=_body(function),
        claims=claims(function, scope),
        marks=(*marks, *decorator_marks(function.decorator_list, lines), *body_marks(function, lines)),
        rows=rows,
        many=many,
        smoke=_explores(function),
        names=frozenset(_parameters(function)),
    )


def _body(function: Function) -> str:
    body = function.body
    if isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant) and body[1:]:
        body = body[1:]
    return "\n".join([*map(ast.unparse, function.decorator_list), ast.unparse(function.args), *map(ast.unparse, body)])


def _rows(function: Function, scope: Scope) -> tuple[tuple[Row, ...] | None, bool]:
    """The rows of all `parametrize`, and whether there are others that are not known."""
    rows: tuple[Row, ...] | None = None
    many = False
    for node in function.decorator_list:
        name = last_name(node)
        many = many or name in ("given", "data", "ddt", "expand", "foreach", "repeat")
        if name != "parametrize" or not isinstance(node, ast.Call):
            continue
        named = (each.value for each in node.keywords if each.arg == "argvalues")
        table = node.args[1] if len(node.args) > 1 else next(named, None)
        table = scope.values.get(table.id, table) if isinstance(table, ast.Name) else table
        if not isinstance(table, ast.List | ast.Tuple) or any(isinstance(each, ast.Starred) for each in table.elts):
            many = True
        else:
            own = (Row(each.lineno, _values(each), line_of(scope.lines, each.lineno)) for each in table.elts)
            rows = (*(rows or ()), *own)
    return rows, many


def _values(node: ast.expr) -> tuple[str, ...]:
    if isinstance(node, ast.Call) and last_name(node) == "param":
        return tuple(map(ast.unparse, node.args))
    return tuple(map(ast.unparse, node.elts)) if isinstance(node, ast.Tuple) else (ast.unparse(node),)


def _parameters(function: Function) -> Iterator[str]:
    """Names whose values come from a table: parameters and loop variables."""
    yield from (each.arg for each in (*function.args.args, *function.args.kwonlyargs))
    for node in ast.walk(function):
        if isinstance(node, ast.For | ast.AsyncFor | ast.comprehension):
            yield from (each.id for each in ast.walk(node.target) if isinstance(each, ast.Name))


def _asserting(functions: Sequence[Function], scope: Scope) -> dict[str, int]:
    """The helpers of the file that assert, themselves or through each other, and how many claims they make."""
    helpers = [each for each in functions if not each.name.startswith("test")]
    found: dict[str, int] = {}
    for _ in range(3):  # deep enough for a helper of a helper
        again = {}
        for each in helpers:
            made = [claim for claim in claims(each, replace(scope, asserting=found)) if not claim.always]
            if made:
                again[each.name] = min(MANY, sum(claim.most for claim in made))
        if again == found:
            break
        found = again
    return found


def _trusted(tree: ast.Module) -> Iterator[str]:
    """Names from modules that help tests; what they do cannot be seen from here."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.level or _SUPPORT.search(node.module or "")):
            yield from (alias.asname or alias.name for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (a.asname or a.name.partition(".")[0] for a in node.names if _SUPPORT.search(a.name))


def _constants(tree: ast.Module) -> dict[str, ast.expr]:
    """The names of the module that are assigned once, to literals or to rows."""
    found: dict[str, list[ast.expr]] = {}
    for node in tree.body:
        if isinstance(node, ast.Assign | ast.AnnAssign) and node.value:
            target = node.targets[0] if isinstance(node, ast.Assign) else node.target
            if isinstance(target, ast.Name):
                found.setdefault(target.id, []).append(node.value)
    rows = (ast.List, ast.Tuple)
    return {name: v[0] for name, v in found.items() if len(v) == 1 and (is_plain(v[0]) or isinstance(v[0], rows))}


def _redefined(body: Sequence[ast.stmt]) -> Iterator[str]:
    """Names that a module deletes, or gives another value than the function they name."""
    for node in body:
        targets = node.targets if isinstance(node, ast.Delete | ast.Assign) else []
        yield from (each.id for each in targets if isinstance(each, ast.Name))


def _explores(function: Function) -> bool:
    """Whether a property test calls something: it proves that nothing is raised."""
    given = any(last_name(each) == "given" for each in function.decorator_list)
    return given and any(isinstance(each, ast.Call) for node in function.body for each in ast.walk(node))
