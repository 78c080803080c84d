"""The loop: decide, save the intent, perform, advance, save. Everything it does to the outside goes through ports."""

from collections.abc import Mapping, Sequence
from typing import Protocol

from agentd.engine.advance import advance, begin, cleared, drop_children, lay_down, nudge, renew
from agentd.engine.decide import Do, Skip, Stop, Why, decide, names
from agentd.engine.waves import Item, work_through
from agentd.model.run import Intent, Outcome, Run
from agentd.model.workflow import Step, Workflow

HELD: tuple[Why, ...] = ("failed", "blocked", "waiting", "stopped", "elsewhere", "paused")


class Ports(Protocol):
    """What the machine needs from the world, for one run."""

    def facts(self, run: Run, wanted: Sequence[str]) -> Mapping[str, str]:
        """Each name with "" where it holds, or the reason why not."""

    def hold(self, run: Run, step: Step) -> Stop | None:
        """Why a step may not begin now although its gate is open: a person has to allow it first."""

    def intent(self, run: Run, step: Step) -> Intent:
        """A name and a time for a new attempt at a step."""

    def save(self, run: Run, event: str, **details: str) -> None:
        """Make the run durable and tell the diary; the `end` of a step no later than the `begin` of the next, or the stop."""

    def clear(self, run: Run) -> None:
        """Remove what `run.clear` names; doing it twice does no harm."""

    def recover(self, run: Run, step: Step) -> Outcome | None:
        """End what an interrupted attempt left running; its outcome if it had in fact finished."""

    def perform(self, run: Run, step: Step) -> Outcome:
        """Do an `agent` or `do` step."""

    def ask(self, run: Run, step: Step) -> Outcome | None:
        """Put the question; None while nobody has answered."""

    def items(self, run: Run, step: Step) -> Sequence[Item]:
        """What an `each` step works through."""

    def drive_child(self, run: Run, step: Step, item: Item) -> Stop:
        """Drive the child run of one item as far as it goes."""

    def at_once(self, run: Run, step: Step) -> int:
        """How many children may run at the same time."""

    def may_begin(self, run: Run, step: Step, item: Item, under_way: Sequence[Item]) -> str:
        """Why an item that is ready has to wait while others are under way, or nothing."""

    def stopping(self) -> bool:
        """Whether a person asked the run to stop."""


def drive(workflow: Workflow, run: Run, ports: Ports, command: str = "", steps: int | None = None) -> tuple[Run, Stop]:
    """Go on from wherever the run stands, at most `steps` steps, and say why it stopped."""
    if run.intent is not None:
        run = _take_up(workflow, run, ports)
    made = 0
    while True:
        if run.clear:
            ports.clear(run)
            run = cleared(run)
            ports.save(run, "clear")
        step = workflow.steps[run.step]
        action = decide(workflow, run, ports.facts(run, names(step, run)), command)
        if isinstance(action, Stop):
            return run, action
        if steps is not None and made >= steps:
            return run, Stop("paused", run.step)
        if ports.stopping():
            return run, Stop("stopped", run.step)
        made += 1
        if isinstance(action, Skip):
            run = advance(workflow, run, step.forward)
            ports.save(run, "skip", step=step.name, note=action.note, to=run.step)
            continue
        stop = ports.hold(run, step)
        if stop is None:
            run, stop = _do(workflow, run, ports, action)
        if stop is not None:
            return run, stop


def _take_up(workflow: Workflow, run: Run, ports: Ports) -> Run:
    """An attempt was cut off: take its outcome if it had finished, follow `interrupted` if the table has it."""
    step = workflow.steps[run.step]
    outcome = ports.recover(run, step)
    reminded = run.intent is not None and run.intent.nudge is not None and run.intent.nudge.call == run.intent.call
    if outcome and outcome.missing:
        return run if reminded else _nudge(run, ports, step, outcome)
    if outcome is None and not reminded and workflow.edge(step, "interrupted"):
        outcome = Outcome("interrupted", "the attempt before was cut off")
    if outcome is None or workflow.edge(step, outcome.word) is None:
        return run
    run = advance(workflow, run, outcome.word)
    ports.save(run, "recover", step=step.name, outcome=outcome.word, note=outcome.note, to=run.step)
    return run


def _do(workflow: Workflow, run: Run, ports: Ports, action: Do) -> tuple[Run, Stop | None]:
    step = action.step
    if step.kind == "ask":
        answer = ports.ask(run, step)
        if answer is None:
            return run, Stop("waiting", step.what)
        return _end(workflow, run, ports, step, answer, ())
    run = begin(renew(run, step), ports.intent(run, step))
    ports.save(run, "begin", step=step.name)
    if step.kind == "each":
        return _each(workflow, run, ports, step)
    outcome = ports.perform(run, step)
    while outcome.missing:
        run = _nudge(run, ports, step, outcome)
        stop = Stop("stopped", run.step) if ports.stopping() else ports.hold(run, step)
        if stop is not None:
            return run, stop
        run = begin(run, ports.intent(run, step))
        ports.save(run, "begin", step=step.name)
        outcome = ports.perform(run, step)
    return _end(workflow, run, ports, step, outcome, ())


def _nudge(run: Run, ports: Ports, step: Step, outcome: Outcome) -> Run:
    run = nudge(run, outcome.missing)
    ports.save(run, "nudge", step=step.name, note=outcome.note)
    return run


def _end(
    workflow: Workflow, run: Run, ports: Ports, step: Step, outcome: Outcome, again: tuple[str, ...]
) -> tuple[Run, Stop | None]:
    if workflow.edge(step, outcome.word) is None and outcome.word == "failed":
        run = drop_children(lay_down(run), again)
        ports.save(run, "fail", step=step.name, note=outcome.note)
        return run, Stop("failed", outcome.note)
    run = drop_children(advance(workflow, run, outcome.word), again)
    ports.save(run, "end", step=step.name, outcome=outcome.word, note=outcome.note, to=run.step)
    return run, None


def _each(workflow: Workflow, run: Run, ports: Ports, step: Step) -> tuple[Run, Stop | None]:
    """Children that finished never run again; a child that stops pauses this run, the others go on as far as they can."""
    items = ports.items(run, step)
    stops = work_through(
        items,
        lambda item: ports.drive_child(run, step, item),
        step.forward,
        ports.at_once(run, step),
        ports.stopping,
        lambda item, under_way: ports.may_begin(run, step, item, under_way),
    )
    for why in HELD:
        held = {name: stop.note for name, stop in stops.items() if stop.why == why}
        if held:
            run = lay_down(run)
            note = "; ".join(f"{name}: {text}" for name, text in held.items())
            ports.save(run, "pause", step=step.name, why=why, note=note)
            return run, Stop(why, note)
    ended = {name: stop.note for name, stop in stops.items()}
    bad = [word for word in [*step.next, *ended.values()] if word in ended.values() and word != step.forward]
    if len(stops) < len(items) and (not bad or ports.stopping()):
        run = lay_down(run)
        ports.save(run, "pause", step=step.name, note="stopped")
        return run, Stop("stopped", step.name)
    word = bad[0] if bad else step.forward
    again = tuple(f"children/{step.name}/{name}/" for name, last in ended.items() if last != step.forward)
    note = ", ".join(f"{name} {last}" for name, last in ended.items() if last != step.forward)
    return _end(workflow, run, ports, step, Outcome(word, note), again)
