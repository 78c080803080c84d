"""Killed in the middle of any tool call, the server leaves the old document or the new one, never half of one."""

from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from agentd.families.change.documents import clarifications, proposal, tasks
from agentd.library import spec
from tests.documents.valid import valid
from tests.mcp import samples
from tests.mcp.bench import Bench


@dataclass(frozen=True)
class Call:
    """A tool call, its n-th write and the file it goes to."""

    tool: str
    arguments: dict[str, Any]
    path: str
    document: ModuleType | None = None
    write: int = 1
    twice: bool = False

    def __str__(self) -> str:
        return f"{self.tool}-{self.write}{'-again' if self.twice else ''}"


MOMENTS = ["torn", "before", "after"]
EDIT = {"change_id": samples.CHANGE, "file": "notes.md", "old_text": "old", "new_text": "new"}
HOME = f"agentd/changes/{samples.CHANGE}"
CALLS = [
    Call("draft_questions", samples.QUESTIONS, f"{HOME}/questions.yaml"),
    Call("create_clarifications", samples.CLARIFICATIONS, f"{HOME}/clarifications.md", clarifications),
    Call("create_proposal", samples.PROPOSAL, f"{HOME}/proposal.md", proposal),
    Call("create_proposal", samples.PROPOSAL, f"{HOME}/proposal.md", proposal, twice=True),
    Call("create_spec", samples.SPEC, f"{HOME}/specs/auth-flow.md", spec),
    Call("create_spec", samples.SPEC, f"{HOME}/specs/auth-flow.md", spec, twice=True),
    Call("create_tasks", samples.TASKS, f"{HOME}/tasks.md", tasks),
    Call("append_review", samples.APPEND, f"{HOME}/proposal.md", proposal),
    Call("append_review", samples.APPEND, f"{HOME}/CHALLENGE.md", write=2),
    Call("create_review", samples.CREATE_REVIEW, f"{HOME}/REVIEW.md"),
    Call("edit_file", EDIT, f"{HOME}/notes.md"),
    Call("write_knowledge", samples.KNOWLEDGE, "agentd/knowledge/01-auth/oauth.md"),
    Call("write_main_spec", samples.MAIN_SPEC, "agentd/specs/auth-flow.md"),
]


def visible(image: dict[str, bytes]) -> dict[str, bytes]:
    """Without the temporary files that a killed write leaves for the next command to sweep away, and the trace that the
    agent found its tools."""
    names = {path: Path(path) for path in image}
    kept = [path for path, name in names.items() if not name.name.startswith(".") and name.suffix != ".served"]
    return {path: image[path] for path in kept}


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Every call at one moment, each in its turn; at every moment with --crash=all. One also on a server that stands
    alone: it writes with the same code."""
    if "moment" in metafunc.fixturenames:
        every = metafunc.config.getoption("--crash") == "all"
        cases = [
            (call, moment, "served")
            for at, call in enumerate(CALLS)
            for moment in (MOMENTS if every else [MOMENTS[at % 3]])
        ]
        cases += [(CALLS[2], moment, "alone") for moment in (MOMENTS if every else MOMENTS[:1])]
        metafunc.parametrize(("call", "moment", "way"), cases, ids=["-".join(map(str, case)) for case in cases])


def test_a_kill_leaves_the_old_document_or_the_new_one(bench: Bench, call: Call, moment: str, way: str) -> None:
    bench.write("notes.md", "# Notes\n\nold\n")
    if call.tool == "append_review":
        assert not bench.call_tool("create_proposal", samples.PROPOSAL).is_error
    if call.twice:
        assert not bench.call_tool(call.tool, call.arguments).is_error
    bench.begin("propose", (call.tool,))
    before = visible(bench.image())
    with bench.raw(crash=f"document:{call.write}:{moment}", way=way) as raw:
        raw.send(
            {
                "jsonrpc": "2.0",
                "id": 9,
                "method": "tools/call",
                "params": {"name": call.tool, "arguments": call.arguments},
            }
        )
        assert raw.died() == (-9 if way == "alone" else 1)
    after = visible(bench.image())
    path = bench.root / call.path
    if moment == "after":
        assert after[str(path)] != before.get(str(path))
        if call.document:
            valid(call.document, path.read_text(encoding="utf-8"))
    elif call.write == 1:
        assert after == before
    else:
        assert after.get(str(path)) == before.get(str(path))
    with bench.raw(way=way) as raw:
        again = raw.call(call.tool, call.arguments)
        assert not again.get("isError") or (call.tool, moment) == ("edit_file", "after"), again
    if call.tool == "append_review":
        assert len(proposal.reviews(bench.text("proposal.md"))) == 1
    assert path.read_text(encoding="utf-8").endswith("\n")
