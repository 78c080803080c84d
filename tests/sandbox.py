"""A real repository in a temporary folder and the real program run in it: what tests of the faces share."""

import atexit
import json
import os
import shlex
import shutil
import signal
import subprocess
import tempfile
import time
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any

import yaml

from agentd import demo
from agentd.demo import CHANGE as CHANGE
from agentd.demo import make_repository
from agentd.text import lossless_yaml
from tests import forked
from tests.built_in import read_built_in
from tests.forked import AGENTD as AGENTD

# Where files are that need no disk; None: on the disk.
MEMORY = next((folder for folder in ("/dev/shm",) if os.access(folder, os.W_OK)), None)
# Detailed enough to need no clarification.
IDEA = """Give the n most frequent words of a text:
- the most frequent first
- ties in alphabetical order
- at most n pairs"""


def reviewed(word: str, *issues: str, severity: str = "High", **more: Any) -> dict[str, Any]:
    """What a scripted challenger does that comes to this verdict, with an issue for each of these titles."""
    listed = [
        f"### {title}\n- Severity: {severity}\n- Description: {title}.\n- Spec Reference: top-words:R1\n"
        for title in issues
    ]
    body = "\n".join(listed) or "None.\n"
    text = (
        f"# Challenge Report: {{{{run}}}}\n\n## Verdict\n**Verdict**: {word.upper()}\n\n"
        f"## Issues\n{body}\n## Summary\nWhat there is to say about round {{{{visit}}}}.\n"
    )
    return {"outcome": word, "documents": {"CHALLENGE.md": text}, **more}


YES = reviewed("approved")
NO = reviewed("needs_revision", "Ties")
NEVER = reviewed("rejected", "It cannot work")


@dataclass(frozen=True)
class Ran:
    """One call of the program."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> dict[str, Any]:
        """The one JSON document on stdout."""
        found: dict[str, Any] = json.loads(self.out)
        return found


class Sandbox:
    """A repository with scripted agents; `run` calls the program in it, as a person would."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.env = {name: value for name, value in os.environ.items() if not name.startswith("AGENTD_")}
        self.env |= {"XDG_CONFIG_HOME": str(root.parent / "no-config"), "PYTHONDONTWRITEBYTECODE": "1"}
        self.env["TMPDIR"] = temporary()

    def run(self, *words: str, env: dict[str, str] | None = None, cwd: Path | None = None) -> Ran:
        done = forked.run(words, cwd or self.root, {**self.env, **(env or {})}, timeout=120)
        return Ran(done.returncode, done.stdout, done.stderr)

    def begin(self, *words: str, env: dict[str, str] | None = None) -> subprocess.Popen[str]:
        """The program in the background."""
        return subprocess.Popen(
            [*AGENTD, *words],
            cwd=self.root,
            env={**self.env, **(env or {})},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )

    def folder(self, change: str = CHANGE) -> Path:
        found = self.root / "agentd" / "changes" / change
        return found if found.exists() else self.root / "agentd" / "archive" / change

    def state_file(self, change: str = CHANGE) -> Path:
        return self.folder(change) / "STATE.yaml"

    def state(self, change: str = CHANGE) -> dict[str, Any]:
        return lossless_yaml.parse_bytes(self.state_file(change).read_bytes(), "STATE.yaml").data

    def edit_state(self, old: str, new: str, change: str = CHANGE) -> None:
        """A person's hand edit; what is to be replaced must be there."""
        path = self.state_file(change)
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")

    def script(self, **steps: Any) -> None:
        """Change what the scripted agents do at these steps."""
        path = self.root / "agentd" / "demo.yaml"
        write_script(path, {**read_script(path), **steps})

    def entry(self, step: str) -> dict[str, Any]:
        """The first thing the scripted agents do at a step."""
        said = read_script(self.root / "agentd" / "demo.yaml")[step]
        first: dict[str, Any] = said[0] if isinstance(said, list) else said
        return first

    def own_workflow(self, name: str, text: str) -> None:
        folder = self.root / "agentd" / "workflows"
        folder.mkdir(exist_ok=True)
        (folder / f"{name}.yaml").write_text(text, encoding="utf-8")

    def plan(self, *words: str) -> Ran:
        return self.run("plan", CHANGE, IDEA, *words)

    def calls(self, folder: Path | None = None) -> list[str]:
        """Every agent call that was ever begun, by name, those of children too."""
        return sorted(path.stem for path in (folder or self.folder()).rglob("calls/*.jsonl"))

    def set(self, section: str, **values: Any) -> None:
        """Settings of the project's configuration; what a section had is kept."""
        path = self.root / "agentd" / "config.toml"
        data = tomllib.loads(path.read_text(encoding="utf-8"))
        data.setdefault(section, {}).update(values)
        lines = [
            f"[{name}]\n" + "".join(f"{key} = {_toml(value)}\n" for key, value in keys.items())
            for name, keys in data.items()
        ]
        path.write_text("\n".join(lines), encoding="utf-8")

    def save_of(self, number: int) -> int:
        """Which save wrote an event of a change: the end of a step and the beginning of the next may be one save."""
        steps, events = read_built_in("change").steps, self.events()[:number]
        pairs = [steps[b["step"]] for a, b in pairwise(events) if (a["event"], b["event"]) == ("end", "begin")]
        return number - sum(step.kind in ("do", "each") and not (step.needs or step.when) for step in pairs)

    def events(self, folder: Path | None = None) -> list[dict[str, Any]]:
        lines = ((folder or self.folder()) / "journal.jsonl").read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines]


@cache
def temporary() -> str:
    """The temporary folder of every agentd in a sandbox: what one of them leaves goes with this process."""
    made = tempfile.mkdtemp(prefix="agentd-test-", dir=MEMORY)
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def make_sandbox(folder: Path) -> Sandbox:
    root = make_repository(folder / "repo")
    write_script(root / "agentd" / "demo.yaml", read_script(Path(__file__).with_name("script.yaml")))
    sandbox = Sandbox(root)
    sandbox.set("workflow", human_in_loop=False, self_review_iterations=0)
    sandbox.set("evidence", test=shlex.join(demo.tests()))
    return sandbox


def copy_sandbox(made: Path, folder: Path) -> Sandbox:
    """A repository that was made once, to be spoilt."""
    shutil.copytree(made, folder / "repo", symlinks=True)
    return Sandbox(folder / "repo")


def read_script(path: Path) -> dict[str, Any]:
    """What scripted agents do, by step."""
    found: dict[str, Any] = yaml.load(path.read_bytes(), getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    return found


def write_script(path: Path, script: Mapping[str, Any]) -> None:
    """Written in JSON, which agents read without loading YAML first."""
    path.write_text(json.dumps(script, ensure_ascii=False, indent=1), encoding="utf-8")


def _toml(value: Any) -> str:
    if isinstance(value, list):
        return f"[{', '.join(map(_toml, value))}]"
    if isinstance(value, dict):
        return "{" + ", ".join(f"{key} = {_toml(part)}" for key, part in value.items()) + "}"
    return json.dumps(value)


def wait_until(true: Callable[[], object], seconds: float = 30.0) -> None:
    """Wait for a condition, not for a time."""
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.01)


def alive(pid: int) -> bool:
    """Whether a process runs; one that is dead but not yet waited for does not."""
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return True


def kill(process: subprocess.Popen[str], number: int = signal.SIGKILL) -> int:
    """Send a signal and wait for the end."""
    process.send_signal(number)
    process.communicate(timeout=60)
    return process.returncode
