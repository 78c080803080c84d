"""Agents at work on a step: called, called again where that can help, replaced where they cannot go on, and judged."""

import time
from collections.abc import Callable, Sequence
from dataclasses import field, replace

from agentd.calling import advice, budget, nudge, readiness, retry, roster, tool_host, transcripts
from agentd.calling.agent_call import AgentCall, checksums_before, is_self_review
from agentd.calling.conversation import Ended, converse
from agentd.calling.job import make_job
from agentd.calling.roster import Player
from agentd.calling.transcripts import CALL, Told
from agentd.engine.advance import begin, lay_down
from agentd.engine.decide import Stop
from agentd.errors import AgentUnavailable
from agentd.model.job import Failure, Reply
from agentd.model.run import Intent, Outcome, Run
from agentd.model.stamp import SERVICE
from agentd.model.workflow import Step, Workflow
from agentd.redaction import redact, secret_values
from agentd.runs import ports, state_guard, worktree
from agentd.runs.project import Project
from agentd.runs.report import again
from agentd.runs.work import Work
from agentd.values import dataclass

CLOCKS = ("timeout", "silence")


@dataclass(frozen=True)
class Tried:
    """What one call came to: an outcome, and the class of its failure if it failed through its agent."""

    outcome: Outcome
    failure: Failure | None = None
    reply: Reply = field(default_factory=Reply)
    resumed: bool = False


@dataclass(frozen=True)
class Callers:
    """Whoever plays the roles of a family, with its ways of a call."""

    call: Callable[[Work, Step], AgentCall] = AgentCall

    def notices(self, project: Project, workflow: Workflow) -> Sequence[str]:
        return roster.notices(project, workflow)

    def refuse_unready(self, project: Project, workflow: Workflow, step: str, command: str) -> None:
        readiness.refuse_unready(project, workflow, step, command)

    def hold(self, work: Work, step: Step) -> Stop | None:
        return budget.hold(work, step)

    def intent(self, work: Work, run: Run, step: Step) -> Intent:
        worktree.refuse_lost(work)
        call = self.call(work, step)
        roster.line_up(work.project, call.part)
        call.note_documents()
        return _new_intent(work, run, step)

    def recover(self, work: Work, run: Run, step: Step) -> Outcome | None:
        """The outcome of an attempt whose agent had finished when agentd was killed; what it used is kept either way."""
        assert run.intent is not None
        path = transcripts.path_of(work, run.intent.call)
        if not path.is_file() or not path.stat().st_size:
            return None
        told = transcripts.read(work, run.intent.call, step.what)
        budget.record(work, run, step, told, round(told.seconds * 1000))
        if not told.reply.complete:
            return None
        nudge.was_served(work, run.intent.call)
        call = self.call(work, step)
        outcome = _conclude(call, run, told)
        if outcome.word != "failed":
            return outcome
        # Its trace may be gone already, so it counts as one that had its tools.
        outcome = nudge.undelivered(call, run, outcome, told.reply, told.agent, served=True)
        return outcome if outcome.missing else None

    def perform(self, work: Work, run: Run, step: Step) -> Outcome:
        """Have the step's role played until it is done, or until nothing more can be tried."""
        call = self.call(work, step)
        call.arm()
        waiting = roster.line_up(work.project, call.part)
        if run.intent and run.intent.nudge:
            before = nudge.agent_of(work, run.intent.nudge)
            waiting.sort(key=lambda each: each.agent != before)
        player, tries, afresh = waiting.pop(0), 0, False
        while True:
            tries += 1
            tried = _try(call, run, player, afresh)
            if tried.outcome.word == "failed":
                call.failed()
            if tried.failure is None:
                return tried.outcome
            retries = int(work.project.config.get("workflow", "script_retries"))
            asked = tried.reply.retry_after
            move = retry.next_move(tried.failure, tries, retries, bool(waiting), tried.resumed, asked)
            if move == "stop":
                return tried.outcome
            if move == "pause":
                ports.save(work, lay_down(run), "pause", step=step.name, why="waiting", note=tried.outcome.note)
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
            call.note_documents()
            run = begin(run, _new_intent(work, run, step))
            ports.save(work, run, "retry", step=step.name, why=tried.failure, note=tried.outcome.note)


def _new_intent(work: Work, run: Run, step: Step) -> Intent:
    """`step-visit.attempt`: a repeated attempt at an interrupted call keeps its visit."""
    before = CALL.fullmatch(run.intent.call) if run.intent else None
    name = f"{step.name}-{transcripts.visits(work, step.name) + 1}.1"
    if before and before["step"] == step.name:
        name = f"{step.name}-{before['visit']}.{int(before['attempt']) + 1}"
        if run.intent and run.intent.nudge:
            return replace(run.intent, call=name, at=work.project.now())
    return Intent(name, work.project.now(), step.tools, checksums_before(work, step))


def _again(work: Work) -> str:
    workflow, state = work.top.workflow, work.top.state
    return again(workflow, state, "" if workflow.commands else f"{workflow.name}/{state.run.name}")


def _wait(work: Work, player: Player, tried: Tried, tries: int, retries: int) -> None:
    """Give a service time; a signal or a request to stop ends the wait, and the next command tries again."""
    first = float(work.project.config.get("workflow", "retry_delay_secs"))
    seconds = retry.delay(tries, first, tried.reply.retry_after)
    work.say(f"⚠ {tried.outcome.note}: trying {player.agent} again in {seconds:g} s ({tries} of {retries})")
    until = time.monotonic() + seconds
    with work.laps.lap(SERVICE, "judge", player.agent):
        while (left := until - time.monotonic()) > 0:
            if work.project.interrupted.wait(min(left, 0.2)):
                raise work.project.interruption()
            if ports.Ports(work).stopping():
                raise AgentUnavailable(f"Stopped before {player.agent} was tried again.", _again(work))


def _try(call: AgentCall, run: Run, player: Player, afresh: bool) -> Tried:
    """One call of one agent, judged; what was not its to change is put back."""
    work, step = call.work, call.step
    env = call.prepare()
    work.laps.close("prepare")
    job = make_job(call, run, player.agent, env, afresh)
    work.laps.close("prompt")
    lost = ""
    try:
        ended, told = converse(work, run, step, player, job, call.seconds)
    finally:
        if job.server:
            lost = tool_host.end_call(work, job.call, job.server)
    served = nudge.was_served(work, job.call)
    meddled = call.restore(run)
    forged = state_guard.put_state_back(work) or meddled
    work.laps.close("restore")
    reply, resumed = told.reply, bool(job.session)
    if forged:
        return Tried(Outcome("failed", forged))
    if ended.how != "exit":
        return Tried(
            Outcome("failed", _overdue(call, player.agent, ended)), "hang" if ended.how in CLOCKS else "failed"
        )
    if not reply.complete:
        failure: Failure = "transient" if lost else reply.failure or "unreadable"
        if failure == "lost" and resumed:
            for line in advice.lost_conversation(job.session):
                work.say(line)
        note = _complaint(work, player.agent, ended, reply) + (f"; {lost}" if lost else "")
        return Tried(Outcome("failed", note), failure, reply, resumed)
    outcome = _conclude(call, run, told)
    if outcome.word != "failed":
        return Tried(outcome)
    if lost:
        return Tried(replace(outcome, note=f"{outcome.note}; {lost}"), "transient", reply, resumed)
    if reply.refused:
        tools = ", ".join(dict.fromkeys(reply.refused))
        outcome = replace(outcome, note=f"{outcome.note} ({player.agent} was refused: {tools})")
    return Tried(nudge.undelivered(call, run, outcome, reply, player.agent, served))


def _overdue(call: AgentCall, agent: str, ended: Ended) -> str:
    work, key = call.work, f"{ended.how}_secs" if ended.how in CLOCKS else ended.how
    if call.seconds and ended.how == "timeout":
        return f"{agent} was ended after {ended.seconds:.0f} s, the time that the {call.step.what} has"
    return f"{agent} was ended after {ended.seconds:.0f} s by [calls] {key} = {work.project.config.get('calls', key)}"


def _complaint(work: Work, agent: str, ended: Ended, reply: Reply) -> str:
    """What an agent that did not finish said; where that is no answer, also the last of what its program complained of."""
    last = " ".join(ended.errors[-3:]) if reply.failure in ("", "unreadable", "failed") else ""
    told = (reply.error, "" if last in reply.error else last)
    said = redact(" ".join(filter(None, told)), secret_values(work.secrets()))
    return f"{agent} (exit {ended.code}): {said or 'no result'}"


def _conclude(call: AgentCall, run: Run, told: Told) -> Outcome:
    """What a complete reply amounts to; the conversation of one that did its work is kept for later."""
    reply, top = told.reply, call.work.top
    outcome = call.judge(run, reply)
    call.work.laps.close("judge")
    if reply.session and outcome.word != "failed" and not is_self_review(call.step):
        with top.guard:
            top.note(call.session_key, reply.session.encode(errors="replace").decode())
    return outcome
