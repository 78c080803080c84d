"""The `validate` step: the format of the documents, checked before a challenger reads them."""

from collections.abc import Sequence
from hashlib import sha256

from agentd import files
from agentd.families.change import PLAN, document_fixes, troubleshooting
from agentd.families.change.document_checks import examine_change
from agentd.library.shelf import Shelf
from agentd.model.finding import Finding
from agentd.model.run import Outcome
from agentd.model.severity import SEVERITIES
from agentd.runs.work import Work

LISTED = 20
REVIEWS = ("/CHALLENGE.md", "/REVIEW.md")


def findings(work: Work) -> tuple[Finding, ...]:
    """All findings about the plan; the reports of reviewers are checked elsewhere."""
    project = work.project
    home = project.relative(work.home)
    found = examine_change(home, project.config.rules(), Shelf(str(project.root))).findings
    return tuple(each for each in found if not each.file.endswith(REVIEWS))


def serious(work: Work) -> list[Finding]:
    """The High findings."""
    return [found for found in findings(work) if found.severity == "High"]


def lines(work: Work) -> list[str]:
    """The High findings as lines of a prompt."""
    return [f"- {found.file}:{found.line}: {found.message}. {found.fix}".rstrip() for found in serious(work)]


def validate(work: Work) -> Outcome:
    """Tidy the documents, then check them; serious findings are for a person, or for the planner if none is in the loop."""
    fixed = document_fixes.tidy(work.home, ("clarifications.md", "proposal.md", "tasks.md"))
    if fixed:
        work.say(f"tidied {', '.join(fixed)}")
    found = findings(work)
    wrong = [each for each in found if each.severity == "High"]
    _record(work, found)
    if not wrong:
        more = f" ({len(found)} remarks: agentd validate {work.state.run.name})" if found else ""
        work.say(f"✅ Proposal format validation passed{more}")
        return Outcome("valid")
    work.say("⚠️ Format validation failed")
    for each in wrong:
        work.say(f"  {each.file}:{each.line}: {each.message}")
    error = troubleshooting.bad_format(work.state.run.name, wrong)
    note = f"{error.message}: {wrong[0].file}:{wrong[0].line}: {wrong[0].message}"
    return Outcome("failed" if work.project.config.human_in_loop else "invalid", note)


def _record(work: Work, found: Sequence[Finding]) -> None:
    """Record the rules, the result and the checksums of the checked documents."""
    now, rules = work.project.now(), work.project.config.rules()
    texts = [f"{each.file}:{each.line}: {each.message}" for each in found if each.severity == "High"]
    other = [f"{each.file}:{each.line}: {each.message}" for each in found if each.severity != "High"]
    counts = {severity.lower(): sum(each.severity == severity for each in found) for severity in SEVERITIES}
    entry = {
        "step": "validate-proposal",
        "timestamp": now,
        "rules_version": "2.0",
        "rules_hash": "sha256:" + sha256(repr(rules).encode()).hexdigest(),
        "mode": "normal",
        "result": {"valid": not texts, **counts},
        "errors": texts[:LISTED],
        "warnings": other[:LISTED],
    }
    known = work.state.fields.get("validations")
    work.note("validations", [*(known if isinstance(known, list) else []), entry][-LISTED:])
    sums = {}
    for name in PLAN:
        for path in work.files(name):
            digest = "sha256:" + sha256(files.read(path)).hexdigest()
            sums[path.relative_to(work.home).as_posix()] = {"hash": digest, "validated_at": now}
    work.note("checksums", sums)
