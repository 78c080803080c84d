"""Where a failure lies, in a test or in the source, by the places that the output names and by what the run changed. Pure.

A failed assertion says that a test and the source disagree, and not which of the two is wrong. It counts against the source if
the test is older than the run, against the test if the run changed no source, and is unknown if the run wrote both. An error
counts where it was raised. Libraries count nowhere.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from typing import Literal

from agentd.evidence.outputs.terminal_text import clean, number
from agentd.model.evidence import Case, Result
from agentd.patterns import regex
from agentd.values import dataclass

Word = Literal["test_is_wrong", "source_is_wrong", "unknown"]
MOST_PLACES = 10

# Where the report of the next failed test begins, in any runner.
_NEXT = regex(
    r"\s*(?:_{3,} .+ _{3,}$|={10,}$|(?:FAIL|ERROR): |--- FAIL: |---- .+ stdout ----|● |✖ |not ok \d|\d+\) |FAIL  ?\S|thread '.*panicked"
    r"|.*<<< (?:FAILURE|ERROR)!)"
)
_CAPTURED = regex(r"-{3,} Captured ")
_FILE_LINE = regex(r'File "([^"]+)", line (\d+)')
_JAVA = regex(r"\bat (?:[\w.]+/)?((?:\w+\.)*)[\w$]+\.[\w$<>]+\((\w+\.(?:java|kt|scala|groovy)):(\d+)\)")
_MENTION = regex(r"(?:file://)?((?:[A-Za-z]:)?[^\s'\"()<>:|,`=\[\]]*\.[A-Za-z]\w{0,8})(?::|\()(\d+)")
_DOCUMENT = regex(r"(?i)\.(?:md|rst|txt|adoc)$|^docs?/")
_SUPPORT = regex(
    r"(?i)(?:^|/)(?:conftest|setup|[\w-]*(?:helpers?|utils?|fixtures?|common|support|base))[\w.-]*\.\w+$"
    r"|/(?:fixtures|testdata|__mocks__|__snapshots__|support|helpers)/"
)
_STACK = regex(r"\s*(?:at |❯ )")
_DEFINITION = regex(r"\s*location: ")  # where a test begins, not where it failed
_LIBRARY = regex(
    r"(?:^|[\\/])(?:site-packages|dist-packages|node_modules|\.venv|venv|vendor|rustc|\.cargo|lib[\\/]python[\d.]*)[\\/]"
)
# Errors at the beginning of a line, where runners report them; a test may name others in its code.
_REPORTED = r"^\s*(?:E\s+|\S+:\d+: |Caused by: |error: )?(?:Uncaught )?(?:[\w$]+\.)*"
_ASSERTION = regex(
    rf"{_REPORTED}(?:AssertionError|AssertionFailedError|ComparisonFailure)|^E\s+(?:assert |Failed)|assertion .*failed|expect\("
)
_OWN_FAULT = regex(rf"{_REPORTED}(?:NameError|SyntaxError|IndentationError|ReferenceError)\b|^E\s+fixture '")
_ACCIDENT = regex(
    rf"{_REPORTED}(?:(?:Type|Attribute|Key|Index|ZeroDivision|UnboundLocal|Name|Reference|Range|Recursion|Indentation|Syntax)Error"
    r"|(?:NullPointer|\w*IndexOutOfBounds|Arithmetic|ClassCast)Exception)\b|panic: runtime error|panicked at"
)
_DELIBERATE = regex(r"^\s*(?:>\s*)?(?:\d+\s*\|\s*)?(?:raise|throw)\b|explicit panic")


@dataclass(frozen=True)
class Place:
    """Where the failures lie, how sure that is, and the places of the project that say so (`src/a.py:12`)."""

    word: Word
    sure: Literal["high", "low"]
    places: tuple[str, ...] = ()


@dataclass(frozen=True)
class _Frame:
    path: str
    line: int

    def __str__(self) -> str:
        return f"{self.path}:{self.line}" if self.line else self.path


@dataclass(frozen=True)
class _Failure:
    """The project's own frames of one failure, the innermost last, and the lines that report it."""

    frames: tuple[_Frame, ...]
    lines: tuple[str, ...] = ()


def classify(
    failures: Iterable[Result],
    changed: Collection[str],
    is_test: Callable[[str], bool],
    project: Collection[str] = (),
) -> Place:
    """Where the failures of commands lie.

    `changed` are the files that the run wrote. `project` are all files of the project: a place counts if it is in one of them.
    A test file that the run changed is new as a whole, since a helper or a table far from the failed line may be what is wrong.
    """
    failures = tuple(failures)
    known = _Files({*project, *changed})
    votes: list[tuple[str, _Frame | None]] = []
    for result in failures:
        if result.command.kind == "test":
            found = tuple(_failures(result, known))
            votes += [_vote(failure, changed, is_test) for failure in found] or [("", None)]
        else:
            votes += [_of_problem(case, known, is_test) for case in result.cases if case.status == "failed"] or [
                ("", None)
            ]
    words = {word for word, _ in votes if word}
    places = tuple(dict.fromkeys(str(frame) for word, frame in votes if frame and (word or not words)))[:MOST_PLACES]
    if words == {"source"}:
        return Place("source_is_wrong", "high", places)
    if words == {"test"}:
        return Place("test_is_wrong", "high", places)
    return Place("unknown", "low", places)


def _of_problem(case: Case, known: "_Files", is_test: Callable[[str], bool]) -> tuple[str, _Frame | None]:
    """A linter or a type checker says itself which file is wrong."""
    path = known.resolve(case.file)
    return ("test" if is_test(path) else "source", _Frame(path, case.line)) if path else ("", None)


def _vote(failure: _Failure, changed: Collection[str], is_test: Callable[[str], bool]) -> tuple[str, _Frame | None]:
    """Which side one failure counts against, and by which place; no side if both can be wrong."""
    inner = failure.frames[-1] if failure.frames else None
    if inner is None:
        return "", None
    tests = [frame for frame in failure.frames if is_test(frame.path)]
    source_changed = any(not is_test(path) and not _DOCUMENT.search(path) for path in changed)
    new_test = any(frame.path in changed for frame in tests)
    if is_test(inner.path) and new_test and any(map(_OWN_FAULT.search, failure.lines)):
        return "test", inner
    if tests and new_test and not source_changed:
        return "test", tests[-1]
    if tests and not new_test:
        support_changed = any(is_test(path) and _SUPPORT.search(path) for path in changed)
        return ("source", inner) if source_changed and not support_changed else ("", inner)
    raised = not is_test(inner.path) and not any(map(_ASSERTION.search, failure.lines))
    accident = any(map(_ACCIDENT.search, failure.lines)) and not any(map(_DELIBERATE.search, failure.lines))
    if raised and accident and inner.path in changed:
        return "source", inner
    return "", inner


def _failures(result: Result, known: "_Files") -> Iterator[_Failure]:
    """Each failure of a test run with frames of the project: those in the output, then failed cases that it does not show."""
    shown: set[str] = set()
    for block in _blocks(clean(result.output)):
        frames = _frames(block, known)
        if frames:
            shown.update(frame.path for frame in frames)
            yield _Failure(frames, tuple(block))
    for case in result.cases:
        path = known.resolve(case.file) if case.status == "failed" else ""
        if path and path not in shown:
            yield _Failure((_Frame(path, case.line),), (case.name,))


def _blocks(lines: Sequence[str]) -> Iterator[Sequence[str]]:
    """The lines of each failure; what a test printed itself is no part of it."""
    block: list[str] = []
    captured = False
    for line in lines:
        if _NEXT.match(line):
            yield block
            block, captured = [], False
        captured = captured or bool(_CAPTURED.match(line))
        if not captured:
            block.append(line)
    yield block


def _frames(lines: Sequence[str], known: "_Files") -> tuple[_Frame, ...]:
    """The project's own frames, the innermost last: Python reports them in that order, others in the opposite one."""
    stack = [line for line in lines if _STACK.match(line)]
    found: list[_Frame] = []
    for line in lines:
        found += _mentions(line, known, not stack or line in stack)
    python = [frame for frame in found if frame.path.endswith(".py")]
    return tuple(python or reversed(found))


def _mentions(line: str, known: "_Files", loose: bool) -> Iterator[_Frame]:
    if _LIBRARY.search(line):
        return
    for match in _FILE_LINE.finditer(line):
        if path := known.resolve(match[1]):
            yield _Frame(path, number(match[2]))
        return
    for match in _JAVA.finditer(line):
        if path := known.resolve(match[1].replace(".", "/") + match[2]):
            yield _Frame(path, number(match[3]))
        return
    for match in _MENTION.finditer(line) if loose and not _DEFINITION.match(line) else ():
        if path := known.resolve(match[1]):
            yield _Frame(path, number(match[2]))


class _Files:
    """The files of the project by their names, so that a path of an output finds the one that it means."""

    def __init__(self, paths: Iterable[str]) -> None:
        self.by_name: dict[str, list[str]] = {}
        for path in paths:
            self.by_name.setdefault(path.rpartition("/")[2], []).append(path)

    def resolve(self, said: str) -> str:
        """The file that ends like what was said, or that what was said ends with; nothing if it is none or several."""
        said = said.replace("\\", "/").removeprefix("file://").removeprefix("./")
        same = self.by_name.get(said.rpartition("/")[2], [])
        whole = [path for path in same if said == path or said.endswith(f"/{path}")]
        meant = [max(whole, key=len)] if whole else [path for path in same if path.endswith(f"/{said}")]
        return meant[0] if len(meant) == 1 else ""
