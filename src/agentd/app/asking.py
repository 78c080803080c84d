"""Decisions: on disk as pending before anyone is asked, answered once, void if what was shown has changed since."""

import hashlib
from dataclasses import replace
from typing import TYPE_CHECKING

from agentd.app.questions import options, question
from agentd.errors import BadAnswer
from agentd.model.decision import Answer, Decision
from agentd.model.run import Outcome, Run
from agentd.model.workflow import Step, is_check
from agentd.state import answers

if TYPE_CHECKING:
    from agentd.app.work import Work


def ask(work: "Work", run: Run, step: Step) -> Outcome | None:
    """The answer as an outcome, or None while there is none. An answer to what is no longer there is void."""
    while True:
        decision = pending(work, step) or open_decision(work, run, step)
        answer = answers.read(work.store.folder, decision.id) or put(work, decision)
        if answer is None:
            return None
        answer = choose(decision, answer)
        changed = [name for name, sum_ in shown(work, step).items() if decision.shown.get(name) != sum_]
        changed += [name for name in decision.shown if name not in shown(work, step)]
        if changed:
            reason = f"{', '.join(sorted(set(changed)))} changed after it was shown"
            work.say(f"⚠ the answer to {decision.id} is void: {reason}")
            resolve(work, replace(decision, status="cancelled", resolution_reason=reason))
            work.keep("void", decision=decision.id, answer=answer.value, note=reason)
            continue
        resolve(work, replace(decision, status="answered", answer=answer.value, note=answer.note, by=answer.by))
        return Outcome(answer.value, f"{decision.id} by {answer.by}" + (f": {answer.note}" if answer.note else ""))


def put(work: "Work", decision: Decision) -> Answer | None:
    """Ask whoever is there; the first valid answer wins, whoever gave it."""
    with work.project.turn:
        answer = work.project.ask(decision)
    if answer is None:
        return None
    answer = choose(decision, answer)
    stamped = replace(answer, by=answer.by or work.project.who(), at=work.project.now())
    answers.write(work.store.folder, stamped)
    return answers.read(work.store.folder, decision.id)


def choose(decision: Decision, answer: Answer) -> Answer:
    """The answer with its value in the decision's own word: a value, a label, or its number in the list."""
    said = answer.value.strip()
    for number, option in enumerate(decision.options, 1):
        label = option.label.removesuffix("(Recommended)").strip()
        if said.lower() in (option.value.lower(), option.label.lower(), label.lower(), str(number)):
            return replace(answer, decision=decision.id, value=option.value)
    known = ", ".join(option.value for option in decision.options)
    raise BadAnswer(
        f"'{answer.value}' does not answer {decision.id} ({decision.question}); the answers are: {known}.",
        f"agentd answer RUN {decision.id} {decision.options[0].value}" if decision.options else "",
    )


def pending(work: "Work", step: Step) -> Decision | None:
    """The open decision of a step, if it was put already."""
    return next((d for d in work.state.decisions if d.status == "pending" and d.name == step.name), None)


def open_decision(work: "Work", run: Run, step: Step) -> Decision:
    """Write the decision down as pending; only then may anybody be asked."""
    asked = question(step)
    prefix = f"UD-{work.item}-" if work.item else "UD-"
    decision = Decision(
        id=f"{prefix}{len(work.state.decisions) + 1}",
        question=asked.text,
        options=options(step),
        state_context=run.asked_by or run.step,
        asked_at=work.project.now(),
        name=step.name,
        header=asked.header,
        shown=shown(work, step),
    )
    work.state = replace(work.state, decisions=(*work.state.decisions, decision))
    work.keep("ask", decision=decision.id, step=step.name, question=decision.question)
    return decision


def resolve(work: "Work", decision: Decision) -> None:
    """The record with its end, in memory; the next save makes it durable together with what it leads to."""
    decision = replace(decision, resolved_at=work.project.now())
    work.state = replace(
        work.state, decisions=tuple(decision if d.id == decision.id else d for d in work.state.decisions)
    )


def cancel_pending(work: "Work", reason: str) -> None:
    for decision in work.state.decisions:
        if decision.status == "pending":
            resolve(work, replace(decision, status="cancelled", resolution_reason=reason))


def shown(work: "Work", step: Step) -> dict[str, str]:
    """The checksums of exactly what a question is about: every file its step needs."""
    found = {}
    for name in step.needs:
        if not is_check(name):
            for path in work.files(name):
                key = path.relative_to(work.store.folder).as_posix()
                found[key] = "sha256:" + hashlib.sha256(path.read_bytes()).hexdigest()
    return found
