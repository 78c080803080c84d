"""Python code outside the tests that interferes with the test run: it ends it, detects it, or imports its framework."""

import ast
from collections.abc import Iterator, Mapping

from agentd.patterns import regex
from agentd.proof.integrity.hidden_failures import hidden_failures
from agentd.proof.integrity.parsed import Mark, line_of, mark
from agentd.proof.integrity.paths import tidy
from agentd.proof.integrity.python_syntax import UNREADABLE, full_name, imported, is_main, parse
from agentd.proof.integrity.rules import HIDDEN, KNOWS

_FRAMEWORK = regex(r"^(unittest|_?pytest|nose2?)(\.|$)")
_VARIABLE = regex(r"^PYTEST_(CURRENT_TEST|VERSION|XDIST_WORKER)$")
_STACK = regex("test")
# What tells who is running, and the words that make it a question about tests.
_TELLS = {
    "sys.modules": regex(r"^_?(py|unit)?tests?\b"),
    "sys.argv": regex(r"unittest|pytest"),
    "sys._getframe": _STACK,
    "inspect.stack": _STACK,
    "traceback.extract_stack": _STACK,
    "importlib.import_module": _FRAMEWORK,
    "__import__": _FRAMEWORK,
}
_HARD_EXITS = {"os._exit", "posix._exit"}
_EXITS = {*_HARD_EXITS, "sys.exit", "exit", "quit", "SystemExit"}
_FORKS = regex(r"fork|[Pp]rocess")
_NUMBERS = {"int", "bool", "len", "abs", "min", "max", "sum", "round", "ord", "float"}
# Programs that are started and not imported: an exit ends nothing else.
_STARTED = regex(r"(^|/)(__main__|setup|manage|noxfile)\.py$|(^|/)(scripts?|bin|tools|examples?|docs?|ci)/")
# Files that may help somebody's tests.
_HELPS = regex(
    r"(^|/)(_?testing|test_?\w*|\w*_tests?|conftest|fixtures|mock\w*|pytest_\w+|(\w+_)?plugins?|runtests?|noxfile|setup"
    r"|benchmarks?|scripts?|tools|examples?|docs?)(/|\.py$)"
)
_LINES = (
    (KNOWS, regex(r"PYTEST_CURRENT_TEST|[\"'](unittest|pytest)[\"']\s+in\s+sys\.modules|^\s*(import|from)\s+(unittest|pytest)\b")),
    (HIDDEN, regex(r"^(os\._exit\(|sys\.exit\((0|)\))|\bTestCase\.\w+\s*=(?!=)")),
)  # fmt: skip


def interference(path: str, text: str, helper: bool) -> tuple[Mark, ...]:
    """Each place that interferes; a `helper` of tests may know of them."""
    path, lines = tidy(path), text.split("\n")
    try:
        tree = parse(text)
        names = imported(tree)
        found = [*hidden_failures(tree, lines, program=True), *_exits(path, tree, names, lines, helper)]
        return tuple(found if helper else [*found, *_detects(tree, names, lines), *_imports(path, tree, lines)])
    except UNREADABLE:
        return tuple(
            mark(lines, at, rule, f"it interferes with the test run: “{line.strip()}”")
            for at, line in enumerate(lines, 1)
            for rule, pattern in _LINES
            if (rule == HIDDEN or not helper) and pattern.search(line)
        )


def _exits(path: str, tree: ast.Module, names: Mapping[str, str], lines: list[str], helper: bool) -> Iterator[Mark]:
    """Exits that look like a success: any while the file is imported, hard ones in a program without child processes."""
    at_once = set() if _STARTED.search(path) else set(map(id, _run_at_import(tree)))
    mains = {id(each) for block in tree.body if is_main(block) for each in ast.walk(block)}
    called = (node.func for node in ast.walk(tree) if isinstance(node, ast.Call))
    methods = (each.attr for each in called if isinstance(each, ast.Attribute))
    forks = any(map(_FORKS.search, (*names.values(), *methods)))
    forks = forks or (helper and bool(mains))  # a program that tests start
    for node in ast.walk(tree):
        name, line = _exit(node, names), getattr(node, "lineno", 0)
        if name and id(node) in at_once:
            what = f"{name} ends the run as soon as it is imported: “{line_of(lines, line)}”"
            yield mark(lines, line, HIDDEN, what)
        elif name in _HARD_EXITS and not forks and id(node) not in mains:
            yield mark(lines, line, HIDDEN, f"{name} ends the run as if all tests had passed")


def _exit(node: ast.AST, names: Mapping[str, str]) -> str:
    """The name of a call that ends the program with 0 or an unknown code."""
    if isinstance(node, ast.Raise) and isinstance(node.exc, ast.Name):
        return node.exc.id if node.exc.id == "SystemExit" else ""
    if not isinstance(node, ast.Call):
        return ""
    name = full_name(node.func, names)
    if name not in _EXITS:
        return name if name.startswith("os.exec") else ""
    code = node.args[0] if node.args else next((each.value for each in node.keywords), None)
    if isinstance(code, ast.Constant):
        return "" if code.value else name
    foreign = isinstance(code, ast.Call) and full_name(code.func, names) not in _NUMBERS
    return "" if foreign or isinstance(code, ast.JoinedStr) else name


def _run_at_import(tree: ast.Module) -> Iterator[ast.AST]:
    """Everything that runs when the file is imported, including the functions of the file that it calls."""
    functions = {node.name: node for node in tree.body if isinstance(node, ast.FunctionDef)}
    left: list[ast.AST] = list(tree.body)
    while left:
        node = left.pop()
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            left += node.decorator_list
        elif isinstance(node, ast.If) and is_main(node):
            left += node.orelse
        elif not isinstance(node, ast.Lambda):
            yield node
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in functions:
                left += functions.pop(node.func.id).body
            left += ast.iter_child_nodes(node)


def _detects(tree: ast.Module, names: Mapping[str, str], lines: list[str]) -> Iterator[Mark]:
    """Statements that ask whether tests are running."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.stmt) or _removes(node):
            continue
        parts = [
            each for part in ast.iter_child_nodes(node) if not isinstance(part, ast.stmt) for each in _within(part)
        ]
        words = [each.value for each in parts if isinstance(each, ast.Constant) and isinstance(each.value, str)]
        refs = {full_name(each, names) for each in parts if isinstance(each, ast.Name | ast.Attribute)}
        patterns = [_VARIABLE, *(pattern for name, pattern in _TELLS.items() if name in refs)]
        if any(pattern.search(word) for word in words for pattern in patterns):
            what = f"it asks whether it is being tested: “{line_of(lines, node.lineno)}”"
            yield mark(lines, node.lineno, KNOWS, what)


def _within(node: ast.AST) -> Iterator[ast.AST]:
    """A part of a statement, without the statements inside it."""
    yield node
    for each in ast.iter_child_nodes(node):
        if not isinstance(each, ast.stmt):
            yield from _within(each)


def _removes(node: ast.stmt) -> bool:
    """Whether a statement only removes something, for example from the environment."""
    call = node.value if isinstance(node, ast.Expr) else None
    popped = isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute) and call.func.attr == "pop"
    return popped or isinstance(node, ast.Delete)


def _imports(path: str, tree: ast.Module, lines: list[str]) -> Iterator[Mark]:
    """Imports of a test framework, except for types and below `__main__`."""
    if _HELPS.search(path):
        return
    skipped = [
        node
        for node in ast.walk(tree)
        if isinstance(node, ast.If) and (is_main(node) or "TYPE_CHECKING" in ast.unparse(node.test))
    ]
    inside = {id(each) for node in skipped for part in node.body for each in ast.walk(part)}
    for node in ast.walk(tree):
        modules: list[str] = []
        if isinstance(node, ast.Import):
            modules = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            modules = [node.module or ""]
        for name in filter(_FRAMEWORK.match, modules if id(node) not in inside else ()):
            what = f"it is no test and imports {name.partition('.')[0]}"
            yield mark(lines, getattr(node, "lineno", 0), KNOWS, what)
