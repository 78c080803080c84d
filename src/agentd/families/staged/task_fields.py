"""The fields of a task in a plan: found among its lines, and understood in the spellings that models use. Pure."""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from agentd.patterns import regex
from agentd.values import dataclass

COMPLEXITIES = ("easy", "medium", "hard")
WHOLE_AREA = -1
# An area and a number there; no area is the text's own.
Reference = tuple[str, int]

_NAMES = {
    "files": r"(?:target |affected )?files?(?: likely)?(?: (?:to be )?(?:touched|changed|modified|affected|created))?"
    r"|files? to (?:create|modify|change|edit|touch|update|delete|add)(?:(?:/| or | and )\w+)*",
    "dependencies": r"dependenc(?:y|ies)|deps|depends(?:[ _-]on)?|blocked by|prerequisites?",
    "complexity": r"(?:estimated )?complexity|difficulty",
    "instructions": r"instructions?",
}
_ANY = "|".join(f"(?P<{name}>{spelled})" for name, spelled in _NAMES.items())
_BULLET = regex(r"\s*(?:[-*+]|\d+[.)])\s+")
# `**Files:** x`, `**Files**: x`, `- **Files** x`, `#### Files`; and without stars `Files: x`.
_BOLD = regex(
    rf"(?i)\s{{0,3}}(?:[-*+]\s+)?(?:#{{4,6}}\s+)?(\*\*|__)\s*(?:{_ANY})\s*(?:\([^()]*\))?\s*:?\s*\1\s*:?\s*(?P<rest>.*)"
)
_PLAIN = regex(
    rf"(?i)\s{{0,3}}(?:[-*+]\s+)?(?:#{{4,6}}\s+(?:{_ANY})\s*:?\s*|(?!#)(?:{_ANY.replace('?P<', '?P<_')})\s*:\s*(?P<rest>.*))"
)
# Before a field that follows another on one line: `**Files:** a.py | **Complexity:** easy`
_INLINE = regex(rf"(?i)(?<=[^\s*+-])\s+(?:[|·•]\s*)?(?=\*\*(?:{'|'.join(_NAMES.values())})\s*(?::\*\*|\*\*:))")
_OTHER_FIELD = regex(r"\s*(?:[-*+]\s+)?(?:\*\*|__)")
_CHECKBOX = regex(r"\s*(?:[-*+]|\d+[.)])\s+\[[ xX~-]\]")

_NOTHING = regex(
    r"(?i)\W*(?:(?:none|nothing|independent|n/?a|no\b[\w -]* (?:code|files?|edits?|dependenc(?:y|ies)|changes?)"
    r"|verif(?:y|ication) only)\b(?:\s*\([^()`]*\))?[^\d`/]*)?"
)
_SAME = regex(r"(?i)\W*(?:the )?same(?: files?)? as (?:in )?task #?(\d{1,6})\W*")
_ACTION = regex(
    r"(?i)[*_]*(?:create|modify|test|delete|update|add|edit|rename|move|new|remove|extend|change|replace|rewrite|refactor"
    r"|regenerate|generated?|append|implement|possibly|maybe|optional(?:ly)?|also|and|files?|modified|created)s?"
    r"(?:[ /+&,]+(?:or |and )?\w+)*\s*(?:\([^()]*\))?[*_]*\s*:[*_]*\s*"
)
_NOT_WRITTEN = regex(
    r"(?i)[*_]*(?:read|reference|see|context|run|verify|inspect|consult|unchanged|do not|don't|no |reads|review|uses?)\b[^`]*?[:`]"
)
_SPAN = regex(r"`+([^`]+)`+")
_LINK = regex(r"\[([^\[\]]+)\]\([^()\s]+\)")
# With a folder or a suffix, or one of the names that have neither: Makefile, LICENSE.
_PATH = regex(
    r"(?:~?/|[A-Za-z]:[\\/])?(?:(?:[^\s`/]+(?: [^\s`/]+)*)?/)*(?:[^`/]*[^\s`/.]\.\w{1,12}|\w+file|[A-Z][A-Z-]+|\.\w[\w.-]*)"
    r"|~?/?(?:[^`/\s]+(?: [^`/\s]+)*/)+[^\s`/]*"
)
_BARE_PATH = regex(r"\.\w[\w.-]+|[^\s`]*\w\.\w{1,12}|[^\s`]+/[^\s`]*\.\w+")
_ELLIPSIS = regex(r"(?:^|(?<=/))(?:\.\.\.|…)(?=/|$)")
_PLACE = regex(r"(?::L?\d[\dL,:\s–-]*|#L\d[\dL-]*|::.*|\s+\(?lines? .*)$")
_PLACEHOLDER = regex(r"<[^<>/]*>")
_CONTROL = regex(r"[\x00-\x1f\x7f\ud800-\udfff`]")
_DRIVE = regex(r"[A-Za-z]:")
_ASIDE = regex(r"\s+(?:[-–—]+|//|#)\s.*|[–—].*")
_JOINTS = {"(": 1, ")": -1, "{": 1, "}": -1, "[": 1, "]": -1}

_PARENTHESES = regex(r"\([^()]*\)|\[[^\[\]]*\]")
_UNCLOSED = regex(r"[(\[].*")
_RANGE = regex(r"(?i)(\d+)\s*(?:-|–|—|\.\.+|to|through|thru)\s*(?:tasks?\s*)?#?(\d+)\b")
_SEPARATOR = regex(r"(?i)\s*(?:[,;&+\n]|\band\b|\bplus\b)\s*")
_ALL_BEFORE = regex(
    r"(?i)(?:all|every)?\s*(?:the\s+)?(?:of the\s+)?(?:previous|prior|preceding|above|earlier)(?:\s+tasks?)?|all(?:\s+tasks)?(?:\s+above)?"
)
_THE_ONE_BEFORE = regex(r"(?i)(?:the\s+)?(?:previous|preceding|prior)\s+task")
_ALL_OTHERS = regex(r"(?i)all\s+(?:the\s+)?other(?:s|\s+tasks)?")
_NUMBERED = regex(
    r"(?i)(?P<area>[a-z][a-z-]*?)??[\s:/.-]*(?:tasks?|t)?[\s-]*#?(?P<number>\d{1,6})(?:\s+(?:of|in|from)\s+(?P<of>[a-z][a-z-]*))?"
    r"(?:\s*:.*|\s+(?:must be\s+|is\s+|being\s+)?(?:all\s+)?(?:green\s+)?(?:complete|completed|done|finished|merged|landed|passing))?"
)
_AREA = regex(r"(?i)(?:all\s+)?(?:of\s+)?(?:the\s+)?([a-z][a-z-]*)(?:\s+(?:area|tasks?|plan))?")
_RATINGS = {
    **dict.fromkeys(("easy", "low", "simple", "trivial", "small"), "easy"),
    **dict.fromkeys(("medium", "moderate", "mid", "standard", "normal"), "medium"),
    **dict.fromkeys(("hard", "high", "complex", "difficult", "large"), "hard"),
}


@dataclass(frozen=True)
class Body:
    """The lines of a task: its fields by name with their line and value, and every line that belongs to none of them."""

    fields: Mapping[str, tuple[int, tuple[str, ...]]]
    text: tuple[str, ...]
    repeated: tuple[tuple[str, int], ...] = ()


def split(lines: Iterable[tuple[int, str, bool]]) -> Body:
    """A task's lines, each with its number and whether it is code, by the fields they belong to.

    After **Instructions** a line begins another field only if it is bold and the field was not there before.
    """
    fields: dict[str, tuple[int, list[str]]] = {}
    text: list[str] = []
    repeated: list[tuple[str, int]] = []
    current, blank = "", False
    for number, line, code in _one_field_each(lines):
        instructed = "instructions" in fields
        name, rest = ("", "") if code else _field(line, instructed)
        if name and name in fields and (instructed or name != "files"):
            if not instructed:
                repeated.append((name, number))
            name = ""
        if name:
            value = fields.setdefault(name, (number, []))[1]
            current, blank = ("", False) if name == "instructions" else (name, False)
            if rest.strip():
                (text if name == "instructions" else value).append(rest.strip())
        elif current and not code and _continues(line, fields[current][1], blank):
            blank = not line.strip()
            if not blank:
                fields[current][1].append(line.strip())
        else:
            current = ""
            text.append(line)
    return Body({name: (at, tuple(value)) for name, (at, value) in fields.items()}, tuple(text), tuple(repeated))


def _one_field_each(lines: Iterable[tuple[int, str, bool]]) -> Iterator[tuple[int, str, bool]]:
    for number, line, code in lines:
        parts = _INLINE.split(line) if not code and _OTHER_FIELD.match(line) else [line]
        yield from ((number, part, code) for part in parts)


def _field(line: str, bold_only: bool) -> tuple[str, str]:
    """The field that a line begins and what it says behind the name; nothing for any other line."""
    found = _BOLD.fullmatch(line) or (None if bold_only else _PLAIN.fullmatch(line))
    if not found:
        return "", ""
    name = next(name.lstrip("_") for name, value in found.groupdict().items() if value and name.lstrip("_") in _NAMES)
    return name, found["rest"] or ""


def _continues(line: str, value: Sequence[str], blank: bool) -> bool:
    """Whether a line goes on with a field's value: a list below its name, or what follows a comma."""
    if not line.strip():
        return not value or bool(_BULLET.match(value[-1]))
    if _OTHER_FIELD.match(line) or _CHECKBOX.match(line) or line.lstrip().startswith("#"):
        return False
    if _BULLET.match(line):
        return not value or bool(_BULLET.match(value[-1]))
    return not value or (
        not blank and (value[-1].endswith(",") or (line[:1] == " " and bool(_BULLET.match(value[-1]))))
    )


def files(value: Sequence[str], known: Mapping[int, Sequence[str]], problems: list[str]) -> tuple[str, ...]:
    """The paths and patterns that a task says it writes, each once; `known` are those of the tasks before it."""
    found: list[str] = []
    for line in value:
        entry = _BULLET.sub("", line, count=1) if _BULLET.match(line) else line
        if _NOT_WRITTEN.match(entry) or _NOTHING.fullmatch(entry):
            continue
        same = _SAME.fullmatch(entry)
        if same and int(same[1]) in known:
            found += known[int(same[1])]
            continue
        for path in _paths(_ACTION.sub("", entry, count=1) if _ACTION.match(entry) else entry, problems):
            wrong = path_problem(path)
            if wrong:
                problems.append(f"{path[:80]!r} {wrong}")
            found.append(path)
    return tuple(dict.fromkeys(found))


def _paths(entry: str, problems: list[str]) -> Iterator[str]:
    """The paths of one entry. What is said about a path, in parentheses or behind a dash, is passed over."""
    begun = False
    for piece in _pieces(_LINK.sub(lambda match: f"`{match[1].strip('`')}`", entry)):
        plain = _ASIDE.sub("", piece).strip().strip("*_").rstrip(".;:")
        bare = [word for index, word in enumerate(plain.split()) if not index or _BARE_PATH.fullmatch(word)]
        words = [*(span.strip() for span in _SPAN.findall(piece)), *bare]
        paths = [path for word in words if _PATH.fullmatch(path := _PLACE.sub("", word))]
        if paths and (not begun or "`" in piece or _BARE_PATH.fullmatch(paths[0])):
            yield _ELLIPSIS.sub("**", _PLACEHOLDER.sub("*", paths[0])).removeprefix("./")
        elif piece.strip() and not begun:
            problems.append(f"{piece.strip()[:80]!r} is not a path")
        begun = True


def _pieces(entry: str) -> Iterator[str]:
    """The parts of an entry between commas, those in code spans and parentheses apart."""
    depth, start, code = 0, 0, False
    text = entry.replace("→", ",").replace("->", ",,")
    for at, sign in enumerate(text):
        if sign == "`":
            code = not code
        elif not code:
            depth = max(0, depth + _JOINTS.get(sign, 0))
            if depth == 0 and (sign in ",;" or text.startswith((" and ", " + "), at)):
                yield text[start:at].removeprefix(" and ").removeprefix(" +")
                start = at + (sign in ",;")
    yield text[start:].removeprefix(" and ").removeprefix(" +")


def path_problem(path: str) -> str:
    """Why a task may not write there, or nothing."""
    parts = path.rstrip("/").split("/")
    if _CONTROL.search(path) or not path:
        return "is not a path"
    if path.startswith(("/", "~")) or _DRIVE.match(path):
        return "is not relative to the project"
    if "\\" in path:
        return "has a backslash; separate folders with /"
    if ".." in parts:
        return "leads out of the project"
    if {"", "."} & {*parts}:
        return "has a part that names no folder"
    if ".git" in map(str.lower, parts) or parts[0].lower() in ("agentd", ".agents"):
        return "belongs to git or agentd"
    return ""


def dependencies(
    value: Sequence[str], own: int, numbers: Sequence[int], areas: Collection[str], problems: list[str]
) -> tuple[Reference, ...]:
    """What a task depends on, each once. `areas` are the words that may stand for the tasks of other texts."""
    found: list[Reference] = []
    for line in value:
        entry = _without_asides(_BULLET.sub("", line, count=1) if _BULLET.match(line) else line)
        if _NOTHING.fullmatch(entry):
            continue
        spread = _RANGE.sub(_spread, entry)
        for piece in filter(None, _SEPARATOR.split(spread.strip())):
            meant = _meant(piece.strip().rstrip("."), own, numbers, {area.lower(): area for area in areas})
            found += meant
            if not meant and not _ALL_BEFORE.fullmatch(piece.strip().rstrip(".")):
                problems.append(f"{piece.strip()[:80]!r} is not a task" + (" or an area" if areas else ""))
    if ("", own) in found:
        problems.append("it depends on itself")
    return tuple(dict.fromkeys(found))


def _without_asides(text: str) -> str:
    """A text without what it has in parentheses or behind a dash."""
    shorter = text.replace("*", "").replace("`", "")
    while (text := shorter) != (shorter := _PARENTHESES.sub("", text)):
        pass
    return _ASIDE.sub("", _UNCLOSED.sub("", shorter))


def _spread(found: re.Match[str]) -> str:
    """A range of numbers as a list of them; one that is too long or backwards stays as it is."""
    first, last = int(found[1][:7]), int(found[2][:7])
    return ", ".join(map(str, range(first, last + 1))) if first < last < first + 100 else f"{first}..{last}"


def _meant(piece: str, own: int, numbers: Sequence[int], areas: Mapping[str, str]) -> list[Reference]:
    """The tasks that one part of a dependency means; none if it cannot be understood."""
    before = list(numbers[: numbers.index(own)])
    if _THE_ONE_BEFORE.fullmatch(piece):
        return [("", number) for number in before[-1:]]
    if _ALL_OTHERS.fullmatch(piece):
        return [("", number) for number in numbers if number != own]
    if _ALL_BEFORE.fullmatch(piece):
        return [("", number) for number in before]
    numbered, named = _NUMBERED.fullmatch(piece), _AREA.fullmatch(piece)
    if numbered:
        area = (numbered["area"] or numbered["of"] or "").lower()
        known = not area or area in areas
        return [(areas.get(area, ""), int(numbered["number"]))] if known else []
    if named and named[1].lower() in areas:
        return [(areas[named[1].lower()], WHOLE_AREA)]
    return []


def complexity(value: Sequence[str], problems: list[str]) -> str:
    """How complex a task is rated; of two ratings the higher one."""
    words = regex(r"[a-z]+").findall(_without_asides(" ".join(value)).lower())
    rated = [_RATINGS[word] for word in words if word in _RATINGS]
    if not rated or len(words) > len(rated) + 2:
        problems.append(f"its complexity is {' '.join(value)[:60]!r}, which is none of {', '.join(COMPLEXITIES)}")
        return ""
    return max(rated, key=COMPLEXITIES.index)
