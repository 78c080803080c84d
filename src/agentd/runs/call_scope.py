"""What one agent call may do to one run: its tools, its files. It takes no lock of a run and never writes its state."""

import fcntl
import os
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import field
from pathlib import Path

from agentd.errors import AgentdError, NotFound, Refused
from agentd.runs import tool_trace
from agentd.runs.layout import Layout
from agentd.runs.project import Project, look_at_project
from agentd.runs.safe_paths import LARGEST, inside, read_text
from agentd.runs.work import Work, work_on
from agentd.state import durable
from agentd.state.codecs import PLAIN, State
from agentd.state.layout import Place
from agentd.state.store import Store
from agentd.values import dataclass


def client_trace(folder: Path, call: str) -> Path:
    """The file that is there if the agent of a call asked agentd's server for its tools, or called one."""
    return folder / "calls" / f"{call.replace('/', '-')}.served"


@dataclass(frozen=True)
class Desk:
    """The place of one call: the run it belongs to, and the name under which its run expects it.

    `home` is the folder of the run whose documents a child shares; without one a run has its own.
    """

    project: Project
    layout: Layout
    store: Store
    call: str
    home: Path | None = None
    turn: threading.Lock = field(default_factory=threading.Lock)

    @property
    def folder(self) -> Path:
        """Where the documents are."""
        return self.home or self.store.folder

    @property
    def change(self) -> str:
        """What the documents belong to, by the name that tools are sent."""
        return self._name(self.store.peek())

    @property
    def real(self) -> Path:
        """The folder with every link on the way to it followed: what confined paths begin with."""
        return Path(os.path.realpath(self.folder))

    def tools(self) -> tuple[str, ...]:
        """What this call may use now; nothing if it is not the one under way."""
        try:
            intent = self._current().run.intent
        except AgentdError:
            return ()
        return intent.tools if intent else ()

    def admit(self, tool: str, change_id: str | None = None) -> State:
        """The state as it is on disk now, if this call may use this tool on this change; else the reason it may not."""
        state = self._current()
        allowed = state.run.intent.tools if state.run.intent else ()
        if tool not in allowed:
            known = ", ".join(allowed) or "none"
            raise Refused(f"{tool} is not a tool of step {state.run.step}.", f"use one of: {known}")
        if change_id is not None and change_id != self._name(state):
            shown = change_id if len(change_id) <= 80 else change_id[:80] + "…"
            raise Refused(f"change_id: {shown!r} is not the change of this call.", f'send "{self._name(state)}"')
        return state

    @contextmanager
    def at_work(self, tool: str, change_id: str | None = None) -> Iterator[State]:
        """One tool at a time, also among several servers of one call: what one read nobody changes before it writes."""
        begun = time.monotonic()
        with self.turn:
            fd = os.open(self.folder, os.O_RDONLY | os.O_CLOEXEC)
            try:
                fcntl.flock(fd, fcntl.LOCK_EX)
                yield self.admit(tool, change_id)
            finally:
                os.close(fd)
                tool_trace.note(client_trace(self.store.folder, self.call), tool, begun)

    def note_client(self) -> None:
        """Note that the agent of the call under way has found its tools."""
        with suppress(AgentdError):
            self._current()
            durable.create(client_trace(self.store.folder, self.call), tool_trace.opening(), "scratch")

    def path(self, name: str) -> Path:
        """A file of the run by the name an agent gives: in full, from the run's folder, from the root, or a short one."""
        home = self.project.relative(self.folder) + "/"
        plain = name.removeprefix(f"{self.folder}/").removeprefix("./").removeprefix(home)
        path = inside(self.folder, plain, "file")
        if "/" not in name and "." not in name and not path.exists():
            options = (f"{name}.md", f"specs/{name}.md")
            found = (inside(self.folder, option, "file") for option in options)
            return next((option for option in found if option.exists()), path)
        return path

    def shown(self, path: Path) -> str:
        """A path as agents and people name it: from the project's root."""
        inner = path.relative_to(self.real if path.is_relative_to(self.real) else self.folder)
        return f"{self.project.relative(self.folder)}/{inner.as_posix()}"

    def read(self, path: Path) -> str:
        return read_text(path, self.shown(path))

    def read_if_there(self, name: str) -> str:
        """The text of a document of the run, or nothing."""
        path = self.path(name)
        return self.read(path) if path.exists() else ""

    def write(self, path: Path, text: str) -> None:
        """Put a document in its place, whole, if this call is still the one under way."""
        self._current()
        data = text.encode()
        if len(data) > LARGEST:
            raise Refused(f"{path.name} would have {len(data)} bytes; at most {LARGEST} are written.", "send less text")
        durable.make_folder(path.parent)
        durable.replace(path, data, "document")

    def _name(self, state: State) -> str:
        return self.home.name if self.home else state.run.name

    def _current(self) -> State:
        state = self.store.peek()
        intent = state.run.intent
        if not self.call:
            raise Refused("This server was started without the name of a call, so it writes and reads nothing.", _START)
        if intent is None or intent.call != self.call:
            now = f"now {intent.call} is" if intent else "no call is"
            raise Refused(f"The call {self.call} is over; {now} under way. Nothing was written.", "end your work here")
        return state


_START = "let agentd start it: it sets AGENTD_RUN and AGENTD_CALL for every agent"


def open_desk(layouts: tuple[Layout, ...], folder: Path, call: str) -> Desk:
    """The desk of a call of the run in this folder, which may be the child of another run."""
    folder = folder.resolve()
    project = look_at_project(layouts, folder)
    for layout in layouts:
        for home in layout.homes:
            inner = folder.relative_to(project.root / home).parts if folder.is_relative_to(project.root / home) else ()
            child = len(inner) >= 4 and inner[1] == "children"
            store = Store(folder, PLAIN if child else layout.codec)
            if (child or len(inner) == 1) and store.exists():
                above = project.root / home / inner[0] if child and layout.children_share else None
                return Desk(project, layout, store, call, above)
    raise NotFound(f"There is no run in {folder}.", _START)


def work_of(desk: Desk) -> Work:
    """The run of a call, to be looked at only; below the run whose documents it shares."""
    project, state = desk.project, desk.store.peek()
    above = None
    if desk.home:
        above = work_on(project, Place(desk.layout.name, desk.home.name, desk.home), peek=True)
    workflow = project.workflow(state.run.workflow or desk.layout.name)
    return Work(project, desk.layout, workflow, desk.store, state, above)
