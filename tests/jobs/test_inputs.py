"""Inputs become documents with places and dialects."""

from __future__ import annotations

import bz2
import gzip
import json
import lzma
from pathlib import Path
from typing import Any

import pytest

from convcli.dialects import get
from convcli.files.framing import open_source
from convcli.jobs import choosing, inputs
from convcli.jobs.documents import Document, Item, Skipped
from convcli.jobs.inputs import Input
from convcli.model.dialect import Evidence
from convcli.model.document import Rows
from convcli.model.errors import ContentError, JobError, RefusedError
from tests.cli_cases import CLEAN, LOSSY, OTHER, OWN, WRONG, write
from tests.support import SAMPLES

TORN = json.dumps(LOSSY)[:-20]


def items(path: Path, dialect: str | None = None) -> list[Item]:
    with inputs.opened(str(path), dialect) as source:
        return list(source)


def test_a_json_file_is_one_document_without_a_line(tmp_path: Path) -> None:
    (document,) = inputs.documents(str(write(tmp_path / "a.json", LOSSY)))
    assert (document.line, document.value, document.dialect.name) == (0, LOSSY, OWN)
    assert document.lift().messages[0].id == "m1"


def test_each_record_of_json_lines_is_a_document_with_its_line(tmp_path: Path) -> None:
    path = write(tmp_path / "a.json", CLEAN, "", CLEAN)
    assert [document.line for document in inputs.documents(str(path), OTHER)] == [1, 3]


def test_content_and_not_the_name_tells_json_lines(tmp_path: Path) -> None:
    with inputs.opened(str(write(tmp_path / "a.json", LOSSY, LOSSY))) as source:
        assert source.layout == "jsonl"


def test_a_single_line_is_json_lines_only_by_its_name(tmp_path: Path) -> None:
    for name, layout in (("a.json", "json"), ("a.jsonl", "jsonl"), ("a.ndjson", "jsonl")):
        with inputs.opened(str(write(tmp_path / name, LOSSY))) as source:
            assert source.layout == layout


PACKERS = {"": bytes, ".gz": gzip.compress, ".bz2": bz2.compress, ".xz": lzma.compress}


@pytest.mark.parametrize("packing", PACKERS)
@pytest.mark.parametrize(
    ("sample", "is_appended"),
    [
        ("openai-ft/fine-tuning.jsonl", False),
        ("sharegpt/other-tags.jsonl", False),
        ("anthropic-stream/twin-weather.sse", False),
        ("openai-chat-stream/compatible-server.jsonl", False),
        ("claude-code/twin-weather.jsonl", True),
        ("gemini-cli-stream/twin-weather.jsonl", True),
        ("acp/session.jsonl", True),
    ],
)
def test_a_torn_last_record_is_only_usable_where_a_program_appends(
    sample: str, is_appended: bool, packing: str, tmp_path: Path
) -> None:
    end = b"\n\n" if sample.endswith(".sse") else b"\n"
    whole = [record for record in (SAMPLES / sample).read_bytes().split(end) if record]
    path = tmp_path / (Path(sample).name + packing)
    path.write_bytes(PACKERS[packing](end.join([*whole, whole[0][:-3]])))
    with inputs.opened(str(path), sample.partition("/")[0]) as source:
        [skipped] = [item for item in source if isinstance(item, Skipped)]
    assert skipped.torn == (is_appended and not packing)
    assert skipped.torn or skipped.error.code == "torn-record"


def test_a_bad_line_in_the_middle_is_no_torn_one(tmp_path: Path) -> None:
    _, bad, _ = items(write(tmp_path / "a.jsonl", LOSSY, TORN, LOSSY))
    assert isinstance(bad, Skipped)
    assert not bad.torn
    assert bad.error.line == 2


def test_documents_raises_at_a_stretch_that_is_none(tmp_path: Path) -> None:
    with pytest.raises(ContentError):
        list(inputs.documents(str(write(tmp_path / "a.jsonl", LOSSY, TORN, LOSSY))))


def test_a_record_of_another_dialect_is_reported_with_its_line(tmp_path: Path) -> None:
    called = {"messages": [{"role": "tool", "tool_call_id": "c1", "content": "x"}]}
    many = [LOSSY] * (choosing.LOOK_AHEAD + 3)
    found = items(write(tmp_path / "a.jsonl", *many, called))
    assert [type(item) for item in found] == [Document] * len(many) + [Skipped]
    assert isinstance(found[-1], Skipped)
    assert found[-1].error.code == "other-dialect"
    assert found[-1].error.line == len(many) + 1


def test_rows_without_calls_among_rows_with_calls_are_rows(tmp_path: Path) -> None:
    called = {"id": "c", "type": "function", "function": {"name": "f", "arguments": {"n": 1}}}
    picture = {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}
    tools = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]
    plain = {"role": "user", "content": "Hi."}
    rows = [
        {"messages": [plain], "tools": tools},
        {"messages": [{"role": "user", "content": [picture]}]},
        {"messages": [plain, {"role": "assistant", "content": "", "tool_calls": [called]}]},
    ]
    found = items(write(tmp_path / "a.jsonl", *rows, *[rows[2]] * choosing.LOOK_AHEAD, *rows))
    assert {item.dialect.name for item in found if isinstance(item, Document)} == {"hf-chat"}
    assert not any(isinstance(item, Skipped) for item in found)


def test_rows_for_fine_tuning_without_a_weight_among_those_with_one_are_rows(tmp_path: Path) -> None:
    asked, answer = {"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Ho."}
    rows = [{"messages": [asked, answer]}, {"messages": [asked, {**answer, "weight": 1}]}]
    found = items(write(tmp_path / "a.jsonl", *rows))
    assert [item.dialect.name for item in found if isinstance(item, Document)] == ["openai-ft"] * 2


def test_an_unknown_document_names_its_file(tmp_path: Path) -> None:
    with pytest.raises(ContentError) as caught:
        items(write(tmp_path / "a.json", {"x": 1}))
    assert caught.value.code == "unknown-dialect"
    assert caught.value.file.endswith("a.json")


@pytest.mark.parametrize("reported", [None, OTHER])
def test_each_member_of_an_array_of_transcripts_is_a_document_with_its_place(
    tmp_path: Path, reported: str | None
) -> None:
    path = tmp_path / "a.json"
    path.write_text(json.dumps([CLEAN, {**CLEAN, "label": True}], indent=1))
    with inputs.opened(str(path), reported) as source:
        assert (source.layout, source.is_whole, source.dialect.name) == ("array", False, OTHER)
        first, second = source
    assert isinstance(first, Document)
    assert isinstance(second, Document)
    assert (second.value["label"], second.at, second.line, second.is_first) == (True, "/1", 0, False)
    assert first.is_first
    assert second.place("/messages/0") == (0, "/1/messages/0")
    begin = path.read_text().splitlines()[second.begin[0] - 1][second.begin[1] - 1 :]
    assert begin == "{"


def test_findings_of_a_member_of_an_array_report_its_place_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    for text in (json.dumps([CLEAN, WRONG], indent=2), json.dumps([CLEAN, WRONG], ensure_ascii=False)):
        path.write_text(text)
        _, second = inputs.documents(str(path), OTHER)
        with pytest.raises(RefusedError) as caught:
            second.lift()
        (finding,) = caught.value.findings
        assert finding.where == "/1/messages/0/role"
        assert text[finding.byte :].startswith('"usr"')
        assert text.splitlines()[finding.line - 1][finding.column - 1 :].startswith('"usr"')


def test_a_bad_member_does_not_hide_the_others(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text(f'[{json.dumps(CLEAN)}, {{"messages": nothing}},\n {json.dumps(CLEAN)}]')
    first, bad, last = items(path, OTHER)
    assert [type(item) for item in (first, bad, last)] == [Document, Skipped, Document]
    assert isinstance(bad, Skipped)
    assert (bad.error.code, bad.error.line, bad.torn) == ("not-json", 1, False)


def test_an_array_of_answers_is_no_answer_of_many_messages(tmp_path: Path) -> None:
    """Each answer of Anthropic looks like a message of Chat Completions, and says by itself what it is."""
    answer = {"id": "m", "type": "message", "role": "assistant", "model": "x", "stop_reason": "end_turn"}
    answer |= {"content": [{"type": "text", "text": "Paris."}], "usage": {"input_tokens": 1, "output_tokens": 1}}
    path = write(tmp_path / "a.json", [answer, answer])
    with inputs.opened(str(path)) as source:
        assert (source.dialect.name, source.layout) == ("anthropic", "array")


def test_rows_that_say_little_stand_among_rows_that_say_what_they_are(tmp_path: Path) -> None:
    called = {"type": "tool_use", "id": "c1", "name": "f", "input": {}}
    answered = {"type": "tool_result", "tool_use_id": "c1", "content": "x"}
    turns = [{"role": "assistant", "content": [called]}, {"role": "user", "content": [answered]}]
    plain = {"messages": [{"role": "user", "content": "hi"}]}
    path = write(tmp_path / "a.jsonl", plain, {"messages": [*plain["messages"], *turns]}, plain)
    with inputs.opened(str(path)) as source:
        assert source.dialect.name == "anthropic"
        assert [type(item) for item in source] == [Document] * 3


def test_an_array_that_is_one_transcript_is_read(tmp_path: Path) -> None:
    (document,) = inputs.documents(str(write(tmp_path / "a.json", CLEAN["messages"])), OTHER)
    assert document.value == CLEAN["messages"]


def test_a_file_without_a_record_is_an_error(tmp_path: Path) -> None:
    for name, content in (("a.json", ""), ("b.jsonl", "\n\n"), ("c.sse", ": nothing\n\n")):
        (tmp_path / name).write_text(content)
        with pytest.raises(ContentError):
            items(tmp_path / name, OTHER)


def test_compressed_files_are_read_by_content(tmp_path: Path) -> None:
    (tmp_path / "a.json.gz").write_bytes(gzip.compress(json.dumps(LOSSY).encode()))
    (document,) = inputs.documents(str(tmp_path / "a.json.gz"))
    assert document.value == LOSSY


def test_findings_of_a_json_document_report_line_and_column(tmp_path: Path) -> None:
    (tmp_path / "a.json").write_text('{\n "messages": [\n  {"role": "usr", "content": "hi"}]}')
    (document,) = inputs.documents(str(tmp_path / "a.json"), OTHER)
    with pytest.raises(RefusedError) as caught:
        document.lift()
    finding = caught.value.findings[0]
    assert (finding.line, finding.column, finding.where) == (3, 12, "/messages/0/role")


def test_findings_of_a_record_report_its_line_and_a_pointer_into_it(tmp_path: Path) -> None:
    _, document = inputs.documents(str(write(tmp_path / "a.jsonl", CLEAN, WRONG)), OTHER)
    with pytest.raises(RefusedError) as caught:
        document.lift()
    (finding,) = caught.value.findings
    assert (finding.line, finding.column, finding.where) == (2, 24, "/messages/0/role")
    assert json.dumps(WRONG)[finding.column - 1 :].startswith('"usr"')


def in_rows(path: Path) -> Document:
    """The file as one document of a dialect whose files are rows."""
    rows = _dialect_of_rows()
    with open_source(str(path)) as source:
        (document,) = (item for item in Input(str(path), source, rows) if isinstance(item, Document))
    return document


def _dialect_of_rows() -> Any:
    from msgspec.structs import replace

    return replace(get(OWN), name="rows", framings=("events",), detect=lambda value: Evidence(90, "rows"))


def test_the_lines_of_a_session_are_one_document_whose_places_are_lines(tmp_path: Path) -> None:
    document = in_rows(write(tmp_path / "s.jsonl", {"a": 1}, "", {"b": [2]}))
    assert isinstance(document.value, Rows)
    assert document.value == [{"a": 1}, {"b": [2]}]
    assert document.place("/1/b/0") == (3, "/b/0")
    assert document.place("/0") == (1, "")


def test_a_session_of_one_line_is_rows_too(tmp_path: Path) -> None:
    assert in_rows(write(tmp_path / "s.jsonl", {"a": 1})).value == [{"a": 1}]


@pytest.mark.parametrize(("name", "value"), [("s.jsonl", [{"type": "message"}]), ("s.json", {"type": "message"})])
def test_a_single_row_that_says_little_is_a_session_where_the_name_says_lines(
    tmp_path: Path, name: str, value: Any
) -> None:
    (document,) = items(write(tmp_path / name, {"type": "message"}), "openclaw")
    assert isinstance(document, Document)
    assert document.value == value


@pytest.mark.parametrize("name", ["a.json", "a.jsonl"])
def test_a_document_on_one_line_does_not_tie_with_itself_as_rows(tmp_path: Path, name: str) -> None:
    said = {"id": "u1", "timestamp": "2026-01-01T00:00:00Z", "type": "user", "content": "Hi."}
    session = {"sessionId": "s", "projectHash": "p", "messages": [said]}
    with inputs.opened(str(write(tmp_path / name, session))) as source:
        assert (source.dialect.name, source.is_whole) == ("gemini-cli", False)
        assert [len(document.lift().messages) for document in source if isinstance(document, Document)] == [1]


def on_line(path: Path, line: int, dialect: str | None = None) -> list[Item]:
    with inputs.opened(f"{path}:{line}", dialect) as source:
        return list(source)


def test_a_line_names_the_transcript_that_stands_there(tmp_path: Path) -> None:
    rows = write(tmp_path / "a.jsonl", CLEAN, "", LOSSY | {"messages": []}, "{", CLEAN)
    (document,) = on_line(rows, 5, OTHER)
    assert isinstance(document, Document)
    assert (document.line, document.value) == (5, CLEAN)
    (bad,) = on_line(rows, 4, OTHER)
    assert isinstance(bad, Skipped)
    assert [type(item) for item in items(Path(f"{rows}:1:24"), OTHER)] == [Document]


def test_a_line_within_a_member_a_session_or_a_document_names_all_of_it(tmp_path: Path) -> None:
    array = tmp_path / "a.json"
    array.write_text(json.dumps([CLEAN, CLEAN, CLEAN], indent=1))
    last = array.read_text().count("\n") + 1
    (second,) = on_line(array, last // 2, OTHER)
    assert isinstance(second, Document)
    assert second.at == "/1"
    (document,) = on_line(write(tmp_path / "b.json", LOSSY), 1)
    assert isinstance(document, Document)


@pytest.mark.parametrize("line", [2, 4, 99])
def test_a_line_on_which_no_transcript_stands_is_a_wrong_job(tmp_path: Path, line: int) -> None:
    rows = write(tmp_path / "a.jsonl", CLEAN, "", CLEAN)
    with pytest.raises(JobError) as caught:
        on_line(rows, line, OTHER)
    assert (caught.value.code, caught.value.file) == ("unknown-line", str(rows))


def test_one_transcript_of_a_file_of_many_is_no_file_of_many(tmp_path: Path) -> None:
    rows = write(tmp_path / "a.jsonl", *[CLEAN] * 3)
    with inputs.opened(f"{rows}:2", OTHER) as source:
        assert not source.may_be_several
