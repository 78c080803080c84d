"""How complex tasks are, and which complexity they are routed by."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.families.staged.complexity import chosen, score
from agentd.families.staged.plan_file import Task
from agentd.families.staged.task_fields import COMPLEXITIES


def task(
    *files: str,
    name: str = "Add it",
    text: str = "Do it.",
    rated: str = "",
    number: int = 1,
    depends: tuple[int, ...] = (),
) -> Task:
    return Task(number, name, files, depends, rated, text)


@pytest.mark.parametrize(
    ("one", "level"),
    [
        (task("src/a.py"), "easy"),
        (task("src/a.py", "tests/test_a.py"), "easy"),
        (task("a.py", "b.py"), "medium"),
        (task("a.py", "b.py", "c.py", "tests/test_a.py"), "medium"),
        (task("a.py", "b.py", "c.py", "d.py"), "hard"),
        (task("tests/test_a.py", "tests/test_b.py"), "medium"),
        (task(), "medium"),
        (task("src/**"), "hard"),
        (task("src/"), "hard"),
        (task("a.py", text="About 49 lines."), "easy"),
        (task("a.py", text="About 120 LOC."), "medium"),
        (task("a.py", text="Some 300 lines of code."), "hard"),
        (task("a.py", text="```\n" + "x = 1\n" * 100 + "```"), "medium"),
        (task("a.py", text="```\n" + "x = 1\n" * 300 + "```"), "hard"),
    ],
)
def test_more_files_and_lines_are_more_complex(one: Task, level: str) -> None:
    assert score(one) == level


@pytest.mark.parametrize(
    ("one", "level"),
    [
        (task("a.py", text="Check the password."), "medium"),
        (task("src/auth/login.py"), "medium"),
        (task("a.py", name="Add authentication"), "hard"),
        (task("a.py", text="Avoid a race condition."), "hard"),
        (task("a.py", text="Keep it in shared state."), "hard"),
        (task("a.py", name="Make the cache thread-safe"), "hard"),
        (task("a.py", text="Refactor as needed."), "medium"),
        (task("a.py", text="The author is unclear about threading."), "easy"),
        (task("a.py", text="```\npassword = read()  # thread-safe\n```"), "easy"),
    ],
)
def test_security_is_at_least_medium_and_shared_state_is_hard(one: Task, level: str) -> None:
    assert score(one) == level


def test_tests_are_as_complex_as_the_code_they_test() -> None:
    code = task("a.py", text="Hold the file lock.")
    tests = task("tests/test_a.py", number=2, depends=(1,))
    assert (score(tests), score(tests, [code, tests])) == ("easy", "hard")
    assert score(task("b.py", number=2, depends=(1,)), [code]) == "easy"


def test_without_scoring_the_plan_decides_and_with_it_the_higher_of_both() -> None:
    assert chosen(task("src/**", rated="easy"), False) == "easy"
    assert chosen(task("src/**", rated="easy"), True) == "hard"
    assert chosen(task("a.py", rated="hard"), True) == "hard"
    assert chosen(task("a.py", "b.py"), False) == "medium"


@given(st.lists(st.sampled_from(["a.py", "src/b.py", "tests/test_a.py", "x/*"]), max_size=5, unique=True), st.text())
def test_another_file_never_makes_a_task_easier(files: list[str], text: str) -> None:
    less, more = (COMPLEXITIES.index(score(task("src/z.py", *some, text=text))) for some in (files[:-1], files))
    assert less <= more
