"""Many documents one by one: each has an outcome in its place, and what is wrong with one ends nothing."""

from __future__ import annotations

import json
import tracemalloc
from pathlib import Path
from typing import Any

import pytest

import convcli
from convcli.jobs import lines as by_line
from convcli.model.errors import ContentError, JobError, RefusedError
from convcli.model.transcript import Transcript
from convcli.wire import exact_json
from tests.cli_cases import CLEAN, OTHER, WRONG, write

GOOD = json.dumps(CLEAN).encode()
CONVERTED = exact_json.write(convcli.convert(CLEAN, to="anthropic", source=OTHER).document)
BAD = json.dumps(WRONG).encode()
TORN = b'{"messages": [{"role": "us'


def test_each_line_has_an_outcome_and_a_bad_one_ends_nothing() -> None:
    lines = [GOOD + b"\n", TORN, b"\r\n", BAD, b"7", GOOD]
    outcomes = list(convcli.convert_lines(lines, to="anthropic"))
    assert [outcome.line for outcome in outcomes] == [1, 2, 3, 4, 5, 6]
    assert [outcome.data for outcome in outcomes] == [CONVERTED, None, b"", None, None, CONVERTED]
    codes = [[finding.code for finding in outcome.findings if finding.severity == "error"] for outcome in outcomes]
    assert codes[1:5] == [["not-json"], [], ["unknown-value"], ["unknown-dialect"]]
    assert {finding.line for outcome in outcomes[1:5] for finding in outcome.findings} == {2, 4, 5}


def test_the_outcome_of_a_line_is_that_of_its_document() -> None:
    document = {"messages": [{"role": "user", "name": "ada", "content": "hi"}], "seed": 7}
    (outcome,) = convcli.convert_lines([json.dumps(document).encode()], to="anthropic", source=OTHER)
    conversion = convcli.convert(document, to="anthropic", source=OTHER)
    assert outcome.data is not None
    assert json.loads(outcome.data) == conversion.document
    assert [(loss.kind, loss.where, loss.line) for loss in outcome.losses] == [
        (loss.kind, loss.where, 1) for loss in conversion.losses
    ]
    assert [finding.code for finding in outcome.findings] == [finding.code for finding in conversion.findings]


def test_bytes_are_converted_exactly() -> None:
    line = b'{"messages":[{"role":"user","content":"\\ud800 \xe5\xa4\xa7"}],"seed":123456789012345678901234567890}'
    (outcome,) = convcli.convert_lines([line], to=OTHER, source=OTHER)
    assert outcome.data == line


def test_a_session_of_rows_becomes_several_lines_of_one_outcome() -> None:
    (outcome,) = convcli.convert_lines([GOOD], to="openclaw", source=OTHER)
    assert outcome.data is not None
    rows = [json.loads(row) for row in outcome.data.split(b"\n")]
    assert len(rows) > len(CLEAN["messages"])


def test_a_line_is_judged_as_its_document_is() -> None:
    unknown = {**CLEAN, "zz": 1}
    lines = [json.dumps(document).encode() for document in (CLEAN, WRONG, unknown)]
    outcomes = list(convcli.validate_lines([*lines, TORN], source=OTHER, strict=True))
    codes = [[finding.code for finding in outcome.findings] for outcome in outcomes]
    assert codes == [[], ["unknown-value"], ["unknown-key"], ["not-json"]]
    assert all(outcome.data is None for outcome in outcomes)
    (finding,) = outcomes[1].findings
    assert (finding.line, finding.where, finding.column > 1) == (2, "/messages/0/role", True)


def test_a_line_is_judged_as_a_request_to_another_service() -> None:
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": "{}"}}
    document = {"messages": [*CLEAN["messages"], {"role": "assistant", "content": None, "tool_calls": [call]}]}
    as_request = convcli.validate(document, source=OTHER, as_="bedrock-converse")
    (outcome,) = convcli.validate_lines([json.dumps(document).encode()], source=OTHER, as_="bedrock-converse")
    assert as_request
    assert [finding.code for finding in outcome.findings] == [finding.code for finding in as_request]


@pytest.mark.parametrize("function", [convcli.validate_lines, lambda lines: convcli.convert_lines(lines, to="gemini")])
def test_lines_of_text_are_an_error_that_says_what_to_do(function: Any) -> None:
    with pytest.raises(JobError, match="line 2 is not bytes: open the file with mode 'rb'"):
        list(function([GOOD, GOOD.decode()]))


def test_an_unknown_dialect_is_an_error_before_the_first_line_is_read() -> None:
    with pytest.raises(JobError, match="there is no dialect"):
        convcli.convert_lines([], to="antropic")


def test_a_defect_of_convcli_is_reported_in_its_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(document: Any, options: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(by_line, "judged", fails)
    assert [outcome.findings[0].code for outcome in convcli.validate_lines([GOOD, GOOD])] == ["bug", "bug"]


# ---------------------------------------------------------------- files


def test_a_file_is_iterated_over_its_bad_lines(tmp_path: Path) -> None:
    path = write(tmp_path / "chats.jsonl", CLEAN, "{not json", WRONG, CLEAN, TORN.decode(), end="")
    items = list(convcli.iterate(path, source=OTHER))
    assert [type(item) for item in items] == [Transcript, ContentError, RefusedError, Transcript, ContentError]
    errors = [item for item in items if isinstance(item, convcli.ConvcliError)]
    assert [(error.code, error.line) for error in errors] == [("not-json", 2), ("unknown-value", 3), ("torn-record", 5)]
    assert {error.file for error in errors} == {str(path)}


def test_read_ends_at_the_first_error_that_iterate_gives(tmp_path: Path) -> None:
    path = write(tmp_path / "chats.jsonl", CLEAN, WRONG, CLEAN)
    with pytest.raises(RefusedError, match=r"chats\.jsonl:2:\d+ /messages/0/role: .* \[unknown-value\]"):
        convcli.read(path, source=OTHER)


def test_a_folder_stands_for_its_files_and_one_of_them_may_be_of_no_dialect(tmp_path: Path) -> None:
    write(tmp_path / "a.json", CLEAN)
    write(tmp_path / "b.json", {"name": "package"})
    write(tmp_path / "c.jsonl", CLEAN, CLEAN)
    kinds = [type(item) for item in convcli.iterate(tmp_path)]
    assert kinds == [Transcript, ContentError, Transcript, Transcript]
    assert len(convcli.read(str(tmp_path / "*.jsonl"))) == 2


def test_a_missing_file_is_an_error_of_the_job(tmp_path: Path) -> None:
    with pytest.raises(JobError, match="no-such-file"):
        next(convcli.iterate(tmp_path / "none.jsonl"))


def test_a_long_file_is_iterated_in_little_memory(tmp_path: Path) -> None:
    row = json.dumps({"messages": [{"role": "user", "content": "x" * 10_000}]})
    path = write(tmp_path / "long.jsonl", *[row] * 2_000)
    next(convcli.iterate(path, source=OTHER))  # what is imported stays
    tracemalloc.start()
    try:
        assert sum(isinstance(item, Transcript) for item in convcli.iterate(path, source=OTHER)) == 2_000
        assert tracemalloc.get_traced_memory()[1] < 10_000_000
    finally:
        tracemalloc.stop()
