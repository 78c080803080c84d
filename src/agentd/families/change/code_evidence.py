"""The evidence about a change: gathered, shown to a person, and what of it the person has accepted."""

from agentd.evidence import installation
from agentd.families.change.documents.tasks import listed
from agentd.families.change.evidence_blockers import blockers
from agentd.model.run import Outcome
from agentd.proof import blockers as standing
from agentd.proof import commands, evidence, record
from agentd.proof.evidence import Planned
from agentd.proof.evidence import try_out as try_out
from agentd.proof.record import BASELINE, EVIDENCE
from agentd.runs import checksums
from agentd.runs.work import Work

# By the step that asks: the file that is shown, and the kind of finding that an acceptance waives.
WAIVED_BY = {
    "begin_anyway": (BASELINE, "unknown"),
    "unproven": (EVIDENCE, "unknown"),
    "harmed": (EVIDENCE, "harm"),
}


def test(work: Work) -> Outcome:
    """Gather all evidence about the change; `unknown` if a command could not run."""
    tasks = listed(work.read("tasks.md"))
    named = frozenset(task.path.removeprefix("./") for task in tasks)
    removed = frozenset(task.path.removeprefix("./") for task in tasks if task.action == "DELETE")
    word, unknown = evidence.gather(work, Planned(named, removed))
    return Outcome("unknown" if unknown else "done", "; ".join(unknown) or word)


def accept_shown(work: Work) -> Outcome:
    """Waive what a person accepted: the findings that the question showed, and no later ones."""
    said = next((one for one in reversed(work.state.decisions) if one.status == "answered"), None)
    if said is None or said.name not in WAIVED_BY:
        raise work.store.corrupt("no decision accepts anything", "run", "step")
    name, why = WAIVED_BY[said.name]
    if checksums.differences(said.shown, checksums.checksums(work, said.shown)):
        return Outcome("done", f"{name} is not what was shown: nothing is waived")
    seen, problem = record.evidence(work, name)
    if seen is None:
        return Outcome("done", f"{problem}: nothing is waived")
    found = standing.wanting(seen) if name == BASELINE else blockers(work)
    record.waive(work, said, {one.id: one.text for one in found if one.why == why})
    if name == BASELINE:
        commands.keep_begun(work)
    return Outcome("done")


def remedy(work: Work, asked: str) -> str:
    """A line to paste that may let the tests run that could not, or nothing."""
    seen, _ = record.evidence(work, WAIVED_BY[asked][0])
    tests = [one for one in seen.results if one.command.kind == "test" and one.status != "green"] if seen else []
    short = (one for one in tests if installation.is_uninstalled(one) or installation.lacking(one.command, work.cwd))
    return next(filter(None, (installation.remedy(one.command, work.cwd) for one in short)), "")


def shown(work: Work, asked: str) -> tuple[str, ...]:
    """The findings that a question about evidence shows."""
    name, why = WAIVED_BY[asked]
    seen, _ = record.evidence(work, name)
    found = standing.wanting(seen) if seen and name == BASELINE else blockers(work)
    return tuple(one.text for one in found if name == BASELINE or one.why == why)
