"""The project's own commands (tests, linters, audits): which they are, and what they come to when they run."""

import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from agentd import files
from agentd.calling import sandbox
from agentd.errors import AgentdError
from agentd.evidence.detection import detect
from agentd.evidence.installation import absent_launchers
from agentd.evidence.runner import Around, run_command
from agentd.git import trees
from agentd.machine import memory_need, slots
from agentd.model.command import KINDS, Command, Kind
from agentd.model.evidence import Evidence, Harm, Result
from agentd.model.stamp import COMMAND
from agentd.proof import blockers, file_copy, record
from agentd.redaction import redact, secret_values
from agentd.runs.config import read_config
from agentd.runs.work import Work
from agentd.state import durable

TESTS: tuple[Kind, ...] = ("test",)


def commands(work: Work, kinds: Collection[Kind] = KINDS) -> tuple[Command, ...]:
    """The commands of these kinds that the configuration has."""
    found = ((kind, work.project.config.commands(kind)) for kind in KINDS)
    return tuple(command for kind, listed in found if listed and kind in kinds for command in listed)


def settle_commands(work: Work, keep: bool = True) -> None:
    """Where nobody has said how the project is tested, find out, say it and keep it in the configuration.

    What the file says now counts: a person may have set a command while they were asked about it. With `keep` false it
    is found again next time: what a person installs meanwhile may change how the tests are run.
    """
    said = read_config(work.project.root, work.project.layouts).sections["evidence"]
    config = work.project.config.with_settings("evidence", **said)
    work.project = replace(work.project, config=config)
    unsaid = [kind for kind in KINDS if config.commands(kind) is None]
    began = record.record(work).commands if keep and _in_worktree(work) else None
    if began is not None:  # what was found in a worktree is the change's alone
        found = {kind: _of_record(began, kind) for kind in unsaid}
        work.project = replace(work.project, config=config.with_settings("evidence", **found))
        return
    listed = detect(work.cwd, absent_launchers()) if unsaid else ()
    found = {kind: tuple(one for one in listed if one.kind == kind) for kind in unsaid}
    found = {kind: listed for kind, listed in found.items() if listed}
    if not found:
        return
    for kind, listed in found.items():
        for one in listed:
            work.say(f"{blockers.WORDS[kind]}: {one.name}" + (f" (from {one.source})" if one.source else ""))
    if keep:
        _keep(work, found)
    work.project = replace(work.project, config=config.with_settings("evidence", **found))


def keep_begun(work: Work) -> None:
    """Keep the commands that the change began with in the configuration, where it says nothing of their kind."""
    began = record.record(work).commands or ()
    said = read_config(work.project.root, work.project.layouts)
    unsaid = [kind for kind in KINDS if said.commands(kind) is None]
    found = {kind: _of_record(began, kind) for kind in unsaid}
    if any(found.values()):
        _keep(work, {kind: listed for kind, listed in found.items() if listed})


def _of_record(began: Iterable[tuple[str, ...]], kind: Kind) -> tuple[Command, ...]:
    return tuple(Command(kind, run, folder) for known, folder, run in began if known == kind)


def _in_worktree(work: Work) -> bool:
    return work.cwd != work.project.root


def _keep(work: Work, found: Mapping[Kind, Sequence[Command]]) -> None:
    """Write commands into the project's configuration, unless they were found in a worktree, which may lack what it has."""
    if _in_worktree(work):
        return
    store(work.project.root / "agentd" / "config.toml", found)
    work.say("kept in agentd/config.toml below [evidence]")


def store(path: Path, found: Mapping[Kind, Sequence[Command]]) -> None:
    """Put commands into a configuration file; everything else in it stays as it is."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        text = files.read(path).decode() if path.exists() else ""
        page = tomlkit.parse(text)
        section = page.setdefault("evidence", tomlkit.table())
        for kind, listed in found.items():
            section[kind] = _written(listed)
        whole = tomlkit.dumps(page)
    except (OSError, ValueError, RecursionError, TOMLKitError) as error:
        raise AgentdError(f"{path}: the commands found cannot be kept there: {error}.", f"edit {path}") from error
    durable.make_folder(path.parent)
    durable.replace(path, whole.encode(), "config")


def _written(listed: Sequence[Command]) -> object:
    import tomlkit

    if len(listed) == 1 and not listed[0].folder:
        return listed[0].run
    entries = tomlkit.array()
    for one in listed:
        table = tomlkit.inline_table()
        table.update({"in": one.folder, "run": one.run})
        entries.append(table if one.folder else one.run)
    return entries


def look_around(work: Work, kinds: Collection[Kind] = KINDS) -> Evidence:
    """The project's commands run where the change is worked on. What they themselves write is part of what they saw."""
    now = record.tree(work)
    listed = commands(work, kinds)
    apart = tuple(filter(file_copy.needs_copy, listed))
    results = run_all(work, work.cwd, (one for one in listed if one not in apart))
    after = record.tree(work)
    if apart:
        with file_copy.laid_out(work, after, apart) as place:
            results += run_all(work, place, apart)
        results = tuple(sorted(results, key=lambda one: KINDS.index(one.command.kind)))
    harms = [] if after == now else _harms_of_running(work, now, after)
    return Evidence(after, work.project.now(), results, tuple(harms))


def run_all(work: Work, place: Path, listed: Iterable[Command]) -> tuple[Result, ...]:
    """Run commands in the project or in a copy of it, such as a worktree."""
    listed = tuple(listed)
    own = {} if place == work.project.root else python_path(place, listed)
    secrets = secret_values(work.secrets())
    seconds = float(work.project.config.get("evidence", "timeout_secs"))
    found = []
    for command in listed:
        around = sandbox.around_tests(work.project, place / command.folder)
        one = _run(work, command, place, {**work.environment(), **own}, seconds, around)
        clean = tuple(redact(line, secrets) for line in one.output)
        cases = tuple(replace(case, name=redact(case.name, secrets)) for case in one.cases)
        command = replace(command, run=redact(command.run, secrets))
        found.append(replace(one, command=command, output=clean, cases=cases, note=redact(one.note, secrets)))
    return tuple(found)


def _run(work: Work, command: Command, place: Path, env: Mapping[str, str], seconds: float, around: Around) -> Result:
    """Run one command; tests wait until the machine has room for them."""
    stop, root = work.project.interrupted, work.project.root
    if command.kind not in TESTS:
        with work.laps.lap(COMMAND, "action", command.kind):
            return run_command(command, place, env, seconds, stop, around)
    at_once = int(work.project.config.get("evidence", "at_once"))
    with slots.slot(root, command.name, at_once, work.say, stop) as slot:
        env = {**env, slots.INSIDE: "1"}
        with work.laps.lap(COMMAND, "action", command.kind):
            one = run_command(command, place, env, seconds, stop, around, slot.watch)
        ran = one.status == "green" or bool(one.counts and one.counts.passed)
        memory_need.learn(root, command.name, slot.peak, ran)
    return one


def python_path(place: Path, listed: Iterable[Command]) -> dict[str, str]:
    """A package installed from the project itself would be the code there: that of this copy comes first."""
    homes = [place / folder / inner for folder in {"", *(one.folder for one in listed)} for inner in ("", "src")]
    return {"PYTHONPATH": os.pathsep.join([*map(str, homes), *filter(None, [os.environ.get("PYTHONPATH")])])}


def say_results(work: Work, results: Iterable[Result], before: str = "") -> None:
    for one in results:
        work.say(f"{before}{blockers.in_words(one)} ({one.seconds:.1f} s)")


def _harms_of_running(work: Work, before: str, after: str) -> list[Harm]:
    changed = (one for one in trees.changes(work.cwd, before, after) if one.old is not None)
    return [
        Harm("changed_by_tests", "the project's own commands changed it while they ran", one.path) for one in changed
    ]
