"""`agentd history`: which change brought which requirement of a spec."""

from collections.abc import Iterator
from typing import Any

import click

from agentd.cli.face import json_option, project_here
from agentd.cli.output import tell
from agentd.families.change.archive.history import Event, History, Story, history


@click.command()
@click.argument("spec")
@json_option
def command(spec: str, as_json: bool) -> int:
    """Which archived change brought, reworded, renamed or removed each requirement of SPEC (`report`, `deep/one`)."""
    found = history(project_here(as_json), spec)
    return tell(as_json, to_data(found), lines_of(found), 1 if found.unreadable else 0)


def to_data(found: History) -> dict[str, Any]:
    return {
        "spec": found.spec,
        "in_library": found.in_library,
        "requirements": [
            {"id": one.id, "title": one.title, "present": one.present, "events": [event_data(e) for e in one.events]}
            for one in found.stories
        ],
        "by_hand": found.by_hand,
        "untold": list(found.untold),
        "unreadable": [
            {"run": entry.name, "message": entry.error.message, "fix": entry.error.fix} for entry in found.unreadable
        ],
    }


def event_data(event: Event) -> dict[str, str]:
    data = {"at": event.at, "change": event.change, "what": event.what}
    return {**data, "from": event.was} if event.was else data


def lines_of(found: History) -> Iterator[str]:
    """A summary, then each requirement with its events, then what could not be read."""
    present = sum(one.present for one in found.stories)
    many = f"{present} requirement{'' if present == 1 else 's'}"
    gone = len(found.stories) - present
    away = "" if found.in_library else " (no longer in the library)"
    yield f"{found.spec}: {many}" + (f", {gone} removed" if gone else "") + away
    if found.by_hand:
        yield "changed by hand since"
    for change in found.untold:
        yield f"{change} also touched it; no record says how"
    width = max((len(event.change) for one in found.stories for event in one.events), default=0)
    for one in found.stories:
        yield ""
        yield f"{one.id}  {one.title}" + ("" if one.present else "  (removed)")
        yield from events_of(one, bool(found.untold), width)
    for entry in found.unreadable:
        yield from ("", f"{entry.name}: unreadable, {entry.error.message}", f"Fix: {entry.error.fix}")


def events_of(one: Story, untold: bool, width: int) -> Iterator[str]:
    """The events of a requirement; a line of its own says if the first or the last one is not recorded."""
    if not one.events or one.events[0].what != "added":
        yield "  no record says which change added it" if untold else "  not from an archived change"
    for event in one.events:
        yield f"  {event.at[:10]}  {event.change:<{width}}  {event.what}" + (f" from {event.was}" if event.was else "")
    if not one.present and (not one.events or one.events[-1].what != "removed"):
        yield "  removed by hand"
