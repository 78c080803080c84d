"""The documents of one folder, read once and checked against each other. Nothing is written."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from agentd.errors import Corrupt
from agentd.families.change import LAYOUT, consistency
from agentd.families.change.consistency import Documents
from agentd.families.change.documents import clarifications, proposal, tasks
from agentd.library import claims, references, snapshot, spec
from agentd.library.claims import Claim
from agentd.library.shelf import Shelf
from agentd.model.finding import Finding
from agentd.model.rules import Rules
from agentd.review import challenge_page, review_page
from agentd.state import reading
from agentd.state.codecs import State
from agentd.state.reading import Page
from agentd.state.store import Store
from agentd.text.links import links

MODULES: Mapping[str, ModuleType] = {
    "clarifications.md": clarifications,
    "proposal.md": proposal,
    "tasks.md": tasks,
    "CHALLENGE.md": challenge_page,
    "REVIEW.md": review_page,
}
STATE = LAYOUT.codec
NOTES = ("IMPLEMENTATION.md", "VERIFICATION.md")
UNTRACKED = ("clarifications.md", "REVIEW.md")
PLANNED = ("challenged", "implementing", "complete", "archived")
OVER = ("rejected", "archived")


class Examined(NamedTuple):
    """What one folder came to; files are named from the root of the project."""

    home: str
    findings: tuple[Finding, ...] = ()
    files: tuple[str, ...] = ()
    stale: tuple[str, ...] = ()
    claims: tuple[Claim, ...] = ()


def examine_change(home: str, rules: Rules, shelf: Shelf) -> Examined:
    """Every document of a change, and what they say about each other. One that is broken hides none of the others."""
    return examine_changes([home], rules, shelf)[0]


def examine_changes(homes: Sequence[str], rules: Rules, shelf: Shelf) -> list[Examined]:
    """Several changes. Documents of one kind are read one after the other, which is a fifth faster."""
    pages = {home: _pages(f"{shelf.root}/{home}") for home in homes}
    every = [(page.name.partition("/")[0], home, page) for home in pages for page in pages[home]]
    values: dict[str, dict[str, Any]] = {home: {} for home in homes}
    findings: dict[str, list[Finding]] = {home: [] for home in homes}
    for _, home, page in sorted(every, key=lambda entry: entry[0]):
        values[home][page.name], found = _read(page, rules)
        findings[home] += found
    return [_examined(Documents(home, pages[home], values[home]), findings[home], rules, shelf) for home in homes]


def _examined(documents: Documents, findings: list[Finding], rules: Rules, shelf: Shelf) -> Examined:
    home, pages = documents.home, documents.pages
    state, trouble = _state(f"{shelf.root}/{home}")
    findings += trouble
    findings += consistency.check(documents, rules, shelf)
    findings += _missing(documents, state, rules)
    findings += _broken_links(home, pages, rules, shelf)
    return Examined(
        home,
        _placed(home, findings, rules),
        tuple(f"{home}/{page.name}" for page in pages),
        tuple(f"{home}/{name}" for name in _stale(pages, state)),
        _claims(documents, state),
    )


def examine_specs(listed: Iterable[tuple[str, str]], rules: Rules, shelf: Shelf) -> Examined:
    """Specs of the library, as they are listed."""
    pages = list(reading.listed_pages(f"{shelf.root}/{snapshot.LIBRARY}", listed))
    findings = [finding for page in pages for finding in _read(page, rules, spec)[1]]
    findings += _broken_links(snapshot.LIBRARY, pages, rules, shelf)
    files = tuple(f"{snapshot.LIBRARY}/{page.name}" for page in pages)
    return Examined(snapshot.LIBRARY, _placed(snapshot.LIBRARY, findings, rules), files)


def claims_of(home: str, rules: Rules, shelf: Shelf) -> tuple[Claim, ...]:
    """Only what a change claims."""
    folder = f"{shelf.root}/{home}"
    pages = _pages(folder, ("tasks.md", "proposal.md"))
    return _claims(Documents(home, pages, {page.name: _read(page, rules)[0] for page in pages}), _state(folder)[0])


def _claims(documents: Documents, state: State | None) -> tuple[Claim, ...]:
    if state is not None and state.run.phase in OVER:
        return ()
    understood = {name: value for name, value in documents.specs.items() if value}
    return tuple(claims.claims(understood, documents.tasks, documents.removed.items()))


def document(name: str) -> ModuleType | None:
    """The module that reads and tidies a document of a change; None for other files."""
    return spec if name.startswith("specs/") else MODULES.get(name)


def _read(page: Page, rules: Rules, module: ModuleType | None = None) -> tuple[Any, list[Finding]]:
    module = module or document(page.name)
    if page.problem:
        fix = f"ls -l {page.name}   # save it as UTF-8 text"
        severity = rules.severity("unreadable_file")
        return None, [Finding("unreadable_file", page.problem, page.line, severity, fix, page.name)]
    if module is None:
        return None, []
    value, found = module.read(page.text, rules)
    if page.name == "CHALLENGE.md" and page.text == module.skeleton(value.change_id):
        return value, []  # no challenger has written anything yet
    return value, [replace(finding, file=page.name) for finding in found]


def _missing(documents: Documents, state: State | None, rules: Rules) -> Iterator[Finding]:
    """The documents that a planned change must have and this one has not."""
    if state is None or state.run.phase not in PLANNED:
        return
    plan, known = documents.proposal, documents.known
    unneeded = plan is not None and all(one.removed for one in plan.impact.affected_specs)
    missing = [name for name in ("proposal.md", "tasks.md") if name not in known]
    missing += [] if documents.specs or unneeded else ["specs/"]
    for name in missing:
        if name not in state.run.waived:
            what = f"the change is {state.run.phase}, and {name} is missing"
            again = f"set 'phase: proposed' in STATE.yaml, then: agentd plan {state.run.name}"
            fix = f"git checkout {documents.home}/{name}   # or {again}"
            yield Finding("missing_document", what, 1, rules.severity("missing_document"), fix, name)


def _broken_links(home: str, pages: Iterable[Page], rules: Rules, shelf: Shelf) -> Iterator[Finding]:
    def problem(file: str, target: str) -> str:
        return shelf.problem_with(f"{home}/{file}", target)

    for page in pages:
        yield from references.every_link_leads_somewhere(page.name, links(page.text), problem, rules)


def _stale(pages: Iterable[Page], state: State | None) -> Iterator[str]:
    """The documents that changed since their checksum was recorded; one without a checksum counts as changed."""
    kept = state.fields.get("checksums") if state else None
    for page in pages:
        if page.name not in UNTRACKED:
            entry = kept.get(page.name) if isinstance(kept, Mapping) else None
            known = entry.get("hash") if isinstance(entry, Mapping) else entry
            if known is None or known != "sha256:" + sha256(page.data).hexdigest():
                yield page.name


def _pages(folder: str, names: Sequence[str] = (*MODULES, *NOTES)) -> list[Page]:
    """The documents of a change that are there, its specs included; none where it was moved meanwhile."""
    try:
        there = set(os.listdir(folder))
    except FileNotFoundError:
        return []
    pages = [*reading.pages(folder, [name for name in names if name in there])]
    return [*pages, *reading.markdown(folder, "specs")] if "specs" in there else pages


def _state(folder: str) -> tuple[State | None, list[Finding]]:
    """The state of a change, if it has one; a state that cannot be read is a finding."""
    store = Store(Path(folder), STATE)
    known = store.glance(reading.LARGEST)
    page = reading.page(folder, STATE.file) if known is None else None
    if page is None:
        return known, []
    if page.problem:
        return None, [Finding("unreadable_file", page.problem, page.line, "High", "", STATE.file)]
    try:
        return store.load(), []
    except Corrupt as error:
        found = re.search(r"STATE\.yaml(?::(\d+))?(?::\d+)?: (.*)", error.message, re.DOTALL)
        line, what = (int(found[1] or 1), found[2].rstrip(".")) if found else (1, error.message)
        return None, [Finding("unreadable_file", what, line, "High", error.fix, STATE.file)]


def _placed(home: str, findings: Iterable[Finding], rules: Rules) -> tuple[Finding, ...]:
    """Findings as people see them: with the path of the file, the configured severity, and a fix."""
    placed = []
    for found in findings:
        file = f"{home}/{found.file}"
        severity = rules.severity_map.get(found.rule) or found.severity
        message, fix = reading.printable(found.message), reading.printable(found.fix) or f"edit {file}"
        placed.append(Finding(found.rule, message, found.line, severity, fix, file))
    return tuple(placed)
