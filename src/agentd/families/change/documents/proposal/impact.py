"""The Impact section of a proposal and the keys of the front matter that repeat it; the section wins."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any, cast

from agentd.families.change.documents.proposal.name_lists import is_spec, names, noted, span
from agentd.model.change import SCOPES, AffectedSpec, Impact, Scope
from agentd.patterns import regex
from agentd.text import bullets, quoting
from agentd.text.bullets import Item
from agentd.text.outline import Outline
from agentd.values import dataclass

OWN = quoting.structure(r"\#{1,2}(?=[ \t]|$)|</?(?:proposal|review)\b")
_LABELS = {
    "scope": "Scope",
    "affected files": "Affected Files",
    "new files": "New Files",
    "affected specs": "Affected specs",
    "affected code": "Affected code",
    "breaking changes": "Breaking Changes",
}
_SPELLINGS = {**{name: name for name in _LABELS}, **{name.removesuffix("s"): name for name in _LABELS}}
_NOTHING = ("", "-", "none", "n/a", "no", "nothing")
_NUMBER = regex(r"(\d{1,9})(?:\s*\(.*\)|\s+files?)?")
_DRESS = " \t*_`.。"
_REMOVED = regex(r"[ \t*_]*[(（][ \t*_]*removed[ \t*_]*[)）]", re.IGNORECASE)

Report = Callable[[str, str, int | str, str], None]
"""Takes rule, message, line (or key of the front matter) and fix."""


@dataclass(frozen=True)
class Read:
    """The impact as far as it can be understood; missing or wrong values are None."""

    scope: Scope | None
    affected_files: int | None
    new_files: int | None
    specs: tuple[AffectedSpec, ...]
    code: tuple[str, ...]
    breaking: str | None

    @property
    def value(self) -> Impact | None:
        if self.scope is None or self.affected_files is None or self.new_files is None:
            return None
        return Impact(self.scope, self.affected_files, self.new_files, self.specs, self.code, self.breaking)


def write(impact: Impact) -> str:
    """The bullets of the section."""
    specs = ", ".join(f"`{spec.id}` (removed)" if spec.removed else f"`{spec.id}`" for spec in impact.affected_specs)
    values = [impact.scope, str(impact.affected_files), str(impact.new_files), specs or "none"]
    code = ", ".join(map(span, impact.affected_code))
    lines = [
        f"- **{label}**: {value}" for label, value in zip(_LABELS.values(), [*values, code or "none"], strict=False)
    ]
    breaking = impact.breaking_changes or ""
    lines.append(bullets.write("- **Breaking Changes**:", "none" if is_nothing(breaking) else breaking, OWN))
    return "\n".join(lines)


def problem(impact: Impact) -> str:
    """Why an impact cannot be written, or nothing."""
    ids = [spec.id for spec in impact.affected_specs]
    odd = [name for spec in impact.affected_specs for name in (spec.id, *spec.depends) if not is_spec(name)]
    if impact.scope not in SCOPES:
        return f"impact.scope '{impact.scope}' is not one of {', '.join(SCOPES)}"
    if impact.affected_files < 1 or impact.new_files < 0 or max(impact.affected_files, impact.new_files) >= 10**9:
        return "impact.affected_files is a number from 1, impact.new_files from 0"
    if odd:
        return f"'{odd[0]}' in impact.affected_specs is no name of a spec: lower-case letters, digits and hyphens"
    if len(set(ids)) < len(ids):
        return f"impact.affected_specs names {next(name for name in ids if ids.count(name) > 1)} twice"
    if any(not code.strip() or re.search(r"[\r\n]", code) for code in impact.affected_code):
        return "each of impact.affected_code is one line and not empty"
    return ""


def read(items: Iterable[Item], head: Mapping[str, Any], report: Report) -> Read:
    """The impact of labelled items and front matter."""
    found: dict[str, Item] = {}
    for item in items:
        name = _SPELLINGS[item.label]
        if name in found:
            report("invalid_value", f"'{_LABELS[name]}' stands twice", item.line, "Keep one of the two lines.")
        found.setdefault(name, item)
    raw = head.get("impact")
    old = raw if isinstance(raw, dict) else {}
    if raw is not None and old is not raw:
        report("invalid_frontmatter", "impact is not a mapping", "impact", "Write scope: minor below it.")
    breaking = bullets.read(found["breaking changes"], OWN) if "breaking changes" in found else ""
    return Read(
        _scope(found.get("scope"), old.get("scope"), report),
        _number(found.get("affected files"), old.get("affected_files"), 1, "Affected Files", report),
        _number(found.get("new files"), old.get("new_files"), 0, "New Files", report),
        _specs(found.get("affected specs"), head.get("affected_specs"), report),
        names(found["affected code"].lines) if "affected code" in found else (),
        None if is_nothing(breaking) else breaking,
    )


def labelled(outline: Outline, start: int, end: int) -> list[Item]:
    """The labelled lines of the section."""
    return bullets.fields(outline, start, end, _SPELLINGS)


def is_nothing(text: str) -> bool:
    """Whether a text means that there is none."""
    return text.strip(_DRESS + "\n").casefold() in _NOTHING


def _scope(item: Item | None, old: Any, report: Report) -> Scope | None:
    said = " ".join(item.lines).strip(_DRESS).casefold() if item else old
    if said in SCOPES:
        return cast(Scope, said)
    what = f"the scope '{said}' is not one of {', '.join(SCOPES)}" if said else "the impact has no scope"
    report("invalid_value", what, item.line if item else "impact", "Write `- **Scope**: minor` (or patch, or major).")
    return None


def _number(item: Item | None, old: Any, least: int, label: str, report: Report) -> int | None:
    if item:
        found = _NUMBER.fullmatch(" ".join(item.lines).strip(_DRESS))
        value: Any = int(found[1]) if found else None
    else:
        value = old if type(old) is int or old is None else -1
        if value is None and not least:
            return 0
    if value is not None and value >= least:
        return cast(int, value)
    said = " ".join(item.lines).strip() if item else old
    what = f"'{label}' is missing" if said is None else f"'{label}' is '{said}', not a number from {least}"
    report("invalid_value", what, item.line if item else "impact", f"Write `- **{label}**: {least}`.")
    return None


def _specs(item: Item | None, old: Any, report: Report) -> tuple[AffectedSpec, ...]:
    kept = _head_specs(old, report)
    if item is None:
        return tuple(kept.values())
    gone: dict[str, bool] = {}
    for name, removed in (_meant(*each) for each in noted(item.lines)):
        if is_spec(name):
            gone[name] = removed and gone.get(name, True)  # a spec that is also named without the mark stays
        else:
            what = f"'{name}' is no name of a spec"
            report("invalid_value", what, item.line, "Names are lower-case letters, digits and hyphens; or write none.")
    known = (kept.get(name) or AffectedSpec(name, (), removed) for name, removed in gone.items())
    specs = tuple(spec if spec.removed == gone[spec.id] else replace(spec, removed=gone[spec.id]) for spec in known)
    if old is not None and specs != tuple(kept.values()):
        what = f"the line says {_told(specs)}, the front matter {_told(kept.values())}; the line counts"
        report("different_affected_specs", what, item.line, "agentd validate --fix")
    return specs


def _meant(name: str, after: str) -> tuple[str, bool]:
    """The name of a spec, and whether it is marked `(removed)`; other remarks are ignored."""
    name = name.strip(_DRESS)
    mark = _REMOVED.search(name) if name.endswith((")", "）")) else None
    bare = name[: mark.start()] if mark and mark.end() == len(name) else name
    removed = bare is not name or (after != "" and _REMOVED.match(after) is not None)
    return bare.strip(_DRESS + "\"'").removeprefix("specs/").removesuffix(".md"), removed


def _told(specs: Iterable[AffectedSpec]) -> str:
    return ", ".join(f"{spec.id} (removed)" if spec.removed else spec.id for spec in specs) or "none"


def _head_specs(old: Any, report: Report) -> dict[str, AffectedSpec]:
    kept: dict[str, AffectedSpec] = {}
    for each in old if isinstance(old, list) else [] if old is None else [old]:
        entry = each if isinstance(each, dict) else {"id": each}
        name, depends, removed = entry.get("id"), entry.get("depends"), entry.get("removed")
        depends = [] if depends is None else depends if isinstance(depends, list) else [depends]
        if not isinstance(removed, bool | None):
            what = f"affected_specs has 'removed: {removed}', which is neither true nor false"
            report("invalid_frontmatter", what, "affected_specs", "Write `removed: true`, or take it out.")
        if all(isinstance(word, str) and is_spec(word) for word in (name, *depends)):
            kept[cast(str, name)] = AffectedSpec(cast(str, name), tuple(depends), removed is True)
        else:
            what, fix = f"affected_specs has an entry that names no spec: {each}", "Write `- id: name-of-the-spec`."
            report("invalid_frontmatter", what, "affected_specs", fix)
    return kept
