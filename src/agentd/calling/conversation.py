"""One conversation with an agent's program: started within the limits of a call, its transcript written, read and paid for."""

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from agentd import process
from agentd.agents.events import load
from agentd.calling import agent_settings, budget, model_list, sandbox, transcripts
from agentd.calling.roster import Player
from agentd.calling.transcripts import Told
from agentd.model.job import Command, Job
from agentd.model.moment import Moment
from agentd.model.run import Run
from agentd.model.stamp import AGENT, FIRST_LINE, TOOLS_ASKED
from agentd.model.workflow import Step
from agentd.redaction import Stream, secret_values
from agentd.runs import tool_trace
from agentd.runs.call_scope import client_trace
from agentd.runs.project import Project
from agentd.runs.work import Work
from agentd.state import durable, journal
from agentd.values import dataclass


@dataclass(frozen=True)
class Ended:
    """How an agent's program ended: by itself ("exit"), or by one of agentd's clocks or the limit of that name.

    `begun` and `heard` are when it was started and when it printed its first line, by the monotonic clock.
    """

    code: int
    how: str
    seconds: float
    errors: tuple[str, ...] = ()
    begun: float = 0.0
    heard: float | None = None


class _Over(Exception):
    """An agent's program went over a limit that nobody but agentd counts; `limit` is the setting."""

    def __init__(self, limit: str) -> None:
        self.limit = limit


def converse(work: Work, run: Run, step: Step, player: Player, job: Job, seconds: float = 0.0) -> tuple[Ended, Told]:
    """Run the agent's program to its end, or for so many seconds; keep what it printed and what it used, and read it."""
    command = player.adapter.command(job)
    path, environment = transcripts.path_of(work, job.call), work.environment()
    moment = Moment(
        "begin", _full_name(work, job.call), _full_name(work, step.name), step.what, player.agent, job.model
    )

    def watch(line: str) -> None:
        work.project.watch(moment._replace(kind="line", line=line))

    _pass_on(work, player.agent, model_list.notices(work.project, player.agent))
    work.project.watch(moment)
    made = None
    try:
        work.laps.close("argv")
        ended = run_program(work.project, player, job, command, path, environment, watch, seconds)
        _note_agent(work, player.agent, job.call, ended)
        told = transcripts.read(work, job.call, step.what)
        made = budget.record(work, run, step, told, round(ended.seconds * 1000))
    finally:
        used = (made.usage.tokens_in, made.usage.tokens_out) if made else (None, None)
        known = [tokens for tokens in used if tokens is not None]
        work.project.watch(
            moment._replace(kind="end", tokens=sum(known) if known else None, cost=made.cost if made else None)
        )
    _pass_on(work, player.agent, told.reply.warnings)
    sessions = {str(value) for key, value in work.top.state.fields.items() if key.endswith("session_id")}
    limit = int(work.project.config.get("calls", "transcripts_mb"))
    transcripts.rotate(work.store.folder, limit, {*sessions, told.reply.session})
    return ended, told


def _pass_on(work: Work, agent: str, warnings: Sequence[str]) -> None:
    """Show what an agent's program warns about, each warning once in a run; the diary keeps it."""
    top = work.top
    with top.guard:
        said = (
            {event.get("note") for event in journal.read(top.store.folder) if event.get("event") == "warning"}
            if warnings
            else ()
        )
        for note in (f"{agent}: {warning}" for warning in warnings):
            if note not in said:
                work.say(f"⚠ {note}")
                top.keep("warning", note=note)


def run_program(
    project: Project,
    player: Player,
    job: Job,
    command: Command,
    transcript: Path,
    environment: Mapping[str, str],
    watch: Callable[[str], None] = lambda line: None,
    timeout: float = 0.0,
) -> Ended:
    """Run a program for a job within the limits of a call, or of less time, its transcript written line by line."""
    _lay_out(job, command)
    limits = project.config.sections["calls"]
    key = os.environ.get(job.settings.get("api_key_env", ""), "")
    secrets = (*secret_values({**os.environ, **command.env}), *([key] if key else []))
    printed, mark = Stream(secrets), os.urandom(8).hex()
    begun, heard, turns, size = time.monotonic(), None, 0, 0
    most = int(limits["transcripts_mb"]) * transcripts.MEGABYTE
    lent = agent_settings.lent(project.root, Path(job.cwd), command.merges)
    with lent, transcripts.written(transcript) as log:
        log.write(transcripts.first_line(player.agent, job, project.now(), mark))

        def keep(line: str) -> None:
            nonlocal heard, turns, size
            heard = heard or time.monotonic()
            size += len(line)
            if most and size > most:
                raise _Over("transcripts_mb")
            clean = printed.clean(line)
            log.write(clean + "\n")
            watch(clean)
            if player.adapter.turns and job.max_turns:
                turns += (load(line) or {}).get("type") in player.adapter.turns
                if turns > job.max_turns:
                    raise _Over("max_turns")

        try:
            argv = sandbox.around_agent(project, job, command, environment)
            begun = time.monotonic()
            done = process.run(
                argv,
                cwd=job.cwd,
                env={**job.env, **command.env, **environment},
                stdin=command.stdin,
                timeout=timeout or float(limits["timeout_secs"]),
                silence=float(limits["silence_secs"]),
                grace=float(limits["grace_secs"]),
                on_line=keep,
                stop=project.interrupted,
            )
            errors = tuple(map(Stream(secrets).clean, done.errors))[-40:]
            ended = Ended(done.code, done.ended, done.seconds, errors, begun, heard)
        except _Over as over:
            ended = Ended(-15, over.limit, time.monotonic() - begun, (), begun, heard)
        log.write(transcripts.last_line(ended.code, ended.how, ended.seconds, ended.errors, mark))
    if ended.how == "stopped":
        raise project.interruption()
    return ended


def _note_agent(work: Work, agent: str, call: str, ended: Ended) -> None:
    """The time of an agent's program, with what it did in it as far as that can be seen from here."""
    over = ended.begun + ended.seconds
    seen = [(FIRST_LINE, ended.begun, ended.heard)] if ended.heard else []
    trace = tool_trace.read(client_trace(work.store.folder, call))
    seen += [(TOOLS_ASKED, ended.begun, trace.asked)] if trace.asked else []
    work.laps.close("launch", ended.begun)
    work.laps.close(AGENT, over, agent, [*seen, *trace.calls])


def _lay_out(job: Job, command: Command) -> None:
    """The files a program finds when it starts."""
    for name, text in command.files.items():
        path = Path(job.scratch) / name
        durable.make_folder(path.parent)
        durable.replace(path, text.encode(errors="replace"), "scratch")


def _full_name(work: Work, name: str) -> str:
    return " ".join((name, *work.items_above()))
