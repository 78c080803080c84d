"""One task as a value, with its findings."""

from collections.abc import Callable, Mapping

from agentd.families.change.documents.tasks.fields import Fields
from agentd.families.change.documents.tasks.items import Item, Items
from agentd.model.change import ACTIONS, LAYERS, TASK_STATUSES, Layer, Task, TaskStatus
from agentd.model.finding import Finding
from agentd.patterns import regex
from agentd.text import quoting

BOXES: Mapping[TaskStatus, str] = {"pending": " ", "completed": "x", "in_progress": "/", "blocked": "!"}
OWN = quoting.structure(r"#{1,3}(?:[ \t]|$)|#{4,6}[ \t]+(?i:task)\b|</?tasks>")
_STATUS_OF_BOX: Mapping[str, TaskStatus] = {box: status for status, box in BOXES.items()} | {
    "X": "completed",
    "~": "in_progress",
}
_SPEC_REF = regex(r"(?:\./)?(?:specs/)?([a-z0-9][a-z0-9-]*)(?:\.md)?[#:：][Rr](\d+)(?:-[\w-]*)?")
_OUTSIDE = regex(r"[/\\~]|[A-Za-z]:|[A-Za-z][A-Za-z0-9+.-]*://")
_SEPARATOR = regex(r"[/\\]")
NO_SPEC = "none"  # what a task of a change without specs writes
_REF = regex(rf"[a-z0-9][a-z0-9-]*:R\d+|{NO_SPEC}")
_ARROW = regex(r" (?:->|→) *")
_CONTROL = regex(r"[\x00-\x1f\x7f]")
_SPACES = regex(r"[ -]+")
_AN_ID = f"write {' or '.join(f'{layer}.1' for layer in LAYERS)}, or 1.1 to {len(LAYERS)}.1"
_INSIDE = "name the file by its path from the project's root"


def spec_ref(text: str) -> str:
    """`auth-flow:R1` for `specs/auth-flow.md#R1`; any other text as it is."""
    if _REF.fullmatch(text):
        return text
    bare = text.strip().strip("`")
    found = _SPEC_REF.fullmatch(bare)
    if found:
        return f"{found[1]}:R{found[2]}"
    return NO_SPEC if bare.lower() in (NO_SPEC, "n/a") else text


def finding(rule: str, message: str, line: int, fix: str = "") -> Finding:
    return Finding(rule, message, line, fix=fix or f"edit line {line} of tasks.md", file="tasks.md")


def task_of(item: Item, found: Fields, known: Items) -> tuple[Task | None, str, list[Finding]]:
    """The task of an item, None if its id, action or status is wrong; its id; and its findings."""
    problems: list[Finding] = []

    def wrong(what: str, key: str = "", fix: str = "", rule: str = "invalid_task") -> None:
        problems.append(finding(rule, what, found.lines.get(key, item.line), fix))

    place = _place(item, found, known, wrong)
    name = f"{place[0]}.{place[1]}" if place else ""
    title = quoting.unescape_line(item.title)
    action = found.values.get("action", "").upper()
    status = found.values.get("status", "") or _STATUS_OF_BOX.get(item.box or " ", item.box)
    if status not in TASK_STATUSES:
        status = _SPACES.sub("_", status.lower())
    path, ref = found.values.get("file", ""), spec_ref(found.values.get("spec_ref", ""))
    who = f"task {name or item.word or title}"
    if not title:
        wrong(f"{who} has no title")
    if found.problem:
        problems.append(finding("invalid_task", found.problem[1], found.problem[0]))
        return None, name, problems
    if action not in ACTIONS:
        what = f"has the action '{action}'" if action else "has no action"
        wrong(f"{who} {what}", "action", f"write action: {' or '.join(ACTIONS)}")
    if status not in TASK_STATUSES:
        wrong(f"{who} has the status '{status}'", "status", f"write status: {' or '.join(TASK_STATUSES)}")
    if not path.strip() or _CONTROL.search(path):
        wrong(f"{who} names no file" if not path.strip() else f"{who} names a file that cannot be: {path!r}", "file")
    elif _leaves(path.strip()):
        wrong(f"{who} names a file outside of the project: {path}", "file", _INSIDE, "absolute_path")
    if not _REF.fullmatch(ref):
        what = f"names '{ref}' as its spec_ref" if ref else "has no spec_ref"
        wrong(f"{who} {what}", "spec_ref", "write spec_ref: spec-id:R1")
    if not place or action not in ACTIONS or status not in TASK_STATUSES:
        return None, name, problems
    text = quoting.unescape(found.rest, OWN)
    depends = tuple(map(known.name, found.depends))
    return Task(*place, title, path, action, ref, text, depends, status, item.line), name, problems


def _leaves(path: str) -> bool:
    """Whether a path, or one of the two of a rename, leads out of the project."""
    if " " in path and _ARROW.search(path):
        return any(map(_leaves, _ARROW.split(path)))
    return bool(_OUTSIDE.match(path)) or (".." in path and ".." in _SEPARATOR.split(path))


def place_of(item: Item, found: Fields, known: Items) -> str:
    """The id of a task; empty if it has none."""
    place = _place(item, found, known, lambda *_, **__: None)
    return f"{place[0]}.{place[1]}" if place else ""


def _place(item: Item, found: Fields, known: Items, wrong: Callable[..., None]) -> tuple[Layer, int] | None:
    """The layer and the number of a task, by its heading and its block, which must agree."""
    word = item.word
    if item.section and word.isdecimal() and word.isascii():
        word = f"{item.section}.{word}"
    ids = [(text, known.id(text)) for text in (word, found.values.get("id", "")) if text]
    if not ids:
        wrong("the task has no id", fix="write ### Task 1.1: title")
        return None
    for text, place in ids:
        if not place:
            wrong(f"'{text}' is no id of a task", "id" if text != word else "", _AN_ID)
            return None
    if ids[0][1] != ids[-1][1]:
        wrong(f"the task is {known.name(word)} in its heading and {known.name(ids[-1][0])} in its block", "id")
    return ids[0][1]
