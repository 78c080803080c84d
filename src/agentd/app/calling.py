"""One call of one agent: a prompt in, a transcript on disk, an outcome out. The transcript decides, also after a kill."""

import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from agentd import process
from agentd.agents import table
from agentd.documents.reply import Stated, find_outcome, judge
from agentd.errors import BadConfig, Interrupted, NotFound
from agentd.model.job import Job, Reply
from agentd.model.run import Outcome, Run
from agentd.model.workflow import RESERVED, Step, is_check
from agentd.prompts.render import built_in, render
from agentd.redaction import redact, secret_values
from agentd.state import durable

if TYPE_CHECKING:
    from agentd.app.work import Work

CALL = re.compile(r"(?P<step>.+)-(?P<visit>\d+)\.(?P<attempt>\d+)")


def find_agent(work: "Work", step: Step) -> table.Adapter:
    """The agent that plays the step's role, looked for before anything is begun."""
    name = work.project.config.agent_of(step.what)
    try:
        return table.find(name)
    except NotFound as error:
        config = work.project.relative(work.project.root / "agentd" / "config.toml")
        raise NotFound(
            f"There is no agent '{name}' to play the {step.what}.",
            f"printf '[roles]\n{step.what} = \"scripted\"\n' >> {config}   # {error.fix}",
        ) from None


def next_call(work: "Work", run: Run, step: Step) -> str:
    """`step-visit.attempt`: a repeated attempt at an interrupted call keeps its visit."""
    if step.kind != "agent":
        return f"{step.name}-{work.state.saves}"
    before = CALL.fullmatch(run.intent.call) if run.intent else None
    if before and before["step"] == step.name:
        return f"{step.name}-{before['visit']}.{int(before['attempt']) + 1}"
    folder = work.store.folder / "calls"
    names = [CALL.fullmatch(path.stem) for path in folder.glob("*.jsonl")] if folder.is_dir() else []
    visits = [int(found["visit"]) for found in names if found and found["step"] == step.name]
    return f"{step.name}-{max(visits, default=0) + 1}.1"


def transcript(work: "Work", call: str) -> Path:
    return work.store.folder / "calls" / f"{call}.jsonl"


@contextmanager
def written(path: Path) -> Iterator[TextIO]:
    """A transcript as it is written; a disk that does not take it is told in words."""
    try:
        with path.open("w", encoding="utf-8", buffering=1) as log:
            yield log
    except OSError as error:
        raise durable.trouble(path, error) from error


def call_agent(work: "Work", run: Run, step: Step) -> Outcome:
    """Run the agent that plays the step's role and judge what it did."""
    assert run.intent is not None
    config = work.project.config
    agent = config.agent_of(step.what)
    adapter = find_agent(work, step)
    job = make_job(work, run, step, agent)
    command = adapter.command(job)
    path = transcript(work, run.intent.call)
    durable.make_folder(path.parent)
    secrets = secret_values({**work.secrets(), **command.env})
    with written(path) as log:

        def keep(line: str) -> None:
            log.write(redact(line, secrets) + "\n")

        done = process.run(
            command.argv,
            cwd=work.project.root,
            env={**command.env, **work.environment()},
            stdin=command.stdin,
            timeout=float(config.get("calls", "timeout_secs")),
            silence=float(config.get("calls", "silence_secs")),
            grace=float(config.get("calls", "grace_secs")),
            on_line=keep,
            stop=work.project.interrupted,
        )
    if done.ended == "stopped":
        raise Interrupted(15)
    if done.ended != "exit":
        clock = f"{done.ended}_secs"
        why = f"by [calls] {clock} = {config.get('calls', clock)}"
        return Outcome("failed", f"{agent} was ended after {done.seconds:.0f} s {why}")
    reply = read_transcript(work, step, run.intent.call)
    if not reply.complete:
        said = " ".join(filter(None, (reply.error, redact(" ".join(done.errors[-3:]), secrets))))
        return Outcome("failed", f"{agent} (exit {done.code}): {said or 'no result'}")
    remember(work, reply)
    return judge_reply(work, run, step, reply)


def finished_before(work: "Work", run: Run, step: Step) -> Outcome | None:
    """The outcome of an attempt whose agent had finished when agentd was killed."""
    assert run.intent is not None
    if not transcript(work, run.intent.call).is_file():
        return None
    reply = read_transcript(work, step, run.intent.call)
    if not reply.complete:
        return None
    outcome = judge_reply(work, run, step, reply)
    if outcome.word == "failed":
        return None
    remember(work, reply)
    return outcome


def read_transcript(work: "Work", step: Step, call: str) -> Reply:
    adapter = find_agent(work, step)
    with transcript(work, call).open(encoding="utf-8", errors="replace") as lines:
        return adapter.read(line.rstrip("\n") for line in lines)


def judge_reply(work: "Work", run: Run, step: Step, reply: Reply) -> Outcome:
    """Success is a result event, a stated outcome the table has, and every artifact written by this very call."""
    assert run.intent is not None
    words = [word for word in step.next if word not in RESERVED]
    stated = judge([reply.outcome], words) if reply.outcome else find_outcome(reply.text, words)
    if not stated.word and len(words) == 1 and "no outcome" in stated.problem:
        stated = Stated(words[0])
    if not stated.word:
        return Outcome("failed", stated.problem)
    try:
        begun = datetime.fromisoformat(run.intent.at).timestamp()
    except ValueError:
        raise work.store.corrupt(f"'{run.intent.at}' is no time", "run", "intent", "at") from None
    missing = [f"{name}: {why}" for name in step.produces if (why := work.artifact(name, begun))]
    if missing:
        return Outcome("failed", f"the agent said '{stated.word}', but {'; '.join(missing)}")
    return Outcome(stated.word, reply.text.strip().splitlines()[0][:200] if reply.text.strip() else "")


def remember(work: "Work", reply: Reply) -> None:
    """What later steps want of a call: the conversation, if the agent has one."""
    if reply.session:
        work.note("session_id", reply.session.encode(errors="replace").decode())


def make_job(work: "Work", run: Run, step: Step, agent: str) -> Job:
    assert run.intent is not None
    found = CALL.fullmatch(run.intent.call)
    words = tuple(word for word in step.next if word not in RESERVED)
    settings = {key: str(value) for key, value in work.project.config.sections.get(agent, {}).items()}
    if settings.get("script"):
        settings["script"] = str(work.project.root / settings["script"])
    return Job(
        call=run.intent.call,
        step=step.name,
        role=step.what,
        visit=int(found["visit"]) if found else 1,
        prompt=make_prompt(work, step, words),
        cwd=str(work.project.root),
        folder=str(work.store.folder),
        outcomes=words,
        item=work.item,
        tools=step.tools,
        server=server(work, run.intent.call) if step.tools else (),
        settings=settings,
    )


def server(work: "Work", call: str) -> tuple[str, ...]:
    """The program that gives an agent the tools of its step; said in full, as some agents pass on no environment."""
    # -P: without it the `agentd` folder of the project in cwd could stand in for this package.
    return (sys.executable, "-P", "-m", "agentd", "mcp", "--run", str(work.store.folder), "--call", call)


def make_prompt(work: "Work", step: Step, words: tuple[str, ...]) -> str:
    """The step's own template from `agentd/prompts/`, or the built-in one."""
    own = work.project.root / "agentd" / "prompts" / f"{step.name}.md"
    try:
        template = own.read_text(encoding="utf-8") if own.is_file() else built_in("step")
    except UnicodeDecodeError:
        raise BadConfig(f"{own}: not UTF-8 text.", f"iconv -f latin1 -t utf-8 -o {own} {own}") from None
    values = {
        "role": step.what,
        "workflow": work.workflow.name,
        "step": step.name,
        "run": work.top.state.run.name,
        "item": f", item {work.item}" if work.item else "",
        "description": str(work.top.state.fields.get("description", "")),
        "root": str(work.project.root),
        "folder": str(work.store.folder),
        "reads": ", ".join(where(work, name) for name in step.needs if not is_check(name)) or "nothing in particular",
        "writes": ", ".join(f"{work.store.folder}/{name}" for name in step.produces) or "what the step asks for",
        "tools": f"\n- The tools of the MCP server agentd, for these documents: {', '.join(step.tools)}"
        if step.tools
        else "",
        "outcomes": ", ".join(words),
        "forward": step.forward,
    }
    return render(template, values, str(own) if own.is_file() else "step.md")


def where(work: "Work", name: str) -> str:
    """The full path of an artifact, which may be the parent's."""
    at = work
    while at.parent is not None and not any(at.files(name)):
        at = at.parent
    return f"{at.store.folder}/{name}"
