"""Which agents are installed, where, in which version, and whether somebody seems to be logged in with them."""

import os
import re
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from agentd import process
from agentd.agents import logins, table
from agentd.calling import roster
from agentd.calling.doctor.found import Found, Level, patience
from agentd.calling.doctor.roles import Part
from agentd.errors import AgentdError
from agentd.redaction import redact, secret_values
from agentd.runs.project import Project

VERSION = re.compile(r"\d+\.\d+(?:[\w.+-]*\w)?")
COLOUR = re.compile(r"\x1b\[[\d;]*m")
UNPRINTED = re.compile(r"[\x00-\x1f\x7f-\x9f]")
PATIENCE = 20.0


def look(project: Project, parts: Sequence[Part], scratch: Path) -> Iterator[Found]:
    """Every agent with a program of its own, those of other packages, and whoever the configuration names."""
    playing = dict.fromkeys(part.players[0].agent for part in parts if part.players)
    named = dict.fromkeys([*(part.wanted for part in parts), *project.config.sections["fallback"].values()])
    names = list(dict.fromkeys([*playing, *named, *roster.STANDBYS, *table.installed()]))
    with ThreadPoolExecutor(len(names)) as looking:
        yield from looking.map(lambda name: _agent(project, name, name in playing, name in named, scratch), names)


def _agent(project: Project, name: str, playing: bool, named: bool, scratch: Path) -> Found:
    try:
        adapter = roster.find(project, name)
        lacks, words = roster.missing(project, name), roster.program(project, name)
    except AgentdError as error:
        return Found("agents", name, "warning", error.message, error.fix, {"installed": False})
    path = roster.locate(project.root, words[0]) if words else ""
    facts: dict[str, Any] = {"adapter": adapter.name, "installed": not lacks, "playing": playing, "path": path}
    if lacks:
        told = lacks.removeprefix(f"{name} is ") + ("" if named else "; no role needs it")
        return Found("agents", name, "warning" if named else "ok", told, roster.remedy(project, name), facts)
    if adapter.program:
        version, trouble = read_version(project, [path, *words[1:]], scratch)
    else:  # a person's own program may do anything, whatever it is asked
        version, trouble = "", _unready(project, name, adapter)
    facts |= {"version": version}
    if trouble:
        fix = adapter.install or f"${{EDITOR:-vi}} agentd/config.toml   # [{name}]"
        return Found("agents", name, "problem" if playing else "warning", trouble, fix, facts)
    login = logins.find_login(adapter, project.config.sections.get(name, {}), os.environ)
    facts |= {"login": login}
    told = ", ".join(filter(None, (version, path, f"login by {login}" if login else ""))) or "needs no program"
    if login == "":
        level: Level = "warning" if playing else "ok"
        return Found("agents", name, level, f"{told}, nobody seems to be logged in", adapter.login, facts)
    return Found("agents", name, "ok", told, facts=facts)


def read_version(project: Project, words: list[str], scratch: Path) -> tuple[str, str]:
    """What a program says its version is, or what is wrong with it."""
    asked, wait = f"{words[0]} --version", patience(project, PATIENCE)
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
    """What a program printed, in one line: no colours, and nothing that a terminal would obey."""
    return " ".join(UNPRINTED.sub(" ", COLOUR.sub("", " ".join(lines))).split())


def _unready(project: Project, name: str, adapter: table.Adapter) -> str:
    """What an agent without a program lacks."""
    if adapter.needs != "script":
        return ""
    script = str(project.config.sections.get(name, {}).get("script", ""))
    if not script:
        return f"[{name}] script is not set"
    return "" if (project.root / script).is_file() else f"there is no {project.root / script}"
