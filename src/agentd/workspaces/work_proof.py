"""What proves the work in a workspace: how the project stood before it, and what agentd sees of it now."""

from collections.abc import Mapping
from hashlib import sha256
from typing import Any

from agentd.landing import task
from agentd.model.evidence import Evidence
from agentd.model.run import Outcome
from agentd.proof import baseline, blockers, evidence, evidence_file, record
from agentd.proof.evidence import Planned
from agentd.proof.record import BASELINE, KEY
from agentd.runs.work import Work
from agentd.workspaces.work_files import is_untouched, own_files, tree

BASELINES, BEGAN = "baselines", "began.json"


class Baselines:
    """What the project's commands said of files that tasks began with; tasks that begin with the same do not ask again."""

    def __init__(self) -> None:
        self.known: dict[str, Evidence] = {}

    def close(self) -> None:
        self.known.clear()


def open_workspace(work: Work) -> Outcome:
    """Make a workspace for a task, or for the run itself, and see how the project stands in it."""
    outcome = task.open_workspace(work)
    if outcome.word == "done":
        begin(work, record.tree(work))
    return outcome


def begin(work: Work, tree: str) -> None:
    """See how the project stands with the files that the work in a workspace begins with."""
    kept = record.record(work).waivers
    work.note(KEY, {})
    record.keep(work, waivers=kept)
    baseline.set_out(work, tree)
    with work.top.guard:
        found = work.top.services.setdefault(BASELINES, Baselines())
    assert isinstance(found, Baselines)
    baseline.look(work, found.known.get(tree))
    seen, _ = record.evidence(work, BASELINE)
    if seen is not None:
        found.known[tree] = seen
        _keep_first(work.top, seen)


def _keep_first(top: Work, seen: Evidence) -> None:
    """Keep how the project stood when the run began: what is red at its end is held against that, and nothing later."""
    with top.guard:
        if not top.state.fields.get("began"):
            text = evidence_file.render(seen)
            top.write(BEGAN, text)
            top.note("began", sha256(text.encode()).hexdigest())


def began(work: Work) -> Evidence | None:
    """How the project stood when the run began, if the file is what agentd wrote."""
    top = work.top
    text = top.read(BEGAN)
    digest = sha256(text.encode(errors="surrogateescape")).hexdigest()
    return evidence_file.read(text, BEGAN) if text and digest == top.state.fields.get("began") else None


def examine(work: Work, planned: Planned) -> Outcome:
    """Run the project's commands, audit what was done to its tests, and try new tests on the old code."""
    if is_untouched(work):
        word = "green" if work.parent is None else "red"
        return Outcome(word, "nothing was changed in the workspace")
    ours = own_files(work)
    if ours:
        return Outcome("red", f"{', '.join(ours)} is agentd's own and no part of the work: take it back")
    word, unknown = evidence.gather(work, planned)
    seen, _ = record.evidence(work)
    found = blockers.blockers(seen, record.evidence(work, BASELINE)[0], record.waived(work)) if seen else ()
    note = "; ".join(unknown or [one.text for one in found])[:1000]
    return Outcome({"green": "green", "unknown": "unknown", "harm": "harmed"}.get(word, "red"), note)


def findings(work: Work, *kinds: str) -> Mapping[str, str]:
    """What is not as it should be, of these kinds: each by its id."""
    seen, _ = record.evidence(work)
    found = blockers.blockers(seen, record.evidence(work, BASELINE)[0], record.waived(work)) if seen else ()
    return {one.id: one.text for one in found if one.why in kinds}


def is_proved(work: Work) -> bool:
    """Whether the evidence is green, and about the files as they are."""
    seen, _ = record.evidence(work)
    status = record.record(work).evidence
    return seen is not None and status is not None and status.status == "green" and seen.tree == tree(work)


def evidence_lines(work: Work) -> list[str]:
    """What agentd saw of the files as they are."""
    seen, _ = record.evidence(work)
    return [blockers.in_words(one) for one in seen.results] if seen else []


def note_top(work: Work, **values: Any) -> None:
    """Fields of the state file of the top run, durable with the next save of any run below it."""
    top = work.top
    with top.guard:
        top.set_fields({**top.state.fields, **values})
