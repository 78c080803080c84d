"""A person's machine in a folder: a repository, a home with the settings of every agent, and the scripted model they use."""

import json
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from agentd.demo import make_repository
from tests.contract.model import FakeModel
from tests.sandbox import Ran, Sandbox

# Planted, so that whatever copies a secret somewhere is found out.
ANTHROPIC_KEY = "sk-ant-api03-planted-0123456789abcdefghijklmnopqrstuv"
OPENAI_KEY = "sk-proj-planted0123456789abcdefghijklmnopqrstuvwxyz"
GEMINI_KEY = "AIzaSyPlanted0123456789abcdefghijklmnopq"
SECRETS = (ANTHROPIC_KEY, OPENAI_KEY, GEMINI_KEY)
KEPT = ("PATH", "PYTHONPATH", "LANG", "LC_ALL", "USER", "LOGNAME", "SHELL")
ROLES = ("planner", "challenger", "implementer", "reviewer")

# A scene in which a challenger approves of a plan.
WHEN = r"You are a senior reviewer.*change_id: (?P<run>[\w-]+).*iteration: (?P<round>\d+).*reviewer: (?P<who>[\w-]+)"
VERDICT = "## Summary\nThe plan can be built as it is.\n## Issues\nNone.\n## Verdict\n**Verdict**: APPROVED\n"
REVIEW = {
    "append_review": {
        "change_id": "{{run}}",
        "status": "approved",
        "iteration": "{{round:int}}",
        "reviewer": "{{who}}",
        "content": VERDICT,
    }
}
DONE = {"say": "The plan is ready to be built."}


class Lab(Sandbox):
    """A sandbox in which real agents are installed, logged in and set up, as a person would have them.

    What is left of the machine's own environment is little: no login, key or setting of it reaches an agent.
    """

    def __init__(
        self,
        folder: Path,
        programs: Path,
        model: FakeModel,
        repository: Path | None = None,
        configured: bool = True,
    ) -> None:
        if repository:
            shutil.copytree(repository, folder / "repo", symlinks=True)
        super().__init__(folder / "repo" if repository else make_repository(folder / "repo"))
        self.folder_of_all = folder
        self.model = model
        self.python = sys.executable
        self.home = folder / "home"
        # codex refuses its sandbox to a home below the temporary folder, so this is beside it.
        temporary = folder / "tmp"
        temporary.mkdir(parents=True)
        self.settings = {self.home / name: text for name, text in _settings(model.url).items()}
        for path, text in self.settings.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
        kept = {name: os.environ[name] for name in KEPT if name in os.environ}
        self.env = {
            **kept,
            "PATH": f"{programs}{os.pathsep}{os.environ['PATH']}",
            "HOME": str(self.home),
            "TMPDIR": str(temporary),
            "TERM": "dumb",
            "PYTHONDONTWRITEBYTECODE": "1",
            "DO_NOT_TRACK": "1",
            **_environment(model.url),
        }
        if configured:
            self.set("workflow", human_in_loop=False, retry_delay_secs=0)
            self.set("calls", timeout_secs=90)

    def run(self, *words: str, env: dict[str, str] | None = None, cwd: Path | None = None) -> Ran:
        done = subprocess.run(
            [self.python, "-m", "agentd", *words],
            cwd=cwd or self.root,
            env={**self.env, **(env or {})},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=600,
        )
        return Ran(done.returncode, done.stdout, done.stderr)

    def break_server(self, instead: str) -> None:
        """Have a shell command run wherever agentd's server of tools is to be started."""
        own = self.folder_of_all / "python"
        (own / "bin").mkdir(parents=True)
        if (Path(sys.prefix) / "pyvenv.cfg").exists():
            shutil.copy(Path(sys.prefix) / "pyvenv.cfg", own)
            (own / "lib").symlink_to(Path(sys.prefix) / "lib")
        program = own / "bin" / "python"
        program.write_text(
            f'#!/bin/bash\n[[ " $* " == *" agentd mcp "* ]] && {{ {instead}; }}\nexec -a "$0" {sys.executable} "$@"\n'
        )
        program.chmod(0o755)
        self.python = str(program)

    def play(self, agent: str, **others: str) -> None:
        """Who plays the roles: one agent all of them, but for those named."""
        self.set("roles", **dict.fromkeys(ROLES, agent) | others)

    def changed_settings(self) -> list[Path]:
        """The person's files that are not as they were."""
        return [path for path, text in self.settings.items() if path.read_text(encoding="utf-8") != text]

    def processes(self) -> dict[int, str]:
        """Every process that was started in this home, by anybody, and still runs: its words by its id."""
        mark = f"HOME={self.home}".encode()
        return {pid: words for pid, environment, words in _running() if mark in environment.split(b"\0")}

    def agents(self) -> list[int]:
        """Those of them that are an agent's, not agentd's."""
        return [pid for pid, words in self.processes().items() if "agentd" not in words.split()[:4]]

    def clear(self) -> None:
        """End whatever a test that failed has left behind."""
        for pid in self.processes():
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def leaks(self) -> list[Path]:
        """The files of the repository that hold a secret of the person."""
        files = (path for path in self.root.rglob("*") if path.is_file() and ".git" not in path.parts)
        return [path for path in files if any(secret.encode() in path.read_bytes() for secret in SECRETS)]


def _settings(url: str) -> dict[str, str]:
    """The agents' own files, by path from the home."""
    gemini = {
        "model": {"name": "gemini-2.5-flash"},  # else it asks another model which one to take
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "privacy": {"usageStatisticsEnabled": False},
        "telemetry": {"enabled": False},
        "general": {"enableAutoUpdate": False, "enableAutoUpdateNotification": False, "maxAttempts": 2},
    }
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Lab",
        "options": {"baseURL": f"{url}/v1", "apiKey": "{env:OPENAI_API_KEY}"},
        "models": {"fake-model": {"name": "Fake", "limit": {"context": 200000, "output": 8000}}},
    }
    opencode = {
        "$schema": "https://opencode.ai/config.json",  # it writes this itself where it is missing
        "autoupdate": False,
        "share": "disabled",
        "model": "lab/fake-model",
        "small_model": "lab/fake-model",
        "provider": {"lab": provider},
    }
    codex = f"""# The provider this person pays for.
model = "lab-model"
model_provider = "lab"

[model_providers.lab]
name = "lab"
base_url = "{url}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
request_max_retries = 1
stream_max_retries = 1
"""
    return {
        ".claude/settings.json": json.dumps({"includeCoAuthoredBy": False}, indent=2) + "\n",
        ".codex/config.toml": codex,
        ".gemini/settings.json": json.dumps(gemini, indent=2) + "\n",
        ".config/opencode/opencode.json": json.dumps(opencode, indent=2) + "\n",
        ".gitconfig": "[user]\n\tname = A Person\n\temail = person@example.invalid\n",
    }


def _environment(url: str) -> dict[str, str]:
    """What a person exports in their shell."""
    return {
        "ANTHROPIC_BASE_URL": url,
        "ANTHROPIC_API_KEY": ANTHROPIC_KEY,
        "OPENAI_API_KEY": OPENAI_KEY,
        "GOOGLE_GEMINI_BASE_URL": url,
        "GEMINI_API_KEY": GEMINI_KEY,
        "OPENCODE_DISABLE_MODELS_FETCH": "1",
        "COPILOT_PROVIDER_BASE_URL": f"{url}/v1",
        "COPILOT_PROVIDER_API_KEY": OPENAI_KEY,
        "COPILOT_MODEL": "fake-model",
        "COPILOT_OFFLINE": "true",
        "COPILOT_AUTO_UPDATE": "false",
    }


def _running() -> Iterable[tuple[int, bytes, str]]:
    """The id, the environment and the words of each process that can be looked at; a dead one has no words."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            environment = (folder / "environ").read_bytes()
            words = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace").strip()
        except OSError:
            continue
        if words:
            yield int(folder.name), environment, words[:200]
