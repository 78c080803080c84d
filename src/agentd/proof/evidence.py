"""What agentd sees of a change for itself: the project's own commands run, the diff audited, new tests tried on the old code."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from agentd import files
from agentd.git import trees
from agentd.model.evidence import Changed, Evidence, Harm, Result
from agentd.model.run import Outcome
from agentd.proof import blockers, commands, hidden_code, record, red_first
from agentd.proof.integrity.command_files import files_run
from agentd.proof.integrity.harm_audit import audit
from agentd.runs.work import Work
from agentd.values import dataclass


@dataclass(frozen=True)
class Planned:
    """The files that an approved plan names, and those of them that it removes.

    `red_first`: their tests have to be red on the code as it was; not so where that code has landed already.
    """

    named: frozenset[str] = frozenset()
    removed: frozenset[str] = frozenset()
    red_first: bool = True


def gather(work: Work, planned: Planned) -> tuple[str, list[str]]:
    """Everything there is to see of a change; kept in evidence.json, and it decides whatever anybody says.

    Gives the status in a word, and what could not be seen.
    """
    commands.settle_commands(work)
    seen = commands.look_around(work)
    commands.say_results(work, seen.results)
    began = record.base(work)
    changed = trees.changes(work.cwd, began, seen.tree) if began else ()
    harms = [*seen.harms, *_audited(changed, planned), *_other_commands(work), *_other_scripts(work, changed)]
    known = record.record(work)
    harms += hidden_code.harms(work.cwd, known.unseen, known.git_settings, work.project.own_folders())
    old = red_first.baseline(work)
    usual = {harm.file for harm in old.harms} if old else set()
    harms = [harm for harm in harms if harm.rule != "changed_by_tests" or harm.file not in usual]
    before: tuple[Result, ...] = ()
    if planned.red_first and not any(one.why in ("red", "none") for one in blockers.blockers(seen, old)):
        before, unproved = red_first.red_first(work, changed, planned.named)
        harms += unproved
    seen = replace(seen, harms=tuple(dict.fromkeys(harms)), before=before)
    for harm in seen.harms:
        work.say(f"⚠ {harm.id} {harm.file}{f':{harm.line}' if harm.line else ''}: {harm.message} ({harm.rule})")
    found = blockers.blockers(seen, old, record.waived(work))
    word = blockers.status(found)
    record.keep_evidence(work, record.EVIDENCE, seen, word)
    return word, [one.text for one in found if one.why == "unknown"]


def _audited(changed: Sequence[Changed], planned: Planned) -> list[Harm]:
    """What the change did to the tests; what the approved plan says in so many words is none."""
    found = audit(changed, planned.named)
    return [harm for harm in found if not (harm.rule == "deleted_test" and harm.file in planned.removed)]


def _other_commands(work: Work) -> list[Harm]:
    """The commands that are not those the change began with."""
    began = record.record(work).commands
    if began is None:
        return []
    known = [list(words) for words in began]
    now = [[one.kind, one.folder, one.run] for one in commands.commands(work)]
    gone = [f"- {words}" for words in known if words not in now] + [f"+ {words}" for words in now if words not in known]
    if not gone:
        return []
    message = f"the commands that agentd runs are not those the change began with: {'; '.join(gone)}"
    return [Harm("changed_test_command", message, "agentd/config.toml", 0, "; ".join(gone))]


def _other_scripts(work: Work, changed: Sequence[Changed]) -> list[Harm]:
    """Files that the change touched and that the commands run, themselves or through targets and other scripts."""
    ours = {one.path: one for one in changed if one.old != one.new}

    def read(path: str) -> str | None:
        if path in ours:
            return ours[path].new if ours[path].new is not None else ours[path].old
        return files.text(work.cwd / path)

    harms = []
    for command in commands.commands(work):
        for path in sorted(files_run(command.run, command.folder, read) & ours.keys()):
            became = "is gone" if ours[path].new is None else "has changed"
            message = f"it {became}, and “{command.name}” runs it: what that says is no longer what it was"
            harms.append(Harm("changed_test_command", message, path, quote=path))
    return harms


def try_out(work: Work) -> Outcome:
    """The project's tests between two parts of an implementation: a first word, which decides nothing yet."""
    seen = commands.look_around(work, commands.TESTS)
    old, _ = record.evidence(work, record.BASELINE)
    commands.say_results(work, seen.results)
    record.keep_evidence(work, record.EVIDENCE, seen, blockers.status(blockers.blockers(seen, old)))
    red = [one for one in blockers.blockers(seen, old) if one.why in ("red", "fewer")]
    return Outcome("red" if red else "green", "; ".join(one.text for one in red))


def run_tests(work: Work) -> Outcome:
    """The test commands of a workflow that keeps no base: green, red, or unknown, kept in evidence.json."""
    seen, word, note = _tests(work, work.cwd)
    record.keep_evidence(work, record.EVIDENCE, seen, word)
    return Outcome(word if word in ("green", "unknown") else "red", note)


def prove(work: Work, place: Path) -> tuple[str, str]:
    """The test commands in a work tree of its own: the status in a word, and what came of each."""
    return _tests(work, place)[1:]


def _tests(work: Work, place: Path) -> tuple[Evidence, str, str]:
    commands.settle_commands(work)
    results = commands.run_all(work, place, commands.commands(work, commands.TESTS))
    commands.say_results(work, results)
    seen = Evidence("", work.project.now(), results)
    note = "; ".join(blockers.in_words(one) for one in results) or "there is no test command"
    known, _ = record.evidence(work, record.BASELINE)
    return seen, blockers.status(blockers.blockers(seen, known, record.waived(work))), note


def problem_with(work: Work) -> str:
    """Why evidence.json is not one of green tests, or nothing: what agentd itself wrote counts, by its checksum."""
    seen, problem = record.evidence(work)
    if seen is None:
        return problem
    status = record.record(work).evidence
    return "" if status and status.status == "green" else f"the tests are {status.status if status else 'unknown'}"
