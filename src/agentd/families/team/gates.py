"""The two gates of a full session: what is shown, how an answer is understood, and what passes."""

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from agentd.errors import DiskTrouble
from agentd.families.team import gate_words, session
from agentd.families.team.gate_words import APPROVED, ARCHITECTURE, CHANGES, DESIGN, SPEC
from agentd.families.team.session_documents import (
    ACCEPTANCE,
    DESIGN_DOCUMENTS,
    TASKS,
    Invalid,
    Task,
    criteria,
    excerpts,
    tasks,
)
from agentd.families.team.verdicts import STRATEGY
from agentd.model.decision import Decision, Option, Question
from agentd.model.run import Outcome
from agentd.runs import checksums
from agentd.runs.work import Work
from agentd.state import durable, reading

APPROVE = "UD-APPROVE-DESIGN"
HISTORY = "approve-design-history.jsonl"
MISSING = "mandatory_user_decision_missing"
MOST = 3
# What a person sees of each document before they approve it: the sections whose titles have one of these words.
SUMMARY = {
    "spec.md": ("scope", "goal", "assumption"),
    "architecture.md": ("module", "data flow", "decision", "risk"),
    "adr/": ("decision",),
    "design-specs/": ("layout", "interaction", "component"),
    "research/": ("recommend",),
}
PARTS = {SPEC: "SpecAgent", ARCHITECTURE: "Architect", DESIGN: "Designer"}


def _decision(work: Work, name: str) -> Decision | None:
    return next((one for one in work.state.decisions if one.id == name), None)


def _on_disk(work: Work, name: str) -> Decision | None:
    """A decision as the file on the disk has it."""
    return next((one for one in work.top.store.peek().decisions if one.id == name), None)


def _tracking(work: Work) -> dict[str, Any]:
    found = work.state.fields.get("gate_tracking")
    gate = found.get("APPROVE_DESIGN") if isinstance(found, Mapping) else None
    return dict(gate) if isinstance(gate, Mapping) else {}


def _track(work: Work, **values: Any) -> None:
    known = work.state.fields.get("gate_tracking")
    others = dict(known) if isinstance(known, Mapping) else {}
    work.note("gate_tracking", {**others, "APPROVE_DESIGN": {**_tracking(work), **values}})


def summarize_design(work: Work) -> Outcome:
    """Whether the design can be shown; a correction that was asked for and not made yet comes first."""
    said = _decision(work, APPROVE)
    if said and said.status == "answered" and str(said.answer).startswith(CHANGES):
        status = str(_tracking(work).get("correction_status") or "none")
        if status in ("none", "queued"):
            _track(work, correction_status="queued")
            return Outcome(_part(work, said), "a correction was asked for and not dispatched yet")
        if status == "dispatched":  # it is not dispatched twice, whatever came of it
            _track(work, correction_status="completed")
    return Outcome("done")


def design_summary(work: Work) -> list[str]:
    """Scope, criteria and assumptions; modules, data flow and decisions; layout and components."""
    try:
        found = criteria(work.read(ACCEPTANCE))
    except Invalid:
        found = ()
    lines = []
    for kind, wanted in SUMMARY.items():
        for path in work.files(kind):
            name = path.relative_to(work.home).as_posix()
            lines += [name, *(f"  {each}" for each in excerpts(work.read(name), wanted))]
        if kind == "spec.md":
            lines += [f"  {one.id} {one.description} ({'; '.join(map(str, one.verify))})" for one in found]
            lines += [f"  Assumption: {each}" for each in session.texts(work, "assumptions")]
    return lines


def approve_design(work: Work) -> Question:
    home = work.project.relative(work.home)
    text = (
        f"Do you approve the design in {home} as it is (spec.md, architecture.md and what belongs to them), "
        "or do you have comments, corrections or concerns?\n" + "\n".join(design_summary(work))
    )
    options = [Option(APPROVED, "Approve the design as it is"), Option(SPEC, "Change the specification", reason=True)]
    options.append(Option(ARCHITECTURE, "Change the architecture", reason=True))
    if any(work.files("design-specs/*")):
        options.append(Option(DESIGN, "Change the design of what people see", reason=True))
    options.append(Option("deferred", "Not now"))
    return Question(text, "Design", tuple(options), free=True, id=APPROVE)


def confirm_design(work: Work) -> Question:
    """Show back what free words were understood as."""
    said = str(work.state.fields.get("heard") or "")
    means = gate_words.meaning(said)
    part = gate_words.part(said, any(work.files("design-specs/*")))
    understood = "you approve the design" if means == APPROVED else f"changes are requested, which go to {PARTS[part]}"
    first = APPROVED if means == APPROVED else part
    labels = {APPROVED: "Approve the design", **{name: f"Changes, to {role}" for name, role in PARTS.items()}}
    if not any(work.files("design-specs/*")):
        del labels[DESIGN]
    order = [first, *(name for name in labels if name != first)]
    return Question(
        f"You said “{said}”. Understood: {understood}. Is that right?",
        "Design",
        (*(Option(name, labels[name]) for name in order), Option("deferred", "Not now")),
    )


def hear_design(work: Work) -> Outcome:
    """Take up the answer to the design gate: only a clear one counts, and free words only once they were confirmed."""
    said = _decision(work, APPROVE)
    last = session.last_said(work)
    if said is None or last is None:
        return Outcome("unclear", "nothing was answered")
    confirmed = last.name == "confirm_design"
    words = str(last.answer or "").strip()
    asked = str(work.state.fields.get("heard") or "") if confirmed else words
    if words in PARTS:
        return _correct(work, said, words, last.note or asked)
    if words == APPROVED and (confirmed or said.answer == APPROVED):
        return _approve(work, said)
    if gate_words.is_deferral(words):
        return _missing(work, said, f"put off by {last.by}")
    if gate_words.meaning(words):
        work.note("heard", words)
        return Outcome("confirm", words[:200])
    return _ask_again(work, said, APPROVE)


def _approve(work: Work, said: Decision) -> Outcome:
    now = checksums.checksums(work, DESIGN_DOCUMENTS)
    if {name: now.get(name) for name in said.shown} != dict(said.shown):
        return Outcome("unclear", "the documents changed after they were shown")
    return _save(work, said, APPROVED) or Outcome("approved", f"{said.id} by {said.by}")


def _correct(work: Work, said: Decision, part: str, words: str) -> Outcome:
    answer = f"{CHANGES}: {words}"
    work.note("correction", words)
    work.note("correction_part", part)
    _track(work, correction_status="queued")
    append_history(
        work, {"at": said.resolved_at, "decision_id": said.id, "answer": answer, "state_context": "APPROVE_DESIGN"}
    )
    _record(work, replace(said, answer=answer))
    _reset(work, APPROVE)
    return Outcome(part, words[:200])


def append_history(work: Work, line: Mapping[str, Any]) -> None:
    """Add a line to the history of the design gate; after a kill the same one is not added twice."""
    text = json.dumps(line, ensure_ascii=False)
    try:
        known = reading.own(work.home / HISTORY).decode()
    except FileNotFoundError:
        known = ""
    if text not in known.splitlines():
        durable.replace(work.home / HISTORY, f"{known}{text}\n".encode(), "document")


def _part(work: Work, said: Decision) -> str:
    """Which role a correction that was asked for earlier goes to."""
    known = str(work.state.fields.get("correction_part") or "")
    words = str(said.answer).partition(":")[2].strip()
    work.note("correction", words)
    return known if known in PARTS else gate_words.part(words, any(work.files("design-specs/*")))


def _record(work: Work, made: Decision) -> None:
    work.state = replace(
        work.state, decisions=tuple(made if one.id == made.id else one for one in work.state.decisions)
    )


def _save(work: Work, said: Decision, answer: str) -> Outcome | None:
    """Put the canonical answer into the record of the gate, on the disk; the gate stays open where the disk refuses it."""
    _record(work, replace(said, answer=answer))
    _reset(work, said.id)
    try:
        work.keep("answer", decision=said.id, answer=answer)
    except DiskTrouble as error:
        return _missing(work, said, f"the answer could not be saved: {error.message}")
    return None


def _ask_again(work: Work, said: Decision, gate: str) -> Outcome:
    """An answer that cannot be used: asked again, at most three times while this process runs."""
    counts = work.project.known
    times = int(counts.get(("asked again", f"{work.store.folder}:{gate}"), 0)) + 1
    counts["asked again", f"{work.store.folder}:{gate}"] = times
    if times > MOST:
        return _missing(work, said, f"no valid answer after {MOST} more questions")
    work.say(f"⚠ “{said.answer}” is no answer that can be used ({times} of {MOST}); see the options")
    return Outcome("unclear", str(said.answer)[:200])


def _reset(work: Work, gate: str) -> None:
    work.project.known.pop(("asked again", f"{work.store.folder}:{gate}"), None)


def _missing(work: Work, said: Decision, why: str) -> Outcome:
    """A gate without its decision: the record is cancelled, and the session is blocked."""
    _record(work, replace(said, status="cancelled", answer=None, resolution_reason=why, resolved_at=work.project.now()))
    _reset(work, said.id)
    work.note("blocker", {"reason": MISSING, "gate": said.id, "why": why})
    return Outcome("missing", f"{MISSING}: {why}")


def design_is_approved(work: Work) -> str:
    """Why the design does not count as approved, by what status.json on the disk says."""
    said = _on_disk(work, APPROVE)
    if said is None or said.status != "answered":
        return f"{APPROVE} is not answered"
    if not str(said.answer).startswith(APPROVED):
        return f"{APPROVE} is answered with {said.answer}"
    now = checksums.checksums(work.top, DESIGN_DOCUMENTS)
    changed = checksums.differences(said.shown, now) if said.shown else []  # another tool bound it to nothing
    return f"{', '.join(changed)} changed after the design was approved" if changed else ""


def documents_are_as_decided(work: Work) -> str:
    """Why the documents are not those that the work was begun with: approved ones, or in a lean session the first ones."""
    top = work.top
    if session.is_lean(top):
        known = top.state.fields.get(session.DECIDED)
        then = {str(name): str(digest) for name, digest in known.items()} if isinstance(known, Mapping) else {}
        changed = checksums.differences(then, session.decided_on(top))
        return f"{', '.join(changed)} changed after the work was begun" if changed else ""
    said = _on_disk(work, STRATEGY)
    changed = checksums.differences(said.shown, checksums.checksums(top, (TASKS,))) if said else []
    planned = f"{', '.join(changed)} changed after the review strategy was chosen" if changed else ""
    return design_is_approved(work) or planned


def every_task_has_its_fields(work: Work) -> str:
    """Why the plan is not complete, or nothing: each task has dependencies, acceptance checks and done_when."""
    try:
        tasks(work.read(TASKS))
    except Invalid as error:
        return f"{TASKS}: {error}"
    return ""


def recommended(found: Sequence[Task]) -> tuple[str, str]:
    """The strategy that agentd would choose for these tasks, and why."""
    risky = [one.id for one in found if {"security", "breaking-change"} & {*one.risk_flags}]
    needed = Counter(name for one in found for name in one.depends_on)
    shared = [one.id for one in found if len(one.depends_on) > 1 or needed[one.id] > 1]
    large = [one.id for one in found if len(one.files_expected) > 5]
    reasons = [
        f"{len(found)} tasks" if len(found) >= 5 else "",
        f"security or breaking changes in {', '.join(risky)}" if risky else "",
        f"{', '.join(shared)} has dependencies with several tasks" if shared else "",
        f"{', '.join(large)} touches many files" if large else "",
    ]
    why = "; ".join(filter(None, reasons))
    return ("per-batch", why) if why else ("single-final", "few small tasks without risk flags")


def recommend_strategy(work: Work) -> Outcome:
    word, why = recommended(tasks(work.read(TASKS)))
    return Outcome("done", f"{word}: {why}")


def review_strategy(work: Work) -> Question:
    """The tasks, both strategies with what each costs, and a recommendation."""
    found = tasks(work.read(TASKS))
    word, why = recommended(found)
    planned = f"{len(found)} task{'s are' if len(found) > 1 else ' is'} planned"
    lines = [f"How shall the work be reviewed? {planned}; recommended: {word} ({why})."]
    lines += [
        f"  {one.id} {one.title} ({one.type}; {len(one.files_expected)} file{'s' if len(one.files_expected) != 1 else ''}"
        + (f"; after {', '.join(one.depends_on)}" if one.depends_on else "")
        + (f"; {', '.join(one.risk_flags)}" if {*one.risk_flags} - {"none"} else "")
        + ")"
        for one in found
    ]
    labels = {
        "per-batch": "Review, QA and Security after each task: thorough, slower, finds problems earlier",
        "single-final": "Review, QA and Security once, after all tasks: faster, late findings mean more rework",
    }
    order = [word, *(name for name in labels if name != word)]
    options = (*(Option(name, labels[name]) for name in order), Option("deferred", "Not now"))
    return Question("\n".join(lines), "Strategy", options, free=True, id=STRATEGY)


def hear_strategy(work: Work) -> Outcome:
    """Take up the strategy: only one of the two canonical words counts."""
    said = _decision(work, STRATEGY)
    if said is None or said.status != "answered":
        return Outcome("unclear", "nothing was answered")
    word = gate_words.strategy(str(said.answer))
    if word:
        return _save(work, said, word) or Outcome(word, f"{said.id} by {said.by}")
    if gate_words.is_deferral(str(said.answer)):
        return _missing(work, said, f"put off by {said.by}")
    return _ask_again(work, said, STRATEGY)


def gate_is_open(work: Work) -> Question:
    found = work.state.fields.get("blocker")
    why = str(found.get("why") or "") if isinstance(found, Mapping) else ""
    text = f"The session waits at a gate ({MISSING}: {why}). Decide now?"
    return Question(text, "Gate", (Option("retry", "Show it again"), Option("abandon", "End the session")))


def reopen_gate(work: Work) -> Outcome:
    """Ask the question of the gate again that was left open."""
    found = work.state.fields.get("blocker")
    gate = found.get("gate") if isinstance(found, Mapping) else ""
    work.note("blocker", None)
    return Outcome("strategy" if gate == STRATEGY else "design")
