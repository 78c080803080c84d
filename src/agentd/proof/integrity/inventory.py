"""Which tests a file contains, as far as its text shows."""

import ast
import re
from collections.abc import Collection
from contextlib import suppress

from agentd.patterns import regex
from agentd.proof.integrity.parsers import parse
from agentd.proof.integrity.paths import is_collected, is_program, is_test, language, tidy
from agentd.proof.integrity.python_syntax import UNREADABLE, last_name
from agentd.proof.integrity.python_syntax import parse as parse_python

# Names of test files, in contrast to files that only help tests.
_SAYS_TEST = regex(
    r"(^|/)(test_[^/]*|[^/]*_test)\.py$|[._-](test|tests|spec|specs|cy|e2e)\.[cm]?[jt]sx?$|_test\.go$"
    r"|(Test|Tests)\.(java|cs)$|(^|/)tests/[^/]+\.rs$"
)
# Tests that are generated, or come from another file.
_GENERATED = {
    "python": regex(r"^\s*(from\s+\S+\s+import\s+.*(\*|\b[tT]est)|scenarios\s*\()|globals\(\)|\bload_tests\b|\bdoctest\b", re.M),
    "javascript": regex(r"\b(require|import)\b[^\n]*(test|spec)|\b\w*[tT]ests?\w*\s*\(|\b(scenario|feature|RuleTester|fixture)\b"),
    "go": regex(r"\bfunc (Benchmark|TestMain)|^package \w+\s*(?!.*\bfunc\b)|(^|\s)(Describe|It)\(", re.S),
    "java": regex(r"\babstract\s+class|\bextends\b|@\w*(Test|Suite|Spec)\w*"),
    "csharp": regex(r"\babstract\s+class|\bclass\s+\w+\s*:|\["),
    "rust": regex(r"^\s*\w+!|macro_rules!|^\s*mod\s", re.M),
}  # fmt: skip
_NO_TEST_CLASS = regex(r"^(object|\w*TestCase|Protocol|Enum|\w*Exception|\w*Error|NamedTuple|ABC)$")


def may_hold_tests(path: str, text: str) -> bool:
    """Whether a file of the tests can contain tests itself, and is not only a helper."""
    if language(path) == "python":
        return is_collected(path) or bool(re.search(r"^\s*(async\s+)?def\s+test", text, re.M))
    return is_program(path)


def tests_in(path: str, text: str) -> Collection[str] | None:
    """The names of the tests of a file; None if its language is not read, or its tests may come from elsewhere."""
    path, kind = tidy(path), language(path)
    if not _SAYS_TEST.search(path) or not is_test(path) or not is_collected(path) or kind not in _GENERATED:
        return None
    [parsed] = parse(kind, text)
    found, inherits = {test.name for test in parsed.tests}, False
    if kind == "python":
        with suppress(*UNREADABLE):
            tree = parse_python(text)
            found |= _assigned(tree)
            inherits = _inherits(tree)
    return None if not found and (inherits or _GENERATED[kind].search(text)) else found


def _assigned(tree: ast.Module) -> set[str]:
    """Names of tests that a module assigns."""
    targets = [each for node in tree.body if isinstance(node, ast.Assign) for each in node.targets]
    return {each.id for each in targets if isinstance(each, ast.Name) and re.match(r"test_|Test[A-Z]", each.id)}


def _inherits(tree: ast.Module) -> bool:
    """Whether a class has a base that may contain tests."""
    classes = [node for node in ast.walk(tree) if isinstance(node, ast.ClassDef)]
    own = {node.name for node in classes}
    bases = {last_name(base) for node in classes for base in node.bases}
    return any(not _NO_TEST_CLASS.match(name) and name not in own for name in bases)
