"""`agentd history`: which change brought which requirement of a spec."""

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import click

from agentd.cli.ending import print_json
from agentd.cli.face import json_option, project_for
from agentd.cli.live import CONTROL

if TYPE_CHECKING:
    from agentd.families.change.archive.history import Event, History, Story


@click.command()
@click.argument("spec")
@json_option
def command(spec: str, as_json: bool) -> int:
    """Which archived change brought, reworded, renamed or removed each requirement of SPEC (`report`, `deep/one`)."""
    from agentd.families.change.archive.history import history

    found = history(project_for(as_json), spec)
    code = 1 if found.unreadable else 0
    if as_json:
        print_json({"ok": not code, **to_data(found), "exit": code})
        return code
    for line in lines_of(found):
        click.echo(CONTROL.sub("", line))
    return code


def to_data(found: "History") -> dict[str, Any]:
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


def event_data(event: "Event") -> dict[str, str]:
    data = {"at": event.at, "change": event.change, "what": event.what}
    return {**data, "from": event.was} if event.was else data


def lines_of(found: "History") -> Iterator[str]:
    """The requirements one below the other, each with its events; what is not quite told comes first."""
    present = sum(one.present for one in found.stories)
    many = f"{present} requirement{'' if present == 1 else 's'}"
    gone = len(found.stories) - present
    away = "" if found.in_library else " (not in the library any more)"
    yield f"{found.spec}: {many}" + (f", {gone} removed" if gone else "") + away
    if found.by_hand:
        yield "changed by hand since"
    for change in found.untold:
        yield f"{change} touched it too, and nothing tells how"
    width = max((len(event.change) for one in found.stories for event in one.events), default=0)
    for one in found.stories:
        yield ""
        yield f"{one.id}  {one.title}" + ("" if one.present else "  (removed)")
        yield from events_of(one, bool(found.untold), width)
    for entry in found.unreadable:
        yield from ("", f"{entry.name}: unreadable, {entry.error.message}", f"Fix: {entry.error.fix}")


def events_of(one: "Story", untold: bool, width: int) -> Iterator[str]:
    """What became of a requirement, line by line; first of all that nothing tells where it comes from, if so."""
    if not one.events or one.events[0].what != "added":
        yield "  no record tells which change brought it" if untold else "  not from an archived change"
    for event in one.events:
        yield f"  {event.at[:10]}  {event.change:<{width}}  {event.what}" + (f" from {event.was}" if event.was else "")
    if not one.present and (not one.events or one.events[-1].what != "removed"):
        yield "  removed by hand"
