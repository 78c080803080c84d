"""How tests play agentd's own programs: a project, a job, and the program really run as agentd runs it."""

import json
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

from agentd import process
from agentd.model.job import Job, Reply

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Played:
    """What one run came to."""

    reply: Reply
    code: int
    lines: tuple[str, ...]
    errors: tuple[str, ...]

    def events(self, kind: str) -> list[dict[str, Any]]:
        return [event for event in map(json.loads, self.lines) if event["type"] == kind]


class Project:
    """A work tree with a run's folder in it, and a server with tools that tells which were called."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.tree = root / "tree"
        self.folder = self.tree / "agentd" / "changes" / "add-greeting"
        self.folder.mkdir(parents=True)
        self.log = root / "called.jsonl"
        self.server = (sys.executable, "-P", str(HERE / "tool_server.py"), str(self.log))

    def job(self, prompt: str = "the prompt", **more: Any) -> Job:
        return Job("c1", "propose", "planner", 1, prompt, str(self.tree), str(self.folder), **more)

    def called(self) -> list[Any]:
        return [json.loads(line) for line in self.log.read_text().splitlines()] if self.log.exists() else []

    def play(self, adapter: ModuleType, job: Job, timeout: float = 60, **env: str | None) -> Played:
        """Run the adapter's program to its end, and read its transcript as agentd writes it."""
        command = adapter.command(job)
        lines: list[str] = []
        done = process.run(
            command.argv,
            cwd=job.cwd,
            env={**env, **command.env},
            stdin=command.stdin,
            timeout=timeout,
            grace=0.5,
            on_line=lines.append,
        )
        ending = {"code": done.code, "ended": done.ended, "seconds": done.seconds, "errors": list(done.errors[-20:])}
        return Played(adapter.read(transcript(lines, **ending)), done.code, tuple(lines), done.errors)


def transcript(lines: list[str], **ending: Any) -> list[str]:
    """The lines of a program as they stand in a transcript; it ends with a newline, so the last line is empty."""
    begin = json.dumps({"agentd": "begin", "agent": "x", "call": "c1"})
    return [begin, *lines, *([json.dumps({"agentd": "end", **ending})] if ending else []), ""]


def until(true: Callable[[], bool]) -> None:
    import time

    deadline = time.monotonic() + 10
    while not true():
        assert time.monotonic() < deadline, "it did not happen within 10 s"
        time.sleep(0.01)
