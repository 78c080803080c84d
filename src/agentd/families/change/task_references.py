"""Whether the requirements that new tasks are for exist; the agent that writes the tasks is told which there are."""

from collections.abc import Collection

from agentd.errors import Refused
from agentd.families.change.consistency import Anything
from agentd.families.change.documents import proposal
from agentd.library import references, spec
from agentd.library.shelf import Shelf
from agentd.model.change import Tasks
from agentd.runs.call_scope import Desk
from agentd.state import reading

LISTED = 20


def refuse_lost(desk: Desk, new: Tasks) -> None:
    """Refuse tasks for a spec or a requirement that does not exist.

    A spec that the proposal announces may be written later. Without a proposal and specs nothing can be compared.
    """
    plan = proposal.read(desk.read_if_there("proposal.md"))[0]
    pages = ((page.name, spec.read(page.text)[0]) for page in reading.markdown(str(desk.real), "specs"))
    written = {name.removeprefix("specs/").removesuffix(".md"): found for name, found in pages}
    announced = {one.id for one in plan.impact.affected_specs} if plan else set()
    if not written and not announced:
        return
    shelf = Shelf(str(desk.project.root))

    def requirements(name: str) -> Collection[str] | None:
        if name in announced and name not in written:
            return Anything()
        found = written[name] if name in written else shelf.spec(name)
        if found is None:
            return Anything() if name in written else None
        return {one.id for one in found.requirements}

    rules = desk.project.config.rules()
    lost = [
        finding.message
        for finding in references.every_spec_ref_leads_to_a_requirement(new, requirements, written.keys(), rules)
        if finding.rule in ("unknown_spec", "unknown_requirement")
    ]
    if lost:
        there = {name: sorted(requirements(name) or ()) for name in sorted({*written, *announced})[:LISTED]}
        told = "; ".join(f"{name}: {', '.join(ids[:LISTED]) or 'not written yet'}" for name, ids in there.items())
        raise Refused(f"spec_ref: {'; '.join(lost[:LISTED])}. There are {told}.", "name one of these requirements")
