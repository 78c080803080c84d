"""What is known of tasks that did not land, kept with the run itself: the folder of a task that is given up is cleared."""

import shutil
from collections.abc import Iterator
from pathlib import Path

from agentd.state import durable

HOME = "calls/landing"
SETUP = "setup.log"


def folder(run: Path, task: str) -> Path:
    """Return where the documents and the log of a task are kept, in the folder of its run."""
    return run / HOME / task


def keep(run: Path, task: str, name: str, text: str) -> None:
    """Keep a document about a task; it replaces the last one of its name."""
    place = folder(run, task)
    durable.make_folder(place)
    durable.replace(place / name, text.encode(), "document")


def clear(run: Path, task: str) -> None:
    """Remove what was kept of a task, as it has landed."""
    durable.refuse_links(folder(run, task), "removed")
    shutil.rmtree(folder(run, task), ignore_errors=True)


def tasks(run: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield the tasks of which something is kept, with the names of what there is, the latest first."""
    for place in sorted((run / HOME).glob("*/")):
        found = sorted(place.iterdir(), key=lambda path: -path.lstat().st_mtime_ns)
        yield place.name, [path.name for path in found]
