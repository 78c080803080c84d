"""Reads what pytest prints, short and long. Pure."""

from collections import defaultdict
from collections.abc import Sequence

from agentd.evidence.outputs.stack_traces import Place, own_places, python_place
from agentd.evidence.outputs.summary import Summary, summarized, tally
from agentd.evidence.outputs.terminal_text import number
from agentd.model.evidence import Case, CaseStatus, Counts
from agentd.patterns import regex

_SUMMARY = regex(r"^=*\s*(no tests ran|\d+ [a-z]+(?: [a-z]+)?(?:, \d+ [a-z]+(?: [a-z]+)?)*) in [\d.]+ ?s\b.*$")
_PART = regex(r"(\d+) ([a-z]+)")
_WORDS = {"passed", "failed", "error", "errors", "skipped", "deselected", "xfailed", "xpassed", "warning", "warnings"}
_WORD = r"(?P<word>PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS)"
_SHORT = regex(rf"^(?:\[gw\d+\] \[ *\d+%\] )?{_WORD} (?P<node>[^\s\[].*)$")
_LONG = regex(rf"^(?P<node>\S.*?) {_WORD}(?: \(.*\))?(?: +\[ *\d+%\])?$")
_FOLDED = regex(r"^SKIPPED \[\d+\] (?P<file>[^\s:]+):(?P<line>\d+): ")
_TITLE = regex(r"^_{2,} (?:ERROR at (?:setup|teardown) of |ERROR collecting )?(.+?) _{2,}$")
_RULE = regex(r"^={3,}.*={3,}$")
_REPORTS = regex(r"^=+ (?:FAILURES|ERRORS|PASSES|XFAILURES|XPASSES) =+$")
_PLACE = regex(r"^([^\s:][^:]*\.\w+):(\d+)(?:: |$)")
_STATUS: dict[str, CaseStatus] = {
    "PASSED": "passed",
    "XPASS": "passed",
    "FAILED": "failed",
    "ERROR": "failed",
    "SKIPPED": "skipped",
    "XFAIL": "skipped",
}


def read(lines: Sequence[str], root: str) -> Summary | None:
    """The summaries, short and long. An error counts as failed, an expected failure as skipped."""
    said = _outside_of_reports(lines)
    counts = list(filter(None, map(_counts, said))) or list(filter(None, map(_counts, lines)))
    cases = _cases(said, _places(lines, root))
    return summarized(counts, cases) if counts or cases else None


def _outside_of_reports(lines: Sequence[str]) -> list[str]:
    """The lines without the reports of single tests, which contain what the tests printed."""
    kept, inside = list[str](), False
    for line in lines:
        if _RULE.match(line):
            inside = _REPORTS.match(line) is not None
        if not inside:
            kept.append(line)
    return kept


def _counts(line: str) -> Counts | None:
    match = _SUMMARY.match(line)
    if not match:
        return None
    parts = {word: number(count) for count, word in _PART.findall(match[1])}
    if parts and not parts.keys() & _WORDS:
        return None
    failed = parts.get("failed", 0) + parts.get("error", 0) + parts.get("errors", 0)
    passed = parts.get("passed", 0) + parts.get("xpassed", 0)
    return tally(passed, failed, parts.get("skipped", 0) + parts.get("xfailed", 0))


def _cases(lines: Sequence[str], places: dict[str, list[Place]]) -> tuple[Case, ...]:
    named: dict[str, CaseStatus] = {}
    folded: list[Case] = []
    for line in lines:
        match = _SHORT.match(line) or _LONG.match(line)
        if match and (node := _node(match["node"])):
            if named.get(node) != "failed":
                named[node] = _STATUS[match["word"]]
        elif skip := _FOLDED.match(line):
            file, at = skip["file"], number(skip["line"])
            folded.append(Case(f"{file}:{at}", "skipped", file, at))
    cases = []
    for node, status in named.items():
        file, *inner = node.split("::")
        queue = places.get(".".join(inner) or file, []) if status == "failed" else []
        place = queue.pop(0) if queue else Place(file)
        cases.append(Case(node, status, place.file, place.line))
    if "skipped" not in named.values():
        cases += folded
    return tuple(cases)


def _node(text: str) -> str:
    """The test that a line names, without the reason after it; parameters may contain anything."""
    head, bracket, rest = text.partition("[")
    if not bracket or " - " in head:
        node = head.split(" - ")[0]
    else:
        end = rest.find("] - ")
        node = f"{head}[{rest[: end if end >= 0 else rest.rfind(']')]}]"
    named = " " not in node.partition("[")[0] and ("::" in node or node.endswith(".py"))
    return node if named else ""


def _places(lines: Sequence[str], root: str) -> dict[str, list[Place]]:
    """By the title of each failure's section, the last own place that it names."""
    places: defaultdict[str, list[Place]] = defaultdict(list)
    title, section = "", list[str]()
    for line in (*lines, "=== end ==="):
        opened = _TITLE.match(line)
        if not opened and not _RULE.match(line):
            section.append(line)
            continue
        if title and (place := [python_place(section, root), *own_places(section, root, _PLACE)][-1]):
            places[title].append(place)
        title, section = opened[1] if opened else "", []
    return dict(places)
