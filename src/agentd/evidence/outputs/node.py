"""Reads what node --test prints, TAP and spec, and other TAP. Pure."""

from collections.abc import Iterator, Sequence

from agentd.evidence.outputs.stack_traces import NOWHERE, Place, placed, script_place
from agentd.evidence.outputs.summary import Summary, counted, summarized, summed, tally
from agentd.evidence.outputs.terminal_text import number, section
from agentd.evidence.outputs.title_tree import MARKS, Titles
from agentd.model.evidence import Case, CaseStatus, Counts
from agentd.patterns import regex

_COUNT = regex(r"^(?:#|ℹ) (tests|pass|fail|cancelled|skipped|todo) (\d+)$")
_TAP = regex(r"^(?P<in> *)(?P<not>not )?ok \d+(?: (?:- )?(?P<name>.*?))?(?P<skip> # (?:SKIP|TODO)\b.*)?$")
_PLAN = regex(r"^(?:TAP version \d+|1\.\.\d+)$")
_SUBTEST = regex(r"^( *)# Subtest: (.*)$")
_LOCATION = regex(r"^\s+location: '(.+):(\d+):\d+'$")
_TEST_FILE = regex(r"^[^>]*\.[cm]?[jt]s$")
_SPEC = regex(r"^(?P<in> *)(?P<mark>[✔✖﹣]) (?P<name>.*?) \([\d.]+ms\)(?: # .*)?$")
_SUITE = regex(r"^( *)▶ (.*?)(?: \([\d.]+ms\))?$")
_BEGUN = regex(r"^(?:> \S|\$ \S)")  # npm, pnpm and yarn print the command that they start
_TEST_AT = regex(r"^test at (.+):(\d+):\d+$")


def read(lines: Sequence[str], root: str) -> Summary | None:
    """`node --test`, and any other TAP with a plan. A cancelled test has failed."""
    blocks: list[dict[str, int]] = []
    for line in lines:
        if match := _COUNT.match(line):
            if match[1] == "tests" or not blocks:
                blocks.append({})
            blocks[-1][match[1]] = number(match[2])
    counts = [_node_counts(block) for block in blocks if "tests" in block and "pass" in block]
    tap = any(_PLAN.match(line) for line in lines)
    if not counts and not tap:
        return None
    cases = _tap_cases(lines, root) if tap else _spec_cases(lines, root)
    total = summed(counts) if counts else counted(cases)
    empty = [case for case in cases if case.status == "passed" and _is_empty_file(case.name, cases)]
    if empty:
        total = tally(max(0, total.passed - len(empty)), total.failed, total.skipped)
        cases = tuple(case for case in cases if case not in empty)
    return summarized([total], cases)


def _is_empty_file(name: str, cases: Sequence[Case]) -> bool:
    """node counts a file without tests as one that passed."""
    return _TEST_FILE.search(name) is not None and not any(case.name.startswith(f"{name} > ") for case in cases)


def _node_counts(block: dict[str, int]) -> Counts:
    failed = block.get("fail", 0) + block.get("cancelled", 0)
    return tally(block["pass"], failed, block.get("skipped", 0) + block.get("todo", 0), block["tests"])


def _tap_cases(lines: Sequence[str], root: str) -> tuple[Case, ...]:
    cases: list[Case] = []
    titles = Titles()
    for at, line in enumerate(lines):
        if subtest := _SUBTEST.match(line):
            titles.enter(len(subtest[1]), subtest[2])
        elif match := _TAP.match(line):
            details = _details(lines, at + 1)
            if any(detail.strip() == "type: 'suite'" for detail in details):
                continue
            name = titles.name(len(match["in"]), match["name"] or "")
            status: CaseStatus = "skipped" if match["skip"] else "failed" if match["not"] else "passed"
            cases.append(placed(Case(name, status), _tap_place(details, root)))
    return tuple(cases)


def _details(lines: Sequence[str], at: int) -> Sequence[str]:
    """The block of details below a line of TAP."""
    if at >= len(lines) or lines[at].strip() != "---":
        return ()
    end = next((n for n in range(at, min(at + 400, len(lines))) if lines[n].strip() == "..."), at)
    return lines[at:end]


def _tap_place(details: Sequence[str], root: str) -> Place:
    told = next((match for line in details if (match := _LOCATION.match(line))), None)
    stack = next((n for n, line in enumerate(details) if line.strip().startswith("stack:")), len(details))
    return script_place(details[stack:], root) or (Place(told[1], number(told[2])) if told else NOWHERE)


def _spec_cases(lines: Sequence[str], root: str) -> tuple[Case, ...]:
    """The tree of each run; node lists the failing tests again below it, each after its place."""
    cases: list[Case] = []
    titles = Titles()
    listed = False
    for line in lines:
        if line == "✖ failing tests:":
            listed = True
        elif _BEGUN.match(line):
            listed, titles = False, Titles()
        elif listed:
            continue
        elif suite := _SUITE.match(line):
            titles.enter(len(suite[1]), suite[2])
        elif (match := _SPEC.match(line)) and titles.at(len(match["in"])) != match["name"]:
            cases.append(Case(titles.name(len(match["in"]), match["name"]), MARKS.get(match["mark"], "skipped")))
    places = dict(_spec_places(lines, root))
    return tuple(placed(case, places.get(case.name.rsplit(" > ")[-1], NOWHERE)) for case in cases)


def _spec_places(lines: Sequence[str], root: str) -> Iterator[tuple[str, Place]]:
    for at, line in enumerate(lines[:-1]):
        told = _TEST_AT.match(line)
        named = _SPEC.match(lines[at + 1])
        if told and named:
            place = script_place(section(lines, at + 2, _TEST_AT), root)
            yield named["name"], place or Place(told[1], number(told[2]))
