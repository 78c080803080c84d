"""Whether the places that an issue names exist. A text that cannot be understood as a place is not judged."""

import re
from collections.abc import Callable, Collection, Iterator, Mapping

from agentd.model.verdict import Issue
from agentd.patterns import regex
from agentd.values import dataclass

_SEPARATOR = regex(r"[,，、;；\n](?![ \t]*lines?[ \t])|\s+(?:and|&|与|和)\s+", re.IGNORECASE)
_DRESS = " \t`'\"*[]()<>（）"
_NUMBER = regex(r"\bR0*(\d{1,6})\b", re.IGNORECASE)
_NAME = r"[a-z0-9][a-z0-9-]*(?:/[a-z0-9][a-z0-9-]*)*"
_REFERENCE = regex(
    # A word before a requirement is a spec if it can be nothing else: it has hyphens, or nothing lies between the two.
    rf"(?:specs?/)?(?:((?!(?:requirements?|specs?|see):){_NAME})(\.md)?[:#：]|({_NAME}-[a-z0-9]+)\s*[\s:#：(（]\s*)"
    r"(?=R\d{1,6}\b)",
    re.IGNORECASE,
)
_SPEC_FILE = regex(r"(?P<path>(?:[\w@.+~-]*/)*specs/(?P<spec>[\w-]+(?:/[\w-]+)*)\.md)(?![\w/])")
_ALONE = regex(r"(?:requirements?\s+)?R\d{1,6}\b", re.IGNORECASE)
_PHRASE = regex(r"([a-z0-9]+(?:-[a-z0-9]+)+)(?:\s*[:#：].*)?", re.IGNORECASE)
_FILE = regex(r"(?P<path>/?(?:[\w@.+~-]+/)*[\w@.+~-]*\.[A-Za-z][A-Za-z0-9]{0,9})(?![\w/])")
_LINE = regex(
    r"(?::|\#L|[\s,(（]+lines?\s+|[\s,(（]+L)(\d{1,9})(?::\d+)?(?:\s*[-–]\s*L?(\d{1,9}))?(?!\w|\.\d)", re.IGNORECASE
)
_NOWHERE = frozenset(("n-a", "cross-cutting", "non-functional", "end-to-end", "all-specs"))


@dataclass(frozen=True)
class Place:
    """The place of an issue: a requirement, a spec, a file, or a line of a file; unknown parts are empty."""

    spec: str = ""
    requirement: str = ""
    path: str = ""
    line: int = 0


def ungrounded(issue: Issue, specs: Mapping[str, Collection[str]], files: Callable[[str], int | None]) -> str:
    """Why a place of an issue does not exist, or nothing.

    `specs` has the requirements of each spec; `files` gives the number of lines of a file, None if it does not exist.
    """
    problems = (_problem(place, specs, files) for place in places(issue))
    return "; ".join(dict.fromkeys(filter(None, problems)))


def places(issue: Issue) -> tuple[Place, ...]:
    """Every place that an issue names, as far as it can be understood."""
    found = [*_references(issue.spec_reference)]
    found += _file(_bare(issue.file_path), issue.line_number or 0)
    for part in _SEPARATOR.split(issue.location):
        found += _exact(_bare(part))
    return tuple(dict.fromkeys(found))


def _references(text: str) -> Iterator[Place]:
    """The places in a reference to specs, where a name or a requirement alone is a place too."""
    spec = ""
    for part in _SEPARATOR.split(text):
        part = _bare(part)
        known = list(_exact(part))
        phrase = _PHRASE.fullmatch(part)
        if known:
            yield from known
            spec = known[-1].spec
        elif _ALONE.match(part):
            yield from (Place(spec, number) for number in _numbers(part))
        elif phrase and phrase[1].lower() not in _NOWHERE:
            spec = phrase[1].lower()
            yield Place(spec)


def _file(text: str, line: int) -> Iterator[Place]:
    """The file of an issue, if the text is nothing but a path."""
    path = _FILE.match(text)
    after = _LINE.match(text, path.end()) if path else None
    if path and (after or path).end() == len(text):
        yield Place(path=_tidy(path["path"]), line=line or (_last(after) if after else 0))


def _exact(part: str) -> Iterator[Place]:
    """The places in a text that is clearly a reference or a path."""
    spec = _SPEC_FILE.match(part)
    reference = _REFERENCE.match(part)
    path = _FILE.match(part)
    if spec:
        line = _LINE.match(part, spec.end())
        numbers = [] if line else _numbers(part[spec.end() :] if part[spec.end() :][:1] in "#:：" else "")
        for number in numbers or [""]:
            yield Place(spec["spec"], number, _tidy(spec["path"]), _last(line) if line else 0)
    elif reference:
        name = (reference[1] or reference[3]).lower()
        for number in _numbers(part[reference.end() :]):
            yield Place(name, number, f"{name}.md" if reference[2] else "")
    elif path:
        line = _LINE.match(part, path.end())
        # A name with a dot and nothing else may be anything, such as Node.js.
        if "/" in path["path"] or path["path"].endswith(".md") or line:
            yield Place(path=_tidy(path["path"]), line=_last(line) if line else 0)


def _problem(place: Place, specs: Mapping[str, Collection[str]], files: Callable[[str], int | None]) -> str:
    alone = place.requirement and not place.spec
    if place.spec in specs:
        if place.requirement and place.requirement not in specs[place.spec]:
            return f"there is no requirement {place.spec}:{place.requirement}"
    elif place.spec and not place.path:
        return f"there is no spec {place.spec}"
    elif place.path and files(place.path) is None:
        return f"there is no file {place.path}"
    elif alone and specs and not any(place.requirement in known for known in specs.values()):
        only = f"{next(iter(specs))}:" if len(specs) == 1 else ""
        return f"there is no requirement {only}{place.requirement}"
    size = files(place.path) if place.path and place.line else None
    if size is not None and place.line > size:
        return f"{place.path} has {size} line{'' if size == 1 else 's'}, not {place.line}"
    return ""


def _numbers(text: str) -> list[str]:
    return [f"R{number}" for number in _NUMBER.findall(text)]


def _last(line: re.Match[str]) -> int:
    """The last line of a range."""
    return max(int(line[1]), int(line[2] or 0))


def _bare(text: str) -> str:
    return text.rstrip(". \t").strip(_DRESS)


def _tidy(path: str) -> str:
    return path.removeprefix("./")
