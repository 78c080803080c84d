"""What a task is told when its work does not land: the documents about a conflict and about a combination that is red."""

import re
import shlex
from collections.abc import Iterable, Sequence
from pathlib import Path

from agentd.git import merging, trees
from agentd.landing.queue import Conflict, Finished, Red
from agentd.landing.run_branch import RunBranch

CONFLICT, RED, NOT_STARTED = "conflict.md", "red.md", "could_not_start.md"
_SHOWN = 20_000  # characters of a patch
_ANY_COMMIT = "[0-9a-f]{40,64}"


def marker(*commits: str) -> str:
    """Return the expression for the markers of a merge of these commits; of any two if none are given.

    git writes the name of a commit behind a marker, and a path if a side renamed the file. Its length is an attribute.
    """
    names = "|".join(map(re.escape, filter(None, commits))) or _ANY_COMMIT
    return f"^(<+|>+) ({names})(:.*)?\r?$"


def conflict_text(branch: RunBranch, mine: Finished, found: Conflict) -> str:
    """What a person or an agent needs to settle a conflict: the files, what git says, and both sides."""
    marked = merging.grep(branch.root, found.tree, marker(found.on, mine.commit), found.files)
    parts = [
        f"# {mine.task} and what has landed changed the same lines",
        "",
        *_marked(marked),
        *_unmarked(mine, [name for name in found.files if name not in marked]),
        "",
        *found.messages,
        *_sides(branch, mine, found.others),
    ]
    return _text(parts)


def _marked(files: Sequence[str]) -> Iterable[str]:
    yield "The workspace has everything that has landed."
    if files:
        yield "In these files both sides stand between markers:"
        yield from (f"- {name}" for name in files)
        yield ""
        yield "Make of both sides what does the work of both, and remove the markers. Neither side may be dropped."


def _unmarked(mine: Finished, files: Sequence[str]) -> Iterable[str]:
    """Files with no place for markers: binary ones, and those that one side deleted or renamed."""
    if files:
        yield from ("", "These have no markers; the version of this task is what the command prints:")
        yield from (f"- {name}: git show {mine.commit}:{shlex.quote(name)}" for name in files)
        yield from (
            "",
            'If they are right as they are, say so with a commit in the workspace: git commit -am "as it is"',
        )


def red_text(branch: RunBranch, mine: Finished, found: Red) -> str:
    """Why the combination is not good, and both sides of it."""
    alone = "It is not good by itself." if not found.culprit else f"It does not go together with {found.culprit}."
    parts = [f"# {mine.task} did not land", "", alone, "", found.note]
    return _text([*parts, *_sides(branch, mine, filter(None, [found.culprit]))])


def _text(lines: Iterable[str]) -> str:
    """The lines as a text that can be saved, whatever bytes the names of files have."""
    return ("\n".join(lines) + "\n").encode(errors="surrogateescape").decode(errors="replace")


def _sides(branch: RunBranch, mine: Finished, others: Iterable[str]) -> Iterable[str]:
    landed = branch.landed(mine.base)
    for task in others:
        yield from _side(f"What landed with {task}", branch.root, f"{landed[task]}^", landed[task])
    yield from _side(f"The work of {mine.task}", branch.root, mine.base, mine.commit)


def _side(title: str, root: Path, old: str, new: str) -> Iterable[str]:
    patch = trees.patch(root, old, new)
    more = "\n… (cut)" if len(patch) > _SHOWN else ""
    yield from ("", f"## {title}", "", "```diff", patch[:_SHOWN].rstrip() + more, "```")
