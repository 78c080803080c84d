"""What agentd keeps of an implementation: the files it began with, what was seen, what a person waived, what was approved.

All of it stands below one key of the state file, which no agent's edit reaches; the files beside it count by their checksum.
"""

from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from typing import TYPE_CHECKING, Any

from agentd.errors import AgentdError, Corrupt
from agentd.git import trees
from agentd.model.decision import Decision
from agentd.model.evidence import Evidence
from agentd.model.run import Outcome
from agentd.proof import blockers as standing
from agentd.proof import evidence_file as document
from agentd.proof.blockers import Blocker
from agentd.runs import checksums

if TYPE_CHECKING:
    from agentd.runs.work import Work

KEY = "implementation"
OURS = ("agentd", ".agents", ".agents-work")
BASELINE, EVIDENCE = "baseline.json", "evidence.json"
# Which file a question shows, and which part of what it says the answer waives.
WAIVED_BY = {
    "begin_anyway": (BASELINE, "unknown"),
    "unproven": (EVIDENCE, "unknown"),
    "harmed": (EVIDENCE, "harm"),
}


def record(work: "Work") -> Mapping[str, Any]:
    """Everything that is kept, nothing where the implementation has not begun."""
    found = work.top.state.fields.get(KEY)
    return found if isinstance(found, Mapping) else {}


def keep(work: "Work", **values: Any) -> None:
    """Add to what is kept, durable with the next save."""
    with work.top.guard:
        work.top.note(KEY, {**record(work), **values})


def part(work: "Work", name: str) -> Mapping[str, Any]:
    """One part of what is kept."""
    found = record(work).get(name)
    return found if isinstance(found, Mapping) else {}


def base(work: "Work") -> str:
    """The tree that the implementation began with; nothing before it began."""
    return str(record(work).get("base") or "")


def tree(work: "Work") -> str:
    """The files of the project as they are now, agentd's own apart."""
    return trees.snapshot(work.cwd, OURS)


def set_out(work: "Work") -> Outcome:
    """Keep the files as they are before the first task."""
    from agentd.calling import conversation
    from agentd.proof import hidden_code

    if not base(work):
        conversation.register_ahead(work, "implementer", "reviewer")
        now = tree(work)
        trees.keep(work.cwd, _ref(work), now)
        work.top.set_fields({key: said for key, said in work.top.state.fields.items() if key != "verdict"})
        keep(work, base=now, begun_at=work.project.now(), **hidden_code.noted(work.cwd, OURS))
    return Outcome("done", f"began with {base(work)[:12]}")


def hold_base(work: "Work") -> None:
    """Keep holding the files the implementation began with, also if somebody let them go."""
    if trees.kept(work.cwd, _ref(work)) == base(work):
        return
    try:
        trees.keep(work.cwd, _ref(work), base(work))
    except AgentdError:
        raise AgentdError(
            f"The files that '{work.top.state.run.name}' began with are gone from git (refs/agentd/{_ref(work)}), so "
            "nobody can tell any more what was changed. Nothing is approved.",
            f"edit {work.project.relative(work.home)}/STATE.yaml   # delete `implementation:` to begin from the files as they are",
        ) from None
    work.say(f"⚠ refs/agentd/{_ref(work)} was taken away and has been put back")


def let_go(work: "Work") -> None:
    """A change that is over needs the files it began with no longer; again does no harm."""
    if base(work):
        with suppress(AgentdError):
            trees.forget(work.project.root, _ref(work))


def _ref(work: "Work") -> str:
    return f"{work.top.state.run.name}/base"


def run_baseline(work: "Work") -> Outcome:
    """What the project's own commands say before anything is changed; where that is wanting, a person decides."""
    from agentd.proof import evidence as proving
    from agentd.proof import hidden_code, red_first

    first = "commands" not in record(work)
    proving.settle_commands(work)
    seen = proving.look_around(work) if first or tree(work) == base(work) else red_first.look_at_base(work)
    for one in seen.results:
        work.say(f"Before the change: {standing.in_words(one)} ({one.seconds:.1f} s)")
    keep_evidence(work, BASELINE, seen, "")
    keep(work, commands=[[one.kind, one.folder, one.run] for one in proving.commands(work)])
    if first:  # what the project's own commands make is theirs
        keep(work, unseen=hidden_code.noted(work.cwd, OURS)["unseen"])
    found = standing.wanting(seen)
    for wanting in found:
        work.say(f"⚠ {wanting.text}")
    return Outcome("ask" if found else "done", "; ".join(one.text for one in found))


def baseline_is_open(work: "Work") -> str:
    """Why nobody has to look at the project before its first task, or nothing."""
    from agentd.runs import decisions

    seen, problem = evidence(work, BASELINE)
    if seen is None or problem:
        return ""
    decided = decisions.answered(work, "begin_anyway")
    return "" if standing.wanting(seen) and decided is None else "the baseline is known"


def keep_evidence(work: "Work", name: str, seen: Evidence, status: str) -> None:
    """Write down what was seen, and beside the run what it says and its checksum."""
    text = document.render(seen)
    work.write(name, text)
    digest = sha256(text.encode()).hexdigest()
    keep(work, **{name.removesuffix(".json"): {"tree": seen.tree, "sha256": digest, "status": status}})


def evidence(work: "Work", name: str = EVIDENCE) -> tuple[Evidence | None, str]:
    """What was seen, and why it does not count: it is missing, or it is not what agentd wrote."""
    try:
        data = (work.home / name).read_bytes()
    except OSError:
        return None, f"{name} is missing"
    known = part(work, name.removesuffix(".json")).get("sha256")
    if not known or sha256(data).hexdigest() != known:
        return None, f"{name} is not what agentd wrote"
    try:
        return document.read(data.decode(), name), ""
    except (Corrupt, UnicodeDecodeError):
        return None, f"{name} cannot be read"


def blockers(work: "Work") -> tuple[Blocker, ...]:
    """What the evidence holds against an approval."""
    seen, problem = evidence(work)
    before, lost = evidence(work, BASELINE)
    if seen is None:
        return (Blocker("none", "", problem),)
    if not base(work):
        return (Blocker("none", "", "nobody knows what files the change began with"),)
    gone = (Blocker("none", "", f"{lost}, so nobody can tell what was red before"),) if lost else ()
    return (*gone, *_other_plan(work), *standing.blockers(seen, before, waived(work)))


def _other_plan(work: "Work") -> tuple[Blocker, ...]:
    """The plan is not what was approved: only a person can say that it may be so."""
    from agentd.families.change.challenge import plan_is_as_approved

    said = plan_is_as_approved(work.top).partition(";")[0]
    sums = checksums.checksums(work.top, checksums.PLAN) if said else {}
    name = f"plan:{sha256(repr(sorted(sums.items())).encode()).hexdigest()[:8]}"
    return (Blocker("harm", name, said),) if said and name not in waived(work) else ()


def waived(work: "Work") -> tuple[str, ...]:
    """What a person decided to do without."""
    return tuple(str(one.get("id")) for one in _waivers(work))


def waive(work: "Work", said: Decision, ids: Mapping[str, str]) -> None:
    """Keep that a person did without these, with who and why."""
    fresh = [
        {"id": name, "what": text, "by": said.by, "why": said.note, "decision": said.id, "at": said.resolved_at}
        for name, text in ids.items()
        if name not in waived(work)
    ]
    for one in fresh:
        work.say(f"⚠ {said.by} waives: {one['what']}" + (f" ({said.note})" if said.note else ""))
    keep(work, waivers=[*_waivers(work), *fresh])


def waive_what_was_shown(work: "Work") -> Outcome:
    """Carry out a person's word about what could not run, or about harm to the tests: as much of it as they were shown."""
    said = next((one for one in reversed(work.state.decisions) if one.status == "answered"), None)
    if said is None or said.name not in WAIVED_BY:
        raise work.store.corrupt("nobody has waived anything", "run", "step")
    name, why = WAIVED_BY[said.name]
    if checksums.differences(said.shown, checksums.checksums(work, said.shown)):
        return Outcome("done", f"{name} is not what was shown: nothing is waived")
    seen, problem = evidence(work, name)
    if seen is None:
        return Outcome("done", f"{problem}: nothing is waived")
    found = standing.wanting(seen) if name == BASELINE else blockers(work)
    waive(work, said, {one.id: one.text for one in found if one.why == why})
    return Outcome("done")


def shown(work: "Work", asked: str) -> tuple[str, ...]:
    """What a question about evidence is about, in words."""
    name, why = WAIVED_BY[asked]
    seen, _ = evidence(work, name)
    found = standing.wanting(seen) if seen and name == BASELINE else blockers(work)
    return tuple(one.text for one in found if name == BASELINE or one.why == why)


def _waivers(work: "Work") -> list[Mapping[str, Any]]:
    found = record(work).get("waivers")
    return [one for one in found if isinstance(one, Mapping)] if isinstance(found, list) else []
