"""The scripted agent is played for real: its command is started, its files are looked at, its output is read."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest
import yaml
from hypothesis import example, given
from hypothesis import strategies as st

from agentd.agents import file_edits, script, scripted, scripted_agent
from agentd.errors import BadConfig
from agentd.model.job import Job, Reply
from agentd.model.usage import Usage

DOC = Path(__file__).parents[2] / "docs" / "scripted-agent.md"


class Stage:
    """A project, a run's folder and a script, with everything needed to play it."""

    def __init__(self, root: Path) -> None:
        self.project = root / "project"
        self.folder = self.project / "agentd" / "changes" / "add-greeting"
        self.folder.mkdir(parents=True)
        self.script = root / "script.yaml"
        self.started: list[subprocess.Popen[bytes]] = []

    def job(self, step: str = "propose", visit: int = 1, item: str = "", **more: str) -> Job:
        settings = {"script": str(self.script)}
        job = Job("c1", step, "planner", visit, "the prompt", str(self.project), str(self.folder), settings=settings)
        return replace(job, item=item, model=more.get("model", ""), session=more.get("session", ""))

    def start(self, job: Job, **env: str) -> subprocess.Popen[bytes]:
        command = scripted.command(job)
        pipe = subprocess.PIPE
        started = subprocess.Popen(
            command.argv,
            cwd=job.cwd,
            env={**os.environ, **env, **command.env},
            stdin=pipe,
            stdout=pipe,
            stderr=pipe,
        )
        self.started.append(started)
        assert started.stdin
        started.stdin.write(command.stdin.encode())
        started.stdin.close()
        started.stdin = None
        return started

    def play(self, entry: object, job: Job | None = None, **env: str) -> tuple[Reply, int, str]:
        self.write({"propose": entry})
        return self.perform(job or self.job(), **env)

    def perform(self, job: Job, **env: str) -> tuple[Reply, int, str]:
        started = self.start(job, **env)
        out, err = started.communicate(timeout=30)
        text = out.decode("utf-8", "replace")
        assert b"Traceback" not in err, err.decode()
        return scripted.read(text.splitlines()), started.returncode, text

    def write(self, content: object) -> None:
        self.script.write_text(content if isinstance(content, str) else yaml.safe_dump(content), "utf-8")

    def spawned(self) -> list[psutil.Process]:
        pids = self.folder / "pids.txt"
        return [psutil.Process(int(line)) for line in pids.read_text().splitlines()] if pids.exists() else []


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    stage = Stage(tmp_path)
    yield stage
    for process in stage.started:
        process.kill()
        process.communicate()


def until(true: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 10
    while not true():
        assert time.monotonic() < deadline, "it did not happen within 10 s"
        time.sleep(0.01)


def test_an_entry_writes_its_files_and_ends_in_a_complete_reply(stage: Stage) -> None:
    (stage.project / "old.txt").write_text("gone soon")
    (stage.project / "notes.txt").write_text("one\n")
    (stage.project / "run.sh").write_text("echo one\n")
    (stage.project / "run.sh").chmod(0o755)
    reply, code, _ = stage.play(
        {
            "documents": {"proposal.md": "# {{run}} é\n", "specs/{{step}}.md": "visit {{visit}}"},
            "files": {"src/deep/a.py": "x = 1\n", "run:also.md": "here"},
            "append": {"notes.txt": "two\n", "new.txt": "first\n"},
            "replace": {"run.sh": [["one", "two"], ["echo", "printf"]]},
            "delete": ["old.txt"],
            "say": "all written",
            "outcome": "approved",
            "usage": {"tokens_in": 12, "tokens_out": 3, "cached_in": 7, "cost": 0.5},
            "session": "s-1",
            "model": "m-1",
        }
    )
    usage = Usage(12, 3, 0.5, cached_in=7)
    assert reply == Reply("all written", "approved", complete=True, session="s-1", model="m-1", usage=usage)
    assert code == 0
    assert (stage.folder / "proposal.md").read_text("utf-8") == "# add-greeting é\n"
    assert (stage.folder / "specs" / "propose.md").read_text() == "visit 1"
    assert (stage.folder / "also.md").read_text() == "here"
    assert (stage.project / "src/deep/a.py").read_text() == "x = 1\n"
    assert (stage.project / "notes.txt").read_text() == "one\ntwo\n"
    assert (stage.project / "new.txt").read_text() == "first\n"
    assert (stage.project / "run.sh").read_text() == "printf two\n"
    assert (stage.project / "run.sh").stat().st_mode & 0o777 == 0o755
    assert not (stage.project / "old.txt").exists()
    assert not list(stage.project.rglob("*.tmp"))


def test_an_empty_entry_says_done_and_keeps_the_model_and_session_of_the_job(stage: Stage) -> None:
    reply, code, _ = stage.play({}, replace(stage.job(), model="small", session="s-9"))
    assert reply == Reply("done", complete=True, model="small", session="s-9")
    assert code == 0


def test_each_visit_plays_its_entry_and_the_last_one_repeats(stage: Stage) -> None:
    stage.write({"review": [{"outcome": "needs_revision"}, {"outcome": "approved"}]})
    outcomes = [stage.perform(stage.job("review", visit))[0].outcome for visit in (1, 2, 3)]
    assert outcomes == ["needs_revision", "approved", "approved"]


def test_the_entry_of_an_item_comes_before_that_of_the_step(stage: Stage) -> None:
    stage.write({"build": {"say": "any {{item}}"}, "build@t2": [{"say": "only {{item}}"}]})
    assert stage.perform(stage.job("build", item="t1"))[0].text == "any t1"
    assert stage.perform(stage.job("build", item="t2"))[0].text == "only t2"
    assert stage.perform(stage.job("build"))[0].text == "any "


def test_commands_run_in_the_project_and_their_failure_is_the_agents(stage: Stage) -> None:
    hello = [sys.executable, "-c", "open('made.txt', 'w').write('x'); print('{\"type\":\"result\"}')"]
    reply, _, _ = stage.play({"run": hello})
    assert reply.complete
    assert (stage.project / "made.txt").exists()
    bad = [sys.executable, "-c", "import sys; print('no luck'); sys.exit(3)"]
    reply, code, _ = stage.play({"run": [hello, bad], "outcome": "approved"})
    assert not reply.complete
    assert reply.outcome == ""
    assert "ended with 3: no luck" in reply.error
    assert code == 1
    reply, _, _ = stage.play({"run": ["no-such-program-here"]})
    assert "no-such-program-here" in reply.error


def test_the_documented_example_does_what_it_says(stage: Stage) -> None:
    blocks = re.findall(r"```yaml\n(.*?)```", DOC.read_text("utf-8"), re.DOTALL)
    assert len(blocks) == 4
    assert script.load(blocks[1], "docs")["propose"][0]["tools"]
    assert script.choose(script.load(blocks[2], "docs"), "break_down", "", 1, 2)["documents"]
    assert script.load(blocks[3], "docs")["review"]
    stage.write(blocks[0])
    (stage.project / "hello.py").write_text('print("hello")\n')
    assert stage.perform(stage.job("propose"))[0].text == "The proposal is written."
    assert (stage.folder / "proposal.md").read_text() == "# add-greeting\nGreet people by name.\n"
    assert stage.perform(stage.job("review", 1))[0].outcome == "needs_revision"
    reply = stage.perform(stage.job("review", 2))[0]
    assert (reply.outcome, reply.usage) == ("approved", Usage(1200, 40, 0.01))
    assert stage.perform(stage.job("build", item="code"))[0].complete
    assert (stage.project / "hello.py").read_text() == 'print("hello, Ada")\n'
    assert stage.perform(stage.job("build", item="docs"))[0].complete
    assert (stage.project / "docs/docs.md").read_text() == "Written on visit 1 of build.\n"


def test_every_key_and_every_failure_is_documented() -> None:
    text = DOC.read_text("utf-8")
    assert set(script.KEYS) - set(re.findall(r"`([a-z_]+)`", text)) == set()
    kinds = re.findall(r"^\| `([a-z-]+)` \|", text.partition("| `fail` | the agent |")[2], re.MULTILINE)
    assert script.KEYS["fail"][1] == f"one of {', '.join(kinds)}"


def test_the_documented_events_read_as_a_complete_reply() -> None:
    block = re.findall(r"```json\n(.*?)```", DOC.read_text("utf-8"), re.DOTALL)[0]
    reply = scripted.read(block.splitlines())
    assert (reply.complete, reply.outcome, reply.model) == (True, "approved", "scripted")


@pytest.mark.parametrize(
    ("entry", "code", "error"),
    [
        ({"fail": "error", "say": "overloaded"}, 1, "overloaded"),
        ({"fail": "error", "code": 7}, 7, "The script says: fail."),
        ({"fail": "exit"}, 1, "without a result"),
        ({"fail": "exit", "code": 53}, 53, "without a result"),
        ({"fail": "garbage"}, 0, "without a result"),
        ({"fail": "no-result"}, 0, "without a result"),
        ({"fail": "empty", "lines": ["x"], "hang": 0.01, "run": ["true"]}, 0, "without a result"),
        ({"fail": "crash"}, -signal.SIGKILL, "without a result"),
    ],
)
def test_a_failure_is_never_complete(stage: Stage, entry: dict[str, object], code: int, error: str) -> None:
    reply, ended, out = stage.play({"documents": {"a.md": "x"}, "outcome": "approved", **entry})
    assert not reply.complete
    assert error in reply.error
    assert ended == code
    assert (out == "") == (entry["fail"] == "empty")
    assert (stage.folder / "a.md").exists()


def test_a_failure_after_the_start_writes_nothing(stage: Stage) -> None:
    reply, _, _ = stage.play({"documents": {"a.md": "x"}, "fail": "exit", "after": "start"})
    assert not reply.complete
    assert reply.model == "scripted"
    assert not (stage.folder / "a.md").exists()


def test_a_lost_conversation_fails_only_where_one_was_to_go_on(stage: Stage) -> None:
    entry = {"documents": {"a.md": "x"}, "fail": "lost", "outcome": "approved"}
    reply, code, _ = stage.play(entry, stage.job(session="s-1"))
    assert (reply.complete, reply.failure, code) == (False, "lost", 1)
    assert "s-1 not found" in reply.error
    assert not (stage.folder / "a.md").exists()
    reply, code, _ = stage.play(entry)
    assert (reply.complete, reply.failure, reply.outcome, code) == (True, "", "approved", 0)
    assert (stage.folder / "a.md").exists()


def test_garbage_is_bytes_that_are_no_text_and_a_torn_result(stage: Stage) -> None:
    stage.write({"propose": {"fail": "garbage"}})
    out, _ = stage.start(stage.job()).communicate(timeout=30)
    with pytest.raises(UnicodeDecodeError):
        out.decode()
    assert b'{"type": "result", "status": "succ\n' in out


def test_success_is_the_result_and_not_the_exit_code(stage: Stage) -> None:
    reply, code, _ = stage.play({"code": 9})
    assert (reply.complete, code) == (True, 9)


def test_raw_lines_come_before_the_result(stage: Stage) -> None:
    reply, _, out = stage.play({"lines": ["warning: ü", "x" * 200_000]})
    assert reply.complete
    assert [line[:10] for line in out.splitlines()][1:] == ["warning: ü", "x" * 10, '{"type": "']
    disagreeing = json.dumps({"type": "result", "status": "success", "text": "other"})
    reply, _, _ = stage.play({"lines": [disagreeing]})
    assert not reply.complete
    assert "disagree" in reply.error


def test_hanging_for_ever_ends_with_term_unless_it_is_ignored(stage: Stage) -> None:
    for entry, term_ends_it in ({"hang": True}, True), ({"hang": True, "ignore_term": True}, False):
        stage.write({"propose": entry})
        process = stage.start(stage.job())
        assert process.stdout
        assert [json.loads(process.stdout.readline())["type"] for _ in "12"] == ["start", "text"]
        process.terminate()
        if term_ends_it:
            assert process.wait(10) == -signal.SIGTERM
        else:
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(0.3)


def test_hanging_for_a_while_only_delays(stage: Stage) -> None:
    began = time.monotonic()
    reply, _, out = stage.play({"hang": 0.3, "after": "start", "documents": {"a.md": "x"}})
    assert reply.complete
    assert out.count("hanging") == 1
    assert time.monotonic() - began >= 0.3
    assert (stage.folder / "a.md").exists()


@pytest.mark.parametrize("kind", ["child", "setsid"])
def test_a_spawned_process_outlives_the_agent_and_is_named(stage: Stage, kind: str) -> None:
    stage.write({"propose": {"spawn": kind, "documents": {"a.md": "x"}}})
    player_ = stage.start(stage.job())
    player_.wait(30)
    [left] = stage.spawned()
    try:
        assert left.is_running()
        assert (os.getsid(left.pid) == os.getsid(0)) == (kind == "child")
        assert left.environ()["AGENTD_STEP"] == "propose"
    finally:
        left.kill()
    out, _ = player_.communicate(timeout=10)
    assert scripted.read(out.decode().splitlines()).complete


def test_waiting_ends_when_the_file_comes(stage: Stage) -> None:
    stage.write({"propose": {"record": "ran.txt", "wait_for": "go/now", "say": "went"}})
    process = stage.start(stage.job())
    until((stage.folder / "ran.txt").exists)
    assert process.poll() is None
    (stage.folder / "go").mkdir()
    (stage.folder / "go" / "now").touch()
    out, _ = process.communicate(timeout=30)
    assert scripted.read(out.decode().splitlines()).text == "went"


def test_waiting_has_a_limit(tmp_path: Path) -> None:
    with pytest.raises(script.Trouble, match=r"Waited 0\.02 s for .*never"):
        scripted_agent.wait_for(str(tmp_path / "never"), 0.02)


def test_parallel_agents_each_record_one_whole_line(stage: Stage, tmp_path: Path) -> None:
    stage.write(
        {"build": {"record": str(tmp_path / "log" / "ran.txt"), "wait_for": "go"}, "plan": {"record": "ran.txt"}}
    )
    processes = [stage.start(stage.job("build", visit=2, item=f"t{n}")) for n in range(4)]
    (stage.folder / "go").touch()
    for process in processes:
        process.communicate(timeout=30)
    lines = (tmp_path / "log" / "ran.txt").read_text().splitlines()
    assert sorted(lines) == sorted(f"build t{n} 2 {process.pid}" for n, process in enumerate(processes))
    stage.perform(stage.job("plan"))
    assert (stage.folder / "ran.txt").read_text().split()[:3] == ["plan", "-", "1"]


@pytest.mark.parametrize("path", ["../out.txt", "link/out.txt"])
@pytest.mark.parametrize("key", ["documents", "files", "append", "replace", "delete", "record", "wait_for"])
def test_no_key_writes_outside_its_folder(stage: Stage, tmp_path: Path, path: str, key: str) -> None:
    outside = tmp_path / "outside"
    for folder in (outside, stage.folder.parent, stage.project.parent):
        folder.mkdir(exist_ok=True)
        (folder / "out.txt").write_text("old")
    for folder in (stage.project, stage.folder):
        (folder / "link").symlink_to(outside)
    values = {"replace": {path: [["old", "new"]]}, "delete": [path], "record": path, "wait_for": path}
    reply, code, _ = stage.play({key: values.get(key, {path: "new"})})
    assert f"The path '{path}' is not inside" in reply.error
    assert (reply.complete, code) == (False, 1)
    for folder in (outside, stage.folder.parent, stage.project.parent):
        assert (folder / "out.txt").read_text() == "old"


@pytest.mark.parametrize(
    "path", ["..", "../a", "/a", "{root}/a", "a/../../b", "a/../b", "link/a", "link", "", ".", "x/."]
)
def test_a_path_that_leads_out_is_refused(tmp_path: Path, path: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "link").symlink_to(tmp_path / "elsewhere")
    (root / "x").symlink_to(root)
    with pytest.raises(script.Trouble, match="is not inside"):
        file_edits.inside(str(root), path.format(root=root))


def test_a_link_within_the_folder_is_followed(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to("real")
    assert file_edits.inside(str(tmp_path), "link/a") == str(tmp_path / "real" / "a")


@pytest.mark.parametrize(("content", "found"), [("a b", 0), ("old old", 2)])
def test_a_replacement_needs_the_old_text_exactly_once(stage: Stage, content: str, found: int) -> None:
    (stage.project / "a.txt").write_text(content)
    reply, _, _ = stage.play({"replace": {"a.txt": [["old", "new"]]}})
    assert f"a.txt holds 'old' {found} times" in reply.error
    assert (stage.project / "a.txt").read_text() == content


def test_a_write_that_cannot_be_done_is_an_error_and_leaves_no_rest(stage: Stage) -> None:
    (stage.project / "folder").mkdir()
    for entry in (
        {"files": {"folder": "x"}},
        {"files": {"folder\0": "x"}},
        {"delete": ["absent"]},
        {"replace": {"absent": [["a", "b"]]}},
    ):
        reply, code, _ = stage.play(entry)
        assert (reply.complete, code) == (False, 1)
        assert any(word in reply.error for word in ("folder", "absent", "null byte"))
    assert not list(stage.project.rglob("*.tmp"))


def test_a_step_without_an_entry_is_an_error(stage: Stage) -> None:
    stage.write({"other": {}, "none": []})
    assert stage.perform(stage.job())[0].error == "The script has nothing for step propose."
    assert stage.perform(stage.job(item="t1"))[0].error == "The script has nothing for step propose (item t1)."
    assert stage.perform(stage.job("none"))[0].error == "The script has nothing for step none."


def test_a_missing_script_file_is_named(stage: Stage) -> None:
    reply, code, _ = stage.perform(stage.job())
    assert "script.yaml" in reply.error
    assert code == 1


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (
            "propose:\n  docments: {a: b}\n",
            "line 2: step `propose` has an unknown key `docments`; did you mean `documents`?",
        ),
        ("other:\n- {}\n- say: x\n  zzzzzz: 1\n", "line 4: step `other` has an unknown key `zzzzzz`."),
        ("propose: {}\npropose: {}\n", "line 2: the script has the key `propose` twice."),
        ("propose: {say: a, say: b}\n", "line 1: an entry of step `propose` has the key `say` twice."),
        ("on: {}\n", "line 1: the script has a key that is no text; quote it."),
        ("? [a]\n: {}\n", "line 1: the script has a key that is no text; quote it."),
        ("propose: {outcome: yes}\n", "line 1: step `propose`: `outcome` must be text (quote it)."),
        ("propose: {documents: {a.md: 1}}\n", "`documents` must be a mapping from path to text (quote it)."),
        ("propose: {replace: {a: [x, y]}}\n", "`replace` must be a mapping from path to a list, each [old, new]."),
        ("propose: {replace: {a: [['', y]]}}\n", "`replace` must be"),
        (
            "propose: {fail: sometimes}\n",
            "`fail` must be one of error, exit, garbage, no-result, empty, crash, quota, auth, transient, refused, unreadable, lost.",
        ),
        ("propose: {fail: [error]}\n", "`fail` must be one of"),
        ("propose: {hang: -1}\n", "`hang` must be true or a number of seconds."),
        ("propose: {hang: .inf}\n", "`hang` must be"),
        ("propose: {code: true}\n", "`code` must be an exit code from 0 to 255."),
        ("propose: {run: git status}\n", "`run` must be one command or a list of commands."),
        ("propose: {run: [[git], status]}\n", "`run` must be"),
        (
            "propose: {usage: {tokens: 1}}\n",
            "`usage` must be a mapping of tokens_in, tokens_out, cached_in and cost to numbers.",
        ),
        ("propose: {usage: {tokens_in: 1.5}}\n", "`usage` must be"),
        ("propose: {usage: {[a]: 1}}\n", "unhashable"),
        ("propose:\n", "line 1: an entry of step `propose` must be a mapping."),
        ("propose: words\n", "an entry of step `propose` must be a mapping."),
        ("- propose\n", "line 1: the script must be a mapping."),
        ("", "script.yaml: the script must be a mapping."),
        ("propose: {}\n--- {}\n", "line 2: but found another document."),
        ("propose: [\n", "line 2: did not find expected node content."),
        ("propose: !!python/name:os.system {}\n", "could not determine a constructor"),
        ("propose: &a {files: *a}\n", "recursive"),
        ("propose: {say: \x07}\n", "script.yaml"),
    ],
)
def test_a_broken_script_is_refused_with_the_place(text: str, error: str) -> None:
    with pytest.raises(script.Trouble) as caught:
        script.load(text.encode(), "script.yaml")
    assert error in str(caught.value)
    assert str(caught.value).startswith("script.yaml")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("text", [b"other: {docments: {}}\npropose: {}\n", b"\xff\xfe\xff", b"propose: {say: \xff}\n"])
def test_a_broken_script_is_not_played_at_all(stage: Stage, text: bytes) -> None:
    stage.script.write_bytes(text)
    reply, code, _ = stage.perform(stage.job())
    assert str(stage.script) in reply.error
    assert (reply.complete, code) == (False, 1)


def test_anchors_and_merges_save_repetition() -> None:
    text = "a: &a {say: hi, outcome: x}\nb: [*a, {<<: *a, outcome: y}]\n"
    loaded = script.load(text, "s.yaml")
    assert loaded["b"] == [{"say": "hi", "outcome": "x"}, {"say": "hi", "outcome": "y"}]


@given(
    st.dictionaries(
        st.text(),
        st.dictionaries(
            st.sampled_from([*script.KEYS, "unknown"]),
            st.recursive(
                st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
                lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(), inner, max_size=2),
                max_leaves=4,
            ),
            max_size=3,
        ),
        max_size=2,
    )
)
@example({"a": {"hang": 1e22}})
@example({"a": {"say": "\x7f\x85\u2028\U0001f600"}})
def test_a_script_in_json_is_what_yaml_makes_of_it(data: Any) -> None:
    text = json.dumps(data, ensure_ascii=False)
    found = script._from_json(text)
    try:
        expected = script._from_yaml(text, "script.yaml")
    except script.Trouble:
        expected = None
    assert found == expected or "".join(filter(str.isprintable, text)) != text


@pytest.mark.parametrize(
    "text", ['{"a": {"say": "x", "say": "y"}}', '{"a": {}, "a": {}}', '{"a": {"sya": "x"}}', "[]", "{"]
)
def test_what_is_wrong_in_json_is_told_with_its_line(text: str) -> None:
    with pytest.raises(script.Trouble, match=r"s\.yaml, line "):
        script.load(text, "s.yaml")


def test_the_prompt_is_taken_however_long_it_is(stage: Stage) -> None:
    stage.write({"propose": {}})
    assert stage.perform(replace(stage.job(), prompt="ü" * 1_000_000))[0].complete


def test_a_package_called_agentd_in_the_project_does_not_get_in_the_way(stage: Stage) -> None:
    for name in (
        "agentd/__init__.py",
        "agentd/agents/__init__.py",
        "agentd/agents/scripted_agent.py",
        "yaml.py",
        "json.py",
    ):
        path = stage.project / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("raise SystemExit('the wrong one')\n")
    reply, _, _ = stage.play({"say": "the right one"})
    assert reply.text == "the right one"


def test_events_are_readable_whatever_the_locale(stage: Stage) -> None:
    entry = {"say": "grüße", "lines": ["ü"], "documents": {"a.md": "ü"}}
    reply, _, out = stage.play(entry, LC_ALL="C", PYTHONUTF8="0", PYTHONCOERCECLOCALE="0", PYTHONIOENCODING="latin-1")
    assert reply.text == "grüße"
    assert "ü" in out.splitlines()
    assert [file.read_text("utf-8") for file in stage.folder.iterdir()] == ["ü"]


def test_the_command_names_the_program_and_what_it_needs(stage: Stage) -> None:
    job = replace(stage.job("build", 3, "t1"), settings={"script": "s.yaml"}, folder="agentd/changes/x")
    command = scripted.command(job)
    assert command.argv == (sys.executable, "-P", "-m", "agentd.agents.scripted_agent")
    assert command.stdin == "the prompt"
    needed = {
        "AGENTD_SCRIPT": str(stage.project / "s.yaml"),
        "AGENTD_FOLDER": str(stage.project / "agentd/changes/x"),
        "AGENTD_STEP": "build",
        "AGENTD_ROLE": "planner",
        "AGENTD_VISIT": "3",
        "AGENTD_ITEM": "t1",
        "AGENTD_MODEL": "",
        "AGENTD_EFFORT": "",
        "AGENTD_SESSION": "",
        "AGENTD_SERVER": "",
    }
    assert needed.items() <= command.env.items()
    assert scripted.command(replace(job, effort="high")).env["AGENTD_EFFORT"] == "high"
    served = scripted.command(replace(job, tools=("read_file",), server=("agentd", "mcp")))
    assert json.loads(served.env["AGENTD_SERVER"]) == ["agentd", "mcp"]


@pytest.mark.parametrize(
    "tools",
    [
        "create_proposal",
        [["create_proposal"]],
        [{"create_proposal": "text"}],
        [{"create_proposal": {}, "create_spec": {}}],
        [{"expect_error": True}],
        [{"create_proposal": {}, "expect_error": "yes"}],
    ],
)
def test_a_list_of_tool_calls_that_is_none_is_refused(stage: Stage, tools: object) -> None:
    reply, _, _ = stage.play({"tools": tools})
    assert "`tools` must be a list" in reply.error


def test_tools_without_a_server_are_an_error_in_words(stage: Stage) -> None:
    reply, _, _ = stage.play({"tools": [{"read_file": {}}]})
    assert "This step has no tools" in reply.error


def test_a_job_without_a_script_is_refused_with_the_setting_to_add(stage: Stage) -> None:
    with pytest.raises(BadConfig) as caught:
        scripted.command(replace(stage.job(), settings={}))
    assert caught.value.fix == '${EDITOR:-vi} agentd/config.toml   # [scripted] script = "script.yaml"'


def test_started_by_hand_the_player_says_why_it_does_nothing() -> None:
    env = {name: value for name, value in os.environ.items() if name != "AGENTD_SCRIPT"}
    argv = [sys.executable, "-P", "-m", "agentd.agents.scripted_agent"]
    ended = subprocess.run(argv, env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=30)
    assert "AGENTD_SCRIPT is not set" in scripted.read(ended.stdout.splitlines()).error
    assert ended.returncode == 1


def event(**fields: object) -> str:
    return json.dumps({"type": "result", "status": "success", **fields})


def test_lines_around_the_result_that_are_no_events_are_passed_over() -> None:
    lines = [
        "",
        "warning",
        "[1]",
        '"x"',
        "null",
        "{",
        "[" * 100_000,
        "1" * 5000,
        event(text="ok"),
        "{torn",
        event(text="ok"),
    ]
    assert scripted.read(lines) == Reply("ok", complete=True)


@pytest.mark.parametrize(
    "lines",
    [
        [],
        ['{"type": "start"}'],
        ['{"type": "result"}'],
        [event(status="error")],
        [event(status="error", error="why")],
        [event(status="great")],
        [event(status=True)],
        [event(error="but no")],
        [event(text=1)],
        [event(outcome=["approved"])],
        [event(session={})],
        [event(usage=[1])],
        [event(usage={"tokens_in": "12"})],
        [event(usage={"tokens_in": True})],
        [event(usage={"tokens_out": 1.5})],
        [event(usage={"tokens_out": -1})],
        [event(usage={"cached_in": 0.5})],
        [event(usage={"cost": float("nan")})],
        [event(usage={"cost": float("inf")})],
        ['{"type": "start", "model": 5}', event()],
        [event(), event(outcome="approved")],
        [event(), event(status="error")],
        [event(), event(text=1)],
    ],
)
def test_anything_but_one_clear_success_is_an_error(lines: list[str]) -> None:
    reply = scripted.read(lines)
    assert not reply.complete
    assert reply.error


def test_what_the_result_leaves_out_stays_unknown() -> None:
    assert scripted.read([event(usage={"tokens_in": 0}, text=None)]).usage == Usage(tokens_in=0)


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.sampled_from(["success", "error", 10**400]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["tokens_in", "cost", "x"]), inner),
    max_leaves=5,
)
fields = st.sampled_from(["type", "status", "text", "outcome", "error", "usage", "session", "model"])
events = st.dictionaries(fields, values).flatmap(
    lambda some: st.sampled_from([some, {"type": "result", "status": "success"} | some, {**some, "type": "start"}])
)


@given(st.lists(st.text() | events.map(json.dumps)))
def test_reading_never_raises_and_never_calls_complete_what_has_no_result(lines: list[str]) -> None:
    reply = scripted.read(lines)
    assert reply.complete == (not reply.error)
    if reply.complete:
        found = [json.loads(line) for line in lines if '"result"' in line and '"success"' in line]
        assert any(
            isinstance(one, dict) and (one.get("type"), one.get("status")) == ("result", "success") for one in found
        )
