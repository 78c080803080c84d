"""What there is besides agents: agentd's own server, git, the sandbox, the configuration."""

import os
import shlex
from collections.abc import Iterator
from pathlib import Path

from agentd.calling import sandbox
from agentd.calling.doctor import trial
from agentd.calling.doctor.agents import PATIENCE, read_version
from agentd.calling.doctor.found import Found, Level, patience
from agentd.errors import BadConfig
from agentd.redaction import redact, secret_values
from agentd.runs.config import personal_file
from agentd.runs.project import Project

GIT = "sudo apt install git   # or: dnf install git, pacman -S git, xcode-select --install"
REINSTALL = "pip install --force-reinstall agentd-workflows"
LEVELS: dict[str, Level] = {"off": "ok", "auto": "warning", "on": "problem"}


def look(project: Project, scratch: Path) -> Iterator[Found]:
    yield _server(project, scratch / "server")
    yield _git(project, scratch)
    yield from _sandbox(project)


def _server(project: Project, folder: Path) -> Found:
    tools, why = trial.ask_server(project, folder, patience(project, PATIENCE))
    lacking = [name for name in trial.TOOLS if name not in tools]
    if lacking:
        why = redact(why, secret_values(os.environ)) or f"it does not list {', '.join(lacking)}"
        return Found(
            "machine", "MCP server", "problem", f"agentd mcp does not work: {why}", REINSTALL, {"tools": tools}
        )
    return Found("machine", "MCP server", "ok", "agentd mcp starts and lists its tools", facts={"tools": tools})


def _git(project: Project, scratch: Path) -> Found:
    version, trouble = read_version(project, ["git"], scratch)
    if trouble:
        return Found("machine", "git", "warning", f"{trouble} Changes can be planned, not implemented", GIT)
    return Found("machine", "git", "ok", version, facts={"version": version})


def _sandbox(project: Project) -> Iterator[Found]:
    settings = project.config.sections["sandbox"]
    mode, front = settings["mode"], sandbox.find_front(os.environ.get("PATH", os.defpath))
    facts = {"mode": mode, "works": not front.why}
    told = front.why or f"bubblewrap works, {'but is not used' if mode == 'off' else 'and agents run in it'}"
    level = LEVELS[mode] if front.why else "ok"
    yield Found("machine", "sandbox", level, f'{told}: [sandbox] mode = "{mode}"', front.fix, facts)
    for path in settings["writable"] if mode != "off" else ():
        full = os.path.join(project.root, os.path.expanduser(path))
        if not os.path.exists(full):
            told = f"{path}, which [sandbox] names writable, does not exist"
            yield Found("machine", "sandbox", "warning", told, f"mkdir -p {shlex.quote(full)}")


def configuration(project: Project, unread: BadConfig | None) -> Iterator[Found]:
    """The files of the configuration and what is odd about them."""
    files = (personal_file(os.environ), project.root / "agentd" / "config.toml")
    there = [str(path) for path in files if path is not None and path.is_file()]
    if unread is not None:
        yield Found("configuration", "config", "problem", unread.message, unread.fix, {"files": there})
        return
    for warning in project.config.warnings:
        path = next((path for path in there if warning.startswith(path)), "agentd/config.toml")
        yield Found("configuration", "config", "warning", warning, f"${{EDITOR:-vi}} {shlex.quote(path)}")
    if not project.config.warnings:
        yield Found("configuration", "config", "ok", ", ".join(there) or "the defaults", facts={"files": there})
