"""Decisions: on disk as pending before anyone is asked, answered once, void if what was shown has changed since."""

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from agentd.model.decision import Answer, Decision, Option, Question
from agentd.model.run import Outcome, Run
from agentd.model.stamp import PERSON
from agentd.model.workflow import Step
from agentd.runs import checksums
from agentd.runs.choice import choose, valid_answer, writable
from agentd.runs.persistence import persistently
from agentd.runs.project import Project
from agentd.runs.work import Work
from agentd.state import answers
from agentd.values import dataclass


def ask(work: Work, run: Run, step: Step) -> Outcome | None:
    """The answer as an outcome, or None while there is none. Words of a person's own take the way forward."""
    context = run.asked_by or run.step
    context = work.workflow.steps[context].phase if work.layout.decisions_above else context
    matter = Matter(step.name, context, lambda: question(work, step), lambda: checksums.documents(work, step))
    decision = settled(work, matter)
    if decision is None:
        return None
    said = str(decision.answer)
    words = f"{decision.id} by {decision.by}" + (f": {decision.note}" if decision.note else "")
    return Outcome(said, words) if said in step.next else Outcome(step.forward, f"{words}: {said}")


def question(work: Work, step: Step) -> Question:
    """The question an `ask` step puts. One that the family does not know is its own text, its answers those of the table."""
    place = work.layout.questions.get(step.what)
    if place is not None:
        made: Question = work.layout.find(place)(work)
        return made
    options = tuple(Option(word, word.replace("_", " ").capitalize()) for word in step.next)
    return Question(step.what, "Decision", options)


@dataclass(frozen=True)
class Matter:
    """Something to be decided: the name its answers go by, what it comes from, how it is put, what it is about."""

    name: str
    context: str
    question: Callable[[], Question]
    shown: Callable[[], Mapping[str, str]]


def settled(work: Work, matter: Matter) -> Decision | None:
    """The decision with its answer, or None while there is none. An answer to what is no longer there is void."""
    at = keeper(work)
    while True:
        if at is not work and (known := answered(work, matter.name)):
            return known
        decision = pending(work, matter.name) or open_decision(work, matter)
        answer = valid_answer(at.store.folder, decision) or put(work, decision)
        if answer is None:
            return None
        changed = checksums.differences(decision.shown, matter.shown())
        if changed:
            reason = f"{', '.join(changed)} changed after it was shown"
            work.say(f"⚠ the answer to {decision.id} is void: {reason}")
            resolve(work, replace(decision, status="cancelled", resolution_reason=reason))
            at.keep("void", decision=decision.id, answer=answer.value, note=reason)
            continue
        return resolve(work, replace(decision, status="answered", answer=answer.value, note=answer.note, by=answer.by))


def put(work: Work, decision: Decision) -> Answer | None:
    """Ask whoever is there; the first valid answer wins, whoever gave it."""
    with work.laps.lap(PERSON, "gate"), work.project.turn:
        answer = work.project.ask(decision)
    if answer is None:
        return None
    return give(work.project, keeper(work).store.folder, decision, choose(decision, answer, work.top.state.run.name))


def give(project: Project, folder: Path, decision: Decision, answer: Answer) -> Answer:
    """Record an answer to an open decision; what counts is given back, and that is the first valid one."""
    by = writable(answer.by or project.who())
    said = choose(decision, answer)._replace(
        note=writable(answer.note), by=by, at=project.now(), asked_at=decision.asked_at
    )
    while not persistently(lambda: answers.write(folder, said)):
        earlier = valid_answer(folder, decision)
        if earlier is not None:
            return earlier
        answers.set_aside(folder, decision.id)
    return said


def keeper(work: Work) -> Work:
    """The run whose state file has the decisions of a run."""
    return work.top if work.layout.decisions_above else work


def pending(work: Work, name: str) -> Decision | None:
    """The open decision of a name, if it was put already."""
    return next((d for d in _of(work, name) if d.status == "pending"), None)


def answered(work: Work, name: str) -> Decision | None:
    """The latest decision of a name that was answered."""
    return next((d for d in reversed(_of(work, name)) if d.status == "answered"), None)


def last_answered(work: Work) -> Decision | None:
    """The latest decision of a run, whatever its name, that was answered."""
    mine = "" if keeper(work) is work else "/".join(work.items_above())
    found = (d for d in reversed(keeper(work).state.decisions) if d.status == "answered" and d.item == mine)
    return next(found, None)


def _of(work: Work, name: str) -> list[Decision]:
    """The decisions of a name. A record that another run keeps is saved before this run moves on: at the same save of this
    run it is the same question, unless it was asked before this run began, by one that was rewound."""
    at = keeper(work)
    if at is work:
        return [d for d in at.state.decisions if (d.name, d.item) == (name, "")]
    mine = (name, "/".join(work.items_above()), work.state.saves)
    began = str(work.state.fields.get(work.store.codec.created_key) or "")
    return [d for d in at.state.decisions if (d.name, d.item, d.visit) == mine and d.asked_at >= began]


def open_decision(work: Work, matter: Matter) -> Decision:
    """Write the decision down as pending; only then may anybody be asked."""
    asked, at = matter.question(), keeper(work)
    with at.guard:
        others = tuple(d for d in at.state.decisions if not asked.id or d.id != asked.id)
        decision = Decision(
            id=asked.id or _next_id(work, at),
            question=f"{work.item}: {asked.text}" if work.item else asked.text,
            options=asked.options,
            state_context=matter.context,
            asked_at=work.project.now(),
            name=matter.name,
            header=asked.header,
            free=asked.free,
            shown=matter.shown(),
            item="" if at is work else "/".join(work.items_above()),
            visit=0 if at is work else work.state.saves,
        )
        at.state = replace(at.state, decisions=(*others, decision))
        at.keep("ask", decision=decision.id, step=matter.name, question=decision.question)
    return decision


def _next_id(work: Work, at: Work) -> str:
    """`UD-N`, after the items of a run that keeps its own decisions; a number is never used twice."""
    prefix = "-".join(("UD", *(work.items_above() if at is work else ()), ""))
    used = [d.id.removeprefix(prefix) for d in at.state.decisions]
    return f"{prefix}{max((int(number) for number in used if number.isdecimal()), default=0) + 1}"


def resolve(work: Work, decision: Decision) -> Decision:
    """The record with its end, in memory; the next save makes it durable together with what it leads to."""
    decision, at = replace(decision, resolved_at=work.project.now()), keeper(work)
    with at.guard:
        known = at.state.decisions
        at.state = replace(at.state, decisions=tuple(decision if d.id == decision.id else d for d in known))
    return decision


def retire(work: Work, item: str) -> None:
    """Cancel what an earlier child run of an item asked: a run that begins anew asks for itself."""
    name = "/".join((*work.items_above(), item))
    with work.top.guard:
        for decision in keeper(work).state.decisions:
            if decision.status == "pending" and decision.item == name:
                resolve(work, replace(decision, status="cancelled", resolution_reason=f"{item} began anew"))


def cancel_pending(work: Work, reason: str) -> None:
    """Cancel what a run and its children ask; what other children ask stays open."""
    at = keeper(work)
    mine = [] if at is work else [*work.items_above()]
    for decision in at.state.decisions:
        if decision.status == "pending" and decision.item.split("/")[: len(mine)] == mine:
            resolve(work, replace(decision, status="cancelled", resolution_reason=reason))
