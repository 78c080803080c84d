"""Edits of a proposal that leave the rest of its text as it is, byte for byte."""

from collections.abc import Sequence
from typing import Any

from agentd.errors import Corrupt
from agentd.families.change.documents.proposal import review_blocks
from agentd.families.change.documents.proposal.page import SECTIONS, Page, take_apart
from agentd.families.change.documents.proposal.proposal_reader import RULES, bound, look, read
from agentd.families.change.documents.proposal.proposal_writer import (
    head,
    head_impact,
    head_spec,
    head_summary,
    refuse,
    sections,
)
from agentd.model.change import AffectedSpec, Proposal, Review
from agentd.text import frontmatter, spacing


def append_review(text: str, review: Review) -> str:
    """The text with a review added at the end, or in place of a resolved one of the same iteration."""
    return review_blocks.append(text, _sound(text).blocks, review)


def with_reviews(text: str, reviews: Sequence[Review]) -> str:
    """The text with exactly these reviews at its end; ValueError if one contradicts itself."""
    newline = spacing.line_end(text)
    pieces = spacing.split_ends(text)
    for start, end in reversed(take_apart(text, RULES).blocks.spans):
        del pieces[start - 1 : end]
    written = [review_blocks.write(review).replace("\n", newline) for review in reviews]
    return (newline * 2).join(["".join(pieces).rstrip(), *written]) + newline


def replace_body(text: str, proposal: Proposal) -> str:
    """The text with the content of a new proposal; reviews, other sections and other keys stay as they are."""
    refuse(proposal)
    page = _sound(text, head=True)
    newline = spacing.line_end(text)
    old, _ = read(text)
    before, after = sections(old) if old else {}, sections(proposal)
    edits = []
    for name, title in SECTIONS.items():
        written = after[name].replace("\n", newline)
        heading = page.headings.get(name)
        if heading is None:
            edits.append((page.closing - 1, page.closing - 1, f"## {title}{newline * 2}{written}{newline * 2}"))
        elif before.get(name) != after[name]:
            gap = newline if page.ends[name] < page.last else ""
            edits.append((heading.line, page.ends[name], newline + written + newline + gap))
    pieces = spacing.split_ends(text)
    if pieces and edits and not pieces[-1].endswith(("\r", "\n")):
        pieces[-1] += newline
    for start, end, new in sorted(edits, key=lambda edit: edit[0], reverse=True):
        pieces[start:end] = [new]
    kept = page.front.data.get("created_at")
    changed = frontmatter.update("".join(pieces), head(proposal) | ({"created_at": kept} if kept else {}))
    return frontmatter.update(changed, {"checksum": frontmatter.checksum(bound(look(changed)))})


def tidy(text: str) -> str:
    """The text with white space, levels of headings and repeated keys corrected; its content stays as it is."""
    page = take_apart(text, RULES)
    off = {heading.line for heading in page.headings.values() if heading.level != 2}
    headings = {part.line for part in page.view.sections if part.level <= 2} | off
    apart = page.view.fenced.union(*(range(start, end + 1) for start, end in page.blocks.spans))
    return _up_to_date(spacing.spaced(text, page.front.first, apart, headings, off))


def _up_to_date(text: str) -> str:
    """The text with the keys of the front matter that repeat the body updated."""
    reading = look(text)
    page, data = reading.page, reading.page.front.data
    new: dict[str, Any] = {}
    if "summary" in data and page.text("summary"):
        new["summary"] = head_summary(page.text("summary"))
    if isinstance(data.get("impact"), dict) and reading.impact.value:
        new["impact"] = data["impact"] | head_impact(reading.impact.value)
    if any(finding.rule == "different_affected_specs" for finding in reading.findings):
        listed = data["affected_specs"] if isinstance(data["affected_specs"], list) else []
        known = {each["id"]: each for each in listed if isinstance(each, dict) and isinstance(each.get("id"), str)}
        new["affected_specs"] = [_head_entry(known.get(spec.id), spec) for spec in reading.impact.specs]
    if "checksum" in data:
        new["checksum"] = frontmatter.checksum(bound(reading))
    if all(data[key] == value for key, value in new.items()):
        return text
    try:
        return frontmatter.update(text, new)
    except Corrupt:  # a value with an anchor cannot be edited in place
        return text


def _head_entry(old: dict[str, Any] | None, spec: AffectedSpec) -> dict[str, Any]:
    """The entry of a spec in the front matter, corrected if it is wrong about whether the spec is removed."""
    if old and (old.get("removed") is True) == spec.removed:
        return old
    return {key: value for key, value in (old or {}).items() if key != "removed"} | head_spec(spec)


def _sound(text: str, head: bool = False) -> Page:
    """The parts; Corrupt if review blocks cannot be told from the text, or with `head` if the front matter is invalid."""
    page = take_apart(text, RULES)
    found = [finding for finding in page.front.findings if head and finding.rule == "invalid_frontmatter"]
    problems = [(finding.line, finding.message, finding.fix) for finding in (*found, *page.blocks.findings)]
    if page.view.unclosed:
        what = "the code fence or comment that begins here is never closed and would hide a review"
        problems.append((page.view.unclosed, what, "Close it."))
    if problems:
        line, what, fix = min(problems)
        raise Corrupt(f"proposal.md:{line}: {what}.", fix)
    return page
