"""Finds what a change did to the tests or to how they are run; judges texts alone, and runs nothing."""

import re
from collections.abc import Callable, Collection, Iterator, Sequence

from agentd.model.evidence import Changed, Harm
from agentd.proof.integrity import curly, javascript, outline, python
from agentd.proof.integrity.asking import asks
from agentd.proof.integrity.holding import may_hold_tests, tests_in
from agentd.proof.integrity.pairing import Placed, pair
from agentd.proof.integrity.paths import is_collected, is_test, is_test_config, language, tidy
from agentd.proof.integrity.reaching import reaches
from agentd.proof.integrity.reading import Mark, Reading
from agentd.proof.integrity.scripts import files_run
from agentd.proof.integrity.settings import audit_settings
from agentd.proof.integrity.weighing import hollow, skipped, weigh

__all__ = ["audit", "files_run", "is_collected", "is_test", "is_test_config", "may_hold_tests", "tests_in"]

_SHADOWS = re.compile(
    r"^(?:(?:src|lib|tests?|bin)/)?(?:_?pytest|unittest|nose|hypothesis)(?:\.py|/__(?:init|main)__\.py)?$"
)
_CUSTOMIZE = re.compile(r"(^|/)(sitecustomize|usercustomize)(\.py|/__init__\.py)$|\.pth$")
_NO_TESTS = Reading()


def audit(changed: Sequence[Changed], planned: Collection[str]) -> tuple[Harm, ...]:
    """Every harm that the changed files show, by file and line. Never raises, whatever the texts are.

    Tests of a file in `planned` may come to expect something else; nothing else is excused by the plan.
    """
    plan = {tidy(path) for path in planned}
    changed = [each for each in changed if each.old != each.new]
    readings = [(each, *_read(each)) for each in changed if _holds_tests(each)]
    found = [
        *_tests(readings, plan),
        *(harm for each, old, new in readings for harm in _file(each, old, new)),
        *(harm for each in changed for harm in audit_settings(each.path, each.old, each.new)),
        *(harm for each in changed for harm in _shadows(each)),
        *(harm for each in changed for harm in _reaching(each)),
    ]
    unique = {(harm.rule, harm.file, harm.line, harm.quote): harm for harm in reversed(found)}
    return tuple(sorted(unique.values(), key=lambda harm: (harm.file, harm.line, harm.rule)))


def _holds_tests(changed: Changed) -> bool:
    if is_test(changed.path):
        return True
    # Rust keeps tests beside what they test.
    return language(changed.path) == "rust" and "#[" in f"{changed.old}{changed.new}"


def _read(changed: Changed) -> tuple[Reading, Reading]:
    """Both texts, read in the same way: by lines if one of them cannot be read by its syntax."""
    reader = _reader(language(changed.path))
    if language(changed.path) == "python":
        both = [_NO_TESTS if text is None else python.read(text) for text in (changed.old, changed.new)]
        if both[0] is not None and both[1] is not None:
            return both[0], both[1]
        reader = outline.read
    old, new = (_NO_TESTS if text is None else reader(text) for text in (changed.old, changed.new))
    return old, new


def _reader(name: str) -> Callable[[str], Reading]:
    if name == "javascript":
        return javascript.read
    if name in curly.CUSTOMS:
        return lambda text: curly.read(text, name)
    return lambda text: _NO_TESTS


def _tests(readings: Sequence[tuple[Changed, Reading, Reading]], plan: Collection[str]) -> Iterator[Harm]:
    old = [Placed(each.path, test) for each, before, _ in readings for test in before.tests]
    new = [Placed(each.path, test) for each, _, now in readings for test in now.tests]
    pairs, gone, fresh = pair(old, new)
    elsewhere = {claim.text for now in fresh if is_collected(now.file) for claim in now.test.real}
    for before, now in pairs:
        expects = tidy(now.file) in plan or tidy(before.file) in plan
        yield from weigh(now.file, before.test, now.test, expects, elsewhere)
    for now in fresh:
        if is_collected(now.file):
            yield from skipped(now.file, None, now.test)
            yield from hollow(now.file, now.test)
    for each, before_file, now_file in readings:
        mine = [placed for placed in gone if placed.file == each.path]
        if each.new is None and (len(mine) > 1 or (mine and len(mine) == len(before_file.tests))):
            names = ", ".join(placed.test.short for placed in mine[:5]) + (" …" if len(mine) > 5 else "")
            yield Harm("deleted_test", f"the test file is deleted, with {names}", each.path)
        elif each.new is None and not before_file.tests and _is_program(each):
            yield Harm("deleted_test", "the test file is deleted", each.path)
        else:
            yield from (_gone(placed, now_file) for placed in mine)


def _is_program(changed: Changed) -> bool:
    """Whether a deleted file could hold tests that cannot be read here."""
    name = changed.path.rpartition("/")[2]
    return not language(changed.path) and bool(
        re.search(r"(?i)(test|spec)[^/]*\.(rb|php|exs?|c|cc|cpp|swift|dart|lua|sh|bats)$", name)
    )


def _gone(before: Placed, now: Reading) -> Harm:
    test, file = before.test, before.file
    quoted = re.compile(rf"(?<![\w]){re.escape(test.short)}(?![\w])")
    for line, text in now.comments:
        if quoted.search(text) and re.search(r"\bdef |\bfunc |\bfn |\bvoid |\bfun |\bit\b|\btest\b|\(", text):
            return Harm("skipped_test", f"{test.short} is commented out", file, line, text)
    called = {name for each in now.tests for claim in each.claims for name in re.findall(r"\w+", claim.subject)}
    for other in now.others:
        if other.body == test.body and other.short not in called:
            message = f"{test.short} became {other.short}, which is not collected"
            return Harm("skipped_test", message, file, other.line, other.quote)
    return Harm("deleted_test", f"{test.short} is gone", file, test.line, test.quote)


def _file(changed: Changed, old: Reading, new: Reading) -> Iterator[Harm]:
    """What is not about one test: marks of the file, what hides failures, hooks, and functions that assert for tests."""
    known = {mark.key for mark in (*old.marks, *old.hidden)}
    existed = changed.old is not None
    whose = "the file"
    for mark in new.marks:
        if mark.key not in known and (existed or mark.sure):
            yield Harm(mark.rule, f"{mark.owner or whose} {mark.what}", changed.path, mark.line, mark.quote)
    if is_collected(changed.path) or is_test_config(changed.path):
        yield from (_hidden(changed.path, mark) for mark in new.hidden if mark.key not in known)
    hooks = {hook.name: hook.body for hook in old.hooks}
    for hook in new.hooks:
        if hooks.get(hook.name) != hook.body:
            message = f"{hook.name} chooses tests or changes what they came to"
            yield Harm("changed_test_settings", message, changed.path, hook.line, hook.quote)
    served = {other.name: other for other in old.others if other.real}
    for other in new.others:
        if other.name in served:
            yield from weigh(changed.path, served[other.name], other, planned=True)


def _hidden(file: str, mark: Mark) -> Harm:
    return Harm(mark.rule, mark.what, file, mark.line, mark.quote)


def _reaching(changed: Changed) -> Iterator[Harm]:
    """What code that is no test does about the test run."""
    kind, test = language(changed.path), is_test(changed.path)
    judged = test and (is_collected(changed.path) or is_test_config(changed.path))  # by its own rules
    if kind == "python" and not judged:
        old, new = (reaches(changed.path, text or "", test) for text in (changed.old, changed.new))
    elif kind == "javascript" and not test:
        old, new = (asks(changed.path, text or "") for text in (changed.old, changed.new))
    else:
        return
    known = {mark.key for mark in old}
    yield from (_hidden(changed.path, mark) for mark in new if mark.key not in known)


def _shadows(changed: Changed) -> Iterator[Harm]:
    path = tidy(changed.path)
    if changed.new is None:
        return
    if (changed.old is None and _SHADOWS.match(path)) or _CUSTOMIZE.search(path):
        first = next((line.strip() for line in changed.new.split("\n") if line.strip()), "")
        yield Harm(
            "hidden_failure",
            f"{path} takes the place of the test runner, or changes Python before it runs",
            changed.path,
            1,
            first,
        )
