"""What agent calls cost a run: recorded with every call, and held against the budget before the next one begins."""

from collections.abc import Mapping
from dataclasses import replace

from agentd.calling.transcripts import Told
from agentd.engine.decide import Stop
from agentd.model.decision import RECOMMENDED, Option, Question
from agentd.model.run import Run
from agentd.model.workflow import Step
from agentd.runs import costs, decisions
from agentd.runs.choice import valid_answer
from agentd.runs.decisions import Matter
from agentd.runs.work import Work
from agentd.usage import budget, calls, ledger
from agentd.usage.budget import Excess, Limits
from agentd.usage.calls import Call
from agentd.usage.prices import price
from agentd.usage.recorded_calls import calls_in


def name(work: Work, step: Step) -> str:
    """What a call of a step is kept as."""
    return "-".join((work.layout.call_names.get(step.name, step.name), *work.items_above()))


def record(work: Work, run: Run, step: Step, told: Told, ms: int) -> Call:
    """Keep a call in the run's own file, durable with the next save, and in the project's ledger."""
    assert run.intent is not None
    reply = told.reply
    models = {each.model: each for each in work.project.config.models(told.agent)}
    timestamp, call = run.intent.at, "/".join((*work.items_above(), run.intent.call))
    usage = replace(reply.usage, duration_ms=reply.usage.duration_ms or ms)
    if reply.cumulative and reply.session:
        usage = calls.since(work.top.state.fields, told.agent, reply.session, (call, timestamp), usage)
    called = reply.model or told.model or told.agent
    made = Call(
        step=name(work, step),
        model=called,
        usage=usage,
        cost=price(usage, models.get(told.model) or models.get(reply.model), called),
        timestamp=timestamp,
        call=call,
        agent=told.agent,
        session=reply.session,
        bytes_in=told.bytes_in,
        bytes_out=len(reply.text.encode(errors="replace")),
    )
    top = work.top
    with top.guard:
        costs.append_to_ledger(work.project, top.state.run.name, made)
        top.set_fields({**top.state.fields, **calls.record(top.state.fields, made)})
    return made


def hold(work: Work, step: Step) -> Stop | None:
    """Why an agent may not be called now: a limit is reached and nobody has allowed more."""
    top = work.top
    with top.guard:
        excess = _excess(work, step)
        _close_old_question(top, excess)
        if excess is None:
            return None
        matter = Matter("budget", step.name, lambda: _question(excess), dict)
        decision = decisions.settled(top, matter)
        if decision is None:
            return Stop("waiting", excess.text)
        if decision.answer == "stop":
            top.keep("budget", decision=decision.id, note="stopped")
            return Stop("stopped", excess.text)
        top.note("budget", {**_allowed(top), excess.which: excess.spent, "date": top.project.now()[:10]})
        top.keep("budget", decision=decision.id, note=f"more allowed: {excess.text}")
    return None


def _close_old_question(top: Work, excess: Excess | None) -> None:
    """A question about a limit that is not reached any more, or not in these words, is over unless it was answered."""
    asked = decisions.pending(top, "budget")
    if asked is None or valid_answer(top.store.folder, asked):
        return
    if excess is None or _question(excess).text != asked.question:
        why = "the limit is not reached any more" if excess is None else "the figures have changed"
        decisions.resolve(top, replace(asked, status="cancelled", resolution_reason=why))
        top.keep("void", decision=asked.id, note=why)


def _excess(work: Work, step: Step) -> Excess | None:
    top, section = work.top, work.project.config.sections["budget"]
    limits = Limits(*(section[key] for key in ("per_call", "per_change", "per_day", "calls_per_change")))
    made = calls.spent(top.state.fields)
    entries = costs.read_ledger(work.project)
    kind = calls.kind(name(work, step), work.project.kinds())
    expected = ledger.mean_cost(entries, kind, work.project.kinds())
    listed = calls_in(top.state.fields)
    last = calls.dollars_of(listed[-1].get("cost")) if listed else None
    today = costs.day_cost(entries, work.project.now()[:10])
    return budget.exceeded(limits, made, today, last, expected, _allowed(top))


def _question(excess: Excess) -> Question:
    return Question(
        f"{excess.text} Go on?",
        "Budget",
        (
            Option("stop", f"Stop here {RECOMMENDED}", "nothing is lost; the same command asks again"),
            Option("allow", "Go on: allow as much again", "the limit counts anew from here"),
        ),
    )


def _allowed(top: Work) -> dict[str, float]:
    """What was spent when a person last allowed more, by limit; a day's allowance ends with the day."""
    found = top.state.fields.get("budget")
    known = found if isinstance(found, Mapping) else {}
    today = known.get("date") == top.project.now()[:10]
    return {
        key: float(value) for key, value in known.items() if isinstance(value, (int, float)) and (key != "day" or today)
    }
