"""What agents know before they begin: the files made for them, the words they are given, where both are found."""

import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.plan.plans import QUESTIONS, SHORT, Spy, answered, plan_of, read_lines, spec, spied, told
from tests.sandbox import CHANGE, NO, YES, Ran, Sandbox, make_sandbox
from tests.shared import Shared

HOME = f"agentd/changes/{CHANGE}"
# Keeps the context file as the agent finds it from where it stands, by step and visit.
COPY = (
    "import os, shutil, sys; e = os.environ; "
    "shutil.copy(e.get('GEMINI_CONTEXT_FILE') or e['AGENTS_CONTEXT_FILE'], "
    "f\"{sys.argv[1]}/{e['AGENTD_STEP']}-{e['AGENTD_VISIT']}.md\")"
)


@dataclass(frozen=True)
class Seen:
    """A plan of two specs, clarified, challenged twice; what each agent was given, and the context file it found."""

    sandbox: Sandbox
    spy: Spy
    ran: Ran

    def page(self, name: str) -> str:
        return (self.sandbox.root.parent / f"{name}.md").read_text(encoding="utf-8")

    def prompt(self, step: str, item: str = "") -> str:
        return str(self.spy.of(step, item)[0]["prompt"])


@pytest.fixture(scope="session")
def seen(shared: Shared) -> Seen:
    return shared.once("seen", make_seen)


def make_seen(folder: Path) -> Seen:
    sandbox = make_sandbox(folder)
    (sandbox.root / "CLAUDE.md").write_text("# Tally\n\nIt counts words and nothing else.\n")
    sandbox.set("workflow", human_in_loop=True)
    spy = spied(sandbox)
    run = [sys.executable, "-c", COPY, str(sandbox.root.parent)]
    script = plan_of("one", "two") | {"challenge": [{**NO, "run": run}, {**YES, "run": run}]}
    script["propose"] |= {"run": run}
    revised = {"documents": {"specs/one.md": spec("one").replace("it works", "it works well")}}
    sandbox.script(**script, revise=revised, draft_questions={"documents": {"questions.yaml": QUESTIONS}, "run": run})
    answers = answered(sandbox, clarification=["Ties one", "Case two", "As text"], git_setup="in_place", steer="fix")
    ran = sandbox.run("plan", CHANGE, SHORT, *answers)
    assert ran.code == 0, ran.out + ran.err
    return Seen(sandbox, spy, ran)


@pytest.mark.requirement(123)
def test_the_planner_finds_the_project_and_its_tools_before_the_proposal_is_there(seen: Seen) -> None:
    page = seen.page("propose-1")
    assert page.startswith(f"# Context for Gemini: {CHANGE}\n")
    headings = [line.removeprefix("## ") for line in page.splitlines() if line.startswith("## ")]
    wanted = ["Project Overview", "Clarifications", "Project Structure", "MCP Tools Available", "Instructions"]
    assert [heading for heading in headings if heading in wanted] == wanted
    parts = {heading: page.partition(f"\n## {heading}\n")[2] for heading in wanted}
    assert "It counts words and nothing else." in parts["Project Overview"].partition("\n## Clarifications\n")[0]
    assert "- **Answer**: As text" in parts["Clarifications"]
    assert "\n  tally/\n" in parts["Project Structure"]
    tools = parts["MCP Tools Available"].partition("\n## ")[0]
    listed = [line[2:].partition(":")[0] for line in tools.splitlines() if line.startswith("- ")]
    assert listed == ["create_proposal", "create_spec", "create_tasks", "read_file", "edit_file"]
    numbered = [line[:2] for line in parts["Instructions"].splitlines() if line[:1].isdigit()]
    assert numbered == ["1.", "2.", "3."]
    assert "proposal.md\n" not in parts["Project Structure"].partition("\n## ")[0]


@pytest.mark.requirement(124)
def test_the_challenger_finds_the_project_and_the_whole_plan(seen: Seen) -> None:
    page = seen.page("challenge-1")
    assert "It counts words and nothing else." in page
    assert [line for line in page.splitlines() if line.startswith(f"### {HOME}/")] == [
        f"### {HOME}/{name}" for name in ("proposal.md", "specs/one.md", "specs/two.md", "tasks.md")
    ]
    for text in ("People sort them by hand today.", "SHALL do one.", "SHALL do two.", "two:R1"):
        assert text in page


@pytest.mark.requirement(127)
def test_the_challenger_sees_what_was_edited_since_the_challenge_before(seen: Seen) -> None:
    assert "Scenario: it works well" not in seen.page("challenge-1")
    assert "Scenario: it works well" in seen.page("challenge-2")


@pytest.mark.requirement(127)
def test_a_persons_edit_is_seen_by_the_next_challenge(sandbox: Sandbox) -> None:
    sandbox.set("workflow", human_in_loop=True)
    sandbox.script(**plan_of("one") | {"challenge": [NO, YES]})
    assert sandbox.plan().code == 4
    path = sandbox.folder() / "specs" / "one.md"
    path.write_text(path.read_text().replace("SHALL do one.", "SHALL do one at once."))
    ran = sandbox.run("challenge", CHANGE)
    assert ran.code == 0, ran.out + ran.err
    assert "SHALL do one at once." in (sandbox.folder() / "AGENTS.md").read_text()


@pytest.mark.requirement(125, 126)
def test_each_agent_is_told_its_own_file_and_runs_at_the_root(sandbox: Sandbox) -> None:
    script, path = told(sandbox, plan_of("one") | {"review_proposal": {"say": "PASS"}, "review_spec": {"say": "PASS"}})
    sandbox.set("workflow", self_review_iterations=1)
    sandbox.script(**script)
    inner = sandbox.root / "tally"
    ran = sandbox.run("plan", CHANGE, "Do:\n- a\n- b\n- c", cwd=inner)
    assert ran.code == 0, ran.out + ran.err
    made = {each["AGENTD_STEP"]: each for each in read_lines(path)}
    assert list(made) == ["propose", "review_proposal", "write_spec", "review_spec", "break_down", "challenge"]
    for step, each in made.items():
        mine, other = ("AGENTS", "GEMINI") if step == "challenge" else ("GEMINI", "AGENTS")
        assert each[f"{mine}_CONTEXT_FILE"] == f"{HOME}/{mine}.md", step
        assert f"{other}_CONTEXT_FILE" not in each, step
        assert Path(each["cwd"]) == sandbox.root, step
        assert (sandbox.root / each[f"{mine}_CONTEXT_FILE"]).is_file()


@pytest.mark.requirement(34, 285)
def test_the_proposal_is_asked_for_with_everything_it_needs(seen: Seen) -> None:
    prompt = seen.prompt("propose")
    for words in (
        f"change_id: {CHANGE}",
        f"> {SHORT}",
        "create_proposal",
        "Summary",
        "Why",
        "What changes",
        "Impact",
        "`patch`",
        "`minor`",
        "`major`",
        "affected specs",
        "affected files",
        f"GEMINI.md: {HOME}/GEMINI.md",
        f"clarifications.md: {seen.sandbox.root}/{HOME}/clarifications.md",
    ):
        assert words in prompt, words


@pytest.mark.requirement(285)
def test_specs_and_tasks_are_asked_for_by_their_files_and_their_tool(seen: Seen) -> None:
    folder = seen.sandbox.folder()
    second = seen.prompt("write_spec", "two")
    for words in ("create_spec", f"{folder}/proposal.md", f"{folder}/clarifications.md", f"{folder}/specs/one.md"):
        assert words in second, words
    last = seen.prompt("break_down")
    for words in ("create_tasks", f"{folder}/proposal.md", f"{folder}/specs/one.md", f"{folder}/specs/two.md"):
        assert words in last, words


@pytest.mark.requirement(285)
def test_a_tool_that_a_prompt_names_is_one_its_agent_has(seen: Seen) -> None:
    tools = {"propose": "create_proposal", "write_spec": "create_spec", "break_down": "create_tasks"}
    tools |= {"draft_questions": "draft_questions", "challenge": "append_review", "revise": "edit_file"}
    for step, tool in tools.items():
        job = seen.spy.of(step)[0]
        assert tool in job["tools"], step
        assert tool in job["prompt"], step


def test_a_template_of_the_projects_own_is_used_instead(sandbox: Sandbox) -> None:
    spy = spied(sandbox)
    folder = sandbox.root / "agentd" / "prompts"
    folder.mkdir()
    (folder / "propose.md").write_text("Propose {{run}} in rhyme, from {{context}}.")
    sandbox.script(**plan_of("one"))
    assert sandbox.plan().code == 0
    assert spy.of("propose")[0]["prompt"] == f"Propose {CHANGE} in rhyme, from {HOME}/GEMINI.md."
    assert "create_tasks" in spy.of("break_down")[0]["prompt"]
