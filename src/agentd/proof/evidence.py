"""What agentd sees of a change for itself: the project's own commands run, the diff audited, new tests tried on the old code."""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agentd.calling import sandbox
from agentd.errors import AgentdError
from agentd.families.change.documents import tasks as tasks_document
from agentd.git import trees
from agentd.model.change import Task
from agentd.model.evidence import KINDS, Changed, Command, Evidence, Harm, Kind, Result
from agentd.model.run import Outcome
from agentd.proof import blockers, hidden_code, integrity, record
from agentd.redaction import redact, secret_values
from agentd.runs.config import read_config
from agentd.state import durable

if TYPE_CHECKING:
    from agentd.runs.work import Work

TESTS: tuple[Kind, ...] = ("test",)
_LARGEST_SCRIPT = 200_000


def commands(work: "Work", kinds: Collection[Kind] = KINDS) -> tuple[Command, ...]:
    """The commands of these kinds that the configuration has."""
    found = ((kind, work.project.config.commands(kind)) for kind in KINDS)
    return tuple(command for kind, listed in found if listed and kind in kinds for command in listed)


def settle_commands(work: "Work") -> None:
    """Where nobody has said how the project is tested, find out, say it and keep it in the configuration.

    What the file says now counts: a person may have set a command while they were asked about it.
    """
    from agentd.evidence.detecting import detect

    said = read_config(work.project.root).sections["evidence"]
    config = work.project.config.with_settings("evidence", **said)
    work.project = replace(work.project, config=config)
    unsaid = [kind for kind in KINDS if config.commands(kind) is None]
    found = {kind: tuple(one for one in detect(work.cwd) if one.kind == kind) for kind in unsaid} if unsaid else {}
    found = {kind: listed for kind, listed in found.items() if listed}
    if not found:
        return
    for kind, listed in found.items():
        for one in listed:
            work.say(f"{blockers.WORDS[kind]}: {one.name}" + (f" (from {one.source})" if one.source else ""))
    store(work.project.root / "agentd" / "config.toml", found)
    work.say("kept in agentd/config.toml below [evidence]")
    work.project = replace(work.project, config=config.with_settings("evidence", **found))


def store(path: Path, found: Mapping[Kind, Sequence[Command]]) -> None:
    """Put commands into a configuration file; everything else in it stays as it is."""
    import tomlkit
    from tomlkit.exceptions import TOMLKitError

    try:
        text = path.read_text(encoding="utf-8") if path.exists() else ""
        page = tomlkit.parse(text)
        section = page.setdefault("evidence", tomlkit.table())
        for kind, listed in found.items():
            section[kind] = _written(listed)
        whole = tomlkit.dumps(page)
    except (OSError, UnicodeDecodeError, TOMLKitError) as error:
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


def look_around(work: "Work", kinds: Collection[Kind] = KINDS) -> Evidence:
    """The project's commands run where the change is worked on. What they themselves write is part of what they saw."""
    now = record.tree(work)
    results = run_all(work, work.cwd, commands(work, kinds))
    after = record.tree(work)
    harms = [] if after == now else _harms_of_running(work, now, after)
    return Evidence(after, work.project.now(), results, tuple(harms))


def run_all(
    work: "Work", place: Path, listed: Iterable[Command], env: Mapping[str, str] | None = None
) -> tuple[Result, ...]:
    from agentd.evidence.running import look

    secrets = secret_values(work.secrets())
    seconds = float(work.project.config.get("evidence", "timeout_secs"))
    found = []
    for command in listed:
        one = look(
            command,
            place,
            {**work.environment(), **(env or {})},
            seconds,
            work.project.interrupted,
            sandbox.around_tests(work.project, place / command.folder),
        )
        clean = tuple(redact(line, secrets) for line in one.output)
        cases = tuple(replace(case, name=redact(case.name, secrets)) for case in one.cases)
        command = replace(command, run=redact(command.run, secrets))
        found.append(replace(one, command=command, output=clean, cases=cases, note=redact(one.note, secrets)))
    return tuple(found)


def _harms_of_running(work: "Work", before: str, after: str) -> list[Harm]:
    changed = (one for one in trees.changes(work.cwd, before, after) if one.old is not None)
    return [
        Harm("changed_by_tests", "the project's own commands changed it while they ran", one.path) for one in changed
    ]


def gather_evidence(work: "Work") -> Outcome:
    """Everything there is to see of the change; kept in evidence.json, and it decides whatever anybody says."""
    from agentd.proof import red_first

    settle_commands(work)
    seen = look_around(work)
    for one in seen.results:
        work.say(f"{blockers.in_words(one)} ({one.seconds:.1f} s)")
    changed = trees.changes(work.cwd, record.base(work), seen.tree) if record.base(work) else ()
    harms = [*seen.harms, *_audited(work, changed), *_other_commands(work), *_other_scripts(work, changed)]
    harms += hidden_code.harms(work.cwd, record.record(work), record.OURS)
    old = red_first.baseline(work)
    usual = {harm.file for harm in old.harms} if old else set()
    harms = [harm for harm in harms if harm.rule != "changed_by_tests" or harm.file not in usual]
    before: tuple[Result, ...] = ()
    if not any(one.why in ("red", "none") for one in blockers.blockers(seen, old)):
        before, unproved = red_first.red_first(work, changed)
        harms += unproved
    seen = replace(seen, harms=tuple(dict.fromkeys(harms)), before=before)
    for harm in seen.harms:
        work.say(f"⚠ {harm.id} {harm.file}{f':{harm.line}' if harm.line else ''}: {harm.message} ({harm.rule})")
    found = blockers.blockers(seen, old, record.waived(work))
    word = blockers.status(found)
    record.keep_evidence(work, record.EVIDENCE, seen, word)
    unknown = [one.text for one in found if one.why == "unknown"]
    return Outcome("unknown" if unknown else "done", "; ".join(unknown) or word)


def _audited(work: "Work", changed: Sequence[Changed]) -> list[Harm]:
    """What the change did to the tests; what the approved plan says in so many words is none."""
    tasks = read_tasks(work)
    named = {task.path.removeprefix("./") for task in tasks}
    gone = {task.path.removeprefix("./") for task in tasks if task.action == "DELETE"}
    found = integrity.audit(changed, named)
    return [harm for harm in found if not (harm.rule == "deleted_test" and harm.file in gone)]


def read_tasks(work: "Work") -> tuple[Task, ...]:
    try:
        text = (work.home / "tasks.md").read_bytes().decode(errors="surrogateescape")
    except FileNotFoundError:
        return ()
    found = tasks_document.read(text)[0]
    return found.tasks if found else ()


def _other_commands(work: "Work") -> list[Harm]:
    """The commands that are not those the change began with."""
    known = record.record(work).get("commands")
    if not isinstance(known, list):
        return []
    now = [[one.kind, one.folder, one.run] for one in commands(work)]
    gone = [f"- {words}" for words in known if words not in now] + [f"+ {words}" for words in now if words not in known]
    if not gone:
        return []
    message = f"the commands that agentd runs are not those the change began with: {'; '.join(gone)}"
    return [Harm("changed_test_command", message, "agentd/config.toml", 0, "; ".join(gone))]


def _other_scripts(work: "Work", changed: Sequence[Changed]) -> list[Harm]:
    """Files that the change touched and that the commands run, themselves or through targets and other scripts."""
    ours = {one.path: one for one in changed if one.old != one.new}

    def read(path: str) -> str | None:
        if path in ours:
            return ours[path].new if ours[path].new is not None else ours[path].old
        try:
            return (work.cwd / path).read_bytes()[:_LARGEST_SCRIPT].decode(errors="replace")
        except OSError:
            return None

    harms = []
    for command in commands(work):
        for path in sorted(integrity.files_run(command.run, command.folder, read) & ours.keys()):
            became = "is gone" if ours[path].new is None else "has changed"
            message = f"it {became}, and “{command.name}” runs it: what that says is no longer what it was"
            harms.append(Harm("changed_test_command", message, path, quote=path))
    return harms


def try_out(work: "Work") -> Outcome:
    """The project's tests between two parts of an implementation: a first word, which decides nothing yet."""
    seen = look_around(work, TESTS)
    old, _ = record.evidence(work, record.BASELINE)
    for one in seen.results:
        work.say(f"{blockers.in_words(one)} ({one.seconds:.1f} s)")
    record.keep_evidence(work, record.EVIDENCE, seen, blockers.status(blockers.blockers(seen, old)))
    red = [one for one in blockers.blockers(seen, old) if one.why in ("red", "fewer")]
    return Outcome("red" if red else "green", "; ".join(one.text for one in red))


def run_tests(work: "Work") -> Outcome:
    """The test commands of a workflow that keeps no base: green, red, or unknown, kept in evidence.json."""
    from agentd.proof import evidence_file as document

    settle_commands(work)
    results = run_all(work, work.cwd, commands(work, TESTS))
    seen = Evidence("", work.project.now(), results)
    work.write(record.EVIDENCE, document.render(seen))
    for one in results:
        work.say(f"{blockers.in_words(one)} ({one.seconds:.1f} s)")
    word = blockers.status(blockers.blockers(seen, None))
    note = "; ".join(blockers.in_words(one) for one in results) or "there is no test command"
    return Outcome(word if word in ("green", "unknown") else "red", note)
