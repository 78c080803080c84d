"""A change that real programs implemented, looked at from outside: the code, what agentd wrote, and what the models were sent."""

import json
import re
import subprocess
from collections.abc import Iterator, Mapping
from typing import Any

from agentd.proof import evidence_file
from tests.contract.calls import check_calls, told
from tests.contract.lab import Lab
from tests.contract.model import Request
from tests.sandbox import CHANGE, wait_until

SCENES = ("implement", "review", "resolve", "review_again")
FILES = ["tally/__init__.py", "tally/words.py", "tests/test_top.py"]
RED = "tests.test_top.Top.test_ties_come_in_alphabetical_order"
TASKS = ("logic.1 Count and sort: MODIFY tally/words.py", "testing.1 Test the order: CREATE tests/test_top.py")
PLAN = ("proposal.md", "specs/top-words.md", "tasks.md")
# The tools of agentd that these steps have, and no others of its own.
READING = {"read_file", "read_all_requirements", "read_implementation_summary", "list_changed_files"}
SERVED = {
    "implement": {*READING, "finish_task"},
    "resolve": READING,
    "review": {"read_file", "validate_change", "append_review", "create_review"},
}
# What a program calls its own ways of changing something.
CHANGING = {"Edit", "Write", "NotebookEdit", "Bash", "replace", "write_file", "run_shell_command", "edit_file"}
SCHEMAS = ("input_schema", "parameters", "parametersJsonSchema")


def check_built(lab: Lab, implementer: str, reviewer: str) -> None:
    """A planned change was implemented badly, approved of, not believed, repaired, approved and archived by these two."""
    before = len(lab.state()["llm_calls"])
    done = lab.run("impl", CHANGE)
    assert done.code == 0, done.out + done.err + told(lab)
    assert lab.state()["phase"] == "complete"
    played = dict.fromkeys(each.scene for each in lab.model.requests if each.scene in SCENES)
    assert tuple(played) == SCENES
    players = {scene: reviewer if "review" in scene else implementer for scene in SCENES}
    check_calls(lab, players, before)
    check_code(lab)
    check_records(lab)
    check_implementer(lab)
    check_reviewer(lab, reviewer)
    done = lab.run("archive", CHANGE)
    assert done.code == 0, done.out + done.err
    assert lab.state()["phase"] == "archived"
    assert lab.leaks() == []
    wait_until(lambda: not lab.processes(), 10)


def check_code(lab: Lab) -> None:
    """The files of the tasks are changed, and nothing else of the project is."""
    words = ("git", "status", "--porcelain", "--untracked-files=all", "--", ".", ":!agentd", ":!.gemini")
    listed = subprocess.run(words, cwd=lab.root, capture_output=True, text=True, check=True).stdout
    assert sorted(line[3:] for line in listed.splitlines()) == FILES
    assert "key=lambda pair: (-pair[1], pair[0])" in (lab.root / "tally/words.py").read_text()


def check_records(lab: Lab) -> None:
    """tasks.md, evidence.json and the reviews say what agentd saw, whatever the agents said."""
    tasks = (lab.folder() / "tasks.md").read_text()
    assert re.findall(r"(?mi)^(?:- )?status: (\w+)", tasks) == ["completed", "completed"]
    seen = evidence_file.read((lab.folder() / "evidence.json").read_text(), "evidence.json")
    assert [(one.command.kind, one.status, one.counts and one.counts.passed) for one in seen.results] == [
        ("test", "green", 3)
    ]
    assert [one.status for one in seen.before] == ["red"]
    assert seen.harms == ()
    first, last = ((lab.folder() / "reviews" / name).read_text() for name in ("01.md", "02.md"))
    assert "## Verdict\n\nAPPROVED\n" in first
    assert "The reviewer reported PASS with 3 passed; agentd saw 1 of 3 fail." in first
    assert "not approved: the reviewer says APPROVED, but tests red: 2 passed, 1 failed" in first
    assert RED in first
    assert "- **Quote**: `return sorted(count(text).items(), key=lambda pair: -pair[1])[:n]`" in first
    assert "ungrounded" not in first
    assert (lab.folder() / "REVIEW.md").read_text() == last
    assert f"tree: {seen.tree}" in last.replace('"', "")
    assert "## Outcome\n\n<!-- written by agentd -->\n\napproved\n" in last
    assert "tests green: 3 passed, 0 failed" in last
    approved = lab.state()["implementation"]["approved"]
    assert (approved["tree"], sorted(approved["files"])) == (seen.tree, FILES)


def check_implementer(lab: Lab) -> None:
    """An implementer is sent the plan by its paths and its tasks in words; agentd looks at the files before it believes one."""
    first, last = lab.model.played("implement")[0], lab.model.played("implement")[-1]
    sent = words_of(first)
    assert [name for name in PLAN if f"/agentd/changes/{CHANGE}/{name}\n" not in sent] == []
    assert [task for task in TASKS if task not in sent] == []
    assert "SHALL give at most n pairs" not in sent  # a spec's own words: it is named, not quoted
    results = words_of(last)
    assert "Task logic.1 is not done: tally/words.py has not changed." in results
    assert "Task logic.1 is done. Left: testing.1." in results
    assert "Task testing.1 is done. Left: none." in results
    check_tools(lab, "implement", "finish_task")
    repairing = words_of(lab.model.played("resolve")[0])
    assert "tests red: 2 passed, 1 failed" in repairing
    assert "AssertionError: Lists differ: [('b', 1), ('a', 1)] != [('a', 1), ('b', 1)]" in repairing
    assert "I1  new       Low     tally/words.py:16  The whole text is sorted" in repairing
    tried = words_of(lab.model.played("resolve")[-1])
    assert re.search(r"Ran 3 tests in [\d.]+s\s+OK\b", tried)  # in the program's own shell
    check_tools(lab, "resolve")


def check_reviewer(lab: Lab, reviewer: str) -> None:
    """A reviewer is sent what agentd saw, and can change nothing."""
    first, last = lab.model.played("review")[0], lab.model.played("review")[-1]
    sent = words_of(first)
    assert "tests red: 2 passed, 1 failed" in sent
    assert RED in sent
    assert [name for name in (*PLAN, "implementation.diff") if f"/agentd/changes/{CHANGE}/{name}\n" not in sent] == []
    assert "+def top(text: str, n: int)" in words_of(last)  # the diff, as it was read
    issue = check_tools(lab, "review", "create_review")["$defs"]["Found"]
    assert issue["properties"]["quote"]["anyOf"][0]["type"] == "string"
    again = words_of(lab.model.played("review_again")[0])
    assert "tests green: 3 passed, 0 failed" in again
    assert "I1  new       Low     tally/words.py:16  The whole text is sorted" in again
    check_powerless(first, reviewer)


def check_powerless(request: Request, reviewer: str) -> None:
    """No tool changes a file or runs a command. Codex offers its own to everybody: it is told that its sandbox refuses them."""
    assert CHANGING.isdisjoint(name.rsplit("__", 1)[-1] for name in request.tools)
    if reviewer == "codex":
        assert "`sandbox_mode` is `read-only`" in words_of(request)
    else:
        assert not {"exec_command", "apply_patch"} & set(request.tools)


def check_tools(lab: Lab, scene: str, named: str = "") -> Mapping[str, Any]:
    """The tools of agentd that a step is offered are its own, and the schema of the one that matters came whole."""
    requests = lab.model.played(scene)
    offered = {name for each in requests for name in each.tools if "agentd" in name}
    assert {re.sub(r"^mcp_+agentd_+", "", name) for name in offered} <= SERVED[scene]
    if not named:
        return {}
    found = next(each for request in requests for each in schemas(request.json, named))
    assert found["type"] == "object"
    assert set(found["required"]) <= set(found["properties"])
    inner = found.get("$defs", {})
    assert {each.removeprefix("#/$defs/") for each in _values(found, "$ref")} == set(inner)
    return found


def words_of(request: Request) -> str:
    """Every text in a request, one after another."""
    return "\n".join(_texts(request.json))


def schemas(value: object, name: str) -> Iterator[dict[str, Any]]:
    """How a tool is declared, wherever in a request that is: at its top, in a namespace, in what a search found."""
    if isinstance(value, dict):
        if re.search(rf"(^|_){name}$", str(value.get("name"))):
            yield from (value[key] for key in SCHEMAS if key in value)
        for part in value.values():
            yield from schemas(part, name)
    elif isinstance(value, list):
        for part in value:
            yield from schemas(part, name)


def _texts(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
        if value.startswith("{"):  # what a tool gave may be JSON in a text
            try:
                yield from _texts(json.loads(value))
            except ValueError:
                return
    elif isinstance(value, (dict, list)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _texts(part)


def _values(value: object, key: str) -> Iterator[str]:
    if isinstance(value, dict):
        if isinstance(value.get(key), str):
            yield value[key]
        for part in value.values():
            yield from _values(part, key)
    elif isinstance(value, list):
        for part in value:
            yield from _values(part, key)
