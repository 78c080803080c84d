"""The guide's workflow for bugs: each is shown by a red test first, then fixed, proved, and lands."""

import re
from pathlib import Path

import pytest

from tests.landing.repositories import git, write
from tests.landing.runs import landed, untouched
from tests.sandbox import Sandbox, make_sandbox

GUIDE = (Path(__file__).parents[2] / "docs" / "guide.md").read_text(encoding="utf-8")
BUGS, BUG = re.findall(r"^```yaml\n(name: (?:bugs|bug)\n.*?)^```$", GUIDE, re.DOTALL | re.MULTILINE)
TASKS = "tasks:\n- {id: dashes, title: A dash is a word}\n- {id: lines, title: A last line without an end counts}\n"
LINES = 'def lines(text: str) -> int:\n    return text.count("\\n")\n'


def shows(call: str, result: str) -> str:
    return (
        f"import unittest\n\nfrom tally.lines import lines\nfrom tally.words import count\n\n\nclass Bug(unittest.TestCase):\n"
        f"    def test_bug(self) -> None:\n        self.assertEqual({call}, {result})\n"
    )


DASHES = {"files": {"tests/test_dashes.py": shows("count('a -')", "{'a': 1, '-': 1}")}}
NO_BUG = {"files": {"tests/test_lines.py": shows("lines('a\\n')", "1")}}
NO_END = {"files": {"tests/test_lines.py": shows("lines('a')", "1")}}


@pytest.fixture
def bugs(tmp_path: Path) -> Sandbox:
    """A project with two bugs, and the guide's tables in it."""
    sandbox = make_sandbox(tmp_path)
    sandbox.own_workflow("bugs", BUGS)
    sandbox.own_workflow("bug", BUG)
    sandbox.set("runs", wait_when_busy=False)
    sandbox.script(sort={"documents": {"tasks.yaml": TASKS}})
    write(sandbox.root, {"tally/lines.py": LINES})
    git(sandbox.root, "config", "user.name", "Ada")
    git(sandbox.root, "config", "user.email", "ada@localhost")
    git(sandbox.root, "add", "--all")
    git(sandbox.root, "commit", "--quiet", "-m", "bugs")
    return sandbox


def steps(sandbox: Sandbox, bug: str) -> list[tuple[str, str]]:
    """What happened to a bug, each step with its outcome."""
    events = sandbox.events(sandbox.root / "agentd" / "runs" / "b1" / "children" / "work" / bug)
    return [(one["step"], one["outcome"]) for one in events if one["event"] == "end"]


def test_every_bug_is_shown_by_a_red_test_before_it_is_fixed_and_proved_before_it_lands(bugs: Sandbox) -> None:
    bugs.script(
        **{
            "reproduce@dashes": DASHES,
            "fix@dashes": {"replace": {"tally/words.py": [["[\\w']+", "[\\w']+|-"]]}},
            "reproduce@lines": [NO_BUG, NO_END],
            "fix@lines": [{"say": "It is fixed."}, {"replace": {"tally/lines.py": [['text.count("\\n")', "len(text.splitlines())"]]}}],
        }
    )  # fmt: skip
    before = untouched(bugs)
    ran = bugs.run("run", "bugs", "the open bugs", "--name", "b1")
    assert ran.code == 0, ran.out + ran.err
    shown = [("open", "done"), ("reproduce", "done"), ("see", "red"), ("fix", "done"), ("prove", "green")]
    assert steps(bugs, "dashes") == [*shown, ("land", "landed")]
    asked_again = [("see", "green"), ("reproduce", "done")]
    not_fixed_yet = [("prove", "red"), ("fix", "done")]
    assert steps(bugs, "lines") == [
        *shown[:2],
        *asked_again,
        *shown[2:4],
        *not_fixed_yet,
        ("prove", "green"),
        ("land", "landed"),
    ]
    assert sorted(landed(bugs, "b1")) == ["A dash is a word", "A last line without an end counts"]
    assert untouched(bugs) == before
    assert "splitlines" in git(bugs.root, "show", "agentd/b1:tally/lines.py")


def test_a_bug_that_no_test_shows_is_not_fixed_and_does_not_land(bugs: Sandbox) -> None:
    bugs.script(
        **{
            "reproduce@dashes": DASHES,
            "fix@dashes": {"replace": {"tally/words.py": [["[\\w']+", "[\\w']+|-"]]}},
            "reproduce@lines": NO_BUG,
        }
    )
    ran = bugs.run("run", "bugs", "the open bugs", "--name", "b1", "--json")
    assert ran.code == 4, ran.err
    assert ran.data["decisions"][0]["question"] == "Some bugs are still there. Try them again?"
    assert landed(bugs, "b1") == ["A dash is a word"]
