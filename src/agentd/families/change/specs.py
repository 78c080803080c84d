"""The specs of a change: which it writes and in which order, which are missing, and which it removes."""

from collections.abc import Sequence
from pathlib import Path

from agentd.engine.waves import Item
from agentd.families.change.documents import proposal
from agentd.runs.work import Work
from agentd.state import reading

NONE = "No specs required for this change"


def affected(work: Work) -> tuple[str, ...]:
    """The specs that the proposal names, in its order, each once and without the removed ones."""
    text = work.read("proposal.md")
    gone = proposal.removed_specs(text)
    return tuple(name for name in dict.fromkeys(proposal.affected_specs(text)) if name not in gone) if text else ()


def removed_in(folder: Path) -> tuple[str, ...]:
    """The specs that the change in this folder removes from the library."""
    page = reading.page(str(folder), "proposal.md")
    return proposal.removed_specs(page.raw if page else "")


def items(work: Work) -> Sequence[Item]:
    """One item for each spec, each after the one before it, so that its author sees the earlier ones."""
    names = affected(work)
    return [Item(name, names[at - 1 : at] if at else ()) for at, name in enumerate(names)]


def are_missing(work: Work) -> str:
    """Why no spec has to be written, or nothing."""
    names = affected(work)
    if not names:
        return NONE
    return "" if _missing(work, names) else "every affected spec is there"


def are_there(work: Work) -> str:
    """Which affected specs are missing, or nothing."""
    missing = _missing(work, affected(work))
    return f"{', '.join(missing)} {'is' if len(missing) == 1 else 'are'} missing" if missing else ""


def is_missing(work: Work) -> str:
    """Why the spec of this item does not have to be written, or nothing."""
    name = f"specs/{work.item}.md"
    return "" if work.artifact(name) else f"{name} is there"


def _missing(work: Work, names: Sequence[str]) -> list[str]:
    return [f"specs/{name}.md" for name in names if work.artifact(f"specs/{name}.md")]


def gap(work: Work) -> tuple[str, tuple[str, ...]]:
    """The entry that writes the first missing document, if any, and the child runs to start again."""
    if work.state.run.step == "clarify" and not any(work.files("questions.yaml")):
        return "questions", ("children/clarify/",)
    lost = [name for name in affected(work) if not any(work.files(f"specs/{name}.md"))]
    if not any(work.files("proposal.md")):
        return "proposal", ()
    if lost:
        return "specs", tuple(f"children/specify/{name}/" for name in lost)
    return ("", ()) if any(work.files("tasks.md")) else ("tasks", ())
