"""The files that an agent starts with, written anew for each call: GEMINI.md, AGENTS.md, an empty CHALLENGE.md."""

import os
from collections.abc import Iterator
from pathlib import Path

from agentd.families.change import ACTIVE, context_text
from agentd.families.change.documents.proposal.page import take_apart
from agentd.library import snapshot
from agentd.model.rules import Rules
from agentd.review import challenge_page
from agentd.runs.project import Project
from agentd.state import durable, reading
from agentd.state.reading import Page, printable
from agentd.text.outline import outline, split_lines

ROLES = {
    "planner": ("GEMINI.md", "GEMINI_CONTEXT_FILE"),
    "challenger": ("AGENTS.md", "AGENTS_CONTEXT_FILE"),
}
PROJECT_FILES = ("agentd/project.md", "project.md")
SECTIONS = ("Overview", "Architecture", "Key Patterns")
MOST_LINES = 200
DEPTH = 2
MADE = frozenset(
    ("__pycache__", "bower_components", "build", "coverage", "dist", "htmlcov", "node_modules", "target", "venv")
)


def prepare(project: Project, folder: Path, change: str, role: str, cwd: Path) -> tuple[str, dict[str, str]]:
    """Write the context file of a role; gives its path as seen from `cwd`, and the environment that names it."""
    if role not in ROLES:
        return "", {}
    name, variable = ROLES[role]
    overview, tree = _overview(project.root), _tree(project.root, cwd)
    if role == "planner":
        text = context_text.planner_context(change, overview, _text(folder, "clarifications.md"), tree)
    else:
        text = context_text.challenger_context(change, overview, tree, _documents(project, folder))
    path = folder / name
    _write(path, text)
    shown = project.relative(path) if os.path.realpath(cwd) == os.path.realpath(project.root) else str(path)
    return shown, {variable: shown}


def skeleton(folder: Path, change: str) -> None:
    """Replace CHALLENGE.md by one that states no verdict."""
    _write(folder / "CHALLENGE.md", challenge_page.skeleton(change))


def _write(path: Path, text: str) -> None:
    if path.is_symlink():  # it may point anywhere
        durable.remove(path, "document")
    durable.replace(path, text.encode(errors="replace"), "document")


def _text(home: Path, name: str) -> str:
    """The text of a file, empty if there is none."""
    page = reading.page(str(home), name)
    return _said(page) if page else ""


def _said(page: Page) -> str:
    """The text of a page; a line with the problem if it cannot be read."""
    return page.data.decode(errors="replace") if page.data or not page.problem else f"({page.problem}.)"


def _overview(root: Path) -> list[tuple[str, str]]:
    """The texts about the project: CLAUDE.md, and the sections of project.md that matter for a plan."""
    found = [("CLAUDE.md", _text(root, "CLAUDE.md"))]
    name = next((name for name in PROJECT_FILES if (root / name).exists()), "")
    if name:
        plan = outline(split_lines(_text(root, name)))
        chosen = (plan.find(title) or plan.find(title, level=1) for title in SECTIONS)
        parts = [plan.text(part.line, part.end) for part in chosen if part]
        found.append((name, "\n\n".join(parts)))
    return [(name, text) for name, text in found if text.strip()]


def _documents(project: Project, folder: Path) -> list[tuple[str, str]]:
    """The plan: the proposal without its reviews, every spec, the tasks."""
    texts = {"proposal.md": _without_reviews(_text(folder, "proposal.md"))}
    texts |= {page.name: _said(page) for page in reading.markdown(str(folder), "specs")}
    texts["tasks.md"] = _text(folder, "tasks.md")
    return [(f"{project.relative(folder)}/{name}", text) for name, text in texts.items()]


def _without_reviews(text: str) -> str:
    spans = take_apart(text, Rules()).blocks.spans
    gone = {number for start, end in spans for number in range(start, end + 1)}
    return "\n".join(line for number, line in enumerate(split_lines(text), 1) if number not in gone)


def _tree(root: Path, cwd: Path) -> str:
    """The names of folders and files: at the top, in the source, the specs and the changes."""
    homes = [(cwd, ".", 1), (cwd, "src", DEPTH), (root, snapshot.LIBRARY, DEPTH), (root, ACTIVE, DEPTH)]
    parts = [
        [f"{name}/", *_names(home / name, depth, "  ")]
        for home, name, depth in homes
        if (home / name).is_dir() and not (home / name).is_symlink()
    ]
    cut: dict[int, list[str]] = {}
    room = MOST_LINES
    for number in sorted(range(len(parts)), key=lambda number: len(parts[number])):
        cut[number] = _cut(parts[number], room // (len(parts) - len(cut)))
        room -= len(cut[number])
    return "\n".join(line for number in range(len(parts)) for line in cut[number])


def _cut(lines: list[str], most: int) -> list[str]:
    more = len(lines) - most + 1
    return lines if len(lines) <= most else [*lines[: most - 1], f"  … and {more} more"]


def _names(folder: Path, depth: int, pad: str) -> Iterator[str]:
    try:
        with os.scandir(folder) as found:
            entries = sorted(found, key=lambda entry: entry.name)
    except OSError:
        return
    for entry in entries:
        inner = entry.is_dir(follow_symlinks=False)
        if entry.name.startswith(".") or (inner and (entry.name in MADE or entry.name.endswith(".egg-info"))):
            continue
        yield f"{pad}{printable(entry.name)}{'/' if inner else ''}"
        if inner and depth > 1:
            yield from _names(Path(entry.path), depth - 1, pad + "  ")
