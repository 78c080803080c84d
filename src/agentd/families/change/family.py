"""The change family: its parts of the `Family` interface. Those that few commands need are found by their places."""

from collections.abc import Iterator, Mapping
from typing import Any

from agentd.families.change import LAYOUT, NAME, QUICK
from agentd.families.change.specs import removed_in
from agentd.library import snapshot
from agentd.library.exclusive import holding
from agentd.runs.family import Family
from agentd.runs.lifecycle import go_on, notices
from agentd.runs.project import Project
from agentd.runs.report import Report
from agentd.runs.work import Work
from agentd.state.codecs import State
from agentd.state.layout import Place
from agentd.usage.calls import spent

AGENTLESS = "archive"  # the command that calls no agent
VERDICTS = ("challenger", "reviewer")
# Actions that do not say themselves what they did, and have no other words than the default ones.
SILENT = ("approve", "approve_anyway", "merge")


def lines(work: Work, event: str, details: Mapping[str, str]) -> list[str] | None:
    """The lines for an event of a run; None for the default ones."""
    if details.get("step") in SILENT and event != "skip":
        return None
    found: list[str] | None = LAYOUT.find("progress_lines.lines")(work, event, details)
    return found


def fields(work: Work, event: str, details: Mapping[str, str]) -> Mapping[str, Any]:
    """The verdict of a challenger's or a reviewer's step that has ended."""
    step = work.workflow.steps.get(details.get("step", ""))
    if step and step.what in VERDICTS and event in ("end", "recover") and details.get("outcome"):
        return {"verdict": details["outcome"].upper()}
    return {}


def summary(state: State) -> Mapping[str, Any]:
    """The fields of a report: what was done, the verdict, the number of reproposals, the cost."""
    return {
        "action": state.run.phase.capitalize(),
        "verdict": str(state.fields.get("verdict") or ""),
        "iteration_count": _reproposals(state.fields.get("llm_calls")),
        "cost": _costs(state.fields),
        "named": "resolved_change_id",
        "refused": state.run.phase == "rejected",
    }


def _reproposals(calls: Any) -> int:
    """How often a plan was revised; the attempts of one call count once."""
    made = [call for call in calls if isinstance(call, Mapping)] if isinstance(calls, list) else []
    names = (str(call.get("call", number)) for number, call in enumerate(made) if call.get("step") == "reproposal")
    return len({name.rpartition(".")[0] or name for name in names})


def _costs(fields: Mapping[str, Any]) -> str:
    """The cost of the calls of a change, and how many are of unknown cost."""
    if not fields.get("llm_calls"):
        return ""
    made = spent(fields)
    known = f"${made.cost:.4f}" if made.calls > made.unknown else ""
    unknown = f"{made.unknown} of {made.calls} calls of unknown cost" if made.unknown else ""
    return " + ".join(filter(None, (known, unknown))) + f" in {made.calls} calls"


def opening(work: Work, command: str) -> Iterator[str]:
    """Lines to begin with: fallback agents, the phase, and before the first call a forecast of the cost."""
    if command != AGENTLESS:
        yield from notices(work)
    title = {"plan": "planning", "impl": "implementation", QUICK: "quick"}.get(command)
    if not title:
        return
    yield f"📊 Current state: phase={work.state.run.phase.capitalize()}"
    if work.state.run.phase not in work.workflow.commands.get(command, ()):
        return
    yield f"▶️  Starting {title} workflow..."
    if command == QUICK:
        yield from LAYOUT.find("sketch.reminder")(work)
    if command == "plan" and not work.state.fields.get("llm_calls"):
        yield LAYOUT.find("forecast.foresee")(work)


def started(project: Project, place: Place) -> None:
    """Tell what is not committed, and keep a snapshot of the library, which the archive will merge against."""
    LAYOUT.find("git_setup.say_uncommitted")(project)
    with holding(project.root):  # not in the middle of an archive, which may be rolled back
        snapshot.begin(place.folder, project.root)


def settled(work: Work) -> None:
    """Keep all specs in the snapshot while the change is planned, and then only those that it touches."""
    folder, phase = work.store.folder, work.state.run.phase
    if phase == "proposed":
        snapshot.widen(folder, work.project.root)
    elif phase != "rejected":
        snapshot.prune(folder, lambda: removed_in(folder))


def resume(project: Project, place: Place, command: str, steps: int | None) -> Report:
    """Continue with the command of the phase; archiving is more than driving the run."""
    if command != "archive":
        return go_on(project, place, command, steps)
    again = project.store(place).load().run.step == project.workflow(NAME).entries["re_review"]
    found: Report = (
        LAYOUT.find("impl.review_again")(project, place)
        if again
        else LAYOUT.find("archive.commands.archive")(project, place.name)
    )
    return found


FAMILY = Family(
    LAYOUT.later("call.agents"),
    lines=lines,
    fields=fields,
    summary=summary,
    opening=opening,
    started=started,
    settled=settled,
    unblock=LAYOUT.later("reentry.unblock"),
    explain=LAYOUT.later("explanation.explain"),
    resume=resume,
    adopt=LAYOUT.later("adoption.adopt"),
    abandon=LAYOUT.later("abandon.abandon"),
    bring_back=LAYOUT.later("abandon.bring_back"),
)
