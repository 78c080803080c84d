"""Decisions: on disk as pending before anyone is asked, answered once, void if what was shown has changed since."""

import hashlib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from agentd import yamltext
from agentd.app.project import Project
from agentd.app.questions import options, question
from agentd.errors import BadAnswer, Corrupt, UsageError
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
        answer = valid_answer(work.store.folder, decision) or put(work, decision)
        if answer is None:
            return None
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
    return give(work.project, work.store.folder, decision, answer)


def give(project: Project, folder: Path, decision: Decision, answer: Answer) -> Answer:
    """Record an answer to an open decision; what counts is given back, and that is the first valid one."""
    by = writable(answer.by or project.who())
    said = replace(
        choose(decision, answer), note=writable(answer.note), by=by, at=project.now(), asked_at=decision.asked_at
    )
    while not answers.write(folder, said):
        earlier = valid_answer(folder, decision)
        if earlier is not None:
            return earlier
        answers.set_aside(folder, decision.id)
    return said


def valid_answer(folder: Path, decision: Decision) -> Answer | None:
    """The answer on disk, if it answers this very question with one of its values."""
    try:
        found = answers.read(folder, decision.id)
        return choose(decision, found) if found and found.asked_at == decision.asked_at else None
    except (BadAnswer, Corrupt):
        return None


def writable(text: str) -> str:
    """Words that are not UTF-8 arrive with lone surrogates, which no file can hold."""
    return text.encode(errors="replace").decode()


def choose(decision: Decision, answer: Answer) -> Answer:
    """The answer with its value in the decision's own word: a value, a label, or its number in the list."""
    said = answer.value.strip().lower()
    options = decision.options
    names = [option.value.lower() for option in options]
    labels = [option.label.removesuffix("(Recommended)").strip().lower() for option in options]
    numbers = [str(number) for number in range(1, len(options) + 1)]
    for spellings in (names, [option.label.lower() for option in options], labels, numbers):
        if said in spellings:
            return replace(answer, decision=decision.id, value=options[spellings.index(said)].value)
    known = ", ".join(option.value for option in decision.options)
    raise BadAnswer(
        f"'{answer.value}' does not answer {decision.id} ({decision.question}); the answers are: {known}.",
        "agentd status",
    )


def pending(work: "Work", step: Step) -> Decision | None:
    """The open decision of a step, if it was put already."""
    return next((d for d in work.state.decisions if d.status == "pending" and d.name == step.name), None)


def open_decision(work: "Work", run: Run, step: Step) -> Decision:
    """Write the decision down as pending; only then may anybody be asked."""
    asked = question(step)
    prefix = "-".join(("UD", *work.items_above(), ""))
    decision = Decision(
        id=f"{prefix}{len(work.state.decisions) + 1}",
        question=f"{work.item}: {asked.text}" if work.item else asked.text,
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


def from_file(path: Path) -> Callable[[Decision], Answer | None]:
    """Answers by decision id or by the name of the step that asks; each is used once, a list one after the other."""
    try:
        data = yamltext.parse_bytes(path.read_bytes(), str(path)).data
    except OSError as error:
        raise UsageError(f"{path}: {error.strerror}.", f"printf 'steer: [fix]\\n' > {path}") from None
    except Corrupt as error:
        raise UsageError(error.message, error.fix) from None
    left = {key: list(said) if isinstance(said, list) else [said] for key, said in data.items()}

    def ask(decision: Decision) -> Answer | None:
        key = next((key for key in (decision.id, decision.name) if left.get(key)), None)
        return Answer(decision.id, str(left[key].pop(0)), by=path.name) if key else None

    return ask
