"""A project as agentd sees it: its root, its configuration, its workflows and where its runs are."""

import os
import pwd
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from datetime import UTC, datetime
from functools import cached_property
from pathlib import Path
from typing import Any

from agentd.errors import Interrupted, NotFound, RunNotFound, UsageError
from agentd.model.decision import Answer, Decision
from agentd.model.moment import Moment
from agentd.model.workflow import Workflow
from agentd.runs.config import Config, read_config
from agentd.runs.layout import Layout
from agentd.runs.tables import Tables
from agentd.state.layout import Place, find_root
from agentd.state.store import Store
from agentd.values import dataclass


@dataclass(frozen=True)
class Project:
    """One repository, and the families whose runs it may hold; the one without tables has a person's own workflows.

    `ask` puts a question to whoever is there, if `attended`; `say` and `watch` tell what happens. `finished` names the
    runs in which a command had been cut off and was finished when this was opened, `known` holds what was found out
    about the machine since.
    """

    root: Path
    config: Config
    layouts: tuple[Layout, ...]
    ask: Callable[[Decision], Answer | None] = lambda decision: None
    say: Callable[[str], None] = lambda text: None
    watch: Callable[[Moment], None] = lambda moment: None
    attended: bool = False
    interrupted: threading.Event = field(default_factory=threading.Event)
    turn: threading.Lock = field(default_factory=threading.Lock)
    known: dict[tuple[str, str], Any] = field(default_factory=dict)
    finished: tuple[str, ...] = ()

    def now(self) -> str:
        """The time as files carry it: ISO-8601, UTC, to the microsecond, so that it orders what happens within a second."""
        return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")

    def say_once(self, text: str) -> None:
        """Say something that is true of the machine, and not of one run or one call."""
        mine = object()
        if self.known.setdefault(("said", text), mine) is mine:
            self.say(text)

    def who(self) -> str:
        """The person at work, by name; without one by the number of their account, told as such."""
        named = os.environ.get("USER") or os.environ.get("LOGNAME")
        if named:
            return named
        try:
            return pwd.getpwuid(os.getuid()).pw_name
        except KeyError:
            return f"user {os.getuid()}"

    def interruption(self) -> Interrupted:
        """What ends the command after a signal. Python loses an exception that a signal raises in some of its own calls, so
        whoever works for long asks `interrupted` and raises this."""
        return Interrupted(int(self.known.get(("signal", ""), signal.SIGTERM)))

    def relative(self, path: Path) -> str:
        inside = str(path).removeprefix(f"{self.root}{os.sep}")
        return inside if inside != str(path) else os.path.relpath(path, self.root)

    def layout(self, family: str) -> Layout:
        """The family of this name; a person's own workflows, if there is none."""
        found = self._families.get(family)
        return found or next(layout for layout in self.layouts if not layout.workflows)

    @cached_property
    def _families(self) -> Mapping[str, Layout]:
        return {layout.name: layout for layout in reversed(self.layouts)}

    def own_folders(self) -> tuple[str, ...]:
        """The folders at the root that hold runs: nothing in them is the project's own work."""
        return tuple(dict.fromkeys(home.partition("/")[0] for layout in self.layouts for home in layout.homes))

    def kinds(self) -> tuple[str, ...]:
        """The kinds of calls that are counted together whatever item they are for."""
        return tuple(kind for layout in self.layouts for kind in layout.kinds)

    @cached_property
    def tables(self) -> Tables:
        """The workflows, each read once for as long as the project is open."""
        return Tables(self.root, self.layouts, self.config.limits())

    def workflow(self, name: str, runnable: bool = False) -> Workflow:
        return self.tables.find(name, runnable)

    def store(self, place: Place) -> Store:
        return Store(place.folder, self.layout(place.family).codec)

    def places(self, name: str = "", over: bool = True) -> Iterator[Place]:
        """Every run there is, or those of one name; without those that are over, if so wanted."""
        found = (place for layout in self.layouts for place in layout.places(self.root, name, over))
        return (place for place in found if self.store(place).exists())

    def new_place(self, workflow: str, name: str) -> Place:
        return self.layout(workflow).place(self.root, name)

    def find(self, name: str, only: str = "", over: bool = False) -> Place:
        """The run a person named: a unique name, or `workflow/name`.

        Of two runs of one family and name it is the one under way; or, if so wanted, the one that is `over`.
        """
        family, _, rest = name.rpartition("/")
        wanted = only or family
        found = [place for place in self.places(rest or "/") if not wanted or self._is_of(place, wanted)]
        for layout in self.layouts:
            twins = [place for place in found if place.family == layout.name]
            if len(twins) == 2:
                found.remove(twins[0 if over else 1])
        if len(found) == 1:
            return found[0]
        if found:
            names = ", ".join(f"{self.workflow_of(place)}/{place.name}" for place in found)
            raise UsageError(f"'{name}' names several runs: {names}.", f"agentd status {names.split(', ')[0]}")
        missing = self.layout(only).missing if only else RunNotFound
        raise missing(f"There is no {only or 'run'} '{name}' in {self.root}.", "agentd list")

    def known_phase(self, store: Store, workflow: Workflow, phase: str) -> str:
        """The phase, if the workflow has it; a word nobody knows is an error in the file."""
        if phase not in workflow.phases:
            known = ", ".join(workflow.phases)
            raise store.corrupt(f"phase '{phase}' is none of {known}", store.codec.phase_key)
        return phase

    def _is_of(self, place: Place, workflow: str) -> bool:
        """Whether a run is of a workflow; a run of another family is not even read."""
        family = self.layout(workflow)
        return place.family == family.name and (bool(family.workflows) or self.workflow_of(place) == workflow)

    def workflow_of(self, place: Place) -> str:
        family = self.layout(place.family)
        return family.name if family.workflows else self.store(place).load().run.workflow

    def label(self, place: Place) -> str:
        """A run that may not be readable, as it is listed."""
        family = self.layout(place.family)
        return f"{family.name if family.workflows else 'run'}/{place.name}"


def look_at_project(layouts: tuple[Layout, ...], cwd: Path | None = None) -> Project:
    """The project around a folder as it is; nothing that was cut off is finished."""
    try:
        root = find_root(cwd or Path.cwd())
    except FileNotFoundError:
        raise NotFound("The working folder is gone.", "cd") from None
    return Project(root, read_config(root, layouts), layouts)
