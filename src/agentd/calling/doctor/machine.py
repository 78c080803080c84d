"""What agents need besides themselves: git, the sandbox and the configuration. Also asks programs for their version."""

import os
import shlex
from collections.abc import Iterator, Sequence
from pathlib import Path

from agentd import process
from agentd.calling import sandbox
from agentd.calling.doctor.findings import Found, Level, time_limit
from agentd.errors import AgentdError, BadConfig
from agentd.git.program import INSTALL
from agentd.patterns import regex
from agentd.redaction import redact, secret_values
from agentd.runs.config import personal_file
from agentd.runs.project import Project

PATIENCE = 20.0
VERSION = regex(r"\d+\.\d+(?:[\w.+-]*\w)?")
COLOUR = regex(r"\x1b\[[\d;]*m")
UNPRINTED = regex(r"[\x00-\x1f\x7f-\x9f]")
LEVELS: dict[str, Level] = {"off": "ok", "workspaces": "ok", "auto": "warning", "on": "problem"}
USED = {"off": "but is not used", "workspaces": "and agents in workspaces run in it"}


def read_version(project: Project, words: list[str], scratch: Path) -> tuple[str, str]:
    """The version that a program prints, or what is wrong with it."""
    asked, wait = f"{words[0]} --version", time_limit(project, PATIENCE)
    try:
        done = process.run(
            [*words, "--version"], cwd=scratch, timeout=wait, grace=min(1.0, wait), stop=project.interrupted
        )
    except AgentdError as error:
        return "", error.message
    if done.ended != "exit":
        return "", f"{asked} did not end in {wait:g} s"
    said = redact(_plain(done.output) or _plain(done.errors[-3:]), secret_values(os.environ))[:200]
    if done.code != 0:
        return "", f"{asked} failed (exit {done.code}): {said or 'it said nothing'}"
    found = VERSION.search(said)
    return found[0] if found else said, ""


def _plain(lines: Sequence[str]) -> str:
    """What a program printed, on one line and without colours or control characters."""
    return " ".join(UNPRINTED.sub(" ", COLOUR.sub("", " ".join(lines))).split())


def check_machine(project: Project, scratch: Path) -> Iterator[Found]:
    version, trouble = read_version(project, ["git"], scratch)
    if trouble:
        yield Found("machine", "git", "warning", f"{trouble} Changes need it", INSTALL)
    else:
        yield Found("machine", "git", "ok", version, facts={"version": version})
    settings = project.config.sections["sandbox"]
    mode, front = settings["mode"], sandbox.find_front(os.environ.get("PATH", os.defpath))
    told = front.why or f"bubblewrap works, {USED.get(mode, 'and agents run in it')}"
    level, facts = LEVELS[mode] if front.why else "ok", {"mode": mode, "works": not front.why}
    yield Found("machine", "sandbox", level, f'{told}: [sandbox] mode = "{mode}"', front.fix, facts)
    for path in settings["writable"] if mode != "off" else ():
        full = os.path.join(project.root, os.path.expanduser(path))
        if not os.path.exists(full):
            told = f"{path}, which [sandbox] names writable, does not exist"
            yield Found("machine", "sandbox", "warning", told, f"mkdir -p {shlex.quote(full)}")


def check_configuration(project: Project, unread: BadConfig | None) -> Iterator[Found]:
    """The files of the configuration, with the warnings that reading them gave."""
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
