"""Documents of one file with the same id."""

from __future__ import annotations

import json
from pathlib import Path

from convcli.jobs import inputs
from convcli.jobs.judging import judge

REQUEST = {"method": "POST", "url": "/v1/chat/completions", "body": {"model": "m", "messages": []}}


def reported(path: Path) -> list[tuple[str, int, str]]:
    with inputs.opened(str(path), "openai-batch") as source:
        return [
            (finding.code, finding.line, finding.where)
            for verdict in judge(source)
            for finding in verdict.findings
            if finding.code == "repeated-document-id"
        ]


def test_each_document_of_a_batch_has_an_id_of_its_own(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    rows = [{"custom_id": id_, **REQUEST} for id_ in ("a", "b", "a", "c", "a")]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), "utf-8")
    assert reported(path) == [("repeated-document-id", line, "/custom_id") for line in (3, 5)]
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows[:2]), "utf-8")
    assert reported(path) == []
