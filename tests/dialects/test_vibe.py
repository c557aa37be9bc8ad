"""Mistral Vibe: lines of messages, what the program adds to them, and ids of new ones."""

from __future__ import annotations

from typing import Any

import pytest

from convcli.dialects.vibe import DIALECT
from convcli.engine import detection, pipeline
from convcli.kit.ids import new_uuid
from convcli.model.document import Rows
from convcli.model.transcript import Message, Reasoning, Text, ToolCall, ToolResult, Transcript

CALL = ToolCall("c1", "f", {"n": 1})


def row(role: str, content: str | None, id_: str = "m1", **keys: Any) -> dict[str, Any]:
    return {"role": role, "content": content, **keys, "message_id": id_}


def lifted(*rows: Any) -> list[Message]:
    return DIALECT.lift(Rows(rows)).messages


@pytest.mark.parametrize("arguments", ['{"n":1}', {"n": 1}])
def test_arguments_are_json_in_a_string_or_an_object(arguments: Any) -> None:
    call = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": arguments}, "index": 0}
    rows = Rows([row("assistant", None, tool_calls=[call])])
    assert DIALECT.lift(rows).messages == [Message("assistant", [CALL], id="m1")]
    assert pipeline.convert(rows, DIALECT, DIALECT).document == rows


def test_reasoning_comes_before_the_text() -> None:
    (answer,) = lifted(row("assistant", "One.", reasoning_content="Hm."))
    assert answer.parts == [Reasoning("Hm."), Text("One.")]


def test_a_result_names_its_call_and_its_tool() -> None:
    native = row("tool", "1", tool_call_id="c1", name="f", tool_result={"output": {"n": 1}, "duration": 0.1})
    (result,) = lifted(native)
    assert result.parts == [ToolResult("c1", "f", "text", "1")]
    assert result.extras == {"vibe": {"tool_result": {"output": {"n": 1}, "duration": 0.1}}}


def test_marks_of_the_program_and_images_are_kept() -> None:
    native = row("user", "Go on.", injected=True, context_boundary="compaction", images=[{"alias": "a.png"}])
    (message,) = lifted(native)
    assert message.extras == {
        "vibe": {"injected": True, "context_boundary": "compaction", "images": [{"alias": "a.png"}]}
    }
    assert pipeline.convert(Rows([native]), DIALECT, DIALECT).document == [native]


def test_messages_without_an_id_get_one() -> None:
    conversion = pipeline.lower(Transcript([Message("user", [Text("Hi.")]), Message("user", [], id="m2")]), DIALECT)
    assert [one["message_id"] for one in conversion.document] == [new_uuid(1), "m2"]


def test_its_lines_are_not_taken_for_those_of_ollama() -> None:
    call = {"id": "c1", "index": 0, "function": {"name": "f", "arguments": {}}}
    rows = Rows([row("user", "Hi."), row("assistant", "", "m2", tool_calls=[call])])
    assert detection.detect(rows).dialect == "vibe"


def test_the_manifest_of_a_session_is_named() -> None:
    manifest = {"session_id": "s", "environment": {"working_directory": "/a"}, "stats": {"steps": 1}}
    with pytest.raises(Exception, match="manifest of a Mistral Vibe session"):
        detection.detect(manifest)


def test_a_result_may_lack_an_id() -> None:
    result = {"role": "tool", "content": "1", "tool_call_id": "c1", "name": "f"}
    assert detection.detect(Rows([row("user", "Go."), result])).dialect == "vibe"
