"""An agent's settings file gets what the agent needs, once; everything in it and around it stays the person's."""

import json
import os
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentd.calling.agent_settings import register
from agentd.errors import Corrupt, DiskTrouble, Refused

NAME = ".gemini/settings.json"
WANTED = {"mcpServers": {"agentd": {"command": "python", "args": ["-m", "agentd", "mcp"], "trust": True}}}
MINE = """{
    // The theme I like.
    "theme": "GitHub", /* and no other */
    "mcpServers": {
        "mine": {"command": "x"}, // keep
    },
}
"""


def put(root: Path, text: str | bytes) -> Path:
    path = root / NAME
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode() if isinstance(text, str) else text)
    return path


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True, timeout=30).stdout


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    folder = tmp_path / "repo"
    folder.mkdir()
    git(folder, "init", "--quiet")
    (folder / "a.txt").write_text("a\n")
    git(folder, "add", "--all")
    git(folder, "-c", "user.name=a", "-c", "user.email=a@localhost", "commit", "--quiet", "-m", "a")
    return folder


def test_a_missing_file_is_made(tmp_path: Path) -> None:
    assert register(tmp_path / NAME, WANTED, tmp_path)
    assert json.loads((tmp_path / NAME).read_text()) == WANTED


def test_everything_in_a_file_stays_but_for_the_entry(tmp_path: Path) -> None:
    path = put(tmp_path, MINE)
    assert register(path, WANTED, tmp_path)
    text = path.read_text()
    head, tail = MINE.split(" // keep\n")
    assert text.startswith(head + " // keep\n        " + '"agentd": {\n')
    assert text.endswith("},\n" + tail)


def test_an_entry_that_is_right_is_left_untouched(tmp_path: Path) -> None:
    path = put(tmp_path, MINE)
    register(path, WANTED, tmp_path)
    before = path.stat()
    assert not register(path, WANTED, tmp_path)
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.parametrize(
    "own",
    ['"command": "/old/python", "args": ["-P", "-m", "agentd", "mcp"]', '"command": "/old/agentd", "args": ["mcp"]'],
)
def test_an_entry_of_another_installation_is_brought_up_to_date(tmp_path: Path, own: str) -> None:
    path = put(tmp_path, f'{{"mcpServers": {{"agentd": {{{own}, "timeout": 5 /* mine */}}}}}}')
    register(path, WANTED, tmp_path)
    assert "/* mine */" in path.read_text()
    found = json.loads(path.read_text().replace("/* mine */", ""))
    assert found == {"mcpServers": {"agentd": {**WANTED["mcpServers"]["agentd"], "timeout": 5}}}


@pytest.mark.parametrize(
    "entry",
    [
        {},
        {"command": "other", "args": ["serve"]},
        {"command": "python", "args": ["-m", "agentd"]},
        {"command": "python", "args": "agentd mcp"},
        {"httpUrl": "http://127.0.0.1:1/mcp"},
        {"url": "http://127.0.0.1:1/sse", **WANTED["mcpServers"]["agentd"]},
    ],
)
def test_a_server_of_another_kind_under_agentds_name_is_not_mixed_with_it(tmp_path: Path, entry: Any) -> None:
    path = put(tmp_path, text := json.dumps({"mcpServers": {"agentd": entry}}))
    with pytest.raises(Refused, match=r"mcpServers\.agentd in .* is a server of another kind") as caught:
        register(path, WANTED, tmp_path)
    assert caught.value.fix == f"${{EDITOR:-vi}} {path}   # give mcpServers.agentd another name"
    assert path.read_text() == text


def test_a_read_only_file_is_not_replaced(tmp_path: Path) -> None:
    path = put(tmp_path, MINE)
    path.chmod(0o444)
    with pytest.raises(DiskTrouble, match="is read-only") as caught:
        register(path, WANTED, tmp_path)
    assert caught.value.fix.startswith(f"chmod u+w {path}")
    assert path.read_text() == MINE


def test_a_read_only_file_with_the_right_entry_is_fine(tmp_path: Path) -> None:
    path = put(tmp_path, json.dumps(WANTED))
    path.chmod(0o444)
    assert not register(path, WANTED, tmp_path)


def test_a_file_keeps_its_mode(tmp_path: Path) -> None:
    path = put(tmp_path, "{}")
    path.chmod(0o640)
    register(path, WANTED, tmp_path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.parametrize(
    ("content", "why"),
    [
        (b'{\n  "theme": dark\n}', r"settings\.json:2: Expecting value"),
        (b'{"mcpServers": []}', "'mcpServers' is no object"),
        (b"\xff\xfe{}", "not UTF-8"),
    ],
)
def test_a_file_that_cannot_be_read_is_left_as_it_is(tmp_path: Path, content: bytes, why: str) -> None:
    path = put(tmp_path, content)
    with pytest.raises(Corrupt, match=why) as caught:
        register(path, WANTED, tmp_path)
    assert str(path) in caught.value.fix
    assert path.read_bytes() == content


@pytest.mark.parametrize("make", [Path.mkdir, os.mkfifo])
def test_what_is_no_file_is_refused(tmp_path: Path, make: Any) -> None:
    (tmp_path / ".gemini").mkdir()
    make(tmp_path / NAME)
    with pytest.raises(Corrupt, match="is not a file"):
        register(tmp_path / NAME, WANTED, tmp_path)


def test_a_file_in_the_place_of_the_folder_is_told(tmp_path: Path) -> None:
    (tmp_path / ".gemini").write_text("")
    with pytest.raises(DiskTrouble, match="a file is in the place of its folder"):
        register(tmp_path / NAME, WANTED, tmp_path)


@pytest.mark.parametrize(("link", "target"), [(".gemini", ".gemini"), (NAME, NAME)])
def test_a_link_out_of_the_project_is_not_followed(tmp_path: Path, link: str, target: str) -> None:
    theirs, root = put(tmp_path, "{}"), tmp_path / "project"
    (root / link).parent.mkdir(parents=True)
    (root / link).symlink_to(tmp_path / target)
    with pytest.raises(Refused, match="leads out of"):
        register(root / NAME, WANTED, root)
    assert theirs.read_text() == "{}"


def test_a_link_within_the_project_is_written_through(tmp_path: Path) -> None:
    target = tmp_path / "tools.json"
    target.write_text("{}")
    (tmp_path / ".gemini").mkdir()
    (tmp_path / NAME).symlink_to("../tools.json")
    register(tmp_path / NAME, WANTED, tmp_path)
    assert (tmp_path / NAME).is_symlink()
    assert json.loads(target.read_text()) == WANTED


def test_a_file_of_agentds_making_is_not_in_the_status(repository: Path) -> None:
    register(repository / NAME, WANTED, repository)
    assert git(repository, "status", "--porcelain") == ""
    assert not (repository / ".gitignore").exists()
    assert (repository / ".git/info/exclude").read_text().splitlines()[-1] == "/.gemini/settings.json"


def test_only_that_file_is_hidden(repository: Path) -> None:
    register(repository / NAME, WANTED, repository)
    (repository / ".gemini/GEMINI.md").write_text("mine")
    (repository / "sub/.gemini").mkdir(parents=True)
    (repository / "sub" / NAME).write_text("{}")
    status = git(repository, "status", "--porcelain", "--untracked-files=all")
    assert status.splitlines() == ["?? .gemini/GEMINI.md", f"?? sub/{NAME}"]


def test_it_is_hidden_in_a_folder_of_the_repository_too(repository: Path) -> None:
    inner = repository / "pack [1]*"
    inner.mkdir()
    register(inner / NAME, WANTED, inner)
    assert git(repository, "status", "--porcelain") == ""


def test_it_is_hidden_in_another_checkout_too(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "--quiet", "-b", "task", str(tmp_path / "task"))
    register(tmp_path / "task" / NAME, WANTED, tmp_path / "task")
    assert git(tmp_path / "task", "status", "--porcelain") == ""
    register(repository / NAME, WANTED, repository)
    assert (repository / ".git/info/exclude").read_text().count("/.gemini/settings.json") == 1


def test_a_file_that_is_ignored_anyway_is_not_listed(repository: Path) -> None:
    (repository / ".gitignore").write_text(".gemini/\n")
    before = (repository / ".git/info/exclude").read_text()
    register(repository / NAME, WANTED, repository)
    assert (repository / ".git/info/exclude").read_text() == before


def test_a_file_of_the_persons_own_is_not_hidden(repository: Path) -> None:
    put(repository, MINE)
    before = (repository / ".git/info/exclude").read_text()
    register(repository / NAME, WANTED, repository)
    assert (repository / ".git/info/exclude").read_text() == before
    assert git(repository, "status", "--porcelain") == "?? .gemini/\n"


def test_a_git_that_cannot_take_the_line_stops_nothing(repository: Path) -> None:
    listed = repository / ".git/info/exclude"
    listed.unlink()
    listed.mkdir()
    assert register(repository / NAME, WANTED, repository)


LINES = st.lists(
    st.sampled_from(["// a", '"x": [1, /* b */ 2],', "", '  "y": {"agentd": 1}, // c', "\t/* d */"]), max_size=6
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(LINES, st.sampled_from(["\n", "\r\n"]))
def test_lines_stay_and_a_second_time_changes_nothing(tmp_path: Path, lines: list[str], newline: str) -> None:
    path = put(tmp_path, newline.join(["{", *lines, "}"]))
    before = path.read_bytes().splitlines(keepends=True)
    register(path, WANTED, tmp_path)
    after = path.read_bytes()
    rest = iter(after.splitlines(keepends=True))
    assert all(line in rest for line in before)
    assert not register(path, WANTED, tmp_path)
    assert path.read_bytes() == after
