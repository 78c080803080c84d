"""Changes about to be implemented, reviewed again or repaired, with implementers and reviewers that err."""

from pathlib import Path
from typing import Any

from tests.crash.recorded import ANSWERS, after, with_record
from tests.impl.coding import APPROVED, QUOTE, TESTS, verdict
from tests.plan.plans import plan_of
from tests.sandbox import CHANGE, IDEA, Sandbox, make_sandbox

HEAD = "---\nid: tasks\nchange_id: {{run}}\ntype: tasks\n---\n\n# Tasks\n"
# The tests of the first spec need the code of the last one, so its tasks are done in two parts.
PARTS = f"""{HEAD}
## 2. Logic Layer

### Task 2.1: The most frequent words
- File: tally/frequent.py (CREATE)
- Spec: top-words:R1

### Task 2.2: Words that do not count
- File: tally/stop.py (CREATE)
- Spec: stop-words:R1
- Depends: 2.1

### Task 2.3: A line for each word
- File: tally/report.py (CREATE)
- Spec: report:R1
- Depends: 2.1, 2.2

## 4. Testing Layer

### Task 4.1: Test the order
- File: tests/test_top.py (CREATE)
- Spec: top-words:R1
- Depends: 2.3
"""
ASKED = f"""{HEAD}
## 2. Logic Layer

### Task 2.1: The most frequent words
- File: tally/frequent.py (CREATE)
- Spec: top-words:R1

### Task 2.2: Tell of it
- File: README.md (MODIFY)
- Spec: top-words:R1

## 4. Testing Layer

### Task 4.1: Test the order
- File: tests/test_top.py (CREATE)
- Spec: top-words:R1
- Depends: 2.1
"""
FREQUENT = """from tally.words import count


def top(text: str, n: int) -> list[tuple[str, int]]:
    return sorted(count(text).items(), key=lambda pair: -pair[1])[:n]
"""
IN_ORDER = ["key=lambda pair: -pair[1]", "key=lambda pair: (-pair[1], pair[0])"]
EXPORT = ["from tally.words import count", "from tally.frequent import top\nfrom tally.words import count"]
REPORT = """def lines(pairs: list[tuple[str, int]]) -> list[str]:
    return [f"{word} {number}" for word, number in pairs if number > 1]
"""
ONLY_SOME = "for word, number in pairs if number > 1"
KNOWN = """import unittest


class Known(unittest.TestCase):
    def test_what_was_broken_before(self) -> None:
        self.assertEqual(1, 2)
"""
FOUR = 'self.assertEqual(count("To be or not to be"), {"to": 2, "be": 2, "or": 1, "not": 1})'
PERSON = """
begin_anyway: {value: proceed, note: known for years}
UD-top-words-1: again
UD-top-words-2: {value: waive, note: told elsewhere}
harmed: {value: waive, note: the order of words is not ours to test}
"""


def planned_change(folder: Path) -> Sandbox:
    return after(with_record(make_sandbox(folder)), "plan", CHANGE, IDEA)


def implemented_change(folder: Path) -> Sandbox:
    return after(planned_change(folder), "impl", CHANGE)


def parted_change(folder: Path) -> Sandbox:
    """Four parts, one of them mended; an approval of red tests, then an issue, each of them resolved."""
    return _planned(
        folder,
        PARTS,
        ("top-words", "stop-words", "report"),
        **{
            "implement@top-words": {
                "files": {"tally/frequent.py": FREQUENT},
                "replace": {"tally/__init__.py": [EXPORT]},
            },
            "implement@stop-words": {"files": {"tally/stop.py": "from tally.frequent import most\n"}, **_using("stop")},
            "mend@stop-words": {"replace": {"tally/stop.py": [["most", "top as most"]]}},
            "implement@report": {"files": {"tally/report.py": REPORT}},
            "implement@top-words-2": {"files": {"tests/test_top.py": TESTS}},
            "review": [
                APPROVED,
                verdict("NEEDS_CHANGES", "Words that occur once", quote=ONLY_SOME, file="tally/report.py", line=2),
                APPROVED,
            ],
            "resolve": [
                {"replace": {"tally/frequent.py": [IN_ORDER]}},
                {"replace": {"tally/report.py": [[" if number > 1", ""]]}},
            ],
        },
    )


def _using(module: str) -> dict[str, Any]:
    """What has the package import one of its modules, so that every test fails if it is wrong."""
    return {"append": {"tally/__init__.py": f"from tally import {module} as {module}\n"}}


def asked_change(folder: Path) -> Sandbox:
    """A test that is red before it begins, a task that is ticked but never done, a test made weaker: a person decides."""
    sandbox = _planned(
        folder,
        ASKED,
        ("top-words",),
        implement=[
            {"files": {"tally/frequent.py": FREQUENT}, "replace": {"tally/__init__.py": [EXPORT]}},
            {"replace": {"tally/frequent.py": [IN_ORDER]}},
            {
                "files": {"tests/test_top.py": TESTS},
                "replace": {"tests/test_words.py": [[FOUR, FOUR.replace("Equal", "True")]]},
            },
            {"say": "It is told.", "replace": {"run:tasks.md": [["- Status: in_progress", "- Status: completed"]]}},
        ],
        review=APPROVED,
    )
    (sandbox.root / "tests" / "test_known.py").write_text(KNOWN)
    (sandbox.root / ANSWERS).write_text(PERSON)
    sandbox.set("workflow", human_in_loop=True)
    return sandbox


def _planned(folder: Path, tasks: str, specs: tuple[str, ...], **coding: Any) -> Sandbox:
    sandbox = make_sandbox(folder)
    sandbox.script(**plan_of(*specs) | {"break_down": {"documents": {"tasks.md": tasks}}}, **coding)
    return after(with_record(sandbox), "plan", CHANGE, IDEA)


def to_doubt(folder: Path) -> Sandbox:
    """A complete change; whoever reviews it again finds something."""
    sandbox = make_sandbox(folder)
    repaired = [sandbox.entry("resolve"), {"append": {"tally/words.py": "\n# At most n.\n"}}]
    sandbox.script(**{"review@1": verdict("NEEDS_CHANGES", "No limit", quote=QUOTE)}, resolve=repaired)
    return after(after(with_record(sandbox), "plan", CHANGE, IDEA), "impl", CHANGE)


def doubted_change(folder: Path) -> Sandbox:
    return after(to_doubt(folder), "impl", CHANGE, "--re-review", code=1)
