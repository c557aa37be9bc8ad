"""A SARIF log holds what the specification and GitHub ask for."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from msgspec.structs import replace

from convcli.jobs.judging import Verdict
from convcli.model.findings import Finding
from convcli.report import choice, formats, tables
from tests.report.test_report import FINDING, MANY

SCHEMA = "CONVCLI_SARIF_SCHEMA"
OF_WHAT_IS_WRITTEN = Path(__file__).parent / "sarif.schema.json"
RESULT = {"ruleId", "ruleIndex", "level", "message", "locations", "partialFingerprints"}


def sarif(verdicts: list[Verdict]) -> dict[str, Any]:
    (run,) = json.loads("".join(choice.renderer(formats, "sarif")(verdicts, tables.View())))["runs"]
    return run  # type: ignore[no-any-return]


def test_a_sarif_log_says_of_each_finding_what_the_specification_asks_for() -> None:
    run = sarif(MANY)
    rules = run["tool"]["driver"]["rules"]
    assert [rule["id"] for rule in rules] == ["orphan-tool-result", "not-json"]
    assert len(run["results"]) == 6
    for result in run["results"]:
        assert result.keys() == RESULT
        assert rules[result["ruleIndex"]]["id"] == result["ruleId"]
        assert result["level"] in ("none", "note", "warning", "error")
        (location,) = result["locations"]
        artifact = location["physicalLocation"]["artifactLocation"]
        assert re.fullmatch(r"(?:[A-Za-z0-9/:._~!$&'()*+,;=@-]|%[0-9A-F]{2})+", artifact["uri"])
        assert artifact["uri"].startswith("file:///") != (artifact.get("uriBaseId") == "%SRCROOT%")
        region = location["physicalLocation"].get("region", {"startLine": 1})
        assert min(region.values()) >= 1


def test_no_two_results_of_a_sarif_log_have_one_fingerprint_and_lines_do_not_matter() -> None:
    prints = [json.dumps(result["partialFingerprints"]) for result in sarif(MANY)["results"]]
    assert len(set(prints)) == len(prints)
    moved = [verdict._replace(findings=[replace(one, line=99) for one in verdict.findings]) for verdict in MANY]
    assert [json.dumps(result["partialFingerprints"]) for result in sarif(moved)["results"]] == prints


def test_a_sarif_log_ends_at_5000_results_and_says_so() -> None:
    run = sarif([Verdict("a", 1, "d", [FINDING] * 6_000)])
    assert len(run["results"]) == 5_000
    (invocation,) = run["invocations"]
    assert invocation["toolExecutionNotifications"][0]["message"]["text"] == "and 1,000 more findings"


LOGS = [[], MANY, [Verdict("a", 1, "d", [FINDING] * 6_000)]]


def refused_by(schema: Path, log: Any) -> list[str]:
    """The places of a SARIF log that a schema refuses."""
    document = json.loads(schema.read_text("utf-8"))
    kind = jsonschema.validators.validator_for(document)
    return [error.json_path for error in kind(document, format_checker=kind.FORMAT_CHECKER).iter_errors(log)]


@pytest.mark.parametrize("verdicts", LOGS)
@pytest.mark.parametrize("schema", [OF_WHAT_IS_WRITTEN, *map(Path, filter(None, [os.environ.get(SCHEMA)]))])
def test_a_sarif_log_passes_the_schema(schema: Path, verdicts: list[Verdict]) -> None:
    """OASIS's own schema is not ours to ship: it is tried where CONVCLI_SARIF_SCHEMA names it."""
    log = json.loads("".join(choice.renderer(formats, "sarif")(verdicts, tables.View())))
    assert refused_by(schema, log) == []


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("/version", "2.1"),
        ("/runs/0/tool/driver/informationUri", "no address"),
        ("/runs/0/results/0/level", "info"),
        ("/runs/0/results/0/message", {"markdown": "x"}),
        ("/runs/0/results/0/locations/0/physicalLocation/region/startLine", 0),
        ("/runs/0/results/0/locations/0/physicalLocation/artifactLocation/uri", "a b.json"),
        ("/runs/0/results/0/line", 1),
        ("/runs/0/tool/driver/rules/1", {"name": "x"}),
    ],
)
def test_the_schema_of_what_is_written_refuses_what_sarif_refuses(place: str, value: Any) -> None:
    log = json.loads("".join(choice.renderer(formats, "sarif")(MANY, tables.View())))
    *steps, last = [int(step) if step.isdigit() else step for step in place.split("/")[1:]]
    holder = log
    for step in steps:
        holder = holder[step]
    holder[last] = value
    assert refused_by(OF_WHAT_IS_WRITTEN, log) != []


def test_sarif_explains_each_rule_without_its_title_and_places_findings_of_a_whole_file_at_its_first_line() -> None:
    run = sarif([Verdict("a", 0, "d", [Finding("missing-key", "error", "m", file="a")])])
    driver = run["tool"]["driver"]
    (rule,) = driver["rules"]
    assert rule["fullDescription"]["text"] == "A key is missing. The format requires it."
    assert rule["helpUri"].endswith("missing-key")
    assert ":" in driver["informationUri"]
    assert run["results"][0]["locations"][0]["physicalLocation"]["region"] == {"startLine": 1}


def test_a_fingerprint_of_sarif_is_the_same_for_a_relative_and_an_absolute_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    prints = [
        sarif([Verdict(file, 0, "d", [Finding("missing-key", "error", "m", file=file)])])["results"][0]
        for file in ("a.json", "./a.json", str(tmp_path / "a.json"))
    ]
    assert len({result["partialFingerprints"]["findingHash/v1"] for result in prints}) == 1
