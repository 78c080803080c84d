"""The documents of one folder, read once and checked against each other. Nothing is written."""

import os
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from agentd.errors import Corrupt
from agentd.families.change import LAYOUT, consistency
from agentd.families.change.documents import clarifications, proposal, tasks
from agentd.library import claims, references, snapshot, spec
from agentd.library.claims import Claim
from agentd.library.shelf import Shelf
from agentd.model.change import Proposal
from agentd.model.finding import Finding
from agentd.model.rules import Rules
from agentd.review import challenge_page, review_page
from agentd.state import reading
from agentd.state.codecs import Malformed, State, decode
from agentd.state.reading import Page
from agentd.state.store import Store
from agentd.text import lossless_yaml
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


_Known = tuple[Page, Any, list[Finding]]


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
    """Several changes; documents of one kind are read one after the other, which a processor does a fifth quicker."""
    states = [_state(f"{shelf.root}/{home}") for home in homes]
    pages = [_pages(f"{shelf.root}/{home}") for home in homes]
    read: list[list[_Known]] = [[] for _ in homes]
    every = [(page.name.partition("/")[0], number, page) for number, found in enumerate(pages) for page in found]
    for _, number, page in sorted(every, key=lambda entry: entry[0]):
        read[number].append((page, *_read(page, rules)))
    return [
        _examined(home, found, known, *state, rules, shelf)
        for home, found, known, state in zip(homes, pages, read, states, strict=True)
    ]


def _examined(
    home: str,
    pages: list[Page],
    read: list[_Known],
    state: State | None,
    trouble: list[Finding],
    rules: Rules,
    shelf: Shelf,
) -> Examined:
    known = {page.name: value for page, value, _ in read}
    specs = {_name(page): value for page, value, _ in read if page.name.startswith("specs/")}
    findings = [finding for _, _, found in read for finding in found] + trouble
    gone = consistency.removals(known, pages)
    findings += consistency.between(home, known, specs, pages, gone, rules, shelf)
    findings += consistency.disagreement(known, pages, rules)
    findings += _missing(home, state, known, specs, rules)
    findings += _broken_links(home, pages, rules, shelf)
    over = state is not None and state.run.phase in OVER
    understood = {name: value for name, value in specs.items() if value}
    mine = () if over else claims.claims(understood, known.get("tasks.md"), gone.items())
    return Examined(
        home,
        _placed(home, findings, rules),
        tuple(f"{home}/{page.name}" for page in pages),
        tuple(f"{home}/{name}" for name in _stale(pages, state)),
        tuple(mine),
    )


def examine_specs(names: Iterable[tuple[str, str]], rules: Rules, shelf: Shelf) -> Examined:
    """These specs of the library."""
    folder = f"{shelf.root}/{snapshot.LIBRARY}"
    pages = [
        page
        for name, problem in names
        for page in ([Page(reading.printable(name), problem=problem)] if problem else reading.pages(folder, [name]))
    ]
    findings = [finding for page in pages for finding in _read(page, rules, spec)[1]]
    findings += _broken_links(snapshot.LIBRARY, pages, rules, shelf)
    return Examined(
        snapshot.LIBRARY,
        _placed(snapshot.LIBRARY, findings, rules),
        tuple(f"{snapshot.LIBRARY}/{page.name}" for page in pages),
    )


def claims_of(home: str, rules: Rules, shelf: Shelf) -> tuple[Claim, ...]:
    """Only what a change claims."""
    folder = f"{shelf.root}/{home}"
    state, _ = _state(folder)
    if state is not None and state.run.phase in OVER:
        return ()
    specs = {_name(page): _read(page, rules)[0] for page in reading.markdown(folder, "specs")}
    known = {page.name: page for page in reading.pages(folder, ("tasks.md", "proposal.md"))}
    work = _read(known["tasks.md"], rules)[0] if "tasks.md" in known else None
    plan = known.get("proposal.md", Page(""))
    removed = [(name, consistency.line_in(plan.text, name)) for name in proposal.removed_specs(plan.text)]
    return tuple(claims.claims({n: v for n, v in specs.items() if v}, work, removed))


def document(name: str) -> ModuleType | None:
    """The module that reads and tidies a document of a change; None for other files."""
    return spec if name.startswith("specs/") else MODULES.get(name)


def _read(page: Page, rules: Rules, module: ModuleType | None = None) -> tuple[Any, list[Finding]]:
    module = module or document(page.name)
    if page.problem:
        return None, [_finding("unreadable_file", page.problem, page.line, page.name, rules)]
    if module is None:
        return None, []
    value, found = module.read(page.text, rules)
    if page.name == "CHALLENGE.md" and page.text == module.skeleton(value.change_id):
        return value, []  # nobody has said anything yet
    return value, [_moved(finding, page.name) for finding in found]


def _missing(
    home: str, state: State | None, known: Mapping[str, Any], specs: Mapping[str, Any], rules: Rules
) -> Iterator[Finding]:
    """The documents that a planned change must have."""
    if state is None or state.run.phase not in PLANNED:
        return
    plan: Proposal | None = known.get("proposal.md")
    unneeded = plan is not None and all(one.removed for one in plan.impact.affected_specs)
    there = {
        "proposal.md": "proposal.md" in known,
        "tasks.md": "tasks.md" in known,
        "specs/": bool(specs) or unneeded,
    }
    for name, found in there.items():
        if not found and name not in state.run.waived:
            what = f"the change is {state.run.phase}, and {name} is missing"
            fix = f"git checkout {home}/{name}   # or set 'phase: proposed' in STATE.yaml, then: agentd plan {state.run.name}"
            yield Finding("missing_document", what, 1, rules.severity("missing_document"), fix, name)


def _broken_links(home: str, pages: Iterable[Page], rules: Rules, shelf: Shelf) -> Iterator[Finding]:
    def problem(file: str, target: str) -> str:
        return shelf.problem_with(f"{home}/{file}", target)

    for page in pages:
        yield from references.every_link_leads_somewhere(page.name, links(page.text), problem, rules)


def _stale(pages: Iterable[Page], state: State | None) -> Iterator[str]:
    """The documents that changed since their checksum was kept; one that has none counts as changed."""
    kept = state.fields.get("checksums") if state else None
    for page in pages:
        if page.name not in UNTRACKED:
            entry = kept.get(page.name) if isinstance(kept, Mapping) else None
            known = entry.get("hash") if isinstance(entry, Mapping) else entry
            if known is None or known != "sha256:" + sha256(page.data).hexdigest():
                yield page.name


def _pages(folder: str) -> list[Page]:
    """The documents of a change that are there; none where it was moved meanwhile."""
    try:
        there = set(os.listdir(folder))
    except FileNotFoundError:
        return []
    pages = [*reading.pages(folder, [name for name in (*MODULES, *NOTES) if name in there])]
    return [*pages, *reading.markdown(folder, "specs")] if "specs" in there else pages


def _state(folder: str) -> tuple[State | None, list[Finding]]:
    """The state of a change as far as there is one; one that cannot be believed is a finding."""
    page = reading.page(folder, STATE.file)
    if page is None:
        return None, []
    if page.problem:
        return None, [Finding("unreadable_file", page.problem, page.line, "High", "", STATE.file)]
    try:
        return decode(STATE, lossless_yaml.load(page.text)), []
    except (Corrupt, Malformed):
        return _careful_state(folder)


def _careful_state(folder: str) -> tuple[State | None, list[Finding]]:
    try:
        return Store(Path(folder), STATE).load(), []
    except Corrupt as error:
        found = re.search(r"STATE\.yaml(?::(\d+))?(?::\d+)?: (.*)", error.message, re.DOTALL)
        line, what = (int(found[1] or 1), found[2].rstrip(".")) if found else (1, error.message)
        return None, [Finding("unreadable_file", what, line, "High", error.fix, STATE.file)]


def _name(page: Page) -> str:
    return page.name.removeprefix("specs/").removesuffix(".md")


def _finding(rule: str, message: str, line: int, file: str, rules: Rules) -> Finding:
    return Finding(rule, message, line, rules.severity(rule), f"ls -l {file}   # save it as UTF-8 text", file)


def _moved(finding: Finding, file: str) -> Finding:
    return Finding(finding.rule, finding.message, finding.line, finding.severity, finding.fix, file)


def _placed(home: str, findings: Iterable[Finding], rules: Rules) -> tuple[Finding, ...]:
    """Findings as a person gets them: with the path of their file, the severity the person chose, and a way out."""
    placed = []
    for found in findings:
        file = f"{home}/{found.file}"
        severity = rules.severity_map.get(found.rule) or found.severity
        message, fix = reading.printable(found.message), reading.printable(found.fix) or f"edit {file}"
        placed.append(Finding(found.rule, message, found.line, severity, fix, file))
    return tuple(placed)
