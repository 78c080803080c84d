"""Shell commands that run tests, and what in them hides a failure."""

import re
from collections.abc import Iterable, Iterator

from agentd.patterns import regex

RUNS = regex(
    r"""(?<![\w./-])(?:[\w./-]*/)?(
      pytest|py\.test|nosetests|nox|tox|jest|vitest|mocha|ava|karma|rspec|phpunit|ctest|gotestsum|nyc|c8
    )(?![\w/-]|\.\w) | \b(python[\d.]*\s+-m\s+(pytest|unittest|nose2?|coverage) | (npm|yarn|pnpm|bun)\s+(run\s+)?(-\w+\s+)*t(est)?\b(?!-)
    | (playwright|cypress|node|deno|bun|hatch|ng|dotnet|swift|flutter|mix|bazel|cargo|go|sbt|lein)\s+(--)?(run\s+|nextest\s+)?(test|run)\b
    | mvnw?\b[^\n|;&]*\b(test|verify|install|package)\b | gradlew?\b[^\n|;&]*\b(test|check|build)\b
    | (make|just|task)\s+(-\w+\s+)*(test|check|ci|verify)\w* | coverage\s+run | manage\.py\s+test)""",
    re.X,
)
_ALWAYS = regex(
    r"\|\|\s*(true|:|exit\s+0|/bin/true|echo\b|printf\b|\(exit 0\))(?![\w])|;\s*(exit\s+0|true|:)\s*['\")]*\s*$|&&\s*exit 0\s*;?\s*exit 0"
)
_EMPTY = regex(
    r"--pass-?with-?no-?tests\b|--exit-zero\b|--no-error-on-unmatched|--allow-no-tests|--suppress-no-test-exit-code",
    re.I,
)
_PIPE = regex(r"(?<!\|)\|(?![|&])\s*(tee|tail|head|grep|cat|sed|awk|less|sort)\b")


def hides(command: str, piped: bool = True) -> str:
    """What in a command that runs tests hides their failure, or nothing; `piped` if a pipe loses the exit code."""
    if found := _ALWAYS.search(command):
        return found[0].strip()
    if found := _EMPTY.search(command):
        return found[0]
    runs = RUNS.search(command)
    if piped and runs and "pipefail" not in command and (found := _PIPE.search(command, runs.end())):
        return found[0].strip()
    return ""


def joined(text: str) -> Iterator[tuple[int, str]]:
    """The numbered lines of a text without comments; a backslash at the end joins a line with the next."""
    start, held = 0, ""
    for number, line in enumerate(text.split("\n"), 1):
        start = start if held else number
        if line.rstrip().endswith("\\"):
            held += line.rstrip()[:-1] + " "
            continue
        whole, held = held + line, ""
        if not whole.lstrip().startswith(("#", "//")):
            yield start, whole
    if held:
        yield start, held


def closure(roots: Iterable[str], calls: dict[str, set[str]]) -> set[str]:
    """The roots and everything they call, directly or not."""
    found: set[str] = set()
    left = [root for root in roots if root in calls]
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += [each for each in calls[name] if each in calls]
    return found


def one_line(command: str) -> str:
    """A command with single blanks."""
    return " ".join(command.split())
