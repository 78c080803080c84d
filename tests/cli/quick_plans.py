"""Small plans that scripted planners write in one call."""

from typing import Any

from tests.impl.coding import APPROVED, HONEST
from tests.plan.plans import plan_of, proposal, spec, tasks
from tests.sandbox import Sandbox

WORDS = "Give the most frequent words"
NAME = "give-most-frequent-words"


def small(sandbox: Sandbox) -> dict[str, Any]:
    """The documents of the sandbox's own change, all of them at once."""
    revised = sandbox.entry("revise")["documents"]
    return {"documents": {"proposal.md": sandbox.entry("propose")["documents"]["proposal.md"], **revised}}


def scripted(sandbox: Sandbox, **more: Any) -> Sandbox:
    """Have the sandbox's change planned in one call, implemented at once and approved."""
    sandbox.script(**{"sketch": small(sandbox), "implement": HONEST, "review": APPROVED, **more})
    return sandbox


def planned_as(*names: str, times: int = 1) -> dict[str, Any]:
    """A plan of these specs, with so many tasks for each."""
    texts = plan_of(*names, times=times)
    specs = {f"specs/{name}.md": spec(name) for name in names}
    return {"documents": {**texts["propose"]["documents"], **specs, **texts["break_down"]["documents"]}}


def without_specs(path: str = "README.md") -> dict[str, Any]:
    """A plan that affects no spec, with one task."""
    text = tasks("none").replace("tally/part1.py (CREATE)", f"{path} (MODIFY)")
    return {"documents": {"proposal.md": proposal("- Affected specs: none"), "tasks.md": text}}
