"""What an agent behind the Agent Client Protocol may do when it asks: the answers agentd gives instead of a person.

Everything an agent says about a tool call may be missing or of any type; what is not understood is refused.
"""

import os
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agentd.patterns import regex
from agentd.values import dataclass

Call = Mapping[str, Any]

SERVER = "agentd"
EDITS = ("edit", "delete", "move")
HARMLESS = ("read", "search", "think")
# How agents write a tool of an MCP server: mcp__agentd__x (Claude), mcp.agentd.x (Codex), agentd_x (OpenCode),
# x (agentd MCP Server) (Gemini). A command to run can look like all but the first two, so only those may be one.
_PREFIXED = regex(rf"mcp(?:__|_|\.){SERVER}(?:__|_|\.)([\w-]+)")
_NAMED = regex(rf"(?:Tool: )?{SERVER}(?:__|[_./-]|: )([\w-]+)|([\w-]+) \({SERVER} MCP Server\)")


@dataclass(frozen=True)
class Rules:
    """What the job allows; `cwd` and `folder` are where it may edit."""

    cwd: str
    folder: str
    tools: tuple[str, ...] = ()
    edits: bool = False
    shell: bool = False


def allows(call: Call, rules: Rules) -> bool:
    """Whether a tool call may be made: agentd's own tools, reading, and of the rest what the job allows."""
    kind = kind_of(call)
    if is_edit(call):
        paths = list(_paths(call))
        return rules.edits and bool(paths) and all(_may_change(path, rules) for path in paths)
    if own_tool(call) in rules.tools:
        return True
    if kind in ("execute", "fetch"):
        return rules.shell
    return kind in HARMLESS


def is_edit(call: Call) -> bool:
    """Whether files are changed by it, whatever it calls itself: an agent's memory is a file too."""
    return kind_of(call) in EDITS or any(True for _ in _diffs(call))


def own_tool(call: Call) -> str:
    """The tool of agentd's server that is called, if it is one."""
    pattern = _PREFIXED if kind_of(call) == "execute" else re.compile(f"{_PREFIXED.pattern}|{_NAMED.pattern}")
    for name in (call.get("name"), call.get("title")):
        found = pattern.fullmatch(name) if isinstance(name, str) else None
        if found:
            return next(group for group in found.groups() if group)
    return ""


def kind_of(call: Call) -> str:
    kind = call.get("kind")
    return kind if isinstance(kind, str) else ""


def name_of(call: Call) -> str:
    """What to call it when it is refused."""
    kind, title = kind_of(call), call.get("title")
    named = title.strip().split("\n")[0][:80] if isinstance(title, str) else ""
    return own_tool(call) or (kind if kind not in ("", "other") else named) or "a tool without a name"


def option(options: object, allowed: bool) -> str:
    """The option to choose: never one that allows more than this once."""
    for kind in ("allow_once",) if allowed else ("reject_once", "reject_always"):
        for each in options if isinstance(options, list) else ():
            if isinstance(each, dict) and each.get("kind") == kind and isinstance(each.get("optionId"), str):
                return str(each["optionId"])
    return ""


def mode_wanted(rules: Rules, offered: Sequence[str]) -> str:
    """The mode in which the agent asks before it does what it may not do anyway, if it offers one we know."""
    first = "workspace-write" if rules.edits and rules.shell else "read-only"
    return next((mode for mode in (first, "default") if mode in offered), "")


def _paths(call: Call) -> Iterator[str]:
    locations = call.get("locations")
    for each in (*(locations if isinstance(locations, list) else ()), *_diffs(call)):
        path = each.get("path") if isinstance(each, dict) else None
        yield path if isinstance(path, str) else ""


def _diffs(call: Call) -> Iterator[Call]:
    content = call.get("content")
    for each in content if isinstance(content, list) else ():
        if isinstance(each, dict) and each.get("type") == "diff":
            yield each


def _may_change(path: str, rules: Rules) -> bool:
    """Inside the work tree or the run's folder, links followed; never in git's own files, which can start programs."""
    if not path or "\0" in path:
        return False
    target = os.path.realpath(os.path.join(rules.cwd, path))
    for root in map(os.path.realpath, (rules.cwd, rules.folder)):
        if target != root and os.path.commonpath([root, target]) == root:
            return ".git" not in os.path.relpath(target, root).split(os.sep)
    return False
