"""Roles that lie, slip or forge: a session is never done without what makes it done, and honest roles still end it."""

import json
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st

from agentd.git import trees
from agentd.text import lossless_yaml
from tests.landing.repositories import git
from tests.sandbox import Sandbox, make_sandbox
from tests.team.mischief import HANGING, deeds
from tests.team.sessions import (
    CRITERIA,
    GOAL,
    HONEST,
    NAME,
    SPEC,
    TOP,
    TOP_TEST,
    Session,
    coded,
    other_code,
    other_task,
    plan,
    say,
    task,
)

FEW = settings().max_examples // 10  # each is a whole session
OWN = ("agentd", ".agents-work", ".agents")
RISKY: dict[str, Any] = {"risk_flags": ["security"]}
STEPS = {
    "--lean": ("intake_lean", "code", "review", "test", "audit"),
    "": ("intake", "design", "plan", "code", "review", "audit", "review_all", "integrate", "document", "release"),
}
TASKS = {"--lean": plan(task(**RISKY)), "": plan(task(**RISKY), other_task("T-002", 2))}
# What a person says who has seen none of it, by the step that asks; anything else is tried again.
WORDS: Mapping[str, tuple[str, ...]] = {
    "approve_design": ("approved",),
    "choose_strategy": ("per-batch",),
    "which_risks": ("fix_now",),
    "which_notes": ("none",),
    "harm_is_found": ("fix",),
    "ask_user": ("as you like",),
    "scope_has_grown": ("go_on",),
    "confirm_checks": ("confirmed",),
    "lean_confirm_checks": ("confirmed",),
}
TRIES = ("retry", "different_approach")


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository without a sandbox around its roles, and its files as honest roles leave them."""
    folder = tmp_path_factory.mktemp("adversaries")
    session = Session(make_sandbox(folder))
    session.sandbox.set("sandbox", mode="off")
    session.sandbox.set("team", max_parallel=1)
    session.sandbox.set("workflow", script_retries=1, retry_delay_secs=0)
    git(session.root, "add", "--all")
    git(session.root, "commit", "--quiet", "-m", "no sandbox")
    shutil.copytree(session.root, folder / "honest", ignore=shutil.ignore_patterns(".git", "agentd"))
    (folder / "honest" / "tally" / "top.py").write_text(TOP)
    (folder / "honest" / "tests" / "test_top.py").write_text(TOP_TEST)
    return folder


def honest_script(mode: str, honest: Path) -> dict[str, Any]:
    """What honest roles do; a coder who repairs puts everything right that may have been done to its workspace."""
    settled = "rm -rf .agents-work .git/info/attributes; git config --file .git/config core.worktree .."
    repaired = {"run": ["sh", "-c", f"{settled}; cp -a {honest}/. . && git checkout -q -- agentd"], "say": say()}
    documents = {"spec.md": SPEC, "acceptance.json": json.dumps(CRITERIA)}
    fixes = dict.fromkeys(
        ("fix_review", "fix_tests", "fix_security", "fix_build", "fix_all", "lean_fix_build"), repaired
    )
    return {
        **HONEST,
        **fixes,
        "intake_lean": {"documents": {**documents, "tasks.yaml": TASKS[mode]}, "say": say()},
        "plan": {"documents": {"tasks.yaml": TASKS[mode]}, "say": say()},
        "code": [coded(), repaired],
        "code@T-002": other_code(2),
    }


class Play:
    """A session whose roles misbehave the first times, and the person who answers what is asked."""

    def __init__(self, prepared: Path, folder: Path, mode: str, mischief: Mapping[str, tuple[str, ...]]) -> None:
        shutil.copytree(prepared / "repo", folder / "repo", symlinks=True)
        self.mode, self.session = mode, Session.__new__(Session)
        self.session.sandbox, self.session.root = Sandbox(folder / "repo"), folder / "repo"
        script = honest_script(mode, prepared / "honest")
        for step, names in mischief.items():
            entries = script[step] if isinstance(script[step], list) else [script[step]]
            script[step] = [*({**deeds(step), **HANGING}[name](entries[0]) for name in names), *entries]
        self.session.script(**script)
        self.said: dict[str, tuple[str, str]] = {}
        self.told: list[str] = []

    def go(self) -> None:
        """Type the same command until the session is over; answer what is asked."""
        errors = 0
        for _ in range(60):
            ran = self.session.sandbox.run("run", "team", GOAL, "--session", NAME, *filter(None, [self.mode]))
            self.told += [ran.out, ran.err]
            if ran.code == 0:
                return
            errors = 0 if ran.code == 4 else errors + 1
            assert errors < 4, self.everything
            for one in self.session.pending():
                self.answer(one)
        raise AssertionError(f"it comes to no end\n{self.everything}")

    def answer(self, one: Mapping[str, Any]) -> None:
        known = [option["value"] for option in one["options"]]
        words = WORDS.get(one["name"]) or [word for word in TRIES if word in known]
        assert words, f"{one}\n{self.everything}"
        ran = self.session.answer(one["decision_id"], words[0], "as a person said")
        assert ran.code == 0, ran.out + ran.err
        self.said[one["decision_id"]] = (one["asked_at"], words[0])

    @property
    def everything(self) -> str:
        return "\n".join(self.told)[-6000:]

    def check_done(self) -> None:
        """The definition of done, looked at from outside."""
        session, root, status = self.session, self.session.root, self.session.status
        assert status["current_state"] == "DONE", self.everything
        decisions = {one["decision_id"]: one for one in status.get("user_decisions", [])}
        assert not session.pending()
        given = {name: (one["asked_at"], one["answer"]) for name, one in decisions.items() if one["answer"]}
        assert given == self.said, self.everything
        report = (session.folder / "report.md").read_text()
        assert all(f"## {part}" in report for part in ("What was done", "How to run", "How to test", "Known issues"))
        assert (session.folder / "spec.md").read_text() == SPEC
        assert json.loads((session.folder / "acceptance.json").read_text()) == CRITERIA
        tip = git(root, "rev-parse", f"agentd/{NAME}")
        checks = json.loads((session.folder / "checks.json").read_text())
        assert (checks["commit"], checks["status"]) == (tip, "green")
        wanted = [check for one in CRITERIA["acceptance_criteria"] for check in one["verify"]]
        assert {checks["checks"][check]["status"] for check in wanted} == {"green"}
        self.check_tasks()
        self.check_tip(tip)

    def check_tasks(self) -> None:
        """Every task of the plan landed, with verdicts about exactly what landed."""
        session, root = self.session, self.session.root
        expected = {"T-001", "T-002"} if not self.mode else {"T-001"}
        assert session.tasks() == dict.fromkeys(expected, "completed")
        trailers = git(root, "log", "--format=%(trailers:key=Agentd-Task,valueonly)", f"HEAD..agentd/{NAME}").split()
        assert expected <= {*trailers}, self.everything
        for path in session.folder.glob("children/*/*/STATE.yaml"):
            verdicts = session_state(path)["verdicts"]
            work = f"refs/agentd/team/{NAME}/tasks/{path.parent.name}"
            kinds = {"review", "qa", "security"} if path.parent.name == "T-001" else {"review", "qa"}
            assert {verdicts[kind]["word"] for kind in kinds} <= {"ok", "accepted"}
            assert {verdicts[kind]["tree"] for kind in kinds} == {trees.pruned(root, work, OWN)}, self.everything

    def check_tip(self, tip: str) -> None:
        """The tests that the repository had are what they were, and all are green on what is delivered."""
        root, place = self.session.root, self.session.root.parent / "delivered"
        place.mkdir()
        files = subprocess.run(["git", "archive", tip], cwd=root, capture_output=True, check=True).stdout
        subprocess.run(["tar", "-x"], input=files, cwd=place, check=True)
        ran = subprocess.run(
            [sys.executable, "-B", "-m", "unittest", "discover", "-s", "tests", "-t", "."],
            cwd=place,
            capture_output=True,
            text=True,
        )
        assert ran.returncode == 0, ran.stderr
        changed = git(root, "diff", "--name-only", "--diff-filter=DM", f"HEAD..{tip}").split()
        assert not changed, changed


def session_state(path: Path) -> dict[str, Any]:
    return lossless_yaml.parse_bytes(path.read_bytes(), path.name).data


@st.composite
def mischief(draw: st.DrawFn, mode: str) -> dict[str, tuple[str, ...]]:
    """Some steps, each with what goes wrong at its first visits."""
    steps = draw(st.lists(st.sampled_from(STEPS[mode]), min_size=1, max_size=4, unique=True))
    return {step: tuple(draw(st.lists(st.sampled_from(sorted(deeds(step))), min_size=1, max_size=2))) for step in steps}


def play(prepared: Path, mode: str, wrong: Mapping[str, tuple[str, ...]], **calls: int) -> None:
    with tempfile.TemporaryDirectory(dir=prepared) as folder:
        played = Play(prepared, Path(folder), mode, wrong)
        if calls:
            played.session.sandbox.set("calls", **calls)
        played.go()
        played.check_done()


WALK = settings(
    max_examples=FEW,
    deadline=None,
    database=None,
    phases=(Phase.explicit, Phase.generate),
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@WALK
@example(
    wrong={"intake_lean": ("the end of other tasks", "the state DONE"), "code": ("no repository", "hooks and filters")}
)
@given(wrong=mischief("--lean"))
def test_a_lean_session_is_never_done_by_lying(prepared: Path, wrong: Mapping[str, tuple[str, ...]]) -> None:
    play(prepared, "--lean", wrong)


@settings(WALK, max_examples=max(FEW // 3, 1))
@example(wrong={"plan": ("missing files",), "code": ("the end of other tasks", "everything waived")})
@given(wrong=mischief(""))
def test_a_full_session_is_never_done_by_lying(prepared: Path, wrong: Mapping[str, tuple[str, ...]]) -> None:
    play(prepared, "", wrong)


def test_a_role_that_hangs_is_ended_and_played_again(prepared: Path) -> None:
    play(prepared, "--lean", {"review": ("a hang",)}, silence_secs=6, grace_secs=1)
