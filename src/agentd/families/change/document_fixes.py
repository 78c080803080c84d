"""What can be put right in documents without a person: form always, missing headings and scenarios as places to fill in."""

from collections.abc import Iterable
from pathlib import Path

from agentd.families.change.document_checks import MODULES, document
from agentd.library import snapshot, spec
from agentd.library.exclusive import holding
from agentd.model.rules import Rules
from agentd.state import durable, lock, reading


def fix_change(root: str, home: str, rules: Rules) -> list[str]:
    """Every document of a change, under its lock; gives the files that were changed."""
    folder = f"{root}/{home}"
    with lock.acquire(Path(folder), "validate --fix"):
        names = [(name, "") for name in MODULES]
        return _fix(root, home, [*names, *reading.listing(folder, "specs")], rules)


def fix_library(root: str, rules: Rules) -> list[str]:
    """Every spec of the library, while nobody archives into it."""
    with holding(Path(root)):
        return _fix(root, snapshot.LIBRARY, reading.listing(f"{root}/{snapshot.LIBRARY}"), rules)


def _fix(root: str, home: str, names: Iterable[tuple[str, str]], rules: Rules) -> list[str]:
    fixed = []
    for name, problem in names:
        page = None if problem else reading.page(f"{root}/{home}", name)
        if page is None or page.problem:
            continue
        module = document(name) or spec
        text = module.tidy(page.text)
        if module is spec:
            text = spec.fill(text, rules)
        if text != page.text:
            durable.replace(Path(root, home, name), text.encode(), "document")
            fixed.append(f"{home}/{page.name}")
    return fixed
