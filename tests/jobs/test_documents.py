"""A document knows where it stands in its file."""

from __future__ import annotations

import json
from typing import Any

import pytest

from convcli import dialects
from convcli.jobs.documents import Document
from convcli.model.dialect import USUAL
from convcli.model.document import Rows
from convcli.model.errors import RefusedError
from tests.cli_cases import CLEAN, OTHER, WRONG

OPEN = dialects.get(OTHER)
TEXT = json.dumps(CLEAN, indent=1).encode()
ALONE = Document("f", 0, CLEAN, TEXT, OPEN)
RECORD = Document("f", 7, CLEAN, TEXT.replace(b"\n", b""), OPEN)
MEMBER = Document("f", 0, CLEAN, TEXT, OPEN, "/3", (20, 5, 400))
ROWS = Document("f", 0, Rows([{}, {}, {}], [1, 3, 4]), b"", OPEN)


@pytest.mark.parametrize(
    ("document", "first_line", "lines", "is_first"),
    [
        (ALONE, 0, (1, 1 + TEXT.count(b"\n")), True),
        (RECORD, 7, (7, 7), False),
        (MEMBER, 20, (20, 20 + TEXT.count(b"\n")), False),
        (ROWS, 0, (1, 4), True),
    ],
)
def test_a_document_knows_its_lines(
    document: Document, first_line: int, lines: tuple[int, int], is_first: bool
) -> None:
    assert (document.first_line, document.lines, document.is_first) == (first_line, lines, is_first)


@pytest.mark.parametrize(
    ("document", "expected"), [(ALONE, (0, "/a")), (RECORD, (7, "/a")), (MEMBER, (0, "/3/a")), (ROWS, (0, "/a"))]
)
def test_a_pointer_has_a_place_in_the_file(document: Document, expected: tuple[int, str]) -> None:
    assert document.place("/a") == expected


def test_a_pointer_into_rows_is_the_line_of_a_row_and_a_pointer_into_it() -> None:
    assert [ROWS.place(pointer) for pointer in ("/1/a", "/2", "/9")] == [(3, "/a"), (4, ""), (0, "/9")]


@pytest.mark.parametrize(("begin", "expected"), [((1, 1, 0), (1, 24, 23)), ((5, 11, 90), (5, 34, 113))])
def test_findings_of_a_member_are_where_they_are_in_the_file(begin: Any, expected: tuple[int, int, int]) -> None:
    document = Document("f", 0, WRONG, json.dumps(WRONG).encode(), OPEN, "/3", begin)
    with pytest.raises(RefusedError) as caught:
        document.lift()
    (finding,) = caught.value.findings
    assert (finding.file, finding.where) == ("f", "/3/messages/0/role")
    assert (finding.line, finding.column, finding.byte) == expected


def test_losses_of_a_member_point_into_the_array() -> None:
    named = {"messages": [{"role": "user", "name": "x", "content": "hi"}]}
    document = Document("f", 0, named, json.dumps(named).encode(), OPEN, "/3")
    (loss,) = document.convert(dialects.get("anthropic"), USUAL).losses
    assert (loss.file, loss.line, loss.where) == ("f", 0, "/3/messages/0/name")
