# SPDX-License-Identifier: MIT OR Apache-2.0
"""Verdicts as systems of continuous integration read them: JUnit's XML and SARIF 2.1.0.

Undecided is never shown as passed: in JUnit it is an error, in SARIF a result of the kind `open`.
"""

from __future__ import annotations

import json
import re
from importlib.metadata import version
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.etree import ElementTree

from sunseal.answers.verdicts import Finding, Verdict

SARIF = "2.1.0"
SARIF_SCHEMA = "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
NOT_XML = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
"""Signs that XML 1.0 cannot hold, such as the colours of a terminal."""


def junit(verdict: Verdict) -> str:
    """Write a verdict as a suite: a case for each part, or one for the whole."""
    cases = verdict.parts or (verdict,)
    own = [f for f in verdict.findings if not any(f in part.findings for part in verdict.parts)]
    if verdict.parts and own:
        cases = (*cases, Verdict(verdict.of, 1, tuple(own)))
    if not verdict.passed and all(case.passed for case in cases):
        cases = (*cases, Verdict(verdict.of, 0, open=verdict.why))
    suite = ElementTree.Element(
        "testsuite",
        name=_text(verdict.of),
        tests=str(len(cases)),
        failures=str(sum(case.word == "findings" for case in cases)),
        errors=str(sum(case.word == "undecided" for case in cases)),
        skipped="0",
    )
    for case in cases:
        told = ElementTree.SubElement(suite, "testcase", name=_text(case.of), classname=_text(f"sunseal.{verdict.of}"))
        if case.word == "findings":
            lines = "\n".join(f"{f.told}{f' [{f.place}]' if f.place else ''}" for f in case.findings)
            failure = ElementTree.SubElement(
                told, "failure", message=_text(case.findings[0].told), type=_text(case.findings[0].rule)
            )
            failure.text = _text(lines)
        elif case.word == "undecided":
            why = ElementTree.SubElement(told, "error", message=_text(case.why[0]), type="undecided")
            why.text = _text("\n".join(case.why))
    suites = ElementTree.Element("testsuites", {k: v for k, v in suite.attrib.items() if k != "skipped"})
    suites.append(suite)
    ElementTree.indent(suites)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + ElementTree.tostring(suites, encoding="unicode") + "\n"


def _text(text: str) -> str:
    return NOT_XML.sub("\ufffd", text)


def sarif(verdict: Verdict) -> str:
    """Write a verdict as a run: its findings as failures, what is left open as such, a pass as one result."""
    results = [_result(finding) for finding in verdict.findings]
    results += [
        {"ruleId": "undecided", "kind": "open", "level": "none", "message": {"text": why}} for why in verdict.why
    ]
    if verdict.passed:
        told = {"text": f"{verdict.of}: passed"}
        results.append({"ruleId": "passed", "kind": "pass", "level": "none", "message": told})
    rules = dict.fromkeys(str(result["ruleId"]) for result in results)
    driver = {"name": "sunseal", "version": version("sunseal"), "rules": [{"id": rule} for rule in rules]}
    run = {
        "tool": {"driver": driver},
        "automationDetails": {"id": f"{verdict.of}/"},
        "invocations": [{"executionSuccessful": True, "exitCode": verdict.exit_status}],
        "columnKind": "unicodeCodePoints",
        "results": results,
    }
    return json.dumps({"$schema": SARIF_SCHEMA, "version": SARIF, "runs": [run]}, indent=1) + "\n"


def _result(finding: Finding) -> dict[str, Any]:
    told: dict[str, Any] = {
        "ruleId": finding.rule,
        "kind": "fail",
        "level": "error",
        "message": {"text": finding.told},
    }
    place: dict[str, Any] = {}
    if finding.file is not None:
        place["physicalLocation"] = {"artifactLocation": {"uri": _uri(Path(finding.file))}}
        if finding.line:
            place["physicalLocation"]["region"] = {"startLine": finding.line}
    if finding.place:
        place["logicalLocations"] = [{"fullyQualifiedName": finding.place}]
    if place:
        told["locations"] = [place]
    return told


def _uri(file: Path) -> str:
    """Return a file as others find it: relative to this folder, which is the repository's where CI runs."""
    if file.is_absolute() and not file.is_relative_to(Path.cwd()):
        return file.as_uri()
    return quote(file.relative_to(Path.cwd()).as_posix() if file.is_absolute() else file.as_posix())
