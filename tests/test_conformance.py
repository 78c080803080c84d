"""The conformance check on small test trees, run as people run it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.conformance import ranges, read_claims

SCRIPT = Path(__file__).with_name("conformance.py")
BARE = os.environ | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
PROVES = "import pytest\n\n@pytest.mark.requirement({})\ndef test_it():\n    pass\n"


def check(folder: Path, claims: str, **modules: str) -> tuple[int, str]:
    (folder / "claimed.txt").write_text(claims)
    for name, text in modules.items():
        (folder / f"test_{name}.py").write_text(text)
    done = subprocess.run([sys.executable, SCRIPT, folder], capture_output=True, text=True, cwd=folder, env=BARE)
    return done.returncode, done.stdout + done.stderr


def test_claims_that_are_all_proved_pass(tmp_path: Path) -> None:
    code, said = check(tmp_path, "3-5 # all\n\n# none\n293", one=PROVES.format("3, 4"), two=PROVES.format("5, 293"))
    assert code == 0, said
    assert "no test yet:  1-2, 6-292, 294-311\n" in said
    assert "proved:       4 of 311, by 2 collected tests; claimed: 4\n" in said


def test_every_claimed_number_without_a_test_is_named(tmp_path: Path) -> None:
    code, said = check(tmp_path, "81-92\n293\n", one=PROVES.format("82, 84"))
    assert code == 1
    assert "claimed, but no test proves it: 81, 83, 85-92, 293\n" in said


def test_a_number_proved_but_not_claimed_is_a_note(tmp_path: Path) -> None:
    code, said = check(tmp_path, "7", one=PROVES.format("7, 8, 9"))
    assert code == 0
    assert "proved but not claimed in claimed.txt: 8-9\n" in said


def test_marks_that_are_no_requirement_fail(tmp_path: Path) -> None:
    wrong = ["0", "312", "'7'", "True", "", "7, 400"]
    modules = {f"wrong{n}": PROVES.format(arguments) for n, arguments in enumerate(wrong)}
    code, said = check(tmp_path, "7", fine=PROVES.format(7), **modules)
    assert code == 1
    assert [name for name in modules if f"test_{name}.py::test_it: requirement(" not in said] == []
    assert "test_fine" not in said


def test_a_skipped_or_expected_failure_proves_nothing(tmp_path: Path) -> None:
    skipped = PROVES.format(7).replace("def", "@pytest.mark.skip\ndef")
    expected = PROVES.format(8).replace("def", "@pytest.mark.xfail\ndef")
    code, said = check(tmp_path, "7-9", one=skipped, two=expected, three=PROVES.format(9))
    assert code == 1
    assert "no test proves it: 7-8\n" in said


@pytest.mark.parametrize("text", ["import nowhere_to_be_found\n", "def test_it(:\n"])
def test_a_test_file_that_cannot_be_collected_fails(tmp_path: Path, text: str) -> None:
    code, said = check(tmp_path, "7", broken=text, fine=PROVES.format(7))
    assert code == 1
    assert "ERROR collecting test_broken.py" in said
    assert "test_fine.py::" not in said
    assert "did not collect every test" in said


def test_a_tree_without_tests_fails(tmp_path: Path) -> None:
    code, said = check(tmp_path, "")
    assert code == 1
    assert "did not collect every test" in said


@pytest.mark.parametrize("claims", ["eighty", "5-3", "0", "312", "1-400", "7, 8", "-7"])
def test_a_claim_that_is_no_requirement_fails(claims: str) -> None:
    with pytest.raises(SystemExit, match=r"claimed\.txt, line 2: "):
        read_claims(f"1\n{claims}\n")


def test_a_missing_list_of_claims_fails(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, SCRIPT, tmp_path], capture_output=True, text=True, env=BARE)
    assert (done.returncode, "there is no" in done.stdout) == (1, True)


def test_numbers_are_shown_as_ranges() -> None:
    assert ranges([9, 1, 2, 3, 7]) == "1-3, 7, 9"
    assert ranges([]) == "none"
