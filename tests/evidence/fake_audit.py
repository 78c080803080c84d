"""An audit without a network: a program that looks dependencies up in a file and prints what the real tools print.

Run it as `python fake_audit.py --as pip-audit|npm|cargo`. It asks nobody and changes nothing.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

TOOLS = ("pip-audit", "npm", "cargo")


class Advisory(NamedTuple):
    """One vulnerability of one version of a package."""

    name: str
    version: str
    id: str
    title: str
    severity: str
    fixed: str


class Printed(NamedTuple):
    """What a tool prints on stdout and on stderr, and what it exits with."""

    output: str
    errors: str
    code: int


class Known(NamedTuple):
    """What the file says: how many packages there are, which of them are vulnerable, and whether anybody answers."""

    packages: tuple[tuple[str, str], ...]
    advisories: tuple[Advisory, ...]
    offline: bool


def known(text: str) -> Known:
    """The file: {"packages": {"name": "version"}, "advisories": [{"name", "id", …}], "offline": false}."""
    data: dict[str, Any] = json.loads(text)
    packages = tuple((str(name), str(version)) for name, version in data.get("packages", {}).items())
    versions = dict(packages)
    advisories = tuple(
        Advisory(
            each["name"],
            versions[each["name"]],
            each["id"],
            each.get("title", ""),
            each.get("severity", "high"),
            each.get("fixed", ""),
        )
        for each in data.get("advisories", [])
        if each["name"] in versions
    )
    return Known(packages, advisories, bool(data.get("offline")))


def audited(tool: str, facts: Known, as_json: bool = False) -> Printed:
    """What that tool would print about those facts."""
    printers = {
        "pip-audit": _pip_json if as_json else _pip,
        "npm": _npm_json if as_json else _npm,
        "cargo": _cargo,
    }
    return printers[tool](facts)


def _pip(facts: Known) -> Printed:
    """Out of reach of its service, pip-audit skips everything, finds nothing and exits 0."""
    clean = "No known vulnerabilities found\n"
    if facts.offline:
        rows = [("Name", "Skip Reason"), *((name, _skipped(name, version)) for name, version in facts.packages)]
        return Printed(_columns(rows), clean, 0)
    if not facts.advisories:
        return Printed("", clean, 0)
    rows4 = [("Name", "Version", "ID", "Fix Versions")]
    rows4 += [(each.name, each.version, each.id, each.fixed) for each in facts.advisories]
    count, packages = len(facts.advisories), len({each.name for each in facts.advisories})
    said = f"Found {count} known {_many(count, 'vulnerability')} in {packages} package{'s' if packages > 1 else ''}\n"
    return Printed(_columns(rows4), said, 1)


def _skipped(name: str, version: str) -> str:
    return f"Dependency not found on PyPI and could not be audited: {name} ({version})"


def _columns(rows: Sequence[Sequence[str]]) -> str:
    widths = [max(len(row[at]) for row in rows) for at in range(len(rows[0]))]
    lined = [rows[0], ["-" * width for width in widths], *rows[1:]]
    lines = [" ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip() for row in lined]
    return "\n".join(lines) + "\n"


def _pip_json(facts: Known) -> Printed:
    dependencies: list[dict[str, Any]] = []
    for name, version in facts.packages:
        if facts.offline:
            dependencies.append({"name": name, "skip_reason": _skipped(name, version)})
            continue
        vulns = [
            {"id": each.id, "fix_versions": [each.fixed], "aliases": [], "description": each.title}
            for each in facts.advisories
            if each.name == name
        ]
        dependencies.append({"name": name, "version": version, "vulns": vulns})
    text = _pip(facts)
    return Printed(json.dumps({"dependencies": dependencies, "fixes": []}) + "\n", text.errors, text.code)


def _npm(facts: Known) -> Printed:
    if facts.offline:
        refused = "npm warn audit request to https://registry.invalid failed, reason: getaddrinfo ENOTFOUND\n"
        return Printed("undefined\n", refused + "npm error audit endpoint returned an error\n", 1)
    if not facts.advisories:
        return Printed("found 0 vulnerabilities\n", "", 0)
    lines = ["# npm audit report", ""]
    for each in facts.advisories:
        lines += [f"{each.name}  <{each.fixed}", f"Severity: {each.severity}"]
        lines += [f"{each.title} - https://github.com/advisories/{each.id}", "fix available via `npm audit fix`"]
        lines += [f"node_modules/{each.name}", ""]
    count, severities = len(facts.advisories), [each.severity for each in facts.advisories]
    if len({*severities}) == 1:
        lines.append(f"{count} {severities[0]} severity {_many(count, 'vulnerability')}")
    else:
        order = [word for word in ("low", "moderate", "high", "critical") if word in severities]
        lines.append(f"{count} vulnerabilities ({', '.join(f'{severities.count(word)} {word}' for word in order)})")
    return Printed("\n".join([*lines, "", "To address all issues, run:", "  npm audit fix", ""]), "", 1)


def _npm_json(facts: Known) -> Printed:
    text = _npm(facts)
    if facts.offline:
        failed = {"message": "request to https://registry.invalid failed", "error": {"summary": "", "detail": ""}}
        return Printed(json.dumps(failed, indent=2) + "\n", text.errors, text.code)
    found = {
        each.name: {"name": each.name, "severity": each.severity, "range": f"<{each.fixed}"}
        for each in facts.advisories
    }
    report = {"auditReportVersion": 2, "vulnerabilities": found, "metadata": {"vulnerabilities": {"total": len(found)}}}
    return Printed(json.dumps(report, indent=2) + "\n", "", text.code)


def _cargo(facts: Known) -> Printed:
    fetching = "    Fetching advisory database from `https://github.com/RustSec/advisory-db.git`\n"
    if facts.offline:
        return Printed("", f"{fetching}error: couldn't fetch advisory database: git operation failed\n", 1)
    count = len(facts.advisories)
    scanned = f"{fetching}    Scanning Cargo.lock for vulnerabilities ({len(facts.packages)} crate dependencies)\n"
    lines = []
    for each in facts.advisories:
        lines += [f"Crate:     {each.name}", f"Version:   {each.version}", f"Title:     {each.title}"]
        lines += [f"ID:        {each.id}", f"URL:       https://rustsec.org/advisories/{each.id}"]
        lines += [f"Solution:  Upgrade to >={each.fixed}", "Dependency tree:", f"{each.name} {each.version}", ""]
    ending = f"error: {count} {_many(count, 'vulnerability')} found!\n" if count else ""
    return Printed("\n".join(lines), scanned + ending, 1 if count else 0)


def _many(count: int, word: str) -> str:
    return word if count == 1 else f"{word.removesuffix('y')}ies"


def main(words: Sequence[str]) -> int:
    parser = argparse.ArgumentParser(prog="fake_audit", description=__doc__)
    parser.add_argument("--as", dest="tool", choices=TOOLS, required=True, help="whose words to print")
    parser.add_argument("--file", default="audit.json", help="the packages and what is known about them")
    parser.add_argument("--json", action="store_true", help="print the tool's JSON")
    told = parser.parse_args(words)
    printed = audited(told.tool, known(Path(told.file).read_text("utf-8")), told.json)
    sys.stdout.write(printed.output)
    sys.stderr.write(printed.errors)
    return printed.code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
