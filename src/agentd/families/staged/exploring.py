"""EXPLORE: the task is put to several explorers as queries, each about one side of the project; their findings are one file."""

from collections.abc import Sequence
from copy import deepcopy

from agentd.engine.waves import Item
from agentd.families.staged import phase_files
from agentd.model.run import Outcome
from agentd.patterns import regex
from agentd.runs import ports
from agentd.runs.work import Work

FINDING = "finding.md"
# The most telling sides of a project come first: a small task asks about these alone.
QUERIES = (
    "Which code has to change for the task, and what does it do now? Name files and functions.",
    "How is that code tested, with which commands, and which tests cover it today?",
    "What calls the code that has to change, and what would break?",
    "Which conventions, helpers and patterns of the project should the change follow?",
    "Which data, formats and interfaces does the task touch, and who depends on them?",
    "What in the configuration, the build and the dependencies matters for the task?",
    "Which errors, limits and hostile inputs have to be handled?",
    "Which documentation describes what will change?",
    "What was tried before in this area, as far as the history and comments tell?",
    "Which parts of the task can be done apart from each other?",
)
_LARGE = regex(
    r"(?i)\b(migrat|redesign|rewrite|refactor|architect|concurren|security|distributed|all\b|every\b|across)"
)
_LISTED = regex(r"(?m)^\s*(?:[-*+]|\d+[.)])\s+")


def how_many(task: str) -> int:
    """How many explorers a task needs: one or two for a simple one, three to five, or six to ten for a complex one."""
    size = len(task.split()) + 15 * len(_LISTED.findall(task)) + 20 * len(set(_LARGE.findall(task.lower())))
    return 2 if size < 12 else 4 if size < 60 else 7 if size < 150 else len(QUERIES)


def split_queries(work: Work) -> Outcome:
    count = how_many(str(work.state.fields.get("description") or ""))
    work.note("queries", {f"query-{number}": text for number, text in enumerate(QUERIES[:count], 1)})
    stages = deepcopy(dict(work.state.fields["stages"]))
    stages["EXPLORE"]["agentCount"] = count
    work.note("stages", stages)
    return Outcome("done", f"{count} queries")


def queries(work: Work) -> Sequence[Item]:
    return [Item(name) for name in _asked(work)]


def query_of(work: Work) -> str:
    return _asked(work.top).get(work.item, "")


def _asked(work: Work) -> dict[str, str]:
    found = work.state.fields.get("queries")
    return {str(name): str(text) for name, text in found.items()} if isinstance(found, dict) else {}


def gather_findings(work: Work) -> Outcome:
    """Put the findings together; an explorer that gave up is named, and blocks nothing."""
    lines, missing = ["# Findings", ""], []
    for number, (name, asked) in enumerate(_asked(work).items(), 1):
        store = ports.child_store(work, "explore", name)
        path = store.folder / FINDING
        found = path.read_text(encoding="utf-8", errors="replace").strip() if path.is_file() else ""
        if not found:
            missing.append(str(number))
        lines += [f"## Query {number}", "", f"**{asked}**", "", found or "The explorer gave up.", ""]
    count = len(_asked(work))
    lines += ["## Summary", "", f"{count - len(missing)} of {count} queries were answered."]
    lines += [f"Not answered: {', '.join(missing)}."] if missing else []
    phase_files.write(work, phase_files.EXPLORE, "\n".join(lines) + "\n")
    return Outcome("done", f"{len(missing)} of {count} explorers gave up" if missing else "")
