"""Plan files: what is read from what models write, what is refused, and the plans of areas as one."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.engine.waves import Item
from agentd.families.staged import plan_file
from agentd.families.staged.plan_file import Invalid, Task

PLAN = """\
# Add a parser

Some words about it.

### Task 1: Add the grammar

**Files:** `src/grammar.py`, `tests/test_grammar.py`
**Dependencies:** none
**Complexity:** easy
**Instructions:**
Write it.

- first
- second

---

### Task 2: Use it

- **Files**:
  - Modify: `src/main.py:10-20` (the `main()` function)
  - Create: src/new.py
- **Dependencies**: Task 1
- **Complexity**: Hard
- **Instructions**: Call it.

```markdown
### Task 9: This is an example
**Files:** `../x`
```

## Dependency Graph

Task 1 → Task 2
"""


def one(fields: str, more: str = "") -> Task:
    """The second of two tasks, with these fields."""
    before = "### Task 1: A\n**Files:** `a.py`\n**Dependencies:** none\n**Complexity:** easy\n**Instructions:** Do.\n"
    return plan_file.read(f"{before}\n### Task 2: B\n{fields}\n{more}")[1]


def with_files(value: str) -> tuple[str, ...]:
    return one(f"**Files:** {value}\n**Dependencies:** none\n**Complexity:** easy\n\nDo it.").files


def with_dependencies(value: str, number: int = 4) -> tuple[int, ...]:
    tasks = [
        f"### Task {n}: T\n**Files:** none\n**Dependencies:** {value if n == number else 'none'}\n\nDo it.\n"
        for n in range(1, 6)
    ]
    return plan_file.read("\n".join(tasks))[number - 1].depends


def problems(text: str) -> tuple[str, ...]:
    with pytest.raises(Invalid) as caught:
        plan_file.read(text)
    assert str(caught.value) == "; ".join(caught.value.problems)
    return caught.value.problems


def test_a_plan_is_read() -> None:
    first, second = plan_file.read(PLAN)
    assert first == Task(
        1, "Add the grammar", ("src/grammar.py", "tests/test_grammar.py"), (), "easy", "Write it.\n\n- first\n- second"
    )
    assert (second.files, second.depends, second.complexity) == (("src/main.py", "src/new.py"), (1,), "hard")
    assert second.instructions.startswith("Call it.\n\n```markdown\n### Task 9")
    assert second.item == Item("task-2", ("task-1",), second.files)


@pytest.mark.parametrize(
    "heading",
    [
        "### Task 2: B",
        "## Task 2: B",
        "#### Task 2 - B",
        "### Task 2 — B",
        "### **Task 2:** B",
        "### **Task 2**: B",
        "### Task #2: B",
        "### task 2. B",
        "### ✅ Task 2: B",
        "### [x] Task 2: B ###",
        "### Task-2: `B`",
    ],
)
def test_a_heading_may_be_written_in_many_ways(heading: str) -> None:
    text = f"### Task 1: A\n**Files:** a.py\n\nDo.\n\n{heading}\n**Files:** b.py\n\nDo.\n"
    assert [(task.number, task.name) for task in plan_file.read(text)] == [(1, "A"), (2, "B")]


@pytest.mark.parametrize(
    "fields",
    [
        "**Files:** `b.py`\n**Dependencies:** Task 1\n**Complexity:** medium\n**Instructions:** Do it.",
        "**Files**: `b.py`\n\n**Dependencies**: Task 1\n\n**Complexity**: medium\n\n**Instructions**: Do it.",
        "- **Files:** b.py\n- **Depends on:** 1\n- **Complexity:** Medium (2 files)\n- **Instructions:** Do it.",
        "* Files: b.py\n* Dependencies: #1\n* Complexity: `medium`\n* Instructions: Do it.",
        "#### Files\n- `b.py`\n\n#### Dependencies\n- Task 1\n\n#### Complexity\nmedium\n\n#### Instructions\nDo it.",
        "__Files__: b.py\n__Dependencies__: Task 1\n__Complexity__: medium\n__Instructions__:\n\nDo it.",
        "**Instructions:**\nDo it.\n\n**Files:**\n\n- b.py\n\n**Dependencies:** Task 1\n**Complexity:** medium",
        "**Files:** `b.py` | **Dependencies:** Task 1 | **Complexity:** medium\n\nDo it.",
        "**Complexity:** easy-medium\n**Files likely touched:**\n- `b.py`\n\n**Blocked by:** Task 1 (A)\n\nDo it.",
    ],
)
def test_fields_may_be_written_in_many_ways(fields: str) -> None:
    assert one(fields) == Task(2, "B", ("b.py",), (1,), "medium", "Do it.")


def test_what_belongs_to_no_field_is_part_of_the_instructions() -> None:
    task = one(
        "**Goal:** speed\n\n**Files:** b.py\n**Dependencies:** none\n**Complexity:** easy\n**Instructions:** Do it."
    )
    assert task.instructions == "**Goal:** speed\n\nDo it."


def test_after_the_instructions_a_field_that_is_known_stays_part_of_them() -> None:
    fields = "**Files:** b.py\n**Dependencies:** none\n**Complexity:** easy\n**Instructions:** Write:\n"
    assert (
        one(fields, "**Files:** c.py\nComplexity: hard").instructions == "Write:\n\n**Files:** c.py\nComplexity: hard"
    )


def test_headings_in_the_instructions_stay_below_that_of_the_task() -> None:
    text = "## Task 1: A\n**Files:** a.py\n\n### Step 1\nDo.\n\n```\n### not this\n```\n\n## Task 2: B\n**Files:** b.py\n\nDo."
    tasks = plan_file.read(text)
    assert tasks[0].instructions == "#### Step 1\nDo.\n\n```\n### not this\n```"
    assert plan_file.read(plan_file.render(tasks, "x")) == tasks


def test_a_plan_that_names_no_dependencies_is_worked_through_in_its_order() -> None:
    text = "".join(f"### Task {number}: T\n**Files:** `{number}.py`\n\nDo it.\n\n" for number in (1, 2, 5))
    assert [(task.number, task.depends, task.complexity) for task in plan_file.read(text)] == [
        (1, (), ""),
        (2, (1,), ""),
        (5, (2,), ""),
    ]


@pytest.mark.parametrize(
    ("value", "files"),
    [
        ("`a.py`, `b/c.py`", ["a.py", "b/c.py"]),
        ("src/a.py and src/b.py.", ["src/a.py", "src/b.py"]),
        ("\n- Create: `src/a.py`\n- Modify: `src/b.py:12-40`\n- Test: `tests/test_a.py`\n", ["src/a.py", "src/b.py", "tests/test_a.py"]),
        ("\n- `src/a.py` — add `run()`, then `stop`\n- `b.ts#L10-L20`", ["src/a.py", "b.ts"]),
        ("\n1. src/a.py (new)\n2. ./src/b.py", ["src/a.py", "src/b.py"]),
        ("`app/(auth)/[id]/page.tsx`", ["app/(auth)/[id]/page.tsx"]),
        ("`src/{a,b}.py`, src/{c,d}.py", ["src/{a,b}.py", "src/{c,d}.py"]),
        ("`old.py` → `new.py`", ["old.py", "new.py"]),
        ("`db/<timestamp>_users.sql`", ["db/*_users.sql"]),
        ("`tests/.../test_a.py`", ["tests/**/test_a.py"]),
        ("[js/a.js](file:///home/x/js/a.js)", ["js/a.js"]),
        ("`my file.py`, `Makefile`, `LICENSE`, `.gitignore`, `bin/run`, `docs/`", ["my file.py", "Makefile", "LICENSE", ".gitignore", "bin/run", "docs/"]),
        ("\n- Modify: `a.py`\n- Reference: `b.py`\n- Read `c.py`", ["a.py"]),
        ("same as Task 1", ["a.py"]),
        ("none", []),
        ("None (verification only)", []),
        ("N/A", []),
        ("`a.py`, `a.py`", ["a.py"]),
        ("src/a.py,\nsrc/b.py", ["src/a.py", "src/b.py"]),
    ],
)  # fmt: skip
def test_paths_are_found_in_what_is_said_about_them(value: str, files: list[str]) -> None:
    assert with_files(value) == tuple(files)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("`../other/a.py`", "'../other/a.py' leads out of the project"),
        ("`src/../../a.py`", "leads out of the project"),
        ("`/etc/passwd.txt`", "is not relative to the project"),
        ("~/a.py", "is not relative to the project"),
        ("`C:/a.py`", "is not relative to the project"),
        ("`src\\a.py`", "has a backslash"),
        ("`.git/config`", "belongs to git or agentd"),
        ("`sub/.GIT/hooks/a.sh`", "belongs to git or agentd"),
        ("`agentd/config.toml`", "belongs to git or agentd"),
        ("`.agents/tmp/state.json`", "belongs to git or agentd"),
        ("`src//a.py`", "has a part that names no folder"),
        ("whatever is needed", "'whatever is needed' is not a path"),
        ("existing test files", "is not a path"),
        ("same as Task 7", "is not a path"),
        ("`run()`", "is not a path"),
    ],
)
def test_a_path_that_no_task_may_write_is_refused_with_its_line(value: str, why: str) -> None:
    (found,) = problems(f"### Task 1: A\n\n**Files:** {value}\n\nDo it.")
    assert found.startswith("line 3: Task 1: ")
    assert why in found


def test_files_of_the_project_whose_names_are_alike_are_allowed() -> None:
    names = ("src/agentd/a.py", ".github/x.yml", ".gitattributes", "agentd.toml", ".agents-work.md")
    assert with_files(", ".join(names)) == names


@pytest.mark.parametrize(
    ("value", "numbers"),
    [
        ("none", []),
        ("None — can start at once", []),
        ("-", []),
        ("n/a", []),
        ("Task 1", [1]),
        ("Task 1, Task 3", [1, 3]),
        ("Tasks 1 and 3", [1, 3]),
        ("1, #2, task-3", [1, 2, 3]),
        ("Tasks 1-3", [1, 2, 3]),
        ("Tasks 1 through 3 (all `green()`), 5", [1, 2, 3, 5]),
        ("Task 1 (the `Parser.read()` signature), Task 2 — both", [1, 2]),
        ("Task 2: the grammar", [2]),
        ("Task 1 completed.", [1]),
        ("\n- Task 1\n- `Task 2`", [1, 2]),
        ("Task 1,\nTask 2", [1, 2]),
        ("previous task", [3]),
        ("All previous tasks", [1, 2, 3]),
        ("all other tasks", [1, 2, 3, 5]),
        ("Task 1, Task 1", [1]),
    ],
)
def test_dependencies_may_be_written_in_many_ways(value: str, numbers: list[int]) -> None:
    assert with_dependencies(value) == tuple(numbers)


@pytest.mark.parametrize(
    ("value", "why"),
    [
        ("Task 9", "it depends on Task 9, which does not exist"),
        ("Task 4", "it depends on itself"),
        ("none, Task 2 first", "is not a task"),
        ("httpx>=0.27", "is not a task"),
        ("the grammar", "'the grammar' is not a task"),
        ("Task 1.2", "'Task 1.2' is not a task"),
        ("schema", "'schema' is not a task"),
        ("independent of Task 2", "is not a task"),
        ("Tasks 3-1", "is not a task"),
        ("Tasks 1-99999999999", "is not a task"),
    ],
)
def test_a_dependency_that_is_no_task_is_refused(value: str, why: str) -> None:
    with pytest.raises(Invalid, match="Task 4: ") as caught:
        with_dependencies(value)
    assert why in str(caught.value)


def test_every_problem_is_named_with_its_line() -> None:
    text = """\
### Task 1: A
**Files:** `../a.py`
**Dependencies:** Task 7
**Complexity:** so so
### Task 1: Again
**Files:** none
**Dependencies:** none
**Dependencies:** Task 1

Do it.

### Task 1.5:
### Task 3:
Do it.
"""
    assert problems(text) == (
        "line 12: Task 1.5: its number must be a whole number",
        "line 5: Task 1: this number is there twice",
        "line 2: Task 1: '../a.py' leads out of the project",
        "line 4: Task 1: its complexity is 'so so', which is none of easy, medium, hard",
        "line 1: Task 1: it has no **Instructions**",
        "line 8: Task 1: **Dependencies** is there twice",
        "line 5: Task 1: it has no **Complexity**",
        "line 13: Task 3: it has no name",
        "line 13: Task 3: it has no **Files**",
        "line 13: Task 3: it has no **Dependencies**",
        "line 13: Task 3: it has no **Complexity**",
        "line 1: Task 1: it depends on Task 7, which does not exist",
    )


@pytest.mark.parametrize("text", ["", "# Plan\n\nNothing to do.", "```\n### Task 1: A\n```\n"])
def test_a_text_without_tasks_is_no_plan(text: str) -> None:
    assert "it has no task" in problems(text)[0]


def test_code_that_never_ends_is_refused_because_it_may_hide_tasks() -> None:
    text = "### Task 1: A\n**Files:** a.py\n\n```\ncode\n\n### Task 2: B\n**Files:** b.py\n\nDo."
    assert problems(text) == ("line 4: what begins here never ends",)


def test_a_cycle_is_refused() -> None:
    text = "".join(
        f"### Task {number}: T\n**Files:** none\n**Dependencies:** Task {other}\n\nDo.\n\n"
        for number, other in ((1, 2), (2, 3), (3, 1))
    )
    assert "Circular dependency detected: task-" in problems(text)[0]


def area(*tasks: tuple[int, str, str]) -> str:
    parts = (
        f"### Task {n}: {name}\n**Files:** `{name}.py`\n**Dependencies:** {on}\n\nDo {name}.\n" for n, name, on in tasks
    )
    return "# An area\n\n" + "\n".join(parts)


def test_the_plans_of_areas_become_one_with_new_numbers() -> None:
    merged = plan_file.merge(
        {
            "docs": area((1, "guide", "api Task 2, Logic")),
            "api": area((1, "routes", "schema"), (2, "client", "Task 1")),
            "schema": area((1, "users", "none"), (3, "orders", "Task 1")),
            "logic": area((1, "rules", "all schema tasks and Task 1 of api")),
            "tests": "No tasks: the other areas bring theirs.",
        }
    )
    assert [(task.number, task.name, task.depends) for task in plan_file.read(merged)] == [
        (1, "users", ()),
        (2, "orders", (1,)),
        (3, "routes", (1, 2)),
        (4, "client", (3,)),
        (5, "rules", (1, 2, 3)),
        (6, "guide", (4, 5)),
    ]
    assert "## Dependency Graph\n\n- Wave 1: Task 1\n- Wave 2: Task 2 (after 1)\n" in merged


def test_an_area_that_is_not_planned_cannot_be_depended_on() -> None:
    with pytest.raises(Invalid) as caught:
        plan_file.merge(
            {"api": area((1, "routes", "schema, docs Task 2")), "logic": "Nothing.", "docs": area((1, "x", "none"))}
        )
    assert caught.value.problems == (
        "logic: it has no task; where nothing is to be done, it says 'No tasks'",
        "api: line 3: Task 1: it depends on schema, which does not exist",
        "api: line 3: Task 1: it depends on Task 2 of docs, which does not exist",
    )


def test_areas_that_wait_for_each_other_are_a_cycle() -> None:
    with pytest.raises(Invalid, match="Circular dependency detected"):
        plan_file.merge({"api": area((1, "a", "schema")), "schema": area((1, "b", "api"))})


def test_areas_without_a_task_are_no_plan() -> None:
    with pytest.raises(Invalid, match="no area has a task"):
        plan_file.merge({"api": "No tasks.", "docs": "**No tasks** here"})


def test_the_plan_of_an_area_may_name_other_areas_and_nothing_else() -> None:
    assert plan_file.area_problem(area((1, "a", "schema, api Task 7"))) == ""
    assert plan_file.area_problem("No tasks.") == ""
    assert "'cellar' is not a task or an area" in plan_file.area_problem(area((1, "a", "cellar")))
    assert "it depends on Task 2, which does not exist" in plan_file.area_problem(area((1, "a", "Task 2")))
    assert "it has no task" in plan_file.area_problem("I could not do it.")


words = st.text("abcxyz", min_size=1, max_size=8)
paths = st.builds(lambda folders, name: "/".join([*folders, f"{name}.py"]), st.lists(words, max_size=2), words)
lines = st.sampled_from(
    ["Do it.", "- a list", "**Files:** `x.py`", "**Complexity:** hard", "Complexity: easy", "#### A part", "    code", "", "  two"]
    + ["```\n### Task 7: no\n## no\n```", "~~~\n# no\n~~~", "<!-- a comment -->", "| a | b |", "---\nrule", "Task 3: x", "- [ ] **Step 1**"]
)  # fmt: skip
instructions = (
    st.lists(lines, min_size=1)
    .map("\n".join)
    .map(lambda text: text.strip("\n").rstrip())
    .filter(lambda text: text and not text.startswith(" "))
)


@st.composite
def plans(draw: st.DrawFn) -> tuple[Task, ...]:
    numbers = draw(st.lists(st.integers(0, 500), min_size=1, max_size=6, unique=True))
    rated = draw(st.booleans())
    return tuple(
        Task(
            number,
            draw(words),
            tuple(draw(st.lists(paths, unique=True, max_size=3))),
            tuple(draw(st.lists(st.sampled_from(numbers[:index]), unique=True, max_size=3))) if index else (),
            draw(st.sampled_from(["easy", "medium", "hard"])) if rated else "",
            draw(instructions.filter(lambda text: rated or "Complexity" not in text)),
        )
        for index, number in enumerate(numbers)
    )


@given(plans(), words)
def test_what_is_written_is_read_again(tasks: tuple[Task, ...], title: str) -> None:
    assert plan_file.read(plan_file.render(tasks, title)) == tasks


@given(st.dictionaries(st.sampled_from(plan_file.AREAS), plans(), min_size=1))
def test_merging_keeps_every_task_and_what_it_depends_on(parts: dict[str, tuple[Task, ...]]) -> None:
    if len({bool(task.complexity) for tasks in parts.values() for task in tasks}) > 1:
        return
    merged = plan_file.read(plan_file.merge({area: plan_file.render(tasks, "x") for area, tasks in parts.items()}))
    written = [(area, task) for area in plan_file.AREAS for task in parts.get(area, ())]
    assert [task.number for task in merged] == list(range(1, len(written) + 1))
    for task, (area, was) in zip(merged, written, strict=True):
        named = [(written[number - 1][0], written[number - 1][1].number) for number in task.depends]
        assert named == [(area, number) for number in was.depends]
        assert (task.name, task.files, task.instructions) == (was.name, was.files, was.instructions)


@given(st.text("#TaskFiles *:`1-,\n\t.()[]|", max_size=200))
def test_no_text_is_read_in_any_way_but_as_a_plan_or_as_invalid(text: str) -> None:
    try:
        tasks = plan_file.read(text)
    except Invalid:
        return
    assert plan_file.read(plan_file.render(tasks, "x")) == tasks
