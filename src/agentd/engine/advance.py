"""Where an outcome leads: the only place that makes a new position out of an old one, always by `replace`."""

from dataclasses import replace

from agentd.errors import AgentdError, Corrupt
from agentd.model.run import Intent, Nudge, Run
from agentd.model.workflow import Step, Workflow


def start(workflow: Workflow, name: str, mode: str = "") -> Run:
    """A new run at the start of a mode; the first listed mode is the default."""
    first = workflow.steps[workflow.starts[mode or next(iter(workflow.starts))]]
    return Run(workflow.id, name, first.phase, first.name, result=first.what if first.kind == "end" else "")


def begin(run: Run, intent: Intent) -> Run:
    """The run with a step under way."""
    return replace(run, intent=intent, begun=True)


def nudge(run: Run, missing: str) -> Run:
    """The run whose agent is reminded next of what its last attempt left out."""
    assert run.intent is not None
    times = run.intent.nudge.times if run.intent.nudge else 0
    return replace(run, intent=replace(run.intent, nudge=Nudge(times + 1, run.intent.call, missing)))


def renew(run: Run, step: Step) -> Run:
    """The run about to produce anew what a person did without: from now on it counts as what it is."""
    return replace(run, waived=tuple(name for name in run.waived if name not in step.produces)) if run.waived else run


def cleared(run: Run) -> Run:
    """The run after what a rewind takes away is gone: what is there from now on is new, and nobody's to remove."""
    return replace(run, clear=())


def lay_down(run: Run) -> Run:
    """The run with no attempt under way, to be taken up again at the same step."""
    return replace(run, intent=None)


def drop_children(run: Run, children: tuple[str, ...]) -> Run:
    """The run with these children to be started anew when their step is reached again."""
    return replace(run, clear=run.clear + children) if children else run


def enter(workflow: Workflow, run: Run, entry: str) -> Run:
    """The run at an entry of its table, whose step is done whatever `when` says; the budget that led to a question is
    refilled."""
    counts = {key: count for key, count in run.counts.items() if key != run.spent}
    moved = replace(run, counts=counts, intent=None, asked_by="", spent="", clear=())
    return replace(_entered(moved, workflow.steps[workflow.entries[entry]]), begun=True)


def settle(workflow: Workflow, run: Run) -> Run:
    """The phase wins: a step of another phase gives way to the first step of the phase a person set."""
    here = workflow.steps.get(run.step)
    if here is not None and here.phase == run.phase:
        return run
    if run.phase not in workflow.phases:
        known = ", ".join(workflow.phases)
        raise Corrupt(f"{workflow.name} has no phase '{run.phase}'.", f"set the phase of {run.name} to one of: {known}")
    afresh = replace(_begin_anew(workflow, run, run.phase), intent=None, asked_by="", spent="", clear=())
    return _entered(afresh, workflow.first(run.phase))


def advance(workflow: Workflow, run: Run, outcome: str) -> Run:
    """The run after its step ended with `outcome`; an outcome the table does not have is refused."""
    step = workflow.steps[run.step]
    edge = workflow.edge(step, outcome)
    if edge is None:
        words = ", ".join(step.next) or "none"
        raise AgentdError(f"Step {step.name} cannot end with '{outcome}' (its outcomes: {words}).")
    counts, target, spent = dict(run.counts), edge.to, ""
    key = edge.budget or f"{step.name}.{outcome}"
    if step.kind == "ask" and run.spent:
        counts.pop(run.spent, None)
    if edge.at_most is not None and edge.then is not None:
        if counts.get(key, 0) >= int(edge.at_most):
            target, spent = edge.then, key
        else:
            counts[key] = counts.get(key, 0) + 1
    run = replace(run, intent=None, counts=counts)
    origin = workflow.steps.get(run.asked_by, step) if step.kind == "ask" else step
    arrived = workflow.steps[workflow.resolve(origin, target)]
    if edge.waive and not spent:
        run = replace(run, waived=tuple(dict.fromkeys(run.waived + origin.produces)))
    if edge.rewind and not spent:
        run = rewind(workflow, run, arrived.phase)
    asking = arrived.kind == "ask"
    return replace(
        _entered(run, arrived),
        begun=arrived.name in (step.name, origin.name) and not (edge.rewind or asking),
        asked_by=origin.name if asking else "",
        spent=spent if asking else "",
    )


def rewind(workflow: Workflow, run: Run, phase: str) -> Run:
    """Go back to a phase: it and all later ones are as if they had not been, but for how often that happened."""
    undone = _from(workflow, phase)
    gone = dict.fromkeys(name for step in undone for name in step.produces)
    children = tuple(f"children/{step.name}/" for step in undone if step.kind == "each")
    return replace(_begin_anew(workflow, run, phase), clear=tuple(gone) + children)


def _begin_anew(workflow: Workflow, run: Run, phase: str) -> Run:
    """Nothing counted and nothing waived in this phase and later ones, but for every rewinding edge's count."""
    later = {step.name: step for step in _from(workflow, phase)}
    counts = {}
    for key, count in run.counts.items():
        if any(edge.rewind or step.name not in later for step, edge in workflow.counted(key)):
            counts[key] = count
    gone = {name for step in later.values() for name in step.produces}
    return replace(run, counts=counts, waived=tuple(name for name in run.waived if name not in gone))


def _from(workflow: Workflow, phase: str) -> list[Step]:
    """The steps of a phase and of all later ones."""
    later = workflow.phases[workflow.phases.index(phase) :]
    return [step for step in workflow.steps.values() if step.phase in later]


def _entered(run: Run, step: Step) -> Run:
    return replace(run, step=step.name, phase=step.phase, begun=False, result=step.what if step.kind == "end" else "")
