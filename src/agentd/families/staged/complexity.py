"""How complex a task is, from what its plan says: files, lines of code, and words for what is delicate. Pure."""

from collections.abc import Sequence

from agentd.families.staged.plan_file import Task
from agentd.families.staged.task_fields import COMPLEXITIES
from agentd.patterns import regex
from agentd.proof.integrity.paths import is_test
from agentd.text.outline import outline, split_lines

EASY, MEDIUM, HARD = COMPLEXITIES
# Code that several threads, processes or requests touch.
_SHARED = regex(
    r"(?i)\b(?:concurren\w*|race conditions?|deadlocks?|mutex\w*|semaphores?|thread[- ]?saf\w*|multi-?thread\w*|threads|atomic\w*"
    r"|lock[- ]free|(?:file|row|advisory|distributed|read|write) locks?|locking|shared (?:mutable )?(?:state|memory|cache)"
    r"|global (?:mutable )?state|transaction isolation|parallel (?:writ\w+|access|workers))\b"
)
_SECURITY = regex(
    r"(?i)\b(?:security|auth|authenticat\w+|authoriz\w+|oauth\w*|jwt|passwords?|credentials?|secrets?|encrypt\w*|decrypt\w*"
    r"|cryptograph\w*|csrf|xss|sql injection|sandbox\w*|permissions?|access control|sessions? tokens?|api keys?|private keys?"
    r"|signatures?|payments?)\b"
)
_UNCLEAR = regex(
    r"(?i)\b(?:tbd|to be (?:decided|determined)|as needed|if necessary|where(?:ver)? (?:appropriate|needed)|and so on|etc|various"
    r"|investigat\w+|figure out|migrat\w+|refactor\w*|re-?design\w*|rewrite|re-?architect\w*)\b"
)
_LINES = regex(r"(?i)(\d{1,6})\+?\s*(?:lines?\b(?: of code)?|loc\b)")
_PATTERN = regex(r"[*?\[{]|/$")


def score(task: Task, plan: Sequence[Task] = ()) -> str:
    """The complexity of a task. Tests alone are at least as complex as the tasks of the plan that they depend on."""
    level = max(_by_size(task), _by_words(task))
    if task.files and all(map(is_test, task.files)):
        tested = [other for other in plan if other.number in task.depends and not all(map(is_test, other.files))]
        level = max([level, *(COMPLEXITIES.index(score(other)) for other in tested)])
    return COMPLEXITIES[level]


def chosen(task: Task, use_scoring: bool, plan: Sequence[Task] = ()) -> str:
    """The complexity that a task is routed by: what the plan says, and with scoring the higher of that and the score."""
    if not use_scoring and task.complexity:
        return task.complexity
    return max(task.complexity or EASY, score(task, plan), key=COMPLEXITIES.index)


def _by_size(task: Task) -> int:
    """By files (a test beside the code that it tests is none more) and by lines; a pattern may be any number of files."""
    code = [path for path in task.files if not is_test(path)] or task.files
    if any(map(_PATTERN.search, code)):
        return 2
    found = outline(split_lines(task.instructions))
    written = sum(bool(found.lines[number - 1].strip()) for number in found.fenced)
    lines = max([written, *(int(number) for number in _LINES.findall(found.text(1, len(found.lines))))])
    files = len(code) or 2  # no file named: unclear
    return max((files > 1) + (files > 3), (lines >= 50) + (lines > 200))


def _by_words(task: Task) -> int:
    """By what the name, the paths and the instructions outside of code say."""
    found = outline(split_lines(task.instructions))
    prose = " ".join(line for _, line in found.plain_lines(1, len(found.lines)))
    text = f"{task.name} {prose} {' '.join(task.files).replace('/', ' ').replace('_', ' ')}"
    if _SHARED.search(text) or _SECURITY.search(task.name):
        return 2
    return 1 if _SECURITY.search(text) or _UNCLEAR.search(text) else 0
