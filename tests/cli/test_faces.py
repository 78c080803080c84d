"""The command line as a tool: exit codes, one JSON document, fixes to paste, any folder, a light start."""

import ast
import json
import os
import pwd
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import agentd
from agentd.cli.command_list import COMMANDS, ELSEWHERE
from agentd.demo import CHANGE
from tests.sandbox import IDEA, NEVER, NO, YES, Ran, Sandbox, reviewed


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help_and_takes_json(sandbox: Sandbox, name: str) -> None:
    shown = sandbox.run(name, "--help")
    assert shown.code == 0
    text = shown.out if name != "workflow" else sandbox.run(name, "list", "--help").out
    assert "--json" in text


@pytest.mark.parametrize(
    "words",
    [
        ("fly",),
        ("plan",),
        ("plan", "a", "b", "c"),
        ("status", "--nope"),
        ("workflow", "show"),
        ("completions", "tcsh"),
        ("resume", "x", "--steps", "0"),
    ],
)
def test_words_that_are_off_exit_2_with_a_fix(sandbox: Sandbox, words: tuple[str, ...]) -> None:
    told = sandbox.run(*words)
    assert told.code == 2
    assert told.err.startswith("Error: ")
    assert "Fix:   agentd" in told.err
    data = sandbox.run(*words, "--json").data
    assert (data["ok"], data["exit"]) == (False, 2)


@pytest.mark.parametrize(
    "words",
    [
        ("status",),
        ("list", "--all"),
        ("log", CHANGE),
        ("status", CHANGE),
        ("workflow", "list"),
        ("workflow", "show", "change"),
        ("workflow", "check", "nowhere.yaml"),
        ("plan", CHANGE),
        ("impl", "nobody"),
        ("completions", "bash"),
        ("stop", CHANGE),
        ("answer", CHANGE, "UD-1", "fix"),
        ("resume", CHANGE),
    ],
)
def test_json_is_exactly_one_document_whether_it_went_well_or_not(planned: Sandbox, words: tuple[str, ...]) -> None:
    seen = planned.run(*words, "--json")
    assert json.loads(seen.out)["exit"] == seen.code
    assert json.loads(seen.out)["ok"] == (seen.code == 0)


def test_commands_work_from_any_folder_below_the_root(planned: Sandbox) -> None:
    assert planned.run("status", CHANGE, cwd=planned.root / "tally").code == 0
    assert planned.run("impl", CHANGE, cwd=planned.root / "tests").code == 0
    assert planned.state()["phase"] == "complete"


def test_a_package_called_agentd_is_not_taken_for_a_project(tmp_path: Path) -> None:
    package = tmp_path / "src" / "agentd"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text("")
    (tmp_path / ".git").mkdir()
    assert f"No runs in {tmp_path}." in Sandbox(tmp_path).run("status", cwd=package).out


def test_status_without_any_run_says_how_to_begin(sandbox: Sandbox) -> None:
    shown = sandbox.run("status")
    assert shown.code == 0
    assert shown.out.splitlines()[-1].startswith("Next: agentd plan ")


def test_one_unreadable_run_hides_none_of_the_others(planned: Sandbox) -> None:
    other = planned.folder("other")
    other = planned.root / "agentd" / "changes" / "other"
    other.mkdir()
    (other / "STATE.yaml").write_text("{")
    shown = planned.run("status")
    assert shown.code == 1
    assert f"change/{CHANGE}" in shown.out
    assert "change/other" in shown.out
    assert "unreadable" in shown.out


def test_a_closed_gate_names_what_is_missing_and_opens_when_it_is_there(planned: Sandbox) -> None:
    tasks = planned.folder() / "tasks.md"
    text = tasks.read_text()
    tasks.unlink()
    closed = planned.run("impl", CHANGE, "--json")
    assert (closed.code, closed.data["error"]) == (1, "GateClosed")
    assert "tasks.md: it is missing" in closed.data["message"]
    tasks.write_text("")
    assert "tasks.md: it is empty" in planned.run("impl", CHANGE).err
    tasks.write_text(text)
    assert planned.run("impl", CHANGE).code == 0


def plan_in_vain(sandbox: Sandbox, entry: dict[str, object]) -> Ran:
    """A plan whose challenger does this: it comes to no verdict, and the next challenger is asked as if for the first time."""
    sandbox.script(challenge=entry)
    failed = sandbox.plan()
    assert failed.code == 1, failed.out
    assert sandbox.state()["phase"] == "proposed"
    assert sandbox.run("status", CHANGE, "--json").data["doing"] == "failed"
    sandbox.script(challenge=YES)
    assert sandbox.run("plan", CHANGE).code == 0
    assert sandbox.state()["phase"] == "challenged"
    assert [call for call in sandbox.calls() if call.startswith("propose")] == ["propose-1.1"]
    return failed


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"fail": "error"}, "scripted"),
        ({"fail": "exit", "code": 7}, "exit 7"),
        ({"fail": "garbage"}, "scripted"),
        ({"fail": "no-result"}, "without a result"),
        ({"fail": "empty"}, "without a result"),
        ({"fail": "crash"}, "exit -9"),
        ({**YES, "fail": "crash"}, "exit -9"),
    ],
)
def test_an_agent_that_did_not_do_its_work_approves_nothing(
    sandbox: Sandbox, entry: dict[str, object], said: str
) -> None:
    assert said in plan_in_vain(sandbox, entry).out


X = {"documents": {"CHALLENGE.md": "x"}}


@pytest.mark.parametrize(
    ("entry", "said"),
    [
        ({"outcome": "approved"}, "there is no verdict"),
        ({**X, "say": "I would say it is approved"}, "there is no verdict"),
        ({**X, "say": "not approved", "outcome": "not approved"}, "there is no verdict"),
        ({**X, "say": '{"outcome": "approved"}\n{"outcome": "rejected"}'}, "there is no verdict"),
        ({**X, "say": '```\n{"outcome": "approved"}\n```'}, "there is no verdict"),
        ({"documents": {"CHALLENGE.md": ""}, "outcome": "approved"}, "there is no verdict"),
        ({**YES, "outcome": "not approved"}, "its review says APPROVED, its reply the reply states 'not approved'"),
        ({**YES, "outcome": "rejected"}, "its review says APPROVED, its reply REJECTED"),
        (
            {**YES, "outcome": "", "say": '{"outcome": "approved"}\n{"outcome": "rejected"}'},
            "different outcomes: approved, rejected",
        ),
        (reviewed("approved", "Ties"), "the verdict APPROVED goes with no High issue"),
    ],
)
def test_a_challenger_whose_verdict_is_not_clear_approves_nothing(
    sandbox: Sandbox, entry: dict[str, object], said: str
) -> None:
    told = plan_in_vain(sandbox, entry).err
    assert told.startswith("Error: Could not parse challenge verdict\nCause: scripted did not follow the output format")
    assert said in told.splitlines()[1]
    assert "Solution:\n" in told
    assert told.splitlines()[-1] == f"Fix:   agentd challenge {CHANGE}"


def test_an_old_review_does_not_count_for_a_new_call(sandbox: Sandbox) -> None:
    sandbox.script(challenge=[YES, {"outcome": "approved"}])
    assert sandbox.plan().code == 0
    assert "APPROVED" in (sandbox.folder() / "CHALLENGE.md").read_text()
    sandbox.edit_state("phase: challenged", "phase: proposed")
    failed = sandbox.run("plan", CHANGE)
    assert failed.code == 1
    assert "Could not parse challenge verdict" in failed.err
    assert sandbox.state()["phase"] == "proposed"


def test_red_tests_are_never_approved_whatever_the_agents_say(planned: Sandbox) -> None:
    planned.script(resolve={"say": "all tests pass now"})
    stuck = planned.run("impl", CHANGE, "--json")
    assert stuck.code == 4
    assert planned.state()["phase"] == "implementing"
    assert "review-1.1" in planned.calls()
    assert "approved" not in planned.state()["implementation"]
    assert json.loads((planned.folder() / "evidence.json").read_text())["status"] == "red"


def test_tests_that_cannot_run_are_a_persons_decision_and_a_recorded_waiver(planned: Sandbox) -> None:
    planned.set("evidence", test="no-such-program-anywhere")
    asked = planned.run("impl", CHANGE, "--json")
    assert asked.code == 4
    assert "tests could not run" in asked.data["decisions"][0]["question"]
    assert planned.run("answer", CHANGE, "UD-1", "proceed").code != 0, "an override needs a reason"
    assert planned.run("answer", CHANGE, "UD-1", "proceed", "--note", "tested by hand").code == 0
    assert planned.run("impl", CHANGE).code == 0
    (waiver,) = planned.state()["implementation"]["waivers"]
    assert (waiver["id"], waiver["why"], waiver["decision"]) == (
        "test:no-such-program-anywhere",
        "tested by hand",
        "UD-1",
    )
    assert planned.state()["phase"] == "complete"


def test_a_missing_agent_is_named_with_a_fix(sandbox: Sandbox) -> None:
    (sandbox.root / "agentd" / "config.toml").write_text('[roles]\nplanner = "nobody"\n')
    told = sandbox.plan()
    assert told.code == 1
    assert "nobody" in told.err
    assert "Fix:" in told.err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[workflow]\nplanning_iterations = -1\n", "workflow.planning_iterations = -1 is not allowed"),
        ("[workflow]\nplanning_iterations = 'two'\n", "must be a whole number"),
        ("roles = 3\n", "must be a section"),
        ("[roles\n", "config.toml"),
    ],
)
def test_a_bad_value_in_the_configuration_names_itself(sandbox: Sandbox, text: str, said: str) -> None:
    (sandbox.root / "agentd" / "config.toml").write_text(text)
    told = sandbox.run("status")
    assert told.code == 1
    assert said in told.err


def test_an_unknown_key_is_a_warning_with_the_nearest_one(sandbox: Sandbox) -> None:
    sandbox.set("workflow", planing_iterations=1)
    sandbox.set("rolls")
    told = sandbox.run("status")
    assert told.code == 0
    assert "did you mean planning_iterations?" in told.err
    assert "did you mean roles?" in told.err


def test_a_closed_pipe_is_no_error(planned: Sandbox) -> None:
    done = subprocess.run(
        f"{sys.executable} -m agentd log {CHANGE} | head -1",
        shell=True,
        cwd=planned.root,
        env=planned.env,
        capture_output=True,
        text=True,
    )
    assert done.stderr == ""


@pytest.mark.parametrize("words", [["status"], ["--help"], ["list"]])
def test_light_commands_import_nothing_heavy(planned: Sandbox, words: list[str]) -> None:
    code = f"import sys\nfrom agentd.cli.group import cli\nfrom agentd.cli.ending import end\nend(cli, {words!r})\nprint(*sys.modules, file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=planned.root, env=planned.env, capture_output=True, text=True, check=True
    )
    heavy = {
        "questionary",
        "prompt_toolkit",
        "psutil",
        "rich",
        "mcp",
        "asyncio",
        "concurrent.futures",
        "importlib.metadata",
        "agentd.agents.table",
        "agentd.cli.live",
        "agentd.model.evidence",
        "agentd.runs.borrowed_files",
        "agentd.usage.calls",
    }
    loaded = set(done.stderr.split())
    assert not heavy & loaded
    code_of_families = [name for name in loaded if re.match(r"agentd\.families\.\w+\.", name)]
    assert words == ["list"] or not {"hashlib", *code_of_families} & loaded  # which tells when changes were archived


def test_planning_imports_nothing_that_runs_or_audits_tests() -> None:
    code = "import sys, agentd.cli.plan, agentd.families.change.family\nprint(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {
        "agentd.evidence.outputs",
        "agentd.evidence.runner",
        "agentd.mcp",
        "agentd.proof.evidence",
        "agentd.proof.integrity.harm_audit",
        "asyncio",
        "genai_prices",
        "mcp",
        "psutil",
        "questionary",
        "rich",
        "tomlkit",
    }
    assert not heavy & set(done.stdout.split())


def test_the_page_of_help_is_what_click_prints_and_needs_no_click(sandbox: Sandbox) -> None:
    code = (
        "import sys\nfrom agentd.cli import main\ntry:\n    main()\nfinally:\n    print(*sys.modules, file=sys.stderr)"
    )
    env = {name: value for name, value in sandbox.env.items() if name != "COLUMNS"}
    pages = {}
    for columns in ("", "80", "200", "60"):
        done = subprocess.run(
            [sys.executable, "-c", code, "--help"],
            env=env | ({"COLUMNS": columns} if columns else {}),
            capture_output=True,
            text=True,
            check=True,
        )
        pages[columns] = done.stdout
        assert ("click" in done.stderr.split()) == bool(columns)
    assert pages[""] == pages["80"] == pages["200"]
    assert max(map(len, pages["60"].splitlines())) <= 60


def test_a_secret_in_what_an_agent_says_reaches_no_file(sandbox: Sandbox) -> None:
    secret = "sk-ant-api03-" + "a1B2" * 12
    sandbox.script(
        propose={**sandbox.entry("propose"), "say": f"key {secret}", "lines": [secret]},
        challenge=[{"fail": "error", "say": "hunter2hunter2"}, {**NEVER, "say": "hunter2hunter2"}],
    )
    env = {"MY_SERVICE_TOKEN": "hunter2hunter2"}
    assert sandbox.run("plan", CHANGE, IDEA, env=env).code == 1
    sandbox.run("plan", CHANGE, env=env)
    assert sandbox.state()["phase"] == "rejected"
    for path in sandbox.folder().rglob("*"):
        if path.is_file():
            assert secret not in path.read_text(), path
            assert "hunter2hunter2" not in path.read_text(), path


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completions_are_printed(sandbox: Sandbox, shell: str) -> None:
    assert "_AGENTD_COMPLETE" in sandbox.run("completions", shell).out


def test_a_reader_who_leaves_does_not_stop_the_work(sandbox: Sandbox) -> None:
    done = subprocess.run(
        f"{sys.executable} -m agentd plan {CHANGE} {shlex.quote(IDEA)} | head -1",
        shell=True,
        cwd=sandbox.root,
        env=sandbox.env,
        check=False,
    )
    assert done.returncode == 0
    assert sandbox.state()["phase"] == "challenged"


@pytest.mark.parametrize(
    ("redirect", "code"), [("<&-", 0), (">&-", 0), ("2>&-", 0), (">/dev/full", 1), ("--json >/dev/full", 1)]
)
def test_streams_that_are_closed_or_full_are_no_defect(planned: Sandbox, redirect: str, code: int) -> None:
    done = subprocess.run(
        f"{sys.executable} -m agentd status {redirect}",
        shell=True,
        cwd=planned.root,
        env=planned.env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code
    assert "Traceback" not in done.stderr


def test_a_terminal_that_knows_no_unicode_still_shows_progress(sandbox: Sandbox) -> None:
    done = sandbox.run("plan", CHANGE, IDEA, env={"PYTHONIOENCODING": "ascii"})
    assert done.code == 0
    assert "propose\n" in done.out


def test_a_working_folder_that_is_gone_is_named(sandbox: Sandbox, tmp_path: Path) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    done = subprocess.run(
        f"rmdir {gone}; {sys.executable} -P -m agentd status",
        shell=True,
        cwd=gone,
        env=sandbox.env,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 1
    assert "working folder is gone" in done.stderr


def test_a_test_command_that_cannot_be_read_is_a_persons_decision(planned: Sandbox) -> None:
    planned.set("evidence", test="echo 'x")
    asked = planned.run("impl", CHANGE, "--json")
    assert asked.code == 4
    assert "cannot be read" in json.loads((planned.folder() / "baseline.json").read_text())["results"][0]["note"]


def test_implementing_without_git_names_git_init(planned: Sandbox, tmp_path: Path) -> None:
    (planned.root / ".git").rename(tmp_path / "away")
    told = planned.run("impl", CHANGE)
    assert told.code == 1
    assert "Fix:   git init" in told.err


def test_a_role_nobody_plays_leaves_nothing_half_begun(sandbox: Sandbox) -> None:
    sandbox.set("roles", planner="nobody")
    told = sandbox.plan()
    assert told.code == 1
    assert "no agent 'nobody' to play the planner" in told.err
    assert not sandbox.folder().exists()


def test_what_an_agent_says_cannot_steer_the_terminal(sandbox: Sandbox) -> None:
    sandbox.script(revise={**sandbox.entry("revise"), "say": "\x1b[2Jgone\x07"})
    told = sandbox.plan()
    assert "gone" in told.out
    assert "\x1b" not in told.out


def test_completion_offers_commands(sandbox: Sandbox) -> None:
    asked = {"COMP_WORDS": "agentd st", "COMP_CWORD": "1", "_AGENTD_COMPLETE": "bash_complete"}
    assert sandbox.run(env=asked).out.split() == ["plain,stop", "plain,status"]


def test_without_words_there_is_help(sandbox: Sandbox) -> None:
    shown = sandbox.run()
    assert shown.code == 2
    assert shown.out.startswith("Usage:")


def test_a_prompt_of_ones_own_is_used_and_a_broken_one_named(sandbox: Sandbox) -> None:
    prompts = sandbox.root / "agentd" / "prompts"
    prompts.mkdir()
    (prompts / "propose.md").write_text("Write {{writes}} for {{nobody}}")
    told = sandbox.plan()
    assert told.code == 1
    assert "nothing fills {{nobody}}" in told.err
    (prompts / "propose.md").write_bytes(b"\xff")
    assert "not UTF-8" in sandbox.run("plan", CHANGE).err
    (prompts / "propose.md").write_text("Write {{writes}}")
    assert sandbox.run("plan", CHANGE).code == 0


@pytest.mark.parametrize(
    ("words", "fix"),
    [
        ("apply my-change", "agentd impl my-change"),
        ("propose 'Say hello'", "agentd plan my-change 'Say hello'"),
        ("statsu my-change", "agentd status my-change"),
        ("verify", "agentd validate"),
    ],
)
def test_the_words_of_other_tools_and_slips_lead_to_the_command(sandbox: Sandbox, words: str, fix: str) -> None:
    told = sandbox.run(*shlex.split(words))
    assert told.code == 2
    assert f"Did you mean '{shlex.split(fix)[1]}'?" in told.err
    assert told.err.endswith(f"Fix:   {fix}\n")


def test_the_words_of_other_tools_lead_to_commands_that_exist() -> None:
    assert set(ELSEWHERE.values()) <= COMMANDS.keys()
    assert not ELSEWHERE.keys() & COMMANDS.keys()


def test_list_without_any_run_says_how_to_begin_as_status_does(sandbox: Sandbox) -> None:
    shown = sandbox.run("list")
    assert shown.out.splitlines()[0] == f"No runs in {sandbox.root}."
    assert shown.out == sandbox.run("status").out
    assert sandbox.run("list", "--archived").out.splitlines() == ["Nothing is archived.", shown.out.splitlines()[-1]]


def test_the_same_command_is_next_wherever_one_is_named(sandbox: Sandbox) -> None:
    """Also after an answer and after a stop: one function says it."""
    sandbox.script(challenge=NO)
    waiting = sandbox.plan("--json").data
    everywhere = [("status", CHANGE), ("status",), ("list",), ("stop", CHANGE), ("doctor",)]
    assert {sandbox.run(*words, "--json").data["next"] for words in everywhere} == {waiting["next"]}
    follow = sandbox.run(*shlex.split(waiting["next"])[1:]).out.splitlines()[-1]
    assert follow == f"Next: agentd plan {CHANGE}"
    assert {sandbox.run(*words).out.splitlines()[-1] for words in everywhere} == {follow}


def test_no_line_to_paste_leaves_something_out() -> None:
    """An ellipsis in a command or a setting is pasted with the rest of it."""
    source = Path(agentd.__file__).parent
    texts = (
        (path.name, node.value)
        for path in source.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    )
    cut = re.compile(r"\"…\"|agentd \w.*…|config\.toml.*…")
    assert [found for found in texts if "\n" not in found[1] and cut.search(found[1])] == []


def test_a_decision_names_the_person_also_where_no_variable_does(sandbox: Sandbox) -> None:
    sandbox.script(challenge=NO)
    sandbox.plan()
    nameless = {"USER": "", "LOGNAME": ""}
    said = sandbox.run("answer", CHANGE, "UD-1", "fix", "--json", env=nameless).data
    assert said["by"] == pwd.getpwuid(os.getuid()).pw_name


def test_show_prints_the_plan_and_nothing_that_steers_the_terminal(planned: Sandbox) -> None:
    path = planned.folder() / "tasks.md"
    path.write_text(path.read_text() + "\nA \x1b[31mred\x1b[0m\x1b]0;title\x07 line\x9b2J\n")
    shown = planned.run("show", CHANGE)
    assert shown.code == 0, shown.err
    heads = [line for line in shown.out.splitlines() if line.startswith("── ")]
    assert heads == ["── proposal.md ──", "── specs/top-words.md ──", "── tasks.md ──"]
    assert "## What Changes" in shown.out
    assert "A red line\n" in shown.out
    assert "change_id:" not in shown.out, "the data at the head is not for people"
    assert shown.out.splitlines()[-1] == planned.run("status", CHANGE).out.splitlines()[-1]
    shutil.move(planned.folder(), planned.root / "agentd" / "archive" / CHANGE)
    assert heads == [line for line in planned.run("show", CHANGE).out.splitlines() if line.startswith("── ")]
    assert planned.run("show", "nobody").code == 1


ODD = "\x1b[31m\x1b]0;title\x07\x9b2J\x08\x7f"
STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f]")


@pytest.mark.parametrize(
    ("name", "text", "words"),
    [
        ("config.toml", f"[roles]\n{json.dumps('a' + ODD)} = 1\n", ("status",)),
        ("config.toml", f"[{json.dumps('a' + ODD)}]\nb = 1\n", ("status",)),
        ("config.toml", f"[{json.dumps('a' + ODD)}]\nb = 1\n", ("doctor",)),
        (f"workflows/a{ODD}\nb.yaml", "name: c\n", ("workflow", "list")),
        (f"changes/a{ODD}/STATE.yaml", "[", ("status", f"a{ODD}")),
        ("changes/a/STATE.yaml", f"phase: a{ODD}\n", ("status", "a")),
        ("demo.yaml", "{}", (f"a{ODD}",)),
    ],
)
def test_no_message_steers_the_terminal(sandbox: Sandbox, name: str, text: str, words: tuple[str, ...]) -> None:
    path = sandbox.root / "agentd" / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    for way in ((), ("--json",)):
        told = sandbox.run(*words, *way)
        assert told.code < 3
        assert "a" in told.out + told.err
        assert not STEERS.search(told.out + told.err)
