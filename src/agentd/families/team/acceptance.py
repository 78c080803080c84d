"""Whether what was asked for is there: the checks of the criteria, run by agentd on exactly the commit that is delivered."""

import json
import shlex
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

from agentd.families.team import session, workspaces
from agentd.families.team.session_documents import ACCEPTANCE, Check, Criterion, Invalid, criteria, report_problem
from agentd.landing import task, variables
from agentd.landing.documents import RED
from agentd.model.command import Command
from agentd.model.decision import RECOMMENDED, Option, Question
from agentd.model.evidence import Evidence, Result
from agentd.model.run import Outcome
from agentd.proof import blockers, commands, record
from agentd.runs.work import Work
from agentd.state import reading
from agentd.workspaces import work_proof

CHECKS, KEY = "checks.json", "acceptance"
CONFIRM = ("confirm_checks", "lean_confirm_checks")


def _criteria(work: Work) -> tuple[Criterion, ...]:
    try:
        return criteria(work.top.read(ACCEPTANCE))
    except Invalid:
        return ()


def _wanted(work: Work) -> tuple[Check, ...]:
    """Every check of the criteria and of the tasks, each once."""
    found = [check for one in _criteria(work) for check in one.verify]
    found += [check for one in session.listed(work) for check in one.acceptance_checks]
    return tuple(dict.fromkeys(found))


def run_acceptance_checks(work: Work) -> Outcome:
    """Run the project's tests and every `cmd:` on the tip of the session's branch, in a work tree of its own."""
    landing, commit = task.landing_of(work), workspaces.tip(work)
    with landing.ground.checked_out(commit) as ground:
        place = variables.inner(work.project.root, ground)
        tests, own = _run(work, place)
    wanted = _wanted(work)
    results = {str(check): _result(check, tests, own) for check in wanted}
    found = _blockers(work, tests, None)
    if found:  # what was red before the session began is not held against it
        before = work_proof.began(work)
        found = _blockers(work, tests, before)
        results_before = before.results if before else ()
        known = [case.name for one in results_before for case in one.cases if case.status == "failed"]
        session.add_known_issues(work, [f"{name} failed before the session began" for name in known])
    unknown = {one.id: one.text for one in found if one.why == "unknown"}
    wrong = [f"{check}: {why}" for check, (status, why) in results.items() if status == "red"]
    said = [*(one.text for one in found), *wrong]
    word = "green" if not said else "unknown" if len(unknown) == len(said) else "red"
    data = {
        "commit": commit,
        "at": work.project.now(),
        "status": word,
        "unknown": unknown,
        "tests": [blockers.in_words(one) for one in tests],
        "checks": {check: {"status": status, "note": why} for check, (status, why) in results.items()},
    }
    _keep(work, data, word)
    session.note(
        work, last_ci_result={"status": "green" if word == "green" else "red", "failed": "; ".join(said)[:500]}
    )
    for line in said:
        work.say(f"⚠ {line}")
    if said:
        session.tried(work, f"checks: {'; '.join(said)}")
        work.write(RED, "# The acceptance checks are not green\n\n" + "\n".join(f"- {line}" for line in said) + "\n")
    return Outcome(word, "; ".join(said)[:500])


def accept_checks(work: Work) -> Outcome:
    """Do without the tests that could not run, as a person decided."""
    said, found = session.last_said(work), seen(work).get("unknown")
    if said is None or not isinstance(found, Mapping):
        return Outcome("done", "nothing was accepted: nothing is waived")
    workspaces.waive(work, said, {str(name): str(text) for name, text in found.items()})
    return Outcome("done")


def _run(work: Work, place: Path) -> tuple[tuple[Result, ...], dict[str, Result]]:
    commands.settle_commands(work)
    tests = commands.run_all(work, place, commands.commands(work, commands.TESTS))
    commands.say_results(work, tests)
    own = {}
    for check in _wanted(work):
        if check.kind == "cmd":
            (result,) = commands.run_all(work, place, [Command("lint", shlex.join(("sh", "-c", check.what)))])
            own[check.what] = result
            work.say(f"{'✓' if result.status == 'green' else '✗'} {check}")
    return tests, own


def _blockers(work: Work, tests: Sequence[Result], before: Evidence | None) -> tuple[blockers.Blocker, ...]:
    return blockers.blockers(Evidence("", "", tuple(tests)), before, _waived(work))


def _waived(work: Work) -> tuple[str, ...]:
    """What a person did without in the session or in a task of it."""
    return (*record.waived(work), *session.texts(work.top, "waived"))


def _result(check: Check, tests: Sequence[Result], own: Mapping[str, Result]) -> tuple[str, str]:
    """What a check came to: `green`, `red`, or `manual` where a person has to look."""
    if check.kind == "manual":
        return "manual", "a person confirms it"
    if check.kind == "cmd":
        one = own[check.what]
        return ("green" if one.status == "green" else "red"), one.note or f"exit {one.exit_code}"
    cases = [case for one in tests for case in one.cases if _names(case.name, check.what)]
    if not cases:
        return "red", "no test of this name ran"
    failed = [case.name for case in cases if case.status != "passed"]
    return ("red", f"{failed[0]} did not pass") if failed else ("green", f"{len(cases)} passed")


def _names(case: str, wanted: str) -> bool:
    """Whether a test is the one that a check names: by its whole name, or by the end of it."""
    plain, name = _dotted(wanted.removesuffix("()")), _dotted(case)
    return any(f".{each}".endswith(f".{plain}") for each in (name, name.partition("[")[0]))


def _dotted(name: str) -> str:
    """The name of a test with dots between its parts, however its runner writes it; a file counts without its suffix."""
    file, colons, rest = name.partition("::")
    stem = file.rpartition(".")[0] if colons and "." in file.rpartition("/")[2] else file
    return f"{stem}{colons}{rest}".replace("/", ".").replace("::", ".")


def _keep(work: Work, data: Mapping[str, Any], word: str) -> None:
    text = json.dumps(data, indent=2, ensure_ascii=False) + "\n"
    work.write(CHECKS, text)
    digest = sha256(text.encode()).hexdigest()
    work.note(KEY, {"sha256": digest, "commit": data["commit"], "status": word})


def seen(work: Work) -> Mapping[str, Any]:
    """The results as agentd wrote them; nothing where the file is another one."""
    known = work.top.state.fields.get(KEY)
    try:
        data = reading.own(work.top.home / CHECKS)
    except OSError:
        return {}
    if not isinstance(known, Mapping) or sha256(data).hexdigest() != known.get("sha256"):
        return {}
    found: Mapping[str, Any] = json.loads(data)
    return found


def problem_with(work: Work, _: Path) -> str:
    """Why checks.json does not count, or nothing."""
    found = seen(work)
    if not found:
        return "it is not what agentd wrote"
    return "" if found.get("status") == "green" else f"the checks are {found.get('status')}"


def evidence_is_stale(work: Work) -> str:
    """Why the checks need not run again, or nothing."""
    found = seen(work)
    same = found.get("commit") == workspaces.tip(work) and found.get("status") == "green"
    return "the checks ran on exactly this commit" if same else ""


def _manual(work: Work) -> list[str]:
    return [str(check) for check in _wanted(work) if check.kind == "manual"]


def _confirmed(work: Work) -> set[str]:
    """The manual checks that a person has confirmed."""
    said = [one for one in session.said_here(work.top) if one.name in CONFIRM and one.answer == "confirmed"]
    return {check for check in _manual(work) for one in said if f"{_line(check)}\n" in f"{one.question}\n"}


def _line(check: str) -> str:
    """A check as the question lists it, on a line of its own."""
    return f"\n  - {check}"


def manual_checks_are_confirmed(work: Work) -> Outcome:
    left = [check for check in _manual(work) if check not in _confirmed(work)]
    return Outcome("ask", "; ".join(left)) if left else Outcome("done")


def confirm_checks(work: Work) -> Question:
    left = [check for check in _manual(work) if check not in _confirmed(work)]
    lines = "".join(map(_line, left))
    branch = workspaces.branch_name(work)
    options = (
        Option("confirmed", f"I have looked, and it is so {RECOMMENDED}"),
        Option("refused", "It is not so; the note says what is wrong", reason=True),
    )
    return Question(f"Please look at the branch {branch} for yourself:{lines}", "Checks", options)


def every_criterion_is_met(work: Work) -> str:
    """Why the session is not done: a criterion without evidence about the commit that is delivered."""
    found = seen(work)
    if not found:
        return f"{CHECKS} is not what agentd wrote"
    if found.get("commit") != workspaces.tip(work):
        return f"{CHECKS} is about {str(found.get('commit'))[:12]}, and the branch has moved on"
    if found.get("status") != "green":
        return f"the checks are {found.get('status')}"
    results, confirmed = found.get("checks") or {}, _confirmed(work)
    listed = _criteria(work)
    unmet = [
        f"{one.id}: {check}"
        for one in listed
        for check in one.verify
        if results.get(str(check), {}).get("status") != "green" and str(check) not in confirmed
    ]
    return "; ".join(unmet) if listed else f"{ACCEPTANCE} has no criteria"


def no_decision_is_pending(work: Work) -> str:
    open_ones = [one.id for one in work.top.state.decisions if one.status == "pending"]
    return f"{', '.join(open_ones)} is not answered" if open_ones else ""


def report_is_complete(work: Work) -> str:
    return report_problem(work.top.read("report.md"))


def criteria_lines(work: Work) -> list[str]:
    """Each criterion with what shows that it is met."""
    found, confirmed = seen(work).get("checks") or {}, _confirmed(work)
    lines = []
    for one in _criteria(work):
        shown = [
            f"{check} ({'confirmed by a person' if str(check) in confirmed else found.get(str(check), {}).get('status', 'not run')})"
            for check in one.verify
        ]
        lines.append(f"- {one.id} {one.description}: {'; '.join(shown)}")
    return lines
