"""The places that an issue about a plan can name: specs of the change and of the library, existing and planned files.

Files outside of the project are not read, and issues that name them are not judged.
"""

import os
import posixpath
import sys
from collections.abc import Collection, Iterable
from functools import cached_property
from pathlib import Path

from agentd.errors import Corrupt
from agentd.families.change import LAYOUT
from agentd.families.change.consistency import Anything
from agentd.families.change.documents import proposal, tasks
from agentd.library import snapshot, spec
from agentd.model.verdict import Issue
from agentd.runs.work import worktree_of
from agentd.state import reading
from agentd.state.store import Store

ANY_LENGTH = sys.maxsize


class Grounds:
    """The places around the change in `folder`, looked up on demand."""

    def __init__(self, root: Path, folder: Path) -> None:
        self.root = os.path.realpath(root)
        self.folder = os.path.realpath(folder)

    def specs(self, issues: Iterable[Issue]) -> dict[str, Collection[str]]:
        """The requirements of every spec of the change, and of each library spec that an issue names."""
        said = "\n".join(f"{issue.spec_reference}\n{issue.location}" for issue in issues).lower()
        found: dict[str, Collection[str]] = {}
        for page in reading.markdown(self.folder, "specs"):
            found[_name(page.name.removeprefix("specs/"))] = _requirements(page)
        library = f"{self.root}/{snapshot.LIBRARY}"
        named = [name for name, _ in reading.listing(library) if name.endswith(".md") and _name(name).lower() in said]
        for page in reading.pages(library, named):
            here, there = found.get(_name(page.name), frozenset()), _requirements(page)
            found[_name(page.name)] = Anything() if Anything in (type(here), type(there)) else {*here, *there}
        return found

    def lines(self, name: str) -> int | None:
        """How many lines a file has: None if it does not exist, ANY_LENGTH if it is planned, outside or unreadable."""
        outside = False
        for home in (self.folder, *self.tops):
            full = posixpath.normpath(posixpath.join(home, name))
            top = next((top for top in self.tops if os.path.realpath(full).startswith(f"{top}{os.sep}")), "")
            page = reading.page(top, posixpath.relpath(full, top)) if top else None
            if page is not None:
                return ANY_LENGTH if page.problem else len(page.data.splitlines())
            outside = outside or not top
        return ANY_LENGTH if outside or posixpath.normpath(name) in self.planned else None

    @cached_property
    def tops(self) -> tuple[str, ...]:
        """The root of the project, and the worktree of the change if it has one."""
        try:
            fields = Store(Path(self.folder), LAYOUT.codec).peek().fields
        except Corrupt:
            fields = {}
        own = os.path.realpath(os.path.join(self.root, worktree_of(fields)))
        return tuple(dict.fromkeys((self.root, own)))

    @cached_property
    def planned(self) -> frozenset[str]:
        """The files that the tasks and the proposal name."""
        work = reading.page(self.folder, "tasks.md")
        plan = reading.page(self.folder, "proposal.md")
        todo = tasks.read(work.text)[0] if work else None
        idea = proposal.read(plan.text)[0] if plan else None
        paths = [task.path for task in todo.tasks] if todo else []
        return frozenset(map(posixpath.normpath, [*paths, *(idea.impact.affected_code if idea else ())]))


def _requirements(page: reading.Page) -> Collection[str]:
    """The requirements of a spec; any, if it cannot be read."""
    found = None if page.problem else spec.read(page.text)[0]
    return Anything() if found is None else {entry.id for entry in found.requirements}


def _name(path: str) -> str:
    return path.removesuffix(".md")
