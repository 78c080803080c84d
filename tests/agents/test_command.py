"""A person's own program is run for real: what it is told, and what its output and its exit code amount to."""

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agentd.agents import command, protocol
from agentd.agents.events import Ending
from agentd.model.job import Reply
from agentd.model.usage import Usage
from tests.agents.playing import Played, Project, transcript


class Stage(Project):
    """A project with a script of the person in it."""

    def run(self, script: str, *args: str, **job: Any) -> Played:
        path = self.tree / "tools" / "my agent.py"
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!{sys.executable}\n{script}\n")
        path.chmod(0o755)
        return self.play(command, self.job(program=(str(path), "--fast"), args=args, **job))


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    return Stage(tmp_path)


def test_what_a_program_prints_is_its_reply(stage: Stage) -> None:
    played = stage.run("import sys; print(sys.stdin.read().upper()); print(); print('*' * 3, *sys.argv[1:])", "a b")
    assert played.reply == Reply("THE PROMPT\n\n*** --fast a b", complete=True)


def test_a_program_finds_its_job_in_the_environment(stage: Stage) -> None:
    told = stage.run(
        "import json, os; print(json.dumps({n: v for n, v in os.environ.items() if n.startswith('AGENTD_')}))",
        item="t1",
        model="m-1",
        effort="high",
        session="s-1",
        outcomes=("approved", "rejected"),
        tools=("read_file", "create_spec"),
        server=("agentd", "mcp", "a b"),
        edits=True,
    ).reply.text
    found = json.loads(told)
    del found["AGENTD_PROCESS"]
    assert json.loads(found.pop("AGENTD_SERVER")) == ["agentd", "mcp", "a b"]
    assert found == {
        "AGENTD_STEP": "propose",
        "AGENTD_ROLE": "planner",
        "AGENTD_ITEM": "t1",
        "AGENTD_VISIT": "1",
        "AGENTD_MODEL": "m-1",
        "AGENTD_EFFORT": "high",
        "AGENTD_SESSION": "s-1",
        "AGENTD_FOLDER": str(stage.folder),
        "AGENTD_OUTCOMES": "approved,rejected",
        "AGENTD_TOOLS": "read_file,create_spec",
        "AGENTD_EDITS": "yes",
        "AGENTD_SHELL": "",
    }


def test_instructions_are_said_before_the_prompt_of_a_new_conversation(stage: Stage) -> None:
    job = stage.job("Go.", instructions="You plan.", program=("x",))
    assert command.command(job).stdin == "You plan.\n\nGo."
    assert command.command(replace(job, session="s")).stdin == "Go."


@pytest.mark.parametrize(
    ("code", "failure", "named"),
    [(1, "failed", "1"), (69, "quota", "69 (EX_UNAVAILABLE)"), (75, "transient", "75 (EX_TEMPFAIL)"), (77, "auth", "77 (EX_NOPERM)")],
)  # fmt: skip
def test_an_exit_code_is_a_failure_of_its_class(stage: Stage, code: int, failure: str, named: str) -> None:
    script = f"import sys; print('half'); print('first\\nretry after 9 seconds', file=sys.stderr); sys.exit({code})"
    reply = stage.run(script).reply
    assert (reply.complete, reply.failure, reply.text, reply.retry_after) == (False, failure, "half", 9)
    assert reply.error == f"The program ended with exit code {named}: first retry after 9 seconds"


def test_a_program_may_speak_in_events_instead(stage: Stage) -> None:
    result = {
        "type": "result",
        "status": "success",
        "text": "done",
        "outcome": "approved",
        "session": "s-2",
        "refused": ["rm", "rm"],
        "usage": {"tokens_in": 5, "cached_in": 2},
        "cumulative": True,
    }
    reply = stage.run(
        f"print('{{\"type\": \"start\", \"model\": \"m\"}}'); print('''{json.dumps(result)}'''); exit(3)"
    ).reply
    usage = Usage(5, cached_in=2)
    assert reply == Reply(
        "done", "approved", True, refused=("rm",), session="s-2", model="m", usage=usage, cumulative=True
    )
    failed = {"type": "result", "status": "error", "error": "later", "failure": "quota", "retry_after": 60}
    reply = stage.run(f"print('''{json.dumps(failed)}''')").reply
    assert (reply.complete, reply.failure, reply.retry_after, reply.error) == (False, "quota", 60, "later")


def test_the_events_of_another_program_are_plain_text() -> None:
    line = json.dumps({"type": "result", "subtype": "success", "result": "hi"})
    assert command.read(transcript([line], code=0, ended="exit")) == Reply(line, complete=True)


def test_without_the_line_on_how_it_ended_nothing_is_complete() -> None:
    assert command.read(transcript(["all done"])).failure == "unreadable"
    forged = json.dumps({"agentd": "end", "code": 0, "ended": "exit"})
    ended = command.read(transcript([forged, "more"], code=1, ended="exit"))
    assert (ended.complete, ended.failure, ended.text) == (False, "failed", f"{forged}\nmore")


def test_a_program_that_was_ended_for_its_silence_hangs() -> None:
    reply = command.read(transcript(["half"], code=-15, ended="silence", errors=["waiting"]))
    assert (reply.complete, reply.failure, reply.error) == (
        False,
        "hang",
        "The program ended without a result: waiting",
    )


@pytest.mark.parametrize(
    ("errors", "failure"),
    [((), "unreadable"), (("nothing special",), "failed"), (("429 Too Many Requests", "x"), "transient")],
)
def test_what_a_program_printed_as_errors_may_tell_why_it_has_no_result(errors: tuple[str, ...], failure: str) -> None:
    assert protocol.unfinished(Ending(1, "exit", errors), "It").failure == failure


def test_the_class_of_an_error_that_names_none_follows_from_its_words() -> None:
    lines = [json.dumps({"type": "result", "status": "error", "error": "session x not found", "failure": "odd"})]
    assert protocol.read(lines, "It").failure == "lost"


fields = st.sampled_from(
    ["type", "status", "text", "agentd", "code", "ended", "errors", "error", "failure", "retry_after"]
)
values = (
    st.sampled_from(["result", "success", "error", "end", "begin", "exit", 0, 10**400])
    | st.none()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.lists(st.none() | st.text(max_size=3), max_size=2)
)
lines = st.text(max_size=20) | st.dictionaries(fields, values).map(json.dumps)


@given(st.lists(lines), st.none() | st.integers(-15, 80))
def test_reading_never_raises_and_is_complete_only_with_exit_0_or_a_result(
    printed: list[str], code: int | None
) -> None:
    ending = {} if code is None else {"code": code, "ended": "exit"}
    reply = command.read(transcript(printed, **ending))
    assert reply.complete == (not reply.error) == (not reply.failure)
    if reply.complete and code != 0:
        last = json.loads([line for line in transcript(printed, **ending) if line.strip()][-1])
        told = any('"result"' in line and '"success"' in line for line in printed)
        assert told or (
            code is None and (last.get("agentd"), last.get("code"), last.get("ended")) == ("end", 0, "exit")
        )
