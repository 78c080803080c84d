"""One run being worked on: its state, its documents, where its agents work. What drives it is `ports`."""

import os
import threading
from collections.abc import Iterator, Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any, Protocol

from agentd.model.workflow import Workflow
from agentd.runs.laps import Laps
from agentd.runs.layout import Layout
from agentd.runs.persistence import persistently
from agentd.runs.project import Project
from agentd.state import durable, reading
from agentd.state.codecs import State
from agentd.state.layout import Place
from agentd.state.store import Store

# What agentd itself keeps in the folder of a run.
OURS = ("journal.jsonl", "calls", "answers", "children", "stop.json", "base.json", "archive.json")


class Service(Protocol):
    """Something that runs beside a run for as long as it is driven."""

    def close(self) -> None: ...


class Work:
    """One run. Whoever changes it holds its lock; `state` is what was last saved, or will be next."""

    def __init__(
        self,
        project: Project,
        layout: Layout,
        workflow: Workflow,
        store: Store,
        state: State,
        parent: "Work | None" = None,
    ) -> None:
        self.project = project
        self.layout = layout
        self.workflow = workflow
        self.store = store
        self.state = self.saved = state
        self.parent = parent
        self.guard = threading.RLock()  # children may run side by side and all keep their calls here
        self.resting = False
        self.unsaid: list[str] = []  # until what it tells of is saved
        self.laps: Laps = Laps(parent.laps if parent else None)
        self.services: dict[str, Service] = {}
        # Of a run at the top, with all below it: each as agentd last saw it; None before it has looked.
        self.children: dict[Path, Store] | None = None

    @property
    def item(self) -> str:
        """The item this run is the child of, or nothing."""
        return self.state.run.name if self.parent else ""

    def items_above(self) -> tuple[str, ...]:
        """The items this run is inside of, the outermost first."""
        return (*self.parent.items_above(), self.item) if self.parent else ()

    @property
    def top(self) -> "Work":
        return self.parent.top if self.parent else self

    @property
    def home(self) -> Path:
        """Where the documents are: the run's own folder, or that of the run whose documents its children share."""
        return self.top.store.folder if self.layout.children_share else self.store.folder

    @property
    def cwd(self) -> Path:
        """Where agents and the project's own commands run: the worktree of this run or of one above it, else the root."""
        found = worktree_of(self.state.fields)
        if found:
            return (self.project.root / found).resolve()
        return self.parent.cwd if self.parent else self.project.root

    @property
    def variables(self) -> Mapping[str, str]:
        """What belongs to the worktree of this run, or of one above it, besides its files: ports, a temporary folder."""
        found = self.state.fields.get("git")
        if isinstance(found, Mapping) and isinstance(found.get("variables"), Mapping):
            return {str(name): str(value) for name, value in found["variables"].items()}
        return self.parent.variables if self.parent else {}

    def named(self, artifact: str) -> str:
        """An artifact's name in this run: `{item}` stands for the item it is the child of."""
        return artifact.replace("{item}", self.item)

    def say(self, text: str) -> None:
        self.project.say(f"[{self.item}] {text}" if self.item else text)

    def environment(self) -> dict[str, str]:
        """What every program of this run carries, so that it can be found if agentd is killed."""
        intent = self.state.run.intent
        return {
            **self.variables,
            "AGENTD_RUN": str(self.top.store.folder),
            "AGENTD_DESK": str(self.store.folder),
            "AGENTD_CALL": intent.call if intent else "",
        }

    def secrets(self) -> Mapping[str, str]:
        """Where values that no log may carry come from."""
        return os.environ

    def end_services(self) -> None:
        """End what runs beside this run."""
        while self.services:
            self.services.popitem()[1].close()

    def note(self, key: str, value: Any) -> None:
        """One of the family's own fields, durable with the next save."""
        self.set_fields({**self.state.fields, key: value})

    def set_fields(self, fields: Mapping[str, Any]) -> None:
        """All of the family's own fields, durable with the next save."""
        self.state = replace(self.state, fields=fields)

    def keep(self, event: str, soon: bool = False, **details: str) -> None:
        """Make the state as it is now durable; first what a child's agent left with the run it is in, lest it be lost.

        `soon`: another save follows at once, and may do it for both; a person's answer does not wait for that.
        """
        top = self.top
        with top.guard:
            if top is not self and top.state is not top.saved:
                top.keep("call", item=self.item)
            stamped = {**details, "clock": self.laps.stamp()}

            def save() -> State:
                return self.store.save(self.state, self.project.now(), event, **stamped)

            decided = self.state.decisions != self.saved.decisions
            if soon and not decided:
                self.state = self.store.note(self.state, self.project.now(), event, **stamped)
                return
            self.state = self.saved = persistently(save) if decided else save()
        self.laps.close("save")

    def flush(self) -> None:
        """Make durable what waits for a save that did not follow."""
        with self.top.guard:
            if self.store.noted:
                self.state = self.saved = self.store.flush(self.state, self.project.now())

    def write(self, name: str, text: str) -> None:
        """A document of the run, written so that a kill leaves the old one or the new one."""
        durable.replace(self.home / name, text.encode(), "document")

    def read(self, name: str) -> str:
        """A document of the run whatever its bytes; nothing if there is none."""
        try:
            return reading.own(self.home / name).decode(errors="surrogateescape")
        except (FileNotFoundError, NotADirectoryError, IsADirectoryError):
            return ""

    def artifact(self, name: str) -> str:
        """Why an artifact does not count (it is missing, empty, not valid), or nothing."""
        paths = list(self.files(name))
        if not paths:
            return self.parent.artifact(name) if self.parent else "it is missing"
        if all(path.stat().st_size == 0 for path in paths):
            return "it is empty"
        place = next((place for known, place in self.layout.artifacts.items() if fnmatchcase(name, known)), "")
        return str(self.layout.find(place)(self, paths[0])) if place else ""

    def files(self, name: str) -> Iterator[Path]:
        """The files behind an artifact's name: a path, a pattern, or everything below a folder."""
        folder, name = self.home, self.named(name)
        found = (folder / name).rglob("*") if name.endswith("/") else folder.glob(name)
        return (path for path in sorted(found) if path.is_file() and not self._is_ours(path.relative_to(folder)))

    def _is_ours(self, path: Path) -> bool:
        """Whether a file in the run's folder is agentd's own and so nobody's artifact."""
        return path.name.startswith(".") or path.parts[0] in (self.store.codec.file, *OURS)


def work_on(project: Project, place: Place, runnable: bool = False, peek: bool = False) -> Work:
    """The run at a place; `runnable`: its table is proved, `peek`: only to be looked at, which is quicker."""
    store = project.store(place)
    state = store.peek() if peek else store.load()
    workflow = project.workflow(state.run.workflow or place.family, runnable)
    return Work(project, project.layout(place.family), workflow, store, state)


def worktree_of(fields: Mapping[str, Any]) -> str:
    """The worktree that a state file names, from the root; nothing if it names none."""
    found = fields.get("git")
    return str(found.get("worktree") or "") if isinstance(found, Mapping) else ""
