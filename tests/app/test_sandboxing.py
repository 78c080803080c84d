"""In the sandbox a program reads almost everything, writes what its step may write, and is ended like any other."""

import os
import shlex
import shutil
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from agentd import process
from agentd.app import LAYOUTS
from agentd.calling import sandbox
from agentd.calling.sandbox import around_agent, around_tests, enclose, explain, find_front
from agentd.calling.sandbox_rules import Reach, rules
from agentd.errors import AgentdError, NotFound
from agentd.families.change import LAYOUT
from agentd.model.job import Command, Job
from agentd.process import Finished
from agentd.runs.config import read_config
from agentd.runs.project import Project
from tests.sandbox import alive, wait_until

works = pytest.mark.skipif(
    bool(find_front(os.environ["PATH"]).why), reason=f"no sandbox here: {find_front(os.environ['PATH']).why}"
)
LONG = 20.0
KEY = "the private key"
HOLD = """
import sys
from pathlib import Path
from agentd.library.exclusive import holding
with holding(Path(sys.argv[1]), 0):
    print("held")
"""


@dataclass
class House:
    """A person's home, a project with a run, and what is said meanwhile."""

    home: Path
    root: Path
    said: list[str] = field(default_factory=list)

    @property
    def folder(self) -> Path:
        return self.root / "agentd" / "changes" / "add"

    def project(self, mode: str = "on", **more: tuple[str, ...]) -> Project:
        config = read_config(self.root, LAYOUTS).with_settings("sandbox", mode=mode, **more)
        return Project(self.root, config, LAYOUTS, say=self.said.append)

    def job(self, edits: bool = True, tools: tuple[str, ...] = ()) -> Job:
        return Job(
            "implement-1.1",
            "implement",
            "implementer",
            1,
            "",
            str(self.root),
            str(self.folder),
            edits=edits,
            tools=tools,
            writable=tuple(path for tool in tools for path in LAYOUT.shared[tool]),
        )

    def agent(self, script: str, edits: bool = True, project: Project | None = None, **env: str) -> Finished:
        """Run a script as an agent would be run."""
        words = around_agent(project or self.project(), self.job(edits), Command(("sh", "-c", script), env=env))
        return process.run(words, cwd=self.root, env=env, timeout=LONG)

    def test(self, script: str) -> Finished:
        """Run a script as a command of the project would be run."""
        words = around_tests(self.project(), self.root)(("sh", "-c", script))
        return process.run(words, cwd=self.root, timeout=LONG)


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    home, root = tmp_path / "home", tmp_path / "repo"
    for folder in (".ssh", ".claude", ".codex", ".config/gh"):
        (home / folder).mkdir(parents=True)
    (home / ".ssh" / "id").write_text(KEY)
    (home / ".netrc").write_text(KEY)
    (home / ".config" / "gh" / "hosts.yml").write_text(KEY)
    (home / ".codex" / "auth.json").write_text(KEY)
    (home / ".claude" / "settings.json").write_text("{}")
    (root / ".git" / "hooks").mkdir(parents=True)
    (root / "code.py").write_text("1\n")
    (root / "agentd" / "changes" / "add").mkdir(parents=True)
    (root / "agentd" / "config.toml").write_text('[roles]\nplanner = "scripted"\n')
    monkeypatch.setenv("HOME", str(home))
    for name in ("XDG_CONFIG_HOME", "XDG_RUNTIME_DIR", "SSH_AUTH_SOCK", "TMPDIR", "CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    return House(home, root)


def refused(done: Finished) -> bool:
    return done.code != 0 and any("Read-only file system" in line for line in done.errors)


# What may be written.


@works
def test_an_agent_that_may_edit_writes_the_work_tree_and_the_folder_of_its_run(house: House) -> None:
    done = house.agent("echo 2 > code.py && echo new > agentd/changes/add/proposal.md && pwd")
    assert (done.code, done.output) == (0, (str(house.root),)), done.errors
    assert (house.root / "code.py").read_text() == "2\n"
    assert (house.folder / "proposal.md").read_text() == "new\n"


@works
def test_an_agent_that_may_not_edit_writes_the_folder_of_its_run_alone(house: House) -> None:
    assert refused(house.agent("echo 2 > code.py", edits=False))
    assert refused(house.agent("touch new", edits=False))
    assert house.agent("echo new > agentd/changes/add/proposal.md", edits=False).code == 0
    assert (house.root / "code.py").read_text() == "1\n"
    assert sorted(path.name for path in house.root.iterdir()) == [".git", "agentd", "code.py"]


@works
@pytest.mark.parametrize(
    "path", ["~/new", "../new", "/etc/new", "/usr/local/bin/new", "~/.ssh/../new", "agentd/../../new"]
)
def test_nothing_outside_the_work_tree_is_written(house: House, path: str) -> None:
    done = house.agent(f"touch {path}")
    assert done.code != 0
    assert not Path(os.path.expanduser(path) if path[0] in "~/" else house.root / path).exists()


@works
@pytest.mark.parametrize(
    "path",
    [".git/config", ".git/hooks/pre-commit", "agentd/config.toml", "agentd/workflows/own.yaml", "agentd/changes/other"],
)
@pytest.mark.parametrize("who", ["agent", "test"])
def test_what_makes_git_and_agentd_start_programs_is_not_written(house: House, path: str, who: str) -> None:
    run = house.agent if who == "agent" else house.test
    done = run(f"mkdir -p $(dirname {path}) && touch {path} && echo evil >> {path}")
    assert done.code != 0
    assert "evil" not in "".join(file.read_text() for file in house.root.rglob("*") if file.is_file())


@works
def test_a_guarded_folder_is_not_moved_out_of_the_way_either(house: House) -> None:
    assert house.agent("mv .git away || mv agentd away || rm -rf .git").code != 0
    assert (house.root / ".git" / "hooks").is_dir()
    assert (house.root / "agentd" / "config.toml").is_file()


@works
@pytest.mark.parametrize(
    "path",
    [
        ".claude/settings.json",
        ".claude/settings.local.json",
        ".codex/config.toml",
        ".gemini/settings.json",
        ".mcp.json",
    ],
)
@pytest.mark.parametrize("who", ["agent", "test"])
def test_what_makes_agents_of_the_project_start_programs_is_not_written(house: House, path: str, who: str) -> None:
    for name in (".claude/settings.json", ".codex/config.toml", ".gemini/settings.json", ".mcp.json"):
        (house.root / name).parent.mkdir(exist_ok=True)
        (house.root / name).write_text("{}")
    run, top = house.agent if who == "agent" else house.test, path.partition("/")[0]
    assert refused(run(f"echo evil >> {path}"))
    assert run(f"mv {top} away").code != 0
    assert "evil" not in "".join(file.read_text() for file in house.root.rglob("*") if file.is_file())
    assert run("touch CLAUDE.md AGENTS.md").code == 0


@works
def test_settings_of_agents_that_a_person_names_writable_can_be_written(house: House) -> None:
    (house.root / ".claude" / "commands").mkdir(parents=True)
    project = house.project(writable=(".claude/commands",))
    assert house.agent("touch .claude/commands/release.md", project=project).code == 0
    assert refused(house.agent("touch .claude/settings.json", project=project))


@works
def test_agents_write_what_they_keep_where_the_project_is_the_person_s_home_too(house: House) -> None:
    at_home = House(house.home, house.home)
    at_home.folder.mkdir(parents=True)
    assert at_home.agent("touch ~/.claude/session").code == 0
    assert refused(at_home.agent("echo '{\"hooks\": {}}' > ~/.claude/settings.json"))


@works
def test_a_package_that_is_called_agentd_is_part_of_the_work_tree(house: House) -> None:
    (house.root / "agentd" / "__init__.py").touch()
    assert house.agent("echo x > agentd/module.py").code == 0


@works
def test_a_command_of_the_project_writes_the_work_tree_but_not_the_folder_of_a_run(house: House) -> None:
    assert house.test("echo cached > .cache && test -f agentd/changes/add/proposal.md || true").code == 0
    assert (house.root / ".cache").is_file()
    assert refused(house.test("echo '{}' > agentd/changes/add/evidence.json"))


@works
def test_a_worktree_is_written_while_the_checkout_it_came_from_is_not(house: House) -> None:
    tree = house.root.parent / "repo-agentd" / "add"
    tree.mkdir(parents=True)
    (tree / ".git").write_text(f"gitdir: {house.root}/.git/worktrees/add\n")
    job = Job("c", "implement", "implementer", 1, "", str(tree), str(house.folder), edits=True)
    script = "touch inside; touch .git; echo x >> .git; echo x >> $0/code.py; touch $0/.git/x; touch $0/agentd/changes/add/y; pwd"
    words = around_agent(house.project(), job, Command(("sh", "-c", script, str(house.root))))
    done = process.run(words, cwd=tree, timeout=LONG)
    assert done.output == (str(tree),)
    assert (tree / "inside").exists()
    assert (house.folder / "y").exists()
    assert "x" not in (tree / ".git").read_text().splitlines()
    assert (house.root / "code.py").read_text() == "1\n"
    assert not (house.root / ".git" / "x").exists()


@works
@pytest.mark.parametrize(("tool", "place"), [("write_knowledge", "knowledge"), ("write_main_spec", "specs")])
def test_what_a_tool_writes_outside_of_the_run_can_be_written_where_the_step_has_the_tool(
    house: House, tool: str, place: str
) -> None:
    script = Command(("sh", "-c", f"echo page > agentd/{place}/a.md"))
    without = around_agent(house.project(), house.job(edits=False), script)
    assert process.run(without, cwd=house.root, timeout=LONG).code != 0
    words = around_agent(house.project(), house.job(edits=False, tools=(tool,)), script)
    assert process.run(words, cwd=house.root, timeout=LONG).code == 0
    assert (house.root / "agentd" / place / "a.md").read_text() == "page\n"


@works
def test_who_may_write_to_the_library_can_hold_it_meanwhile(house: House) -> None:
    script = Command((sys.executable, "-c", HOLD, str(house.root)))
    without = around_agent(house.project(), house.job(edits=False), script)
    assert process.run(without, cwd=house.root, timeout=LONG).code != 0
    words = around_agent(house.project(), house.job(edits=False, tools=("write_main_spec",)), script)
    done = process.run(words, cwd=house.root, timeout=LONG)
    assert (done.code, done.output) == (0, ("held",)), done.errors


# What agents keep.


@works
def test_agents_write_what_they_keep_but_not_what_they_are_told_by(house: House) -> None:
    done = house.agent("touch ~/.claude/session ~/.codex/session && echo '{}' > ~/.codex/auth.json")
    assert done.code == 0, done.errors
    assert (house.home / ".claude" / "session").exists()
    assert refused(house.agent("echo '{\"hooks\": {}}' > ~/.claude/settings.json"))
    assert (house.home / ".claude" / "settings.json").read_text() == "{}"


@works
def test_agents_write_where_their_environment_says_they_keep_things(house: House) -> None:
    kept = house.home / "elsewhere"
    (kept / ".gemini").mkdir(parents=True)
    assert house.agent("touch ~/elsewhere/.gemini/a").code != 0
    done = house.agent("touch ~/elsewhere/.gemini/a && touch ~/elsewhere/b", GEMINI_CLI_HOME=str(kept))
    assert refused(done)
    assert [path.name for path in kept.rglob("?")] == ["a"]
    assert house.agent("touch ~/elsewhere/b", CODEX_HOME=str(kept)).code == 0


@works
def test_an_agent_that_is_started_for_the_first_time_finds_where_to_keep_things(house: House, tmp_path: Path) -> None:
    program = tmp_path / "bin" / "copilot"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\ntouch ~/.copilot/session\n")
    program.chmod(0o755)
    words = around_agent(house.project(), house.job(), Command((str(program),)))
    assert process.run(words, cwd=house.root, timeout=LONG).code == 0
    assert (house.home / ".copilot" / "session").exists()
    assert not (house.home / ".gemini").exists()


@works
def test_a_command_of_the_project_does_not_see_what_agents_keep(house: House) -> None:
    assert KEY not in " ".join(house.test("cat ~/.codex/auth.json; ls -A ~/.codex").output)
    assert house.agent("cat ~/.codex/auth.json").output == (KEY,)


# What is not seen.


@works
@pytest.mark.parametrize("who", ["agent", "test"])
@pytest.mark.parametrize("path", ["~/.ssh/id", "~/.netrc", "~/.config/gh/hosts.yml"])
def test_secrets_are_not_read(house: House, path: str, who: str) -> None:
    done = (house.agent if who == "agent" else house.test)(f"cat {path}")
    assert done.code != 0
    assert done.output == ()


@works
def test_a_secret_that_is_a_link_to_another_place_is_not_read_there_either(house: House) -> None:
    real = house.home / "dotfiles" / "ssh"
    real.parent.mkdir()
    (house.home / ".ssh").rename(real)
    (house.home / ".ssh").symlink_to(real)
    assert house.agent("cat ~/.ssh/id").code != 0
    assert house.agent("cat ~/dotfiles/ssh/id").code != 0


@works
def test_a_login_that_an_agent_uses_is_read_by_agents_alone(house: House, monkeypatch: pytest.MonkeyPatch) -> None:
    (house.home / ".aws").mkdir()
    (house.home / ".aws" / "credentials").write_text(KEY)
    assert house.agent("cat ~/.aws/credentials").output == ()
    assert house.agent("cat ~/.aws/credentials", CLAUDE_CODE_USE_BEDROCK="1").output == (KEY,)
    monkeypatch.setenv("CLAUDE_CODE_USE_BEDROCK", "1")
    assert house.test("cat ~/.aws/credentials").output == ()


@works
def test_sockets_that_start_programs_elsewhere_are_not_reached(house: House) -> None:
    import socket

    runtime = house.home / "runtime"
    runtime.mkdir()
    ask = f"import socket; socket.socket(socket.AF_UNIX).connect({str(runtime / 'bus')!r})"
    with socket.socket(socket.AF_UNIX) as bus:
        bus.bind(str(runtime / "bus"))
        bus.listen()
        script = shlex.join([sys.executable, "-c", ask])
        assert house.agent(script).code == 0, "nothing but the rule is in the way"
        assert house.agent(script, XDG_RUNTIME_DIR=str(runtime)).code != 0


@works
def test_processes_outside_are_not_looked_into(house: House) -> None:
    outside = subprocess.Popen(["sleep", "60"], env={**os.environ, "OUTSIDE": KEY})
    try:
        inside = f"/proc/{outside.pid}/root{house.home}"
        assert house.agent(f"cat /proc/{outside.pid}/environ").output == ()
        assert house.agent(f"cat {inside}/.ssh/id").output == ()
        assert house.agent(f"touch {inside}/new").code != 0
        assert not (house.home / "new").exists()
    finally:
        outside.kill()
        outside.wait()


@works
def test_the_sandbox_is_not_taken_down_from_inside(house: House) -> None:
    script = "umount ~/.ssh; mount -o remount,rw,bind /; unshare -Urm sh -c 'umount ~/.ssh; mount -o remount,rw,bind /; touch ~/new'"
    assert house.agent(f"{{ {script}; }} > /dev/null; touch ~/new; cat ~/.ssh/id").output == ()
    assert not (house.home / "new").exists()
    assert house.agent("cat /proc/sys/kernel/hostname > /proc/sys/kernel/hostname").code != 0


# Temporary files.


@works
def test_temporary_files_are_the_sandbox_s_own(house: House, tmp_path: Path) -> None:
    name = f"agentd-test-{os.getpid()}-{tmp_path.name}"
    Path("/tmp", f"{name}-outside").touch()
    try:
        done = house.agent(f'ls /tmp/{name}-outside; f=$(mktemp) && echo "$f" > "$f" && cat "$f" && touch /tmp/{name}')
        assert done.code == 0, done.errors
        assert done.output[0].startswith("/tmp/")
        assert not Path(done.output[0]).exists()
        assert not Path("/tmp", name).exists()
    finally:
        Path("/tmp", f"{name}-outside").unlink()


@works
def test_a_temporary_folder_of_the_person_s_own_choice_works_too(house: House) -> None:
    chosen = house.home / "tmp"
    chosen.mkdir()
    (chosen / "theirs").touch()
    done = house.agent("mktemp && ls -A $TMPDIR | wc -l", TMPDIR=str(chosen))
    assert done.code == 0, done.errors
    assert done.output[0].startswith(str(chosen))
    assert done.output[1] == "1"
    assert [path.name for path in chosen.iterdir()] == ["theirs"]


@works
def test_a_project_and_programs_below_the_temporary_folder_are_seen(
    house: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    place = house.home / "tmp"
    (place / "bin" / "tools").mkdir(parents=True)
    program = place / "bin" / "tools" / "hello"
    program.write_text("#!/bin/sh\necho hello $(cat $(dirname $0)/../name)\n")
    program.chmod(0o755)
    (place / "bin" / "name").write_text("you")
    monkeypatch.setenv("TMPDIR", str(place))
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")
    assert house.agent("hello").output == ("hello you",)


# What the configuration adds.


@works
def test_a_path_that_is_named_writable_can_be_written(house: House) -> None:
    cache = house.home / ".cache"
    cache.mkdir()
    script = "touch ~/.cache/a && touch ../b"
    assert refused(house.agent(script))
    done = house.agent(script, project=house.project(writable=("~/.cache", "..")))
    assert done.code == 0, done.errors
    assert (cache / "a").exists()
    assert house.agent("cat ~/.ssh/id", project=house.project(writable=("~", "~/not-there"))).output == ()
    assert house.agent("cat ~/.ssh/id", project=house.project(writable=("~/.ssh",))).output == (KEY,)


@works
def test_a_path_that_is_named_hidden_is_not_read(house: House) -> None:
    (house.root / "private").mkdir()
    (house.root / "private" / "notes").write_text(KEY)
    (house.home / "diary").write_text(KEY)
    script = "cat private/notes ~/diary"
    assert house.agent(script).output == (KEY * 2,)
    assert house.agent(script, project=house.project(hidden=("private", "~/diary"))).output == ()


def test_the_most_specific_rule_comes_last(tmp_path: Path) -> None:
    for path in ("home/.ssh", "home/repo/.git", "home/repo/agentd/changes/add"):
        (tmp_path / path).mkdir(parents=True)
    home, root = tmp_path / "home", tmp_path / "home" / "repo"
    add = str(root / "agentd" / "changes" / "add")
    reach = Reach(str(home), str(root), {"HOME": str(home)}, own=(add,), runs=("agentd",))
    found = rules(reach, "sh")
    assert {path: rule for path, rule in found.items() if path.startswith(str(home))} == {
        str(home): "write",
        str(home / ".ssh"): "empty",
        str(root): "read",
        str(root / ".git"): "read",
        str(root / "agentd"): "read",
        str(root / "agentd" / "changes" / "add"): "write",
    }
    words = enclose(("sh",), sandbox.Front(("bwrap",)), found, str(root))
    places = [words.index(path) for path in sorted(found, key=lambda path: path.split("/")) if path in words]
    assert places == sorted(places)
    assert words[-3:] == (str(root), "--", "sh")


# How programs end.


@works
def test_the_exit_code_is_the_program_s(house: House) -> None:
    assert house.agent("exit 7").code == 7
    assert house.test("exit 127").code == 127


def test_a_program_that_is_not_there_is_told_as_ever(house: House) -> None:
    words = around_tests(house.project("auto"), house.root)(("no-such-program", "--all"))
    with pytest.raises(NotFound, match="no-such-program is not on the PATH"):
        process.run(words, cwd=house.root, timeout=LONG)


@works
def test_a_program_whose_path_looks_like_a_variable_is_started_and_heeds_signals(house: House, tmp_path: Path) -> None:
    program = tmp_path / "a=b" / "agent"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\nkill -TERM $$\necho ignored\n")
    program.chmod(0o755)
    words = around_agent(house.project(), house.job(), Command((str(program),)))
    done = process.run(words, cwd=house.root, timeout=LONG)
    assert (done.code, done.output) == (128 + signal.SIGTERM, ())


@works
def test_what_the_program_reads_and_prints_goes_through(house: House) -> None:
    words = around_agent(house.project(), house.job(), Command(("sh", "-c", "cat; echo $0 >&2", "error")))
    done = process.run(words, cwd=house.root, stdin="a prompt\n", timeout=LONG)
    assert (done.output, done.errors) == (("a prompt",), ("error",))


SLEEPERS = """
import os, subprocess, sys, time
def note(name, pid):
    with open(name + ".new", "w") as file:
        file.write(str(pid))
    os.rename(name + ".new", name)
note("agent", os.getpid())
note("child", subprocess.Popen(["sleep", "60"]).pid)
code = "import os, subprocess; print(subprocess.Popen(['sleep', '60'], start_new_session=True, stdout=-3, stderr=-3).pid)"
note("runaway", subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout.strip())
time.sleep(60)
"""


@works
def test_everything_a_program_started_is_ended_with_it(house: House) -> None:
    names = ("agent", "child", "runaway")
    stop = threading.Event()
    words = around_agent(house.project(), house.job(), Command((sys.executable, "-c", SLEEPERS)))

    def ask_to_stop() -> None:
        wait_until(lambda: (house.root / "runaway").exists())
        stop.set()

    asking = threading.Thread(target=ask_to_stop)
    asking.start()
    done = process.run(words, cwd=house.root, timeout=LONG, grace=1, stop=stop)
    asking.join()
    assert done.ended == "stopped"
    assert [alive(int((house.root / name).read_text())) for name in names] == [False] * 3


GRACEFUL = """
import os, signal, time
def end(*_):
    with open("saved", "w") as file:
        file.write("all of it")
    os._exit(0)
signal.signal(signal.SIGTERM, end)
open("ready", "w").close()
while True:
    time.sleep(60)
"""


@works
def test_a_program_that_is_asked_to_end_has_the_time_to_save_its_work(house: House) -> None:
    stop = threading.Event()
    words = around_agent(house.project(), house.job(), Command((sys.executable, "-c", GRACEFUL)))

    def ask_to_stop() -> None:
        wait_until(lambda: (house.root / "ready").exists())
        stop.set()

    asking = threading.Thread(target=ask_to_stop)
    asking.start()
    process.run(words, cwd=house.root, timeout=LONG, stop=stop)
    asking.join()
    assert (house.root / "saved").read_text() == "all of it"


OUTER = """
import sys
from pathlib import Path
from agentd import process
process.run(sys.argv[2:], cwd=sys.argv[1], env={"AGENTD_RUN": sys.argv[1]}, timeout=60)
"""


@works
def test_an_agent_does_not_outlive_agentd_and_what_ran_away_from_it_is_found(house: House) -> None:
    words = around_agent(house.project(), house.job(), Command((sys.executable, "-c", SLEEPERS)))
    agentd = subprocess.Popen([sys.executable, "-c", OUTER, str(house.root), *words])
    wait_until(lambda: (house.root / "runaway").exists())
    pids = {name: int((house.root / name).read_text()) for name in ("agent", "child", "runaway")}
    agentd.send_signal(signal.SIGKILL)
    agentd.wait()
    wait_until(lambda: not alive(pids["agent"]))
    left = process.end_leftovers("AGENTD_RUN", str(house.root))
    assert pids["runaway"] in left
    assert not any(map(alive, pids.values()))


# Where there is no sandbox.


@pytest.fixture
def without(house: House, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> House:
    """A machine without bubblewrap."""
    tools = tmp_path / "tools"
    tools.mkdir()
    for name in ("sh", "env", "true", "touch"):
        (tools / name).symlink_to(str(shutil.which(name)))
    monkeypatch.setenv("PATH", str(tools))
    return house


def test_with_mode_off_nothing_is_put_around_a_program(house: House) -> None:
    command = Command(("sh", "-c", "touch new"))
    assert around_agent(house.project("off"), house.job(edits=False), command) == command.argv
    assert around_tests(house.project("off"), house.root)(["sh", "-c", "true"]) == ("sh", "-c", "true")


def test_with_mode_auto_and_no_bubblewrap_a_program_runs_as_it_is_and_that_is_said_once(without: House) -> None:
    project = without.project("auto")
    assert without.agent("touch new", project=project).code == 0
    assert without.agent("touch newer", project=project).code == 0
    assert len(without.said) == 1
    assert without.said[0].startswith("⚠ no sandbox: bubblewrap is not installed. Fix: sudo apt install bubblewrap")


def test_with_mode_on_and_no_bubblewrap_nothing_is_started(without: House) -> None:
    with pytest.raises(AgentdError, match='mode = "on", but bubblewrap is not installed') as told:
        without.agent("touch new")
    assert told.value.fix.startswith("sudo apt install bubblewrap")
    assert not (without.root / "new").exists()


def refusing(tools: Path, said: str) -> None:
    """Put a `bwrap` on the PATH that the kernel does not let work."""
    (tools / "bwrap").write_text(f"#!/bin/sh\necho {shlex.quote(said)} >&2\nexit 1\n")
    (tools / "bwrap").chmod(0o755)


def test_a_bubblewrap_that_does_not_work_is_told_with_what_it_said(without: House) -> None:
    refusing(Path(os.environ["PATH"]), "bwrap: setting up uid map: Permission denied")
    with pytest.raises(AgentdError, match=r"bwrap does not work.*setting up uid map: Permission denied"):
        without.agent("touch new")


SETTINGS = {
    "/proc/sys/kernel/apparmor_restrict_unprivileged_userns": ("1", "AppArmor", "apparmor_restrict"),
    "/proc/sys/kernel/unprivileged_userns_clone": ("0", "the kernel", "unprivileged_userns_clone=1"),
    "/proc/sys/user/max_user_namespaces": ("0", "the kernel", "max_user_namespaces="),
}


@pytest.mark.parametrize("name", SETTINGS)
def test_a_kernel_that_allows_no_user_namespaces_is_named_with_the_setting_to_change(name: str) -> None:
    value, who, setting = SETTINGS[name]
    front = explain("bwrap: No permissions", {**dict.fromkeys(SETTINGS, ""), name: value})
    assert f"as {who} allows no user namespaces (bwrap: No permissions)" in front.why
    assert front.fix.startswith("sudo sysctl -w")
    assert setting in front.fix


def test_a_container_that_allows_no_user_namespaces_is_told_what_to_try() -> None:
    front = explain("bwrap: Creating new namespace failed", dict.fromkeys(SETTINGS, ""))
    assert "Creating new namespace failed" in front.why
    assert front.fix.startswith("bwrap --unshare-user --ro-bind / / true")


TRY_HERE = "import os; from agentd.calling.sandbox import find_front; f = find_front(os.environ['PATH']); print(f.why); print(f.fix)"


@works
def test_a_kernel_that_really_refuses_is_recognised() -> None:
    """Within a user namespace of its own, anybody may forbid any more of them."""
    forbid = 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"'
    done = subprocess.run(
        ["unshare", "-r", "sh", "-c", forbid, "sh", sys.executable, "-c", TRY_HERE], capture_output=True, text=True
    )
    why, fix = done.stdout.splitlines()
    assert why.startswith("bwrap does not work, as the kernel allows no user namespaces")
    assert fix == "sudo sysctl -w user.max_user_namespaces=15000"


def test_a_bubblewrap_with_no_gnu_env_beside_it_is_used_all_the_same(
    without: House, monkeypatch: pytest.MonkeyPatch
) -> None:
    tools = Path(os.environ["PATH"])
    (tools / "env").unlink()
    (tools / "env").write_text("#!/bin/sh\necho 'env: unrecognized option' >&2\nexit 125\n")
    (tools / "env").chmod(0o755)
    (tools / "bwrap").write_text("#!/bin/sh\nexit 0\n")
    (tools / "bwrap").chmod(0o755)
    front = find_front(str(tools))
    assert (front.why, front.after) == ("", ())
    assert front.before[0] == str(tools / "bwrap")
