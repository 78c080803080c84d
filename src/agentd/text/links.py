"""Where a document points to and what can be pointed at in it: its relative links and its anchors, outside of code."""

from collections.abc import Iterator

from agentd.patterns import regex
from agentd.text.outline import outline, split_lines

_INLINE = regex(r"\]\(\s*(?:<([^<>]*)>|((?:[^\s()\\]|\\.|\([^\s()]*\))+))(?:\s+(?:\"[^\"]*\"|'[^']*'))?\s*\)")
_DEFINED = regex(r" {0,3}\[[^\]^][^\]]*\]:\s+(?:<([^<>]*)>|(\S+))(?:\s+[\"'(].*)?\s*$")
_CODE = regex(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)")
_ELSEWHERE = regex(r"[A-Za-z][A-Za-z0-9+.-]*:|/|\?|$")
_REQUIREMENT = regex(r"(R\d+)\b")
_ANCHOR = regex(r"<a\s+(?:id|name)=[\"']([^\"']+)[\"']|\{#([^}\s]+)\}")
_NOT_IN_SLUG = regex(r"[^\w\- ]")
_ESCAPED = regex(r"\\([!-/:-@\[-`{-~])")


def links(text: str) -> Iterator[tuple[int, str]]:
    """Every relative link with its line. Addresses, and paths from the root of the disk, are for others to judge."""
    if "](" not in text and "]:" not in text:
        return
    lines = split_lines(text)
    fenced = outline(lines).fenced
    head = lines.index("---", 1) if lines[0] == "---" and "---" in lines[1:] else -1
    for number, line in enumerate(lines[head + 1 :], head + 2):
        if "]" not in line or number in fenced or line.startswith(("    ", "\t")):
            continue
        if "`" in line:
            line = _CODE.sub("", line)
        found = [_DEFINED.match(line)] if "]:" in line else []
        for link in (*found, *_INLINE.finditer(line)):
            target = _ESCAPED.sub(r"\1", link[1] or link[2] or "") if link else ""
            if not _ELSEWHERE.match(target):
                yield number, target


def anchors(text: str) -> frozenset[str]:
    """What can follow `#` in a link to the document: its headings as they are commonly slugged, and its requirements."""
    found: dict[str, int] = {}
    names = set()
    for section in outline(split_lines(text)).sections:
        slug = _NOT_IN_SLUG.sub("", section.title.lower()).strip().replace(" ", "-")
        count = found.get(slug, 0)
        found[slug] = count + 1
        names.add(f"{slug}-{count}" if count else slug)
        requirement = _REQUIREMENT.match(section.title)
        if requirement:
            names.add(requirement[1].lower())
    names |= {(anchor[1] or anchor[2]).lower() for anchor in _ANCHOR.finditer(text)}
    return frozenset(names)
