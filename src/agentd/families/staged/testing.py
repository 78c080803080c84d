"""TEST: the project's own commands, run by agentd. What fails is held against how the project stood when the run began."""

import json
from collections.abc import Sequence

from agentd.families.staged import failure_place, phase_files
from agentd.families.staged.task_steps import examine
from agentd.model.command import Command, Kind
from agentd.model.evidence import Evidence, Result
from agentd.model.run import Outcome
from agentd.proof import blockers, commands
from agentd.proof.integrity.paths import is_test
from agentd.runs.work import Work
from agentd.workspaces import work_files, work_proof

KINDS: tuple[Kind, ...] = ("test", "lint")
LAST_LINES = 40


def run_stage_tests(work: Work) -> Outcome:
    """Run lint and tests in the workspace; what failed is placed in a test or in the source, or nobody can tell."""
    commands.settle_commands(work)
    seen = commands.look_around(work, KINDS)
    extra = commands.run_all(work, work.cwd, _configured(work))
    seen = Evidence(seen.tree, seen.at, (*seen.results, *extra))
    commands.say_results(work, seen.results)
    waived = work.state.fields.get("waived")
    found = blockers.blockers(seen, work_proof.began(work), waived if isinstance(waived, list) else ())
    if not found and not work_files.is_untouched(work):
        outcome = examine(work)  # what was done to the tests meanwhile is audited too
        if outcome.word != "green":
            word = "unknown" if outcome.word == "unknown" else "test_is_wrong"
            return _told(work, seen, word, "high", outcome.note, ())
    if not found:
        return _told(work, seen, "passed", "high", "", ())
    note = "; ".join(one.text for one in found)
    if any(one.why == "unknown" for one in found):
        return _told(work, seen, "unknown", "high", note, ())
    changed = [entry["path"] for entry in work_files.changed_files(work)]
    project = work_files.listed(work)
    failed = [one for one in seen.results if one.status != "green"]
    place = failure_place.classify(failed, changed, is_test, project)
    return _told(work, seen, place.word, place.sure, note, place.places)


def _configured(work: Work) -> list[Command]:
    """The commands of this stage alone."""
    config = work.project.config
    return [Command(kind, str(config.get("staged", kind))) for kind in KINDS if config.get("staged", kind)]


def _told(work: Work, seen: Evidence, word: str, sure: str, note: str, places: Sequence[str]) -> Outcome:
    data = {
        "passed": word == "passed",
        "commands": [_result(one) for one in seen.results],
        "failure": None if word == "passed" else {"is": word, "sure": sure, "places": list(places), "why": note},
        "tree": seen.tree,
        "at": seen.at,
    }
    text = json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    phase_files.write(work, phase_files.RESULTS, text, of=seen.tree)
    if word == "source_is_wrong":
        reasons = work.state.fields.get("reasons")
        work.note("reasons", {**(reasons if isinstance(reasons, dict) else {}), "IMPLEMENT": text[:4000]})
    said = f"{note[:300]} ({word.replace('_', ' ')}, {sure} confidence)" if word != "passed" else ""
    return Outcome(word, said)


def _result(one: Result) -> dict[str, object]:
    counts = one.counts
    return {
        "kind": one.command.kind,
        "command": one.command.name,
        "status": one.status,
        "exitCode": one.exit_code,
        "passed": counts.passed if counts else None,
        "failed": counts.failed if counts else None,
        "failures": [{"name": c.name, "file": c.file, "line": c.line} for c in one.cases if c.status == "failed"],
        "output": list(one.output[-LAST_LINES:]) if one.status != "green" else [],
    }
