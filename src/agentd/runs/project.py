"""A project as agentd sees it: its root, its configuration, its workflows and where its runs are."""

import os
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from agentd.errors import ChangeNotFound, NotFound, RunNotFound, Unsound, UsageError
from agentd.model.decision import Answer, Decision
from agentd.model.moment import Moment
from agentd.model.workflow import Workflow
from agentd.runs.config import Config, read_config
from agentd.state import layout
from agentd.state.codecs import codec
from agentd.state.layout import Place
from agentd.state.store import Store
from agentd.workflows.load import BUILT_IN, parse, read_built_in, with_limits

if TYPE_CHECKING:
    from agentd.workflows.check import Known

FAMILIES = ("change", "team", "staged")
# The built-in tables of which this release can perform every name; the tests prove them.
PROVED = ("change", "change-part", "change-question", "change-review", "change-spec")


def _nobody(_: Decision) -> Answer | None:
    return None


def _quiet(_: str) -> None:
    return None


def _unseen(_: Moment) -> None:
    return None


@dataclass(frozen=True)
class Project:
    """One repository. `ask` puts a question to whoever is there, if `attended`; `say` and `watch` tell what happens.

    `finished` names the changes whose archive or undo had been cut off and was finished when this was opened.
    """

    root: Path
    config: Config
    ask: Callable[[Decision], Answer | None] = _nobody
    say: Callable[[str], None] = _quiet
    watch: Callable[[Moment], None] = _unseen
    attended: bool = False
    interrupted: threading.Event = field(default_factory=threading.Event)
    turn: threading.Lock = field(default_factory=threading.Lock)
    tables: dict[tuple[str, bool], Workflow] = field(default_factory=dict)
    finished: tuple[str, ...] = ()

    def now(self) -> str:
        """The time as files carry it: ISO-8601, UTC, to the microsecond, so that it orders what happens within a second."""
        return datetime.now(UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")

    def who(self) -> str:
        return os.environ.get("USER") or os.environ.get("LOGNAME") or str(os.getuid() if hasattr(os, "getuid") else "")

    def relative(self, path: Path) -> str:
        inside = str(path).removeprefix(f"{self.root}{os.sep}")
        return inside if inside != str(path) else os.path.relpath(path, self.root)

    def workflow_files(self) -> Mapping[str, Path]:
        """The person's own workflows by name of file."""
        folder = self.root / "agentd" / "workflows"
        return {path.stem: path for path in sorted(folder.glob("*.y*ml"))} if folder.is_dir() else {}

    def workflow_names(self) -> tuple[str, ...]:
        return (*BUILT_IN, *(name for name in self.workflow_files() if name not in BUILT_IN))

    def workflow(self, name: str, runnable: bool = False) -> Workflow:
        """A workflow by name, its limits filled in; `runnable`: proved sound, with every name known to this release.

        The built-in tables are proved by the tests, so that looking at a run need not do it again.
        """
        if (name, runnable) not in self.tables:
            table = with_limits(self._read(name), self.config.limits())
            if name not in (PROVED if runnable else BUILT_IN):
                from agentd.workflows.check import prove

                prove(table, self._children(table), known_names() if runnable else None)
            self.tables[name, runnable] = table
        return self.tables[name, runnable]

    def check_file(self, path: Path) -> Workflow:
        """A workflow in any file, proved sound against what this release can do."""
        from agentd.workflows.check import prove

        table = with_limits(self._read_file(path, str(path)), self.config.limits())
        return prove(table, self._children(table), known_names())

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
        path = self.workflow_files().get(name)
        return read_built_in(name) if path is None else self._read_file(path, os.path.relpath(path))

    def _read_file(self, path: Path, source: str) -> Workflow:
        try:
            table = parse(path.read_text(encoding="utf-8"), source)
        except OSError as error:
            raise NotFound(f"{source}: {error.strerror}.", "agentd workflow list") from None
        except UnicodeDecodeError:
            raise Unsound(f"{source}:1: not UTF-8 text.", f"save {source} as UTF-8") from None
        if path.stem in BUILT_IN:
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
        return Store(place.folder, codec(place.family))

    def places(self, name: str = "") -> Iterator[Place]:
        """Every run there is, or those of one name."""
        return (place for place in layout.places(self.root, name) if self.store(place).exists())

    def active_places(self) -> Iterator[Place]:
        """Every run but the archived ones."""
        return (place for place in layout.places(self.root, archived=False) if self.store(place).exists())

    def new_place(self, workflow: str, name: str) -> Place:
        return layout.place(self.root, workflow if workflow in FAMILIES else "", name)

    def find(self, name: str, only: str = "", archived: bool = False) -> Place:
        """The run a person named: a unique name, or `workflow/name`.

        Of two changes of one name it is the one under way; or, if so wanted, the `archived` one.
        """
        family, _, rest = name.rpartition("/")
        wanted = only or family
        found = [place for place in self.places(rest or "/") if not wanted or self._is_of(place, wanted)]
        changes = [place for place in found if place.family == "change"]
        if len(changes) == 2:
            found.remove(changes[0 if archived else 1])
        if len(found) == 1:
            return found[0]
        if found:
            names = ", ".join(f"{self.workflow_of(place)}/{place.name}" for place in found)
            raise UsageError(f"'{name}' names several runs: {names}.", f"agentd status {names.split(', ')[0]}")
        error = ChangeNotFound if only == "change" else RunNotFound
        what = "change" if only == "change" else "run"
        raise error(f"There is no {what} '{name}' in {self.root}.", "agentd list")

    def known_phase(self, store: Store, workflow: Workflow, phase: str) -> str:
        """The phase, if the workflow has it; a word nobody knows is an error in the file."""
        if phase not in workflow.phases:
            known = ", ".join(workflow.phases)
            raise store.corrupt(f"phase '{phase}' is none of {known}", store.codec.phase_key)
        return phase

    def _is_of(self, place: Place, workflow: str) -> bool:
        """Whether a run is of a workflow; a run of another family is not even read."""
        if place.family or workflow in FAMILIES:
            return place.family == workflow
        return self.workflow_of(place) == workflow

    def workflow_of(self, place: Place) -> str:
        return place.family or self.store(place).load().run.workflow


def known_names() -> "Known":
    """What this release can perform."""
    from agentd.families.change import actions
    from agentd.model.job import POWERS
    from agentd.runs.call_scope import TOOLS
    from agentd.workflows.check import Known

    return Known(actions.CHECKS, actions.OUTCOMES, actions.SOURCES, (*TOOLS, *POWERS))


def open_project(
    cwd: Path | None = None,
    ask: Callable[[Decision], Answer | None] = _nobody,
    say: Callable[[str], None] = _quiet,
    watch: Callable[[Moment], None] = _unseen,
    attended: bool = False,
) -> Project:
    """The project around a folder, with nothing in it half archived."""
    project = replace(look_at_project(cwd), ask=ask, say=say, watch=watch, attended=attended)
    if not os.path.lexists(project.root / layout.PENDING):
        return project
    from agentd.families.change.archive.commands import recover

    return recover(project)


def look_at_project(cwd: Path | None = None) -> Project:
    """The project as it is: for an agent's server, which may not finish what others began."""
    try:
        root = layout.find_root(cwd or Path.cwd())
    except FileNotFoundError:
        raise NotFound("The working folder is gone.", "cd") from None
    return Project(root, read_config(root))
