"""Regular expressions that are compiled late, and are right all the same."""

import ast
import gc
import pkgutil
import re
from importlib import import_module
from typing import Any

import agentd
from agentd.patterns import regex
from tests.test_imports import sources


def test_a_late_pattern_does_what_a_compiled_one_does() -> None:
    late, plain = regex(r"(a)(B?)", re.IGNORECASE), re.compile(r"(a)(B?)", re.IGNORECASE)
    assert late.pattern == plain.pattern
    for name in ("match", "fullmatch", "search"):
        for text in ("ab", "xab", ""):
            assert str(getattr(late, name)(text)) == str(getattr(plain, name)(text))
    for name in ("findall", "split"):
        assert getattr(late, name)("xabaXA") == getattr(plain, name)("xabaXA")
    assert [each.span() for each in late.finditer("xaba")] == [each.span() for each in plain.finditer("xaba")]
    assert late.sub("-", "xab") == plain.sub("-", "xab")


def test_a_pattern_is_compiled_at_its_first_use() -> None:
    late = regex(r"a")
    assert "_compiled" not in vars(late)
    assert late.match("a")
    assert "_compiled" in vars(late)


def test_every_pattern_of_agentd_can_be_compiled() -> None:
    for module in pkgutil.walk_packages(agentd.__path__, "agentd."):
        if not module.name.endswith("__main__"):
            import_module(module.name)
    kind: Any = regex
    gc.unfreeze()  # what was collected was put aside, and is no object to the collector then
    found = [each for each in gc.get_objects() if type(each) is kind]
    assert len(found) > 400
    for each in found:
        assert re.compile(each.pattern, each._flags)


def test_no_pattern_is_compiled_while_a_module_is_loaded() -> None:
    found = []
    for path, tree in sources():
        functions = [node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef | ast.Lambda)]
        inner = {id(each) for function in functions for each in ast.walk(function)}
        calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call) and id(node) not in inner]
        found += [f"{path}:{node.lineno}" for node in calls if ast.unparse(node.func) == "re.compile"]
    assert not found
