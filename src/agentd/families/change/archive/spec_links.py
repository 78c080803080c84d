"""Which specs a change writes, and which it builds on, as its proposal says."""

from pathlib import Path

from agentd.state import reading


def building(folder: Path) -> tuple[frozenset[str], frozenset[str]]:
    """The specs that the change in this folder writes or removes, and the others that those depend on."""
    from agentd.families.change.documents import proposal  # one archive needs no reader of proposals

    page = reading.page(str(folder), "proposal.md")
    found = proposal.read(page.text)[0] if page else None
    listed = found.impact.affected_specs if found else ()
    mine = frozenset(one.id for one in listed)
    return mine, frozenset(name for one in listed for name in one.depends) - mine
