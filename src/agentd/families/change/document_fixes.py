"""What can be fixed in documents without a person: white space and counts, placeholders for missing sections and scenarios."""

from collections.abc import Iterable
from pathlib import Path

from agentd.families.change.document_checks import MODULES, document
from agentd.library import snapshot, spec
from agentd.library.exclusive import holding
from agentd.model.rules import Rules
from agentd.state import durable, lock, reading


def fix_change(root: str, home: str, rules: Rules) -> list[str]:
    """Fix every document of a change, under its lock; gives the files that were changed."""
    with lock.acquire(Path(root, home), "validate --fix"):
        return [f"{home}/{name}" for name in tidy(Path(root, home), [*MODULES], rules)]


def fix_library(root: str, rules: Rules) -> list[str]:
    """Fix every spec of the library, while no archive writes to it; gives the files that were changed."""
    library = Path(root, snapshot.LIBRARY)
    with holding(Path(root)):
        return [f"{snapshot.LIBRARY}/{name}" for name in _tidy(library, reading.listing(str(library)), rules)]


def tidy(folder: Path, names: Iterable[str], rules: Rules | None = None) -> list[str]:
    """Tidy these documents of a change and all its specs; with rules, fill in what the specs lack. Gives what changed."""
    return _tidy(folder, [*((name, "") for name in names), *reading.listing(str(folder), "specs")], rules)


def _tidy(folder: Path, names: Iterable[tuple[str, str]], rules: Rules | None) -> list[str]:
    fixed = []
    for name, problem in names:
        page = None if problem else reading.page(str(folder), name)
        if page is None or page.problem:
            continue
        module = document(name) or spec
        text = module.tidy(page.text)
        if module is spec and rules is not None:
            text = spec.fill(text, rules)
        if text != page.text:
            durable.replace(folder / name, text.encode(), "document")
            fixed.append(page.name)
    return fixed
