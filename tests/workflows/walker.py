"""Runs on a table in memory: no files, no agents, only `decide` and `advance`, and an adversary who makes the rest up."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from random import Random
from typing import Any

from agentd.engine.advance import advance, begin, cleared, renew, start
from agentd.engine.decide import Do, Skip, Stop, decide, names
from agentd.model.run import Intent, Run
from agentd.model.workflow import Step, Workflow
from agentd.workflows.check import edges

Adversary = Callable[[Workflow, Run], str]
Facts = Mapping[str, str]


@dataclass(frozen=True)
class Moment:
    """One decision on the way; `alone` counts the steps since a person last answered, `waived` is kept by the walker."""

    run: Run
    facts: Facts
    action: Do | Skip | Stop
    alone: int
    waived: frozenset[str]


def reload(run: Run) -> Run:
    """The run as it comes back from a file."""
    data: dict[str, Any] = json.loads(json.dumps(asdict(run)))
    intent = Intent(**data["intent"]) if data["intent"] else None
    return Run(**{**data, "intent": intent, "waived": tuple(data["waived"]), "clear": tuple(data["clear"])})


def words(workflow: Workflow, step: Step) -> list[str]:
    return [word for word, _ in edges(workflow, step)]


def at_random(random: Random) -> Adversary:
    return lambda workflow, run: random.choice(words(workflow, workflow.steps[run.step]))


def stubborn(random: Random) -> Adversary:
    """Goes wrong as often as the table lets it: the way that leads furthest back and to no person, if there is one.

    With care it does not use up a limit and run into the question behind it, and so gets to the loops further on.
    """
    noise, care = random.choice((0.0, 0.02, 0.2)), random.choice((0.0, 0.5, 0.9, 1.0))

    def choose(workflow: Workflow, run: Run) -> str:
        step = workflow.steps[run.step]
        order, careful = list(workflow.steps), random.random() < care
        after = {word: advance(workflow, run, word) for word in words(workflow, step)}
        back = {
            word: order.index(there.step)
            for word, there in after.items()
            if workflow.steps[there.step].kind not in ("ask", "end")
            and not (careful and _is_spent(workflow, run, word))
        }
        if step.kind == "ask" or random.random() < noise:
            return random.choice(list(after))
        return min(back, key=lambda word: back[word]) if back else step.forward

    return choose


def _is_spent(workflow: Workflow, run: Run, word: str) -> bool:
    """Whether this outcome leads where its edge leads `then`."""
    step = workflow.steps[run.step]
    edge = workflow.edge(step, word)
    used = {**run.counts, run.spent: 0} if step.kind == "ask" else run.counts
    return edge is not None and edge.at_most is not None and used.get(f"{step.name}.{word}", 0) >= int(edge.at_most)


def longest_alone(workflow: Workflow) -> int:
    """More steps than this no run can make without a person: rewinds are counted for good, other counts start anew after
    a rewind, and between two counted edges no step comes twice."""
    counted = [edge for step in workflow.steps.values() if step.kind != "ask" for _, edge in edges(workflow, step)]
    rewinds = sum(int(edge.at_most or 0) for edge in counted if edge.rewind)
    rounds = sum(int(edge.at_most or 0) for edge in counted if not edge.rewind)
    return (rewinds + 1) * (rounds + 1) * len(workflow.steps)


def walk(
    workflow: Workflow, mode: str, choose: Adversary, random: Random, answers: int = 6, doubt: float = 0.0
) -> Iterator[Moment]:
    """From the start to an end, or to the question after the last answer. What gates need fails with probability `doubt`."""
    run, alone, asker, waived = start(workflow, "walk", mode), 0, "", frozenset[str]()
    most, idle = longest_alone(workflow), random.choice((0.0, 0.4, 1.0))
    while True:
        step = workflow.steps[run.step]
        likely = {**dict.fromkeys(step.when, idle), **dict.fromkeys(step.needs, doubt)}
        facts = {name: "made up" if random.random() < likely[name] else "" for name in names(step, run)}
        action = decide(workflow, run, facts)
        yield Moment(run, facts, action, alone, waived)
        run = cleared(run)
        if (isinstance(action, Stop) and action.why == "finished") or alone > most:
            return
        if isinstance(action, Stop):
            doubt /= 2  # a closed gate opens when the facts change
            continue
        if step.kind == "ask" and isinstance(action, Do):
            if answers == 0:
                return
            answers, alone, asker = answers - 1, 0, asker or step.name
        else:
            asker, alone = step.name if step.kind != "ask" else asker, alone + 1
        if isinstance(action, Do) and step.kind != "ask":
            run = begin(renew(run, step), Intent(f"call-{alone}", "now"))
            waived -= {*step.produces}
        word = step.forward if isinstance(action, Skip) else choose(workflow, run)
        waived = _waived(workflow, run, word, asker, waived)
        run = advance(workflow, run, word)


def _waived(workflow: Workflow, run: Run, word: str, asker: str, waived: frozenset[str]) -> frozenset[str]:
    """What people did without, told a second time and in other words: the walker's own book to compare with."""
    step = workflow.steps[run.step]
    edge = workflow.edge(step, word)
    assert edge is not None
    if _is_spent(workflow, run, word):
        return waived
    if edge.waive:
        waived |= {*workflow.steps[asker or step.name].produces}
    if edge.rewind:
        origin = workflow.steps[asker or step.name]
        back = workflow.phases.index(workflow.steps[workflow.resolve(origin, edge.to)].phase)
        waived -= {
            name
            for other in workflow.steps.values()
            if other.phase in workflow.phases[back:]
            for name in other.produces
        }
    return waived


def take(workflow: Workflow, run: Run, *outcomes: str) -> Run:
    """The run after these outcomes, whatever its gates say."""
    for word in outcomes:
        run = advance(workflow, run, word)
    return run


def at(workflow: Workflow, step: str) -> Run:
    """A run that stands at a step as if it had come straight there."""
    here = workflow.steps[step]
    return replace(start(workflow, "walk"), step=step, phase=here.phase)
