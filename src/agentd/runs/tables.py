"""The workflows of a project by name: the families' own tables, and those that a person keeps in `agentd/workflows/`."""

import os
import shlex
from collections.abc import Callable, Mapping
from pathlib import Path

from agentd import files
from agentd.errors import NotFound, Unsound
from agentd.model.workflow import Workflow
from agentd.runs.layout import Layout
from agentd.state import reading
from agentd.workflows.limits import with_limits
from agentd.workflows.shipped import parse, shipped
from agentd.workflows.without import without


class Tables:
    """Every workflow with its limits filled in. One that was read once is not read again."""

    def __init__(self, root: Path, layouts: tuple[Layout, ...], limits: Mapping[str, int]) -> None:
        self.folder = root / "agentd" / "workflows"
        self.families = {name: layout for layout in layouts for name in layout.workflows}
        self.own = next(layout for layout in layouts if not layout.workflows)
        self.limits = limits
        self.read: dict[tuple[str, bool], Workflow] = {}

    def names(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys((*self.families, *self._files())))

    def find(self, name: str, runnable: bool = False) -> Workflow:
        """A workflow by name, `NAME~PHASE` being the one without a phase; `runnable`: proved sound, with every name known
        to this release.

        The built-in tables are proved by the tests, so that looking at a run need not do it again.
        """
        if (name, runnable) not in self.read:
            base, *phases = name.split("~")
            table = without(with_limits(self._parse(base), self.limits), phases)
            known = self.families.get(base)
            if known is None or (runnable and (phases or not known.proved)):
                self._prove(table, runnable)
            self.read[name, runnable] = table
        return self.read[name, runnable]

    def built_in(self, name: str) -> Workflow:
        """A table of a family as it is, whatever the project has under its name."""
        family = self.families.get(name)
        if family is None:
            raise NotFound(f"There is no built-in workflow '{name}'.", "agentd workflow list")
        return shipped(family.table(name))

    def check_file(self, path: Path) -> Workflow:
        """A workflow in any file, proved sound against what this release can do."""
        return self._prove(with_limits(self._parse_file(path, str(path)), self.limits), True)

    def _files(self) -> Mapping[str, Path]:
        """The person's own workflows by name of file."""
        return {path.stem: path for path in sorted(self.folder.glob("*.y*ml"))} if self.folder.is_dir() else {}

    def _prove(self, table: Workflow, runnable: bool) -> Workflow:
        from agentd.workflows.check import Known, prove  # no built-in table needs it when a run is looked at or driven

        family = self.families.get(table.name, self.own)
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
                if step.kind == "each" and step.what not in found and step.what in self.names():
                    found[step.what] = with_limits(self._parse(step.what), self.limits)
                    fresh.append(found[step.what])
        return found

    def _parse(self, name: str) -> Workflow:
        path = self._files().get(name)
        return (
            self.built_in(name)
            if path is None
            else self._parse_file(path, reading.printable(os.path.relpath(path)), reading.own)
        )

    def _parse_file(self, path: Path, source: str, read: Callable[[Path], bytes] = files.read) -> Workflow:
        try:
            table = parse(read(path).decode(), source)
        except OSError as error:
            raise NotFound(f"{source}: {error.strerror}.", "agentd workflow list") from None
        except UnicodeDecodeError:
            raise Unsound(f"{source}:1: not UTF-8 text.", f"save {source} as UTF-8") from None
        if path.stem in self.families:
            own = Path(source).with_name(f"my-{path.name}")
            raise Unsound(
                f"{source}: '{path.stem}' is the name of a built-in workflow.",
                f"sed 's/^name: .*/name: my-{path.stem}/' {source} > {own} && rm {source}",
            )
        if table.name != path.stem:
            raise Unsound(
                f"{source}:1: the workflow is called '{table.name}', its file '{Path(source).name}'.",
                f"mv {shlex.quote(source)} {shlex.quote(str(Path(source).with_name(table.name + '.yaml')))}",
            )
        if table.commands:
            raise Unsound(f"{source}: only the built-in workflows have commands of their own.", "take 'commands' out")
        return table
