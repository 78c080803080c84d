"""`agentd quick`: a small change in one command. A small plan, one yes or no to all of it, then everything as ever."""

import re
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import replace
from textwrap import shorten
from typing import Any

from agentd.errors import MissingDescription, UsageError
from agentd.families.change import NAME, NO_REVIEW, QUICK, clarification
from agentd.families.change.git_setup import refuse_without_git
from agentd.families.change.plan import is_archived, is_free
from agentd.families.change.reentry import take_up
from agentd.families.change.sketch import QUESTION
from agentd.model.decision import Answer, Decision
from agentd.patterns import regex
from agentd.runs.choice import writable
from agentd.runs.lifecycle import go_on, look, start
from agentd.runs.project import Project
from agentd.runs.report import Report
from agentd.runs.work import Work
from agentd.state.layout import Place

LONGEST = 40  # characters of a name that is made of a description
WIDTH = 80  # characters of a description in a message
_SMALL = regex("an?|and|are|as|at|be|by|for|from|in|into|is|it|its|of|on|or|so|that|the|this|to|with")


def quick(project: Project, description: str, change: str = "", yes: bool = False, reviewed: bool = True) -> Report:
    """Do a small change: plan it, ask once, implement it, have it reviewed; given again, go on with it."""
    if not description.strip():
        raise MissingDescription("A quick change needs a description.", 'agentd quick "what should change"')
    refuse_without_git(project)
    said, _ = clarification.from_words(description)
    place = _place(project, said, change)
    if project.store(place).exists() and is_archived(place):
        return replace(look(project, place), note="it is done and archived; to do it once more, add --id NEW-ID")
    skipped: dict[str, Any] = {} if reviewed else {"unreviewed": {"by": project.who(), "at": project.now()}}
    if yes:
        project = replace(project, ask=_agreeing(project))
    if not project.store(place).exists():
        fields = {
            "mode": QUICK,
            "clarification": "skipped: a quick change",
            "git": {"choice": "in_place", "ready": True},
            **skipped,
        }
        told = start(project, NAME, place.name, said, QUICK, QUICK, fields=fields)
    else:
        if project.store(place).load().fields.get("mode") != QUICK:
            return replace(look(project, place), why="waiting", note="it is not a quick change")
        told = go_on(project, place, QUICK, first=lambda work: _take_up(work, skipped))
    put_off = told.phase == "proposed" and told.why == "paused"
    return replace(told, why="stopped") if put_off else told


def _take_up(work: Work, skipped: Mapping[str, Any]) -> None:
    under_way = work.state.run.phase in work.workflow.commands[QUICK]
    if skipped and under_way and "unreviewed" not in work.state.fields:
        work.set_fields({**work.state.fields, **skipped})
        work.keep("unreviewed", note=f"{skipped['unreviewed']['by']} chose {NO_REVIEW}")
    take_up(work)


def _agreeing(project: Project) -> Callable[[Decision], Answer | None]:
    """A person who has said yes to the plan already, and is asked everything else."""

    def ask(decision: Decision) -> Answer | None:
        if decision.name == QUESTION:
            return Answer(decision.id, "yes", "--yes")
        return project.ask(decision)

    return ask


def _place(project: Project, said: str, change: str) -> Place:
    """The change that was begun with these words, or a new one, named `change` or after them."""
    stem, number = change or slug(said), 1
    while True:
        place = project.new_place(NAME, stem if number == 1 else f"{stem}-{number}")
        begun = project.store(place).exists()
        if not begun and is_free(place.folder):
            return place
        known = str(project.store(place).load().fields.get("description")) if begun else ""
        if begun and known == writable(said):
            return place
        if begun and change:
            raise UsageError(
                f"'{place.name}' was begun with other words: “{shorten(known, WIDTH)}”, not “{shorten(said, WIDTH)}”.",
                f"agentd {'status' if is_archived(place) else 'resume'} {place.name}   # or give another --id",
            )
        number += 1


def slug(description: str) -> str:
    """A short name from the words of a description that say most."""
    plain = unicodedata.normalize("NFKD", description).encode("ascii", "ignore").decode().lower()
    words = re.findall(r"[a-z0-9]+", plain.replace("'", ""))
    chosen = [word for word in words if not _SMALL.fullmatch(word)] or words or ["change"]
    name = ""
    for word in chosen[:4]:
        if len(name) + len(word) >= LONGEST:
            break
        name += f"-{word}" if name else word
    return name or chosen[0][:LONGEST]
