"""How documents come about: their order, who sees what, the author's own review of each, and the model that is called."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.plan.plans import LARGE, SMALL, Spy, plan_of, proposal, spec, spied, tasks
from tests.sandbox import CHANGE, IDEA, NO, YES, Ran, Sandbox, make_sandbox
from tests.shared import Shared

PASS, AGAIN = {"say": "PASS: nothing to change"}, {"say": "NEEDS_REVISION: half of it is missing"}
REVIEWS = ("review_proposal", "review_spec", "review_tasks")
GEMINI = '{"mcpServers": {"mine": {"command": "my-server"}}}\n'
MAX = "⚠ Max review iterations reached"


@dataclass(frozen=True)
class Whole:
    """One plan of three specs and eighteen tasks, every document reviewed, each agent in a conversation of its own."""

    sandbox: Sandbox
    spy: Spy
    ran: Ran


@pytest.fixture(scope="session")
def whole(shared: Shared) -> Whole:
    return shared.once("whole", make_whole)


def make_whole(folder: Path) -> Whole:
    sandbox = make_sandbox(folder)
    spy = spied(sandbox)
    sandbox.set("workflow", self_review_iterations=3)
    script = {**plan_of("one", "two", "three", times=6), **dict.fromkeys(REVIEWS, PASS)}
    named = {step: {"session": f"{step}-{{{{item}}}}", **entry} for step, entry in script.items()}
    named["propose"] |= {
        "usage": {"tokens_in": 15234, "tokens_out": 892},
        "tools": [{"list_specs": {"change_id": CHANGE}}],
    }
    named["challenge"] |= {"usage": {"tokens_in": 1000, "tokens_out": 100}}
    sandbox.script(**named)
    (sandbox.root / ".gemini").mkdir()
    for name in ("mcp.json", "settings.json"):
        (sandbox.root / ".gemini" / name).write_text(GEMINI)
    ran = sandbox.plan()
    assert ran.code == 0, ran.out + ran.err
    return Whole(sandbox, spy, ran)


@pytest.mark.requirement(9, 44, 45, 46)
def test_documents_are_written_in_order_and_each_is_reviewed_before_the_next(whole: Whole) -> None:
    specs = [(step, item) for item in ("one", "two", "three") for step in ("write_spec", "review_spec")]
    assert [(job["step"], job["item"]) for job in whole.spy.jobs] == [
        ("propose", ""),
        ("review_proposal", ""),
        *specs,
        ("break_down", ""),
        ("review_tasks", ""),
        ("challenge", ""),
    ]


@pytest.mark.requirement(44, 281, 282)
def test_what_is_generated_and_reviewed_is_told(whole: Whole) -> None:
    lines = [line.rpartition("] ")[2] for line in whole.ran.out.splitlines()]
    wanted = [
        "✅ proposal.md generated",
        "✓ Review 1: PASS",
        "Spec 1/3: one",
        "✅ one.md generated",
        "✓ Review 1: PASS",
        "Spec 2/3: two",
        "✅ two.md generated",
        "✓ Review 1: PASS",
        "Spec 3/3: three",
        "✅ three.md generated",
        "✓ Review 1: PASS",
        "✅ tasks.md generated",
        "✓ Review 1: PASS",
    ]
    assert [line for line in lines if line in wanted] == wanted
    assert any(line.startswith("✅ Proposal format validation passed") for line in lines)
    assert MAX not in lines


def test_the_idea_is_in_the_prompt_of_whoever_needs_it(whole: Whole) -> None:
    for step in ("propose", "review_proposal", "challenge"):
        assert IDEA.replace("\n", "\n> ") in whole.spy.of(step)[0]["prompt"]


@pytest.mark.requirement(43)
def test_each_spec_is_written_with_the_ones_before_it_in_view(whole: Whole) -> None:
    seen = {job["item"]: paths(job["prompt"]) for job in whole.spy.of("write_spec")}
    assert seen == {
        "one": ["proposal.md"],
        "two": ["proposal.md", "specs/one.md"],
        "three": ["proposal.md", "specs/one.md", "specs/two.md"],
    }
    assert "(none: this is the first)" in whole.spy.of("write_spec", "one")[0]["prompt"]


@pytest.mark.requirement(45)
def test_each_spec_is_reviewed_against_the_others(whole: Whole) -> None:
    seen = {job["item"]: paths(job["prompt"]) for job in whole.spy.of("review_spec")}
    assert seen == {
        "one": ["proposal.md", "specs/one.md"],
        "two": ["proposal.md", "specs/two.md", "specs/one.md"],
        "three": ["proposal.md", "specs/three.md", "specs/one.md", "specs/two.md"],
    }


@pytest.mark.requirement(46, 285)
def test_tasks_are_made_from_the_proposal_and_all_specs(whole: Whole) -> None:
    everything = ["proposal.md", "specs/one.md", "specs/two.md", "specs/three.md"]
    assert paths(whole.spy.of("break_down")[0]["prompt"]) == everything
    assert paths(whole.spy.of("review_tasks")[0]["prompt"]) == ["tasks.md", *everything]


@pytest.mark.requirement(33)
def test_every_document_and_every_review_has_a_conversation_of_its_own(whole: Whole) -> None:
    """Although each agent says which conversation it was, none is gone on with."""
    assert whole.sandbox.state()["session_id"] == "break_down-"
    assert [job["session"] for job in whole.spy.jobs] == [""] * len(whole.spy.jobs)


@pytest.mark.requirement(135)
def test_each_call_is_kept_under_its_name(whole: Whole) -> None:
    specs = [f"spec-{kind}-{item}" for item in ("one", "two", "three") for kind in ("gen", "review")]
    assert [call["step"] for call in whole.sandbox.state()["llm_calls"]] == [
        "proposal-gen",
        "proposal-review",
        *specs,
        "tasks-gen",
        "tasks-review",
        "challenge",
    ]


@pytest.mark.requirement(136, 139)
def test_a_call_costs_what_the_entry_of_its_model_says(whole: Whole) -> None:
    calls = {call["step"]: call for call in whole.sandbox.state()["llm_calls"]}
    assert calls["proposal-gen"]["model"] == "flash"
    assert round(calls["proposal-gen"]["cost"], 4) == 0.0019
    assert calls["challenge"]["model"] == "pro"
    assert calls["challenge"]["cost"] == pytest.approx(1000 / 1e6 * 1.25 + 100 / 1e6 * 10.0)


@pytest.mark.requirement(31, 32, 289)
def test_the_model_fits_what_there_is_to_do(whole: Whole) -> None:
    """Medium before the tasks are known, critical with three specs and eighteen tasks."""
    chosen = {job["step"]: (job["model"], job["effort"]) for job in whole.spy.jobs}
    small, large = ((each["model"], each["reasoning"]) for each in (SMALL, LARGE))
    for step in ("propose", "review_proposal", "write_spec", "review_spec", "break_down"):
        assert chosen[step] == small == ("flash", "medium")
    assert chosen["review_tasks"] == chosen["challenge"] == large == ("pro", "extra high")


@pytest.mark.requirement(31, 32, 289)
@pytest.mark.parametrize(
    ("times", "chosen"), [(3, "low"), (4, "medium"), (9, "medium"), (10, "high"), (19, "high"), (20, "critical")]
)
def test_the_challenger_thinks_as_hard_as_the_change_is_complex(sandbox: Sandbox, times: int, chosen: str) -> None:
    spy = spied(sandbox)
    levels = {"low": "low", "medium": "medium", "high": "high", "critical": "extra high"}
    models = [{"id": each, "model": each, "complexity": each, "reasoning": levels[each]} for each in levels]
    sandbox.set("spy", models=models)
    sandbox.script(**plan_of("one", times=times))
    assert sandbox.plan().code == 0
    (job,) = spy.of("challenge")
    assert (job["model"], job["effort"]) == (chosen, levels[chosen])
    assert spy.of("propose")[0]["model"] == "medium"


@pytest.mark.requirement(104)
def test_each_call_brings_its_own_server_and_leaves_the_agents_settings_alone(whole: Whole) -> None:
    for job in whole.spy.jobs:
        assert job["tools"], job["step"]
        server = job["server"]
        assert server[-7:-4] == ["mcp", "--run", str(home(whole.sandbox, job))], job["step"]
        assert server[-4:-1] == ["--call", job["call"], "--socket"]
    transcript = (whole.sandbox.folder() / "calls" / "propose-1.1.jsonl").read_text()
    assert '"tool": "list_specs", "status": "success"' in transcript
    for name in ("mcp.json", "settings.json"):
        assert (whole.sandbox.root / ".gemini" / name).read_text() == GEMINI


@pytest.mark.requirement(126)
def test_every_agent_runs_at_the_root_of_the_project(whole: Whole) -> None:
    assert {job["cwd"] for job in whole.spy.jobs} == {str(whole.sandbox.root)}


@pytest.mark.requirement(35, 36, 45, 46, 280, 281)
@pytest.mark.parametrize(
    ("said", "visits", "lines"),
    [
        ([PASS, AGAIN], 1, ["✓ Review 1: PASS"]),
        ([AGAIN, PASS, AGAIN], 2, ["⚠ Review 1: NEEDS_REVISION", "✓ Review 2: PASS"]),
        ([AGAIN, AGAIN, PASS], 3, ["⚠ Review 1: NEEDS_REVISION", "⚠ Review 2: NEEDS_REVISION", "✓ Review 3: PASS"]),
        ([AGAIN], 3, [*(f"⚠ Review {number}: NEEDS_REVISION" for number in (1, 2, 3)), MAX]),
        ([{"say": "All is well."}], 3, [*(f"⚠ Review {number}: NEEDS_REVISION" for number in (1, 2, 3)), MAX]),
    ],
    ids=["pass", "second", "third", "never", "no marker"],
)
def test_a_document_is_reviewed_until_it_passes_and_at_most_three_times(
    sandbox: Sandbox, said: list[dict[str, Any]], visits: int, lines: list[str]
) -> None:
    sandbox.set("workflow", self_review_iterations=3)
    sandbox.script(**plan_of("one", "two"), **dict.fromkeys(REVIEWS, said))
    ran = sandbox.plan()
    assert ran.code == 0, ran.out + ran.err
    for folder, step in (
        (sandbox.folder() / "calls", "review_proposal"),
        (sandbox.folder() / "children" / "specify" / "one" / "calls", "review_spec"),
        (sandbox.folder() / "children" / "specify" / "two" / "calls", "review_spec"),
        (sandbox.folder() / "calls", "review_tasks"),
    ):
        made = sorted(path.stem for path in folder.glob(f"{step}-*.jsonl"))
        assert made == [f"{step}-{number}.1" for number in range(1, visits + 1)]
    told = [line.rpartition("] ")[2] for line in ran.out.splitlines()]
    assert [line for line in told if "Review " in line or line == MAX] == lines * 4
    assert sandbox.state()["phase"] == "challenged"


@pytest.mark.requirement(35)
def test_the_number_of_reviews_is_a_setting(sandbox: Sandbox) -> None:
    sandbox.set("workflow", self_review_iterations=1)
    sandbox.script(**plan_of("one"), **dict.fromkeys(REVIEWS, AGAIN))
    ran = sandbox.plan()
    assert ran.code == 0
    assert [call for call in sandbox.calls() if "review" in call] == [f"{step}-1.1" for step in REVIEWS]
    assert ran.out.count(MAX) == 3


@pytest.mark.requirement(37)
@pytest.mark.parametrize("fail", ["error", "exit", "crash", "empty", "garbage"])
def test_a_reviewer_that_fails_holds_nothing_up(sandbox: Sandbox, fail: str) -> None:
    sandbox.set("workflow", self_review_iterations=3)
    sandbox.script(**plan_of("one"), **{step: {"fail": fail} for step in REVIEWS})
    ran = sandbox.plan()
    assert ran.code == 0, ran.out + ran.err
    assert [call for call in sandbox.calls() if "review" in call] == [f"{step}-1.1" for step in REVIEWS]
    assert ran.out.count("⚠ Review 1 failed: scripted") == 3
    assert sandbox.state()["phase"] == "challenged"


@pytest.mark.requirement(45)
def test_what_a_review_repairs_is_what_is_challenged(sandbox: Sandbox) -> None:
    sandbox.set("workflow", self_review_iterations=3)
    better = spec("one").replace("The program SHALL do one.", "The program SHALL do one well.")
    repaired = {**AGAIN, "documents": {"specs/one.md": better}}
    sandbox.script(**plan_of("one"), review_proposal=PASS, review_spec=[repaired, PASS], review_tasks=PASS)
    assert sandbox.plan().code == 0
    assert "SHALL do one well." in (sandbox.folder() / "AGENTS.md").read_text()


@pytest.mark.parametrize(
    "affected",
    [
        pytest.param("- Affected specs: `beta`, `alpha`", marks=pytest.mark.requirement(38)),
        pytest.param('- Affected specs: ["beta", "alpha"]', marks=pytest.mark.requirement(39)),
        pytest.param("- Affected specs: ['beta', 'alpha']", marks=pytest.mark.requirement(39)),
        pytest.param("- Affected specs: beta, alpha", marks=pytest.mark.requirement(40)),
        pytest.param("* AFFECTED SPECS:   beta ,,  alpha  , none, n/a", marks=pytest.mark.requirement(41)),
        pytest.param("- **affected specs**: `beta`, , `alpha`, N/A", marks=pytest.mark.requirement(41)),
    ],
)
@pytest.mark.requirement(44)
def test_the_specs_of_the_proposal_are_written_in_its_order(sandbox: Sandbox, affected: str) -> None:
    sandbox.script(**plan_of("beta", "alpha", affected=affected))
    ran = sandbox.plan()
    assert ran.code == 0, ran.out + ran.err
    told = [line.rpartition("] ")[2] for line in ran.out.splitlines()]
    assert [line for line in told if line.startswith("Spec ")] == ["Spec 1/2: beta", "Spec 2/2: alpha"]
    assert sorted(path.name for path in (sandbox.folder() / "specs").iterdir()) == ["alpha.md", "beta.md"]


@pytest.mark.requirement(41, 42)
@pytest.mark.parametrize("affected", ["- Affected specs: none", "* affected specs: N/A", "- Affected specs: []"])
def test_a_change_without_specs_goes_straight_to_its_tasks(sandbox: Sandbox, affected: str) -> None:
    sandbox.script(**plan_of(affected=affected))
    ran = sandbox.plan()
    assert ran.code == 0, ran.out + ran.err
    lines = ran.out.splitlines()
    assert lines.index("No specs required for this change") < lines.index("✅ tasks.md generated")
    assert sandbox.calls() == ["break_down-1.1", "challenge-1.1", "propose-1.1"]
    assert not (sandbox.folder() / "specs").exists()
    assert "none" in (sandbox.folder() / "tasks.md").read_text()
    assert sandbox.state()["phase"] == "challenged"


def library(sandbox: Sandbox, *names: str) -> None:
    (sandbox.root / "agentd" / "specs").mkdir()
    for name in names:
        (sandbox.root / "agentd" / "specs" / f"{name}.md").write_text(spec(name), encoding="utf-8")


def test_a_spec_that_the_change_removes_is_not_written(sandbox: Sandbox) -> None:
    library(sandbox, "old")
    spy = spied(sandbox)
    script = plan_of("one", "two", affected="- Affected specs: `one`, `old` (removed), `two`")
    sandbox.script(**{**script, "challenge": [{"fail": "error"}, YES]})
    assert sandbox.plan().code == 1
    assert [job["item"] for job in spy.of("write_spec")] == ["one", "two"]
    assert paths(spy.of("write_spec", "two")[0]["prompt"]) == ["proposal.md", "specs/one.md"]
    before = len(spy.jobs)
    (sandbox.folder() / "tasks.md").unlink()
    ran = sandbox.run("plan", CHANGE)
    assert ran.code == 0, ran.out + ran.err
    assert [job["step"] for job in spy.jobs[before:]] == ["break_down", "challenge"]
    assert sorted(path.name for path in (sandbox.folder() / "specs").iterdir()) == ["one.md", "two.md"]


def test_a_change_that_only_removes_specs_goes_straight_to_its_tasks(sandbox: Sandbox) -> None:
    library(sandbox, "old")
    sandbox.script(**plan_of(affected="- Affected specs: `old` (removed)"))
    sandbox.script(break_down={"documents": {"tasks.md": tasks("old:R1")}})
    ran = sandbox.plan()
    assert ran.code == 0, ran.out + ran.err
    assert "No specs required for this change" in ran.out.splitlines()
    assert sandbox.calls() == ["break_down-1.1", "challenge-1.1", "propose-1.1"]
    assert sandbox.run("validate", CHANGE, "--strict").code == 0


@pytest.mark.requirement(43)
@pytest.mark.parametrize("gone", ["proposal.md", "specs/two.md", "tasks.md"])
def test_planning_goes_back_to_a_document_that_is_gone(sandbox: Sandbox, gone: str) -> None:
    """Only that one is written again; a spec is again written with the ones before it, not with those after it."""
    spy = spied(sandbox)
    script = plan_of("one", "two", "three")
    sandbox.script(**{**script, "challenge": [{"fail": "error"}, YES]})
    assert sandbox.plan().code == 1
    (sandbox.folder() / gone).unlink()
    before = len(spy.jobs)
    ran = sandbox.run("plan", CHANGE)
    assert ran.code == 0, ran.out + ran.err
    step = {"proposal.md": "propose", "specs/two.md": "write_spec", "tasks.md": "break_down"}[gone]
    assert [(job["step"], job["item"]) for job in spy.jobs[before:]] == [
        (step, "two" if step == "write_spec" else ""),
        ("challenge", ""),
    ]
    if step == "write_spec":
        assert paths(spy.of("write_spec", "two")[-1]["prompt"]) == ["proposal.md", "specs/one.md"]


def test_a_question_about_a_document_that_is_gone_gives_way_to_writing_it(sandbox: Sandbox) -> None:
    sandbox.set("workflow", human_in_loop=True)
    sandbox.script(**plan_of("one") | {"challenge": [NO, YES]})
    assert sandbox.plan().code == 4
    (sandbox.folder() / "specs" / "one.md").unlink()
    ran = sandbox.run("plan", CHANGE)
    assert ran.code == 0, ran.out + ran.err
    assert [each["status"] for each in sandbox.state()["user_decisions"]] == ["cancelled"]
    assert sandbox.state()["phase"] == "challenged"


@pytest.mark.requirement(44)
def test_a_spec_that_a_revision_adds_is_written_before_the_next_challenge(sandbox: Sandbox) -> None:
    sandbox.script(**plan_of("one") | {"challenge": [NO, YES]})
    wider = {"proposal.md": [["`one`", "`one`, `two`"]]}
    sandbox.script(revise={"replace": {f"run:{name}": edits for name, edits in wider.items()}})
    ran = sandbox.plan()
    assert ran.code == 0, ran.out + ran.err
    assert (sandbox.folder() / "specs" / "two.md").is_file()
    assert "specs/two.md" in sandbox.state()["approval"]["documents"]


@pytest.mark.requirement(282)
def test_a_wrong_form_is_told_and_not_challenged(sandbox: Sandbox) -> None:
    sandbox.set("workflow", human_in_loop=True)
    sandbox.script(**plan_of("one"))
    sandbox.script(write_spec={"documents": {"specs/one.md": spec("one").replace("**THEN**", "**AND**")}})
    ran = sandbox.plan()
    assert ran.code == 1
    assert "⚠️ Format validation failed" in ran.out
    assert "specs/one.md:" in ran.out
    assert "challenge-1.1" not in sandbox.calls()


def one_shot(**more: Any) -> dict[str, Any]:
    """Agents of which the first writes everything at once."""
    written = {"proposal.md": proposal("- Affected specs: `one`, `two`"), "tasks.md": tasks("one:R1", "two:R1")}
    written |= {f"specs/{name}.md": spec(name) for name in ("one", "two")}
    return {"generate": {"documents": written, "session": "s-1"}, "challenge": YES, **more}


@pytest.mark.requirement(279)
@pytest.mark.parametrize("way", ["flag", "setting"])
def test_in_one_shot_one_call_writes_everything_and_only_the_proposal_is_reviewed(sandbox: Sandbox, way: str) -> None:
    spy = spied(sandbox)
    sandbox.set("workflow", self_review_iterations=3)
    if way == "setting":
        sandbox.set("workflow", generation="one-shot")
    sandbox.script(**one_shot(review_proposal=AGAIN))
    ran = sandbox.plan(*(("--one-shot",) if way == "flag" else ()))
    assert ran.code == 0, ran.out + ran.err
    assert [(job["step"], job["session"]) for job in spy.jobs] == [
        ("generate", ""),
        *[("review_proposal", "s-1")] * 3,
        ("challenge", ""),
    ]
    for name in ("proposal.md", "one.md", "two.md", "tasks.md"):
        assert f"✅ {name} generated\n" in ran.out
    assert ran.out.count(MAX) == 1


@pytest.mark.requirement(279)
def test_in_one_shot_a_pass_ends_the_reviews_and_the_conversation_goes_on_with_the_reproposal(sandbox: Sandbox) -> None:
    spy = spied(sandbox)
    sandbox.set("workflow", self_review_iterations=3)
    revised = {"documents": {"specs/one.md": spec("one").replace("it works", "it works well")}}
    sandbox.script(**one_shot(review_proposal=[AGAIN, PASS], challenge=[NO, YES], revise=revised))
    ran = sandbox.plan("--one-shot")
    assert ran.code == 0, ran.out + ran.err
    made = [(job["step"], job["session"]) for job in spy.jobs if job["role"] == "planner"]
    assert made == [("generate", ""), ("review_proposal", "s-1"), ("review_proposal", "s-1"), ("revise", "s-1")]


def paths(prompt: str) -> list[str]:
    """The documents of the change that a prompt names by their full paths, in its order."""
    words = prompt.replace("`", " ").split()
    named = [word.rstrip(".,;:").partition(f"/changes/{CHANGE}/")[2] for word in words]
    return list(dict.fromkeys(name for name in named if name and name != "GEMINI.md"))


def home(sandbox: Sandbox, job: dict[str, Any]) -> Path:
    """The folder of the run that a job is a part of."""
    return sandbox.folder() / "children" / "specify" / job["item"] if job["item"] else sandbox.folder()


@pytest.mark.parametrize("review", ["review_proposal", "review_tasks"])
def test_a_review_that_was_only_noted_when_agentd_was_killed_is_still_made(tmp_path: Path, review: str) -> None:
    """The diary is one line ahead of the state file at that moment."""
    whole, killed = make_sandbox(tmp_path / "whole"), make_sandbox(tmp_path / "killed")
    for sandbox in (whole, killed):
        sandbox.set("workflow", self_review_iterations=3)
        sandbox.script(**plan_of(), review_proposal=PASS, review_tasks=PASS)
    assert whole.run("plan", CHANGE, IDEA).code == 0
    at = next(n for n, one in enumerate(whole.events(), 1) if (one["event"], one.get("step")) == ("begin", review))
    assert killed.run("plan", CHANGE, IDEA, env={"AGENTD_CRASH": f"journal:{whole.save_of(at)}:after"}).code == -9
    assert killed.run("plan", CHANGE, IDEA).code == 0
    assert [one["step"] for one in killed.events() if one["event"] == "end"] == [
        one["step"] for one in whole.events() if one["event"] == "end"
    ]
