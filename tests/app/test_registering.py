"""An agent's settings file has what the agent needs while a call lasts; everything in it and around it stays the person's."""

import json
import os
import signal
import stat
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from agentd.calling.agent_settings import lent
from agentd.errors import Corrupt, DiskTrouble, Refused
from agentd.runs.borrowed_files import put_back_left

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


CALLS = ExitStack()


@pytest.fixture(autouse=True)
def calls() -> Iterator[None]:
    """Whatever is registered by a test is so until its end, or until it closes CALLS."""
    with CALLS:
        yield


def register(path: Path, wanted: Any, root: Path) -> bool:
    """Have a call begin that needs this; whether the file changed."""
    there = path.lstat().st_ino if path.exists() else None
    CALLS.enter_context(lent(root, root, {path.relative_to(root).as_posix(): wanted}))
    return path.lstat().st_ino != there


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


@pytest.mark.parametrize("inside", [True, False])
@pytest.mark.parametrize("link", [".gemini", NAME])
def test_no_link_is_followed(tmp_path: Path, link: str, inside: bool) -> None:
    root = tmp_path / "project"
    (root / "tools").mkdir(parents=True)
    theirs = put(root / "tools" if inside else tmp_path, "{}")
    (root / link).parent.mkdir(exist_ok=True)
    (root / link).symlink_to(theirs if link == NAME else theirs.parent)
    with pytest.raises(DiskTrouble, match=r"is a link to .*, and agentd writes through no link"):
        register(root / NAME, WANTED, root)
    assert theirs.read_text() == "{}"


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


@pytest.mark.parametrize("text", [None, MINE, '{"theme": "a"}', ""])
def test_after_the_call_everything_is_as_it_was(repository: Path, text: str | None) -> None:
    path = repository / NAME
    if text is not None:
        put(repository, text).chmod(0o640)
    before = (git(repository, "status", "--porcelain", "--ignored"), (repository / ".git/info/exclude").read_text())
    register(path, WANTED, repository)
    assert "agentd" in path.read_text()
    CALLS.close()
    assert (path.read_text() if text is not None else path.exists()) == (text if text is not None else False)
    assert path.parent.exists() == (text is not None)
    assert text is None or stat.S_IMODE(path.stat().st_mode) == 0o640
    after = (git(repository, "status", "--porcelain", "--ignored"), (repository / ".git/info/exclude").read_text())
    assert after == before
    assert [each.suffix for each in (repository / ".git/agentd").iterdir()] == [".lock"]


def test_the_last_of_several_calls_puts_it_back(tmp_path: Path) -> None:
    path = put(tmp_path, MINE)
    with lent(tmp_path, tmp_path, {NAME: WANTED}):
        with lent(tmp_path, tmp_path, {NAME: WANTED}):
            pass
        assert "agentd" in path.read_text()
        put_back_left(tmp_path, print)
        assert "agentd" in path.read_text(), "a call still uses it"
    assert path.read_text() == MINE


def test_a_second_call_finds_it_also_if_somebody_wrote_the_file_meanwhile(tmp_path: Path) -> None:
    path = put(tmp_path, MINE)
    with lent(tmp_path, tmp_path, {NAME: WANTED}):
        path.write_text(MINE.replace("GitHub", "Dracula"))
        with lent(tmp_path, tmp_path, {NAME: WANTED}):
            assert "agentd" in path.read_text()
    assert path.read_text() == MINE.replace("GitHub", "Dracula")


def test_what_somebody_else_changes_meanwhile_stays(tmp_path: Path) -> None:
    path = put(tmp_path, MINE)
    with lent(tmp_path, tmp_path, {NAME: WANTED}):
        path.write_text(path.read_text().replace("GitHub", "Dracula"))
    assert path.read_text() == MINE.replace("GitHub", "Dracula")


@pytest.mark.parametrize("text", [None, MINE])
def test_a_file_that_the_agent_rewrote_or_removed_is_left_to_it(tmp_path: Path, text: str | None) -> None:
    path = tmp_path / NAME if text is None else put(tmp_path, text)
    with lent(tmp_path, tmp_path, {NAME: WANTED}):
        path.write_text("{}")
    assert path.read_text() == "{}"
    with lent(tmp_path, tmp_path, {NAME: WANTED}):
        path.unlink()
    assert not path.exists()


def test_a_link_that_an_agent_puts_in_its_place_is_not_written_through(tmp_path: Path) -> None:
    path, theirs, said = put(tmp_path, MINE), tmp_path / "theirs", list[str]()
    with lent(tmp_path, tmp_path, {NAME: WANTED}):
        theirs.write_text(path.read_text())
        path.unlink()
        path.symlink_to(theirs)
    put_back_left(tmp_path, said.append)
    assert "agentd" in theirs.read_text()
    assert "is a link to" in said[0]
    path.unlink()
    put_back_left(tmp_path, said.append)
    assert not path.exists()


KILLED = """
import os, sys
from pathlib import Path
from agentd.calling.agent_settings import lent
root = Path(sys.argv[1])
with lent(root, root, {".gemini/settings.json": {"mcpServers": {"agentd": {"command": "agentd", "args": ["mcp"]}}}}):
    os.kill(os.getpid(), 9)
"""


@pytest.mark.parametrize("text", [None, MINE])
def test_after_a_kill_the_next_command_that_writes_puts_it_back(repository: Path, text: str | None) -> None:
    path = repository / NAME if text is None else put(repository, text)
    killed = subprocess.run([sys.executable, "-c", KILLED, str(repository)], timeout=30, check=False)
    assert killed.returncode == -signal.SIGKILL
    assert "agentd" in path.read_text()
    agentd = [sys.executable, "-m", "agentd"]
    subprocess.run([*agentd, "status"], cwd=repository, check=False, capture_output=True, timeout=60)
    assert "agentd" in path.read_text(), "looking is harmless"
    subprocess.run([*agentd, "archive", "x"], cwd=repository, check=False, capture_output=True, timeout=60)
    assert (path.read_text() if path.exists() else None) == text
    assert "settings.json" not in (repository / ".git/info/exclude").read_text()


LINES = st.lists(
    st.sampled_from(["// a", '"x": [1, /* b */ 2],', "", '  "y": {"agentd": 1}, // c', "\t/* d */"]), max_size=6
)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(LINES, st.sampled_from(["\n", "\r\n"]))
def test_lines_stay_and_a_second_time_changes_nothing(tmp_path: Path, lines: list[str], newline: str) -> None:
    CALLS.close()
    path = put(tmp_path, newline.join(["{", *lines, "}"]))
    before = path.read_bytes().splitlines(keepends=True)
    register(path, WANTED, tmp_path)
    after = path.read_bytes()
    rest = iter(after.splitlines(keepends=True))
    assert all(line in rest for line in before)
    assert not register(path, WANTED, tmp_path)
    assert path.read_bytes() == after
