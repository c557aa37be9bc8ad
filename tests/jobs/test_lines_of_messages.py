"""JSON Lines with one message per line are one conversation."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from convcli import dialects
from convcli.engine import reading
from convcli.files.outputs import open_output
from convcli.jobs import converting, inputs
from convcli.jobs.choosing import HELD
from convcli.jobs.converting import InputConversion, Job, Sinks
from convcli.jobs.documents import Document
from convcli.model.document import Rows
from convcli.model.errors import ContentError, RefusedError
from convcli.wire import exact_json
from tests.cli_cases import write
from tests.support import Sample, acceptable

CALL = {"id": "c1", "type": "function", "function": {"name": "get_weather", "arguments": '{"city": "Oslo"}'}}
MESSAGES: list[dict[str, Any]] = [
    {"role": "user", "content": "Is it warm?", "timestamp": "2026-11-27T07:00:00"},
    {"role": "assistant", "content": None, "tool_calls": [CALL]},
    {"role": "tool", "tool_call_id": "c1", "content": "mild"},
    {"role": "assistant", "content": "It is mild."},
]


def is_lines(sample: Sample) -> bool:
    """True if the document is a list of messages of which not each is a document by itself."""
    rows = sample.document
    is_list = isinstance(rows, list) and not isinstance(rows, Rows) and len(rows) > 1
    if not is_list or not all(isinstance(row, dict) and isinstance(row.get("role"), str) for row in rows):
        return False
    return not any(HELD.intersection(row) for row in rows)


LISTS = [sample for sample in acceptable() if is_lines(sample)]


def only(path: Path, dialect: str | None = None) -> Document:
    (document,) = inputs.documents(str(path), dialect)
    return document


def test_lists_of_several_dialects_are_tried() -> None:
    assert len({sample.dialect for sample in LISTS}) > 5


@pytest.mark.parametrize("sample", LISTS, ids=str)
def test_a_list_of_messages_reads_the_same_with_a_message_per_line(tmp_path: Path, sample: Sample) -> None:
    document = only(write(tmp_path / "a.jsonl", *sample.document), sample.dialect)
    assert document.lift() == reading.lift(sample.document, dialects.get(sample.dialect))


@pytest.mark.parametrize("sample", LISTS, ids=str)
def test_lines_of_messages_are_the_same_in_their_own_dialect(tmp_path: Path, sample: Sample) -> None:
    source, output = write(tmp_path / "a.jsonl", *sample.document), tmp_path / "b.jsonl"
    job = Job(dialects.get(sample.dialect))
    with inputs.opened(str(source), sample.dialect) as opened:
        sinks = Sinks(None, lambda _: None)
        summary = converting.completed(
            InputConversion(opened, job, lambda _: open_output(str(output), inputs=[]), sinks)
        )
    assert summary.losses == 0
    lines = output.read_bytes().splitlines()
    assert [exact_json.parse(line) for line in lines] == sample.document


def test_lines_of_messages_are_detected(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", *MESSAGES)
    with inputs.opened(str(path)) as source:
        assert (source.dialect.name, source.is_whole) == ("openai-chat", True)
        assert source.detection is not None
        assert source.detection.evidence.reason.endswith("one message per line")
    document = only(path)
    assert [message.role for message in document.lift().messages] == ["user", "assistant", "tool", "assistant"]
    assert document.place("/2/content") == (3, "/content")


def test_a_message_that_is_wrong_is_refused_with_its_line(tmp_path: Path) -> None:
    path = write(tmp_path / "a.jsonl", *MESSAGES[:2], {**MESSAGES[2], "content": 7}, MESSAGES[3])
    with pytest.raises(RefusedError) as caught:
        only(path, "openai-chat").lift()
    assert [(finding.line, finding.where) for finding in caught.value.findings] == [(3, "/content")]


@pytest.mark.parametrize(
    "rows",
    [
        [{"role": "user"}, {"kind": "note"}],
        [{"role": "narrator", "content": 7}, {"role": "narrator", "content": 8}],
        [{"role": 1, "content": "a"}, {"role": 2, "content": "b"}],
    ],
)
def test_other_lines_with_roles_are_not_read_as_messages(tmp_path: Path, rows: list[Any]) -> None:
    with pytest.raises(ContentError, match="no dialect"):
        only(write(tmp_path / "a.jsonl", *rows))


def test_rows_with_messages_stay_one_conversation_each(tmp_path: Path) -> None:
    rows = [{"role": "a", "messages": MESSAGES[:1], "model": "m"}] * 2
    path = tmp_path / "a.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    assert len(list(inputs.documents(str(path), "openai-chat"))) == 2
