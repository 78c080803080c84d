"""Which of the numbered requirements the tests prove: `python -m tests.conformance [FOLDER]`.

A number is proved when a test marked `@pytest.mark.requirement(number)` is collected and is neither skipped nor
expected to fail. Fails for a number in FOLDER/claimed.txt that nothing proves, for a mark that is no number, and whenever
pytest cannot collect every test. Never runs a test.
"""

import io
import re
import sys
from collections.abc import Iterable
from contextlib import redirect_stderr, redirect_stdout
from pathlib import Path

import pytest

LAST = 311


class Collected:
    """A pytest plugin that notes the requirement marks of what was collected."""

    def __init__(self) -> None:
        self.tests = 0
        self.proved: set[int] = set()
        self.wrong: list[str] = []

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        self.tests = len(items)
        for item in items:
            for mark in item.iter_markers("requirement"):
                self.note(item, mark.args)

    def note(self, item: pytest.Item, numbers: tuple[object, ...]) -> None:
        wrong = [n for n in numbers if type(n) is not int or not 1 <= n <= LAST]
        if wrong or not numbers:
            given = ", ".join(map(repr, wrong))
            self.wrong.append(f"{item.nodeid}: requirement({given}) is not a number from 1 to {LAST}")
        elif not (item.get_closest_marker("skip") or item.get_closest_marker("xfail")):
            self.proved.update(n for n in numbers if isinstance(n, int))


def collect(folder: Path) -> tuple[Collected, str]:
    """Everything collected under a folder, and what pytest said if it could not collect it all."""
    seen, said = Collected(), io.StringIO()
    arguments = ["--collect-only", "-q", "-p", "no:cacheprovider", "--import-mode=importlib", str(folder)]
    with redirect_stdout(said), redirect_stderr(said):
        code = pytest.main(arguments, plugins=[seen])
    if code == pytest.ExitCode.OK and seen.tests:
        return seen, ""
    tests, header, errors = said.getvalue().partition("= ERRORS =")
    return seen, header + errors or tests or "no output"


def read_claims(text: str) -> set[int]:
    """The numbers of a list such as `81-92` or `293`, one entry a line, `#` for comments."""
    claimed: set[int] = set()
    for number, line in enumerate(text.splitlines(), 1):
        entry = line.partition("#")[0].strip()
        if not entry:
            continue
        found = re.fullmatch(r"(\d+)(?:\s*-\s*(\d+))?", entry)
        first, last = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
        if not 1 <= first <= last <= LAST:
            raise SystemExit(f"claimed.txt, line {number}: {entry!r} is neither a number nor a range from 1 to {LAST}")
        claimed.update(range(first, last + 1))
    return claimed


def ranges(numbers: Iterable[int]) -> str:
    """1, 2, 3, 7 as `1-3, 7`."""
    runs: list[list[int]] = []
    for number in sorted(numbers):
        if runs and runs[-1][1] == number - 1:
            runs[-1][1] = number
        else:
            runs.append([number, number])
    return ", ".join(str(a) if a == b else f"{a}-{b}" for a, b in runs) or "none"


def main(folder: Path) -> int:
    claims = folder / "claimed.txt"
    if not claims.is_file():
        print(f"conformance: there is no {claims}")
        return 1
    claimed = read_claims(claims.read_text("utf-8"))
    seen, trouble = collect(folder)
    if trouble:
        print(f"{trouble.rstrip()}\nconformance: pytest did not collect every test under {folder}, so nothing is known")
        return 1
    print(f"no test yet:  {ranges(set(range(1, LAST + 1)) - seen.proved)}")
    print(f"proved:       {len(seen.proved)} of {LAST}, by {seen.tests} collected tests; claimed: {len(claimed)}")
    if unclaimed := seen.proved - claimed:
        print(f"note:         proved but not claimed in {claims.name}: {ranges(unclaimed)}")
    for mark in seen.wrong:
        print(f"wrong mark:   {mark}")
    if unproved := claimed - seen.proved:
        print(f"claimed, but no test proves it: {ranges(unproved)}")
    return 1 if seen.wrong or unproved else 0


if __name__ == "__main__":
    raise SystemExit(main(Path(sys.argv[1]) if len(sys.argv) > 1 else Path(__file__).parent))
