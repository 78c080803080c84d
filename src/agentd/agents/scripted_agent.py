"""The program behind the scripted agent: plays one entry of a YAML script and reports in JSON lines on stdout.

It reads its prompt without looking at it, and writes nowhere but in the run's folder, the project and the `record` file.
"""

import json
import os
import signal
import sys
import time
from collections.abc import Callable, Mapping
from typing import NoReturn

from agentd.agents.event_writer import emit, put
from agentd.agents.file_edits import add_line, apply, inside, read
from agentd.agents.script import CLASSES, Entry, Trouble, choose, fill, load

PATIENCE = 30.0
TROUBLE = ("fail", "hang", "ignore_term", "spawn")
TOLD = ("outcome", "usage", "session", "refused", "retry_after", "cumulative")
GARBAGE = b'\x00\xff\xfe not an event\n[1, 2]\n{"type": "result", "status": "succ\n'


def main(env: Mapping[str, str]) -> int:
    try:
        if not env.get("AGENTD_SCRIPT"):
            raise Trouble("AGENTD_SCRIPT is not set; agentd sets it when it starts this program.")
        sys.stdin.buffer.read()
        return play(find_entry(env), env)
    except (Trouble, OSError, ValueError) as trouble:
        emit(type="result", status="error", error=str(trouble), failure="failed")
        return 1


def find_entry(env: Mapping[str, str]) -> Entry:
    step, item, visit = env["AGENTD_STEP"], env["AGENTD_ITEM"], env["AGENTD_VISIT"]
    script, nudges = load(read(env["AGENTD_SCRIPT"]), env["AGENTD_SCRIPT"]), int(env.get("AGENTD_NUDGES") or 0)
    entry = choose(script, step, item, int(visit), nudges)
    run = os.path.basename(os.path.normpath(env["AGENTD_FOLDER"]))
    unless_said = {"model": env["AGENTD_MODEL"] or "scripted", "session": env["AGENTD_SESSION"]}
    return {**unless_said, **fill(entry, {"run": run, "item": item, "visit": visit, "step": step})}


def play(entry: Entry, env: Mapping[str, str]) -> int:
    """Start, then the writes and the trouble in the order the entry asks for, then the result."""
    folder = env["AGENTD_FOLDER"]
    if "times" in entry and int(env.get("AGENTD_CALL", "").rpartition(".")[2] or 1) > entry["times"]:
        entry = {key: value for key, value in entry.items() if key not in TROUBLE}
    if entry.get("fail") == "lost":
        if env["AGENTD_SESSION"]:
            lost = f"Session {env['AGENTD_SESSION']} not found"
            emit(type="result", status="error", error=lost, failure="lost")
            return 1
        entry = {key: value for key, value in entry.items() if key != "fail"}
    tell = silent if entry.get("fail") == "empty" else emit
    if entry.get("ignore_term"):
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    tell(type="start", step=env["AGENTD_STEP"], visit=int(env["AGENTD_VISIT"]), model=entry["model"])
    if "record" in entry:
        who = f"{env['AGENTD_STEP']} {env['AGENTD_ITEM'] or '-'} {env['AGENTD_VISIT']} {os.getpid()}"
        path = entry["record"]
        add_line(path if os.path.isabs(path) else inside(folder, path), who)
    if "wait_for" in entry:
        wait_for(inside(folder, entry["wait_for"]), PATIENCE)
    early = entry.get("after") == "start"
    if early:
        make_trouble(entry, folder, tell)
    apply(entry, folder)
    if "tools" in entry:
        call_tools(entry["tools"], json.loads(env.get("AGENTD_SERVER") or "[]"), tell)
    for argv in commands(entry):
        run(argv)
        tell(type="text", text=f"ran {' '.join(argv)}")
    for line in entry.get("lines", ()) if tell is emit else ():
        put(line.encode("utf-8", "backslashreplace") + b"\n")
    if not early:
        make_trouble(entry, folder, tell)
    finish(entry, status="success", text=entry.get("say", "done"))
    return int(entry.get("code", 0))


def wait_for(path: str, seconds: float) -> None:
    deadline = time.monotonic() + seconds
    while not os.path.exists(path):
        if time.monotonic() > deadline:
            raise Trouble(f"Waited {seconds:g} s for {path}, which did not come.")
        time.sleep(0.01)


def call_tools(calls: list[Entry], server: list[str], tell: Callable[..., None]) -> None:
    """The list of tools, then each call in turn; one that is refused, or not where it should be, is an error."""
    from agentd.agents.mcp_client import opened

    with opened(server) as tools:
        tools.request("tools/list", {})
        for call in calls:
            name = next(key for key in call if key != "expect_error")
            said = tools.call(name, call[name])
            tell(type="tool", tool=name, status="error" if said.refused else "success", text=said.text)
            if said.refused and not call.get("expect_error"):
                raise Trouble(f"The tool {name} refused: {said.text}")
            if call.get("expect_error") and not said.refused:
                raise Trouble(f"The tool {name} was expected to refuse, but it said: {said.text}")


def commands(entry: Entry) -> list[list[str]]:
    given = entry.get("run", [])
    return given if not given or isinstance(given[0], list) else [given]


def run(argv: list[str]) -> None:
    import subprocess

    ended = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if ended.returncode:
        said = ended.stdout.decode("utf-8", "replace").strip()[-500:]
        raise Trouble(f"`{' '.join(argv)}` ended with {ended.returncode}: {said}")


def make_trouble(entry: Entry, folder: str, tell: Callable[..., None]) -> None:
    """Leave a process behind, hang, fail: whatever the entry asks for. Returns when it asks for no failure."""
    if "spawn" in entry:
        add_line(inside(folder, "pids.txt"), str(spawn(entry["spawn"])))
    hang = entry.get("hang", False)
    if hang:
        tell(type="text", text="hanging")
    while hang is True:
        time.sleep(3600)
    time.sleep(hang)
    if "fail" in entry:
        fail(entry, tell)


def spawn(kind: str) -> int:
    """Start a sleeper that holds our stdout and outlives us; as `setsid` it is a grandchild in a session of its own."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        if kind == "setsid":
            os.setsid()
            if os.fork():
                os._exit(0)
        os.write(writer, str(os.getpid()).encode())
        try:
            os.execvp("sleep", ["sleep", "3600"])
        finally:
            os._exit(127)
    if kind == "setsid":
        os.waitpid(child, 0)
    return int(os.read(reader, 32))


def fail(entry: Entry, tell: Callable[..., None]) -> NoReturn:
    kind = entry["fail"]
    if kind == "crash":
        os.kill(os.getpid(), signal.SIGKILL)
    if kind == "error" or kind in CLASSES:
        word = kind if kind in CLASSES else "failed"
        finish(entry, status="error", error=entry.get("say", "The script says: fail."), failure=word)
    if kind == "garbage":
        put(GARBAGE)
    if kind == "no-result":
        tell(type="text", text=entry.get("say", "done"))
    raise SystemExit(entry.get("code", 1 if kind in ("error", "exit", *CLASSES) else 0))


def finish(entry: Entry, **event: str) -> None:
    emit(type="result", **event, **{key: entry.get(key) for key in TOLD})


def silent(**event: object) -> None:
    pass


if __name__ == "__main__":
    sys.exit(main(os.environ))
