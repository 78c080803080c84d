"""Python code that hides failures: it ends the run as a success, or replaces parts of the test framework."""

import ast
from collections.abc import Iterator, Mapping

from agentd.proof.integrity.parsed import Mark, mark
from agentd.proof.integrity.python_syntax import dotted, full_name, imported, is_main
from agentd.proof.integrity.rules import HIDDEN

_EXITS = {"sys.exit", "os._exit", "exit", "quit", "pytest.exit", "SystemExit", "_exit"}
_FRAMEWORKS = {"unittest", "pytest", "_pytest", "nose"}
_SETS = {"setattr", "__setattr__", "delattr", "object", "patch"}  # patch.object too
_ASSERTIONS = {
    *("assertEqual", "assertNotEqual", "assertTrue", "assertFalse", "assertIs", "assertIsNone", "assertIsNotNone"),
    *("assertIn", "assertNotIn", "assertRaises", "assertAlmostEqual", "assertListEqual", "assertDictEqual", "fail"),
    *("assertGreater", "assertLess", "assertRegex", "assertCountEqual", "assertSequenceEqual"),
}


def hidden_failures(tree: ast.Module, lines: list[str], program: bool = False) -> Iterator[Mark]:
    """Each place that hides failures, new or not; a `program` may exit with 0."""
    mains = {id(each) for node in tree.body if is_main(node) for each in ast.walk(node)}
    names = imported(tree)
    for node in ast.walk(tree):
        if what := _what(node, id(node) in mains, names, program):
            yield mark(lines, getattr(node, "lineno", 0), HIDDEN, what)


def _what(node: ast.AST, main: bool, names: Mapping[str, str], program: bool) -> str:
    if isinstance(node, ast.Call):
        return (_exit(node) if not program and not main else "") or _patch(node, names)
    if isinstance(node, ast.Assign | ast.AugAssign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return next(filter(None, (_replaced(each, names, program) for each in targets)), "")
    if isinstance(node, ast.ClassDef) and any("Test" in dotted(base) for base in node.bases):
        own = [each.name for each in node.body if isinstance(each, ast.FunctionDef) and each.name in _ASSERTIONS]
        return f"{node.name} puts its own {own[0]} in the place of the framework's" if own else ""
    return ""


def _exit(node: ast.Call) -> str:
    name = dotted(node)
    words = {each.arg: each.value for each in node.keywords}
    code = node.args[0] if node.args else words.get("returncode", words.get("code"))
    if name == "pytest.exit":
        code = words.get("returncode")
    zero = isinstance(code, ast.Constant) and code.value == 0
    return f"{name}(0) ends the run as if all tests had passed" if name in _EXITS and zero else ""


def _patch(node: ast.Call, names: Mapping[str, str]) -> str:
    if any(isinstance(each, ast.Attribute) and full_name(each, names) == "os._exit" for each in node.args):
        return "os._exit is called when the run ends, whatever it came to"
    if node.args and full_name(node.func, names).rpartition(".")[2] in _SETS:
        first = node.args[0]
        text = first.value if isinstance(first, ast.Constant) else full_name(first, names)
        return _changed(text) if isinstance(text, str) and _is_framework(text) else ""
    return ""


def _replaced(target: ast.expr, names: Mapping[str, str], program: bool) -> str:
    name = full_name(target, names)
    if isinstance(target, ast.Attribute):
        if name.endswith(".exitstatus") and (not program or "session" in name):
            return "the result of the run is set by hand (exitstatus)"
        if _is_framework(name) or name == "builtins.AssertionError" or target.attr in _ASSERTIONS - {"fail"}:
            return _changed(name)
    if isinstance(target, ast.Subscript) and full_name(target.value, names) == "sys.modules":
        key = target.slice.value if isinstance(target.slice, ast.Constant) else ""
        return _changed(str(key)) if key in ("pytest", "unittest", "_pytest", "hypothesis") else ""
    return ""


def _changed(name: str) -> str:
    return f"{name} is replaced: the test framework itself is changed"


def _is_framework(name: str) -> bool:
    parts = name.split(".")
    return (parts[0] in _FRAMEWORKS or "TestCase" in parts) and parts[:2] != ["unittest", "mock"]
