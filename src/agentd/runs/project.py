"""A project as agentd sees it: its root, its configuration, its workflows and where its runs are."""

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from agentd.errors import NotFound, RunNotFound, Unsound, UsageError
from agentd.model.decision import Answer, Decision
from agentd.model.moment import Moment
from agentd.model.workflow import Workflow
from agentd.runs.config import Config, read_config
from agentd.runs.layout import Layout
from agentd.state.layout import Place, find_root
from agentd.state.store import Store
from agentd.workflows.load import parse, with_limits


def _nobody(_: Decision) -> Answer | None:
    return None


def _quiet(_: str) -> None:
    return None


def _unseen(_: Moment) -> None:
    return None


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
    ask: Callable[[Decision], Answer | None] = _nobody
    say: Callable[[str], None] = _quiet
    watch: Callable[[Moment], None] = _unseen
    attended: bool = False
    interrupted: threading.Event = field(default_factory=threading.Event)
    turn: threading.Lock = field(default_factory=threading.Lock)
    tables: dict[tuple[str, bool], Workflow] = field(default_factory=dict)
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
        return os.environ.get("USER") or os.environ.get("LOGNAME") or str(os.getuid() if hasattr(os, "getuid") else "")

    def relative(self, path: Path) -> str:
        inside = str(path).removeprefix(f"{self.root}{os.sep}")
        return inside if inside != str(path) else os.path.relpath(path, self.root)

    def layout(self, family: str) -> Layout:
        """The family of this name; a person's own workflows, if there is none."""
        own = next(layout for layout in self.layouts if not layout.workflows)
        return next((layout for layout in self.layouts if layout.name == family), own)

    def own_folders(self) -> tuple[str, ...]:
        """The folders at the root that hold runs: nothing in them is the project's own work."""
        return tuple(dict.fromkeys(home.partition("/")[0] for layout in self.layouts for home in layout.homes))

    def kinds(self) -> tuple[str, ...]:
        """The kinds of calls that are counted together whatever item they are for."""
        return tuple(kind for layout in self.layouts for kind in layout.kinds)

    def _built_in(self) -> dict[str, Layout]:
        return {name: layout for layout in self.layouts for name in layout.workflows}

    def workflow_files(self) -> Mapping[str, Path]:
        """The person's own workflows by name of file."""
        folder = self.root / "agentd" / "workflows"
        return {path.stem: path for path in sorted(folder.glob("*.y*ml"))} if folder.is_dir() else {}

    def workflow_names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self._built_in(), *self.workflow_files())))

    def workflow(self, name: str, runnable: bool = False) -> Workflow:
        """A workflow by name, its limits filled in; `runnable`: proved sound, with every name known to this release.

        The built-in tables are proved by the tests, so that looking at a run need not do it again.
        """
        if (name, runnable) not in self.tables:
            table = with_limits(self._read(name), self.config.limits())
            known = self._built_in().get(name)
            if known is None or (runnable and not known.proved):
                self._prove(table, runnable)
            self.tables[name, runnable] = table
        return self.tables[name, runnable]

    def check_file(self, path: Path) -> Workflow:
        """A workflow in any file, proved sound against what this release can do."""
        return self._prove(with_limits(self._read_file(path, str(path)), self.config.limits()), True)

    def _prove(self, table: Workflow, runnable: bool) -> Workflow:
        from agentd.workflows.check import Known, prove  # no built-in table needs it when a run is looked at or driven

        family = self._built_in().get(table.name, self.layout(""))
        outcomes = {name: words for name, (_, words) in family.actions.items()}
        known = Known(family.checks, outcomes, family.items, family.tools) if runnable else None
        return prove(table, self._children(table), known)

    def _children(self, table: Workflow) -> Mapping[str, Workflow]:
        """The workflows a table runs for each of its items; one that would run itself is refused."""
        found: dict[str, Workflow] = {}
        fresh = [table]
        while fresh:
            above = fresh.pop()
            for step in above.steps.values():
                if step.kind == "each" and step.what == table.name:
                    raise Unsound(f"{above.source}:{step.line}: step '{step.name}': {table.name} would run itself.")
                if step.kind == "each" and step.what not in found and step.what in self.workflow_names():
                    found[step.what] = with_limits(self._read(step.what), self.config.limits())
                    fresh.append(found[step.what])
        return found

    def _read(self, name: str) -> Workflow:
        path, family = self.workflow_files().get(name), self._built_in().get(name)
        if path is not None:
            return self._read_file(path, os.path.relpath(path))
        if family is None:
            raise NotFound(f"There is no built-in workflow '{name}'.", "agentd workflow list")
        return parse(family.table(name).read_text(encoding="utf-8"), f"{name}.yaml")

    def _read_file(self, path: Path, source: str) -> Workflow:
        try:
            table = parse(path.read_text(encoding="utf-8"), source)
        except OSError as error:
            raise NotFound(f"{source}: {error.strerror}.", "agentd workflow list") from None
        except UnicodeDecodeError:
            raise Unsound(f"{source}:1: not UTF-8 text.", f"save {source} as UTF-8") from None
        if path.stem in self._built_in():
            own = Path(source).with_name(f"my-{path.name}")
            raise Unsound(
                f"{source}: '{path.stem}' is the name of a built-in workflow.",
                f"sed 's/^name: .*/name: my-{path.stem}/' {source} > {own} && rm {source}",
            )
        if table.name != path.stem:
            raise Unsound(
                f"{source}:1: the workflow is called '{table.name}', its file '{path.name}'.",
                f"mv {source} {Path(source).with_name(table.name + '.yaml')}",
            )
        if table.commands:
            raise Unsound(f"{source}: only the built-in workflows have commands of their own.", "take 'commands' out")
        return table

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
