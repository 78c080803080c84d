"""With [sandbox] on, a change is planned, implemented and tested by programs that reach no further than they must."""

import os
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from agentd import demo
from agentd.calling.sandbox import find_front
from tests.landing.runs import landed, prepare
from tests.sandbox import CHANGE, IDEA, Sandbox, alive, make_sandbox, wait_until

works = pytest.mark.skipif(
    bool(find_front(os.environ["PATH"]).why), reason=f"no sandbox here: {find_front(os.environ['PATH']).why}"
)


@pytest.fixture
def tmp_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder on the disk: a sandbox has a /dev of its own, and the memory that tests work in is there."""
    return tmp_path_factory.mktemp("caged")


@pytest.fixture
def caged(sandbox: Sandbox) -> Sandbox:
    """A repository whose programs are sandboxed, of a person who has a key."""
    return cage(sandbox)


@pytest.fixture
def ready(planned: Sandbox) -> Sandbox:
    """The same with a change that is planned."""
    return cage(planned)


def cage(sandbox: Sandbox) -> Sandbox:
    home = sandbox.root.parent / "home"
    (home / ".ssh").mkdir(parents=True)
    (home / ".ssh" / "id").write_text("the private key")
    sandbox.env |= {"HOME": str(home)}
    sandbox.set("sandbox", mode="on")
    return sandbox


def home(sandbox: Sandbox) -> Path:
    return Path(sandbox.env["HOME"])


def add(sandbox: Sandbox, step: str, *argv: str) -> None:
    """Have the agent of a step also run a program, which fails the step if it fails."""
    sandbox.script(**{step: {**sandbox.entry(step), "run": list(argv)}})


@works
def test_a_change_is_planned_and_implemented_with_tools_in_a_sandboxed_worktree(caged: Sandbox) -> None:
    shutil.copy(Path(demo.__file__).parent / "sample" / "script.yaml", caged.root / "agentd" / "demo.yaml")
    for words in (("plan", CHANGE, IDEA, "--git", "worktree"), ("impl", CHANGE)):
        done = caged.run(*words)
        assert done.code == 0, done.out + done.err
    assert caged.state()["phase"] == "complete"
    worktree = caged.root.with_name("repo-agentd") / CHANGE
    assert "def top(" in (worktree / "tally" / "words.py").read_text()
    assert "def top(" not in (caged.root / "tally" / "words.py").read_text()


@works
def test_a_planner_that_changes_the_code_fails(caged: Sandbox) -> None:
    add(caged, "propose", "sh", "-c", "echo hacked >> tally/words.py")
    done = caged.plan()
    assert done.code == 1
    assert "Read-only file system" in done.out + done.err
    assert "hacked" not in (caged.root / "tally" / "words.py").read_text()


@works
@pytest.mark.parametrize("attempt", ["cat ~/.ssh/id", "touch ~/new", "touch ../new", "git commit --allow-empty -m x"])
def test_an_implementer_that_reaches_out_of_the_work_tree_fails(ready: Sandbox, attempt: str) -> None:
    add(ready, "implement", "sh", "-c", attempt)
    done = ready.run("impl", CHANGE)
    assert done.code == 1
    assert "ended with" in done.out + done.err
    assert "the private key" not in "".join(path.read_text() for path in ready.folder().rglob("*") if path.is_file())
    assert not (home(ready) / "new").exists()
    assert not (ready.root.parent / "new").exists()


@works
def test_tests_that_reach_out_of_the_work_tree_are_red(ready: Sandbox) -> None:
    evidence = ready.folder() / "baseline.json"
    ready.set("evidence", test=f"sh -c 'touch built; touch ~/new; cat ~/.ssh/id && echo forged > {evidence}'")
    done = ready.run("impl", CHANGE)
    assert "tests red" in done.out
    assert (ready.root / "built").exists()
    assert not (home(ready) / "new").exists()
    kept = evidence.read_text()
    assert '"status": "red"' in kept
    assert "the private key" not in kept


@works
def test_a_test_program_that_is_not_there_could_not_run_and_is_not_red(ready: Sandbox) -> None:
    ready.set("evidence", test="no-such-runner --all")
    assert "tests could not run" in ready.run("impl", CHANGE).out


@works
def test_an_agent_in_the_sandbox_is_ended_with_all_it_started_when_agentd_was_killed(caged: Sandbox) -> None:
    record = caged.root / "agentd" / "changes" / CHANGE / "agents.txt"
    sane = caged.entry("propose")
    caged.script(propose={**sane, "record": "agents.txt", "spawn": "setsid", "hang": True})
    working = caged.begin("plan", CHANGE, IDEA)
    pids = record.with_name("pids.txt")
    wait_until(lambda: pids.exists() and pids.read_text().endswith("\n"))
    left = [int(pids.read_text()), int(record.read_text().split()[-1])]
    assert all(map(alive, left))
    working.kill()
    working.communicate()
    caged.script(propose=sane)
    done = caged.run("plan", CHANGE)
    assert done.code == 0, done.out + done.err
    assert not any(map(alive, left))


@works
def test_a_call_that_takes_too_long_is_ended_in_the_sandbox_too(caged: Sandbox) -> None:
    caged.set("calls", timeout_secs=1, grace_secs=1)
    caged.script(propose={**caged.entry("propose"), "spawn": "setsid", "hang": True, "ignore_term": True})
    done = caged.plan()
    assert done.code == 1
    assert "ended after" in done.out + done.err
    assert not alive(int((caged.folder() / "pids.txt").read_text()))


@pytest.fixture
def bare(caged: Sandbox) -> Sandbox:
    """The same repository on a machine without bubblewrap."""
    tools = caged.root.parent / "tools"
    tools.mkdir()
    for name in ("git", "sh", "env", "setpriv", "touch", "cat"):
        found = shutil.which(name)
        if found:
            (tools / name).symlink_to(found)
    caged.env |= {"PATH": str(tools)}
    return caged


def test_without_bubblewrap_no_agent_is_called_and_the_fix_is_told(bare: Sandbox) -> None:
    done = bare.plan()
    assert done.code == 1
    assert 'Error: [sandbox] mode = "on", but bubblewrap is not installed.' in done.err
    assert "Fix:   sudo apt install bubblewrap" in done.err
    assert not (bare.folder() / "proposal.md").exists()


def test_where_a_sandbox_is_only_wished_for_its_absence_is_told_once(bare: Sandbox) -> None:
    bare.set("sandbox", mode="auto")
    done = bare.plan()
    assert done.code == 0, done.out + done.err
    assert done.out.count("⚠ no sandbox: bubblewrap is not installed.") == 1


def test_a_mode_that_does_not_exist_is_named(sandbox: Sandbox) -> None:
    sandbox.set("sandbox", mode="maybe")
    done = sandbox.run("status")
    assert done.code == 1
    assert "sandbox.mode = 'maybe' is not allowed: it must be one of off, workspaces, auto, on" in done.err


@works
def test_what_the_configuration_allows_is_allowed(ready: Sandbox) -> None:
    (home(ready) / ".cache").mkdir()
    ready.set("sandbox", writable=["~/.cache"], hidden=["README.md"])
    add(ready, "implement", "sh", "-c", f"touch ~/.cache/a && ! {sys.executable} -c 'open(\"README.md\").read(1)'")
    done = ready.run("impl", CHANGE)
    assert done.code == 0, done.out + done.err
    assert (home(ready) / ".cache" / "a").exists()


@works
def test_an_agent_in_a_workspace_has_the_temporary_folder_of_its_workspace() -> None:
    """Its path is short, so that the folder is beside the repository and not among those that every sandbox has anew."""
    with TemporaryDirectory(prefix="a", dir="/var/tmp") as folder:
        sandbox = prepare(make_sandbox(Path(folder)))
        sandbox.script(split={"documents": {"tasks.yaml": "tasks: [{id: a, title: Add a}]\n"}})
        made = {"files": {"tally/a.py": "A = 1\n"}, "run": ["sh", "-c", 'echo mine > "$TMPDIR/mine"']}
        sandbox.script(**{"make@a": made})
        ran = sandbox.run("run", "many", "add a", "--name", "r1")
        assert ran.code == 0, ran.out + ran.err
        assert landed(sandbox) == ["Add a"]
