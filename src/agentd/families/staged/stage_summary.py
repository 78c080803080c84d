"""A short summary of a stage, made from its phase files without an agent: headings, counts, verdicts, what is left. Pure."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agentd.families.staged import plan_file
from agentd.patterns import regex
from agentd.text.outline import outline, split_lines

MOST = 2000  # characters
_HEADINGS, _ISSUES, _SENTENCE, _LINE = 8, 5, 160, 200
_END = regex(r"(?<=[.!?])\s")


def summary(stage: str, files: Mapping[str, str]) -> str:
    """What the phase files of a stage say, in Markdown; each file has an equal share of at most MOST characters."""
    head = f"# Summary of {_cut(stage, 40)}\n"
    share = (MOST - len(head)) // max(1, len(files))
    parts = [_part(name, files[name], share) for name in sorted(files)] if files else ["\nIt has no files.\n"]
    text = head + "".join(parts)
    return text if len(text) <= MOST else text[: MOST - 2].rstrip() + "…\n"


def _part(name: str, text: str, most: int) -> str:
    """The section of one file: as many of its lines as fit."""
    part = f"\n## {_cut(name, 60)}\n"
    lines = list(_json_lines(text) if name.endswith(".json") else _markdown_lines(name, text))
    for index, line in enumerate(lines):
        shown = f"- {_cut(line, _LINE)}\n"
        rest = f"- … {len(lines) - index} more\n"
        if len(part) + len(shown) + (len(rest) if index < len(lines) - 1 else 0) > most:
            return part + rest if len(part) + len(rest) <= most else part
        part += shown
    return part


def _markdown_lines(name: str, text: str) -> Iterator[str]:
    if name.endswith("plan.md"):
        try:
            tasks = plan_file.read(text)
        except plan_file.Invalid as error:
            yield f"Not a valid plan: {error.problems[0]}"
        else:
            yield f"{len(tasks)} tasks"
            for task in tasks:
                after = f", after {', '.join(map(str, task.depends))}" if task.depends else ""
                yield f"Task {task.number}: {task.name} ({task.complexity or 'not rated'}, {len(task.files)} files{after})"
            return
    found = outline(split_lines(text))
    for section in found.sections[:_HEADINGS]:
        yield ": ".join(filter(None, (section.title, _first_sentence(found.body(section)))))
    if len(found.sections) > _HEADINGS:
        yield f"{len(found.sections) - _HEADINGS} more headings"
    if not found.sections:
        yield _first_sentence(text) or "It is empty."


def _first_sentence(text: str) -> str:
    plain = " ".join(text.split("\n\n")[0].split()) if text.strip() else ""
    return _cut(_END.split(plain, maxsplit=1)[0], _SENTENCE)


def _json_lines(text: str) -> Iterator[str]:
    try:
        data = json.loads(text)
    except (ValueError, RecursionError):
        yield "It is not JSON."
        return
    if not isinstance(data, Mapping):
        yield f"{type(data).__name__} of {len(data)}" if isinstance(data, list) else _cut(str(data), _LINE)
        return
    for key in ("status", "overallQuality", "readyForCommit", "summary"):
        if isinstance(data.get(key), str | bool):
            yield f"{key}: {' '.join(str(data[key]).split())}"
    yield from _issues(data.get("issues"))
    yield from _tasks(data)
    for key, value in data.items():
        if isinstance(value, int | float) and not isinstance(value, bool):
            yield f"{key}: {_cut(str(value), 20)}"


def _issues(issues: Any) -> Iterator[str]:
    """How many issues of each severity there are, and the gravest ones."""
    found = [one for one in issues if isinstance(one, Mapping)] if isinstance(issues, list) else []
    words = [str(one.get("severity", "")).upper() for one in found]
    if isinstance(issues, list):
        counts = [f"{words.count(word)} {word}" for word in ("HIGH", "MEDIUM", "LOW") if word in words]
        yield f"{len(issues)} issues" + (f" ({', '.join(counts)})" if counts else "")
    order = {"HIGH": 0, "MEDIUM": 1, "LOW": 2}
    for one in sorted(found, key=lambda one: order.get(str(one.get("severity", "")).upper(), 3))[:_ISSUES]:
        yield " ".join(f"{one.get('severity', '')} {one.get('location', '')}: {one.get('issue', '')}".split())


def _tasks(data: Mapping[str, Any]) -> Iterator[str]:
    """What became of the tasks of 2.1-tasks.json; the failed ones with their summaries."""
    for key in ("completedTasks", "failedTasks"):
        if isinstance(value := data.get(key), list):
            listed = (
                ", ".join(map(str, value[:20])) if value and all(isinstance(one, str | int) for one in value) else ""
            )
            yield f"{key}: {len(value)}" + (f" ({listed})" if listed else "")
    for wave in _mappings(data.get("waves")):
        for task in _mappings(wave.get("tasks")):
            if task.get("status") not in ("completed", None):
                yield " ".join(f"{task.get('id', '')} {task['status']}: {task.get('summary', '')}".split())


def _mappings(value: Any) -> Sequence[Mapping[str, Any]]:
    return [one for one in value if isinstance(one, Mapping)] if isinstance(value, list) else []


def _cut(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1].rstrip() + "…"
