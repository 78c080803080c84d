"""What outlives a change and agents may write: the project's knowledge and its own specs, each in its folder."""

import os
from pathlib import Path

from agentd.errors import NotFound, Refused
from agentd.library import snapshot, spec
from agentd.library.exclusive import holding
from agentd.runs.call_scope import Desk
from agentd.runs.safe_paths import inside, read_text
from agentd.runs.tool_result import Text, Written, listed, refuse_wrong
from agentd.text import frontmatter
from agentd.values import dataclass

KNOWLEDGE = "agentd/knowledge"


@dataclass(frozen=True)
class Page:
    """A page of knowledge."""

    path: str
    title: str


@dataclass(frozen=True)
class Pages:
    """Several pages, in words and as data."""

    message: str
    pages: tuple[Page, ...]


def read_knowledge(desk: Desk, name: str) -> Text:
    path, shown = _page(desk, KNOWLEDGE, name)
    if not path.is_file():
        raise NotFound(f"path: there is no page {name!r}.", "list_knowledge names every page")
    return Text(read_text(path, shown), shown)


def list_knowledge(desk: Desk, name: str = "") -> Pages:
    """The pages below a folder; hidden files and what a link leads elsewhere are none."""
    home = desk.project.root / KNOWLEDGE
    inner = f"{name}/".removeprefix(f"{KNOWLEDGE}/").removesuffix("/")
    folder = inside(home, inner, "path") if inner else home
    real = Path(os.path.realpath(home))
    pages = []
    for path in sorted(folder.rglob("*.md")) if folder.is_dir() else ():
        if path.is_file() and not path.name.startswith(".") and Path(os.path.realpath(path)).is_relative_to(real):
            inner = Path(os.path.realpath(path)).relative_to(real).as_posix()
            pages.append(Page(inner, _title(path)))
    lines = [f"{page.path}: {page.title}" if page.title else page.path for page in pages]
    return Pages("\n".join(lines) or "There is no knowledge yet.", tuple(pages))


def write_knowledge(desk: Desk, name: str, title: str, source: str, content: str) -> Written:
    path, shown = _page(desk, KNOWLEDGE, name)
    today = desk.project.now()[:10]
    known = frontmatter.read(read_text(path, shown)).data if path.is_file() else {}
    data = {"title": title, "source": source, "date": str(known.get("date") or today)}
    if known:
        data["updated"] = today
    desk.write(path, frontmatter.write(data, content))
    return Written(f"Wrote {shown}.", shown)


def write_main_spec(desk: Desk, name: str, content: str) -> Written:
    """A spec of the library as the agent sends it; one that breaks a rule that counts is not written."""
    path, shown = _page(desk, snapshot.LIBRARY, name)
    text = content if content.endswith("\n") else content + "\n"
    findings = spec.read(text, desk.project.config.rules())[1]
    refuse_wrong(shown, findings)
    with holding(desk.project.root):
        desk.write(path, text)
    return listed(f"Wrote {shown}.", shown, findings)


def _page(desk: Desk, home: str, name: str) -> tuple[Path, str]:
    path = inside(desk.project.root / home, name.removeprefix(f"{home}/"), "path")
    if path.suffix != ".md" or any(part.startswith(".") for part in name.split("/")):
        raise Refused(f"path: {name!r} does not name a page.", f"send a path in {home}/ that ends with .md")
    return path, f"{home}/{path.relative_to(os.path.realpath(desk.project.root / home)).as_posix()}"


def _title(path: Path) -> str:
    try:
        front = frontmatter.read(read_text(path, path.name))
    except (NotFound, Refused):
        return ""
    title = front.data.get("title")
    heading = next((line.lstrip("# ") for line in front.lines if line.startswith("# ")), "")
    return title if isinstance(title, str) else heading
