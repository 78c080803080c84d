"""Every harm that a change does to the tests and to how they are run. Judges texts alone, and runs nothing."""

import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from agentd.model.evidence import Changed, Harm
from agentd.patterns import regex
from agentd.proof.integrity import javascript_interference, python_interference
from agentd.proof.integrity.comparison import compare, hollow, skipped
from agentd.proof.integrity.pairs import Placed, pair_tests
from agentd.proof.integrity.parsed import Mark, ParsedFile
from agentd.proof.integrity.parsers import parse
from agentd.proof.integrity.paths import is_collected, is_test, is_test_config, language, tidy
from agentd.proof.integrity.rules import HIDDEN, SETTINGS, SKIPPED
from agentd.proof.integrity.settings import audit_settings
from agentd.values import dataclass

_SHADOWS = regex(r"^(?:(?:src|lib|tests?|bin)/)?(?:_?pytest|unittest|nose|hypothesis)(?:\.py|/__(?:init|main)__\.py)?$")
_CUSTOMIZE = regex(r"(^|/)(sitecustomize|usercustomize)(\.py|/__init__\.py)$|\.pth$")
# Programs in languages that are not parsed.
_UNPARSED = regex(r"(?i)(test|spec)[^/]*\.(rb|php|exs?|c|cc|cpp|swift|dart|lua|sh|bats)$")
_CODE = regex(r"\bdef |\bfunc |\bfn |\bvoid |\bfun |\bit\b|\btest\b|\(")


@dataclass(frozen=True)
class _File:
    """A changed test file, parsed as it was and as it is."""

    change: Changed
    old: ParsedFile
    new: ParsedFile


def audit(changed: Sequence[Changed], planned: Collection[str]) -> tuple[Harm, ...]:
    """Every harm that the changed files show, by file and line. Never raises, whatever the texts are.

    Tests of a file in `planned` may come to expect something else; the plan excuses nothing else.
    """
    plan = {tidy(path) for path in planned}
    changed = [each for each in changed if each.old != each.new]
    files = [_File(each, *parse(language(each.path), each.old, each.new)) for each in changed if _holds_tests(each)]
    found = [
        *_tests(files, plan),
        *(harm for file in files for harm in _whole_file(file)),
        *(harm for each in changed for harm in audit_settings(each.path, each.old, each.new)),
        *(harm for each in changed for harm in _shadows(each)),
        *(harm for each in changed for harm in _interference(each)),
    ]
    unique = {(harm.rule, harm.file, harm.line, harm.quote): harm for harm in reversed(found)}
    return tuple(sorted(unique.values(), key=lambda harm: (harm.file, harm.line, harm.rule)))


def _holds_tests(change: Changed) -> bool:
    # Rust keeps tests in the files that they test.
    return is_test(change.path) or (language(change.path) == "rust" and "#[" in f"{change.old}{change.new}")


def _tests(files: Sequence[_File], plan: Collection[str]) -> Iterator[Harm]:
    old = [Placed(file.change.path, test) for file in files for test in file.old.tests]
    new = [Placed(file.change.path, test) for file in files for test in file.new.tests]
    pairs, gone, fresh = pair_tests(old, new)
    collected = [now for now in fresh if is_collected(now.file)]
    elsewhere = {claim.text for now in collected for claim in now.test.real}
    for before, now in pairs:
        expects = tidy(now.file) in plan or tidy(before.file) in plan
        yield from compare(now.file, before.test, now.test, expects, elsewhere)
    for now in collected:
        yield from skipped(now.file, None, now.test)
        yield from hollow(now.file, now.test)
    for file in files:
        yield from _gone(file, [placed for placed in gone if placed.file == file.change.path])


def _gone(file: _File, gone: Sequence[Placed]) -> Iterator[Harm]:
    """The tests of a file that are not there any more; those of a deleted file as one harm."""
    path, deleted, known = file.change.path, file.change.new is None, len(file.old.tests)
    if deleted and gone and (len(gone) > 1 or known == 1):
        names = ", ".join(placed.test.short for placed in gone[:5]) + (" …" if len(gone) > 5 else "")
        yield Harm("deleted_test", f"the test file is deleted, with {names}", path)
    elif deleted and not known and not language(path) and _UNPARSED.search(path.rpartition("/")[2]):
        yield Harm("deleted_test", "the test file is deleted", path)
    else:
        yield from (_disabled(placed, file.new) for placed in gone)


def _disabled(before: Placed, now: ParsedFile) -> Harm:
    """A test that is gone, commented out, or renamed so that it is not collected."""
    test, file = before.test, before.file
    quoted = re.compile(rf"(?<![\w]){re.escape(test.short)}(?![\w])")
    for line, text in now.comments:
        if quoted.search(text) and _CODE.search(text):
            return Harm(SKIPPED, f"{test.short} is commented out", file, line, text)
    called = {name for each in now.tests for claim in each.claims for name in re.findall(r"\w+", claim.subject)}
    for other in now.others:
        if other.body == test.body and other.short not in called:
            message = f"{test.short} became {other.short}, which is not collected"
            return Harm(SKIPPED, message, file, other.line, other.quote)
    return Harm("deleted_test", f"{test.short} is gone", file, test.line, test.quote)


def _whole_file(file: _File) -> Iterator[Harm]:
    """What is not about one test: marks of the file, what hides failures, hooks, and helpers that assert."""
    path = file.change.path
    known = {mark.key for mark in file.old.marks}
    for mark in file.new.marks:
        if mark.key not in known and (file.change.old is not None or mark.sure):
            yield Harm(mark.rule, f"{mark.owner or 'the file'} {mark.what}", path, mark.line, mark.quote)
    if is_collected(path) or is_test_config(path):
        yield from _new_marks(path, file.old.hidden, file.new.hidden)
    hooks = {hook.name: hook.body for hook in file.old.hooks}
    for hook in file.new.hooks:
        if hooks.get(hook.name) != hook.body:
            message = f"{hook.name} chooses tests or changes what they came to"
            yield Harm(SETTINGS, message, path, hook.line, hook.quote)
    helpers = {other.name: other for other in file.old.others if other.real}
    for other in file.new.others:
        if other.name in helpers:
            yield from compare(path, helpers[other.name], other, planned=True)


def _interference(change: Changed) -> Iterator[Harm]:
    """What code that is not a test does to the test run."""
    path, kind, test = change.path, language(change.path), is_test(change.path)
    judged = test and (is_collected(path) or is_test_config(path))  # as a test file
    if kind == "python" and not judged:
        old, new = (python_interference.interference(path, text or "", test) for text in (change.old, change.new))
    elif kind == "javascript" and not test:
        old, new = (javascript_interference.interference(path, text or "") for text in (change.old, change.new))
    else:
        return
    yield from _new_marks(path, old, new)


def _new_marks(path: str, old: Iterable[Mark], new: Iterable[Mark]) -> Iterator[Harm]:
    known = {mark.key for mark in old}
    yield from (Harm(mark.rule, mark.what, path, mark.line, mark.quote) for mark in new if mark.key not in known)


def _shadows(change: Changed) -> Iterator[Harm]:
    path = tidy(change.path)
    if change.new is not None and ((change.old is None and _SHADOWS.match(path)) or _CUSTOMIZE.search(path)):
        first = next((line.strip() for line in change.new.split("\n") if line.strip()), "")
        message = f"{path} takes the place of the test runner, or changes Python before it runs"
        yield Harm(HIDDEN, message, change.path, 1, first)
