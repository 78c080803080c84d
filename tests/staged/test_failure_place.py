"""Where a failure lies: in a test, in the source, or unknown."""

from collections.abc import Collection
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.evidence import outputs
from agentd.families.staged.failure_place import Place, classify
from agentd.model.command import Command, Kind
from agentd.model.evidence import Case, Result
from agentd.proof.integrity.paths import is_test

RECORDED = Path(__file__).parents[1] / "evidence" / "recorded"
PYTEST_TYPE_ERROR = """\
________________________________ test_a_price _________________________________

    def test_a_price():
>       assert price(100, None) == 90

/work/tests/test_shop.py:12:
_ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _ _

    def price(full, discount):
>       return full - discount
E       TypeError: unsupported operand type(s) for -: 'int' and 'NoneType'

/work/src/shop.py:3: TypeError
----------------------------- Captured stdout call -----------------------------
see tests/test_shop.py:1
"""
UNITTEST_KEY_ERROR = """\
======================================================================
ERROR: test_a_price (tests.test_shop.Prices)
----------------------------------------------------------------------
Traceback (most recent call last):
  File "/work/tests/test_shop.py", line 12, in test_a_price
    self.assertEqual(price("a"), 90)
  File "/work/src/shop.py", line 3, in price
    return PRICES[name]
KeyError: 'a'
"""
GO_PANIC = """\
--- FAIL: TestPrice (0.00s)
panic: runtime error: index out of range [3] with length 3 [recovered]

goroutine 7 [running]:
testing.tRunner.func1.2({0x1, 0x2})
\t/usr/lib/go/src/testing/testing.go:1396 +0x24e
example.org/shop.Price(...)
\t/work/src/shop.go:3 +0x1d
example.org/shop.TestPrice(0xc0001)
\t/work/tests/shop_test.go:12 +0x1d
"""
RUST_PANIC = """\
---- a_price stdout ----

thread 'a_price' panicked at src/shop.rs:3:5:
index out of bounds: the len is 3 but the index is 3
stack backtrace:
   0: __rustc::rust_begin_unwind
             at /rustc/598/library/std/src/panicking.rs:689:5
   2: shop::price
             at ./src/shop.rs:3:5
   3: shop::a_price
             at ./tests/shop.rs:12:5
"""
JEST_TYPE_ERROR = """\
  ● price › with a discount

    TypeError: Cannot read properties of undefined (reading 'length')

    > 3 | const price = (name) => name.length
        |                              ^

      at length (src/shop.js:3:30)
      at Object.price (tests/shop.test.js:12:10)
      at new Promise (<anonymous>)
      at run (node_modules/jest-circus/build/run.js:3:3)
"""
NODE_TYPE_ERROR = """\
✖ a price (1.5ms)
  TypeError: Cannot read properties of undefined (reading 'length')
      at price (file:///work/src/shop.mjs:3:30)
      at TestContext.<anonymous> (file:///work/tests/shop.test.mjs:12:10)
      at Test.runInAsyncScope (node:async_hooks:206:9)
"""
JUNIT_NULL_POINTER = """\
[ERROR] aPrice(org.example.ShopTest)  Time elapsed: 0.008 s  <<< ERROR!
java.lang.NullPointerException: Cannot invoke "String.length()"
\tat org.example.Shop.price(Shop.java:3)
\tat org.example.ShopTest.aPrice(ShopTest.java:12)
\tat java.base/java.lang.reflect.Method.invoke(Method.java:580)
"""
RAISED_IN_SOURCE = [
    ("src/shop.py", "tests/test_shop.py", PYTEST_TYPE_ERROR),
    ("src/shop.py", "tests/test_shop.py", UNITTEST_KEY_ERROR),
    ("src/shop.go", "tests/shop_test.go", GO_PANIC),
    ("src/shop.rs", "tests/shop.rs", RUST_PANIC),
    ("src/shop.js", "tests/shop.test.js", JEST_TYPE_ERROR),
    ("src/shop.mjs", "tests/shop.test.mjs", NODE_TYPE_ERROR),
    ("src/main/java/org/example/Shop.java", "src/test/java/org/example/ShopTest.java", JUNIT_NULL_POINTER),
]


def place(
    output: str,
    changed: Collection[str],
    project: Collection[str] = (),
    *cases: Case,
    kind: Kind = "test",
) -> Place:
    lines = tuple(output.splitlines())
    return classify([Result(Command(kind, "run"), "red", 1, cases=cases, output=lines)], changed, is_test, project)


@pytest.mark.parametrize(("source", "test", "output"), RAISED_IN_SOURCE)
def test_an_error_in_source_that_the_run_wrote_counts_against_the_source(source: str, test: str, output: str) -> None:
    assert place(output, {source, test}) == Place("source_is_wrong", "high", (f"{source}:3",))


@pytest.mark.parametrize(("source", "test", "output"), RAISED_IN_SOURCE)
def test_an_error_in_source_that_the_run_did_not_write_is_unknown_where_other_source_changed(
    source: str, test: str, output: str
) -> None:
    assert place(output, {"src/other.py", test}, {source}) == Place("unknown", "low", (f"{source}:3",))


@pytest.mark.parametrize(
    ("name", "test"),
    [
        ("pytest-line-red", "tests/test_shop.py"),
        ("pytest-q-red", "tests/test_shop.py"),
        ("pytest-v-red", "tests/test_shop.py"),
        ("unittest-red", "tests/test_shop.py"),
        ("unittest-v-red", "tests/test_shop.py"),
        ("go-red", "price_test.go"),
        ("go-v-red", "price_test.go"),
        ("cargo-red", "tests/discounts.rs"),
        ("jest-red", "src/price.jest.js"),
        ("vitest-red", "src/price.vitest.mjs"),
        ("node-tap-red", "price.test.js"),
        ("node-spec-red", "price.test.js"),
        ("maven-red", "src/test/java/org/example/ShopTest.java"),
    ],
)
def test_a_failed_assertion_counts_against_the_side_that_the_run_wrote(name: str, test: str) -> None:
    lines = (RECORDED / f"{name}.txt").read_text("utf-8").splitlines()
    read = outputs.read("test", lines, "/project")
    for output in (lines, []):  # the cases alone say the same
        result = Result(Command("test", "run"), "red", 1, cases=read.cases, output=tuple(output))
        if not output and not any(case.file for case in read.cases):
            continue
        words = [
            classify([result], changed, lambda path: path == test, {test, "src/x.py"}).word
            for changed in ({"src/x.py"}, {test}, {"docs/a.md"})
        ]
        assert words == ["source_is_wrong", "test_is_wrong", "unknown"]


ASSERTION = "___ test_a ___\n>       assert a() == 1\nE       assert 2 == 1\ntests/test_a.py:30: AssertionError\n"


def test_a_failed_assertion_is_unknown_if_the_run_wrote_both_sides() -> None:
    assert place(ASSERTION, {"src/a.py", "tests/test_a.py"}) == Place("unknown", "low", ("tests/test_a.py:30",))


@pytest.mark.parametrize(
    "error",
    [
        "E       NameError: name 'a_wrong' is not defined\n\ntests/test_a.py:30: NameError",
        "E       fixture 'nothing' not found\n\n/work/tests/test_a.py:30",
        "E     File \"/work/tests/test_a.py\", line 30\nE       def a(:\nE   SyntaxError: invalid syntax",
    ],
)  # fmt: skip
def test_a_name_or_a_syntax_that_only_the_test_can_have_wrong_counts_against_the_test(error: str) -> None:
    assert place(f"___ test_a ___\n{error}\n", {"src/a.py", "tests/test_a.py"}) == Place(
        "test_is_wrong", "high", ("tests/test_a.py:30",)
    )


def test_an_error_that_the_source_raises_on_purpose_is_unknown() -> None:
    output = PYTEST_TYPE_ERROR.replace("return full - discount", 'raise TypeError("no discount")')
    assert place(output, {"src/shop.py", "tests/test_shop.py"}).word == "unknown"


def test_failures_that_contradict_each_other_are_unknown() -> None:
    name = "___ test_b ___\nE       NameError: name 'x' is not defined\n\ntests/test_shop.py:40: NameError\n"
    changed = {"src/shop.py", "tests/test_shop.py"}
    assert place(PYTEST_TYPE_ERROR + name, changed).word == "unknown"
    assert place(PYTEST_TYPE_ERROR + ASSERTION, {*changed, "tests/test_a.py"}).word == "source_is_wrong"
    assert place(name + ASSERTION, {*changed, "tests/test_a.py"}).word == "test_is_wrong"


def test_what_shared_test_support_may_have_broken_is_unknown() -> None:
    assert place(ASSERTION, {"src/a.py"}, {"tests/test_a.py"}).word == "source_is_wrong"
    for support in ("tests/conftest.py", "tests/http_helpers.py", "tests/fixtures/a.json"):
        assert place(ASSERTION, {"src/a.py", support}, {"tests/test_a.py"}).word == "unknown"


def test_libraries_and_files_that_are_not_of_the_project_do_not_count() -> None:
    output = (
        'File "/work/.venv/lib/python3.11/site-packages/shop.py", line 3\nTypeError: x\n/usr/lib/go/src/a_test.go:3'
    )
    assert place(output, {"shop.py", "tests/test_a.py"}) == Place("unknown", "low")
    assert place("", {"src/a.py"}) == Place("unknown", "low")


def test_a_bare_name_that_several_files_have_means_none_of_them() -> None:
    output = "--- FAIL: TestA\n    a_test.go:3: got 1\n"
    assert place(output, {"a.go"}, {"x/a_test.go"}).word == "source_is_wrong"
    assert place(output, {"a.go"}, {"x/a_test.go", "y/a_test.go"}).word == "unknown"


@pytest.mark.parametrize(("file", "word"), [("src/a.py", "source_is_wrong"), ("tests/test_a.py", "test_is_wrong")])
def test_a_linter_says_itself_which_file_is_wrong(file: str, word: str) -> None:
    assert place("", {"src/a.py"}, {"tests/test_a.py"}, Case("F401", "failed", file, 3), kind="lint").word == word


@given(st.lists(st.text() | st.sampled_from(PYTEST_TYPE_ERROR.splitlines() + GO_PANIC.splitlines())))
def test_no_output_is_too_odd(lines: list[str]) -> None:
    found = place("\n".join(lines), {"src/shop.py", "tests/test_shop.py"})
    assert (found.sure == "high") == (found.word != "unknown")
