"""The end of a session: its report, and the last look at whether it may be called done."""

import re

from agentd.errors import GateClosed
from agentd.families.team import LAYOUT, acceptance, session, workspaces
from agentd.families.team.session_documents import ACCEPTANCE, REPORT, criteria
from agentd.model.run import Outcome
from agentd.patterns import regex
from agentd.runs.specification import Criterion, Specification
from agentd.runs.work import Work
from agentd.workspaces import work_files

BEGIN, END = "<!-- agentd: recorded -->", "<!-- agentd: end -->"
_RECORDED = regex(rf"\n*{re.escape(BEGIN)}.*?{re.escape(END)}\n?", re.DOTALL)


def write_report(work: Work) -> Outcome:
    """The report of a lean session, which has no Docs."""
    goal = str(work.state.fields.get("description") or "").strip()
    checks = [
        f"- `{check.removeprefix('cmd: ')}`"
        for check in acceptance.seen(work).get("checks") or {}
        if check.startswith("cmd: ")
    ]
    landed = workspaces.record_of(work)
    parts = [
        f"# {goal.splitlines()[0] if goal else work.state.run.name}",
        "## What was done",
        "\n".join([goal, "", *(f"- {one.id} {one.title}" for one in session.listed(work))]),
        "## How to run",
        f"The work is on the branch `{landed['branch']}`: `agentd deliver {work.state.run.name}`.",
        "## How to test",
        "\n".join(
            checks or [f"- {line}" for line in acceptance.seen(work).get("tests") or ["see the README of the project"]]
        ),
        "## Known issues",
        "\n".join(_issues(work)),
    ]
    work.write(REPORT, "\n\n".join(parts) + "\n")
    return Outcome("done")


def _issues(work: Work) -> list[str]:
    return [f"- {each}" for each in session.texts(work, "known_issues")] or ["- none"]


def close_session(work: Work) -> Outcome:
    """Add what agentd recorded to the report: evidence, decisions, known issues, cost, and where the work is."""
    landed = workspaces.record_of(work)
    decided = [
        f"- {one.id} {one.question.splitlines()[0]} → {one.answer}" + (f" ({one.note})" if one.note else "")
        for one in work.state.decisions
        if one.status == "answered"
    ]
    lines = [
        BEGIN,
        "## Recorded by agentd",
        "",
        f"Branch `{landed['branch']}` at `{landed['commit'][:12]}`.",
        "",
        "### Acceptance criteria",
        "",
        *acceptance.criteria_lines(work),
        "",
        "### Decisions",
        "",
        *(decided or ["- none"]),
        "",
        "### Known issues that were accepted",
        "",
        *_issues(work),
        END,
    ]
    report = _RECORDED.sub("\n", work.read(REPORT)).rstrip()
    work.write(REPORT, f"{report}\n\n" + "\n".join(lines) + "\n")
    return Outcome("done", f"{landed['branch']} at {landed['commit'][:12]}")


def specification(work: Work) -> Specification:
    """What a session that is done has specified."""
    name = f"{LAYOUT.name}/{work.state.run.name}"
    if work.state.run.result != "done":
        what = f"'{name}' is {work.state.run.phase}, not DONE: its specification is no part of the library yet."
        raise GateClosed(what, f"agentd status {name}")
    found = tuple(
        Criterion(one.description, "; ".join(map(str, one.verify))) for one in criteria(work.read(ACCEPTANCE))
    )
    files = tuple(one["path"] for one in work_files.changed_files(work) if one["change_type"] != "deleted")
    goal = str(work.state.fields.get("description") or work.state.run.name)
    return Specification(goal, found, files, name, work.project.relative(work.home / ACCEPTANCE))


def confirm_done(_: Work) -> Outcome:
    """Nothing is left to do: what a session needs to be done is what this step needs."""
    return Outcome("done")
