"""A proposal split into front matter, sections and review blocks, with their lines. Nothing is checked here."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence

from agentd.families.change.documents.proposal import review_blocks
from agentd.families.change.documents.proposal.impact import OWN
from agentd.families.change.documents.proposal.review_blocks import Blocks
from agentd.model.rules import Rules
from agentd.text import frontmatter, quoting
from agentd.text.frontmatter import Front
from agentd.text.outline import Outline, Section, outline
from agentd.values import dataclass

SECTIONS = {"summary": "Summary", "why": "Why", "what changes": "What Changes", "impact": "Impact"}
_TAGS = ("<proposal>", "</proposal>")


@dataclass(frozen=True)
class Page:
    """The parts of a proposal.

    view      the outline of the body, with review blocks emptied
    ends      the last line of each known section
    headings  the heading of each known section, by its title in lower case
    doubled   further headings of the same sections
    closing   the line of </proposal>, or of the first review block, or after the last line
    """

    front: Front
    blocks: Blocks
    view: Outline
    headings: Mapping[str, Section]
    ends: Mapping[str, int]
    doubled: Sequence[Section]
    closing: int

    @property
    def last(self) -> int:
        """The number of the last line."""
        lines = self.front.lines
        return max(self.front.first + len(lines) - (2 if lines and not lines[-1] else 1), 1)

    def lines(self, name: str) -> list[str]:
        """The lines of a section, without trailing white space outside of code."""
        start, fenced = self.headings[name].line + 1, self.view.fenced
        lines = self.view.lines[start - self.view.first : self.ends[name] - self.view.first + 1]
        return [line if number in fenced else line.rstrip(" \t") for number, line in enumerate(lines, start)]

    def text(self, name: str) -> str:
        """The text of a section."""
        return quoting.unescape(self.lines(name), OWN) if name in self.headings else ""


def take_apart(text: str, rules: Rules) -> Page:
    """Split a proposal, whatever is missing or wrong in it."""
    front = frontmatter.read(text)
    lines = front.lines
    first = front.first
    found = review_blocks.scan(lines, first, rules) if "<review" in text or "</review" in text else Blocks()
    if found.spans:
        cut = list(lines)
        for start, end in found.spans:
            cut[start - first : end - first + 1] = [""] * (end - start + 1)
        lines = tuple(cut)
    view = outline(lines, first)
    headings, doubled = _choose(view)
    tags = [
        number
        for number, line in enumerate(lines, first)
        if line[:1] == "<" and line.rstrip(" \t") in _TAGS and number not in view.fenced
    ]
    starts = [start for start, _ in found.spans]
    stops = [part.line for part in view.sections if part.level <= 2] + [part.line for part in headings.values()]
    after = first + len(lines)
    limits = sorted({*stops, *tags, *starts, after})
    ends = {name: limits[bisect_right(limits, heading.line)] - 1 for name, heading in headings.items()}
    closing = next((tag for tag in tags if lines[tag - first][1] == "/"), min(starts, default=after))
    return Page(front, found, view, headings, ends, doubled, closing)


def _choose(view: Outline) -> tuple[dict[str, Section], list[Section]]:
    """For each known title its heading, preferably at level 2; and the other headings of that title at level 2."""
    named: dict[str, list[Section]] = {}
    for part in view.sections:
        name = part.title.rstrip(":： \t").casefold()
        if name in SECTIONS and part.level <= 3:
            named.setdefault(name, []).append(part)
    chosen = {name: min(parts, key=lambda part: part.level != 2) for name, parts in named.items()}
    doubled = [part for name, parts in named.items() for part in parts if part.level == 2 and part is not chosen[name]]
    return chosen, doubled
