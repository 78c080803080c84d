"""What a person is told while a run goes on: a line or a few for each thing that happens. It changes nothing."""

from collections.abc import Mapping

from agentd.runs.family import family_of
from agentd.runs.work import Work


def lines(work: Work, event: str, details: Mapping[str, str]) -> list[str]:
    """The words for an event of a run: the family's own, or the ordinary ones."""
    said = family_of(work).lines(work, event, details)
    if said is not None:
        return said
    step, note, outcome = details.get("step", ""), details.get("note", ""), details.get("outcome", "")
    match event:
        case "begin":
            return [f"▶ {step}"]
        case "end":
            here = work.workflow.steps.get(step)
            forward = here is not None and (here.kind == "ask" or outcome == here.forward)
            return [f"{'✓' if forward else '↻'} {step}: {outcome}" + (f" ({note})" if note else "")]
        case "skip":
            return [f"· {step} skipped ({note})"]
        case "recover":
            return [f"✓ {step}: {outcome} (finished before the interruption)"]
        case "fail":
            return [f"✗ {step}: {note}"]
        case "nudge":
            return [f"↻ {step}: {note}"]
        case "pause":
            return [f"⏸ {step}: {note}"]
    return []
