"""The documents of one folder, read once and checked against each other. Takes and gives plain values, so that many
folders can be examined by several processes at once; nothing is written."""

import os
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from types import ModuleType
from typing import Any, NamedTuple

from agentd import yamltext
from agentd.app import base
from agentd.app.shelf import Shelf
from agentd.checks import claims, coverage, references
from agentd.checks.claims import Claim
from agentd.documents import clarifications, proposal, spec, tasks
from agentd.documents.links import links
from agentd.errors import Corrupt
from agentd.model.change import Proposal, Spec, Tasks
from agentd.model.finding import Finding
from agentd.model.rules import Rules
from agentd.state import reading
from agentd.state.codecs import Malformed, State, codec, decode
from agentd.state.reading import Page
from agentd.state.store import Store

DOCUMENTS = ("clarifications.md", "proposal.md", "tasks.md", "CHALLENGE.md", "REVIEW.md")
STATE = codec("change")
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
    findings += _between(home, known, specs, pages, rules, shelf)
    findings += _disagreement(known, pages, rules)
    findings += _missing(home, state, known, specs, rules)
    findings += _broken_links(home, pages, rules, shelf)
    over = state is not None and state.run.phase in OVER
    mine = () if over else claims.claims({name: value for name, value in specs.items() if value}, known.get("tasks.md"))
    return Examined(
        home,
        _placed(home, findings, rules),
        tuple(f"{home}/{page.name}" for page in pages),
        tuple(f"{home}/{name}" for name in _stale(pages, state)),
        tuple(mine),
    )


def examine_specs(names: Iterable[tuple[str, str]], rules: Rules, shelf: Shelf) -> Examined:
    """These specs of the library."""
    folder = f"{shelf.root}/{base.LIBRARY}"
    pages = [
        page
        for name, problem in names
        for page in ([Page(reading.printable(name), problem=problem)] if problem else reading.pages(folder, [name]))
    ]
    findings = [finding for page in pages for finding in _read(page, rules, spec)[1]]
    findings += _broken_links(base.LIBRARY, pages, rules, shelf)
    return Examined(
        base.LIBRARY, _placed(base.LIBRARY, findings, rules), tuple(f"{base.LIBRARY}/{page.name}" for page in pages)
    )


def claims_of(home: str, rules: Rules, shelf: Shelf) -> tuple[Claim, ...]:
    """Only what a change claims."""
    folder = f"{shelf.root}/{home}"
    state, _ = _state(folder)
    if state is not None and state.run.phase in OVER:
        return ()
    specs = {_name(page): _read(page, rules)[0] for page in reading.markdown(folder, "specs")}
    page = reading.page(folder, "tasks.md")
    return tuple(claims.claims({n: v for n, v in specs.items() if v}, _read(page, rules)[0] if page else None))


def document(name: str) -> ModuleType | None:
    """The module that reads a document; most changes have no review yet, so its readers are imported when one has."""
    if name.startswith("specs/"):
        return spec
    if name in ("CHALLENGE.md", "REVIEW.md"):
        from agentd.documents import challenge, review

        return challenge if name == "CHALLENGE.md" else review
    return {"clarifications.md": clarifications, "proposal.md": proposal, "tasks.md": tasks}.get(name)


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


def _between(
    home: str, known: Mapping[str, Any], specs: Mapping[str, Spec | None], pages: list[Page], rules: Rules, shelf: Shelf
) -> Iterator[Finding]:
    """What the documents of a change say about each other, as far as they were understood."""
    plan: Proposal | None = known.get("proposal.md")
    work: Tasks | None = known.get("tasks.md")
    understood = {name: value for name, value in specs.items() if value}

    def requirements(name: str) -> Collection[str] | None:
        found = specs[name] if name in specs else shelf.spec(name)
        if found is None:
            return Anything() if name in specs else None
        return {entry.id for entry in found.requirements}

    def line_of(word: str) -> int:
        text = next(page.text for page in pages if page.name == "proposal.md")
        return _line_of(text, word)

    if plan:
        yield from references.every_affected_spec_is_there(
            plan, specs, lambda n: shelf.spec(n) is not None, line_of, rules
        )
        if work or "tasks.md" not in known:
            yield from references.every_spec_is_named(plan, work, specs, rules)
    if work:
        yield from references.every_spec_ref_leads_to_a_requirement(work, requirements, specs, rules)
        yield from coverage.every_requirement_has_a_task(
            understood, work, rules, lambda name: shelf.changed(home, name, understood[name])
        )


def _disagreement(known: Mapping[str, Any], pages: list[Page], rules: Rules) -> Iterator[Finding]:
    """A verdict in CHALLENGE.md that is not that of the latest review in the proposal."""
    plan: Proposal | None = known.get("proposal.md")
    told = known.get("CHALLENGE.md")
    if plan is None or not plan.reviews or told is None or told.verdict is None:
        return
    from agentd.documents import challenge
    from agentd.model.verdict import verdict_of

    latest = plan.reviews[-1]
    decided = verdict_of(latest.status)
    if decided and decided != told.verdict:
        line = challenge.verdict_line(next(page.text for page in pages if page.name == "CHALLENGE.md"))
        what = (
            f"CHALLENGE.md line {line} says {told.verdict}, the latest review, proposal.md line {latest.line}, "
            f"says {decided}"
        )
        fix = "make the two agree: the review in proposal.md is what counts, and CHALLENGE.md is made from it"
        yield Finding("invalid_review", what, line, rules.severity("invalid_review"), fix, "CHALLENGE.md")


class Anything(frozenset[str]):
    """The requirements of a spec that could not be understood: any of them may be there."""

    def __contains__(self, _: object) -> bool:
        return True


def _missing(
    home: str, state: State | None, known: Mapping[str, Any], specs: Mapping[str, Any], rules: Rules
) -> Iterator[Finding]:
    """The documents that a planned change must have."""
    if state is None or state.run.phase not in PLANNED:
        return
    plan: Proposal | None = known.get("proposal.md")
    unneeded = plan is not None and not plan.impact.affected_specs
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
    """The documents of a change that are there."""
    there = set(os.listdir(folder))
    pages = [*reading.pages(folder, [name for name in (*DOCUMENTS, *NOTES) if name in there])]
    return [*pages, *reading.markdown(folder, "specs")] if "specs" in there else pages


def _state(folder: str) -> tuple[State | None, list[Finding]]:
    """The state of a change as far as there is one; one that cannot be believed is a finding."""
    page = reading.page(folder, STATE.file)
    if page is None:
        return None, []
    if page.problem:
        return None, [Finding("unreadable_file", page.problem, page.line, "High", "", STATE.file)]
    try:
        return decode(STATE, yamltext.load(page.text)), []
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


def _line_of(text: str, word: str) -> int:
    """The line on which a proposal names an affected spec: in its body, if it does so there."""
    place = re.compile(rf"(?<![\w-]){re.escape(word)}(?![\w-])")
    start = max(text.lower().find("affected spec"), 0)
    found = place.search(text, start) or place.search(text)
    return text.count("\n", 0, found.start()) + 1 if found else 1


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
