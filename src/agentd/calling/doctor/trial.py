"""A run that is there only to be tried: agentd's own tools, and one small real call of an agent, in a scratch folder."""

import json
import os
import sys
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from agentd import process
from agentd.calling import job as jobs
from agentd.calling import roster, transcripts
from agentd.calling.conversation import Ended, run_program
from agentd.calling.doctor.found import patience
from agentd.calling.roster import Player
from agentd.engine.advance import start
from agentd.errors import NotFound
from agentd.git.repository import begin_repository
from agentd.model.job import Job, Reply
from agentd.model.models import AgentModel
from agentd.model.run import Intent
from agentd.redaction import secret_values
from agentd.runs.project import Project
from agentd.state.store import Store, new_state
from agentd.usage.prices import price

RUN, CALL, STEP = "doctor", "doctor-1.1", "doctor"
TOOLS = ("list_specs", "read_file", "validate_change")
PROMPT = "Reply with the single word OK."
INSTRUCTIONS = "You answer in one word."
SCRIPT = {STEP: {"say": "OK", "tools": [{"list_specs": {"change_id": RUN}}]}}
# Asks a server for its tools, as agents do; a program of its own, so that it can be ended with the server.
ASK = """import json, sys
from agentd.agents.script import Trouble
from agentd.agents.toolcalls import opened
try:
    with opened(sys.argv[1:]) as tools:
        print(json.dumps([tool["name"] for tool in tools.request("tools/list", {})["result"]["tools"]]))
except (Trouble, LookupError, TypeError, ValueError) as trouble:
    sys.exit(str(trouble))
"""
GREETED = "greeted"
TURNS = 5
PATIENCE = 180.0


@dataclass(frozen=True)
class Tried:
    """What a call came to. `greeted` says whether the agent asked agentd's server for its tools."""

    reply: Reply
    seconds: float
    greeted: bool
    model: str
    cost: float | None


def ask_server(project: Project, folder: Path, timeout: float) -> tuple[list[str], str]:
    """The tools that agentd's server lists for a call, or why it lists none."""
    run = _make_run(project, folder)
    words = (sys.executable, "-P", "-c", ASK, *jobs.server(run, CALL))
    done = process.run(words, cwd=folder, timeout=timeout)
    if done.ended == "exit" and done.code == 0 and done.output:
        return list(json.loads(done.output[-1])), ""
    said = " ".join(done.errors[-2:]) or f"exit {done.code}"
    return [], said if done.ended == "exit" else f"no answer in {timeout:g} s"


def call(project: Project, player: Player, folder: Path) -> Tried:
    """Call an agent with a prompt of six words, as a step without edits would, and read what it says."""
    run = _make_run(project, folder)
    with suppress(NotFound):  # no agent needs git to answer
        begin_repository(folder, "An empty project")
    model = project.config.model_for(player.agent, "medium")
    job = _make_job(project, player, model, folder, run)
    path = run / "calls" / f"{CALL}.jsonl"
    environment = {"AGENTD_RUN": str(run), "AGENTD_DESK": str(run), "AGENTD_CALL": CALL}
    command, limit = player.adapter.command(job), patience(project, PATIENCE)
    ended = run_program(replace(project, root=folder), player, job, command, path, environment, timeout=limit)
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    reply = transcripts.make_reply(player.adapter, player.agent, lines, secret_values(os.environ))
    if ended.how == "max_turns":
        reply = replace(reply, complete=False, error=f"it took more than {TURNS} turns", failure="failed")
    elif ended.how != "exit":
        reply = replace(reply, complete=False, error=f"it did not end in {ended.seconds:.0f} s", failure="hang")
    elif not reply.complete:
        reply = replace(reply, error=_why(reply.error, ended))
    called = reply.model or job.model
    cost = price(reply.usage, model, called or player.agent)
    return Tried(reply, ended.seconds, (run / GREETED).exists(), called, cost)


def _why(error: str, ended: Ended) -> str:
    """What the adapter makes of a failure, and what the program itself said about it last."""
    said = " ".join(ended.errors[-3:]).strip()[:300]
    return f"{error}: {said}" if error and said and said not in error else error or said or f"exit {ended.code}"


def _make_job(project: Project, player: Player, model: AgentModel | None, folder: Path, run: Path) -> Job:
    return Job(
        call=CALL,
        step=STEP,
        role=STEP,
        visit=1,
        prompt=PROMPT,
        cwd=str(folder),
        folder=str(run),
        instructions=INSTRUCTIONS,
        model=model.model if model else "",
        effort=model.effort if model else "",
        tools=TOOLS,
        # Some agents pass on no environment, but all of them start these words.
        server=("env", f"AGENTD_GREETED={run / GREETED}", *jobs.server(run, CALL)),
        scratch=str(run / "calls" / "files"),
        max_turns=TURNS,
        max_cost=float(project.config.get("budget", "per_call")),
        program=tuple(roster.program(project, player.agent)),
        args=tuple(project.config.sections.get(player.agent, {}).get("args", ())),
        settings=jobs.settings(project, player.agent) | _script(player, folder),
    )


def _make_run(project: Project, folder: Path) -> Path:
    """A run with a call under way, for the server to serve."""
    layout = project.layouts[0]
    run = folder / layout.homes[0] / RUN
    run.mkdir(parents=True)
    at = "2000-01-01T00:00:00.000000Z"
    state = replace(start(project.workflow(layout.name), RUN), intent=Intent(CALL, at, TOOLS))
    Store(run, layout.codec).save(new_state(state, description=PROMPT), at, "begin")
    return run


def _script(player: Player, folder: Path) -> dict[str, str]:
    """What a scripted agent plays: it knows of no doctor."""
    if player.adapter.needs != "script":
        return {}
    import yaml

    path = folder / "agentd" / "script.yaml"
    path.write_text(yaml.safe_dump(SCRIPT), encoding="utf-8")
    return {"script": str(path)}
