"""`agentd/.gitignore`: what the runs of a project leave on this machine and git need not keep. Written once, then the person's."""

from collections.abc import Iterable
from pathlib import Path

from agentd.runs.layout import Layout
from agentd.state import durable

HOME = "agentd"
FILE = f"{HOME}/.gitignore"
HEAD = "# Written by agentd once; yours to change. What stays on this machine:\n"
EVERYWHERE = (
    (".lock", "locks"),
    (".*.tmp", "files half written when a process was killed"),
    ("stop.json", "requests to stop"),
    ("calls/", "transcripts of agent calls, and their scratch files"),
    ("children/", "the records of steps with several parts"),
    ("/ledger.jsonl", "the cost of every call"),
)


def write(root: Path, layouts: Iterable[Layout]) -> None:
    """Make the file if there is none, and the folder it belongs to is there."""
    if (root / HOME).is_dir():
        durable.create(root / FILE, text(layouts).encode(), "document")


def text(layouts: Iterable[Layout]) -> str:
    """What agentd writes there."""
    lines = [f"# {about}\n{pattern}\n" for pattern, about in EVERYWHERE]
    # Not while a run is under way: some agents read no file that git ignores.
    made = [f"{one.over.removeprefix(HOME)}/*/{name}\n" for one in layouts if one.over for name in one.made_anew]
    lines += ["# made anew for each agent call\n", *made] if made else []
    return "".join([HEAD, *lines])
