"""Which commands count: those of the configuration, else those of the first file that has a setup."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from agentd.landing import recipe, tool_files
from agentd.runs.config import read_config
from agentd.runs.project import Project
from tests.landing.checkouts import write

FILES = {
    tool_files.CURSOR: '{"setup-worktree": ["cursor"]}',
    tool_files.CODEX: '[setup]\nscript = "codex"\n[cleanup]\nscript = "codex-down"\n',
    tool_files.CONDUCTOR: 'file_include_globs = ".env"\n[scripts]\nsetup = "conductor"\n',
    tool_files.CONDUCTOR_OLD: '{"scripts": {"setup": "old", "archive": "old-down"}}',
}


def found(folder: Path, config: str = "", **files: str) -> tuple[tool_files.Recipe, list[str]]:
    """What is found in a project with these files, and what is said of them."""
    root, said = folder.resolve(), list[str]()
    write(root, {**files, "agentd/config.toml": config})
    return recipe.find(Project(root, read_config(root, env={}), (), say=said.append)), said


def test_the_first_file_with_a_setup_is_used_and_its_name_is_known(tmp_path: Path) -> None:
    names = list(FILES)
    for number, name in enumerate(names):
        one, _ = found(tmp_path / str(number), **{each: FILES[each] for each in names[number:]})
        assert one.source == name


def test_a_file_without_a_setup_is_passed_over(tmp_path: Path) -> None:
    none = {
        tool_files.CURSOR: '{"setup-worktree": []}',
        tool_files.CODEX: '[setup]\nscript = ""\n[cleanup]\nscript = "x"\n',
    }
    one, said = found(tmp_path, **{**FILES, **none})
    assert (one.source, one.setup, one.cleanup, said) == (tool_files.CONDUCTOR, ("conductor",), (), [])


def test_the_former_file_of_conductor_does_not_count_beside_its_settings(tmp_path: Path) -> None:
    settings = {tool_files.CONDUCTOR: "", tool_files.CONDUCTOR_OLD: FILES[tool_files.CONDUCTOR_OLD]}
    assert found(tmp_path, **settings)[0].setup == ()


def test_the_configuration_wins(tmp_path: Path) -> None:
    one, _ = found(tmp_path / "1", '[workspace]\nsetup = "mine"\n', **FILES)
    assert (one.source, one.setup, one.cleanup) == ("[workspace]", ("mine",), ())
    one, _ = found(tmp_path / "2", '[workspace]\nsetup = ["a", "b"]\ncleanup = "c"\n', **FILES)
    assert (one.setup, one.cleanup) == (("a", "b"), ("c",))
    only = {tool_files.CODEX: FILES[tool_files.CODEX]}
    one, _ = found(tmp_path / "3", '[workspace]\ncleanup = "c"\n', **only)
    assert (one.setup, one.cleanup) == (("codex",), ("c",))
    one, _ = found(tmp_path / "4", "[workspace]\nsetup = []\n", **FILES)
    assert (one.setup, one.cleanup) == ((), ())


def test_patterns_of_conductor_count_whoever_sets_up(tmp_path: Path) -> None:
    assert found(tmp_path, **FILES)[0].patterns == ".env"


def linked(path: Path) -> None:
    (path.parent / "real.json").write_text(FILES[tool_files.CURSOR])
    path.symlink_to("real.json")


def linked_folder(path: Path) -> None:
    path.parent.rename(path.parent.with_name("real"))
    path.parent.symlink_to("real")
    path.write_text(FILES[tool_files.CURSOR])


@pytest.mark.parametrize(
    ("put", "why"),
    [
        (linked, "no link is followed"),
        (linked_folder, "no link is followed"),
        (lambda path: path.symlink_to("/dev/zero"), "no link is followed"),
        (lambda path: path.symlink_to("nothing"), "no link is followed"),
        (os.mkfifo, "it is not a file"),
        (lambda path: path.mkdir(), "it is not a file"),
        (lambda path: path.write_bytes(b"{}" + b" " * (1 << 20)), "it is larger than 1 MiB"),
        (lambda path: path.write_bytes(b'{"a": "\xff"}'), "it is not UTF-8 text"),
        (lambda path: path.write_text("{" * 100_000), "column"),
        (lambda path: path.write_text(""), "no setup-worktree"),
    ],
)
def test_an_odd_file_is_told_in_one_line_and_the_next_one_used(
    tmp_path: Path, put: Callable[[Path], object], why: str
) -> None:
    path = tmp_path.resolve() / tool_files.CURSOR
    path.parent.mkdir()
    put(path)
    one, said = found(tmp_path, **{tool_files.CODEX: FILES[tool_files.CODEX]})
    assert one.source == tool_files.CODEX
    (line,) = said
    assert line.startswith(f"⚠ {tool_files.CURSOR} is not used for workspaces: ")
    assert why in line
