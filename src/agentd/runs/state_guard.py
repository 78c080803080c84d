"""What no agent may change in the state of its run, whatever its family: how far it has come, and what a person decided.

Agents may write in the folder of their run; what they did to these is put back when the call ends, and told.
"""

from dataclasses import replace
from pathlib import Path

from agentd.model.run import Run
from agentd.model.workflow import Workflow
from agentd.runs.work import Work
from agentd.state import durable
from agentd.state.codecs import PLAIN
from agentd.state.store import Store

KEYS = (
    "implementation",
    "git",
    "budget",
    "llm_calls",
    "total_cost",
    "total_tokens_in",
    "total_tokens_out",
    "unknown_costs",
    "user_decisions",
)


def put_state_back(work: Work) -> str:
    """What was put back in the state file, in words, or nothing. A phase that leads aside is not touched."""
    top = work.top
    with top.guard:
        for store in (work.store, top.store):
            broken = store.mend()
            if broken:
                name = store.path.relative_to(top.store.folder).as_posix()
                return f"{name} was {broken} while the agent worked, and was put back"
        said = [_keys_put_back(each) for each in dict.fromkeys((top, work))]
        put_children_back(work)
    return "; ".join(filter(None, said))


def known_children(work: Work) -> dict[Path, Store]:
    """The children of a run that is about to be driven, as they are on the disk."""
    found = {}
    for path in _state_files(work):
        store = Store(path.parent, PLAIN, role="child")
        store.note_as_saved()
        found[path.parent] = store
    return found


def forget_children(work: Work, folder: Path) -> None:
    """The children in a folder begin anew."""
    with work.top.guard:
        known = work.top.children or {}
        work.top.children = {place: store for place, store in known.items() if not place.is_relative_to(folder)}


def put_children_back(work: Work, only: Store | None = None) -> None:
    """Put back the states of other children that agentd did not write, and say so: whose agent did it cannot be told.

    `only` is the one child that is about to be driven: of many children, each looks at itself before it begins.
    """
    top = work.top
    changed = []
    with top.guard:
        if top.children is None:
            top.children = known_children(top)
        known = top.children.values() if only is None else filter(None, [top.children.get(only.folder)])
        for store in known:
            folder = store.folder
            if folder != work.store.folder and folder.is_relative_to(top.store.folder) and not store.is_as_saved():
                store.restore()
                changed.append(store.path)
        for path in _state_files(work) if only is None else [only.path] if only.exists() else []:
            if path.parent not in top.children:
                durable.remove(path, "child")
                changed.append(path)
    for path in changed:
        work.say(f"⚠ {path.relative_to(top.store.folder).as_posix()} was not written by agentd, and was put back")


def _state_files(work: Work) -> list[Path]:
    return sorted((work.top.store.folder / "children").rglob(PLAIN.file))


def _keys_put_back(work: Work) -> str:
    store, workflow = work.store, work.workflow
    if store.is_as_saved():
        return ""
    theirs = store.peek().run.phase
    foreign = theirs not in workflow.phases or is_ahead(workflow, theirs, work.state.run.phase)
    changed = store.put_back(*work.layout.guarded_keys, *KEYS, *([store.codec.phase_key] if foreign else []))
    name = store.path.relative_to(work.top.store.folder).as_posix()
    return f"{', '.join(changed)} in {name} changed while the agent worked, and was put back" if changed else ""


def standing(workflow: Workflow, run: Run) -> Run:
    """The run as it stands; at the step that was cut off, if its phase has come to be ahead of that one."""
    cut_off = workflow.steps.get(run.intent.call.rpartition("-")[0]) if run.intent else None
    if cut_off is None or not is_ahead(workflow, run.phase, cut_off.phase):
        return run
    return replace(run, phase=cut_off.phase, step=cut_off.name, result="")


def is_ahead(workflow: Workflow, phase: str, of: str) -> bool:
    """Whether a phase is further on than another; one that leads aside is not ahead of any."""
    order = workflow.road if of in workflow.road else workflow.phases
    return phase in workflow.road and of in order and order.index(phase) > order.index(of)
