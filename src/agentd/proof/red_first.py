"""The project's commands on the code as it was: new tests have to be red there, and a lost baseline is made again."""

import re
from collections.abc import Collection, Sequence
from hashlib import sha256

from agentd.git import trees
from agentd.model.command import Command
from agentd.model.evidence import Changed, Evidence, Harm, Result
from agentd.proof import commands, file_copy, record
from agentd.proof.integrity.inventory import may_hold_tests, tests_in
from agentd.proof.integrity.paths import is_test
from agentd.runs.work import Work


def red_first(
    work: Work, changed: Sequence[Changed], planned: Collection[str]
) -> tuple[tuple[Result, ...], list[Harm]]:
    """Tests that the plan names, tried on the code as it was: what passes there too proves nothing about the change."""
    named = {path for path in planned if is_test(path)}
    new = {one.path: one.new for one in changed if one.new is not None and one.path in named}
    new = {path: text for path, text in new.items() if may_hold_tests(path, text)}
    held = {path: tests_in(path, text) for path, text in new.items()}
    empty = [path for path, tests in held.items() if tests is not None and not tests]
    harms = [Harm("no_test", "it has no test", path, quote=path) for path in empty]
    if not new:
        return (), []
    laid = [one for one in changed if one.new is not None and is_test(one.path)]
    results = _tried(work, laid)
    for path in new:
        if _passed(path, results):
            message = "it passes on the code as it was before the change, so it proves nothing about the change"
            harms.append(Harm("passes_on_old_code", message, path, quote=path))
    return results, harms


def _passed(path: str, results: Sequence[Result]) -> bool:
    """Whether a test file was green on the old code; where no output tells files apart, all of them together."""
    ran = [one for one in results if one.status in ("green", "red") and _below(path, one.command.folder)]
    cases = [case for one in ran for case in one.cases]
    failed = [case for case in cases if case.status == "failed"]
    if not ran or all(one.status == "green" for one in ran):
        return bool(ran)
    stem = path.rsplit("/", 1)[-1].split(".")[0]
    named = re.compile(rf"(?<!\w){re.escape(stem)}(?!\w)")
    own = [case for case in failed if case.file == path or named.search(case.name)]
    passed = [case for case in cases if case.status == "passed"]
    if not own and any(case.file == path or ("test" in stem and named.search(case.name)) for case in passed):
        return True
    elsewhere = [case for case in failed if case not in own]
    return not own and len(elsewhere) == len(failed) > 0 and all(case.file for case in elsewhere)


def _tried(work: Work, laid: Sequence[Changed]) -> tuple[Result, ...]:
    """The test commands run on the old code with these files laid over it; the same is not tried twice."""
    base, paths = record.base(work), [one.path for one in laid]
    mixed = trees.overlaid(work.cwd, base, record.tree(work), paths)
    listed = commands.commands(work, commands.TESTS)
    known, _ = record.evidence(work)
    key = sha256(repr((mixed, [(one.folder, one.run) for one in listed])).encode()).hexdigest()
    if known is not None and known.before and record.record(work).tried == key:
        return known.before
    results = _run(work, mixed, listed)
    record.keep(work, tried=key)
    return results


def _run(work: Work, tree: str, listed: Sequence[Command]) -> tuple[Result, ...]:
    """Commands run on the files of a tree, laid out in a folder of their own."""
    with file_copy.laid_out(work, tree, listed) as place:
        return commands.run_all(work, place, listed)


def look_at_base(work: Work) -> Evidence:
    """What the project's commands say of the files the implementation began with, where those are no longer there."""
    base = record.base(work)
    return Evidence(base, work.project.now(), _run(work, base, commands.commands(work)))


def baseline(work: Work) -> Evidence | None:
    """What was seen before the first task; made again from the files of then if it was lost."""
    seen, problem = record.evidence(work, record.BASELINE)
    if not problem or not record.base(work):
        return seen
    work.say(f"⚠ {problem}: the commands run once more on the files the change began with")
    seen = look_at_base(work)
    record.keep_evidence(work, record.BASELINE, seen, "")
    return seen


def _below(path: str, folder: str) -> bool:
    return not folder or path.startswith(f"{folder}/")
