"""The issues of a review, written and read: below headings with labelled lines, by severity, or in a plain list."""

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field

from agentd.model import verdict
from agentd.model.severity import Severity
from agentd.model.verdict import Issue
from agentd.patterns import regex
from agentd.text import bullets, quoting
from agentd.text.bullets import Item
from agentd.text.outline import Outline, Section, closes, opens
from agentd.values import dataclass

CODE = "    "  # an indent that makes lines code, never a heading or a fence
OWN = quoting.structure(r"#{1,6}(?:[ \t]|$)")
_SPELLINGS = {
    "severity": ("severity", "priority"),
    "title": ("title",),
    "description": ("description", "issue"),
    "suggestion": ("suggestion", "recommendation", "suggested fix", "fix"),
    "spec_reference": ("spec reference", "spec ref", "spec"),
    "location": ("location",),
    "category": ("category",),
    "file_path": ("file", "file path"),
    "line_number": ("line", "line number"),
    "quote": ("quote", "code", "snippet", "code snippet"),
    "ungrounded": ("ungrounded",),
    "verdict": ("verdict",),  # belongs to the whole review, not to the issue
}
_LABELS = {label: name for name, labels in _SPELLINGS.items() for label in labels}
_TEXTS = ("suggestion", "spec_reference", "location", "category", "ungrounded", "quote")
_SECTION = regex(
    r"(?:[\w/-]+ )*(?:issues?|findings|problems|suggestions|问题|問題)(?: found)?(?:[ \t]*[(（]([^)）]*)[)）])?[:：]?",
    re.IGNORECASE,
)
_GROUP = regex(
    r"\W*(high|medium|low)(?:[ -](?:severity|priority|issues?|severity issues?))?(?:[ \t]*[(（][^)）]*[)）])?\W*",
    re.IGNORECASE,
)
_NUMBERED = regex(r"(?:issue(?:[ \t]+#?\d+)?[ \t]*[:：]|issue[ \t]+#?\d+[ \t]*$|#?\d+[.):：])[ \t]*", re.IGNORECASE)
_TAGGED = regex(r"(\*\*|__|)[\[(（](high|medium|low)[\])）](?:[:：]?(\1))?[ \t:：-]*", re.IGNORECASE)
_TAGGED_LAST = regex(r"[ \t]*[\[(（](high|medium|low)[\])）]\Z", re.IGNORECASE)
_NOTHING = regex(r"\W*(?:none|no\b.*|n/a|nothing\b.*|无|無|なし)\W*", re.IGNORECASE | re.DOTALL)
_NUMBER = regex(r"[0-9]{1,9}")
_ASIDE = regex(r"[(（].*[)）]")


@dataclass
class Found:
    """The issues of a text, the first and last lines of their sections, and what is wrong with them."""

    issues: list[Issue] = field(default_factory=list)
    sections: list[tuple[int, int]] = field(default_factory=list)
    problems: list[tuple[int, str]] = field(default_factory=list)


def write(issue: Issue, number: int, level: int, labels: Mapping[str, str]) -> str:
    """An issue below its heading; `labels` has the fields to write, in order, with their labels."""
    title = quoting.escape_line(issue.title)
    lines = [f"{'#' * level} Issue {number}{': ' if title else ''}{title}", ""]
    for name, label in labels.items():
        value = getattr(issue, name)
        if name == "quote" and value:
            lines.append(_quoted(f"- **{label}**:", value))
        elif value or name in ("severity", "description"):
            lines.append(bullets.write(f"- **{label}**:", str(value or ""), OWN))
    return "\n".join([*lines, ""])


def read(plan: Outline) -> Found:
    """Every issue below a heading such as `Issues`, `Findings` or `High Severity`."""
    found = Found()
    section: Section | None = None
    usual: Severity | None = None
    level = 0
    for at, heading in enumerate(plan.sections):
        below = plan.sections[at + 1].line - 1 if at + 1 < len(plan.sections) else plan.first + len(plan.lines) - 1
        if section and heading.line > section.end:
            section = None
        group = _GROUP.fullmatch(heading.title)
        promised = _SECTION.fullmatch(heading.title)
        if section is None:
            if not (promised or group) or heading.level == 1:
                continue
            section, level = heading, 0
            found.sections.append((heading.line, heading.end))
            usual = verdict.severity(group[1] if group else (promised and promised[1]) or _word(heading.title))
            _loose(plan, heading.line + 1, below, usual, found)
        elif group and (not level or heading.level < level):
            usual, level = verdict.severity(group[1]), 0
            _loose(plan, heading.line + 1, below, usual, found)
        elif not level or heading.level <= level:
            level = heading.level
            title = _NUMBERED.sub("", heading.title, count=1) if _NUMBERED.match(heading.title) else heading.title
            fields = bullets.fields(plan, heading.line + 1, heading.end, _LABELS)
            words = _before(plan, heading, fields)
            found.issues.append(_issue(quoting.unescape_line(title), fields, words, usual, heading.line, found))
    return found


def _word(title: str) -> str:
    return next(iter(re.findall(r"\b(?:high|medium|low)\b", title, re.IGNORECASE)), "")


def _before(plan: Outline, heading: Section, fields: Sequence[Item]) -> str:
    """The text below a heading, up to the first labelled line."""
    end = fields[0].line - 1 if fields else heading.end
    return quoting.unescape(plan.lines[heading.line + 1 - plan.first : end + 1 - plan.first], OWN)


def _loose(plan: Outline, start: int, end: int, usual: Severity | None, found: Found) -> None:
    """Issues without headings: a new one begins where a label comes again, or with each item of a list."""
    issue: list[Item] = []
    labelled = bullets.fields(plan, start, end, _LABELS)
    for item in labelled:
        if any(_LABELS[known.label] == _LABELS[item.label] for known in issue):
            found.issues.append(_issue("", issue, "", usual, issue[0].line, found))
            issue = []
        issue.append(item)
    if labelled:
        found.issues.append(_issue("", issue, "", usual, issue[0].line, found))
        return
    listed = [item for item in bullets.items(plan, start, end) if item.bullet]
    for at, item in enumerate(listed, 1):
        after = listed[at].line if at < len(listed) else end + 1
        nested = bullets.fields(plan, item.line + 1, after - 1, _LABELS)
        if nested:
            found.issues.append(_issue(item.lines[0].strip(" \t*_:："), nested, "", usual, item.line, found))
        elif not _NOTHING.fullmatch(text := bullets.read(item, OWN)):
            found.issues.append(_issue("", [], text, usual, item.line, found))


def _issue(title: str, fields: Iterable[Item], words: str, usual: Severity | None, line: int, found: Found) -> Issue:
    values: dict[str, str] = {}
    for item in fields:
        name = _LABELS[item.label]
        values.setdefault(name, _unquoted(item) if name == "quote" else bullets.read(item, OWN))
    said, _, below = values.pop("severity", "").partition("\n\n")
    if not said and title:
        last = None if _TAGGED.match(title) else _TAGGED_LAST.search(title)
        said, title = (last[1], title[: last.start()]) if last else _tag(title)
    elif not said:
        said, words = _tag(words)
    title = title or values.get("title", "")
    name = f"the issue '{title}'" if title else "the issue"
    severity = verdict.severity(_ASIDE.sub("", said).strip(" \t*_`.。")) if said else usual
    if severity is None:
        found.problems.append((line, f"{name} has the severity '{said}'" if said else f"{name} has no severity"))
    description = values.pop("description", "") or "\n\n".join(filter(None, (words, below.lstrip("\n"))))
    if not description:
        found.problems.append((line, f"{name} has no description"))
    number = values.get("line_number", "")
    return Issue(
        severity or "High",
        title,
        description,
        file_path=_bare(values.get("file_path", "")),
        line_number=int(number) if _NUMBER.fullmatch(number) else None,
        line=line,
        **{name: values.get(name, "") for name in _TEXTS},
    )


def _tag(text: str) -> tuple[str, str]:
    """The severity in brackets at the beginning of a text, and the rest of the text."""
    tag = _TAGGED.match(text)
    if not tag:
        return "", text
    return tag[2], ("" if tag[3] is not None else tag[1]) + text[tag.end() :]


def _quoted(lead: str, code: str) -> str:
    """Code in backticks after its label, or indented below it if it has backticks or several lines."""
    if code == code.strip() and not re.search(r"[`\r\n]", code):
        return bullets.write(lead, f"`{code}`", OWN)
    lines = re.split(r"\r\n|\r|\n", code)
    written = quoting.escape("\n".join(CODE + line if line else "" for line in lines), OWN, bullets.PAD)
    return f"{lead}\n\n{written}"


def _unquoted(item: Item) -> str:
    """The code of a labelled line: in backticks, indented, fenced, or as it is."""
    text = bullets.read(item, OWN)
    lines = text.split("\n")
    if item.lines[0].strip():
        return _bare(text)
    if all(line.startswith(CODE) or not line for line in lines):
        return "\n".join(line.removeprefix(CODE) for line in lines)
    fence = opens(lines[0])
    if fence in ("", "<!--"):
        return text
    end = next((at for at, line in enumerate(lines[1:], 1) if closes(line, fence)), len(lines))
    return "\n".join(lines[1:end])


def _bare(path: str) -> str:
    quoted = len(path) > 2 and path[0] == path[-1] == "`" and "`" not in path[1:-1]
    return path[1:-1] if quoted else path
