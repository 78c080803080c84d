"""Trials in a scratch folder: agentd's MCP server has to list its tools, and an agent to answer and to find them."""

import json
import os
import re
import sys
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from dataclasses import replace
from pathlib import Path

from agentd import process
from agentd.calling import job as jobs
from agentd.calling import transcripts
from agentd.calling.conversation import run_program
from agentd.calling.doctor.findings import Found, time_limit
from agentd.calling.doctor.machine import PATIENCE
from agentd.calling.doctor.side_by_side import results
from agentd.calling.roster import Player
from agentd.calling.tool_host import ToolHost
from agentd.engine.advance import start
from agentd.errors import AgentdError, NotFound
from agentd.git.repository import begin_repository
from agentd.model.job import Job, Reply
from agentd.model.run import Intent
from agentd.redaction import redact, secret_values
from agentd.runs.call_scope import client_trace
from agentd.runs.project import Project
from agentd.state.store import Store, new_state
from agentd.usage.prices import dollars, price
from agentd.values import dataclass

RUN, CALL, STEP = "doctor", "doctor-1.1", "doctor"
TOOLS = ("list_specs", "read_file", "validate_change")
PROMPT = "Reply with the single word OK."
INSTRUCTIONS = "You answer in one word."
SCRIPT = {STEP: {"say": "OK", "tools": [{"list_specs": {"change_id": RUN}}]}}
# Asks a server for its tools, as agents do. A program of its own can be ended together with the server.
ASK = """import json, sys
from agentd.agents.script import Trouble
from agentd.agents.mcp_client import opened
try:
    with opened(sys.argv[1:]) as tools:
        print(json.dumps([tool["name"] for tool in tools.request("tools/list", {})["result"]["tools"]]))
except (Trouble, LookupError, TypeError, ValueError) as trouble:
    sys.exit(str(trouble))
"""
TURNS = 5
LONGEST_CALL = 180.0
REINSTALL = "pip install --force-reinstall agentd-workflows"
AGAIN = "agentd doctor --live"
# The fix of a failed call by the class of its failure.
FIXES = {"quota": f"{AGAIN}   # once the limit is reset", "transient": AGAIN, "hang": AGAIN}


@dataclass(frozen=True)
class Tried:
    """The result of a call. `greeted` says whether the agent asked agentd's server for its tools."""

    reply: Reply
    seconds: float
    greeted: bool
    model: str
    cost: float | None


def try_server(project: Project, folder: Path) -> Found:
    """Start agentd's MCP server and ask it for its tools."""
    tools, why = _ask_server(project, _make_run(project, folder), folder)
    lacking = [name for name in TOOLS if name not in tools]
    if lacking:
        why = redact(why, secret_values(os.environ)) or f"it does not list {', '.join(lacking)}"
        told = f"agentd mcp does not work: {why}"
        return Found("machine", "MCP server", "problem", told, REINSTALL, {"tools": tools})
    return Found("machine", "MCP server", "ok", "agentd mcp starts and lists its tools", facts={"tools": tools})


def _ask_server(project: Project, run: Path, folder: Path) -> tuple[list[str], str]:
    """The tools that agentd's server lists for a call, or why it lists none."""
    timeout = time_limit(project, PATIENCE)
    with closing(ToolHost(run)) as host:
        words = (sys.executable, "-P", "-c", ASK, *host.words(run, CALL))
        done = process.run(words, cwd=folder, timeout=timeout, grace=1.0, stop=project.interrupted)
        complaint = host.helper.complaint()
    if done.ended != "exit":
        return [], f"no answer in {timeout:g} s"
    if done.code == 0 and done.output:
        return list(json.loads(done.output[-1])), ""
    return [], complaint or " ".join(done.errors[-2:]) or f"exit {done.code}"


def try_agents(project: Project, players: Iterable[Player], scratch: Path) -> Iterator[Found]:
    """Call each of these agents once, side by side."""
    called = list(players)
    with ThreadPoolExecutor(max(1, len(called))) as pool:
        yield from results(
            [pool.submit(_try, project, each, scratch / f"call-{number}") for number, each in enumerate(called)]
        )


def _try(project: Project, player: Player, folder: Path) -> Found:
    try:
        return _judge(player, _call(project, player, folder))
    except AgentdError as error:
        return Found("calls", player.agent, "problem", error.message, error.fix, {"answered": False})
    except Exception as error:  # another package's adapter can raise anything
        told = f"its adapter failed: {type(error).__name__}: {error}"
        return Found("calls", player.agent, "problem", told, player.adapter.install or AGAIN, {"answered": False})


def _judge(player: Player, tried: Tried) -> Found:
    name, reply, usage, adapter = player.agent, tried.reply, tried.reply.usage, player.adapter
    facts = {
        "answered": reply.complete,
        "mcp": tried.greeted,
        "model": tried.model or None,
        "tokens_in": usage.tokens_in,
        "tokens_out": usage.tokens_out,
        "cost": tried.cost,
        "seconds": round(tried.seconds, 1),
    }
    if not reply.complete:
        by_hand = f"{adapter.program} --help   # then try it by hand" if adapter.program else AGAIN
        fix = (adapter.login if reply.failure == "auth" else FIXES.get(reply.failure, "")) or by_hand
        return Found("calls", name, "problem", reply.error, fix, facts)
    tokens = f"{usage.tokens_in:,} tokens in" if usage.tokens_in is not None else "tokens unknown"
    cost = dollars(tried.cost) if tried.cost is not None else "cost unknown"
    said = f"said {' '.join(reply.text.split())[:40]!r}"
    told = ", ".join(filter(None, (said, tried.model, tokens, cost, f"{tried.seconds:.1f} s")))
    if not tried.greeted:
        told = f"{told}, but it did not ask for agentd's tools"
        if adapter.tools_fix:  # the agent can still play steps without tools
            return Found("calls", name, "warning", told, adapter.tools_fix.format(agent=name), facts)
        fix = f"{adapter.install}   # another version of it" if adapter.install else REINSTALL
        return Found("calls", name, "problem", told, fix, facts)
    told = f"{told}, and it found agentd's tools"
    if not re.search(r"(?i)\bok\b", reply.text):
        return Found("calls", name, "warning", f"{told}; it was to say OK", AGAIN, facts)
    return Found("calls", name, "ok", told, facts=facts)


def _call(project: Project, player: Player, folder: Path) -> Tried:
    """Call an agent with a prompt of six words, as a step without edits would, and read its reply."""
    run = _make_run(project, folder)
    with suppress(NotFound):  # agents answer without git, too
        begin_repository(folder, "An empty project")
    path = run / "calls" / f"{CALL}.jsonl"
    with closing(ToolHost(run)) as host:
        job = _make_job(project, player, folder, run, host.words(run, CALL))
        environment = {"AGENTD_RUN": str(run), "AGENTD_DESK": str(run), "AGENTD_CALL": CALL, **host.env}
        command, limit = player.adapter.command(job), time_limit(project, LONGEST_CALL)
        ended = run_program(replace(project, root=folder), player, job, command, path, environment, timeout=limit)
    lines = path.read_text(encoding="utf-8", errors="replace").split("\n")
    reply = transcripts.make_reply(player.adapter, player.agent, lines, secret_values(os.environ))
    if ended.how == "max_turns":
        reply = replace(reply, complete=False, error=f"it took more than {TURNS} turns", failure="failed")
    elif ended.how != "exit":
        reply = replace(reply, complete=False, error=f"it did not end in {ended.seconds:.0f} s", failure="hang")
    elif not reply.complete:
        said = " ".join(ended.errors[-3:]).strip()[:300]
        known = (reply.error, said if said not in reply.error else "")
        reply = replace(reply, error=": ".join(filter(None, known)) or f"exit {ended.code}")
    called = reply.model or job.model
    cost = price(reply.usage, project.config.model_for(player.agent, "medium"), called or player.agent)
    return Tried(reply, ended.seconds, client_trace(run, CALL).exists(), called, cost)


def _make_job(project: Project, player: Player, folder: Path, run: Path, server: tuple[str, ...]) -> Job:
    job = jobs.job_for(
        project,
        player.agent,
        "medium",
        call=CALL,
        step=STEP,
        role=STEP,
        visit=1,
        prompt=PROMPT,
        cwd=str(folder),
        folder=str(run),
        instructions=INSTRUCTIONS,
        tools=TOOLS,
        server=server,
        scratch=str(run / "calls" / "files"),
        max_turns=TURNS,
    )
    if player.adapter.needs != "script":
        return job
    script = folder / "agentd" / "script.yaml"  # the project's own has no entry for the doctor
    script.write_text(json.dumps(SCRIPT), encoding="utf-8")
    return replace(job, settings={**job.settings, "script": str(script)})


def _make_run(project: Project, folder: Path) -> Path:
    """A run whose call has begun, so that the server has something to serve."""
    layout = project.layouts[0]
    run = folder / layout.homes[0] / RUN
    run.mkdir(parents=True)
    at = "2000-01-01T00:00:00.000000Z"
    state = replace(start(project.workflow(layout.name), RUN), intent=Intent(CALL, at, TOOLS))
    Store(run, layout.codec).save(new_state(state, description=PROMPT), at, "begin")
    return run
