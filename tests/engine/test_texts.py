"""JSON in texts: columns of data sets, and the arguments of calls."""

from __future__ import annotations

import json
from typing import Any

import pytest

from convcli import dialects
from convcli.engine import texts
from convcli.engine.pipeline import convert
from convcli.model.errors import JobError
from tests.cli_cases import CLEAN, OTHER
from tests.support import names, samples_of

OPEN = dialects.get(OTHER)
TOOLS = [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]


def called(arguments: Any) -> dict[str, Any]:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": arguments}}
    answer = {"role": "tool", "tool_call_id": "c1", "content": "ok"}
    return {"messages": [{"role": "user", "content": "hi"}, {"role": "assistant", "tool_calls": [call]}, answer]}


def arguments_of(document: Any) -> Any:
    return document["messages"][1]["tool_calls"][0]["function"]["arguments"]


@pytest.mark.parametrize(
    ("row", "expected"),
    [
        ({"messages": json.dumps(CLEAN["messages"])}, ("messages",)),
        ({**CLEAN, "tools": json.dumps(TOOLS)}, ("tools",)),
        ({"tools": json.dumps(TOOLS), "messages": json.dumps(CLEAN["messages"])}, ("tools", "messages")),
        ({**CLEAN, "note": "[1, 2]"}, ()),
        ({"messages": "[broken"}, ()),
        ({"messages": "a text"}, ()),
        (CLEAN, ()),
        ([CLEAN], ()),
    ],
)
def test_a_text_is_opened_where_the_schema_wants_what_it_holds(row: Any, expected: tuple[str, ...]) -> None:
    value, opened = texts.read(row, OPEN)
    assert opened == expected
    assert all(value[name] == json.loads(row[name]) for name in opened)
    if not opened:
        assert value is row


@pytest.mark.parametrize("name", [name for name in names() if "records" in dialects.get(name).framings])
def test_what_is_written_as_texts_is_read_as_it_was(name: str) -> None:
    dialect = dialects.get(name)
    for sample in samples_of(name):
        if isinstance(sample.document, dict):
            row = texts.written(sample.document, dialect)
            assert texts.read(row, dialect)[0] == sample.document
            assert list(row) == list(sample.document)


def test_all_lists_and_objects_of_a_row_become_texts() -> None:
    row = texts.written({"messages": CLEAN["messages"], "tools": TOOLS, "seed": 3}, OPEN)
    assert {name: type(value) for name, value in row.items()} == {"messages": str, "tools": str, "seed": int}


@pytest.mark.parametrize("target", [OTHER, "mistral"])
@pytest.mark.parametrize(("given", "text"), [({"x": 1}, '{"x":1}'), ('{"x": 1}', '{"x": 1}'), ('{"x":', '{"x":')])
def test_arguments_are_a_text_or_an_object(target: str, given: Any, text: str) -> None:
    to = dialects.get(target)
    done = convert(called(given), OPEN, to)
    for style in ("text", "object"):
        styled = texts.with_arguments(done, OPEN, to, style)  # type: ignore[arg-type]
        is_object = style == "object" and text.endswith("}")
        written = arguments_of(styled.document)
        assert isinstance(written, dict) == is_object
        assert (json.loads(written) if text.endswith("}") and not is_object else written) == (
            {"x": 1} if text.endswith("}") else text
        )
        assert [loss.field for loss in styled.losses] == [loss.field for loss in done.losses]


def test_a_service_that_takes_only_a_text_is_reported_of_objects_and_not_of_texts() -> None:
    done = convert(called({"x": 1}), OPEN, OPEN)
    codes = [finding.code for finding in texts.with_arguments(done, OPEN, OPEN, "object").findings]
    assert "arguments-not-text" in codes
    codes = [finding.code for finding in texts.with_arguments(done, OPEN, OPEN, "text").findings]
    assert "arguments-not-text" not in codes


def test_a_dialect_that_has_one_style_refuses_the_other() -> None:
    target = dialects.get("anthropic")
    done = convert(called('{"x": 1}'), OPEN, target)
    assert texts.with_arguments(done, OPEN, target, "object").document == done.document
    with pytest.raises(JobError):
        texts.with_arguments(done, OPEN, target, "text")
