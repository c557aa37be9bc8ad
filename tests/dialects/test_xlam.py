"""Rows of xLAM: arguments by name become JSON Schema, and the types of the row are a loss."""

from __future__ import annotations

import json
from typing import Any

import pytest

import convcli
from convcli.dialects.xlam import DIALECT
from convcli.model.transcript import Message, Text, ToolCall

CALLS = [{"name": "f", "arguments": {"a": 1}}]


def row(parameters: Any = None, answers: Any = CALLS, **keys: Any) -> dict[str, Any]:
    tools = [{"name": "f", "description": "A tool.", "parameters": parameters or {}}]
    return {"query": "Hi?", "answers": json.dumps(answers), "tools": json.dumps(tools), **keys}


def parameters_of(parameters: Any) -> Any:
    tools = DIALECT.lift(row(parameters)).tools
    assert tools is not None
    return tools[0].parameters


def test_a_row_is_a_query_and_an_answer_with_calls() -> None:
    transcript = DIALECT.lift(row(answers=[*CALLS, *CALLS], id=7))
    calls = [ToolCall(id_, "f", {"a": 1}) for id_ in ("call_1", "call_2")]
    assert transcript.messages == [Message("user", [Text("Hi?")]), Message("assistant", [*calls])]
    assert (transcript.id, transcript.extras) == (None, {"xlam": {"id": 7}})


@pytest.mark.parametrize(
    ("stated", "schema"),
    [
        ("str", {"type": "string"}),
        ("int, optional", {"type": "integer"}),
        ("List[float]", {"type": "array", "items": {"type": "number"}}),
        ("Optional[List[int]]", {"type": "array", "items": {"type": "integer"}}),
        ("Dict[str, bool]", {"type": "object", "additionalProperties": {"type": "boolean"}}),
        ("Tuple[int, str]", {"type": "array"}),
        ("Callable[[float], float]", {}),
        ("Union[int, str]", {}),
    ],
)
def test_types_of_python_become_json_schema(stated: str, schema: Any) -> None:
    assert parameters_of({"a": {"description": "It.", "type": stated}})["properties"] == {
        "a": {"description": "It.", **schema}
    }


def test_an_argument_is_required_unless_its_type_or_a_default_says_otherwise() -> None:
    arguments = {
        "a": {"type": "str"},
        "b": {"type": "str, optional"},
        "c": {"type": "Optional[int]"},
        "d": {"type": "int", "default": 3},
    }
    assert parameters_of(arguments)["required"] == ["a"]
    assert "required" not in parameters_of({"d": arguments["d"]})


def test_a_json_schema_stays_and_loses_no_types() -> None:
    schema = {"type": "object", "properties": {"a": {"type": ["string", "null"]}, "b": {"type": "null"}}}
    document = row(schema)
    assert parameters_of(schema) == schema
    losses = convcli.convert(document, "hf-chat", source="xlam").losses
    assert [loss.field for loss in losses if "types" in loss.field] == []


def test_the_types_of_a_row_are_a_reported_loss_of_context() -> None:
    document = row({"a": {"type": "str, optional"}})
    for target in ("hf-chat", "sharegpt"):
        losses = convcli.convert(document, target, source="xlam").losses
        (types,) = [loss for loss in losses if loss.field == "extras.xlam.types"]
        assert (types.kind, types.level, types.where, types.before) == (
            "dropped", "context", "/tools", {"/a": "str, optional"},
        )  # fmt: skip


@pytest.mark.parametrize("answers", ['[{"name": "f", "arguments":', "f(a=1)", '[{"arguments": {}}]'])
def test_answers_that_cannot_be_read_stay_a_text_and_a_finding(answers: str) -> None:
    document = {**row(), "answers": answers}
    assert DIALECT.lift(document).messages[1] == Message("assistant", [Text(answers)])
    assert [finding.code for finding in convcli.validate(document, as_="xlam")] == ["invalid-arguments"]


def test_an_answer_may_have_no_call() -> None:
    assert DIALECT.lift(row(answers=[])).messages[1] == Message("assistant", [])
