"""tasks.md both ways: what is written is read, what people change is understood or told with its line."""

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.errors import Corrupt, NotFound
from agentd.families.change.documents import tasks
from agentd.model.change import ACTIONS, LAYERS, TASK_STATUSES, Task, Tasks
from agentd.model.rules import Rules
from tests.documents.hand_edits import Edit, hand_edits, names, nasty_lines, nasty_texts, plain_texts

NAMES = names(9)
PATHS = st.lists(
    st.text(st.characters(exclude_characters="/\\~:", exclude_categories=["Cc", "Cs"]), min_size=1, max_size=8).filter(
        lambda part: part.strip().strip(". ") == part and " -> " not in part and " → " not in part
    )
    | st.sampled_from(["src", "用户", "a b", "it's", "x#y", "null", "- x", "1.10", "'q'", '"', "{x}", "#"]),
    min_size=1,
    max_size=3,
).map("/".join)


IDS = st.lists(st.tuples(st.sampled_from(LAYERS), st.integers(1, 12)), min_size=1, max_size=5, unique=True).map(
    lambda found: sorted(found, key=lambda one: LAYERS.index(one[0]))
)
REFERENCES = st.builds("{}:R{}".format, NAMES, st.integers(1, 99))
AUTHORS = st.just("") | plain_texts()
# The titles, paths and descriptions of tasks: nasty ones and plain ones.
WORDS = {
    True: (nasty_lines(), PATHS, st.just("") | nasty_texts()),
    False: (plain_texts(), st.sampled_from(["src/a.py", "docs/用户.md", "a b.txt"]), AUTHORS),
}


@st.composite
def documents(draw: st.DrawFn, nasty: bool = True) -> Tasks:
    """A valid tasks.md: ids used once, dependencies on tasks before."""
    titles, paths, descriptions = WORDS[nasty]
    made: list[Task] = []
    for layer, number in draw(IDS):
        made.append(
            Task(
                layer=layer,
                number=number,
                title=draw(titles).replace("\r", "x"),
                path=draw(paths),
                action=draw(st.sampled_from(ACTIONS)),
                spec_ref=draw(REFERENCES),
                description=draw(descriptions).replace("\r", ""),
                depends=tuple(draw(st.lists(st.sampled_from([t.id for t in made]), unique=True)) if made else ()),
                status=draw(st.sampled_from(TASK_STATUSES)),
            )
        )
    return Tasks(draw(NAMES), tuple(made), "2026-01-02T03:04:05Z", draw(AUTHORS))


@pytest.mark.requirement(100)
@given(documents())
def test_what_is_written_is_read_the_same_and_without_findings(document: Tasks) -> None:
    assert tasks.read(tasks.render(document)) == (document, ())
    assert tasks.parse(tasks.render(document), "tasks.md") == document


@given(documents(nasty=False), hand_edits(keeps=True))
def test_a_hand_edit_that_keeps_the_meaning_is_read_the_same(document: Tasks, edit: Edit) -> None:
    edited = edit(tasks.render(document))
    found, findings = tasks.read(edited)
    assert sorted(found.tasks, key=lambda task: task.id) == sorted(document.tasks, key=lambda task: task.id)
    assert replace(found, tasks=()) == replace(document, tasks=())
    assert not findings


@given(documents(), hand_edits())
def test_any_hand_edit_is_read_and_findings_have_a_line_of_the_file(document: Tasks, edit: Edit) -> None:
    edited = edit(tasks.render(document))
    _, findings = tasks.read(edited)
    last = len(re.split("\r\n|\r|\n", edited))
    assert all(1 <= finding.line <= last and finding.fix and finding.file == "tasks.md" for finding in findings)


@given(documents(), hand_edits())
def test_tidying_says_the_same_and_is_done_after_once(document: Tasks, edit: Edit) -> None:
    edited = edit(tasks.render(document))
    tidied = tasks.tidy(edited)
    assert tasks.tidy(tidied) == tidied
    before, found = tasks.read(edited)
    after, left = tasks.read(tidied)
    assert after == before
    assert {finding.message for finding in left} <= {finding.message for finding in found}


@given(st.text() | nasty_texts(20))
def test_any_text_is_read(text: str) -> None:
    for whole in (text, "---\nchange_id: a\n---\n### Task 1.1: x\n```yaml\n" + text, "## 1. Data Layer\n" + text):
        tasks.read(whole)
        tasks.tidy(whole)
        tasks.without_status(whole)


@given(documents(), st.data(), hand_edits(keeps=True))
def test_a_status_changes_its_own_place_and_the_counts(document: Tasks, data: st.DataObject, edit: Edit) -> None:
    task = data.draw(st.sampled_from(document.tasks))
    status = data.draw(st.sampled_from(TASK_STATUSES))
    text = edit(tasks.render(document))
    if not all(known in tasks.read(text)[0].tasks for known in document.tasks):
        return
    changed = tasks.set_status(text, task.id, status)
    assert tasks.read(changed)[0].tasks == tuple(
        replace(known, status=status) if known.id == task.id else known for known in tasks.read(text)[0].tasks
    )
    assert tasks.without_status(changed) == tasks.without_status(text)
    lines = [text.splitlines(keepends=True), changed.splitlines(keepends=True)]
    assert len(lines[0]) == len(lines[1])
    different = [pair for pair in zip(*lines, strict=True) if pair[0] != pair[1]]
    assert all(re.search(r"status: |completed: |in_progress: |blocked: |pending: ", pair[0]) for pair in different)
    assert tasks.set_status(changed, task.id, task.status) == tasks.set_status(text, task.id, task.status)


HEAD = """---
id: add-oauth
change_id: add-oauth
type: tasks
---
"""  # 5 lines


def block(name: str | None = "data.1", **other: Any) -> str:
    values = {"id": name, "action": "CREATE", "status": "pending", "file": "src/a.py", "spec_ref": "auth:R1"} | other
    return "```yaml\n" + "".join(f"{key}: {value}\n" for key, value in values.items() if value is not None) + "```\n"


def one(title: str = "Task 1.1: Make it", **values: Any) -> str:
    return f"{HEAD}### {title}\n{block(**values)}"


def told(text: str) -> list[tuple[str, int]]:
    return [(finding.rule, finding.line) for finding in tasks.read(text)[1]]


@pytest.mark.requirement(114)
@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (one(status="[pending"), 11, "cannot be read"),
        (one(file="{path: a}"), 11, "'file' must be text"),
        (one(file="a\nfile: b"), 12, "'file' stands twice"),
        (f"{HEAD}### Task 1.1: x\n```yaml\n- a\n```\n", 8, "has no keys"),
        (f"{HEAD}### Task 1.1: x\n```yaml\n```\n", 8, "has no keys"),
        (f"{HEAD}### Task 1.1: x\n```yaml\nid: {'[' * 100_000}\n```\n", 8, "nested too deep"),
        (f"{HEAD}### Task 1.1: x\n```yaml\nid: \x07\n```\n", 8, "characters that YAML does not allow"),
    ],
)
def test_a_block_that_does_not_parse_is_told(text: str, line: int, words: str) -> None:
    _, findings = tasks.read(text)
    assert [(finding.rule, finding.line) for finding in findings] == [("invalid_task", line)]
    assert words in findings[0].message


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        (one(action="DESTROY"), 9, "the action 'DESTROY'"),
        (one(action=None), 6, "no action"),
        (one(status="done"), 10, "the status 'done'"),
        (one(file=None), 6, "names no file"),
        (one(file="''"), 11, "names no file"),
        (one(file=r'"a\0b"'), 11, "a file that cannot be"),
        (one(title="Task 1.1:"), 6, "no title"),
        (one(spec_ref=None), 6, "no spec_ref"),
        (one(spec_ref="auth"), 12, "'auth' as its spec_ref"),
        (one(id="logic.1"), 8, "data.1 in its heading and logic.1 in its block"),
        (one(title="Task 5.1: x", id=None), 6, "'5.1' is no id"),
        (one(title="Task x.1: x", id=None), 6, "'x.1' is no id"),
        (one(title="Task 1.0: x", id=None), 6, "'1.0' is no id"),
        (one(title="Task: x", id=None), 6, "has no id"),
        (one() + "### Task 1.1: again\n" + block(), 14, "the id data.1 is taken by the task on line 6"),
        (f"{HEAD}## 5. Cloud Layer\n" + one()[len(HEAD) :], 6, "'5. Cloud Layer' is not one of the layers"),
        (f"{HEAD}## 1. Data Layer\n- [ ] no number\n" + one()[len(HEAD) :], 7, "'no number' has no id"),
        (f"{HEAD}## 1. Data Layer\n- [?] 1.1 x\n  File: a\n  Spec: a:R1\n", 7, "the status '?'"),
        (f"{HEAD}\nNothing.\n", 6, "there is no task"),
        (HEAD.rstrip(), 5, "there is no task"),
        (one() + "\n~~~\n### Task 1.2: hidden\n", 15, "never ends"),
    ],
)
def test_a_task_that_cannot_be_is_told_with_its_line(text: str, line: int, words: str) -> None:
    _, findings = tasks.read(text)
    assert [(finding.rule, finding.line) for finding in findings] == [("invalid_task", line)]
    assert words in findings[0].message
    with pytest.raises(Corrupt, match=f"^change/tasks.md:{line}: "):
        tasks.parse(text, "change/tasks.md")


@pytest.mark.requirement(116)
@pytest.mark.parametrize(
    "path",
    [
        *(
            "/etc/passwd",
            "../x",
            "a/../../b",
            "a/..",
            "..",
            r"..\x",
            r"C:\x",
            "C:/x",
            "c:x",
            r"\\host\x",
            "~/x",
            "~me/x",
        ),
        *("file:///etc/x", "a.py -> /b.py", "a.py → ../b.py"),
    ],
)
def test_a_path_that_leaves_the_project_is_told(path: str) -> None:
    assert told(one(file=f"'{path}'")) == [("absolute_path", 11)]


@pytest.mark.parametrize("path", ["a..b/c", "..a", "a/...", ".github/x", "ab:c", "./a", "a.py -> b.py", r"src\a.py"])
def test_a_path_inside_the_project_is_fine(path: str) -> None:
    assert not told(one(file=f"'{path}'"))


@pytest.mark.requirement(118)
def test_a_dependency_on_an_unknown_task_is_told() -> None:
    assert told(one(depends_on="[logic.9]")) == [("unknown_task", 13)]
    assert told(one(depends_on="\n  - nonsense")) == [("unknown_task", 13)]


def chain(*depends: tuple[str, list[str]]) -> str:
    return HEAD + "".join(f"### Task {name}: x\n{block(name, depends_on=others)}" for name, others in depends)


@pytest.mark.requirement(117)
@pytest.mark.parametrize(
    ("depends", "messages"),
    [
        ([("data.1", ["logic.1"]), ("logic.1", ["data.1"])], ["data.1 → logic.1 → data.1"]),
        ([("logic.1", ["data.1"]), ("data.1", ["logic.1"])], ["logic.1 → data.1 → logic.1"]),
        ([("data.1", ["data.1"])], ["data.1 → data.1"]),
        (
            [("data.1", ["logic.1"]), ("logic.1", ["logic.2"]), ("logic.2", ["logic.1"])],
            ["logic.1 → logic.2 → logic.1"],
        ),
        (
            [
                ("data.1", ["data.2"]),
                ("data.2", ["data.1"]),
                ("logic.1", ["logic.2", "data.1"]),
                ("logic.2", ["logic.1"]),
            ],
            ["data.1 → data.2 → data.1", "logic.1 → logic.2 → logic.1"],
        ),
    ],
)
def test_a_cycle_is_told_from_its_first_task(depends: list[tuple[str, list[str]]], messages: list[str]) -> None:
    _, findings = tasks.read(chain(*depends))
    assert [finding.message for finding in findings] == [f"Circular dependency detected: {way}" for way in messages]
    assert {finding.rule for finding in findings} == {"circular_dependency"}


def test_a_long_cycle_with_many_tasks_around_it_is_told_once() -> None:
    size = 3000
    depends = [(f"data.{n}", [f"data.{n + 1}"] if n < size else ["data.2"]) for n in range(1, size + 1)]
    _, findings = tasks.read(chain(*depends))
    assert len(findings) == 1
    assert findings[0].message.startswith("Circular dependency detected: data.2 → data.3 → ")


def test_front_matter_that_is_missing_or_wrong_is_told_and_the_tasks_are_there() -> None:
    body = one()[len(HEAD) :]
    assert told(body) == [("missing_frontmatter", 1)]
    assert tasks.parse(body, "tasks.md").tasks[0].id == "data.1"
    assert told("---\ntype: spec\nchange_id: a\n---\n" + body) == [("invalid_frontmatter", 2)]
    assert told("---\ntype: tasks\nchange_id: A B\n---\n" + body) == [("invalid_frontmatter", 3)]
    assert told("---\ntype: tasks\n---\n" + body) == [("invalid_frontmatter", 1)]
    assert told("---\ntype: [\n---\n" + body)[0][0] == "invalid_frontmatter"


def test_counts_that_are_wrong_are_untidy_and_put_right() -> None:
    head = HEAD.replace(
        "type: tasks\n", "type: tasks\nsummary: {total: 7, completed: 1}  # mine\nlayers:\n  data:\n    task_count: 3\n"
    )
    text = head + one()[len(HEAD) :]
    assert told(text) == [("untidy", 5)]
    assert tasks.read(text)[1][0].severity == "Low"
    assert not told(tasks.tidy(text))
    assert "summary: {total: 1, completed: 0}  # mine\n" in tasks.tidy(text)
    assert "    task_count: 1\n" in tasks.tidy(text)


def test_a_heading_off_by_one_is_untidy_and_put_right() -> None:
    text = f"{HEAD}# 1. Data Layer\n#### Task 1.1: x\n{block()}#### Notes\nwords\n## Task 1.2: y\n{block('data.2')}"
    assert told(text) == [("untidy", 6), ("untidy", 7), ("untidy", 17)]
    tidied = tasks.tidy(text)
    assert not told(tidied)
    assert "\n## 1. Data Layer\n\n### Task 1.1: x\n\n```yaml\n" in tidied
    assert "```\n#### Notes\nwords\n\n### Task 1.2: y\n\n" in tidied


def test_a_persons_severity_counts() -> None:
    _, findings = tasks.read(one(action="x"), Rules(severity_map={"invalid_task": "Low"}))
    assert [finding.severity for finding in findings] == ["Low"]


LEGACY = """# Tasks

## 1. Data Layer

- [x] 1.1 Create the user model
  - File: `src/models/user.py` (CREATE)
  - Spec: specs/user-model.md#R1
  - Do: Define the class
    with its fields.
- [ ] 1.2: Migrate
  File: src/migrate.py
  Spec：user-model:R2
  Depends: 1.1

## 2. Logic Layer

* [/] 2.1 登录
  * **File**: src/登录.py [MODIFY]
  * **Spec Ref:** `auth-flow:R1`
  * **Depends on**: 1.1, data.2
+ [!] 2.10 Last
  File: b.py
  Spec: auth-flow:R2
  Depends: none
"""


def test_the_older_checkboxes_are_read() -> None:
    document, findings = tasks.read(LEGACY)
    assert [finding.rule for finding in findings] == ["missing_frontmatter"]
    assert document.tasks == (
        Task("data", 1, "Create the user model", "src/models/user.py", "CREATE", "user-model:R1",
             "Define the class\nwith its fields.", (), "completed"),
        Task("data", 2, "Migrate", "src/migrate.py", "MODIFY", "user-model:R2", "", ("data.1",)),
        Task("logic", 1, "登录", "src/登录.py", "MODIFY", "auth-flow:R1", "", ("data.1", "data.2"), "in_progress"),
        Task("logic", 10, "Last", "b.py", "MODIFY", "auth-flow:R2", "", (), "blocked"),
    )  # fmt: skip
    assert [task.line for task in document.tasks] == [5, 10, 17, 21]


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_a_checkbox_is_ticked_and_nothing_else(newline: str) -> None:
    text = LEGACY.replace("\n", newline)
    assert tasks.set_status(text, "1.2", "completed") == text.replace("- [ ] 1.2", "- [x] 1.2")
    assert tasks.set_status(text, "logic.1", "pending") == text.replace("* [/] 2.1", "* [ ] 2.1")
    assert tasks.without_status(tasks.set_status(text, "1.2", "blocked")) == tasks.without_status(text)


def test_layers_are_taken_from_headings_that_number_them_in_another_way() -> None:
    text = f"{HEAD}## 1. Logic Layer\n- [ ] 1.1 x\n  File: a\n  Spec: a:R1\n## 2. Tests\n- [ ] 2.1 y\n  File: b\n  Spec: a:R1\n  Depends: 1.1\n"
    document, findings = tasks.read(text)
    assert not findings
    assert [(task.id, task.depends) for task in document.tasks] == [("logic.1", ()), ("testing.1", ("logic.1",))]


def test_labels_below_a_heading_are_read_where_there_is_no_block() -> None:
    text = f"{HEAD}### Task 2.1: Count\n- File: tally/words.py (MODIFY)\n- Spec: top-words:R1\n\nMore words.\n"
    document, findings = tasks.read(text)
    assert not findings
    assert document.tasks == (Task("logic", 1, "Count", "tally/words.py", "MODIFY", "top-words:R1", "More words."),)
    changed = tasks.set_status(text, "2.1", "completed")
    assert changed == text.replace("top-words:R1\n", "top-words:R1\n- Status: completed\n")
    assert tasks.read(changed)[0].tasks[0].status == "completed"
    assert tasks.set_status(changed, "2.1", "blocked") == changed.replace("completed", "blocked")
    assert tasks.without_status(changed) == tasks.without_status(text)


def test_ids_and_references_are_read_in_both_forms() -> None:
    text = one() + "### Task 1.10: y\n" + block("1.10", spec_ref="specs/auth-flow.md#R2", depends_on="[1.1, 'data.1']")
    document, findings = tasks.read(text)
    assert not findings
    assert document.tasks[1].id == "data.10"
    assert document.tasks[1].spec_ref == "auth-flow:R2"
    assert document.tasks[1].depends == ("data.1", "data.1")
    written = tasks.render(Tasks("a", (Task("data", 2, "x", "a", "CREATE", "specs/b.md#R1", "", ("1.1",)),)))
    assert "spec_ref: b:R1\n" in written
    assert "  - data.1\n" in written


def test_a_block_in_another_style_is_read_and_changed_in_place() -> None:
    text = (
        f"{HEAD}### Task logic.2 - Words first\n\nSome words.\n\n```yml\n# mine\n\"status\": 'in-progress'   # now\n"
        "file: >-\n  src/a.py\naction: modify\nspec_ref: a:R1\ndepends_on: # all\n- 'logic.1'\n```\n\n```yaml\nid: no\n```\n"
        f"### Task logic.1: x\n{block('logic.1')}"
    )
    document, findings = tasks.read(text)
    assert not findings
    assert document.tasks[0] == Task(
        *("logic", 2, "Words first", "src/a.py", "MODIFY", "a:R1", "Some words.\n\n\n```yaml\nid: no\n```"),
        *(("logic.1",), "in_progress"),
    )
    changed = tasks.set_status(text, "logic.2", "completed")
    assert re.sub("completed", "'in-progress'", changed) == text
    assert tasks.without_status(changed) == tasks.without_status(text)


def test_the_status_of_a_task_that_is_not_there_or_there_twice_is_not_set() -> None:
    with pytest.raises(NotFound, match=r"no task data\.9"):
        tasks.set_status(one(), "1.9", "completed")
    with pytest.raises(Corrupt, match="stands twice"):
        tasks.set_status(one() + one()[len(HEAD) :], "1.1", "completed")
    with pytest.raises(Corrupt, match=r"tasks\.md:11: "):
        tasks.set_status(one(status="[pending"), "1.1", "completed")


def test_what_an_approval_binds_changes_with_every_word_of_a_task() -> None:
    text = one(depends_on="[]")
    bound = tasks.without_status(text)
    for old, new in [("Make", "Take"), ("CREATE", "MODIFY"), ("a.py", "b.py"), ("R1", "R2"), ("[]", "[logic.1]")]:
        assert tasks.without_status(text.replace(old, new)) != bound
    assert tasks.without_status(one(status=None, depends_on="[]")) == bound


def test_a_title_of_two_lines_is_refused() -> None:
    with pytest.raises(ValueError, match=r"the title of task data\.1 must be one line"):
        tasks.render(Tasks("a", (Task("data", 1, "x\ny", "a", "CREATE", "a:R1"),)))


@given(documents(), st.randoms())
def test_the_order_has_dependencies_first_then_layers_then_the_file(document: Tasks, chance: Any) -> None:
    shuffled = list(document.tasks)
    chance.shuffle(shuffled)
    ordered = tasks.order(shuffled)
    assert sorted(ordered, key=id) == sorted(shuffled, key=id)
    done: set[str] = set()
    waiting = list(shuffled)
    for task in ordered:
        ready = [other for other in waiting if set(other.depends) <= done]
        assert task is min(ready, key=lambda other: LAYERS.index(other.layer))
        waiting.remove(task)
        done.add(task.id)


def test_tasks_that_wait_for_each_other_have_no_order() -> None:
    knot = [Task("data", n, "x", "a", "CREATE", "a:R1", "", (f"data.{3 - n}",)) for n in (1, 2)]
    with pytest.raises(ValueError, match=r"^Circular dependency detected: data\.1 → data\.2 → data\.1$"):
        tasks.order(knot)
