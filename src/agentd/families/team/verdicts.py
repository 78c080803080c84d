"""What Reviewer, QA and Security said of exactly which files, what is still due, and what a person accepted instead."""

import re
from collections.abc import Mapping
from typing import Any

from agentd.families.team import session
from agentd.families.team.contract import Result
from agentd.model.run import Outcome
from agentd.patterns import regex
from agentd.runs.work import Work
from agentd.workspaces import work_files

KEY = "verdicts"
KINDS = {"reviewer": "review", "qa": "qa", "security": "security"}
ROLES = {"review": "Reviewer", "qa": "QA", "security": "Security"}
PASSED = ("ok", "accepted")
STRATEGY = "UD-REVIEW-STRATEGY"
SHOWN = 20
# What makes a change one that Security looks at, whatever its flags say: paths and added lines about these.
_EXPOSED = regex(
    r"\b(?:auth\w*|login|logout|passw\w*|token|secret|credential|cookie|session_?id|permission|crypt\w*|jwt|oauth\w*|csrf|cors|"
    r"socket|https?|requests?|urllib|fetch|url|upload|download|redirect|argv|stdin|getenv|environ|input|deserial\w*|pickle|eval|exec|"
    r"subprocess|popen|shell|sql|query|html|innerhtml|sanitiz\w*|escape|headers?|cookies?|validat\w*|file_?names?|basename|realpath|"
    r"symlink|traversal|extract\w*|archive|tarfile|zipfile|chmod)\b",
    re.IGNORECASE,
)


def strategy(work: Work) -> str:
    """The review strategy as status.json on the disk has it: `per-batch`, `single-final`, or nothing."""
    if session.is_lean(work):
        return "per-batch"
    saved = work.top.store.peek().decisions
    said = next((one for one in saved if one.id == STRATEGY and one.status == "answered"), None)
    answer = str(said.answer) if said else ""
    return answer if answer in ("per-batch", "single-final") else ""


def strategy_is_per_batch(work: Work) -> str:
    return "" if strategy(work) == "per-batch" else f"{STRATEGY} is not answered with per-batch"


def strategy_is_single_final(work: Work) -> str:
    return "" if strategy(work) == "single-final" else f"{STRATEGY} is not answered with single-final"


def strategy_is_chosen(work: Work) -> str:
    return "" if strategy(work) else f"{STRATEGY} is not answered"


def keep(work: Work, role: str, word: str, result: Result) -> None:
    """Keep a verdict with the files that it is about; one that blocks is also an attempt that failed."""
    kind = KINDS[role]
    lists = {"review": "review_comments", "qa": "coverage_gaps", "security": "findings"}
    found = [dict(one) for one in result.entries(lists[kind])][:SHOWN]
    made = {"word": word, "tree": work_files.tree(work), "summary": result.summary, "found": found}
    work.note(KEY, {**_all(work), kind: made})
    if word == "blocked":
        session.tried(work, f"{ROLES[kind]}: {result.summary}")


def _all(work: Work) -> dict[str, Any]:
    found = work.state.fields.get(KEY)
    return dict(found) if isinstance(found, Mapping) else {}


def verdict(work: Work, kind: str) -> Mapping[str, Any]:
    found = _all(work).get(kind)
    return found if isinstance(found, Mapping) else {}


def is_settled(work: Work, kind: str) -> bool:
    """Whether a verdict on the files as they are lets them pass."""
    said = verdict(work, kind)
    return said.get("word") in PASSED and said.get("tree") == work_files.tree(work)


def review_is_due(work: Work) -> str:
    return "it was reviewed as it is" if is_settled(work, "review") else ""


def qa_is_due(work: Work) -> str:
    return _why_not_due(work, "qa", _qa_is_wanted(work))


def security_is_due(work: Work) -> str:
    return _why_not_due(work, "security", _security_is_wanted(work))


def _why_not_due(work: Work, kind: str, wanted: bool) -> str:
    if not wanted:
        return f"{ROLES[kind]} is not needed here"
    return f"{ROLES[kind]} has looked at it as it is" if is_settled(work, kind) else ""


def _qa_is_wanted(work: Work) -> bool:
    """QA looks at behaviour and acceptance; across all tasks only where it has not looked at each, or at none."""
    if work.parent is None:
        return strategy(work) == "single-final" or not session.dispatched(work, "QA") or _was_blocked(work, "qa")
    one = session.task_of(work)
    return one is None or one.type not in ("docs", "chore") or any(c.kind != "manual" for c in one.acceptance_checks)


def _security_is_wanted(work: Work) -> bool:
    if work.parent is None:
        late = strategy(work) == "single-final"
        return late or not session.dispatched(work, "Security") or _was_blocked(work, "security")
    one = session.task_of(work)
    return one is None or "security" in one.risk_flags or is_exposed(work) or _was_blocked(work, "security")


def _was_blocked(work: Work, kind: str) -> bool:
    said = verdict(work, kind)
    return bool(said) and said.get("word") not in PASSED


def is_exposed(work: Work) -> bool:
    """Whether a change touches authentication, input or the network, or its coder has a security concern."""
    if work.state.fields.get("security_concerns"):
        return True
    added = (line for line in work_files.diff(work).splitlines() if line.startswith("+"))
    return any(_EXPOSED.search(line) for line in added)


def due(work: Work) -> list[str]:
    """The verdicts that are missing, or are about other files than those that are there."""
    wanted = {"review": True, "qa": _qa_is_wanted(work), "security": _security_is_wanted(work)}
    return [ROLES[kind] for kind, is_wanted in wanted.items() if is_wanted and not is_settled(work, kind)]


def open_findings(work: Work) -> list[Mapping[str, Any]]:
    """What the verdicts that do not pass list; with a decision of a person, also what passed with notes or risks."""
    return [
        {"from": ROLES[kind], "summary": said.get("summary"), "found": said.get("found")}
        for kind, said in _all(work).items()
        if kind in ROLES and isinstance(said, Mapping) and said.get("word") not in PASSED
    ]


def accept_review(work: Work) -> Outcome:
    return _accept(work, "review")


def accept_tests(work: Work) -> Outcome:
    return _accept(work, "qa")


def accept_audit(work: Work) -> Outcome:
    return _accept(work, "security")


def _accept(work: Work, kind: str) -> Outcome:
    """Take what a person accepted for settled, and name it as a known issue."""
    said = session.last_said(work)
    if said is None:
        raise work.store.corrupt("no decision accepts anything", "run", "step")
    known = verdict(work, kind)
    made = {**known, "word": "accepted", "tree": work_files.tree(work), "decision": said.id, "by": said.by}
    work.note(KEY, {**_all(work), kind: made})
    why = f" ({said.note})" if said.note else ""
    session.add_known_issues(
        work, [f"{session.task_id(work)}, {ROLES[kind]}: {known.get('summary')} — {said.answer} by {said.by}{why}"]
    )
    return Outcome("done", f"{said.answer} by {said.by}")
