"""Code that no tree shows is found if it is new or other than it was, and so is a git that reads files otherwise."""

import importlib.util
import marshal
import os
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from agentd.evidence.runner import run_command
from agentd.git.repository import begin_repository, git
from agentd.model.command import Command
from agentd.model.evidence import Harm
from agentd.proof import hidden_code

OURS = ("agentd",)
SEEN = "git does not see it, but the tests can use it"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    write(folder, {".gitignore": "/local.py\n/data/\n*.log\nbuild/\nnode_modules/\n/odd\n", "tally/words.py": "one\n"})
    begin_repository(folder, "The beginning")
    write(
        folder, {"local.py": "mine\n", "data/a.py": "a\n", "data/deep/b.json": "{}", "node_modules/x/index.js": "x\n"}
    )
    return folder


def write(folder: Path, files: dict[str, str]) -> None:
    for name, text in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(text, encoding="utf-8")


def harms(project: Path, known: dict[str, Any]) -> list[Harm]:
    return hidden_code.harms(project, known.get("unseen"), known.get("git_settings"), OURS)


def told(project: Path, known: dict[str, Any]) -> list[tuple[str, str]]:
    return [(harm.file, harm.message) for harm in harms(project, known)]


def test_what_was_there_before_is_no_harm_and_nothing_is_told_of_its_content(project: Path) -> None:
    known = hidden_code.noted(project, OURS)
    assert list(known["unseen"]) == ["data/a.py", "local.py"]
    assert "mine" not in repr(known)
    assert told(project, known) == []


def test_what_is_installed_built_or_no_code_is_no_harm(project: Path) -> None:
    known = hidden_code.noted(project, OURS)
    write(
        project,
        {"node_modules/x/more.js": "x\n", "build/lib/a.py": "a\n", "data/notes.txt": "text\n", "x.log": "noise"},
    )
    write(
        project,
        {"tally/__pycache__/a.cpython-311.pyc": "a", "agentd/changes/x/tasks.md": "t", "agentd/config.toml": ""},
    )
    write(project, {"tally/new.py": "git sees it\n"})
    assert told(project, known) == []


@pytest.mark.parametrize(
    "path", ["local.py", "data/a.py", "data/deep/new.pyc", "data/pytest.ini", "data/x.so", "agentd/x.py", "data/a.pth"]
)
def test_code_that_git_ignores_is_a_harm_when_it_is_new_or_changed(project: Path, path: str) -> None:
    known = hidden_code.noted(project, OURS)
    write(project, {path: "other\n"})
    assert told(project, known) == [(path, SEEN)]


def test_what_one_content_was_waived_for_another_is_not(project: Path) -> None:
    known = hidden_code.noted(project, OURS)
    ids = set()
    for text in ("other\n", "another\n"):
        write(project, {"local.py": text})
        ids |= {harm.id for harm in harms(project, known)}
    assert len(ids) == 2


def test_the_list_of_ignored_files_may_be_git_s_own_and_the_file_beside_tracked_ones(project: Path) -> None:
    known = hidden_code.noted(project, OURS)
    write(project, {"tally/most.py": "most\n", ".git/info/exclude": "most.py\n"})
    assert told(project, known) == [("tally/most.py", SEEN)]


def test_a_large_file_another_repository_a_link_and_a_script_are_found(project: Path, tmp_path: Path) -> None:
    known = hidden_code.noted(project, OURS)
    write(
        project, {"large.py": "#" * (6 << 20), "unittest/__init__.py": "", "data/run": "#!/bin/sh\n", "data/text": "x"}
    )
    (project / "data/run").chmod(0o755)
    git(project / "unittest", "init", "--quiet")
    (project / "odd").symlink_to(tmp_path, target_is_directory=True)
    assert [file for file, _ in told(project, known)] == ["data/run", "large.py", "odd", "unittest/__init__.py"]


def test_many_are_kept_folder_by_folder_and_few_are_named(project: Path) -> None:
    write(project, {f"data/{number}.py": "x\n" for number in range(hidden_code.KEPT + 1)})
    known = hidden_code.noted(project, OURS)
    assert list(known["unseen"]) == ["data/", "local.py"]
    assert told(project, known) == []
    write(project, {"data/7.py": "y\n", "local.py": "y\n"})
    assert [file for file, _ in told(project, known)] == ["data/", "local.py"]
    few = {**known, "unseen": {}}
    assert len(told(project, few)) == hidden_code.NAMED + 1
    assert told(project, few)[-1][1].startswith(
        f"git does not see it and {hidden_code.KEPT - hidden_code.NAMED + 2} more"
    )


def test_settings_that_change_what_git_reads_are_named(project: Path) -> None:
    git(project, "config", "filter.old.clean", "cat")
    known = hidden_code.noted(project, OURS)
    git(project, "config", "user.name", "Nobody")
    assert told(project, known) == []
    git(project, "config", "filter.lie.clean", "true")
    git(project, "config", "filter.old.clean", "tac")
    git(project, "config", "core.worktree", str(project.parent))
    write(project, {".git/info/attributes": "*.py filter=lie\n"})
    found = told(project, known)
    assert [message.partition(",")[0] for _, message in found] == [
        ".git/info/attributes is new",
        "core.worktree is new",
        "filter.lie.clean is new",
        "filter.old.clean has changed",
    ]
    assert [file for file, _ in found] == [".git/info/attributes", *[".git/config"] * 3]


def test_a_change_that_began_before_anything_was_noted_is_not_held_up(project: Path) -> None:
    assert told(project, {}) == []


def test_compiled_files_beside_the_sources_are_not_used(tmp_path: Path) -> None:
    write(tmp_path, {"words.py": "print('3 failed')\n", "go.py": "import subprocess, sys\nimport words\n"})
    write(tmp_path, {"go.py": "import subprocess, sys\nsubprocess.run([sys.executable, '-c', 'import words'])\n"})
    path = tmp_path / os.path.relpath(importlib.util.cache_from_source("words.py"))
    path.parent.mkdir()
    # A flag of 1: found by its name, and never compared with its source.
    code = marshal.dumps(compile("print('3 passed')", "words.py", "exec"))
    path.write_bytes(importlib.util.MAGIC_NUMBER + (1).to_bytes(4, "little") + bytes(8) + code)
    seen = run_command(Command("test", f"{shlex.quote(sys.executable)} go.py"), tmp_path, {}, 60, None)
    assert seen.output == ("3 failed",)
