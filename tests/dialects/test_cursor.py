"""Cursor: messages of the AI SDK, bubbles of the editor, and transcripts without ids."""

from __future__ import annotations

from typing import Any

import pytest

from convcli.dialects.cursor import DIALECT
from convcli.engine import detection
from convcli.model.document import Rows
from convcli.model.transcript import Media, Message, Opaque, Reasoning, Text, ToolCall, ToolResult

CALL = ToolCall("c1", "f", {"n": 1})


def agent(*messages: Any, **keys: Any) -> list[Message]:
    return DIALECT.lift({"agentId": "a", **keys, "messages": list(messages)}).messages


def composer(*bubbles: Any, key: str = "bubbles") -> list[Message]:
    natives = [{"bubbleId": f"b{i}", **bubble} for i, bubble in enumerate(bubbles)]
    return DIALECT.lift({"composerId": "c", key: natives}).messages


def row(role: str, *blocks: Any) -> dict[str, Any]:
    return {"role": role, "message": {"content": list(blocks)}}


def called(**more: Any) -> dict[str, Any]:
    return {"type": 2, "toolFormerData": {"toolCallId": "c1", "name": "f", "rawArgs": '{"n":1}', **more}}


def test_messages_of_the_program_have_the_blocks_of_the_ai_sdk() -> None:
    blocks = [
        {"type": "reasoning", "text": "Hm.", "signature": "c2ln"},
        {"type": "redacted-reasoning", "data": "ZW5j"},
        {"type": "text", "text": "Yes."},
        {"type": "tool-call", "toolCallId": "c1", "toolName": "f", "args": {"n": 1}},
    ]
    options = {"cursor": {"modelName": "composer-2.5"}}
    (message,) = agent({"role": "assistant", "content": blocks, "providerOptions": options})
    assert message.parts == [
        Reasoning("Hm.", metadata={"signature": "c2ln"}),
        Reasoning("", metadata={"redactedData": "ZW5j"}),
        Text("Yes."),
        CALL,
    ]
    assert message.model == "composer-2.5"


@pytest.mark.parametrize(
    ("result", "expected"),
    [
        ({"result": "one"}, ToolResult("c1", "f", "text", "one")),
        ({"result": "no", "isError": True}, ToolResult("c1", "f", "error", "no")),
        ({"result": {"n": 1}}, ToolResult("c1", "f", "data", {"n": 1})),
        ({"result": [{"type": "text", "text": "one"}]}, ToolResult("c1", "f", "text", "one")),
    ],
)
def test_each_result_is_a_message(result: dict[str, Any], expected: ToolResult) -> None:
    block = {"type": "tool-result", "toolCallId": "c1", "toolName": "f", **result}
    assert agent({"role": "tool", "content": [block, block]}) == [Message("tool", [expected])] * 2


def test_images_are_data_or_urls() -> None:
    images = [
        {"type": "image", "image": "aGk=", "mediaType": "image/png"},
        {"type": "image", "image": "https://example.com/a.png"},
    ]
    assert agent({"role": "user", "content": images})[0].parts == [
        Media("image", data="aGk=", media_type="image/png"),
        Media("image", url="https://example.com/a.png"),
    ]


@pytest.mark.parametrize("key", ["bubbles", "conversation"])
def test_bubbles_in_a_row_are_one_answer_up_to_a_result(key: str) -> None:
    messages = composer(
        {"type": 1, "text": "Hi."},
        {"type": 2, "thinking": {"text": "Hm."}, "text": ""},
        {"type": 2, "text": "Yes.", "tokenCount": {"inputTokens": 7, "outputTokens": 1}},
        called(result='{"n":2}', status="completed"),
        {"type": 2, "text": "Done."},
        key=key,
    )
    assert [(message.role, message.id) for message in messages] == [
        ("user", "b0"),
        ("assistant", "b1"),
        ("tool", None),
        ("assistant", "b4"),
    ]
    assert [part.type for part in messages[1].parts] == ["reasoning", "text", "tool_call"]
    assert messages[1].parts[1].extras == {"cursor": {"bubble": {"bubbleId": "b2"}}}
    assert messages[1].usage == {"inputTokens": 7, "outputTokens": 1}
    assert messages[2].parts == [ToolResult("c1", "f", "data", {"n": 2})]


@pytest.mark.parametrize(
    ("more", "result"),
    [
        ({"result": "no such file", "status": "error"}, ToolResult("c1", "f", "error", "no such file")),
        ({"status": "cancelled"}, ToolResult("c1", "f", "error", "", status="cancelled")),
        ({"status": "started"}, None),
    ],
)
def test_the_status_of_a_call_is_that_of_its_result(more: dict[str, Any], result: ToolResult | None) -> None:
    call, *answers = composer(called(**more))
    assert [answer.parts for answer in answers] == ([] if result is None else [[result]])
    assert call.parts[0].extras == (None if result is not None else {"cursor": {"status": "started"}})


def test_arguments_are_those_of_the_model_if_the_editor_kept_them() -> None:
    (message,) = composer({"type": 2, "toolFormerData": {"name": "f", "params": '{"m":2}', "rawArgs": ""}})
    (call,) = message.parts
    assert isinstance(call, ToolCall)
    assert call.arguments == {"m": 2}


def test_a_result_of_a_transcript_gives_its_id_to_the_call() -> None:
    use = {"type": "tool_use", "name": "f", "input": {"n": 1}}
    result = {"type": "tool_result", "tool_use_id": "c1", "content": [{"type": "text", "text": "one"}]}
    messages = DIALECT.lift(Rows([row("assistant", use), row("user", result), {"type": "turn_ended"}])).messages
    assert messages == [
        Message("assistant", [CALL]),
        Message("tool", [ToolResult("c1", "f", "text", "one")]),
        Message("event", [Opaque("cursor", {"type": "turn_ended"})]),
    ]


def test_what_cursor_left_out_is_a_thought() -> None:
    (message,) = DIALECT.lift(Rows([row("assistant", {"type": "text", "text": "[REDACTED]"})])).messages
    assert message.parts == [Reasoning("[REDACTED]", extras={"cursor": {"redacted": True}})]


@pytest.mark.parametrize("bubbles", [[], None])
def test_a_session_of_the_editor_may_have_no_bubbles(bubbles: Any) -> None:
    assert DIALECT.lift({"composerId": "c", "name": "N", "bubbles": bubbles}).messages == []


def test_all_three_kinds_are_detected() -> None:
    said = row("user", {"type": "text", "text": "Hi."})
    for document in (
        Rows([said, {"type": "turn_ended"}]),
        {"agentId": "a", "messages": [{"role": "user", "content": "Hi."}]},
        {"composerId": "c", "bubbles": [{"bubbleId": "b", "type": 1, "text": "Hi."}]},
    ):
        assert detection.detect(document).dialect == "cursor"
    assert detection.evidence(Rows([{**said, "uuid": "1"}]), DIALECT) is None
