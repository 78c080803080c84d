"""What is known of a family before any of its code is loaded: where its runs are, how their files look, what its tables may name."""

import re
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import field
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

from agentd.errors import Corrupt, NotFound, RunNotFound, UsageError
from agentd.state.codecs import Codec
from agentd.state.layout import ALLOWED, NAME, NEW_NAME, Place, folders_in
from agentd.values import dataclass

Places = Mapping[str, str]


def refuse_link(root: Path, home: str) -> None:
    """An error if the home of runs, or a folder on the way to it, is a link: a repository can bring one that leads anywhere."""
    for number in range(home.count("/") + 1):
        link = root.joinpath(*home.split("/")[: number + 1])
        if link.is_symlink():
            what = f"{link} is a link to {link.resolve()}, and agentd follows no link to its runs."
            raise Corrupt(what, f"rm {shlex.quote(str(link))}   # only the link; then run the same command again")


@cache
def _function(place: str) -> Callable[..., Any]:
    module, _, name = place.rpartition(".")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function


@dataclass(frozen=True)
class Layout:
    """One family, as data. A *place* is a function below the family's package: `task_status.check_tasks`.

    module         the package with the family's code; its `family.py` has the FAMILY
    homes          the folders of its runs, from the root; a new run goes into the first
    over           the home of runs that are over, which only `--all` and `--archived` list
    workflows      its tables, as YAML files in the package; the first has the family's name
    proved         this release performs every name in its tables, and the tests prove them sound
    names          what a new run may be called, and `allowed` the same in words
    bare           a run is named without its workflow
    missing        the error for a run that is not there
    children_share children work on the documents of the run they belong to
    decisions_above what is asked in a child is kept in the state file of the run it belongs to, with the phase it is about
    at_once        how many children run side by side; None: as the configuration says
    guarded_keys   keys of the state file that no agent may change, besides those of every family
    made_anew      files of a run that are written again for each agent call: git need not keep them once it is over
    recover        what finishes a command that was cut off (`runs/unfinished.py`)
    next           what to type in a phase for which the table has no command
    commits        what to type in a phase in which the files of a run may be committed; at its end, until they are
    settings       its own sections of the configuration, with their defaults
    choices        the words that a setting of text may have, by `section.key`
    call_names     the names under which calls of a step are kept, where that is not the step's own
    kinds          those of these names that are counted together whatever item a call is for

    What its tables may name, each with its place:
    checks, items, questions; actions, with the outcomes of each; `documents` for checks that stand for files
    artifacts      what says why a file does not count (patterns allowed)
    bound          what gives the part of a file that an answer is bound to, where that is not all of it
    tools          what its agents may call
    shared         what a tool writes outside of its run, from the root: folders, and files that are locked meanwhile
    """

    name: str
    module: str
    folder: Path
    homes: tuple[str, ...]
    codec: Codec
    over: str = ""
    workflows: tuple[str, ...] = ()
    proved: bool = False
    names: re.Pattern[str] = NEW_NAME
    allowed: str = ALLOWED
    bare: bool = False
    missing: type[NotFound] = RunNotFound
    children_share: bool = False
    decisions_above: bool = False
    at_once: int | None = None
    guarded_keys: tuple[str, ...] = ()
    made_anew: tuple[str, ...] = ()
    recover: str = ""
    next: Mapping[str, str] = field(default_factory=dict)
    commits: Mapping[str, str] = field(default_factory=dict)
    settings: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    choices: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    call_names: Mapping[str, str] = field(default_factory=dict)
    kinds: tuple[str, ...] = ()
    checks: Places = field(default_factory=dict)
    documents: Mapping[str, str] = field(default_factory=dict)
    actions: Mapping[str, tuple[str, tuple[str, ...]]] = field(default_factory=dict)
    items: Places = field(default_factory=dict)
    questions: Places = field(default_factory=dict)
    artifacts: Places = field(default_factory=dict)
    bound: Places = field(default_factory=dict)
    tools: tuple[str, ...] = ()
    shared: Mapping[str, tuple[str, ...]] = field(default_factory=dict)

    def find(self, place: str) -> Callable[..., Any]:
        """The function at a place; its module is imported now."""
        return _function(f"{self.module}.{place}")

    def later(self, place: str) -> Callable[..., Any]:
        """The same function, whose module is imported with its first call."""
        return lambda *args: self.find(place)(*args)

    def table(self, workflow: str) -> Path:
        return self.folder / f"{workflow}.yaml"

    def place(self, root: Path, name: str) -> Place:
        """Where a run lives, or would live. The name is checked, so that no path leads out of its home."""
        if not self.names.fullmatch(name) or len(name) > 100:
            raise UsageError(f"'{name}' cannot name a run: use {self.allowed}, at most 100.", "for example: add-oauth")
        for home in self.homes:
            refuse_link(root, home)
        folders = [root / home / name for home in self.homes]
        return Place(self.name, name, next((folder for folder in folders if folder.is_dir()), folders[0]))

    def places(self, root: Path, name: str = "", over: bool = True) -> Iterator[Place]:
        """Every folder that could hold a run, or a run of this name; without those that are over, if so wanted."""
        for home in self.homes:
            base = root / home
            refuse_link(root, home)
            for found in () if home == self.over and not over else [name] if name else folders_in(base):
                folder = base / found
                if NAME.fullmatch(found) and (not name or folder.is_dir()):
                    yield Place(self.name, found, folder)
