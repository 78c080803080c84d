"""Commands that run tests, wherever they are written down, and what hides that they failed."""

import re
from collections.abc import Iterable, Iterator

from agentd.model.evidence import Harm

RUNS = re.compile(
    r"""(?<![\w./-])(?:[\w./-]*/)?(
      pytest|py\.test|nosetests|nox|tox|jest|vitest|mocha|ava|karma|rspec|phpunit|ctest|gotestsum|nyc|c8
    )(?![\w/-]|\.\w) | \b(python[\d.]*\s+-m\s+(pytest|unittest|nose2?|coverage) | (npm|yarn|pnpm|bun)\s+(run\s+)?(-\w+\s+)*t(est)?\b(?!-)
    | (playwright|cypress|node|deno|bun|hatch|ng|dotnet|swift|flutter|mix|bazel|cargo|go|sbt|lein)\s+(--)?(run\s+|nextest\s+)?(test|run)\b
    | mvnw?\b[^\n|;&]*\b(test|verify|install|package)\b | gradlew?\b[^\n|;&]*\b(test|check|build)\b
    | (make|just|task)\s+(-\w+\s+)*(test|check|ci|verify)\w* | coverage\s+run | manage\.py\s+test)""",
    re.X,
)
_ALWAYS = re.compile(
    r"\|\|\s*(true|:|exit\s+0|/bin/true|echo\b|printf\b|\(exit 0\))(?![\w])|;\s*(exit\s+0|true|:)\s*['\")]*\s*$|&&\s*exit 0\s*;?\s*exit 0"
)
_EMPTY = re.compile(
    r"--pass-?with-?no-?tests\b|--exit-zero\b|--no-error-on-unmatched|--allow-no-tests|--suppress-no-test-exit-code",
    re.I,
)
_PIPE = re.compile(r"(?<!\|)\|(?![|&])\s*(tee|tail|head|grep|cat|sed|awk|less|sort)\b")
_FORGIVEN = re.compile(r"^\s*-?\s*(continue-on-error|allow_failure|continueOnError)\s*:\s*(true|\$\{\{.*)", re.I)
_PLUS_E = re.compile(r"^\s*set\s+\+(e|o\s+errexit|o\s+pipefail)")
_EXIT = re.compile(r"^exit\s+0\s*;?\s*$")
_OFF = re.compile(r"^\s*(-\s*)?if\s*:\s*(\$\{\{\s*)?false\b")
_STEP = re.compile(r"^\s*-\s")
HIDDEN, COMMAND = "hidden_failure", "changed_test_command"


def hides(command: str, piped: bool = True) -> str:
    """What in a command that runs tests hides their failure, or nothing; `piped` where a pipe loses it."""
    if found := _ALWAYS.search(command):
        return found[0].strip()
    if found := _EMPTY.search(command):
        return found[0]
    runs = RUNS.search(command)
    if piped and runs and "pipefail" not in command and (found := _PIPE.search(command, runs.end())):
        return found[0].strip()
    return ""


def joined(text: str) -> Iterator[tuple[int, str]]:
    """The lines of a text, those that end with a backslash together with what follows them, without comments."""
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


def audit_lines(file: str, old: str | None, new: str | None) -> Iterator[Harm]:
    """A script or a pipeline: whether its steps that run tests are still there, and still fail when they do."""
    before = {_plain(line) for _, line in joined(old or "")}
    lines = list(joined(new or ""))
    now = {_plain(line) for _, line in lines}
    runs = bool(RUNS.search(new or ""))
    piped = "pipefail" not in (new or "") and "shell: bash" not in (new or "")
    for number, line in lines:
        if _plain(line) in before:
            continue
        what = hides(line, piped) if RUNS.search(line) else ""
        if not what and runs and (_PLUS_E.match(line) or _EXIT.match(line)):
            what = line.strip()
        if not what and _FORGIVEN.match(line) and RUNS.search(_step(lines, number)):
            what = line.strip()
        if what:
            yield Harm(HIDDEN, f"“{what}” hides it when the tests fail", file, number, line.strip())
        elif _OFF.match(line) and RUNS.search(_step(lines, number)):
            yield Harm(COMMAND, "a step that runs tests is switched off", file, number, line.strip())
    yield from _gone(file, old or "", now, lines, {_plain(line) for _, line in lines if hides(line, piped)})


def _gone(file: str, old: str, now: set[str], lines: list[tuple[int, str]], hiding: set[str]) -> Iterator[Harm]:
    whole = " ".join(" ".join(now).split())
    old_lines = {_plain(line) for _, line in joined(old)}
    for number, line in joined(old):
        plain = _plain(line)
        if not RUNS.search(line) or _is_name(line) or plain in now or plain.rstrip("\\").strip() in whole:
            continue
        instead = next(
            (
                (at, each)
                for at, each in lines
                if RUNS.search(each) and not _is_name(each) and _plain(each) not in old_lines
            ),
            None,
        )
        if instead and _plain(instead[1]) in hiding:
            continue  # told as hidden already
        if instead:
            message = f"tests were run with “{plain}” and are now with “{_plain(instead[1])}”"
            yield Harm(COMMAND, message, file, instead[0], instead[1].strip())
        else:
            yield Harm(COMMAND, f"tests are no longer run with “{plain}”", file, number, line.strip())


def _is_name(line: str) -> bool:
    """Whether a line of YAML names something, or installs it, and runs nothing."""
    return bool(
        re.match(r"\s*(-\s*)?(name|uses|key|path|image|id|description|with|needs)\s*:", line)
        or re.search(
            r"\b(pip|uv|npm|yarn|pnpm|cargo|go|apt|apt-get|brew|poetry|pdm|pipx)3?\s+(pip\s+)?(install|add|ci|get|sync)\b",
            line,
        )
        or re.match(r"\s*(echo|printf|#)", line)
    )


def _step(lines: list[tuple[int, str]], number: int) -> str:
    """The step of a pipeline, or the job, that a line belongs to: its neighbours of the same depth or deeper."""
    at = next(place for place, (each, _) in enumerate(lines) if each == number)
    depth = _depth(lines[at][1])
    first = at
    while first > 0 and (
        not lines[first][1].strip() or _depth(lines[first - 1][1]) >= depth or not lines[first - 1][1].strip()
    ):
        if _STEP.match(lines[first][1]) and _depth(lines[first][1]) == depth:
            break
        first -= 1
    last = at + 1
    while last < len(lines) and (not lines[last][1].strip() or _depth(lines[last][1]) >= depth):
        if (
            _STEP.match(lines[last][1])
            and _depth(lines[last][1]) <= depth
            and len(lines[last][1]) - len(lines[last][1].lstrip()) < depth
        ):
            break
        last += 1
    return "\n".join(line for _, line in lines[first:last] if not _is_name(line))


def _depth(line: str) -> int:
    """How far a line is indented, the dash of a list counted as indentation."""
    return len(line) - len(line.lstrip(" -"))


def _plain(line: str) -> str:
    return " ".join(re.sub(r"^\s*(-\s+)?(run\s*:\s*(?![|>]))?", "", line).split()).strip("'\"")


def rules_of(text: str) -> dict[str, tuple[int, list[str], list[str]]]:
    """The targets of a Makefile or justfile: line, what they depend on, and their recipe."""
    found: dict[str, tuple[int, list[str], list[str]]] = {}
    current: list[str] = []
    for number, line in joined(text):
        head = re.match(r"^@?([\w./%-]+(?:[ \t]+[\w./%=\"'*+$-]+)*)\s*::?(?![=:])\s*(.*)$", line)
        if line[:1] in (" ", "\t") and current:
            for name in current:
                found[name][2].append(line.strip())
        elif head:
            words, _, inline = head[2].partition(";")
            current = head[1].split()[:1] if "\t" not in text else head[1].split()
            for name in current:
                known = found.get(name, (number, [], []))
                found[name] = (
                    known[0],
                    [*known[1], *words.split("#")[0].split()],
                    [*known[2], *filter(None, [inline.strip()])],
                )
        elif line.strip():
            current = []
    return found


def closure(roots: Iterable[str], calls: dict[str, set[str]]) -> set[str]:
    """The roots and whatever they call."""
    found: set[str] = set()
    left = [root for root in roots if root in calls]
    while left:
        name = left.pop()
        if name not in found:
            found.add(name)
            left += [each for each in calls[name] if each in calls]
    return found
