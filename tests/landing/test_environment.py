"""What a workspace is given: files of the checkout, and what the setup installs, once for the same lock files."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from agentd.errors import AgentdError, Stopped
from agentd.landing import environment, run_branch, template, variables, workspace
from tests.landing.checkouts import Checkout, git, repository, write

IGNORED = "node_modules/\n.venv/\n.env\n*.big\nruns.txt\n"
INSTALL = 'echo x >> "$AGENTD_SOURCE/runs.txt"; mkdir -p node_modules/left; echo 1 > node_modules/left/index.js'


def shop(folder: Path, setup: str = INSTALL, **more: str) -> Checkout:
    files = {".gitignore": IGNORED, "package-lock.json": "{}\n", "package.json": "{}\n"}
    files["agentd/config.toml"] = f"[workspace]\nsetup = '''{setup}'''\n"
    return Checkout(repository(folder, {**files, **more}))


def runs(checkout: Checkout) -> int:
    """How often the setup ran."""
    path = checkout.root / "runs.txt"
    return len(path.read_text().splitlines()) if path.exists() else 0


def commit(checkout: Checkout, **files: str) -> None:
    write(checkout.root, files)
    git(checkout.root, "add", "--all")
    git(checkout.root, "commit", "--quiet", "-m", "more")


def wait_for(condition: Callable[[], bool]) -> None:
    end = time.monotonic() + 30
    while not condition():
        assert time.monotonic() < end
        time.sleep(0.02)


def start(checkout: Checkout, task: str, **env: str) -> "subprocess.Popen[bytes]":
    """Make a workspace in a process of its own; what it says is in a file."""
    words = [sys.executable, "-m", "tests.landing.checkouts", str(checkout.root), task]
    with said(checkout, task).open("wb") as file:
        return subprocess.Popen(words, env={**os.environ, **env}, stdout=file, stderr=subprocess.DEVNULL)


def said(checkout: Checkout, task: str) -> Path:
    return checkout.root.parent / f"{task}.txt"


def test_the_setup_runs_in_the_first_workspace_and_the_next_ones_link_what_it_installed(tmp_path: Path) -> None:
    checkout = shop(tmp_path)
    first, second = checkout.make("one"), checkout.make("two")
    assert runs(checkout) == 1
    (template,) = checkout.templates
    for place in (first, second):
        assert (place / "node_modules" / "left").readlink() == template / "tree" / "node_modules" / "left"
        assert (place / "node_modules" / "left" / "index.js").read_text() == "1\n"
        assert git(place, "status", "--short") == ""
    assert not (checkout.root / "node_modules").exists()


@pytest.mark.parametrize("name", ["package-lock.json", "agentd/config.toml", "scripts/setup.sh", "api/uv.lock"])
def test_another_lock_file_or_another_setup_is_set_up_anew(tmp_path: Path, name: str) -> None:
    script = {"scripts/setup.sh": f"{INSTALL}\n", "api/uv.lock": "1\n"}
    checkout = shop(tmp_path, "sh ./scripts/setup.sh", **script)
    checkout.make("one")
    commit(checkout, **{name: f"{(checkout.root / name).read_text()}\n"})
    if name == "agentd/config.toml":
        write(checkout.root, {name: "[workspace]\nsetup = ['true', 'sh ./scripts/setup.sh']\n"})
        checkout = Checkout(checkout.root)
    checkout.make("two")
    assert (runs(checkout), len(checkout.templates)) == (2, 2)


def test_the_file_of_another_tool_is_named_when_its_setup_runs(tmp_path: Path) -> None:
    setup = 'cp "$CONDUCTOR_ROOT_PATH/.env" . && mkdir -p .venv/lib && echo "*" > .venv/.gitignore'
    files = {".gitignore": ".env\n", "conductor.json": json.dumps({"scripts": {"setup": setup}})}
    checkout = Checkout(repository(tmp_path, files))
    write(checkout.root, {".env": "KEY=1\n"})
    for task in ("one", "two"):
        place = checkout.make(task)
        assert (place / ".env").read_text() == "KEY=1\n"
        assert (place / ".venv" / "lib").is_symlink()
        assert git(place, "status", "--short") == ""
    assert "as conductor.json says: cp " in checkout.heard("setting up")


def test_another_file_of_the_project_changes_nothing(tmp_path: Path) -> None:
    checkout = shop(tmp_path)
    checkout.make("one")
    commit(checkout, **{"package.json": '{"scripts": {}}\n', "src/a.js": "1\n"})
    checkout.make("two")
    assert runs(checkout) == 1


def test_without_a_lock_file_the_manifest_counts(tmp_path: Path) -> None:
    checkout = shop(tmp_path)
    git(checkout.root, "rm", "--quiet", "package-lock.json")
    commit(checkout)
    checkout.make("one")
    commit(checkout, **{"package.json": '{"dependencies": {"left": "1"}}\n'})
    checkout.make("two")
    assert runs(checkout) == 2


def test_a_setup_that_fails_says_its_last_lines_and_leaves_no_template(tmp_path: Path) -> None:
    checkout = shop(tmp_path, f"{INSTALL}; echo resolving; echo no such package: left >&2; exit 3")
    with pytest.raises(environment.SetupFailed) as caught:
        checkout.make("one")
    assert "exited 3" in caught.value.message
    assert "resolving / no such package: left" in caught.value.message
    assert str(checkout.log) in caught.value.fix
    assert checkout.templates == []
    assert "no such package" in checkout.log.read_text()
    with pytest.raises(environment.SetupFailed):
        checkout.make("two")
    assert runs(checkout) == 2


def test_a_command_of_a_list_that_fails_is_the_last_one_and_each_begins_in_the_workspace(tmp_path: Path) -> None:
    checkout = shop(tmp_path)
    write(checkout.root, {"agentd/config.toml": '[workspace]\nsetup = ["cd .git && pwd", "pwd", "false", "pwd"]\n'})
    checkout = Checkout(checkout.root)
    with pytest.raises(environment.SetupFailed, match="'false' exited 1"):
        checkout.make("one")
    place = checkout.root.parent / "shop-agentd" / "tasks" / "run" / "one"
    shown = [line for line in checkout.log.read_text().splitlines() if not line.startswith("$")]
    assert shown == [str(place / ".git"), str(place)]


def test_a_setup_that_hangs_is_ended_with_what_it_started(tmp_path: Path) -> None:
    checkout = shop(tmp_path, 'echo begun; sleep 60 & echo $! > "$AGENTD_SOURCE/../pid"; wait')
    checkout.project.config.sections["workspace"]["setup_secs"] = 1  # type: ignore[index]
    started = time.monotonic()
    with pytest.raises(environment.SetupFailed, match="did not end within 1 s: begun"):
        checkout.make("one")
    assert time.monotonic() - started < 30
    assert checkout.templates == []
    pid = int((checkout.root.parent / "pid").read_text())
    with suppress(ProcessLookupError):
        os.kill(pid, 0)
        pytest.fail("what the setup started is still there")


def test_an_interrupt_ends_the_setup(tmp_path: Path) -> None:
    checkout = shop(tmp_path, "sleep 60")
    checkout.project.interrupted.set()
    with pytest.raises(Stopped):
        checkout.make("one")
    assert checkout.templates == []


def test_of_two_processes_one_sets_up_and_the_other_waits(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    checkout = shop(tmp_path, f"{INSTALL}; while ! [ -e {gate} ]; do sleep 0.02; done; echo 2 > node_modules/last.js")
    both = [start(checkout, task) for task in ("one", "two")]
    wait_for(lambda: any("waiting" in said(checkout, task).read_text() for task in ("one", "two")))
    gate.touch()
    assert [one.wait(60) for one in both] == [0, 0]
    assert runs(checkout) == 1
    for task in ("one", "two"):
        place = checkout.root.parent / "shop-agentd" / "tasks" / "run" / task
        assert (place / "node_modules" / "last.js").read_text() == "2\n"


def test_a_killed_setup_leaves_nothing_that_the_next_one_believes(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    checkout = shop(tmp_path, f"{INSTALL}; [ -e {gate} ] || sleep 60; echo 2 > node_modules/last.js")
    killed = start(checkout, "one")
    wait_for((checkout.root / "runs.txt").exists)
    killed.send_signal(signal.SIGKILL)
    killed.wait(60)
    gate.touch()
    assert checkout.templates == []
    place = checkout.make("two")
    assert (place / "node_modules" / "last.js").exists()
    assert runs(checkout) == 2


@pytest.mark.parametrize("moment", ["workspace:1:torn", "landing:1:before"])
def test_a_template_that_was_being_made_when_agentd_was_killed_is_made_anew(tmp_path: Path, moment: str) -> None:
    checkout = shop(tmp_path)
    assert start(checkout, "one", AGENTD_CRASH=moment).wait(60) == -signal.SIGKILL
    assert checkout.templates == []
    (left,) = (checkout.root.parent / "shop-agentd" / "environments").glob("*/.*.tmp")
    place = checkout.make("two")
    assert (place / "node_modules" / "left" / "index.js").exists()
    assert not left.exists()
    assert runs(checkout) == 2


def test_what_is_installed_in_the_checkout_is_copied_once_and_never_linked(tmp_path: Path) -> None:
    checkout = shop(tmp_path, "")
    write(checkout.root, {"agentd/config.toml": "", "node_modules/left/index.js": "1\n"})
    checkout = Checkout(checkout.root)
    first, second = checkout.make("one"), checkout.make("two")
    assert len(checkout.templates) == 1
    (first / "node_modules" / "left" / "index.js").write_text("changed by an agent\n")
    assert (checkout.root / "node_modules" / "left" / "index.js").read_text() == "1\n"
    for place in (first, second):
        linked = [path for path in place.rglob("*") if path.is_symlink()]
        assert linked
        assert not [path for path in linked if path.resolve().is_relative_to(checkout.root)]


def test_what_is_installed_later_in_the_checkout_is_copied_too(tmp_path: Path) -> None:
    checkout = shop(tmp_path, "")
    write(checkout.root, {"agentd/config.toml": ""})
    checkout = Checkout(checkout.root)
    assert not (checkout.make("one") / "node_modules").exists()
    write(checkout.root, {"node_modules/left/index.js": "1\n"})
    assert (checkout.make("two") / "node_modules" / "left").exists()
    write(checkout.root, {"node_modules/right/index.js": "1\n"})
    assert (checkout.make("three") / "node_modules" / "right").exists()


def test_programs_of_a_virtual_environment_belong_to_the_template(tmp_path: Path) -> None:
    checkout = shop(tmp_path, "")
    write(checkout.root, {"agentd/config.toml": "", "pyproject.toml": "[project]\nname = 'shop'\n"})
    checkout = Checkout(checkout.root)
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", checkout.root / ".venv"], check=True, timeout=60)
    tool = checkout.root / ".venv" / "bin" / "tool"
    tool.write_text(f"#!{checkout.root}/.venv/bin/python\nimport sys\nprint(sys.prefix)\n")
    tool.chmod(0o755)
    place = checkout.make("one")
    (template,) = checkout.templates
    for words in ([".venv/bin/tool"], [".venv/bin/python", "-c", "import sys; print(sys.prefix)"]):
        done = subprocess.run(words, cwd=place, capture_output=True, text=True, timeout=60)
        assert Path(done.stdout.strip()) in (template / "tree" / ".venv", place / ".venv")
    assert str(checkout.root / ".venv") in tool.read_text()


def test_a_package_of_the_project_itself_is_the_one_of_the_workspace(tmp_path: Path) -> None:
    setup = "mkdir -p node_modules/@shop; ln -s ../../packages/api node_modules/@shop/api"
    checkout = shop(tmp_path, setup, **{"packages/api/index.js": "1\n"})
    for task in ("one", "two"):
        place = checkout.make(task)
        assert (place / "node_modules" / "@shop" / "api").resolve() == place / "packages" / "api"


def test_what_uv_keeps_in_step_with_each_work_tree_is_not_shared(tmp_path: Path) -> None:
    checkout = shop(tmp_path, f"{INSTALL}; mkdir -p .venv/lib", **{"uv.lock": "\n"})
    first, second = checkout.make("one"), checkout.make("two")
    assert not (first / ".venv" / "lib").is_symlink()
    assert not (second / ".venv").exists()


def test_files_that_the_setup_copied_are_in_the_next_workspace_as_the_checkout_has_them_then(tmp_path: Path) -> None:
    checkout = shop(tmp_path, f'{INSTALL}; cp "$CONDUCTOR_ROOT_PATH/.env" .env; echo made > a.big')
    write(checkout.root, {".env": "KEY=1\n"})
    checkout.make("one")
    write(checkout.root, {".env": "KEY=2\n"})
    second = checkout.make("two")
    assert (second / ".env").read_text() == "KEY=2\n"
    assert (second / "a.big").read_text() == "made\n"
    assert not (second / "a.big").is_symlink()
    (template,) = checkout.templates
    assert not (template / "tree" / ".env").exists()


def test_links_that_the_setup_made_into_the_checkout_are_replaced(tmp_path: Path) -> None:
    checkout = shop(tmp_path, 'ln -s "$ROOT_WORKTREE_PATH/.env" .env; ln -s "$ROOT_WORKTREE_PATH/node_modules" .')
    commit(checkout, **{".gitignore": "/node_modules\n.env\n"})
    write(checkout.root, {".env": "KEY=1\n", "node_modules/left/index.js": "1\n"})
    for task in ("one", "two"):
        place = checkout.make(task)
        for name in (".env", "node_modules/left/index.js"):
            assert not (place / name).resolve().is_relative_to(checkout.root)
            assert (place / name).read_text() == (checkout.root / name).read_text()


def test_what_the_setup_does_to_the_projects_own_files_does_not_land(tmp_path: Path) -> None:
    checkout = shop(tmp_path, f"{INSTALL}; echo x >> package-lock.json; rm README.md; echo x > done.txt")
    place = checkout.make("one")
    assert git(place, "status", "--short", "--untracked-files=all") == ""
    assert "README.md, package-lock.json" in checkout.heard("put back")
    assert "done.txt" in checkout.heard("removed")


def test_files_that_the_configuration_copies_stay_although_git_would_take_them(tmp_path: Path) -> None:
    checkout = shop(tmp_path)
    config = "[workspace]\ncopy = ['notes.txt']\nsetup = 'true'\n"
    write(checkout.root, {"notes.txt": "1\n", "agentd/config.toml": config})
    place = Checkout(checkout.root).make("one")
    assert (place / "notes.txt").exists()


def test_what_is_too_large_to_be_copied_each_time_is_told(tmp_path: Path) -> None:
    checkout = shop(tmp_path, f"{INSTALL}; truncate -s 300M huge.big; echo 1 > small.big")
    first, second = checkout.make("one"), checkout.make("two")
    assert (first / "huge.big").exists()
    assert (second / "small.big").exists()
    assert not (second / "huge.big").exists()
    assert "huge.big" in checkout.heard("too large")


def test_a_linked_folder_that_the_configuration_names_comes_from_the_template(tmp_path: Path) -> None:
    checkout = shop(tmp_path)
    config = {"agentd/config.toml": "[workspace]\nlink = ['models']\n", ".gitignore": "models/\n"}
    commit(checkout, **config)
    write(checkout.root, {"models/a.bin": "1\n", "node_modules/left": "1\n"})
    place = Checkout(checkout.root).make("one")
    (template,) = checkout.templates
    assert (place / "models" / "a.bin").readlink() == template / "tree" / "models" / "a.bin"
    assert not (place / "node_modules").exists()


def test_a_project_in_a_folder_of_its_repository_is_set_up_there(tmp_path: Path) -> None:
    files = {"web/.gitignore": IGNORED, "web/package-lock.json": "{}", "web/agentd/config.toml": ""}
    checkout = Checkout(repository(tmp_path, files, "web"))
    write(checkout.root, {"agentd/config.toml": f"[workspace]\nsetup = '''{INSTALL}'''\n"})
    checkout = Checkout(checkout.root)
    for task in ("one", "two"):
        assert (checkout.make(task) / "web" / "node_modules" / "left").is_symlink()
    assert runs(checkout) == 1


def test_the_log_has_no_secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SHOP_API_TOKEN", "s3cret-value-of-the-shop")
    checkout = shop(tmp_path, "echo $SHOP_API_TOKEN; false")
    with pytest.raises(environment.SetupFailed) as caught:
        checkout.make("one")
    assert "s3cret" not in checkout.log.read_text() + caught.value.message


def test_the_cleanup_runs_in_the_workspace_and_its_failure_is_only_told(tmp_path: Path) -> None:
    checkout = shop(tmp_path)
    text = "[workspace]\nsetup = 'true'\ncleanup = ['pwd', 'echo no database >&2; exit 4', 'pwd']\n"
    write(checkout.root, {"agentd/config.toml": text})
    checkout = Checkout(checkout.root)
    place = checkout.make("one")
    environment.clean_up(checkout.project, place, checkout.log)
    assert "exited 4: no database" in checkout.heard("cleanup")
    assert checkout.log.read_text().splitlines().count(str(place)) == 1


def test_what_a_workspace_was_given_is_not_its_work_and_goes_with_it(tmp_path: Path) -> None:
    checkout = shop(tmp_path, f'{INSTALL}; cp "$AGENTD_SOURCE/.env" .; touch "$TMPDIR/mark"')
    write(checkout.root, {".env": "KEY=1\n"})
    branch = run_branch.begin(checkout.root, "run", "agentd/run", git(checkout.root, "rev-parse", "HEAD"))
    env = variables.variables(checkout.root, "run", "one")
    one = workspace.make(branch, "one", lambda place: environment.provide(checkout.project, place, checkout.log, env))
    assert (one.path / "node_modules" / "left" / "index.js").exists()
    assert workspace.collect(checkout.root, one, "nothing") == ("", ())
    assert (Path(env["TMPDIR"]) / "mark").exists()
    environment.clean_up(checkout.project, one.path, checkout.log, env)
    workspace.remove(checkout.root, one)
    variables.release(checkout.root, "run", "one")
    assert not one.path.exists()
    assert not Path(env["TMPDIR"]).exists()
    assert checkout.templates


def test_a_setup_is_not_run_through_a_link_to_its_log(tmp_path: Path) -> None:
    checkout = shop(tmp_path)
    checkout.log.parent.mkdir()
    checkout.log.symlink_to(tmp_path / "theirs")
    with pytest.raises(AgentdError, match="is a link"):
        checkout.make("one")
    assert not (tmp_path / "theirs").exists()


def test_what_is_installed_for_no_workspace_is_removed_but_for_the_last_and_what_may_be_in_use(tmp_path: Path) -> None:
    root = repository(tmp_path, {".gitignore": "node_modules/\n", "requirements.txt": "0\n"})
    write(root, {"agentd/config.toml": "[workspace]\nsetup = 'mkdir node_modules && echo 1 > node_modules/x'\n"})
    checkout = Checkout(root)
    for number in range(4):
        write(root, {"requirements.txt": f"{number}\n"})
        git(root, "commit", "--quiet", "--allow-empty", "-am", f"{number}")
        checkout.make(f"T{number}")
    made = sorted(checkout.templates, key=lambda path: path.stat().st_mtime_ns)
    used_before(made, 7200, 7100, 60, 30)
    assert template.prune(checkout.project, {made[1].parent.name}) == [made[0]]
    assert [path.exists() for path in made] == [False, True, True, True]
    used_before(made[1:], 7200, 7100, 7000)
    assert template.prune(checkout.project, {made[1].parent.name}) == [made[2]]
    assert [path.exists() for path in made] == [False, True, False, True]


def used_before(templates: list[Path], *ages: float) -> None:
    for age, path in zip(ages, templates, strict=True):
        then = time.time() - age
        os.utime(path, (then, then))
