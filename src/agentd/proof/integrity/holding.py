"""Which tests a file holds, where that can be seen from its text; says nothing where it cannot."""

import ast
import re
from collections.abc import Collection

from agentd.proof.integrity import curly, javascript, outline, python
from agentd.proof.integrity.assertions import dotted
from agentd.proof.integrity.paths import is_collected, is_program, is_test, language, tidy

# Names that say of a file that it is a test, and not only something that tests use.
_SAYS_TEST = re.compile(
    r"(^|/)(test_[^/]*|[^/]*_test)\.py$|[._-](test|tests|spec|specs|cy|e2e)\.[cm]?[jt]sx?$|_test\.go$"
    r"|(Test|Tests)\.(java|cs)$|(^|/)tests/[^/]+\.rs$"
)
# Tests that are made by other means than by writing them down.
_MADE = {
    "python": re.compile(r"^\s*(from\s+\S+\s+import\s+.*(\*|\b[tT]est)|scenarios\s*\()|globals\(\)|\bload_tests\b|\bdoctest\b", re.M),
    "javascript": re.compile(r"\b(require|import)\b[^\n]*(test|spec)|\b\w*[tT]ests?\w*\s*\(|\b(scenario|feature|RuleTester|fixture)\b"),
    "go": re.compile(r"\bfunc (Benchmark|TestMain)|^package \w+\s*(?!.*\bfunc\b)|(^|\s)(Describe|It)\(", re.S),
    "java": re.compile(r"\babstract\s+class|\bextends\b|@\w*(Test|Suite|Spec)\w*"),
    "csharp": re.compile(r"\babstract\s+class|\bclass\s+\w+\s*:|\["),
    "rust": re.compile(r"^\s*\w+!|macro_rules!|^\s*mod\s", re.M),
}  # fmt: skip
_PLAIN = re.compile(r"^(object|\w*TestCase|Protocol|Enum|\w*Exception|\w*Error|NamedTuple|ABC)$")


def may_hold_tests(path: str, text: str) -> bool:
    """Whether a file of tests can hold some itself, and does not only serve those that do."""
    if language(path) == "python":
        return is_collected(path) or bool(re.search(r"^\s*(async\s+)?def\s+test", text, re.M))
    return is_program(path)


def tests_in(path: str, text: str) -> Collection[str] | None:
    """The names of the tests of a file; None where its language is not read, or its tests may come from elsewhere."""
    path, kind = tidy(path), language(path)
    if not _SAYS_TEST.search(path) or not is_test(path) or not is_collected(path) or kind not in _MADE:
        return None
    if kind == "python":
        read = python.read(text)
        found = {test.name for test in (read or outline.read(text)).tests} | (_assigned(text) if read else set())
        inherits = read is not None and _inherits(text)
    else:
        reading = javascript.read(text) if kind == "javascript" else curly.read(text, kind)
        found, inherits = {test.name for test in reading.tests}, False
    return None if not found and (inherits or _MADE[kind].search(text)) else found


def _assigned(text: str) -> set[str]:
    """Names of tests that a module gives to something made elsewhere."""
    targets = [each for node in ast.parse(text).body if isinstance(node, ast.Assign) for each in node.targets]
    return {each.id for each in targets if isinstance(each, ast.Name) and re.match(r"test_|Test[A-Z]", each.id)}


def _inherits(text: str) -> bool:
    """Whether a class has a base that may bring tests along."""
    classes = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ClassDef)]
    own = {node.name for node in classes}
    bases = {dotted(base).rpartition(".")[2] for node in classes for base in node.bases}
    return any(not _PLAIN.match(name) and name not in own for name in bases)
