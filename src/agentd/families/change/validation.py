"""`agentd validate`: findings about the documents of changes and the spec library. Only `fix` writes."""

import os
from collections import Counter
from collections.abc import Iterator, Sequence
from functools import partial
from typing import Any

from agentd.errors import ChangeNotFound, Held
from agentd.families.change import ACTIVE, LAYOUT
from agentd.families.change.document_checks import Examined, claims_of, examine_change, examine_changes, examine_specs
from agentd.families.change.document_fixes import fix_change, fix_library
from agentd.library import snapshot
from agentd.library.claims import Stake, contested, no_requirement_is_claimed_twice
from agentd.library.shelf import Shelf
from agentd.model.finding import Finding
from agentd.model.rules import Rules
from agentd.model.severity import SEVERITIES
from agentd.runs.project import Project
from agentd.state import reading
from agentd.state.layout import NAME
from agentd.values import dataclass
from agentd.workers import share

MANY = 200  # changes and specs from which on a second process is worth its start
_AT_ONCE = 25  # changes, or specs, whose documents are in memory together
Part = tuple[Sequence[str], Sequence[tuple[str, str]]]  # folders of changes, specs of the library as they are listed


@dataclass(frozen=True)
class Validation:
    """The findings. `valid`: none is High; `strict`: there are none. `held` says which changes could not be fixed."""

    target: str
    findings: tuple[Finding, ...] = ()
    stale_files: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    held: tuple[str, ...] = ()

    @property
    def valid(self) -> bool:
        return all(finding.severity != "High" for finding in self.findings)

    @property
    def strict(self) -> bool:
        return not self.findings

    @property
    def counts(self) -> dict[str, int]:
        found = Counter(finding.severity for finding in self.findings)
        return {severity.lower(): found[severity] for severity in SEVERITIES}

    def to_data(self) -> dict[str, Any]:
        """As every face gives it to programs."""
        return {
            "target": self.target,
            "valid": self.valid,
            "strict": self.strict,
            "counts": self.counts,
            **{f"{severity}_count": count for severity, count in self.counts.items()},
            "errors": [
                f"{found.file}:{found.line}: {found.message}" for found in self.findings if found.severity == "High"
            ],
            "findings": [vars(finding) for finding in self.findings],
            "stale_files": list(self.stale_files),
            "fixed": list(self.fixed),
            "held": list(self.held),
        }


def validate_change(project: Project, name: str, fix: bool = False) -> Validation:
    """One change in any phase. `fix` first fixes what needs no person, under the lock of the run."""
    home = find_change(project, name)
    rules, shelf = project.config.rules(), Shelf(str(project.root))
    fixed = tuple(fix_change(shelf.root, home, rules)) if fix and home.startswith(ACTIVE) else ()
    mine = examine_change(home, rules, shelf)
    stakes = [_stake(mine), *_rivals(mine, rules, shelf)] if home.startswith(ACTIVE) else []
    return _validation(home.rpartition("/")[2], [mine], stakes, rules, shelf, fixed)


def validate_library(project: Project, fix: bool = False) -> Validation:
    """The specs in agentd/specs/."""
    rules, shelf = project.config.rules(), Shelf(str(project.root))
    fixed = tuple(fix_library(shelf.root, rules)) if fix else ()
    listed = reading.listing(f"{shelf.root}/{snapshot.LIBRARY}")
    return _validation("specs", [examine_specs(listed, rules, shelf)], [], rules, shelf, fixed)


def validate_all(project: Project, fix: bool = False, processes: int = 1) -> Validation:
    """Every active change and the library. More than one process are for a program that has a single thread."""
    rules, shelf = project.config.rules(), Shelf(str(project.root))
    homes = list(active_changes(shelf.root))
    fixed: list[str] = []
    held: list[str] = []
    if fix:
        fixed += fix_library(shelf.root, rules)
        for home in homes:
            try:
                fixed += fix_change(shelf.root, home, rules)
            except Held as error:
                held.append(error.message)
    listed = list(reading.listing(f"{shelf.root}/{snapshot.LIBRARY}"))
    parts: list[Part] = [(homes[at : at + _AT_ONCE], []) for at in range(0, len(homes), _AT_ONCE)]
    parts += [([], listed[at : at + _AT_ONCE]) for at in range(0, len(listed), _AT_ONCE)]
    several = processes if len(homes) + len(listed) >= MANY else 1
    shared = share(partial(_examine, rules=rules, shelf=shelf), parts, several)
    examined = [found for part in shared for found in part]
    stakes = [_stake(found) for found in examined if found.claims]
    return _validation("", examined, stakes, rules, shelf, tuple(fixed), tuple(held))


def find_change(project: Project, name: str) -> str:
    """The folder of a change, relative to the root; a folder with a state or a document is a change."""
    known = name.removeprefix("change/")
    if NAME.fullmatch(known):
        for home in LAYOUT.homes:
            if _is_change(f"{project.root}/{home}/{known}"):
                return f"{home}/{known}"
    raise ChangeNotFound(f"There is no change '{reading.printable(name)}' in {project.root}.", "agentd list")


def active_changes(root: str) -> Iterator[str]:
    """The folders of all changes that are not archived, relative to the root."""
    try:
        with os.scandir(f"{root}/{ACTIVE}") as found:
            names = sorted(entry.name for entry in found if entry.is_dir())
    except (FileNotFoundError, NotADirectoryError):
        return
    for name in names:
        if NAME.fullmatch(name) and _is_change(f"{root}/{ACTIVE}/{name}"):
            yield f"{ACTIVE}/{name}"


def _is_change(folder: str) -> bool:
    return any(os.path.lexists(f"{folder}/{name}") for name in ("STATE.yaml", "proposal.md", "specs", "tasks.md"))


def _examine(part: Part, rules: Rules, shelf: Shelf) -> list[Examined]:
    """What is wrong in these changes and specs; a change that was archived meanwhile is none of them any more."""
    homes, listed = part
    if listed:
        return [examine_specs(listed, rules, shelf)]
    return [one for one in examine_changes(homes, rules, shelf) if os.path.isdir(f"{shelf.root}/{one.home}")]


def _stake(found: Examined) -> Stake:
    return Stake(found.home.rpartition("/")[2], found.claims, found.home)


def _rivals(mine: Examined, rules: Rules, shelf: Shelf) -> Iterator[Stake]:
    """The claims of other active changes that name a spec which this one claims."""
    wanted = {claim.spec for claim in mine.claims}
    words = [name.encode() for name in wanted]
    for home in active_changes(shelf.root) if wanted else ():
        folder = f"{shelf.root}/{home}"
        if home == mine.home:
            continue
        pages = reading.pages(folder, ("tasks.md", "proposal.md"))  # a spec that it removes has no page
        named = any(word in page.data for page in pages for word in words)
        if named or any(os.path.lexists(f"{folder}/specs/{name}.md") for name in wanted):
            yield Stake(home.rpartition("/")[2], claims_of(home, rules, shelf))


def _validation(
    target: str,
    examined: Sequence[Examined],
    stakes: Sequence[Stake],
    rules: Rules,
    shelf: Shelf,
    fixed: tuple[str, ...] = (),
    held: tuple[str, ...] = (),
) -> Validation:
    claimants = contested(stakes, lambda change, name: shelf.changed(f"{ACTIVE}/{change}", name))
    findings = [finding for found in examined for finding in found.findings]
    for found in examined if claimants else ():
        findings += no_requirement_is_claimed_twice(_stake(found), claimants, rules)
    return Validation(
        target,
        tuple(sorted(findings, key=lambda finding: (finding.file, finding.line, finding.rule, finding.message))),
        tuple(name for found in examined for name in found.stale),
        tuple(name for found in examined for name in found.files),
        fixed,
        held,
    )
