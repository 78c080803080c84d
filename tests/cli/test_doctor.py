"""`agentd doctor` says what is installed, what works, and who would play which role. It changes nothing."""

import json
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.agents.recordings import recorded
from tests.plan.plans import spied
from tests.sandbox import Ran, Sandbox, alive, wait_until

ROLES = ("planner", "challenger", "implementer", "reviewer")
KEYS = ("_API_KEY", "_TOKEN", "CLAUDE_", "CODEX_", "GEMINI_", "GOOGLE_", "COPILOT_", "XDG_")


class Machine(Sandbox):
    """A machine with git, a shell and whatever a test installs on it."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        place = root.parent
        self.programs, self.home, self.temporary = place / "bin", place / "home", place / "tmp"
        for folder in (self.programs, self.home, self.temporary):
            folder.mkdir()
        self.env = {name: text for name, text in self.env.items() if not any(key in name for key in KEYS)}
        self.env |= {"PATH": str(self.programs), "HOME": str(self.home), "TMPDIR": str(self.temporary)}
        self.provide("git", "sh", "env", "sleep", "cat")

    def provide(self, *names: str) -> None:
        """Programs of this machine."""
        for name in names:
            found = shutil.which(name)
            assert found, f"{name} is not installed here"
            (self.programs / name).symlink_to(found)

    def install(self, name: str, *lines: str) -> Path:
        """A program that does this; else one that says its version."""
        path = self.programs / name
        path.write_text("\n".join(("#!/bin/sh", *(lines or [f"echo {name} 1.2.3"]), "")))
        path.chmod(0o755)
        return path

    def examine(self, *words: str, cwd: Path | None = None) -> Ran:
        return self.run("doctor", *words, cwd=cwd)

    def found(self, *words: str) -> dict[tuple[str, str], dict[str, Any]]:
        """Every finding by group and name."""
        listed = self.examine(*words, "--json").data["findings"]
        assert all(found["level"] in ("ok", "warning", "problem") for found in listed)
        assert all(found["fix"] for found in listed if found["level"] != "ok")
        return {(found["group"], found["name"]): found for found in listed}


@pytest.fixture
def machine(sandbox: Sandbox) -> Machine:
    """A machine with a project for which every setting is as agentd comes, and no agent."""
    (sandbox.root / "agentd" / "config.toml").write_text("")
    return Machine(sandbox.root)


@pytest.fixture
def scripted(sandbox: Sandbox) -> Machine:
    """A machine with a project whose roles are scripted."""
    return Machine(sandbox.root)


def files(folder: Path) -> dict[str, bytes]:
    return {str(path): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


# Who is there.


def test_without_any_agent_no_role_can_be_played_and_each_fix_installs_one(machine: Machine) -> None:
    done = machine.examine()
    assert done.code == 1
    assert "  ⚠ gemini        not installed\n      Fix: npm install -g @google/gemini-cli\n" in done.out
    assert "  ✗ planner       There is no agent to play the planner: gemini is not installed" in done.out
    assert "Not every role can be played" in done.out
    assert done.out.endswith("Next: npm install -g @google/gemini-cli\n")


def test_agents_are_shown_with_version_path_and_what_they_would_play(machine: Machine) -> None:
    for name in ("claude", "codex", "gemini"):
        machine.install(name)
    machine.env |= {"ANTHROPIC_API_KEY": "sk-ant-000000000000", "GEMINI_API_KEY": "k", "OPENAI_API_KEY": "k"}
    (machine.programs / "python3").symlink_to(sys.executable)  # with which the project's tests are run
    done = machine.examine()
    assert done.code == 0, done.out + done.err
    assert f"  ✓ claude        1.2.3, {machine.programs / 'claude'}, login by ANTHROPIC_API_KEY\n" in done.out
    assert "  · opencode      not installed; no role needs it\n" in done.out
    assert "  ✓ planner       gemini (the model of its own settings)\n" in done.out
    assert "  ✓ challenger    codex (the model of its own settings)\n" in done.out
    assert "  ✓ independence  codex challenges what gemini plans\n" in done.out
    assert "Every role can be played.\nNext: agentd plan" in done.out
    assert "sk-ant-000000000000" not in done.out


def test_with_json_there_is_one_document_with_every_fact(machine: Machine) -> None:
    machine.install("claude", "echo '2.1.325 (Claude Code)'")
    done = machine.examine("--json")
    assert (done.code, done.err) == (0, "")
    data = done.data
    assert (data["ok"], data["exit"], data["root"]) == (True, 0, str(machine.root))
    found = machine.found()
    claude = found["agents", "claude"]
    assert (claude["installed"], claude["version"], claude["path"], claude["playing"]) == (
        True,
        "2.1.325",
        str(machine.programs / "claude"),
        True,
    )
    assert (found["roles", "planner"]["wanted"], found["roles", "planner"]["agent"]) == ("gemini", "claude")
    assert (found["roles", "implementer"]["model"], found["roles", "implementer"]["effort"]) == (None, None)
    assert found["machine", "git"]["version"]


def test_the_only_agent_stands_in_for_all_and_is_said_to_challenge_itself(machine: Machine) -> None:
    machine.install("codex")
    done = machine.examine()
    assert done.code == 0
    assert (
        "⚠ planner       codex (the model of its own settings) instead of gemini: gemini is not installed" in done.out
    )
    assert "Fix: npm install -g @google/gemini-cli" in done.out
    assert "✓ challenger    codex" in done.out
    assert "⚠ independence  codex would challenge its own plan\n      Fix: npm install -g @anthropic" in done.out


def test_a_challenger_of_its_own_is_proposed_from_those_that_are_there(machine: Machine) -> None:
    machine.set("roles", **dict.fromkeys(ROLES, "codex"))
    machine.install("codex")
    machine.install("opencode")
    assert machine.found()["roles", "independence"]["fix"].endswith('# [roles] challenger = "opencode"')


def test_a_fallback_is_shown_with_the_role_it_takes_over(machine: Machine) -> None:
    machine.set("fallback", gemini="claude")
    machine.install("gemini")
    machine.install("claude")
    found = machine.found()
    assert found["roles", "planner"]["then"] == ["claude"]
    assert found["roles", "planner"]["message"].endswith(", then claude")


def test_an_agent_nobody_knows_is_told_with_those_that_are_known(machine: Machine) -> None:
    machine.install("claude")
    machine.set("roles", planner="clod")
    found = machine.found()
    assert machine.examine().code == 1
    assert found["roles", "planner"]["level"] == "problem"
    assert "clod" in found["roles", "planner"]["message"]
    assert found["roles", "implementer"]["level"] == "ok"


def test_a_program_of_another_name_is_found_where_the_configuration_says_and_not_started(machine: Machine) -> None:
    (machine.root / "tools").mkdir()
    machine.install("claude", "echo 9.9.9").rename(machine.root / "tools" / "my-claude")
    machine.set("claude", command="tools/my-claude")
    claude = machine.found()["agents", "claude"]
    assert (claude["version"], claude["path"]) == ("", str(machine.root / "tools" / "my-claude"))
    assert "not started, because agentd/config.toml names it" in claude["message"]


def test_a_built_in_agent_without_a_model_is_told_the_lines_to_add(machine: Machine) -> None:
    machine.install("claude")
    machine.set("roles", planner="builtin")
    found = machine.found()
    assert found["agents", "builtin"]["message"] == "[[builtin.models]] names no model"
    assert "[builtin] models = [{" in found["agents", "builtin"]["fix"]
    assert found["roles", "planner"]["fix"] == found["agents", "builtin"]["fix"]


# Programs that do not do what they should.


def test_a_program_that_hangs_is_ended_and_told(machine: Machine) -> None:
    machine.install("claude", f"echo $$ > {machine.root.parent}/pid", "sleep 600")
    machine.install("codex")
    machine.install("gemini")
    machine.set("calls", timeout_secs=1)
    done = machine.examine()
    assert done.code == 1
    assert f"✗ claude        {machine.programs / 'claude'} --version did not end in 1 s\n" in done.out
    assert (
        "✗ implementer   claude (the model of its own settings), which does not work\n      Fix: npm install -g @anthropic-ai"
        in done.out
    )
    assert "✓ reviewer      codex" in done.out
    assert not alive(int((machine.root.parent / "pid").read_text()))


def meet(machine: Machine, own: str, *others: str) -> str:
    """Shell: say that one is there, and wait until the others are."""
    place = machine.root.parent
    return f"echo > {place}/{own}.is-there; " + "; ".join(
        f"while [ ! -e {place}/{other}.is-there ]; do sleep 0.05; done" for other in others
    )


def test_every_program_is_asked_side_by_side_and_told_in_its_turn(machine: Machine) -> None:
    for name, other in (("claude", "codex"), ("codex", "gemini"), ("gemini", "git")):
        machine.install(name, meet(machine, name, other), f"echo {name} 1.2.3")
    git = (machine.programs / "git").readlink()
    (machine.programs / "git").unlink()
    machine.install("git", meet(machine, "git", "claude"), f'exec {git} "$@"')
    found = machine.found()
    assert [name for group, name in found if group == "agents"][:3] == ["gemini", "codex", "claude"]
    assert [found["agents", name]["version"] for name in ("claude", "codex", "gemini")] == ["1.2.3"] * 3
    assert list(dict.fromkeys(group for group, _ in found)) == [
        "agents",
        "roles",
        "machine",
        "evidence",
        "configuration",
    ]
    assert [name for group, name in found if group == "machine"] == ["MCP server", "git", "sandbox"]


def test_interrupted_while_programs_hang_it_ends_them_all(machine: Machine) -> None:
    place = machine.root.parent
    hanging = ("claude", "codex", "gemini")
    for name in hanging:
        machine.install(name, "trap '' INT", f"echo $$ > {place}/{name}.pid", "sleep 600")
    working = machine.begin("doctor")
    pids = [place / f"{name}.pid" for name in hanging]
    wait_until(lambda: all(path.exists() and path.read_text().endswith("\n") for path in pids))
    working.send_signal(signal.SIGINT)
    told = working.communicate(timeout=15)  # each of them may take 20 s
    assert working.returncode == 130, told
    assert not any(alive(int(path.read_text())) for path in pids)
    assert list(machine.temporary.iterdir()) == []


def test_a_program_that_crashes_is_told_with_what_it_said(machine: Machine) -> None:
    machine.install("claude", "echo 'node: bad option $0' >&2", "exit 9")
    machine.install("codex", "kill -SEGV $$")
    machine.install("gemini", "exit 0")
    found = machine.found()
    assert "--version failed (exit 9): node: bad option" in found["agents", "claude"]["message"]
    assert "--version failed (exit -11): it said nothing" in found["agents", "codex"]["message"]
    assert found["agents", "gemini"]["version"] == ""
    assert [found["roles", role]["level"] for role in ROLES] == ["ok", "problem", "problem", "problem"]


def test_what_a_program_prints_does_nothing_to_the_terminal(machine: Machine) -> None:
    machine.install("claude", r"printf '\033[31mred\033[0m \033]0;title\007\302\233 alert\r'")
    machine.install("codex", r"printf '\033[2Jbroken' >&2", "exit 1")
    done = machine.examine()
    assert "red ]0;title alert, " in done.out
    assert "(exit 1): [2Jbroken" in done.out
    assert [letter for letter in done.out if letter != "\n" and not letter.isprintable()] == []
    assert "\\u001b" not in machine.examine("--json").out


def test_a_broken_program_that_no_role_needs_is_only_a_warning(machine: Machine) -> None:
    for name in ("claude", "codex", "gemini"):
        machine.install(name)
    machine.install("copilot", "exit 1")
    assert machine.found()["agents", "copilot"]["level"] == "warning"
    assert machine.examine().code == 0


def test_a_file_that_is_no_program_is_told(machine: Machine) -> None:
    path = machine.programs / "claude"
    path.write_bytes(b"\x7fELF not really")
    path.chmod(0o755)
    assert "could not be started" in machine.found()["agents", "claude"]["message"]


def test_a_key_in_what_a_program_prints_is_not_passed_on(machine: Machine) -> None:
    machine.env |= {"ANTHROPIC_API_KEY": "sk-ant-api03-0123456789abcdef"}
    machine.install("claude", 'echo "cannot use $ANTHROPIC_API_KEY"', "exit 1")
    done = machine.examine("--json")
    assert "cannot use [redacted]" in done.out
    assert "0123456789abcdef" not in done.out


# Logins.


def test_nobody_logged_in_is_a_warning_with_the_words_to_log_in(machine: Machine) -> None:
    machine.install("claude")
    found = machine.found()["agents", "claude"]
    assert (found["level"], found["login"]) == ("warning", "")
    assert found["fix"].startswith("claude")


@pytest.mark.parametrize(
    ("agent", "variable", "path"),
    [
        ("claude", "", "home/.claude/.credentials.json"),
        ("claude", "CLAUDE_CONFIG_DIR", "elsewhere/.credentials.json"),
        ("codex", "", "home/.codex/auth.json"),
        ("codex", "CODEX_HOME", "elsewhere/auth.json"),
        ("gemini", "", "home/.gemini/oauth_creds.json"),
        ("gemini", "GEMINI_CLI_HOME", "elsewhere/.gemini/oauth_creds.json"),
        ("opencode", "", "home/.local/share/opencode/auth.json"),
        ("copilot", "", "home/.copilot/config.json"),
    ],
)
def test_a_file_of_credentials_counts_by_being_there_and_is_never_opened(
    machine: Machine, agent: str, variable: str, path: str
) -> None:
    machine.install(agent)
    kept = machine.root.parent / path
    kept.parent.mkdir(parents=True)
    os.mkfifo(kept)  # whoever opens it waits for ever
    if variable:
        machine.env |= {variable: str(machine.root.parent / "elsewhere")}
    assert machine.found()["agents", agent]["login"] == str(kept)


# Agents of other packages.


def test_an_agent_of_another_package_is_shown_whether_or_not_a_role_names_it(scripted: Machine) -> None:
    spied(scripted)
    found = scripted.found()
    assert (found["agents", "spy"]["level"], found["agents", "spy"]["playing"]) == ("ok", True)
    assert [found["roles", role]["agent"] for role in ROLES] == ["spy"] * 4
    scripted.set("roles", **dict.fromkeys(ROLES, "scripted"))
    assert scripted.found()["agents", "spy"]["playing"] is False


def test_an_agent_of_another_package_that_cannot_be_loaded_is_told_and_no_more(scripted: Machine) -> None:
    spied(scripted)
    (scripted.root.parent / "site" / "spy.py").write_text("import nothing_of_that_name\n")
    assert scripted.examine().code == 1
    scripted.set("roles", **dict.fromkeys(ROLES, "scripted"))
    done = scripted.examine()
    assert done.code == 0, done.out
    assert "⚠ spy           The agent 'spy' of the package spy cannot be loaded: ModuleNotFoundError" in done.out


def test_a_script_that_is_not_there_keeps_the_scripted_agent_from_playing(scripted: Machine) -> None:
    assert scripted.examine().code == 0
    (scripted.root / "agentd" / "demo.yaml").unlink()
    done = scripted.examine()
    assert done.code == 1
    assert f"✗ scripted      there is no {scripted.root / 'agentd' / 'demo.yaml'}" in done.out


# What else there is.


def test_it_works_outside_of_a_project_and_leaves_nothing_anywhere(machine: Machine) -> None:
    machine.install("claude")
    nowhere = machine.root.parent / "nowhere"
    nowhere.mkdir()
    done = machine.examine(cwd=nowhere)
    assert done.code == 0, done.out + done.err
    assert f", in {nowhere}\n" in done.out
    assert "✓ config        the defaults" in done.out
    assert [*nowhere.iterdir(), *machine.home.iterdir(), *machine.temporary.iterdir()] == []


def test_the_project_is_only_read(scripted: Machine) -> None:
    before = files(scripted.root)
    assert scripted.examine("--live").code == 0
    assert files(scripted.root) == before
    assert [*scripted.home.iterdir(), *scripted.temporary.iterdir()] == []


def test_agentd_s_own_server_is_really_started(machine: Machine) -> None:
    server = machine.found()["machine", "MCP server"]
    assert (server["level"], server["tools"]) == ("ok", ["list_specs", "read_file", "validate_change"])


@pytest.mark.parametrize(
    ("module", "told"),
    [
        ("raise ImportError('a broken install')", "a broken install"),
        ("import time; time.sleep(600)", "no answer in 2 s"),
        ("print('hello', flush=True); import time; time.sleep(600)", "agentd mcp does not work"),
    ],
)
def test_a_server_that_does_not_work_keeps_every_role_from_being_played(
    scripted: Machine, module: str, told: str
) -> None:
    site = scripted.root.parent / "site"
    site.mkdir()
    (site / "pydantic.py").write_text(module)
    scripted.env |= {"PYTHONPATH": os.pathsep.join(filter(None, (str(site), scripted.env.get("PYTHONPATH"))))}
    scripted.set("calls", timeout_secs=2)
    found = scripted.found()["machine", "MCP server"]
    assert found["level"] == "problem"
    assert told in found["message"]
    assert scripted.examine().code == 1


def test_without_git_the_doctor_says_that_changes_need_it(scripted: Machine) -> None:
    (scripted.programs / "git").unlink()
    done = scripted.examine("--live")
    assert done.code == 0, done.out
    assert "⚠ git           The program git is not on the PATH. Changes need it" in done.out
    assert "Fix: sudo apt install git" in done.out


@pytest.mark.parametrize(("mode", "level", "code"), [("off", "ok", 0), ("auto", "warning", 0), ("on", "problem", 1)])
def test_a_sandbox_that_does_not_work_matters_as_much_as_it_is_wanted(
    scripted: Machine, mode: str, level: str, code: int
) -> None:
    scripted.set("sandbox", mode=mode)
    found = scripted.found()["machine", "sandbox"]
    assert (found["level"], found["mode"], found["works"]) == (level, mode, False)
    assert found["message"] == f'bubblewrap is not installed: [sandbox] mode = "{mode}"'
    assert found["fix"].startswith("sudo apt install bubblewrap")
    assert scripted.examine().code == code


def test_a_writable_path_that_does_not_exist_is_told(scripted: Machine) -> None:
    scripted.set("sandbox", mode="auto", writable=["~/.cache", "agentd"])
    done = scripted.examine()
    assert "⚠ sandbox       ~/.cache, which [sandbox] names writable, does not exist" in done.out
    assert f"Fix: mkdir -p {scripted.home / '.cache'}\n" in done.out


def test_what_is_odd_about_the_configuration_is_a_warning(scripted: Machine) -> None:
    scripted.set("calls", timeout_sec=5)
    done = scripted.examine()
    assert (done.code, done.err) == (0, "")
    assert "unknown key calls.timeout_sec (did you mean timeout_secs?)" in done.out
    assert f"Fix: ${{EDITOR:-vi}} {scripted.root / 'agentd' / 'config.toml'}\n" in done.out


def test_a_configuration_that_cannot_be_read_is_a_problem_and_everything_else_is_still_told(machine: Machine) -> None:
    machine.install("claude")
    (machine.root / "agentd" / "config.toml").write_text("[roles\n")
    done = machine.examine()
    assert done.code == 1
    assert "✗ config        " in done.out
    assert "✓ implementer   claude" in done.out
    assert "✓ MCP server" in done.out


# Real calls.


def test_a_real_call_tells_what_was_said_what_it_cost_and_that_the_tools_were_found(scripted: Machine) -> None:
    spied(scripted)
    tools = [{"list_specs": {"change_id": "doctor"}}]
    scripted.script(doctor={"say": "OK", "tools": tools, "usage": {"tokens_in": 2100, "tokens_out": 1}, "model": "pro"})
    found = scripted.found("--live")["calls", "spy"]
    assert (found["level"], found["answered"], found["mcp"]) == ("ok", True, True)
    assert (found["model"], found["tokens_in"], found["tokens_out"]) == ("pro", 2100, 1)
    assert found["cost"] == pytest.approx((2100 * 0.1 + 0.4) / 1e6)
    assert found["seconds"] > 0
    job = json.loads((scripted.root.parent / "jobs.jsonl").read_text())
    assert (job["prompt"], job["model"], job["effort"]) == ("Reply with the single word OK.", "flash", "medium")
    assert (job["edits"], job["shell"]) == (False, False)
    assert not job["cwd"].startswith(str(scripted.root))


def test_scripted_agents_are_called_with_a_script_of_the_doctor_s_own(scripted: Machine) -> None:
    done = scripted.examine("--live")
    assert done.code == 0, done.out
    assert "\nReal calls\n  ✓ scripted      said 'OK', " in done.out
    assert "and it found agentd's tools\n" in done.out


def test_no_agent_is_called_without_being_asked_for(scripted: Machine) -> None:
    spied(scripted)
    assert scripted.examine().code == 0
    assert not (scripted.root.parent / "jobs.jsonl").exists()


def test_each_agent_is_called_once_however_many_roles_it_plays(scripted: Machine) -> None:
    spied(scripted)
    scripted.script(doctor={"say": "OK", "tools": [{"list_specs": {"change_id": "doctor"}}]})
    scripted.set("roles", planner="scripted")
    found = scripted.found("--live")
    assert {name for group, name in found if group == "calls"} == {"spy", "scripted"}
    assert len((scripted.root.parent / "jobs.jsonl").read_text().splitlines()) == 1


def test_an_agent_of_another_package_that_never_asks_for_the_tools_is_a_warning(scripted: Machine) -> None:
    spied(scripted)
    scripted.script(doctor={"say": "OK"})
    done = scripted.examine("--live")
    assert done.code == 0, done.out
    assert "⚠ spy           said 'OK', " in done.out
    assert "but it did not ask for agentd's tools\n      Fix: have the adapter spy give its program" in done.out


def test_a_program_of_ones_own_that_never_asks_for_the_tools_is_told_where_they_are(scripted: Machine) -> None:
    scripted.install("mine", "cat > /dev/null", "echo OK")
    scripted.set("roles", **dict.fromkeys(ROLES, "mine"))
    scripted.set("mine", adapter="command", command="mine")
    found = scripted.found("--live")["calls", "mine"]
    assert (found["level"], found["answered"], found["mcp"]) == ("warning", True, False)
    assert "[mine] command" in found["fix"]
    assert "$AGENTD_SERVER" in found["fix"]


def test_an_agent_that_agentd_gives_its_tools_cannot_play_a_role_without_asking_for_them(machine: Machine) -> None:
    answer = json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": "OK", "session_id": "s"})
    machine.install("claude", '[ "$1" = --version ] && echo 2.1.325 && exit', f"cat > /dev/null; echo '{answer}'")
    found = machine.found("--live")["calls", "claude"]
    assert (found["level"], found["answered"], found["mcp"]) == ("problem", True, False)
    assert "did not ask for agentd's tools" in found["message"]


def test_agents_are_called_side_by_side_and_told_in_their_turn(machine: Machine) -> None:
    answer = json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": "OK", "session_id": "s"})
    for name, other in (("claude", "codex"), ("codex", "claude")):
        version = f'[ "$1" = --version ] && echo {name} 1.2.3 && exit'
        machine.install(name, version, f"cat > /dev/null; {meet(machine, name, other)}; echo '{answer}'")
    machine.set("calls", timeout_secs=60)
    found = machine.found("--live")
    assert found["calls", "claude"]["answered"] is True
    assert "did not end" not in found["calls", "codex"]["message"]
    assert [name for group, name in found if group == "calls"] == ["claude", "codex"]


def test_an_agent_that_takes_too_many_turns_is_ended(machine: Machine) -> None:
    event = json.dumps({"type": "item.completed"})
    looping = f"cat > /dev/null; for i in 1 2 3 4 5 6; do echo '{event}'; done; sleep 600"
    machine.install("codex", '[ "$1" = --version ] && echo 0.166.0 && exit', looping)
    found = machine.found("--live")["calls", "codex"]
    assert (found["level"], found["message"]) == ("problem", "it took more than 5 turns")


def test_an_agent_that_says_something_else_is_a_warning(scripted: Machine) -> None:
    spied(scripted)
    scripted.script(doctor={"say": "Certainly!", "tools": [{"list_specs": {"change_id": "doctor"}}]})
    assert scripted.found("--live")["calls", "spy"]["level"] == "warning"
    assert scripted.examine("--live").code == 0


def test_an_agent_that_is_not_logged_in_is_told_how_to(scripted: Machine) -> None:
    spied(scripted)
    module = scripted.root.parent / "site" / "spy.py"
    module.write_text(module.read_text() + "\nlogin = 'spy login'\n")
    scripted.script(doctor={"fail": "auth", "say": "Not logged in"})
    found = scripted.found("--live")["calls", "spy"]
    assert (found["level"], found["answered"], found["fix"]) == ("problem", False, "spy login")
    assert "Not logged in" in found["message"]


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ("raise KeyError('model')", "of the package spy failed: KeyError: 'model'"),
        ("return None", "its adapter failed: AttributeError"),
        ("raise agentd.errors.BadConfig('No model is set.', 'set one')", "No model is set."),
    ],
)
def test_an_adapter_that_fails_is_a_finding(scripted: Machine, code: str, told: str) -> None:
    spied(scripted)
    module = scripted.root.parent / "site" / "spy.py"
    module.write_text(f"import agentd.errors\nfrom agentd.agents.scripted import read\ndef command(job):\n    {code}\n")
    found = scripted.found("--live")["calls", "spy"]
    assert found["level"] == "problem"
    assert told in found["message"]


def test_an_agent_that_hangs_is_ended_with_all_it_started(scripted: Machine) -> None:
    spied(scripted)
    pids = scripted.root.parent / "pid"
    run = ["sh", "-c", f"sleep 600 & echo $! > {pids}; wait"]
    scripted.script(doctor={"run": run})
    scripted.set("calls", timeout_secs=2)
    found = scripted.found("--live")["calls", "spy"]
    assert (found["level"], found["message"]) == ("problem", "it did not end in 2 s")
    assert not alive(int(pids.read_text()))


def test_a_real_transcript_is_read_by_the_agent_s_own_adapter(machine: Machine) -> None:
    answer = machine.root.parent / "answer.jsonl"
    lines = [line for line in recorded("claude", "no_key") if "agentd" not in json.loads(line)]
    answer.write_text("\n".join(lines) + "\n")
    machine.install("claude", '[ "$1" = --version ] && echo 2.1.325 && exit', f"cat > /dev/null; cat {answer}; exit 1")
    found = machine.found("--live")["calls", "claude"]
    assert (found["level"], found["answered"], found["mcp"]) == ("problem", False, False)
    assert found["fix"].startswith("claude")


def test_interrupted_it_ends_what_it_started_and_cleans_up(scripted: Machine) -> None:
    spied(scripted)
    pids = scripted.root.parent / "pid"
    scripted.script(doctor={"run": ["sh", "-c", f"sleep 600 & echo $! > {pids}; wait"]})
    working = scripted.begin("doctor", "--live")
    wait_until(lambda: pids.exists() and pids.read_text().endswith("\n"))
    working.send_signal(signal.SIGINT)
    working.communicate(timeout=30)
    assert working.returncode == 130
    assert not alive(int(pids.read_text()))
    assert list(scripted.temporary.iterdir()) == []


def test_what_impl_will_run_is_shown_in_advance_with_what_is_not_there(machine: Machine) -> None:
    machine.install("claude")
    (machine.root / "package.json").write_text('{"scripts": {"test": "mocha"}, "devDependencies": {"mocha": "11"}}')
    (machine.root / "package-lock.json").write_text("{}")
    (machine.root / "ruff.toml").write_text("fix = true\n")
    machine.install("npm")
    done = machine.examine()
    assert done.code == 0, done.out + done.err
    assert "What impl runs" in done.out
    assert "  ⚠ test          npm test (from package.json scripts.test): node_modules is not installed" in done.out
    assert "      Fix: npm ci\n" in done.out
    assert "  · lint          ruff check --no-fix . (from ruff.toml): not run, ruff is not installed\n" in done.out
