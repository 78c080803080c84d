"""A proposal in the form that agentd writes, read by a few expressions; reviews below it may be in any form.

Gives up on anything else, so whatever it does give is what the careful reader would have given, without a finding.
"""

from typing import Any, cast

from agentd.families.change.documents.proposal import review_blocks
from agentd.families.change.documents.proposal.approved_text import approved_text
from agentd.families.change.documents.proposal.impact import is_nothing
from agentd.families.change.documents.proposal.name_lists import is_spec, names
from agentd.families.change.documents.proposal.review_blocks import Blocks
from agentd.model.change import AffectedSpec, Impact, Proposal, Scope
from agentd.model.rules import Rules
from agentd.patterns import regex
from agentd.review.verdict_words import stated
from agentd.text import frontmatter
from agentd.text.literal import LINE, SCALAR, TEXT, TIME, WORD, is_literal

_COUNT = r"(?:0|[1-9][0-9]{0,8})"
_SPEC = r"\n  - id: [a-z0-9-]++\n    path: [\w./-]++\n    depends:(?: \[\]|(?:\n      - [a-z0-9-]++)++)"
_TEXT = regex(
    rf'---\nid: (?!null\n|true\n|false\n)([a-z][a-z0-9-]*+)\ntype: proposal\nversion: "([\w.]*+)"\n'
    rf"(?:created_at: ({TIME})\n)?+(?:updated_at: ({TIME})\n)?+(?:author: ({WORD})\n)?+"
    rf"status: (proposed|challenged|approved|rejected)\niteration: ([1-9][0-9]{{0,8}})\nsummary: {SCALAR}\n"
    rf"impact:\n  scope: \w+\n  affected_files: {_COUNT}\n  new_files: {_COUNT}\n"
    rf"affected_specs:( \[\]|(?:{_SPEC})++)\nchecksum: (sha256:[0-9a-f]{{64}})\n---\n"
    rf"(\n<proposal>\n\n# Change: {LINE}\n\n## Summary\n\n({TEXT})\n\n## Why\n\n({TEXT})\n\n"
    rf"## What Changes\n\n((?:- {LINE}\n)++)\n## Impact\n\n- \*\*Scope\*\*: (patch|minor|major)\n"
    rf"- \*\*Affected Files\*\*: ([1-9][0-9]{{0,8}})\n- \*\*New Files\*\*: ({_COUNT})\n"
    r"- \*\*Affected specs\*\*: (none|`[a-z0-9-]++`(?:, `[a-z0-9-]++`)*+)\n"
    rf"- \*\*Affected code\*\*: ({LINE})\n- \*\*Breaking Changes\*\*: ({LINE})\n\n</proposal>\n)"
)
_ENTRY = regex(r"\n  - id: (.+)\n    path: .+\n    depends:( \[\]|(?:\n      - .+)+)")


def plain(text: str, rules: Rules) -> Proposal | None:
    """The proposal, if it is written in the plainest way and nothing is wrong with it."""
    found = _TEXT.match(text)
    if found is None or not is_literal(found[0]) or "\r" in text:
        return None
    name, version, created, updated, author, status, iteration, listed, checksum = found.groups()[:9]
    body, summary, why, changes, scope, affected, new, specs, code, breaking = found.groups()[9:]
    entries = tuple(
        AffectedSpec(word, tuple(needed.split("\n      - ")[1:])) for word, needed in _ENTRY.findall(listed)
    )
    ids = [entry.id for entry in entries]
    if ids != ([] if specs == "none" else specs[1:-1].split("`, `")) or len({*ids}) != len(ids):
        return None
    if not all(is_spec(word) for entry in entries for word in (entry.id, *entry.depends)):
        return None
    impact = Impact(
        cast(Scope, scope), int(affected), int(new), entries, names([code]), None if is_nothing(breaking) else breaking
    )
    times = {"created_at": created, "updated_at": updated}
    head: dict[str, Any] = {key: value.strip('"') for key, value in times.items() if value is not None}
    head |= {"id": name, "type": "proposal", "version": version} | ({"author": author} if author else {})
    if checksum != frontmatter.checksum(
        approved_text(head, (scope, int(affected), int(new)), entries, body.split("\n"))
    ):
        return None
    blocks = _reviews(text, found.end(), rules)
    if blocks is None:
        return None
    return Proposal(
        name,
        summary,
        why,
        tuple(changes[2:-1].split("\n- ")),
        impact,
        head.get("created_at", ""),
        head.get("updated_at", ""),
        author or "",
        status,
        version,
        int(iteration),
        blocks.reviews,
    )


def _reviews(text: str, at: int, rules: Rules) -> Blocks | None:
    """The reviews from a place on; None if there is anything else, or something is wrong with them."""
    if not text[at:].strip("\n"):
        return Blocks()
    first = text.count("\n", 0, at) + 1
    lines = text[at:].split("\n")
    blocks = review_blocks.scan(lines, first, rules)
    for start, end in blocks.spans:
        lines[start - first : end - first + 1] = [""] * (end - start + 1)
    if blocks.findings or not blocks.found or any(lines):
        return None
    latest = blocks.found[-1]
    said = stated(text[at:].split("\n")[latest.line - first + 1 : latest.end - first], review_blocks.VERDICTS)
    return None if review_blocks.contradiction(latest.review, said) else blocks
