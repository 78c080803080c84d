"""A change made of work that is done already, somewhere else: its specification goes the way into the library that all go."""

import re

from agentd.errors import AgentdError, UsageError
from agentd.families.change import LAYOUT, NAME
from agentd.families.change.documents import proposal, tasks
from agentd.library import snapshot, spec
from agentd.library.exclusive import holding
from agentd.model.change import AffectedSpec, Impact, Proposal, Requirement, Scenario, Spec, Task, Tasks
from agentd.model.run import Run
from agentd.runs import gitignore
from agentd.runs.project import Project
from agentd.runs.specification import Specification
from agentd.state import durable, lock
from agentd.state.layout import Place
from agentd.state.store import new_state

LAST = "merge"  # the step at which a complete change waits for its archive


def adopt(project: Project, done: Specification) -> Place:
    """Write a complete change for work that is done; `agentd archive NAME` merges its spec into the library."""
    name = name_for(done.source)
    place = LAYOUT.place(project.root, name)
    if project.store(place).exists():
        raise AgentdError(f"There is a change '{name}' already.", f"agentd show {name}   # or choose another name")
    if not done.criteria:
        raise UsageError(f"{done.source} has no criteria to keep.", f"agentd log {done.source}")
    now = project.now()
    durable.make_folder(place.folder / "specs")
    gitignore.write(project.root, project.layouts)
    with lock.acquire(place.folder, "deliver"):
        with holding(project.root):
            snapshot.begin(place.folder, project.root)
        for path, text in documents(name, done, now).items():
            durable.replace(place.folder / path, text.encode(), "document")
        state = new_state(Run(NAME, name, "complete", LAST), description=done.goal, adopted_from=done.source)
        project.store(place).save(state, now, "adopt", source=done.source)
    return place


def documents(name: str, done: Specification, now: str) -> dict[str, str]:
    """The documents of a change by their paths in it."""
    goal = " ".join(done.goal.split())
    title = goal[:80]
    requirements = tuple(
        Requirement(f"R{number}", _line(one.title), f"It SHALL hold that {one.title.rstrip('.')}.")
        for number, one in enumerate(done.criteria, 1)
    )
    scenarios = tuple(
        Scenario(_line(one.title), one.seen, one.title, requirement=f"R{number}")
        for number, one in enumerate(done.criteria, 1)
    )
    impact = Impact("minor", max(1, len(done.files)), 0, (AffectedSpec(name),), done.files)
    # Which file belongs to which requirement is not known: each task names the document in which its criterion stands.
    listed = tuple(
        Task("logic", number, one.title, done.document, "MODIFY", f"{name}:{one.id}", status="completed")
        for number, one in enumerate(requirements, 1)
    )
    why = f"It was built in {done.source}, where the evidence for every criterion is kept."
    wanted = tuple(one.title for one in done.criteria)
    return {
        "proposal.md": proposal.render(Proposal(name, goal, why, wanted, impact, now, now, status="approved")),
        f"specs/{name}.md": spec.render(
            Spec(name, title, done.goal, requirements, scenarios, created_at=now, updated_at=now)
        ),
        "tasks.md": tasks.render(Tasks(name, listed, now, now)),
    }


def name_for(source: str) -> str:
    """The name of the change that is made of a run: always the same, so that no run is adopted twice."""
    words = re.sub(r"^\d{4}-\d\d-\d\d_", "", source.rpartition("/")[2].lower())
    return re.sub(r"[^a-z0-9]+", "-", words).strip("-")[:60].strip("-") or "work"


def _line(text: str) -> str:
    return " ".join(text.split())[:120]
