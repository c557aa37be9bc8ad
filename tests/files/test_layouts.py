"""Documents laid out in a file."""

from __future__ import annotations

from typing import Any

import pytest

from convcli.files.framing import Framing
from convcli.files.layouts import DocumentWriter, encoded, layout
from convcli.model.document import Rows
from tests.support import Memory


@pytest.mark.parametrize(
    ("shape", "documents", "expected"),
    [
        ("json", [{"a": 1}], b'{\n  "a": 1\n}\n'),
        ("jsonl", [{"a": 1}, [2]], b'{"a":1}\n[2]\n'),
        ("jsonl", [Rows([{"a": 1}, {"b": 2}])], b'{"a":1}\n{"b":2}\n'),
        ("sse", [Rows([{"a": 1}, "[DONE]"])], b'data: {"a":1}\n\ndata: [DONE]\n\n'),
        ("array", [{"a": 1}, [2]], b'[\n{"a":1},\n[2]\n]\n'),
        ("array", [], b"[]\n"),
    ],
)
def test_documents_are_written_in_a_layout(shape: Framing, documents: list[Any], expected: bytes) -> None:
    output = Memory()
    writer = DocumentWriter(output, shape)
    for document in documents:
        writer.add(document)
    assert not output.is_there
    writer.commit()
    assert (output.data, output.is_there) == (expected, True)


def test_events_are_named_by_their_type_in_streams_that_name_them() -> None:
    rows = Rows([{"type": "ping"}, {"a": 1}, "[DONE]"])
    bare = [b'data: {"type":"ping"}\n\n', b'data: {"a":1}\n\n', b"data: [DONE]\n\n"]
    assert list(encoded(rows, ".sse")) == bare
    assert list(encoded(rows, ".sse", names_events=True)) == [b"event: ping\n" + bare[0], *bare[1:]]


@pytest.mark.parametrize(("shape", "expected"), [("jsonl", b"1\n2\n"), ("array", b"[\n1,\n2\n]\n")])
def test_what_is_a_line_already_is_not_written_anew(shape: Framing, expected: bytes) -> None:
    writer = DocumentWriter(output := Memory(), shape)
    for line in (b"1\n", b"2\n"):
        writer.add_line(line)
    writer.commit()
    assert output.data == expected


def test_one_document_is_json_and_several_are_json_lines() -> None:
    assert [layout([{}]), layout([{}, {}]), layout([Rows([{}])])] == ["json", "jsonl", "jsonl"]
