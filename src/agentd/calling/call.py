"""An agent at work on a step: called, called again where that can help, replaced where it cannot go on, and judged."""

import time
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from agentd.calling import budget, retry, roster, transcripts
from agentd.calling.conversation import Ended, converse
from agentd.calling.job import is_self_review, make_job
from agentd.calling.reply import Stated, find_outcome, judge, self_review
from agentd.calling.roster import Player
from agentd.calling.transcripts import CALL, Told
from agentd.engine.advance import begin, lay_down
from agentd.errors import AgentUnavailable, Interrupted
from agentd.families.change import advice, challenge, code_verdict, context_files, safeguard, tasks
from agentd.families.change.safeguard import Kept
from agentd.model.job import Failure, Reply
from agentd.model.run import Outcome, Run
from agentd.model.workflow import RESERVED, Step
from agentd.redaction import redact, secret_values
from agentd.runs import state_guard

if TYPE_CHECKING:
    from agentd.runs.work import Work


CLOCKS = ("timeout", "silence")


@dataclass(frozen=True)
class Tried:
    """What one call came to: an outcome, and the class of its failure if it failed through its agent."""

    outcome: Outcome
    failure: Failure | None = None
    reply: Reply = field(default_factory=Reply)
    resumed: bool = False


def next_call(work: "Work", run: Run, step: Step) -> str:
    """`step-visit.attempt`: a repeated attempt at an interrupted call keeps its visit."""
    before = CALL.fullmatch(run.intent.call) if run.intent else None
    if before and before["step"] == step.name:
        return f"{step.name}-{before['visit']}.{int(before['attempt']) + 1}"
    return f"{step.name}-{transcripts.visits(work, step.name) + 1}.1"


def keep_what_is_seen(work: "Work", step: Step) -> None:
    """What a challenger is about to see is known before its call is begun."""
    if work.is_change and step.what == "challenger":
        challenge.snapshot(work)


def call_agent(work: "Work", run: Run, step: Step) -> Outcome:
    """Have the step's role played until it is done, or until nothing more can be tried."""
    before = safeguard.remember(work)
    waiting = roster.line_up(work.project, step.what)
    player, tries, afresh = waiting.pop(0), 0, False
    while True:
        tries += 1
        tried = _call(work, run, step, player, before, afresh)
        if tried.outcome.word == "failed" and step.what == "challenger":
            state_guard.put_reviews_back(work, before.reviews)
        if tried.failure is None:
            return tried.outcome
        retries = int(work.project.config.get("workflow", "script_retries"))
        asked = tried.reply.retry_after
        move = retry.next_move(tried.failure, tries, retries, bool(waiting), tried.resumed, asked)
        if move == "stop":
            return tried.outcome
        if move == "pause":
            work.save(lay_down(run), "pause", step=step.name, why="waiting", note=tried.outcome.note)
            raise advice.out_of_service(
                player.agent, player.adapter.login, tried.failure, tried.outcome.note, _again(work)
            )
        if move == "again":
            _wait(work, player, tried, tries, retries)
        elif move == "other":
            player, tries = waiting.pop(0), 0
            work.say(f"⚠ {tried.outcome.note}: {player.agent} plays the {step.what} instead")
        else:
            afresh, tries = True, 0
        run = begin(run, work.intent(run, step))
        work.save(run, "retry", step=step.name, why=tried.failure, note=tried.outcome.note)


def _again(work: "Work") -> str:
    name = work.top.state.run.name
    return next(
        (
            f"agentd {word} {name}"
            for word, phases in work.top.workflow.commands.items()
            if work.top.state.run.phase in phases
        ),
        f"agentd resume {work.top.workflow.name}/{name}",
    )


def _wait(work: "Work", player: Player, tried: Tried, tries: int, retries: int) -> None:
    """Give a service time; a signal or a request to stop ends the wait, and the next command tries again."""
    first = float(work.project.config.get("workflow", "retry_delay_secs"))
    seconds = retry.delay(tries, first, tried.reply.retry_after)
    work.say(f"⚠ {tried.outcome.note}: trying {player.agent} again in {seconds:g} s ({tries} of {retries})")
    until = time.monotonic() + seconds
    while (left := until - time.monotonic()) > 0:
        if work.project.interrupted.wait(min(left, 0.2)):
            raise Interrupted(15)
        if work.stopping():
            raise AgentUnavailable(f"Stopped before {player.agent} was tried again.", _again(work))


def _call(work: "Work", run: Run, step: Step, player: Player, before: Kept, afresh: bool) -> Tried:
    """One call of one agent, judged; what was not its to change is put back."""
    assert run.intent is not None
    env, context_file = _prepare(work, step)
    job = make_job(work, run, step, player.agent, env, context_file)
    if afresh:
        job = replace(job, session="")
    ended, told = converse(work, run, step, player, job)
    state_guard.put_reviews_back(work, before.reviews, run.intent.call if "append_review" in step.tools else "")
    meddled = safeguard.put_back(work, before, step.produces)
    forged = state_guard.put_state_back(work) or meddled
    reply, resumed = told.reply, bool(job.session)
    if forged:
        return Tried(Outcome("failed", forged))
    if ended.how != "exit":
        return Tried(
            Outcome("failed", _overdue(work, player.agent, ended)), "hang" if ended.how in CLOCKS else "failed"
        )
    if not reply.complete:
        failure: Failure = reply.failure or "unreadable"
        if failure == "lost" and resumed:
            for line in advice.lost_conversation(job.session):
                work.say(line)
        return Tried(Outcome("failed", _complaint(work, player.agent, ended, reply)), failure, reply, resumed)
    outcome = _conclude(work, run, step, told)
    if outcome.word == "failed" and reply.refused:
        tools = ", ".join(dict.fromkeys(reply.refused))
        return Tried(replace(outcome, note=f"{outcome.note} ({player.agent} was refused: {tools})"), "refused", reply)
    return Tried(outcome)


def _overdue(work: "Work", agent: str, ended: Ended) -> str:
    key = f"{ended.how}_secs" if ended.how in CLOCKS else ended.how
    return f"{agent} was ended after {ended.seconds:.0f} s by [calls] {key} = {work.project.config.get('calls', key)}"


def _complaint(work: "Work", agent: str, ended: Ended, reply: Reply) -> str:
    """What an agent that did not finish said; where that is no answer, also the last of what its program complained of."""
    last = " ".join(ended.errors[-3:]) if reply.failure in ("", "unreadable", "failed") else ""
    told = (reply.error, "" if last in reply.error else last)
    said = redact(" ".join(filter(None, told)), secret_values(work.secrets()))
    return f"{agent} (exit {ended.code}): {said or 'no result'}"


def _prepare(work: "Work", step: Step) -> tuple[dict[str, str], str]:
    """The files an agent of a change finds beside the documents, made anew, and where its environment says they are."""
    if not work.is_change:
        return {}, ""
    if step.what == "challenger":
        context_files.skeleton(work.home, work.top.state.run.name)
    if step.what == "reviewer":
        code_verdict.prepare(work)
    if step.name == "implement":
        tasks.begin_tasks(work)
    path, env = context_files.prepare(work.project, work.home, work.top.state.run.name, step.what, work.cwd)
    return env, path


def finished_before(work: "Work", run: Run, step: Step) -> Outcome | None:
    """The outcome of an attempt whose agent had finished when agentd was killed; what it used is kept either way."""
    assert run.intent is not None
    path = transcripts.path_of(work, run.intent.call)
    if not path.is_file() or not path.stat().st_size:
        return None
    told = transcripts.read(work, run.intent.call, step.what)
    took = path.stat().st_mtime - _begun(work, run)
    budget.record(work, run, step, told, max(0, round(took * 1000)))
    if not told.reply.complete:
        return None
    outcome = _conclude(work, run, step, told)
    return None if outcome.word == "failed" else outcome


def _conclude(work: "Work", run: Run, step: Step, told: Told) -> Outcome:
    """What a complete reply amounts to; the conversation of one that did its work is kept for later."""
    reply = told.reply
    if work.is_change and step.what == "challenger":
        outcome = challenge.judge_challenge(work, run, reply)
    elif work.is_change and step.what == "reviewer":
        outcome = code_verdict.judge_review(work, run, reply, work.artifact("REVIEW.md", _begun(work, run)))
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
