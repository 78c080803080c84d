"""What lies around a change: the spec library, the specs as they were when it began, the files a link leads to.

Everything is read when it is asked for, and once.
"""

import os
import posixpath
from functools import cache
from pathlib import Path

from agentd.errors import Corrupt
from agentd.library import claims, snapshot, spec
from agentd.model.change import Spec
from agentd.state import reading
from agentd.text.links import anchors


class Shelf:
    """The project at `root`, for looking things up in."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.spec = cache(self._spec)
        self.anchors = cache(self._anchors)

    def before(self, home: str, name: str) -> Spec | None:
        """A spec as it was when the change in this folder began."""
        try:
            known = snapshot.read(Path(self.root, home))
        except Corrupt:
            known = None
        if known is None or not known.knows(f"{name}.md"):
            return self.spec(name)
        text = known.text(f"{name}.md")
        return None if text is None else spec.read(text)[0]

    def changed(self, home: str, name: str, now: Spec | None = None) -> frozenset[str]:
        """The requirements of a spec of the change in this folder that are new or differ from before."""
        if now is None:
            page = reading.page(f"{self.root}/{home}", f"specs/{name}.md")
            now = spec.read(page.text)[0] if page else None
        return claims.changed(now, self.before(home, name)) if now else frozenset()

    def problem_with(self, file: str, target: str) -> str:
        """Why a link in a file is broken, or nothing; what lies outside of the project is not judged."""
        path, _, anchor = target.partition("#")
        if "%" in target:
            from urllib.parse import unquote

            path, anchor = unquote(path), unquote(anchor)
        path = path.partition("?")[0]
        aim = posixpath.normpath(posixpath.join(posixpath.dirname(file), path)) if path else file
        if aim.startswith("..") or "\0" in aim:
            return ""
        full = f"{self.root}/{aim}"
        if not os.path.exists(full):
            return f"there is no {aim}"
        if not os.path.realpath(full).startswith(os.path.realpath(self.root) + os.sep):
            return "it leads out of the project"
        known = self.anchors(aim) if anchor and aim.endswith(".md") else None
        return "" if known is None or anchor.lower() in known else f"{aim} has no heading '{anchor}'"

    def _spec(self, name: str) -> Spec | None:
        page = reading.page(f"{self.root}/{snapshot.LIBRARY}", f"{name}.md")
        return spec.read(page.text)[0] if page and page.text else None

    def _anchors(self, path: str) -> frozenset[str] | None:
        page = reading.page(self.root, path)
        return anchors(page.text) if page and not page.problem else None
