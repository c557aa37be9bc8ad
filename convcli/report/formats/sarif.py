"""SARIF 2.1.0 for code scanning: one run, paths relative to the working directory, stable fingerprints.

Specification: OASIS SARIF 2.1.0. GitHub keeps at most 5,000 results per run, so no more are written; a notification
has the number of the others.
"""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterable, Iterator
from typing import Any
from urllib.parse import quote

from convcli.jobs.judging import Verdict
from convcli.model import codes
from convcli.model.findings import Finding
from convcli.model.version import __version__
from convcli.report.tables import View
from convcli.report.text import json_text, safe_text

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
MOST = 5_000
SARIF_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
ROOT = "%SRCROOT%"
INFORMATION, EXPLANATION = "urn:convcli:validate", "urn:convcli:explain:"
"""URNs, not URLs: `convcli explain CODE` shows what a rule means, without a network."""


def render(verdicts: Iterable[Verdict], view: View) -> Iterator[str]:
    """Yields the log once all verdicts are known: it begins with the rules of all results."""
    findings, left_out = _capped(verdicts)
    known = {code: index for index, code in enumerate(dict.fromkeys(finding.code for finding in findings))}
    driver = {
        "name": "convcli",
        "version": __version__,
        "informationUri": INFORMATION,
        "rules": [_rule(code) for code in known],
    }
    run: dict[str, Any] = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "results": list(_results(findings, known)),
    }
    if left_out:
        text = f"and {left_out:,} more findings"
        notes = [{"level": "note", "message": {"text": text}}]
        run["invocations"] = [{"executionSuccessful": True, "toolExecutionNotifications": notes}]
    yield json_text({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}) + "\n"


def _capped(verdicts: Iterable[Verdict]) -> tuple[list[Finding], int]:
    findings: list[Finding] = []
    left_out = 0
    for verdict in verdicts:
        room = MOST - len(findings)
        findings += verdict.findings[:room]
        left_out += len(verdict.findings[room:])
    return findings, left_out


def _rule(code: str) -> dict[str, Any]:
    known = codes.find(code)
    rule: dict[str, Any] = {"id": code, "helpUri": EXPLANATION + code}
    if known is not None:
        rule["shortDescription"] = {"text": known.title}
        rule["fullDescription"] = {"text": f"{known.title[0].upper()}{known.title[1:]}. {known.why}"}
        rule["help"] = {"text": f"{known.fix}\n\nconvcli explain {code} shows a bad and a good example."}
    return rule


def _results(findings: list[Finding], known: dict[str, int]) -> Iterator[dict[str, Any]]:
    seen: Counter[str] = Counter()
    for finding in findings:
        print_ = _fingerprint(finding)
        seen[print_] += 1
        yield {
            "ruleId": finding.code,
            "ruleIndex": known[finding.code],
            "level": SARIF_LEVELS[finding.severity],
            "message": {"text": _message(finding)},
            "locations": [_location(finding)],
            "partialFingerprints": {"findingHash/v1": f"{print_}:{seen[print_]}"},
        }


def _fingerprint(finding: Finding) -> str:
    """Stays the same for any working directory and any line of the record."""
    place = "\0".join([relative(finding.file).replace(os.sep, "/"), finding.code, finding.where])
    return hashlib.sha256(place.encode(errors="replace")).hexdigest()[:16]


def _message(finding: Finding) -> str:
    lines = [finding.message, *finding.notes, *([f"help: {finding.help}"] if finding.help else [])]
    return "\n".join(map(safe_text, lines))


def _location(finding: Finding) -> dict[str, Any]:
    physical: dict[str, Any] = {"artifactLocation": artifact(finding.file)}
    column = {"startColumn": finding.column} if finding.line and finding.column else {}
    physical["region"] = {"startLine": finding.line or 1, **column}  # a finding on the whole file has line 1
    location: dict[str, Any] = {"physicalLocation": physical}
    if finding.row >= 0:
        location["properties"] = {"row": finding.row, "group": finding.group}
    if finding.where:
        location["logicalLocations"] = [{"fullyQualifiedName": safe_text(finding.where)}]
    return location


def artifact(file: str) -> dict[str, str]:
    """Returns the SARIF location of a file: relative to the working directory if it is below it."""
    path = relative(file)
    if os.path.isabs(path):
        return {"uri": "file://" + quote(path.replace(os.sep, "/"), errors="replace")}
    return {"uri": quote(path.replace(os.sep, "/"), errors="replace"), "uriBaseId": ROOT}


def relative(file: str) -> str:
    """Returns the path relative to the working directory; the absolute path if the file is not below it."""
    if not os.path.isabs(file):
        file = os.path.join(os.getcwd(), file)
    inside = os.path.relpath(file)
    return os.path.normpath(file) if inside.startswith(os.pardir) else inside
