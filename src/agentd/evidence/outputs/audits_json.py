"""Reads the JSON of audits: one document or several, with any text around them. Pure."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from agentd.evidence.outputs.summary import Summary, counted, merged
from agentd.evidence.outputs.terminal_text import plain
from agentd.model.evidence import Case


def read(lines: Sequence[str]) -> Summary | None:
    """What the documents of an audit say; None if there are none."""
    found = [summary for document in _documents(lines) if (summary := _read(document)) is not None]
    return merged(found) if found else None


def _documents(lines: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    text = "\n".join(plain(line) for line in lines)
    decoder = json.JSONDecoder()
    at = 0 if text.startswith("{") else text.find("\n{") + 1
    while at < len(text) and text.startswith("{", at):
        end = at + 1
        try:
            document, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            document = None
        if isinstance(document, dict):
            yield document
        following = text.find("\n{", end)
        if following < 0:
            return
        at = following + 1


def _read(document: Mapping[str, Any]) -> Summary | None:
    for reader in (_pip, _npm, _advisories, _cargo, _yarn, _go):
        if (summary := reader(document)) is not None:
            return summary
    failed = document.get("error")
    if isinstance(failed, dict) and "message" in document:
        return Summary(trouble=str(document["message"])[:400])
    if isinstance(failed, dict) and "code" in failed:
        return Summary(trouble=str(failed.get("summary") or failed["code"])[:400])
    return None


def _found(names: Sequence[str], warnings: Sequence[str] = (), trouble: str = "") -> Summary:
    cases = (*(Case(name, "failed") for name in names), *(Case(name, "skipped") for name in warnings))
    return Summary(counted(cases), cases, trouble=trouble)


def _dicts(value: object) -> list[dict[str, Any]]:
    if isinstance(value, dict):
        value = list(value.values())
    return [each for each in value if isinstance(each, dict)] if isinstance(value, list) else []


def _pip(document: Mapping[str, Any]) -> Summary | None:
    if not isinstance(document.get("dependencies"), list):
        return None
    names, skipped = list[str](), list[str]()
    for each in _dicts(document["dependencies"]):
        if "skip_reason" in each:
            skipped.append(str(each["skip_reason"]))
        names += [f"{each.get('name')} {each.get('version')}: {vuln.get('id')}" for vuln in _dicts(each.get("vulns"))]
    return _found(names, trouble=skipped[0][:400] if skipped else "")


def _npm(document: Mapping[str, Any]) -> Summary | None:
    if "auditReportVersion" not in document or not isinstance(document.get("vulnerabilities"), dict):
        return None
    found = document["vulnerabilities"]
    return _found([f"{name} {each.get('range', '')}".strip() for name, each in found.items() if isinstance(each, dict)])


def _advisories(document: Mapping[str, Any]) -> Summary | None:
    """pnpm, and npm before version 7."""
    if not isinstance(document.get("advisories"), dict):
        return None
    return _found([_advisory(each) for each in _dicts(document["advisories"])])


def _advisory(each: Mapping[str, Any]) -> str:
    return f"{each.get('module_name')}: {each.get('title')}"


def _cargo(document: Mapping[str, Any]) -> Summary | None:
    found = document.get("vulnerabilities")
    if not isinstance(found, dict) or "list" not in found:
        return None
    names = []
    for each in _dicts(found["list"]):
        advisory, package = each.get("advisory"), each.get("package")
        known = advisory.get("id") if isinstance(advisory, dict) else None
        crate = f"{package.get('name')} {package.get('version')}" if isinstance(package, dict) else ""
        names.append(f"{crate}: {known}")
    return _found(names)


def _yarn(document: Mapping[str, Any]) -> Summary | None:
    """One line of yarn: an advisory, or the summary at the end."""
    data = document.get("data")
    if document.get("type") == "auditAdvisory" and isinstance(data, dict) and isinstance(data.get("advisory"), dict):
        return _found([_advisory(data["advisory"])])
    if document.get("type") == "error":
        return Summary(trouble=str(data)[:400])
    return _found([]) if document.get("type") == "auditSummary" else None


def _go(document: Mapping[str, Any]) -> Summary | None:
    """A message of govulncheck: a finding counts if the code calls the function."""
    finding = document.get("finding")
    if isinstance(finding, dict):
        trace = _dicts(finding.get("trace"))
        called = bool(trace) and "function" in trace[0]
        return _found([str(finding.get("osv"))] if called else [])
    config = document.get("config")
    return _found([]) if isinstance(config, dict) and "protocol_version" in config else None
