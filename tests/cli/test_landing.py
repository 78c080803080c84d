"""A person's own workflow whose tasks are worked on side by side and land on one branch."""

import json
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.test_sandbox import works
from tests.landing.repositories import git
from tests.landing.runs import begin_repository, landed, prepare, put_below, untouched
from tests.sandbox import AGENTD, Sandbox, wait_until


@pytest.fixture
def tmp_path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder on the disk: what lands is told by snapshots, which believe what a disk says about its files."""
    return tmp_path_factory.mktemp("landing")


@pytest.fixture
def many(sandbox: Sandbox) -> Sandbox:
    return prepare(sandbox)


@pytest.fixture(params=["project", "folder"])
def anywhere(many: Sandbox, tmp_path: Path, request: pytest.FixtureRequest) -> Sandbox:
    """The project is a repository, or a folder of one."""
    return many if request.param == "project" else put_below(many, tmp_path / "top")


def test_tasks_land_on_the_branch_of_their_run_and_nothing_else_changes(many: Sandbox) -> None:
    before = untouched(many)
    done = many.run("run", "many", "x", "--name", "r1", "--json")
    assert done.code == 0, done.err
    assert sorted(landed(many)[:2]) == ["Add a", "Add b"]
    assert landed(many)[2:] == ["Use both"]
    assert "Co-authored-by: scripted <scripted@localhost>" in git(many.root, "log", "-1", "--format=%B", "agentd/r1")
    assert untouched(many) == before
    assert not (many.root.parent / f"{many.root.name}-agentd" / "tasks").exists()


def test_a_conflict_is_settled_in_a_workspace_with_both_sides(many: Sandbox) -> None:
    line = "def count("
    many.script(
        **{
            "make@a": {"replace": {"tally/words.py": [[line, "# a\ndef count("]]}},
            "make@b": {"replace": {"tally/words.py": [[line, "# b\ndef count("]]}},
            "settle": {
                "run": ["sed", "-i", "-E", "/^(<<<<<<<|=======|>>>>>>>)/d", "tally/words.py"],
                "say": "Both comments are there.",
            },
        }
    )
    done = many.run("run", "many", "x", "--name", "r1")
    assert done.code == 0, done.err
    text = git(many.root, "show", "agentd/r1:tally/words.py")
    assert "# a\n" in text
    assert "# b\n" in text
    assert "<<<" not in text
    assert "dropped" not in done.out
    said = next((many.root / "agentd/runs/r1").rglob("conflict.md")).read_text()
    assert "+# a" in said
    assert "+# b" in said


def test_markers_that_are_left_do_not_land(many: Sandbox) -> None:
    line = "def count("
    many.script(
        **{
            "make@a": {"replace": {"tally/words.py": [[line, "# a\ndef count("]]}},
            "make@b": {"replace": {"tally/words.py": [[line, "# b\ndef count("]]}},
            "settle": {"append": {"tally/other.py": "DONE = True\n"}},
        }
    )
    asked = many.run("run", "many", "x", "--name", "r1")
    assert asked.code == 4
    assert "markers are left in tally/words.py" in asked.out
    assert "<<<" not in git(many.root, "show", "agentd/r1:tally/words.py")
    assert len(landed(many)) == 1


def test_markers_that_are_left_in_a_file_that_one_side_renamed_do_not_land(many: Sandbox) -> None:
    renamed = "git mv README.md GUIDE.md && echo '# a' >> GUIDE.md"
    many.script(
        **{
            "make@a": {"run": ["sh", "-c", renamed]},
            "make@b": {"append": {"README.md": "# b\n"}},
            "settle": {"append": {"tally/other.py": "DONE = True\n"}},
        }
    )
    asked = many.run("run", "many", "x", "--name", "r1")
    assert asked.code == 4
    assert "markers are left in GUIDE.md" in asked.out
    assert len(landed(many)) == 1


def until_a_has_landed(sandbox: Sandbox) -> str:
    return f"until git -C {sandbox.root} log agentd/r1 | grep -q 'Add a'; do sleep 0.1; done"


def test_green_apart_and_red_together_goes_back_and_is_mended(many: Sandbox) -> None:
    test = "import unittest\nfrom tally import words\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        words.count('a')\n"
    many.script(
        **{
            "make@a": {
                "replace": {"tally/words.py": [["def count(", "def counted("]]},
                "run": ["sh", "-c", "sed -i s/count/counted/ tally/__init__.py tests/*.py"],
            },
            "make@b": {"files": {"tests/test_b.py": test}, "run": ["sh", "-c", until_a_has_landed(many)]},
            "mend": {"replace": {"tests/test_b.py": [["words.count(", "words.counted("]]}},
        }
    )
    done = many.run("run", "many", "x", "--name", "r1")
    assert "together with a" in done.out, done.out
    assert done.code == 0, done.err
    assert "words.counted" in git(many.root, "show", "agentd/r1:tests/test_b.py")


def test_a_task_whose_workspace_cannot_be_made_runs_nowhere(many: Sandbox) -> None:
    home = many.root.parent / f"{many.root.name}-agentd" / "tasks" / "own" / "r1" / "a"
    home.mkdir(parents=True)
    before = untouched(many)
    asked = many.run("run", "many", "x", "--name", "r1")
    assert asked.code == 4
    assert "in the way" in asked.out
    assert untouched(many) == before
    home.rmdir()
    many.run("answer", "r1", "UD-1", "again")
    assert many.run("resume", "r1").code == 0
    assert len(landed(many)) == 3


def test_the_run_is_found_from_inside_a_workspace(many: Sandbox) -> None:
    status = f"{' '.join(AGENTD)} status r1 > tally/status.txt"
    many.script(**{"make@a": {"run": ["sh", "-c", status]}})
    assert many.run("run", "many", "x", "--name", "r1").code == 0
    assert "many/r1: phase working" in git(many.root, "show", "agentd/r1:tally/status.txt")


@pytest.mark.crash
def test_killed_while_tasks_are_worked_on_it_goes_on(
    many: Sandbox, tmp_path: Path, pytestconfig: pytest.Config
) -> None:
    before = untouched(many)
    log = tmp_path / "points"
    assert many.run("run", "many", "x", "--name", "scout", env={"AGENTD_CRASH_LOG": str(log)}).code == 0
    points = len(log.read_text().splitlines())
    every = pytestconfig.getoption("--crash") == "all"
    for number in range(1, points + 1, 1 if every else points // 6):
        name = f"k{number}"
        killed = many.run("run", "many", "x", "--name", name, env={"AGENTD_CRASH": f"*:{number}:before"})
        assert killed.code == -9
        assert untouched(many) == before
        again = many.run("resume", name)
        if "There is no run" in again.err:
            again = many.run("run", "many", "x", "--name", name)
        assert again.code == 0, again.err
        assert sorted(landed(many, name)) == ["Add a", "Add b", "Use both"]
        assert untouched(many) == before
    assert not (many.root.parent / f"{many.root.name}-agentd").exists()


@pytest.fixture
def delivered(many: Sandbox) -> Sandbox:
    assert many.run("run", "many", "Count with care", "--name", "r1").code == 0
    return many


def test_a_run_is_delivered_by_a_fast_forward_with_a_summary(delivered: Sandbox) -> None:
    shown = delivered.run("deliver", "r1", "--dry-run")
    assert shown.code == 0
    for part in ("Count with care", "- a: Add a (", "tests green: 1 passed", "tally/c.py | 1 +", "Cost: unknown"):
        assert part in shown.out
    assert git(delivered.root, "branch", "--show-current") == "main"
    assert not (delivered.root / "tally/c.py").exists()
    done = delivered.run("deliver", "r1", "--json")
    assert (done.code, done.data["into"]) == (0, "main")
    assert (delivered.root / "tally/c.py").exists()
    assert delivered.run("deliver", "r1").code == 0


def test_uncommitted_changes_and_other_commits_are_never_touched(delivered: Sandbox) -> None:
    (delivered.root / "README.md").write_text("mine\n")
    refused = delivered.run("deliver", "r1")
    assert (refused.code, (delivered.root / "README.md").read_text()) == (1, "mine\n")
    assert "not committed" in refused.err
    git(delivered.root, "commit", "--quiet", "--all", "-m", "mine")
    refused = delivered.run("deliver", "r1")
    assert refused.code == 1
    assert "merge agentd/r1" in refused.err
    git(delivered.root, "merge", "--quiet", "--no-edit", "agentd/r1")
    assert delivered.run("deliver", "r1").code == 0


def test_nothing_to_deliver_is_said(many: Sandbox) -> None:
    many.script(split={"documents": {"tasks.yaml": "tasks: []\n"}})
    many.run("run", "many", "x", "--name", "r1")
    refused = many.run("deliver", "r1")
    assert refused.code == 1
    assert "nothing has landed" in refused.err


def test_a_pull_request_has_the_summary_and_says_what_is_missing(delivered: Sandbox, tmp_path: Path) -> None:
    assert "no remote" in delivered.run("deliver", "r1", "--pr").err
    git(tmp_path, "init", "--quiet", "--bare", "there.git")
    git(delivered.root, "remote", "add", "origin", str(tmp_path / "there.git"))
    tools = tmp_path / "bin"
    tools.mkdir()
    for name in ("git", "sh", "cat", "env"):
        (tools / name).symlink_to(shutil.which(name) or "")
    refused = delivered.run("deliver", "r1", "--pr", env={"PATH": str(tools)})
    assert "gh, which opens pull requests, is not installed" in refused.err
    assert git(tmp_path / "there.git", "branch", "--list") == ""
    gh = tools / "gh"
    gh.write_text(
        f'#!/bin/sh\nprintf \'%s\\n\' "$@" > {tmp_path}/words\ncat "$8" > {tmp_path}/body\necho https://example.org/pull/1\n'
    )
    gh.chmod(0o755)
    done = delivered.run("deliver", "r1", "--pr", "--json", env={"PATH": str(tools)})
    assert done.code == 0, done.err
    assert done.data["pull_request"] == "https://example.org/pull/1"
    assert "- a: Add a" in (tmp_path / "body").read_text()
    assert git(tmp_path / "there.git", "rev-parse", "agentd/r1") == git(delivered.root, "rev-parse", "agentd/r1")


def test_workspaces_are_listed_and_pruned_when_their_run_is_over(many: Sandbox) -> None:
    many.script(**{"make@a": {"fail": "error", "say": "no"}})
    many.set("workflow", script_retries=0)
    many.run("run", "many", "x", "--name", "r1")
    place = many.root.parent / f"{many.root.name}-agentd" / "tasks" / "own" / "r1" / "a"
    (place / "tally" / "half.py").write_text("HALF = 1\n")
    listed = many.run("workspaces", "--json").data["workspaces"]
    assert [(one["run"], one["task"], one["stays"]) for one in listed] == [("own/r1", "a", "its run is not over")]
    assert listed[0]["bytes"] > 1000
    assert "own/r1/a stays: its run is not over" in many.run("workspaces", "--prune").out
    assert place.exists()
    shutil.rmtree(many.root / "agentd/runs/r1")
    assert "removed" in many.run("workspaces", "--prune").out
    assert not place.exists()
    assert git(many.root, "show", "refs/agentd/own/r1/tasks/a:tally/half.py") == "HALF = 1"
    assert "no workspaces" in many.run("workspaces").out


HOSTILE = """
git stash; git stash pop; git checkout -q main; git checkout -q -b mine; git config core.hooksPath /tmp/evil
git config --global user.name Mallory; git gc -q --prune=now; git worktree prune; git commit -qam mine
cd {root} && git config core.hooksPath /tmp/evil; git stash pop; git stash drop; git checkout -q -b theirs; git gc --prune=now
echo evil > {root}/README.md; echo evil > {root}/.git/hooks/pre-commit; rm -rf {root}/tally {root}/.git/refs/heads
echo evil >> {root}/.git/config; rm -f {root}/.git/index; touch {root}/../outside {root}/.git/agentd/evil
rm -rf {root}/../{name}-agentd/tasks/own/r1/b; git -C {root} update-ref refs/heads/main HEAD~1; true
"""


@works
def test_a_hostile_agent_reaches_nothing_but_its_workspace(many: Sandbox) -> None:
    (many.root / "README.md").write_text("stashed\n")
    git(many.root, "stash", "--quiet")
    (many.root / "README.md").write_text("not committed\n")
    words = HOSTILE.format(root=many.root, name=many.root.name)
    home = many.root.parent / "home"
    home.mkdir()
    many.script(
        **{
            "make@a": {
                "files": {"tally/a.py": "A = 1\n"},
                "run": ["sh", "-c", words],
            }
        }
    )
    before = untouched(many)
    done = many.run("run", "many", "x", "--name", "r1", env={"HOME": str(home)})
    assert untouched(many) == before
    assert not (many.root.parent / "outside").exists()
    assert "no sandbox" not in done.out
    assert done.code == 0, done.err
    assert sorted(landed(many)) == ["Add a", "Add b", "Use both"]


def test_without_a_sandbox_what_a_hostile_agent_does_with_git_in_its_workspace_stays_there(many: Sandbox) -> None:
    (many.root / "README.md").write_text("stashed\n")
    git(many.root, "stash", "--quiet")
    many.set("sandbox", mode="off")
    words = HOSTILE.partition("cd {root}")[0].replace("git config --global user.name Mallory; ", "")
    many.script(**{"make@a": {"files": {"tally/a.py": "A = 1\n"}, "run": ["sh", "-c", words + "\ntrue"]}})
    before = untouched(many)
    done = many.run("run", "many", "x", "--name", "r1")
    assert untouched(many) == before
    assert done.code == 0, done.err
    assert sorted(landed(many)) == ["Add a", "Add b", "Use both"]


def test_two_processes_are_never_at_one_run_and_two_runs_do_not_disturb_each_other(many: Sandbox) -> None:
    before = untouched(many)
    many.script(**{"make@b": {"files": {"tally/b.py": "B = 1\n"}, "hang": 1}})
    first, second = (many.begin("run", "many", "x", "--name", name) for name in ("r1", "r2"))
    wait_until(lambda: (many.root.parent / f"{many.root.name}-agentd/tasks/own/r1/b").exists())
    refused = many.run("resume", "r1")
    assert refused.code == 1
    assert "is held by process" in refused.err
    assert "is being worked on" in many.run("workspaces").out
    for process in (first, second):
        out, err = process.communicate(timeout=120)
        assert process.returncode == 0, err + out
    for name in ("r1", "r2"):
        assert sorted(landed(many, name)) == ["Add a", "Add b", "Use both"]
    assert untouched(many) == before


def test_tasks_that_declare_the_same_file_wait_for_each_other_and_what_is_not_declared_is_told(
    anywhere: Sandbox,
) -> None:
    tasks = "tasks:\n- {id: a, files: [tally/a.py]}\n- {id: b, files: ['tally/*.py']}\n- {id: c, files: [docs/]}\n"
    anywhere.script(
        split={"documents": {"tasks.yaml": tasks}}, **{"make@a": {"files": {"tally/a.py": "A = 1\n"}, "hang": 1}}
    )
    done = anywhere.run("run", "many", "x", "--name", "r1")
    assert done.code == 0, done.err
    assert "[b] waits for a, which has tally/a.py" in done.out
    said = done.out.splitlines()
    assert [line for line in said if "declared" in line] == ["[c] ⚠ written without being declared: tally/c.py"]
    assert said.index("[b] ▶ open") > next(n for n, line in enumerate(said) if line.startswith("[a] ✓ land: landed"))


def test_a_file_that_a_task_has_written_is_its_own_though_it_did_not_declare_it(anywhere: Sandbox) -> None:
    anywhere.set("runs", max_parallel=2)
    tasks = "tasks:\n- {id: a}\n- {id: c}\n- {id: b, files: [tally/a.py]}\n"
    home = anywhere.root.parent
    until_b_waits = f"until grep -rqs a.py {home}/said; do sleep 0.1; done"
    anywhere.script(
        split={"documents": {"tasks.yaml": tasks}},
        **{"make@a": {"files": {"tally/a.py": "A = 1\n"}, "run": ["sh", "-c", until_b_waits]}},
    )
    with open(home / "said", "w") as said:
        words = [*AGENTD, "run", "many", "x", "--name", "r1"]
        env = {**anywhere.env, "HOME": str(home)}
        done = subprocess.run(words, cwd=anywhere.root, env=env, stdout=said, timeout=120)
    assert done.returncode == 0
    assert "[b] waits for a, which has tally/a.py" in (home / "said").read_text()
    found = git(anywhere.root, "log", "--format=%s", "--branches=agentd/*", "--not", "HEAD").splitlines()
    assert sorted(found) == ["r1: a", "r1: b", "r1: c"]


def test_what_runs_in_a_workspace_has_what_the_setup_made_and_names_of_its_own(many: Sandbox) -> None:
    many.set(
        "workspace",
        setup="echo made >> made.log && cp $ROOT_WORKTREE_PATH/.env .env",
        cleanup="echo $AGENTD_PORT >> $AGENTD_SOURCE/x.log",
    )
    (many.root / ".gitignore").write_text("__pycache__/\n*.log\n.env\n")
    (many.root / ".env").write_text("KEY=1\n")
    git(many.root, "commit", "--quiet", "--all", "-m", "ignored")
    told = 'echo "$AGENTD_PORT $TMPDIR $AGENTD_DATABASE" > tally/{0}.txt; cat .env made.log >> tally/{0}.txt'
    many.script(**{f"make@{item}": {"run": ["sh", "-c", told.format(item)]} for item in "abc"})
    done = many.run("run", "many", "x", "--name", "r1")
    assert done.code == 0, done.out
    texts = [git(many.root, "show", f"agentd/r1:tally/{item}.txt") for item in "abc"]
    firsts, rests = zip(*(text.split("\n", 1) for text in texts), strict=True)
    assert set(rests) == {"KEY=1\nmade"}
    assert all(len({*each}) == 3 for each in zip(*map(str.split, firsts), strict=True))
    assert done.out.count("setting up the workspace as [workspace] says") == 1
    assert len((many.root / "x.log").read_text().split()) == 3
    assert not any(Path(first.split()[1]).exists() for first in firsts)


def test_a_copied_file_that_git_does_not_ignore_lands_only_if_a_task_changes_it(many: Sandbox) -> None:
    for name in ("mine.ini", "tally/yours.ini"):
        (many.root / name).write_text("KEY=1\n")
    many.set("workspace", copy=["mine.ini", "tally/yours.ini"])
    many.script(**{"make@a": {"run": ["sh", "-c", "cat mine.ini tally/yours.ini > tally/a.txt; echo 2 >> mine.ini"]}})
    before = untouched(many)
    done = many.run("run", "many", "x", "--name", "r1")
    assert done.code == 0, done.out
    assert untouched(many) == before
    assert (shown(many, "tally/a.txt"), shown(many, "mine.ini")) == (["KEY=1", "KEY=1"], ["KEY=1", "2"])
    assert "tally/yours.ini" not in git(many.root, "ls-tree", "-r", "--name-only", "agentd/r1")


@pytest.mark.parametrize(
    ("setup", "said"), [("echo no; exit 3", "exited 3: no"), ("sleep 60", "did not end within 1 s")]
)
def test_a_setup_that_fails_or_hangs_means_that_the_task_could_not_start(many: Sandbox, setup: str, said: str) -> None:
    many.set("workspace", setup=setup, setup_secs=1)
    before = untouched(many)
    asked = many.run("run", "many", "x", "--name", "r1")
    assert asked.code == 4
    assert said in asked.out
    assert untouched(many) == before
    assert not landed(many)
    many.set("workspace", setup="true")
    many.run("answer", "r1", "UD-1", "again")
    assert many.run("resume", "r1").code == 0
    assert len(landed(many)) == 3


def test_nobody_works_if_git_does_not_know_whose_the_commits_would_be(many: Sandbox, tmp_path: Path) -> None:
    git(many.root, "config", "--unset", "user.name")
    git(many.root, "config", "--unset", "user.email")
    nobody = {"HOME": str(tmp_path), "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "EMAIL": ""}
    git(many.root, "config", "user.useConfigOnly", "true")
    refused = many.run("run", "many", "x", "--name", "r1", env=nobody)
    assert refused.code == 1
    assert "git does not know your name" in refused.err
    assert not list((many.root / "agentd/runs/r1").rglob("calls/make*"))
    ada = {f"GIT_{who}_{what}": f"ada@{what}" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    assert many.run("resume", "r1", env={**nobody, **ada}).code == 0
    assert git(many.root, "log", "-1", "--format=%an <%ae>", "agentd/r1") == "ada@NAME <ada@EMAIL>"


CLASH = {f"make@{item}": {"replace": {"tally/words.py": [["def count(", f"# {item}\ndef count("]]}} for item in "ab"}


def test_work_that_is_dropped_to_settle_a_conflict_does_not_land_and_is_kept(many: Sandbox) -> None:
    many.script(**CLASH, settle={"run": ["git", "checkout", "--quiet", "--force", "HEAD", "--", "."]})
    asked = many.run("run", "many", "x", "--name", "r1")
    assert asked.code == 4
    (lost,) = {"a", "b"} - {subject.removeprefix("Add ") for subject in landed(many)}
    assert f"nothing of the work of {lost} is left" in asked.out
    kept = git(
        many.root,
        "for-each-ref",
        "--format=%(refname)",
        f"refs/agentd/own/r1/tasks/{lost}",
        f"refs/agentd/own/r1/earlier/{lost}",
    )
    assert any(f"# {lost}" in git(many.root, "show", f"{ref}:tally/words.py") for ref in kept.splitlines())


def test_lines_that_are_dropped_to_settle_a_conflict_are_told_and_stand_in_the_summary(many: Sandbox) -> None:
    both = {f"make@{item}": {**CLASH[f"make@{item}"], "files": {f"tally/{item}.py": "X = 1\n"}} for item in "ab"}
    take_one = "sed -i -E '/^=======/,/^>>>>>>>/d; /^<<<<<<</d' tally/words.py"
    many.script(**both, settle={"run": ["sh", "-c", take_one]})
    done = many.run("run", "many", "x", "--name", "r1")
    assert done.code == 0, done.err
    (lost,) = {"a", "b"} - {line.removeprefix("# ") for line in shown(many, "tally/words.py") if line.startswith("# ")}
    assert f"[{lost}] ⚠ settling the conflict dropped 1 line of {lost} in tally/words.py: # {lost}" in done.out
    summary = many.run("deliver", "r1", "--dry-run").out
    assert f"tally/words.py: 1 of {lost}: # {lost}" in summary
    (command,) = [line.partition("(git ")[2].rstrip(")") for line in summary.splitlines() if "(git show" in line]
    assert f"# {lost}" in git(many.root, *command.split()).splitlines()


def shown(sandbox: Sandbox, name: str) -> list[str]:
    return git(sandbox.root, "show", f"agentd/r1:{name}").splitlines()


@pytest.mark.parametrize("settle", ["true", "git commit --quiet -am 'as it is'"])
def test_a_conflict_without_markers_is_settled_as_it_is_only_by_a_commit(many: Sandbox, settle: str) -> None:
    many.script(
        **{
            "make@a": {"run": ["git", "rm", "--quiet", "README.md"]},
            "make@b": {"append": {"README.md": "# b\n"}, "run": ["sh", "-c", until_a_has_landed(many)]},
            "settle": {"run": ["sh", "-c", settle]},
        }
    )
    done = many.run("run", "many", "x", "--name", "r1")
    if settle == "true":
        assert done.code == 4
        assert "nothing was changed since it came back" in done.out
        assert "git commit -am" in next((many.root / "agentd/runs/r1/calls/landing").rglob("conflict.md")).read_text()
    else:
        assert done.code == 0, done.out
        assert len(landed(many)) == 3
        assert shown(many, "README.md")[-1] == "# b"


def test_what_came_back_is_not_reverted_or_hidden_by_a_record_that_was_edited(many: Sandbox) -> None:
    many.script(**CLASH, settle={"append": {"tally/other.py": "DONE = True\n"}})
    many.run("run", "many", "x", "--name", "r1")
    (record,) = (many.root / ".git/agentd/workspaces/own/r1").glob("*/workspace.json")
    text = record.read_text()
    for name in ("base", "tree", "work", "why"):
        record.write_text(json.dumps({**json.loads(text), name: "--output=x"}))
        told = many.run("workspaces")
        assert told.code == 1
        assert "does not describe a workspace" in told.err
    record.write_text(json.dumps({**json.loads(text), "work": "0" * 40}))
    settle = {"run": ["sed", "-i", "-E", "/^(<<<<<<<|=======|>>>>>>>)/d", "tally/words.py"]}
    many.script(**CLASH, settle=settle)
    many.run("answer", "r1", "UD-1", "again")
    done = many.run("resume", "r1")
    assert done.code == 0, done.err
    assert {"# a", "# b"} <= {*shown(many, "tally/words.py")}


def test_a_task_that_is_given_up_is_listed_with_its_documents_and_the_rest_is_delivered(many: Sandbox) -> None:
    many.script(**CLASH, settle={"say": "I do not know."})
    git(many.root, "commit", "--quiet", "--all", "-m", "script")
    many.run("run", "many", "x", "--name", "r1")
    many.run("answer", "r1", "UD-1", "leave")
    assert "agentd deliver many/r1" in many.run("resume", "r1").out
    summary = many.run("deliver", "r1", "--dry-run").out
    (line,) = [line for line in summary.splitlines() if ": given up, see " in line]
    (path,) = [each for each in line.partition("see ")[2].split(", ") if each.endswith("conflict.md")]
    assert "changed the same lines" in (many.root / path).read_text()
    assert many.run("status", "r1", "--json").data["next"] == "agentd deliver many/r1"
    assert many.run("deliver", "r1").code == 0
    assert many.run("status", "r1", "--json").data["next"] != "agentd deliver many/r1"


def test_the_log_of_a_setup_that_failed_is_still_there_when_its_task_is_given_up(many: Sandbox) -> None:
    many.set("workspace", setup="echo so it was; exit 3")
    many.run("run", "many", "x", "--name", "r1")
    many.run("answer", "r1", "UD-1", "leave")
    many.run("resume", "r1")
    kept = many.root / "agentd/runs/r1/calls/landing"
    assert "so it was" in (kept / "a" / "setup.log").read_text()
    assert "exited 3" in (kept / "a" / "could_not_start.md").read_text()


def test_markers_and_conflicts_in_files_of_any_name_are_told(many: Sandbox) -> None:
    words = "import os; open(os.fsdecode(b'tally/\\xff x\\ty.txt'), 'w').write('{0}\\n')"
    many.script(
        **{f"make@{item}": {"run": ["python3", "-c", words.format(item)]} for item in "ab"},
        settle={"append": {"tally/other.py": "DONE = True\n"}},
    )
    asked = many.run("run", "many", "x", "--name", "r1")
    assert asked.code == 4, asked.err
    assert "markers are left in tally/" in asked.out
    assert len(landed(many)) == 1


def test_a_workspace_with_markers_that_was_removed_comes_back_with_them(many: Sandbox) -> None:
    many.script(**CLASH, settle={"append": {"tally/other.py": "DONE = True\n"}})
    many.run("run", "many", "x", "--name", "r1")
    home = many.root.parent / f"{many.root.name}-agentd/tasks/own/r1"
    (place,) = [each for each in home.iterdir() if not each.name.startswith(".")]
    shutil.rmtree(place)
    many.script(settle={"run": ["sed", "-i", "-E", "/^(<<<<<<<|=======|>>>>>>>)/d", "tally/words.py"]})
    many.run("answer", "r1", "UD-1", "again")
    many.run("resume", "r1")
    assert "<<<" not in git(many.root, "show", "agentd/r1:tally/words.py")


def test_a_task_that_begins_anew_begins_at_the_tip_and_its_earlier_work_is_kept(many: Sandbox) -> None:
    bad = "import unittest\n\nclass T(unittest.TestCase):\n    def test_it(self):\n        self.fail()\n"
    mend = {"append": {"tally/half.py": "HALF = 1\n"}}
    many.script(**{"make@a": {"files": {"tests/test_a.py": bad}}, "mend": mend})
    assert many.run("run", "many", "x", "--name", "r1").code == 4
    many.script(**{"make@a": {"files": {"tally/a.py": "A = 1\n"}}})
    many.run("answer", "r1", "UD-1", "again")
    done = many.run("resume", "r1")
    assert done.code == 0, done.out
    assert "what an earlier attempt at a wrote is kept below refs/agentd/own/r1/" in done.out
    assert "tests/test_a.py" not in git(many.root, "ls-tree", "-r", "--name-only", "agentd/r1")
    kept = git(many.root, "for-each-ref", "--format=%(refname)", "refs/agentd/own/r1/earlier/a").splitlines()
    assert any("tests/test_a.py" in git(many.root, "ls-tree", "-r", "--name-only", ref) for ref in kept)


def test_a_nested_repository_is_told_and_keeps_nothing_from_landing(many: Sandbox) -> None:
    words = "mkdir inner && cd inner && git init -q && echo x > x"
    many.script(**{"make@a": {"files": {"tally/a.py": "A = 1\n"}, "run": ["sh", "-c", words]}})
    done = many.run("run", "many", "x", "--name", "r1")
    assert done.code == 0, done.err
    assert "⚠ not part of the work: inner" in done.out
    assert "the workspace stays" in done.out
    assert (many.root.parent / f"{many.root.name}-agentd/tasks/own/r1/a/inner/x").exists()


def test_a_conflict_of_binary_files_says_how_to_get_the_other_version(many: Sandbox) -> None:
    write = "printf '\\000{0}\\000' > tally/data.bin"
    many.script(
        **{f"make@{item}": {"run": ["sh", "-c", write.format(item)]} for item in "ab"},
        settle={"run": ["sh", "-c", "printf '\\000both\\000' > tally/data.bin"]},
    )
    done = many.run("run", "many", "x", "--name", "r1")
    assert done.code == 0, done.out
    said = next((many.root / "agentd/runs/r1").rglob("conflict.md")).read_text()
    (shown,) = [line.partition(": git ")[2] for line in said.splitlines() if line.startswith("- tally/data.bin: git ")]
    assert git(many.root, *shown.split()).strip("\0") in ("a", "b")
    assert git(many.root, "show", "agentd/r1:tally/data.bin").strip("\0") == "both"


def test_a_conflict_in_a_manifest_is_settled_though_its_setup_fails_and_no_work_is_put_back(many: Sandbox) -> None:
    (many.root / "requirements.txt").write_text("one\n")
    git(many.root, "add", "requirements.txt")
    git(many.root, "commit", "--quiet", "--all", "-m", "a manifest")
    many.set("workspace", setup="! grep -q '<<<' requirements.txt")
    many.script(
        **{
            f"make@{item}": {"files": {"requirements.txt": f"one\n{item}\n"}, "append": {"README.md": f"{item}\n"}}
            for item in "ab"
        },
        settle={"run": ["sed", "-i", "-E", "/^(<<<<<<<|=======|>>>>>>>)/d", "requirements.txt", "README.md"]},
    )
    done = many.run("run", "many", "x", "--name", "r1")
    assert done.code == 0, done.out
    for name in ("requirements.txt", "README.md"):
        text = git(many.root, "show", f"agentd/r1:{name}").splitlines()
        assert {"a", "b"} <= {*text}
        assert not any(line.startswith("<<<") for line in text)


def test_an_earlier_run_of_the_same_name_is_not_gone_on_with(many: Sandbox) -> None:
    assert many.run("run", "many", "x", "--name", "r1").code == 0
    shutil.rmtree(many.root / "agentd/runs/r1")
    refused = many.run("run", "many", "x", "--name", "r1")
    assert refused.code == 1
    assert "is the branch of an earlier run" in refused.err
    (fix,) = [line.removeprefix("Fix:   ") for line in refused.err.splitlines() if line.startswith("Fix:")]
    subprocess.run(fix, shell=True, check=True, cwd=many.root)
    assert many.run("resume", "r1").code == 0
    assert len(landed(many)) == 3
    assert len(landed(many, "r1-old")) == 3


def test_a_delivery_overwrites_no_file_of_the_person_ignored_ones_included(many: Sandbox) -> None:
    (many.root / ".gitignore").write_text("__pycache__/\n.env\n")
    git(many.root, "commit", "--quiet", "--all", "-m", "ignored")
    (many.root / ".env").write_text("TOKEN=my-only-copy\n")
    words = "sed -i /.env/d .gitignore && echo TOKEN=example > .env"
    many.script(**{"make@a": {"run": ["sh", "-c", words]}})
    git(many.root, "commit", "--quiet", "--all", "-m", "script")
    assert many.run("run", "many", "x", "--name", "r1").code == 0
    refused = many.run("deliver", "r1")
    assert (refused.code, (many.root / ".env").read_text()) == (1, "TOKEN=my-only-copy\n")
    assert ".env" in refused.err


def test_an_agent_that_only_talks_has_not_done_its_task(many: Sandbox) -> None:
    many.script(**{"make@a": {"say": "Shall I go on?"}, "mend": {"say": "I could."}})
    asked = many.run("run", "many", "x", "--name", "r1")
    assert asked.code == 4
    assert "[a] ↻ land: red (nothing was changed)" in asked.out
    assert landed(many) == ["Add b"]


def test_a_workspace_that_is_gone_is_told_and_the_line_to_paste_begins_its_task_anew(many: Sandbox) -> None:
    many.script(**{"make@a": {"fail": "error", "say": "no"}})
    many.set("workflow", script_retries=0)
    many.run("run", "many", "x", "--name", "r1")
    shutil.rmtree(many.root.parent / f"{many.root.name}-agentd")
    told = many.run("resume", "r1")
    assert told.code == 1
    many.script(**{"make@a": {"files": {"tally/a.py": "A = 1\n"}}})
    (fix,) = [line.removeprefix("Fix:   ") for line in told.err.splitlines() if line.startswith("Fix:")]
    subprocess.run(
        fix.replace("agentd resume", " ".join([*AGENTD, "resume"])), shell=True, check=True, cwd=many.root, env=many.env
    )
    assert len(landed(many)) == 3


def test_an_index_that_was_deleted_is_told_with_the_line_that_brings_it_back(many: Sandbox) -> None:
    many.script(**{"make@a": {"fail": "error", "say": "no"}})
    many.set("workflow", script_retries=0)
    many.run("run", "many", "x", "--name", "r1")
    (many.root / ".git/agentd/workspaces/own/r1/a/index").unlink()
    many.script(**{"make@a": {"files": {"tally/a.py": "A = 1\n"}}})
    told = many.run("resume", "r1")
    assert told.code == 1
    (fix,) = [line.removeprefix("Fix:   ") for line in told.err.splitlines() if line.startswith("Fix:")]
    subprocess.run(fix, shell=True, check=True)
    assert many.run("resume", "r1").code == 0
    assert len(landed(many)) == 3


def test_a_record_that_was_edited_leads_nowhere_else(many: Sandbox) -> None:
    many.script(**{"make@a": {"fail": "error", "say": "no"}})
    many.set("workflow", script_retries=0)
    many.run("run", "many", "x", "--name", "r1")
    record = many.root / ".git/agentd/workspaces/own/r1/a/workspace.json"
    record.write_text(record.read_text().replace(f"{many.root.name}-agentd/tasks/own/r1/a", many.root.name))
    shutil.rmtree(many.root / "agentd/runs/r1")
    assert many.run("workspaces", "--prune").code == 0
    assert (many.root / "tally/words.py").exists()
    record.parent.mkdir(parents=True, exist_ok=True)
    record.write_text('{"made": "x"}')
    assert many.run("workspaces").code == 1


@pytest.mark.parametrize("item", ["a..b", "a.lock", "a b", "../a", ".a", "-a", "a/b", "a" * 101, "\\u00e4", "A"])
def test_a_bad_id_is_told_with_its_file_before_any_task_starts(many: Sandbox, item: str) -> None:
    many.script(split={"documents": {"tasks.yaml": f'tasks: [{{id: a}}, {{id: "{item}"}}]\n'}})
    refused = many.run("run", "many", "x", "--name", "r1")
    assert refused.code == 1
    assert "agentd/runs/r1/tasks.yaml: " in refused.err
    assert repr(item.replace("\\u00e4", "\u00e4")) in refused.err
    assert not (many.root / "agentd/runs/r1/children").exists()


def test_two_projects_of_one_repository_may_have_runs_of_one_name(many: Sandbox, tmp_path: Path) -> None:
    top = tmp_path / "top"
    ours = [Sandbox(top / name / "web") for name in ("apps", "my libs")]
    for one in ours:
        shutil.copytree(many.root, one.root, ignore=shutil.ignore_patterns(".git"))
    begin_repository(top)
    for one in ours:
        done = one.run("run", "many", "x", "--name", "r1")
        assert done.code == 0, done.err
        assert "no workspaces" in one.run("workspaces").out
    assert len(git(top, "branch", "--list", "agentd/r1@*").splitlines()) == 2
    for one in ours[:1]:
        assert one.run("deliver", "r1").code == 0
    assert (ours[0].root / "tally/c.py").exists()
    assert not (ours[1].root / "tally/c.py").exists()
