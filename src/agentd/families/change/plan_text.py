"""The plan of a change as a person reads it: proposal, specs and tasks without the data at their heads. It only reads."""

from collections.abc import Iterator
from pathlib import Path

from agentd.patterns import regex
from agentd.state import reading
from agentd.text import frontmatter

_TAG = regex(r"</?\w+>")


def documents(folder: Path) -> Iterator[tuple[str, str]]:
    """Each document of the plan in a change's folder, by its name; for one that cannot be read, the reason."""
    home = str(folder)
    pages = (
        *reading.pages(home, ["proposal.md"]),
        *reading.markdown(home, "specs"),
        *reading.pages(home, ["tasks.md"]),
    )
    for page in pages:
        lines = frontmatter.read(page.data.decode(errors="replace")).lines
        text = "\n".join(line for line in lines if not _TAG.fullmatch(line)).strip()
        yield page.name, text or f"({page.problem or 'it is empty'})"


def lines(folder: Path) -> Iterator[str]:
    """The whole plan, each document below its name."""
    for name, text in documents(folder):
        yield f"── {name} ──"
        yield from text.splitlines()
        yield ""
