"""What the evidence says about some tests of the project. A failure that may be one of theirs counts as theirs."""

from collections.abc import Callable, Collection, Sequence
from re import escape, search

from agentd.model.evidence import Case, Counts, Evidence, Result, Status
from agentd.proof.integrity.paths import is_test
from agentd.values import dataclass

_WORST_FIRST: tuple[Status, ...] = ("red", "unknown", "none", "green")
Whose = Callable[[str], bool | None]


@dataclass(frozen=True)
class Proof:
    """The result of some tests. `whole`: the output does not tell them apart, so it is that of the whole command.

    `red_before`: whether they failed on the code before the change; None if they were not run on it.
    """

    status: Status
    passed: int = 0
    failed: int = 0
    skipped: int = 0
    whole: bool = False
    red_before: bool | None = None


def prove(seen: Evidence, paths: Collection[str], whose: Whose) -> Proof:
    """The result of the tests in these files. `whose` tells by a test's name whether it is one of them, None if unsure."""
    now = _together(seen.results, paths, whose) or Proof("none" if _commands(seen.results) else "unknown")
    before = _together(seen.before, paths, whose)
    red = {"red": True, "green": False}.get(before.status) if before else None
    return Proof(now.status, now.passed, now.failed, now.skipped, now.whole, red)


def covering(results: Sequence[Result], paths: Collection[str]) -> list[Result]:
    """The test commands that may run these files."""
    return [one for one in _commands(results) if any(_is_below(path, one.command.folder) for path in paths)]


def _commands(results: Sequence[Result]) -> list[Result]:
    return [one for one in results if one.command.kind == "test"]


def _together(results: Sequence[Result], paths: Collection[str], whose: Whose) -> Proof | None:
    """The result of all commands that ran the tests; only of the named tests where an output names them."""
    found = [proof for one in covering(results, paths) if (proof := _of(one, paths, whose))]
    chosen = [one for one in found if not one.whole] or found
    if not chosen:
        return None
    status = next(word for word in _WORST_FIRST if any(one.status == word for one in chosen))
    passed, failed = sum(one.passed for one in chosen), sum(one.failed for one in chosen)
    return Proof(status, passed, failed, sum(one.skipped for one in chosen), chosen[0].whole)


def _of(result: Result, paths: Collection[str], whose: Whose) -> Proof | None:
    """The result of the tests in one command; None if it did not run them."""
    own = [case for case in result.cases if _is_own(case, paths, whose)]
    passed, failed, skipped = (sum(case.status == word for case in own) for word in ("passed", "failed", "skipped"))
    if passed or failed:
        return Proof("red" if failed else "green", passed, failed, skipped)
    named = result.counts is not None and 0 < result.counts.total <= len(result.cases)
    if own and named:
        return Proof("none", skipped=skipped)
    if not own and named and all(_is_elsewhere(case) for case in result.cases):
        return None
    told = result.counts or Counts()
    status: Status = "green" if result.status == "red" and _is_others(result, whose) else result.status
    return Proof(status, told.passed, 0 if status == "green" else told.failed, told.skipped, whole=True)


def _is_others(result: Result, whose: Whose) -> bool:
    """Whether a red command names every failure, and none can be one of the tests."""
    failed = [case for case in result.cases if case.status == "failed"]
    if not failed or result.counts is None or result.counts.failed > len(failed):
        return False
    return all(whose(case.name) is False or _is_elsewhere(case) for case in failed)


def _is_own(case: Case, paths: Collection[str], whose: Whose) -> bool:
    mine = whose(case.name)
    return bool(mine) or (mine is None and any(_is_of(case, path) for path in paths))


def _is_of(case: Case, path: str) -> bool:
    """Whether a test belongs to a file: the output says so, or the name of the test contains that of the file."""
    file = case.file.removeprefix("./")
    if file and (file == path or path.endswith(f"/{file}") or file.endswith(f"/{path}")):
        return True
    if path.endswith("/"):
        return file.startswith(path)
    stem = path.rpartition("/")[2].partition(".")[0]
    return bool(stem and search(rf"(?<![A-Za-z0-9_]){escape(stem)}(?![A-Za-z0-9_])", case.name))


def _is_elsewhere(case: Case) -> bool:
    """Whether the output places a test in a test file; a failure in another file may belong to any test."""
    return bool(case.file) and is_test(case.file)


def _is_below(path: str, folder: str) -> bool:
    return not folder or path.startswith(f"{folder.strip('/')}/")
