"""What a repository comes to, in a form in which two of them can be compared: no times, no save numbers, no attempts."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil

from agentd import yamltext
from agentd.state import journal
from agentd.usage import ledger
from tests.crash.scenarios import RECORD
from tests.sandbox import Sandbox

TIME = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d\.\d+Z)?")
SAVES = re.compile(r"(?m)^  saves: \d+$")
SECONDS = re.compile(r'"seconds": [0-9.]+|in [0-9.]+s|duration_ms: \d+|"?bytes_in"?: \d+|"mark": "[0-9a-f]*"')
ATTEMPT = re.compile(r"(calls/.+)\.\d+\.jsonl")
CALLED = re.compile(r'(?m)^( +call: .+|<review .+call=".+)\.\d+(">)?$')
PROPOSAL = re.compile(r"(?m)^  proposal.md:\n    hash: .+$")  # of all its bytes: the attempt is one of them
# What cut-off calls of agents that worked side by side add to.
CALLS = re.compile(r"(?m)^(llm_calls|total_cost|total_tokens_in|total_tokens_out|unknown_costs):.*\n( .*\n)*")
LEDGER = "agentd/ledger.jsonl"


def of(root: Path, alone: bool) -> dict[str, str]:
    """Every file outside .git by name, and the branches; what times and attempts make different is made the same."""
    files = {".git": branches(root / ".git")}
    for path in sorted(root.rglob("*")):
        name = path.relative_to(root).as_posix()
        if name.startswith(".git/") or path.name == ".lock" or not path.is_file():
            continue
        if path.name == journal.NAME:
            text = "\n".join(transitions(path.parent))
        elif name == RECORD:
            lines = [line.rpartition(" ")[0] for line in path.read_text().splitlines()]
            text = "\n".join(lines if alone else sorted(set(lines)))
        elif name == LEDGER:
            entries = ledger.parse(path.read_bytes())
            counted = [f"{one.run} {one.step} {one.call.rpartition('.')[0]} {one.model}" for one in entries]
            text = "\n".join(counted if alone else sorted(set(counted)))
        else:
            text = plain(path.read_text(encoding="utf-8"), root)
            text = CALLED.sub(r"\1\2", PROPOSAL.sub("", text)) if alone else CALLS.sub("", text)
        name = ATTEMPT.sub(r"\1", name)
        files[name] = files.get(name, "") + text if alone or "/calls/" not in name else ""
    return files


def plain(text: str, root: Path) -> str:
    text = SAVES.sub("  saves: N", TIME.sub("TIME", text))
    text = SECONDS.sub("SECONDS", text).replace(str(root), "ROOT")
    return text.replace(f"../{root.name}-agentd/", "ROOT-agentd/")


def branches(git: Path) -> str:
    """Every branch and worktree, the branch that is checked out, and each time that another one was."""
    refs = sorted(path.relative_to(git).as_posix() for path in (git / "refs" / "heads").rglob("*") if path.is_file())
    refs += [path.relative_to(git).as_posix() for path in git.glob("worktrees/*")]
    moves = [line.partition("\t")[2] for line in (git / "logs" / "HEAD").read_text().splitlines()]
    return "\n".join([*refs, (git / "HEAD").read_text(), *moves])


def transitions(folder: Path) -> Iterator[str]:
    """What the diary says happened, but for beginnings and a child's calls: a step that was cut off has two, and one end."""
    for event in told(folder):
        if event["event"] not in ("begin", "call"):
            word = "end" if event["event"] == "recover" else event["event"]
            parts = [event.get(key, "-") for key in ("phase", "step", "outcome", "to", "decision", "answer")]
            yield " ".join([word, *parts])


def told(folder: Path) -> list[dict[str, Any]]:
    """Each save once, as it was told last."""
    return list({event["n"]: event for event in journal.read(folder)}.values())


def runs(root: Path) -> list[Path]:
    """The folder of every run and of every child."""
    return sorted(path.parent for path in (root / "agentd").rglob("STATE.yaml"))


def check_diaries(root: Path, kills: int) -> None:
    """Numbers without gaps up to the state's own; no line lost but the ones that kills tore, and those are closed."""
    torn = 0
    for folder in runs(root):
        state = yamltext.parse_bytes((folder / "STATE.yaml").read_bytes(), "STATE.yaml").data
        events = told(folder)
        numbers = [event["n"] for event in events]
        assert numbers == list(range(1, state["run"]["saves"] + 1)), f"{folder}: saves {numbers}"
        assert events[-1]["phase"] == state["phase"], f"{folder}: the diary ends in {events[-1]['phase']}"
        data = (folder / journal.NAME).read_bytes()
        assert data.endswith(b"\n"), f"{folder}: a torn line was left open"
        torn += journal.scan(folder).torn
        again = Counter(json.loads(line)["n"] for line in data.splitlines() if line.endswith(b"}"))
        assert again.total() - len(again) <= kills, f"{folder}: saves told more often than kills explain: {again}"
    assert torn <= kills, f"{torn} torn lines after {kills} kills"


def check_calls(root: Path, most: int) -> None:
    """No call was made again after an attempt at it had given its result; at most so many are in the ledger twice."""
    done = Counter(
        (path.parent, path.stem.rpartition(".")[0])
        for path in (root / "agentd").rglob("calls/*.jsonl")
        if '"type": "result", "status": "success"' in path.read_text(encoding="utf-8")
    )
    assert not [name for name, count in done.items() if count > 1], f"made again: {done}"
    path = root / LEDGER
    data = path.read_bytes() if path.exists() else b""
    assert data.count(b"\n") - len(ledger.parse(data)) <= most, f"{path}:\n{data.decode()}"


def check_readable(sandbox: Sandbox) -> None:
    """Whatever a kill left can be looked at, and nothing in it claims to be at work."""
    listed = sandbox.run("list", "--all", "--json")
    assert listed.code == 0, listed.out + listed.err
    odd = [row for row in listed.data["runs"] if row["doing"] in ("working", "unreadable")]
    assert not odd, odd
    for folder in runs(sandbox.root):
        saves = yamltext.parse_bytes((folder / "STATE.yaml").read_bytes(), "STATE.yaml").data["run"]["saves"]
        told_of = [event["n"] for event in told(folder)]
        assert told_of[-1:] in ([saves], [saves + 1]), f"{folder}: state {saves}, diary {told_of}"


def check_nobody_left(root: Path) -> None:
    """No process of any run of this repository is alive."""
    found = []
    for process in psutil.process_iter():
        try:
            run = process.environ().get("AGENTD_RUN", "")
        except psutil.Error:
            continue
        if run.startswith(f"{root}/") and process.is_running() and process.status() != psutil.STATUS_ZOMBIE:
            found.append(process)
    assert not found, f"still alive: {found}"


def answers(root: Path) -> dict[tuple[Path, int], bytes]:
    """Every answer there is, by its file; a child's also by the rewinds before it, as a rewind takes it away."""
    rewinds = sum(event["event"] == "clear" for folder in runs(root) for event in told(folder))
    return {
        (path, rewinds if "children" in path.parts else 0): path.read_bytes()
        for path in (root / "agentd").rglob("answers/*.json")
    }
