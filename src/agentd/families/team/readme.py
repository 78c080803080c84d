"""Whether the README of a project still names what a session took away: files and options, by name. It judges no prose."""

import re
from collections.abc import Iterable

from agentd.families.team import session
from agentd.git import merging, trees
from agentd.model.decision import RECOMMENDED, Option, Question
from agentd.model.run import Outcome
from agentd.patterns import regex
from agentd.runs.work import Work
from agentd.workspaces import work_files

MOST = 20
_OPTION = regex(r"(?<![\w-])--[a-z][\w-]*[a-z0-9]")
# Where an option may stand that the program no longer has: documents and the history of changes.
_PROSE = regex(r"(?:^|/)(?:docs?|changes?|news|changelog|history)(?:/|\.|$)|\.(?:md|rst|txt|adoc|po)$", re.IGNORECASE)


def named_paths(text: str, paths: Iterable[str]) -> list[str]:
    """Those of the paths that a text names."""
    return [path for path in paths if re.search(rf"(?<![\w./-])(?:\./)?{re.escape(path)}(?![\w/-])", text)]


def dropped_options(text: str, patch: str) -> list[str]:
    """The options that a text names and that stand in a line of code which a patch takes away."""
    found: set[str] = set()
    is_code = False
    for line in patch.splitlines():
        if line.startswith("diff --git "):
            is_code = not _PROSE.search(line.rpartition(" b/")[2])
        elif is_code and line.startswith("-") and not line.startswith("--- "):
            found.update(_OPTION.findall(line[1:]))
    return sorted(found.intersection(_OPTION.findall(text)))[:MOST]


def outdated(work: Work) -> list[str]:
    """What README names and the session took away, in the workspace as it is: files, and options that no code has any more."""
    pages = [path for path in sorted(work.cwd.glob("[Rr][Ee][Aa][Dd][Mm][Ee]*")) if path.is_file()]
    text = "\n".join(path.read_text(encoding="utf-8", errors="replace") for path in pages)
    if not text:
        return []
    gone = [one.get("old_path", one["path"]) for one in work_files.changed_files(work) if one["change_type"] != "added"]
    found = named_paths(text, [path for path in gone if not (work.cwd / path).exists()])
    now = work_files.tree(work)
    options = dropped_options(text, work_files.patch(work))
    files = [name for name in trees.hashes(work.cwd, now) if not _PROSE.search(name)] if options else []
    return found + [name for name in options if not _stands(work, now, name, files)]


def _stands(work: Work, tree: str, option: str, files: list[str]) -> bool:
    """Whether code still has an option, also as a name that a parser makes an option of."""
    pattern = rf"(^|[^[:alnum:]]){'[-_]?'.join(option[2:].split('-'))}([^[:alnum:]]|$)"
    return any(not _PROSE.search(name) for name in merging.grep(work.cwd, tree, pattern, files))


def check_readme(work: Work) -> Outcome:
    found = outdated(work)
    return Outcome("stale", f"README still names {', '.join(found)}") if found else Outcome("current")


def readme_is_stale(work: Work) -> Question:
    lines = "\n".join(f"  - {name}" for name in outdated(work))
    options = (
        Option("fix", f"Have Docs correct it {RECOMMENDED}"),
        Option("accept", "It is meant so; it becomes a known issue", reason=True),
    )
    return Question(f"README still names what this session took away:\n{lines}\nWhat now?", "README", options)


def accept_readme(work: Work) -> Outcome:
    """Keep what a person left in README as a known issue."""
    said = session.last_said(work)
    why = f" — accepted by {said.by} ({said.note})" if said else ""
    session.add_known_issues(work, [f"README still names {', '.join(outdated(work))}{why}"])
    return Outcome("done")
