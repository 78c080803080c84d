"""How soon an agent has its tools: from the start of the program it takes for its MCP server to that one's answers.

The forwarder waits for the host, so the clock counts. A server that stands alone waits for nothing: its processor time
counts, from its start through `initialize` and `tools/list` to its end, which holds on a busy machine too.
"""

import json
import os
import resource
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path

from agentd.app import open_project
from agentd.calling.tool_host import ToolHost
from agentd.engine.advance import start
from agentd.families.change import LAYOUT
from agentd.model.run import Intent
from agentd.runs.project import Project
from agentd.state.store import Store, new_state

CALL, AT = "propose-1.1", "2026-01-01T00:00:00.000000Z"
HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
ROUNDS = {"forwarder": 20, "alone": 5}
# At most so many times `python -c pass`, and the SDK's own minimal server.
LIMITS = {"MCP forwarder ready": 4.0, "agentd mcp, alone": 1.2}
SDK = "the SDK's own minimal server"


def within_limits(folder: Path, env: Mapping[str, str]) -> bool:
    """Print the minimum of each and the ratios; whether all are within their limits."""
    run = make_run(open_project(folder), folder)
    least: dict[str, list[float]] = {"python -c pass": [], "MCP forwarder ready": [], SDK: [], "agentd mcp, alone": []}
    alone = [sys.executable, "-P", "-m", "agentd", "mcp", "--run", str(run), "--call", CALL]
    minimal = [sys.executable, str(Path(__file__).with_name("_sdk_server.py"))]
    with closing(ToolHost(run)) as host:
        forwarder = host.words(run, CALL)
        ready(forwarder, folder, env, ["initialize"])  # the host is up now
        for _ in range(ROUNDS["forwarder"]):
            begun = time.perf_counter()
            subprocess.run([sys.executable, "-c", "pass"], cwd=folder, env=env, check=True)
            least["python -c pass"].append(time.perf_counter() - begun)
            least["MCP forwarder ready"].append(ready(forwarder, folder, env, ["initialize"]))
    for _ in range(ROUNDS["alone"]):
        for name, words in ((SDK, minimal), ("agentd mcp, alone", alone)):
            before = cpu_of_children()
            ready(words, folder, env, ["initialize", "tools/list"])
            least[name].append(cpu_of_children() - before)
    best = {name: min(seen) for name, seen in least.items()}
    within = True
    for name, peer in (("MCP forwarder ready", "python -c pass"), ("agentd mcp, alone", SDK)):
        ratio = best[name] / best[peer]
        within &= ratio <= LIMITS[name]
        print(f"{name:<20} {best[name] * 1000:6.1f} ms, {ratio:5.2f} times {peer} (at most {LIMITS[name]})")
    return within


def cpu_of_children() -> float:
    """What the processes that this one waited for have used."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def ready(words: Sequence[str], folder: Path, env: Mapping[str, str], methods: Sequence[str]) -> float:
    """From the start of a server to its last answer."""
    begun = time.perf_counter()
    pipe = subprocess.PIPE
    with subprocess.Popen(words, cwd=folder, env=env, stdin=pipe, stdout=pipe, stderr=subprocess.DEVNULL) as server:
        assert server.stdin is not None
        assert server.stdout is not None
        for number, method in enumerate(methods):
            params = HELLO if method == "initialize" else {}
            request = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            server.stdin.write(json.dumps(request).encode() + b"\n")
            server.stdin.flush()
            assert b'"result"' in server.stdout.readline(), words
        seconds = time.perf_counter() - begun
        server.stdin.close()
        server.wait()
    return seconds


def make_run(project: Project, folder: Path) -> Path:
    """A change whose call has begun, with the tools of its step."""
    table = project.workflow(LAYOUT.name)
    run = Path(os.path.realpath(folder)) / LAYOUT.homes[0] / "served"
    run.mkdir(parents=True)
    intent = Intent(CALL, AT, table.steps["propose"].tools)
    begun = replace(start(table, "served"), intent=intent)
    Store(run, LAYOUT.codec).save(new_state(begun, description="A benchmark"), AT, "begin")
    return run
