"""Runs of the guide's own example, whose tasks are worked on side by side: what the tests of whole runs share."""

import re
import shutil
from pathlib import Path

from tests.landing.repositories import git, invariant
from tests.sandbox import Sandbox

GUIDE = (Path(__file__).parents[2] / "docs" / "guide.md").read_text(encoding="utf-8")
MANY, ONE = re.findall(r"^```yaml\n(name: (?:many|one)\n.*?)^```$", GUIDE, re.DOTALL | re.MULTILINE)
TASKS = "tasks:\n- {id: a, title: Add a}\n- {id: b, title: Add b}\n- {id: c, title: Use both, depends_on: [a, b]}\n"


def prepare(sandbox: Sandbox) -> Sandbox:
    """The example's tables in a person's repository, and three tasks that each add a file."""
    sandbox.own_workflow("many", MANY)
    sandbox.own_workflow("one", ONE)
    sandbox.script(
        split={"documents": {"tasks.yaml": TASKS}},
        **{f"make@{item}": {"files": {f"tally/{item}.py": f"{item.upper()} = 1\n"}} for item in "abc"},
    )
    sandbox.set("runs", wait_when_busy=False)
    git(sandbox.root, "config", "user.name", "Ada")
    git(sandbox.root, "config", "user.email", "ada@localhost")
    git(sandbox.root, "add", "--all")
    git(sandbox.root, "commit", "--quiet", "-m", "workflows")
    return sandbox


def put_below(sandbox: Sandbox, top: Path) -> Sandbox:
    """The same project, but in the folder apps/web of a repository at `top`."""
    below = Sandbox(top / "apps" / "web")
    shutil.copytree(sandbox.root, below.root, ignore=shutil.ignore_patterns(".git"))
    begin_repository(top, git(sandbox.root, "log", "-1", "--format=%s"))
    return below


def begin_repository(top: Path, message: str = "start") -> None:
    """A person's repository with all that is in a folder."""
    git(top, "init", "--quiet", "--initial-branch=main")
    git(top, "config", "user.name", "Ada")
    git(top, "config", "user.email", "ada@localhost")
    git(top, "add", "--all")
    git(top, "commit", "--quiet", "-m", message)


def untouched(sandbox: Sandbox) -> dict[str, str]:
    """The person's repository without agentd's own folder."""
    return {name: text for name, text in invariant(sandbox.root).items() if not name.startswith("agentd/")}


def landed(sandbox: Sandbox, run: str = "r1") -> list[str]:
    return git(sandbox.root, "log", "--reverse", "--format=%s", f"HEAD..agentd/{run}").splitlines()


def beside(sandbox: Sandbox) -> Path:
    """Where the workspaces are."""
    return sandbox.root.parent / f"{sandbox.root.name}-agentd"
