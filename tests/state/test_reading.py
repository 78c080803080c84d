"""Files read with care: what is text is given, what is not has its reason, and no link leads out."""

import os
from pathlib import Path

import pytest

from agentd.state.reading import LARGEST, markdown, page


def test_a_file_is_given_with_its_text(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes("\ufeffgrün\r\n".encode())
    found = page(str(tmp_path), "a.md")
    assert found is not None
    assert (found.name, found.text, found.problem) == ("a.md", "\ufeffgrün\r\n", "")
    assert page(str(tmp_path), "b.md") is None
    assert page(str(tmp_path), "a.md/b.md") is None


def test_what_is_not_utf_8_has_the_line_of_its_first_odd_byte(tmp_path: Path) -> None:
    (tmp_path / "a.md").write_bytes(b"one\ntwo\nthr\xffee\n")
    found = page(str(tmp_path), "a.md")
    assert found is not None
    assert (found.problem, found.line, found.text) == ("it is not UTF-8 text", 3, "")


def test_a_huge_file_is_not_read(tmp_path: Path) -> None:
    with (tmp_path / "a.md").open("wb") as file:
        file.truncate(LARGEST + 1)
    found = page(str(tmp_path), "a.md")
    assert found is not None
    assert "larger than 1 MiB" in found.problem
    assert not found.data


@pytest.mark.parametrize("make", [lambda path: path.mkdir(), lambda path: os.mkfifo(path)])
def test_what_is_no_file_is_told_and_nobody_waits_for_it(tmp_path: Path, make: object) -> None:
    make(tmp_path / "a.md")  # type: ignore[operator]
    found = page(str(tmp_path), "a.md")
    assert found is not None
    assert found.problem == "it is not a file"


def test_a_link_is_followed_inside_and_never_out(tmp_path: Path) -> None:
    home = tmp_path / "home"
    (home / "specs").mkdir(parents=True)
    (home / "a.md").write_text("inside")
    (tmp_path / "secret.md").write_text("outside")
    (home / "in.md").symlink_to("a.md")
    (home / "out.md").symlink_to(tmp_path / "secret.md")
    (home / "twice.md").symlink_to("out.md")
    (home / "gone.md").symlink_to("nowhere.md")
    (home / "loop.md").symlink_to("loop.md")
    found = {name: page(str(home), f"{name}.md") for name in ("in", "out", "twice", "gone", "loop")}
    assert {name: entry.text for name, entry in found.items() if entry} == {
        "in": "inside",
        "out": "",
        "twice": "",
        "gone": "",
        "loop": "",
    }
    assert {name: bool(entry and entry.problem) for name, entry in found.items()} == {
        "in": False,
        "out": True,
        "twice": True,
        "gone": True,
        "loop": True,
    }


def test_a_folder_is_listed_in_order_without_drafts_and_links_to_folders_are_told(tmp_path: Path) -> None:
    home, away = tmp_path / "home", tmp_path / "away"
    for name in ("specs/b.md", "specs/a.md", "specs/_draft.md", "specs/.hidden.md", "specs/sub/c.md", "specs/x.txt"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(name)
    away.mkdir()
    (away / "secret.md").write_text("outside")
    (home / "specs" / "link").symlink_to(away)
    (home / "specs" / "up").symlink_to("..")
    found = list(markdown(str(home), "specs"))
    assert [entry.name for entry in found] == ["specs/a.md", "specs/b.md", "specs/link", "specs/sub/c.md", "specs/up"]
    assert all("not followed" in entry.problem for entry in found if not entry.name.endswith(".md"))
    assert "outside" not in [entry.text for entry in found]


def test_a_link_in_place_of_the_whole_folder_is_not_followed(tmp_path: Path) -> None:
    away = tmp_path / "away"
    away.mkdir()
    (away / "secret.md").write_text("outside")
    (tmp_path / "home").mkdir()
    (tmp_path / "home" / "specs").symlink_to(away)
    assert [entry.text for entry in markdown(str(tmp_path / "home"), "specs")] == [""]


def test_a_name_that_is_no_text_can_be_shown(tmp_path: Path) -> None:
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/\xff\n.md")).write_text("x")
    (found,) = markdown(str(tmp_path))
    assert found.name == "\ufffd\ufffd.md"
    assert found.text == "x"
