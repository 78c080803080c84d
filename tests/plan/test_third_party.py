"""An agent of another package: two functions behind an entry point, and it plans a change."""

import os
import textwrap

from tests.plan.plans import spied
from tests.sandbox import CHANGE, NO, Sandbox

ADAPTER = '''
"""A package that knows agentd's two values and nothing else of it."""
import json, pathlib, sys
from agentd.model.job import Command, Job, Reply
from agentd.model.usage import Usage

program = "python3"
login = "parrot login"

def command(job: Job) -> Command:
    mind = pathlib.Path(__file__).with_name("parrot_mind.py")
    return Command((sys.executable, str(mind), json.dumps(job.server)), stdin=job.prompt)

def read(lines):
    told = [line.removeprefix("DONE ") for line in lines if line.startswith("DONE ")]
    if not told:
        return Reply(error="the parrot said nothing", failure="unreadable")
    return Reply(text=told[-1], complete=True, model="parrot-1", usage=Usage(7, 3))
'''

MIND = '''
"""The program behind it: looks for words in its prompt and calls the tool that fits."""
import json, subprocess, sys

prompt = sys.stdin.read()
server = subprocess.Popen(json.loads(sys.argv[1]), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
number = 0

def ask(method, **params):
    global number
    number += 1
    print(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}), file=server.stdin, flush=True)
    for line in server.stdout:
        answer = json.loads(line)
        if answer.get("id") == number:
            return answer["result"]

def call(tool, **arguments):
    result = ask("tools/call", name=tool, arguments={"change_id": "CHANGE", **arguments})
    assert not result.get("isError"), result

ask("initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "parrot", "version": "1"})
print(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"}), file=server.stdin, flush=True)
if "Write the proposal" in prompt:
    call("create_proposal", summary="Count the words.", why="People count words by hand today.", what_changes=["A function"],
         impact={"scope": "minor", "affected_files": 1, "affected_specs": ["top-words"]})
elif "Write one spec" in prompt:
    call("create_spec", spec_id="top-words", title="Top words", overview="The frequent words of a text.",
         requirements=[{"id": "R1", "title": "Order", "description": "The program SHALL sort words.", "priority": "high"}],
         scenarios=[{"name": "one", "when": "asked", "then": "sorted"}])
elif "Break one change down" in prompt:
    call("create_tasks", tasks=[{"layer": "logic", "number": 1, "title": "Sort", "spec_ref": "top-words:R1",
         "file": {"path": "tally/words.py", "action": "MODIFY"}, "description": "Sort the words."}])
elif "senior reviewer" in prompt:
    call("append_review", status="approved", iteration=1, reviewer="parrot",
         content="## Summary\\nFine.\\n\\n## Issues\\nNone.\\n\\n## Verdict\\n**Verdict**: APPROVED\\n")
print("DONE polly is content")
'''


def test_an_adapter_of_another_package_plans_a_change(sandbox: Sandbox) -> None:
    site = sandbox.root.parent / "site"
    info = site / "parrot-1.0.dist-info"
    info.mkdir(parents=True)
    (site / "parrot.py").write_text(textwrap.dedent(ADAPTER))
    (site / "parrot_mind.py").write_text(MIND.replace("CHANGE", CHANGE))
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: parrot\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[agentd.agents]\nparrot = parrot\n")
    sandbox.env["PYTHONPATH"] = os.pathsep.join(filter(None, (str(site), sandbox.env.get("PYTHONPATH", ""))))
    sandbox.set("roles", **dict.fromkeys(("planner", "challenger", "implementer", "reviewer"), "parrot"))
    ran = sandbox.plan()
    assert ran.code == 0, ran.out + ran.err
    assert sandbox.state()["phase"] == "challenged"
    made = [(call["step"], call["agent"], call["model"], call["tokens_in"]) for call in sandbox.state()["llm_calls"]]
    steps = ("proposal-gen", "spec-gen-top-words", "tasks-gen", "challenge")
    assert made == [(step, "parrot", "parrot-1", 7) for step in steps]
    assert "the challenger is not independent: parrot is the planner too" in sandbox.run("status", CHANGE).out


def test_that_one_agent_plays_every_role_is_said_once_in_a_run(sandbox: Sandbox) -> None:
    spied(sandbox)
    sandbox.script(challenge=NO)
    warning = "⚠ the challenger is not independent: spy is the planner too"
    assert sandbox.plan().out.count(warning) == 1
    assert sandbox.run("answer", CHANGE, "UD-1", "fix").code == 0
    assert warning not in sandbox.run("plan", CHANGE).out
    assert sandbox.run("status", CHANGE).out.count(warning) == 1
