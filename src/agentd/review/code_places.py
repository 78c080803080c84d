"""The places that a finding about code can name: the files, the lines that the change touched, the uses of those."""

from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path

from agentd.errors import AgentdError
from agentd.git import trees
from agentd.model.verdict import Issue
from agentd.review import changed_code, code_grounding
from agentd.runs.safe_paths import inside, read_text


def ground(cwd: Path, issues: Sequence[Issue], base: str, tree: str) -> tuple[Issue, ...]:
    """The issues, each with the reason if its quote does not exist or is not near what changed since the base."""
    if not issues or not base:
        return tuple(issues)
    changed = trees.changes(cwd, base, tree)
    ranges = {one.path: changed_code.changed_lines(one) for one in changed}
    olds = {one.path: one.old for one in changed}
    names = changed_code.names_changed(changed)

    @cache
    def text(path: str) -> str | None:
        return _text(cwd, path)

    @cache
    def callers(path: str) -> str:
        return changed_code.uses(text(path) or "", names)

    return tuple(
        replace(one, ungrounded=code_grounding.ungrounded(one, text, ranges.get, callers, olds.get)) for one in issues
    )


def _text(place: Path, path: str) -> str | None:
    """The text of a file of the project; None if it does not exist or is outside."""
    try:
        found = inside(place, path, "file")
        return read_text(found, path) if found.is_file() else None
    except (AgentdError, OSError):
        return None
