"""What a repository comes to, in a form in which two of them can be compared: no times, no save numbers, no attempts."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import psutil

from agentd.families.change.documents import tasks
from agentd.git import trees
from agentd.proof import evidence_file
from agentd.state import journal
from agentd.text import lossless_yaml
from agentd.usage import ledger
from tests.crash.recorded import RECORD
from tests.sandbox import Sandbox

TIME = re.compile(r"\d{4}-\d\d-\d\d(T\d\d:\d\d:\d\d\.\d+Z)?")
SAVES = re.compile(r"(?m)^  saves: \d+$")
SECONDS = re.compile(
    r'"seconds": [0-9.]+|in [0-9.]+s|\([0-9.]+ s\)|duration_ms: \d+|"?bytes_in"?: \d+|"mark": "[0-9a-f]*"'
)
OLD_CODE = re.compile(r'[^\s"(]*/agentd-tmp-[^/]+/[^/\s"]+')
TIMED = re.compile(r"(?m)^( +(?:sha256|evidence\.json|baseline\.json|REVIEW\.md): ).*$")  # checksums of what has times
ATTEMPT = re.compile(r"(calls/.+)\.\d+\.jsonl")
CALLED = re.compile(r'(?m)^( *call: .+|<review .+call=".+)\.\d+(">)?$')
PROPOSAL = re.compile(r"(?m)^  proposal.md:\n    hash: .+$")  # of all its bytes: the attempt is one of them
# What cut-off calls of agents that worked side by side add to.
CALLS = re.compile(r"(?m)^(llm_calls|total_cost|total_tokens_in|total_tokens_out|unknown_costs):.*\n( .*\n)*")
LEDGER = "agentd/ledger.jsonl"
OURS = ("agentd", ".agents", ".agents-work")


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
    text = TIMED.sub(r"\1SUM", SECONDS.sub("SECONDS", OLD_CODE.sub("OLD", text))).replace(str(root), "ROOT")
    return text.replace(f"../{root.name}-agentd/", "ROOT-agentd/")


def branches(git: Path) -> str:
    """Every ref, worktree and whatever else is there, the branch that is checked out, and each time that another was."""
    apart = ("objects", "logs", "hooks", "worktrees")
    found = (path.relative_to(git) for path in git.rglob("*") if path.is_file())
    names = sorted(path.as_posix() for path in found if path.parts[0] not in apart)
    names += [path.relative_to(git).as_posix() for path in git.glob("worktrees/*")]
    moves = [line.partition("\t")[2] for line in (git / "logs" / "HEAD").read_text().splitlines()]
    return "\n".join([*names, (git / "HEAD").read_text(), *moves])


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
    """Numbers without gaps up to the state's own; no line lost but the ones that kills tore, and those are closed. A save
    tells at most two of them: a step's end and the next one's beginning."""
    torn = 0
    for folder in runs(root):
        state = lossless_yaml.parse_bytes((folder / "STATE.yaml").read_bytes(), "STATE.yaml").data
        events = told(folder)
        numbers = [event["n"] for event in events]
        assert numbers == list(range(1, state["run"]["saves"] + 1)), f"{folder}: saves {numbers}"
        assert events[-1]["phase"] == state["phase"], f"{folder}: the diary ends in {events[-1]['phase']}"
        data = (folder / journal.NAME).read_bytes()
        assert data.endswith(b"\n"), f"{folder}: a torn line was left open"
        torn += journal.scan(folder).torn
        again = Counter(json.loads(line)["n"] for line in data.splitlines() if line.endswith(b"}"))
        assert again.total() - len(again) <= 2 * kills, f"{folder}: saves told more often than kills explain: {again}"
    assert torn <= kills, f"{torn} torn lines after {kills} kills"


def reminders(folder: Path, call: str) -> int:
    """How often the agent of a step was reminded, as the diary of its run says."""
    events = {event["n"]: event for event in journal.read(folder) if "n" in event}
    return sum((event["event"], event.get("step")) == ("nudge", call.rpartition("-")[0]) for event in events.values())


def check_calls(root: Path, most: int) -> None:
    """No call was made again after an attempt at it had given its result, but for reminders; at most so many are in the
    ledger twice."""
    done = Counter(
        (path.parent, path.stem.rpartition(".")[0])
        for path in (root / "agentd").rglob("calls/*.jsonl")
        if '"type": "result", "status": "success"' in path.read_text(encoding="utf-8")
    )
    again = [name for name, count in done.items() if count > 1 + reminders(name[0].parent, name[1])]
    assert not again, f"made again: {done}"
    path = root / LEDGER
    data = path.read_bytes() if path.exists() else b""
    assert data.count(b"\n") - len(ledger.parse(data)) <= most, f"{path}:\n{data.decode()}"


def check_implementations(root: Path) -> None:
    """What was seen of a change that is implemented is of the files as they are; its tasks are ticked, its base is kept."""
    for folder, phase, kept in implementations(root):
        if phase not in ("complete", "archived"):
            continue
        assert trees.kept(root, f"{folder.name}/base") == (kept["base"] if phase == "complete" else "")
        for name, tree in (("baseline", kept["base"]), ("evidence", trees.snapshot(root, OURS))):
            data = (folder / f"{name}.json").read_bytes()
            assert evidence_file.read(data.decode(), name).tree == tree, f"{name}.json is of other files"
            assert sha256(data).hexdigest() == kept[name]["sha256"], f"{name}.json is not what the state says"
        listed, problems = tasks.read((folder / "tasks.md").read_text(encoding="utf-8"))
        assert listed is not None, problems
        assert {task.status for task in listed.tasks} == {"completed"}, listed.tasks
        rounds = sorted(path.name for path in folder.glob("reviews/*"))  # none, if a person did without
        assert rounds == [f"{number:02}.md" for number in range(1, len(rounds) + 1)], rounds


def implementations(root: Path) -> Iterator[tuple[Path, str, dict[str, Any]]]:
    """Every change whose implementation has begun: its folder, its phase, what is kept of it."""
    for path in (root / "agentd").glob("*/*/STATE.yaml"):
        state = lossless_yaml.parse_bytes(path.read_bytes(), "STATE.yaml").data
        if state.get("implementation"):
            yield path.parent, state["phase"], state["implementation"]


def check_readable(sandbox: Sandbox) -> None:
    """Whatever a kill left can be looked at, nothing in it claims to be at work, and git keeps what it began with."""
    listed = sandbox.run("list", "--all", "--json")
    assert listed.code == 0, listed.out + listed.err
    odd = [row for row in listed.data["runs"] if row["doing"] in ("working", "unreadable")]
    assert not odd, odd
    for folder in runs(sandbox.root):
        saves = lossless_yaml.parse_bytes((folder / "STATE.yaml").read_bytes(), "STATE.yaml").data["run"]["saves"]
        told_of = [event["n"] for event in told(folder)]
        assert told_of[-1] - saves in (0, 1, 2), f"{folder}: state {saves}, diary {told_of}"
    for folder, phase, kept in implementations(sandbox.root):
        assert phase != "implementing" or trees.kept(sandbox.root, f"{folder.name}/base") == kept["base"]


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
