"""convcli losses: rows that can be read, and findings beside the counts of what is not shown of them."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli_cases import LOSSY, OTHER, command, environment, on_terminal, run, write

CALLS = [{"type": "tool_call", "id": f"c{number}", "name": "f", "arguments": {}} for number in range(9)]
GO_ON = {"role": "user", "parts": [{"type": "text", "text": "Go on."}]}
OPEN = {"convcli": 1, "messages": [{"role": "assistant", "parts": CALLS}, GO_ON]}


def test_the_count_of_further_findings_stands_before_the_picture_and_before_the_table(tmp_path: Path) -> None:
    source = write(tmp_path / "a.json", OPEN)
    for more, first in (((), "fields "), (("--summary",), "kept")):
        words = command("losses", source, "--to", OTHER, *more)
        _, reported = on_terminal(words, 100, environment(TERM="dumb"))
        assert 0 < reported.index("and 4 more missing-tool-result in ") < reported.index(first)


def test_a_summary_on_80_columns_keeps_fields_and_shortens_places(tmp_path: Path) -> None:
    long = tmp_path / ("deep" * 20)
    long.mkdir()
    source = write(long / "a.jsonl", LOSSY, LOSSY)
    _, reported = on_terminal(command("losses", source, "--to", OTHER, "--summary"), 80, environment(TERM="dumb"))
    for loss in json.loads(run("losses", source, "--to", OTHER, "--summary", "--output-format", "json").stdout):
        assert loss["field"] in reported
    assert "/parts/0" in reported
    assert "deepdeep" not in reported


def test_why_adds_the_table_that_gives_each_reason(tmp_path: Path) -> None:
    source = write(tmp_path / "a.json", LOSSY)
    words = ("losses", source, "--to", OTHER, "--output-format", "json")
    plain, traced = (json.loads(run(*words, *more).stdout) for more in ((), ("--why",)))
    assert [{key: value for key, value in loss.items() if key != "table"} for loss in traced] == plain
    assert all(loss["table"] for loss in traced)
    summary = json.loads(run(*words, "--why", "--summary").stdout)
    assert {loss["table"] for loss in summary if loss.get("table")} == {loss["table"] for loss in traced}
    assert b"table" in run("losses", source, "--to", OTHER, "--why").stdout.splitlines()[0]
