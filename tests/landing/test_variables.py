"""The variables of a workspace: ports that no other one has, a temporary folder and names of its own."""

import json
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from agentd.landing import variables
from agentd.state.layout import private_folder
from tests.landing.checkouts import repository

PRINT = "import sys; from pathlib import Path; from agentd.landing.variables import variables as v; print(v(Path(sys.argv[1]), 'run', sys.argv[2])['AGENTD_PORT'])"


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    yield repository(tmp_path, {})
    for entry in (tmp_path / "state" / "agentd" / "ports").glob("*.json"):
        shutil.rmtree(json.loads(entry.read_text())["tmp"], ignore_errors=True)


def ports(root: Path, task: str) -> set[int]:
    first = int(variables.variables(root, "run", task)["AGENTD_PORT"])
    return set(range(first, first + variables.NUMBER))


def record(root: Path, task: str) -> Path:
    return private_folder(root) / "workspaces" / "run" / task


def rivals(root: Path, count: int) -> list[str]:
    """Tasks that would all get the same ports if each were alone."""
    named: dict[int, list[str]] = {}
    for number in range(100_000):
        task = f"task-{number}"
        first = next(variables.ranges(variables.mark(root, "run", task)))
        named.setdefault(first, []).append(task)
        if len(named[first]) == count:
            return named[first]
    raise AssertionError("no rivals")


def test_no_two_workspaces_have_a_port_in_common(root: Path, tmp_path: Path) -> None:
    other = repository(tmp_path / "other", {})
    tasks = {root: rivals(root, 3), other: rivals(other, 3)}
    ranges = [ports(place, task) for place in tasks for task in tasks[place]]
    assert len(set().union(*ranges)) == len(ranges) * variables.NUMBER
    assert min(map(min, ranges)) >= variables.FIRST
    assert max(map(max, ranges)) <= variables.LAST


def test_processes_that_ask_at_once_get_different_ports(root: Path) -> None:
    words = [sys.executable, "-c", PRINT, str(root)]
    asked = [subprocess.Popen([*words, task], stdout=subprocess.PIPE, text=True) for task in rivals(root, 4)]
    assert len({one.communicate(timeout=60)[0] for one in asked}) == 4
    again = [subprocess.Popen([*words, "same"], stdout=subprocess.PIPE, text=True) for _ in range(3)]
    assert len({one.communicate(timeout=60)[0] for one in again}) == 1


def test_a_workspace_keeps_its_ports_although_something_listens_there(root: Path) -> None:
    before = ports(root, "one")
    with closing(socket.create_server(("", min(before)))):
        assert ports(root, "one") == before


def test_ports_at_which_somebody_listens_are_not_given(root: Path) -> None:
    taken = ports(root, "one")
    variables.release(root, "run", "one")
    with closing(socket.create_server(("127.0.0.1", max(taken)))):
        assert ports(root, "one").isdisjoint(taken)


def test_ports_and_folder_of_a_workspace_that_is_gone_are_free_again(root: Path) -> None:
    before = variables.variables(root, "run", "one")
    assert list((Path(os.environ["XDG_STATE_HOME"]) / "agentd" / "ports").glob("*.json"))
    (record(root, "one") / "ports.json").unlink()
    record(root, "one").rmdir()
    after = variables.variables(root, "run", "two")
    assert not Path(before["TMPDIR"]).exists()
    assert Path(after["TMPDIR"]).is_dir()
    assert len(list((Path(os.environ["XDG_STATE_HOME"]) / "agentd" / "ports").glob("*.json"))) == 1


@pytest.mark.parametrize("deep", [False, True])
def test_a_socket_fits_into_the_temporary_folder(root: Path, tmp_path: Path, deep: bool) -> None:
    if deep:
        root = repository(tmp_path / ("long-name-of-a-folder/" * 6), {})
    place = Path(variables.variables(root, "run", "one")["TMPDIR"])
    try:
        assert len(str(place)) + 40 < 104
        assert place.stat().st_mode & 0o777 == 0o700
        with closing(socket.socket(socket.AF_UNIX)) as server:
            server.bind(str(place / ".s.PGSQL.5432"))
        assert not place.is_relative_to(root)
    finally:
        variables.release(root, "run", "one")
    assert not place.exists()


def test_a_temporary_folder_beside_the_workspaces_is_used_if_it_is_short(monkeypatch: pytest.MonkeyPatch) -> None:
    with tempfile.TemporaryDirectory(prefix="a", dir="/tmp") as made:
        short = Path(made).resolve()
        monkeypatch.setenv("XDG_STATE_HOME", str(short / "state"))
        place = variables.variables(repository(short, {}), "run", "one")["TMPDIR"]
        assert Path(place).parent == short / "shop-agentd" / "tmp"


def test_a_temporary_folder_that_is_a_link_is_refused(root: Path, tmp_path: Path) -> None:
    place = Path(variables.variables(root, "run", "one")["TMPDIR"])
    place.rmdir()
    place.symlink_to(tmp_path)
    try:
        with pytest.raises(Exception, match="is not a folder of yours"):
            variables.variables(root, "run", "one")
    finally:
        place.unlink()


def test_the_folder_for_all_temporary_files_stays_when_it_is_empty(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    home = tmp_path / ("long" * 20)
    home.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(home))
    assert Path(variables.variables(root, "run", "one")["TMPDIR"]).parent == home
    variables.release(root, "run", "one")
    assert list(home.iterdir()) == []


def test_nothing_but_a_temporary_folder_is_removed(root: Path, tmp_path: Path) -> None:
    mine = variables.variables(root, "run", "one")["TMPDIR"]
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (entry,) = (tmp_path / "state" / "agentd" / "ports").glob("*.json")
    entry.write_text(re.sub(r'"tmp": "[^"]*"', f'"tmp": "{theirs}"', entry.read_text()))
    variables.release(root, "run", "one")
    shutil.rmtree(mine)
    assert theirs.is_dir()


@pytest.mark.parametrize("name", ["shop-run-T-001", "1 Läden/überall" * 9, "x" * 200, "DROP TABLE; --", "ß"])
def test_the_name_of_a_database_needs_no_quotes(name: str) -> None:
    found = variables.database(name, "0123abcd")
    assert re.fullmatch(r"[a-z][a-z0-9_]{0,62}", found)
    assert found != variables.database(name, "0123abce")
    assert variables.database("shop-run-T-001", "0123abcd") == "agentd_shop_run_t_001_0123abcd"


def test_each_task_of_each_run_has_a_database_of_its_own(root: Path) -> None:
    pairs = [("run", "one"), ("run", "two"), ("run-one", "two"), ("run", "one-two")]
    names = {variables.variables(root, *pair)["AGENTD_DATABASE"] for pair in pairs}
    assert len(names) == 4


def test_the_scripts_of_other_tools_find_the_checkout_and_the_workspace(root: Path) -> None:
    found = variables.variables(root, "run", "one")
    place = str(root.parent / "shop-agentd" / "tasks" / "run" / "one")
    for name in ("ROOT_WORKTREE_PATH", "CONDUCTOR_ROOT_PATH", "CODEX_SOURCE_TREE_PATH"):
        assert found[name] == str(root)
    for name in ("CONDUCTOR_WORKSPACE_PATH", "CODEX_WORKTREE_PATH"):
        assert found[name] == place
    assert found["CONDUCTOR_PORT"] == found["AGENTD_PORT"]
    assert "PORT" not in found
