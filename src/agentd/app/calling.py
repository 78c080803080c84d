"""One call of one agent: a prompt in, a transcript on disk, an outcome out. The transcript decides, also after a kill."""

import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

from agentd import process
from agentd.agents import table
from agentd.app import advice, challenging, context, guarding, spending
from agentd.app.jobs import CALL, is_self_review, make_job, model_of
from agentd.documents.reply import Stated, find_outcome, judge, self_review
from agentd.errors import Interrupted, NotFound
from agentd.model.change import Review
from agentd.model.job import Job, Reply
from agentd.model.moment import Moment
from agentd.model.run import Outcome, Run
from agentd.model.workflow import RESERVED, Step
from agentd.redaction import redact, secret_values
from agentd.state import durable

if TYPE_CHECKING:
    from agentd.app.work import Work


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
    return f"{step.name}-{visits(work, step.name) + 1}.1"


def visits(work: "Work", step: str) -> int:
    """How often a step was called."""
    return max((int(found["visit"]) for found, _ in _transcripts(work, step)), default=0)


def last_called(work: "Work", step: str) -> float:
    """When an agent last said something at a step; 0 if it never did."""
    return max((path.stat().st_mtime for _, path in _transcripts(work, step)), default=0.0)


def _transcripts(work: "Work", step: str) -> Iterator[tuple[re.Match[str], Path]]:
    folder = work.store.folder / "calls"
    for path in folder.glob("*.jsonl") if folder.is_dir() else ():
        found = CALL.fullmatch(path.stem)
        if found and found["step"] == step:
            yield found, path


def keep_what_is_seen(work: "Work", step: Step) -> None:
    """What a challenger is about to see is known before its call is begun."""
    if work.is_change and step.what == "challenger":
        challenging.snapshot(work)


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
    """Run the agent that plays the step's role and judge what it did; what was not its to change is put back."""
    before = guarding.reviews(work)
    outcome = _call(work, run, step, before)
    if outcome.word == "failed" and step.what == "challenger":
        guarding.put_reviews_back(work, before)
    return outcome


def _call(work: "Work", run: Run, step: Step, before: Sequence[Review]) -> Outcome:
    assert run.intent is not None
    agent = work.project.config.agent_of(step.what)
    env, context_file = _prepare(work, step)
    job = make_job(work, run, step, agent, env, context_file)
    done, reply = _converse(work, run, step, agent, job)
    if reply.lost and job.session:
        for line in advice.lost_conversation(job.session):
            work.say(line)
        at = transcript(work, run.intent.call)
        at.rename(at.with_suffix(".lost.jsonl"))
        done, reply = _converse(work, run, step, agent, replace(job, session=""))
    guarding.put_reviews_back(work, before, run.intent.call if "append_review" in step.tools else "")
    forged = guarding.put_state_back(work)
    if forged:
        return Outcome("failed", forged)
    if done.ended != "exit":
        clock = f"{done.ended}_secs"
        why = f"by [calls] {clock} = {work.project.config.get('calls', clock)}"
        return Outcome("failed", f"{agent} was ended after {done.seconds:.0f} s {why}")
    if not reply.complete:
        secrets = secret_values(work.secrets())
        said = " ".join(filter(None, (reply.error, redact(" ".join(done.errors[-3:]), secrets))))
        return Outcome("failed", f"{agent} (exit {done.code}): {said or 'no result'}")
    return _conclude(work, run, step, reply)


def _prepare(work: "Work", step: Step) -> tuple[dict[str, str], str]:
    """The files an agent of a change finds beside the documents, made anew, and where its environment says they are."""
    if not work.is_change:
        return {}, ""
    if step.what == "challenger":
        context.skeleton(work.home, work.top.state.run.name)
    path, env = context.prepare(work.project, work.home, work.top.state.run.name, step.what, work.cwd)
    return env, path


def _converse(work: "Work", run: Run, step: Step, agent: str, job: Job) -> tuple[process.Finished, Reply]:
    """Run the agent's program to its end, keep what it printed and what it used, and read it."""
    assert run.intent is not None
    config, call = work.project.config, run.intent.call
    command = find_agent(work, step).command(job)
    path = transcript(work, call)
    durable.make_folder(path.parent)
    secrets = secret_values({**work.secrets(), **command.env})
    moment = Moment("begin", _full_name(work, call), _full_name(work, step.name), step.what, agent, job.model)
    work.project.watch(moment)
    made = None
    try:
        with written(path) as log:

            def keep(line: str) -> None:
                clean = redact(line, secrets)
                log.write(clean + "\n")
                work.project.watch(replace(moment, kind="line", line=clean))

            done = process.run(
                command.argv,
                cwd=work.cwd,
                env={**job.env, **command.env, **work.environment()},
                stdin=command.stdin,
                timeout=float(config.get("calls", "timeout_secs")),
                silence=float(config.get("calls", "silence_secs")),
                grace=float(config.get("calls", "grace_secs")),
                on_line=keep,
                stop=work.project.interrupted,
            )
        if done.ended == "stopped":
            raise Interrupted(15)
        reply = read_transcript(work, step, call)
        made = spending.record(work, run, step, agent, model_of(work, agent), reply, round(done.seconds * 1000))
    finally:
        used = (made.usage.tokens_in, made.usage.tokens_out) if made else (None, None)
        known = [tokens for tokens in used if tokens is not None]
        ended = replace(moment, kind="end", tokens=sum(known) if known else None, cost=made.cost if made else None)
        work.project.watch(ended)
    return done, reply


def finished_before(work: "Work", run: Run, step: Step) -> Outcome | None:
    """The outcome of an attempt whose agent had finished when agentd was killed; what it used is kept either way."""
    assert run.intent is not None
    path = transcript(work, run.intent.call)
    if not path.is_file() or not path.stat().st_size:
        return None
    reply = read_transcript(work, step, run.intent.call)
    agent = work.project.config.agent_of(step.what)
    took = path.stat().st_mtime - _begun(work, run)
    spending.record(work, run, step, agent, model_of(work, agent), reply, max(0, round(took * 1000)))
    if not reply.complete:
        return None
    outcome = _conclude(work, run, step, reply)
    return None if outcome.word == "failed" else outcome


def read_transcript(work: "Work", step: Step, call: str) -> Reply:
    adapter = find_agent(work, step)
    with transcript(work, call).open(encoding="utf-8", errors="replace") as lines:
        return adapter.read(line.rstrip("\n") for line in lines)


def _conclude(work: "Work", run: Run, step: Step, reply: Reply) -> Outcome:
    """What a complete reply amounts to; the conversation of one that did its work is kept for later."""
    if work.is_change and step.what == "challenger":
        outcome = challenging.judge_challenge(work, run, reply)
    else:
        outcome = judge_reply(work, run, step, reply)
    if reply.session and outcome.word != "failed" and not is_self_review(step):
        key = "session_id" if step.what == "planner" or not work.is_change else f"{step.what}_session_id"
        with work.top.guard:
            work.top.note(key, reply.session.encode(errors="replace").decode())
    return outcome


def judge_reply(work: "Work", run: Run, step: Step, reply: Reply) -> Outcome:
    """Success is a result event, a stated outcome the table has, and every artifact written by this very call."""
    assert run.intent is not None
    words = [word for word in step.next if word not in RESERVED]
    if is_self_review(step):
        said = reply.outcome if reply.outcome in words else self_review(reply.text)
        return Outcome(said, _first_line(reply.text))
    stated = judge([reply.outcome], words) if reply.outcome else find_outcome(reply.text, words)
    if not stated.word and len(words) == 1 and "no outcome" in stated.problem:
        stated = Stated(words[0])
    if not stated.word:
        return Outcome("failed", stated.problem)
    begun = _begun(work, run)
    missing = [f"{work.named(name)}: {why}" for name in step.produces if (why := work.artifact(name, begun))]
    if missing:
        return Outcome("failed", f"the agent said '{stated.word}', but {'; '.join(missing)}")
    return Outcome(stated.word, _first_line(reply.text))


def _begun(work: "Work", run: Run) -> float:
    """When the call under way was begun."""
    assert run.intent is not None
    try:
        return datetime.fromisoformat(run.intent.at).timestamp()
    except ValueError:
        raise work.store.corrupt(f"'{run.intent.at}' is no time", "run", "intent", "at") from None


def _first_line(text: str) -> str:
    return text.strip().splitlines()[0][:200] if text.strip() else ""


def _full_name(work: "Work", name: str) -> str:
    return " ".join((name, *work.items_above()))
