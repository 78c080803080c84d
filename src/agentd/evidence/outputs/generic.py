"""Reads the last line of any other runner: so many passed, so many failed. Pure."""

import re
from collections.abc import Sequence

from agentd.evidence.outputs.summary import Summary, summarized, tally, tally_of
from agentd.evidence.outputs.terminal_text import number
from agentd.patterns import regex

_PAIR = regex(
    r"\b(\d+) (?:tests? )?(passed|passing|succeeded|failed|failing|failures?|errors?|skipped|skips|pending|ignored)\b"
    r"(?=\s*(?:$|[,;.|()\]/·•-]|and\b|in\b|of\b))"
)
# ctest, and dotnet test
_CTEST = regex(r"\d+% tests passed, (?P<failed>\d+) tests? failed out of (?P<total>\d+)")
_DOTNET = regex(r"Failed: +(?P<failed>\d+), Passed: +\d+, Skipped: +(?P<skipped>\d+), Total: +(?P<total>\d+)")
_PHPUNIT = regex(r"^OK \((?P<total>\d+) tests?, \d+ assertions?\)$")
_RUN = regex(r"\b(\d+) (?:tests|test|examples|example|runs|run|specs|spec|scenarios|scenario)\b(?! (?:passed|failed))")
_NOTHING = regex(
    r"^(?:no tests? (?:ran|found|collected|were run|to run)\b|error: no test specified|there are no tests"
    r"|\S+: '?\S+'? is up to date\.$|\S+: nothing to be done for )",
    re.IGNORECASE,
)
_PASSED = ("passed", "passing", "succeeded")
_FAILED = ("failed", "failing", "failure", "failures", "error", "errors")


def read(lines: Sequence[str]) -> Summary:
    """The last line that counts tests; a line that counts only errors does not."""
    for line in reversed(lines):
        if match := _CTEST.search(line) or _DOTNET.search(line) or _PHPUNIT.match(line):
            told = {word: number(count) for word, count in match.groupdict().items()}
            return summarized([tally_of(told["total"], told.get("failed", 0), told.get("skipped", 0))])
        parts: dict[str, int] = {}
        for count, word in _PAIR.findall(line):
            parts[word] = parts.get(word, 0) + number(count)
        run = _RUN.search(line)
        passed = sum(parts.get(word, 0) for word in _PASSED)
        failed = sum(parts.get(word, 0) for word in _FAILED)
        skipped = sum(count for word, count in parts.items() if word not in (*_PASSED, *_FAILED))
        if run and ("failures" in parts or "failure" in parts):
            return summarized([tally_of(number(run[1]), failed, skipped)])
        if any(word in parts for word in _PASSED) or any(parts.get(word) for word in ("failed", "failing", "failures")):
            return summarized([tally(passed, failed, skipped)])
    return Summary(nothing=any(_NOTHING.match(line.strip()) for line in lines))
