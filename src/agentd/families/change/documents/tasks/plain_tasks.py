"""A tasks.md in the form that agentd writes, read by an expression for each of its parts.

Gives up on anything else, so whatever it does give is what the careful reader would have given, without a finding.
"""

import re
from typing import cast

from agentd.model.change import LAYERS, Action, Layer, Task, Tasks, TaskStatus
from agentd.patterns import regex
from agentd.text.literal import LINE, TEXT, TIME, is_literal

_WORD = r"(?!null\n|true\n|false\n)[a-z][a-z0-9-]*+"
_NUMBER = r"(?:0|[1-9][0-9]{0,5})"
_HEAD = regex(
    rf'---\nid: {_WORD}\nchange_id: ({_WORD})\ntype: tasks\nversion: "([\w.]*+)"\n'
    rf"created_at: ({TIME})\nupdated_at: ({TIME})\nproposal_ref: proposal\.md\n"
    rf"summary:\n  total: ({_NUMBER})\n  completed: ({_NUMBER})\n  in_progress: ({_NUMBER})\n  blocked: ({_NUMBER})\n"
    rf"  pending: ({_NUMBER})\nlayers:\n((?:  [a-z]++:\n    task_count: {_NUMBER}\n    estimated_files: {_NUMBER}\n)++)"
    r"---\n\n<tasks>\n\n"
)
_COUNT = regex(r"  ([a-z]+):\n    task_count: ([0-9]+)\n")
_LAYER = regex(r"## ([1-4])\. (Data|Logic|Integration|Testing) Layer\n\n")
_TASK = regex(
    rf"### Task ([1-4])\.([1-9][0-9]{{0,5}}+): ({LINE})\n\n```yaml\nid: ([a-z]+)\.\2\n"
    r"action: (CREATE|MODIFY|DELETE|RENAME)\nstatus: (pending|in_progress|completed|blocked)\n"
    r"file: (?!(?i:null)\n)(\w(?:[\w/.@+() -]*[\w/.)])?)\nspec_ref: ([a-z0-9][a-z0-9-]*+:R[0-9]++)\n"
    rf"depends_on:(?: \[\]|((?:\n  - [a-z]+\.[1-9][0-9]{{0,5}})++))\n```\n\n(?:({TEXT})\n\n)?+"
)
_END = "</tasks>\n"
_STATUSES: tuple[TaskStatus, ...] = ("completed", "in_progress", "blocked", "pending")  # as the head counts them


def plain(text: str) -> Tasks | None:
    """The tasks, if they are written in the plainest way and nothing is wrong with them."""
    head = _HEAD.match(text)
    if head is None or not is_literal(text):
        return None
    tasks: list[Task] = []
    known: set[str] = set()
    layer, rank = "", 0
    at, line = head.end(), text.count("\n", 0, head.end()) + 1
    while not text.startswith(_END, at):
        found = _TASK.match(text, at)
        if found:
            place, number, title, word, action, status, path, spec_ref, listed, description = found.groups()
            name, depends = f"{word}.{number}", tuple(listed.split("\n  - ")[1:]) if listed else ()
            if word != layer or int(place) != rank or name in known or not known.issuperset(depends) or ".." in path:
                return None
            known.add(name)
            kinds = cast(Layer, word), cast(Action, action), cast(TaskStatus, status)
            made = Task(
                kinds[0], int(number), title, path, kinds[1], spec_ref, description or "", depends, kinds[2], line
            )
            tasks.append(made)
        else:
            found = _LAYER.match(text, at)
            if found is None:
                return None
            layer, rank = found[2].lower(), int(found[1])
            if LAYERS[rank - 1] != layer:
                return None
        line += text.count("\n", at, found.end())
        at = found.end()
    if at + len(_END) != len(text) or not tasks or not _agrees(head, tasks):
        return None
    change, version, created, updated = head.groups()[:4]
    return Tasks(change, tuple(tasks), created.strip('"'), updated.strip('"'), version or "1.0")


def _agrees(head: re.Match[str], tasks: list[Task]) -> bool:
    """Whether the counts in the front matter are those of the tasks."""
    statuses = [task.status for task in tasks]
    layers = [task.layer for task in tasks]
    told = _COUNT.findall(head[10])
    return (
        [*map(int, head.groups()[4:9])] == [len(tasks), *map(statuses.count, _STATUSES)]
        and len({layer for layer, _ in told}) == len(told)
        and all(int(count) == layers.count(layer) for layer, count in told)
    )
