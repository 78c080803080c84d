"""What scripted implementers and reviewers do, and what came of it: what tests of implementing share."""

from typing import Any

from agentd.model.evidence import Evidence
from agentd.proof import evidence_file
from tests.sandbox import Sandbox

GOOD = '''

def top(text: str, n: int) -> list[tuple[str, int]]:
    """The n most frequent words, the most frequent first, ties by the alphabet."""
    return sorted(count(text).items(), key=lambda pair: (-pair[1], pair[0]))[:n]
'''
TESTS = """import unittest

from tally import top


class Top(unittest.TestCase):
    def test_the_most_frequent_word_comes_first(self) -> None:
        self.assertEqual(top("b a b", 2), [("b", 2), ("a", 1)])

    def test_ties_come_in_alphabetical_order(self) -> None:
        self.assertEqual(top("b a", 2), [("a", 1), ("b", 1)])
"""
EXPORT = [
    ["from tally.words import count", "from tally.words import count, top"],
    ['__all__ = ["count"]', '__all__ = ["count", "top"]'],
]
# An honest implementation of the sandbox's change, green at once.
HONEST: dict[str, Any] = {
    "say": "The function and its tests.",
    "append": {"tally/words.py": GOOD},
    "replace": {"tally/__init__.py": EXPORT},
    "files": {"tests/test_top.py": TESTS},
}
QUOTE = "return sorted(count(text).items(), key=lambda pair: (-pair[1], pair[0]))[:n]"


def verdict(
    word: str, *issues: str, quote: str = QUOTE, file: str = "tally/words.py", line: int = 16
) -> dict[str, Any]:
    """What a scripted reviewer does that comes to this verdict, with a grounded issue for each of these titles."""
    listed = [
        f"### {title}\n- **Severity**: High\n- **Description**: {title} is wrong.\n"
        f"- **File**: {file}\n- **Line**: {line}\n- **Quote**: `{quote}`\n"
        for title in issues
    ]
    body = "\n".join(listed) or "None.\n"
    text = f"# Code Review: {{{{run}}}}\n\n## Summary\nWhat there is to say.\n\n## Issues\n\n{body}\n## Verdict\n\n{word}\n"
    return {"say": "Reviewed.", "documents": {"REVIEW.md": text}}


APPROVED = verdict("APPROVED")


def seen(sandbox: Sandbox, name: str = "evidence.json") -> Evidence:
    """What agentd saw, as it kept it."""
    return evidence_file.read((sandbox.folder() / name).read_text(encoding="utf-8"), name)


def report(sandbox: Sandbox) -> str:
    return (sandbox.folder() / "REVIEW.md").read_text(encoding="utf-8")


def tasks(sandbox: Sandbox) -> str:
    return (sandbox.folder() / "tasks.md").read_text(encoding="utf-8")


def called(sandbox: Sandbox) -> list[str]:
    """The agent calls of implementing, those of parts by their names."""
    names = [path.relative_to(sandbox.folder()) for path in sandbox.folder().rglob("calls/*.jsonl")]
    planning = ("propose", "specify", "break_down", "challenge", "revise", "review_", "validate", "children/specify")
    found = sorted(("/".join(name.parts[-4:-2]), name.stem) for name in names)
    return [
        f"{stem} {item}".strip() for item, stem in found if not stem.startswith(planning) and "write_spec" not in stem
    ]
