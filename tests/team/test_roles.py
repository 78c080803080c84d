"""What each role may do, and what becomes of one that does more."""

from pathlib import Path

import pytest

from agentd.app import open_project
from agentd.families.team import LAYOUT, roles
from agentd.model.tools import POWERS
from agentd.text import lossless_yaml
from tests.landing.repositories import git
from tests.team.examples import Done
from tests.team.sessions import NAME, ROLES, SPEC, Session, coded, say

EDITORS = {"coder", "integrator", "docs"}
FULL = {"approve_design": "approved", "choose_strategy": "per-batch"}


def _steps() -> list[tuple[str, str, tuple[str, ...]]]:
    project = open_project(Path(__file__).parents[2])
    tables = [project.workflow(name) for name in LAYOUT.workflows]
    return [
        (step.name, step.what, step.tools) for table in tables for step in table.steps.values() if step.kind == "agent"
    ]


@pytest.mark.parametrize(("step", "role", "tools"), _steps())
def test_only_coder_integrator_and_docs_edit_and_every_step_names_its_tools(
    step: str, role: str, tools: tuple[str, ...]
) -> None:
    assert tools, step
    assert {*tools} <= {*LAYOUT.tools}
    assert ("edit_code" in tools) is (role in EDITORS)
    assert role == "qa" or (
        {*tools} & {*POWERS} <= {"edit_code", "run_commands"} if role in EDITORS else not {*tools} & {*POWERS}
    )
    if "write_document" in tools:
        assert roles.built_in(role).writes


def test_no_two_roles_write_the_same_document() -> None:
    written = [(name, role) for role in ROLES for name in roles.built_in(role).writes]
    owners: dict[str, list[str]] = {}
    for name, role in written:
        owners.setdefault(name, []).append(role)
    assert {name: found for name, found in owners.items() if len(found) > 1} == {
        "tasks.yaml": ["spec_agent", "planner"]
    }


@pytest.mark.parametrize("step", ["review", "test", "audit"])
def test_what_a_role_that_only_looks_changed_in_the_workspace_is_put_back(session: Session, step: str) -> None:
    session.sandbox.set("sandbox", mode="off")
    session.script(
        code=coded(say=say(gates={"security_concerns": ["see"]})),
        **{step: {"files": {"tally/top.py": "STOLEN = 1\n", "tally/planted.py": "X = 1\n"}, "say": say()}},
    )
    ran = session.start("--lean")
    assert ran.code == 0, ran.out
    assert "changed files of the workspace; they have been put back" in ran.out
    listed = git(session.root, "ls-tree", "-r", "--name-only", f"agentd/{NAME}")
    assert "planted" not in listed
    assert "STOLEN" not in git(session.root, "show", f"agentd/{NAME}:tally/top.py")


@pytest.mark.parametrize(
    ("step", "document"),
    [("code", "spec.md"), ("review", "tasks.yaml"), ("test", "acceptance.json"), ("code", "acceptance.json")],
)
def test_a_role_that_rewrites_anothers_document_has_its_call_voided_and_the_document_restored(
    session: Session, step: str, document: str
) -> None:
    session.sandbox.set("sandbox", mode="off")
    path = session.folder / document
    entry = session.sandbox.entry(step)
    session.script(**{step: {**entry, "run": ["sed", "-i", "s/[a-z]* frequent/least/", str(path)]}})
    if document == "tasks.yaml":
        session.script(**{step: {**entry, "run": ["sed", "-i", "s/goal: .*/goal: nothing/", str(path)]}})
    ran = session.start("--lean")
    assert ran.code == 4
    assert f"{document} was changed while the agent worked and has been put back" in ran.out
    assert session.status["current_state"] == "BLOCKED"
    assert session.calls().count(f"T-001/{step}") == 3
    assert "least" not in path.read_text()
    assert "goal: nothing" not in path.read_text()
    assert session.landed() == []
    session.script(**{step: entry})
    assert session.decide("retry").code == 0


def test_a_document_of_another_role_is_refused_by_the_tool(session: Session) -> None:
    refused = {"write_document": {"file": "spec.md", "content": SPEC}, "expect_error": True}
    wrong = {"write_document": {"file": "../../../README.md", "content": "x"}, "expect_error": True}
    session.script(
        design={
            "tools": [refused, wrong, {"write_document": {"file": "architecture.md", "content": _architecture()}}],
            "say": say(),
        }
    )
    ran = session.start()
    assert session.status["current_state"] == "APPROVE_DESIGN", ran.out


def _architecture() -> str:
    return "# A\n\n## Overview\nOne.\n\n## Modules\nOne.\n\n## Risks\nNone.\n"


def test_a_role_worded_by_the_project_keeps_what_it_may_write_and_reply(tmp_path: Path) -> None:
    folder = tmp_path / "agentd" / "roles"
    folder.mkdir(parents=True)
    (folder / "reviewer.md").write_text(
        "---\nname: King\nstatuses: [OK]\nwrites: [spec.md, status.json]\ncontext: []\n---\nYou are strict.\n"
    )
    found, ours = roles.find(tmp_path, "reviewer"), roles.built_in("reviewer")
    assert found.text == "You are strict."
    assert (found.name, found.statuses, found.writes, found.context) == (
        ours.name,
        ours.statuses,
        ours.writes,
        ours.context,
    )


def test_the_words_of_the_project_are_what_a_role_is_sent(session: Session) -> None:
    from tests.plan.plans import spied

    spy = spied(session.sandbox)
    session.sandbox.set("roles", **dict.fromkeys(ROLES, "spy"))
    (session.root / "agentd/roles").mkdir()
    (session.root / "agentd/roles/reviewer.md").write_text("You are Reviewer. Look for tabs.\n")
    assert session.start("--lean").code == 0
    assert spy.of("review")[0]["prompt"].startswith("You are Reviewer. Look for tabs.\n\n## The contract\n")
    assert "Look for tabs" not in spy.of("code")[0]["prompt"]


@pytest.mark.parametrize("text", ["", "---\nname: x\n---\n"])
def test_a_role_file_that_says_nothing_is_an_error_with_its_path(session: Session, text: str) -> None:
    (session.root / "agentd/roles").mkdir()
    (session.root / "agentd/roles/coder.md").write_text(text)
    ran = session.start("--lean")
    assert ran.code not in (0, 4)
    assert "agentd/roles/coder.md: it says nothing about the role." in ran.err


def test_one_agent_that_is_installed_plays_all_roles(session: Session, tmp_path: Path) -> None:
    """A stand-in called claude, the only agent on the PATH, and no role configured."""
    from agentd.calling import roster

    (session.root / "agentd/config.toml").write_text("")
    programs = tmp_path / "bin"
    programs.mkdir()
    (programs / "claude").write_text("#!/bin/sh\nexit 0\n")
    (programs / "claude").chmod(0o755)
    with pytest.MonkeyPatch.context() as patched:
        patched.setenv("PATH", f"{programs}:/usr/bin:/bin")
        project = open_project(session.root)
        assert {roster.player(project, role).agent for role in ROLES} == {"claude"}


@pytest.mark.parametrize("last", ["review", "test"])
def test_a_task_without_its_workspace_goes_on_nowhere_and_not_in_the_persons_checkout(
    session: Session, last: str
) -> None:
    session.script(**{last: {"fail": "quota", "say": "limit reached"}})
    assert session.start("--lean").code == 4
    path = session.folder / "children/lean_implement/T-001/STATE.yaml"
    state = lossless_yaml.parse(path.read_text(), path.name).data
    del state["git"]
    path.write_text(lossless_yaml.dump(state))
    session.script(**{last: {"files": {"README.md": "gone\n"}, "say": say()}})
    ran = session.resume()
    assert ran.code != 0
    assert f"{last} has no workspace" in ran.err + ran.out
    assert session.calls().count(f"T-001/{last}") == 1
    assert "gone" not in (session.root / "README.md").read_text()
    assert session.landed() == []


def test_two_tasks_are_at_work_at_the_same_time_by_default(full: Done) -> None:
    assert LAYOUT.settings["team"]["max_parallel"] == 2
    assert {"T-001/code", "T-002/code"} <= {*full.steps()}  # each waited for the other to be at work
