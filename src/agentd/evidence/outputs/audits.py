"""Reads what audits of dependencies print: pip-audit, npm, pnpm, yarn, cargo audit, govulncheck. Pure.

An audit that could not reach its service, or skipped packages, has audited nothing, whatever its exit code.
"""

from collections.abc import Sequence
from itertools import pairwise

from agentd.evidence.outputs import audits_json
from agentd.evidence.outputs.summary import Summary, tally
from agentd.evidence.outputs.terminal_text import clean, number
from agentd.model.evidence import Case
from agentd.patterns import regex

_TROUBLE = regex(
    r"could not be audited|audit endpoint returned an error|This command requires an existing lockfile|ENOLOCK"
    r"|ERR_PNPM_AUDIT|\b(?:ECONNREFUSED|ECONNRESET|ENOTFOUND|ETIMEDOUT|EAI_AGAIN)\b|security/audits.* returned a \d{3}"
    r"|Failed to establish a new connection|Max retries exceeded|Temporary failure in name resolution"
    r"|Network is unreachable|no such host|dial tcp|couldn't fetch advisory database|Couldn't load .*Cargo\.lock"
    r"|fetching vulnerabilities:|^ERROR:pip_audit|^Name +Skip Reason|Failed to upgrade `pip`|no such command: `audit`"
)
_CLEAN = regex(
    r"^(?:No known vulnerabilities found|found 0 vulnerabilities|0 vulnerabilities found\b.*|No vulnerabilities found\.)$"
)
_SCANNED = regex(r"^\s*Scanning .* for vulnerabilities \(\d+ crate dependenc")
_TOTALS = (
    regex(r"^Found (\d+) known vulnerabilit(?:y|ies)(?:, ignored \d+)? in \d+ packages?$"),
    regex(r"^(\d+) (?:\w+ severity )?vulnerabilit(?:y|ies)(?: \(.*\))?$"),
    regex(r"^(\d+) vulnerabilities found\b"),
    regex(r"^error: (\d+) vulnerabilit(?:y|ies) found!$"),
    regex(r"^Your code is affected by (\d+) vulnerabilit(?:y|ies)\b"),
)
_PIP = regex(r"^(?P<name>[\w.-]+) +(?P<version>\S+) +(?P<id>(?:PYSEC|GHSA|CVE|OSV)-\S+)")
_NPM = regex(r"^(?P<name>(?:@[\w.-]+/)?[\w.-]+)  (?P<range>[<>=*\d].*)$")
_ROW = regex(r"^│ (?P<key>[^│]+?) +│ (?P<value>[^│]*?) *│$")
_SEVERITIES = ("low", "moderate", "high", "critical", "info")
_FIELD = regex(r"^(Crate|Version|Warning|Title|ID): +(\S.*)$")
_GO = regex(r"^Vulnerability #\d+: (GO-\S+)$")
_MODULE = regex(r"^\s+Found in: (\S+)$")


def read(lines: Sequence[str]) -> Summary:
    """The vulnerabilities as failed cases, warnings of cargo as skipped ones, and why it could not audit."""
    told = audits_json.read(lines)
    cleaned = clean(lines)
    troubles = [line.strip() for line in cleaned if _TROUBLE.search(line)]
    trouble = next((line for line in troubles if not line.endswith("Skip Reason")), troubles[0] if troubles else "")
    if told is not None:
        return Summary(told.counts, told.cases, trouble=told.trouble or trouble)
    cases = (*_pip(cleaned), *_npm(cleaned), *_table(cleaned), *_cargo(cleaned), *_go(cleaned))
    said = [number(match[1]) for line in cleaned for total in _TOTALS if (match := total.match(line))]
    failed = max([sum(said), sum(case.status == "failed" for case in cases)])
    skipped = sum(case.status == "skipped" for case in cases)
    known = bool(said or cases) or any(_CLEAN.match(line) or _SCANNED.match(line) for line in cleaned)
    return Summary(tally(0, failed, skipped) if known else None, cases, trouble=trouble)


def _pip(lines: Sequence[str]) -> list[Case]:
    matches = [match for line in lines if (match := _PIP.match(line))]
    return [Case(f"{match['name']} {match['version']}: {match['id']}", "failed") for match in matches]


def _npm(lines: Sequence[str]) -> list[Case]:
    """npm names a package and its bad versions, then the severity; packages that depend on it are indented."""
    cases = []
    for line, following in pairwise(lines):
        if (match := _NPM.match(line)) and following.startswith(("Severity:", "Depends on vulnerable")):
            cases.append(Case(f"{match['name']} {match['range']}", "failed"))
    return cases


def _table(lines: Sequence[str]) -> list[Case]:
    """pnpm and yarn print a table for each: the severity and the title, then the package."""
    cases, title = list[Case](), ""
    for line in lines:
        if not (match := _ROW.match(line)):
            continue
        if match["key"].lower() in _SEVERITIES:
            title = match["value"]
        elif match["key"] == "Package" and title:
            cases.append(Case(f"{match['value']}: {title}", "failed"))
            title = ""
    return cases


def _cargo(lines: Sequence[str]) -> list[Case]:
    cases, fields = list[Case](), dict[str, str]()
    for line in lines:
        if not (match := _FIELD.match(line)):
            continue
        if match[1] == "Crate":
            fields = {}
        fields[match[1]] = match[2]
        if match[1] == "ID":
            name = f"{fields.get('Crate', '')} {fields.get('Version', '')}: {match[2]}"
            cases.append(Case(name, "skipped" if "Warning" in fields else "failed"))
    return cases


def _go(lines: Sequence[str]) -> list[Case]:
    """govulncheck lists vulnerabilities that the code does not call under another heading: they do not count."""
    cases, called = list[Case](), True
    for at, line in enumerate(lines):
        if line.startswith(("===", "Informational")):
            called = "Symbol Results" in line
        elif called and (match := _GO.match(line)):
            module = next((found[1] for each in lines[at : at + 8] if (found := _MODULE.match(each))), "")
            cases.append(Case(f"{module}: {match[1]}" if module else match[1], "failed"))
    return cases
