"""LlamaIndex: blocks, what is in `additional_kwargs`, and roles of other services."""

from __future__ import annotations

from typing import Any

import pytest

from convcli.dialects.llamaindex import DIALECT
from convcli.engine import detection, pipeline
from convcli.model.errors import ContentError
from convcli.model.transcript import Media, Message, Reasoning, Refusal, Text, ToolCall, ToolResult, Transcript

CALL = ToolCall("call_1", "f", {"n": 1})
OPENAI = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"n": 1}'}}
BLOCK = {"block_type": "tool_call", "tool_call_id": "call_1", "tool_name": "f", "tool_kwargs": {"n": 1}}


def message(role: str, *blocks: Any, **more: Any) -> dict[str, Any]:
    return {"role": role, "additional_kwargs": more, "blocks": list(blocks)}


def lifted(*natives: Any) -> list[Message]:
    return DIALECT.lift(list(natives)).messages


def written(*messages: Message) -> tuple[Any, set[str]]:
    conversion = pipeline.lower(Transcript(list(messages)), DIALECT)
    return conversion.document, {f"{loss.kind} {loss.field}" for loss in conversion.losses}


def test_calls_of_additional_kwargs_are_read_where_no_block_has_them() -> None:
    assert lifted(message("assistant", tool_calls=[OPENAI])) == [Message("assistant", [CALL])]


def test_calls_of_additional_kwargs_that_repeat_blocks_are_dropped() -> None:
    assert lifted(message("assistant", BLOCK, tool_calls=[OPENAI])) == [Message("assistant", [CALL])]


def test_other_calls_of_additional_kwargs_are_kept() -> None:
    other = {**OPENAI, "id": "call_2"}
    extras = {"llamaindex": {"additional_kwargs": {"tool_calls": [other]}}}
    assert lifted(message("assistant", BLOCK, tool_calls=[other])) == [Message("assistant", [CALL], extras=extras)]


def test_a_result_has_its_call_and_name_in_additional_kwargs() -> None:
    native = message("tool", {"block_type": "text", "text": "1"}, tool_call_id="call_1", name="f")
    assert lifted(native) == [Message("tool", [ToolResult("call_1", "f", "text", "1")])]
    call = Message("assistant", [CALL])
    assert written(call, *lifted(native)) == ([message("assistant", BLOCK), native], set())


@pytest.mark.parametrize(
    ("role", "ours"), [("chatbot", "assistant"), ("model", "assistant"), ("developer", "developer")]
)
def test_a_role_is_read_and_comes_back(role: str, ours: str) -> None:
    native = message(role, {"block_type": "text", "text": "Hi."})
    assert [one.role for one in lifted(native)] == [ours]
    assert pipeline.convert([native], DIALECT, DIALECT).document == [native]


def test_a_message_of_an_older_version_has_a_text() -> None:
    assert lifted({"role": "user", "content": "Hi.", "additional_kwargs": {}}) == [Message("user", [Text("Hi.")])]


@pytest.mark.parametrize(
    ("native", "part"),
    [
        (
            {"block_type": "thinking", "content": "Hm.", "additional_information": {"signature": "c2ln"}},
            Reasoning("Hm.", metadata={"signature": "c2ln"}),
        ),
        (
            {"block_type": "image", "image": "aGk=", "image_mimetype": "image/png"},
            Media("image", "aGk=", media_type="image/png"),
        ),
        ({"block_type": "audio", "audio": "aGk=", "format": "mp3"}, Media("audio", "aGk=", media_type="audio/mpeg")),
        ({"block_type": "document", "path": "a.pdf", "title": "a"}, Media("document", path="a.pdf", name="a")),
    ],
)
def test_a_block_is_read_and_written(native: Any, part: Any) -> None:
    assert lifted(message("user", native)) == [Message("user", [part])]
    assert written(Message("user", [part])) == ([message("user", native)], set())


def test_a_failure_keeps_its_text_and_a_refusal_becomes_text() -> None:
    failed = Message("tool", [ToolResult("call_1", "f", "error", "offline")])
    document, losses = written(Message("assistant", [CALL]), failed, Message("assistant", [Refusal("No.")]))
    assert [one["blocks"] for one in document[1:]] == [
        [{"block_type": "text", "text": "offline"}],
        [{"block_type": "text", "text": "No."}],
    ]
    assert losses == {"changed tool_result.kind", "changed refusal"}


def test_a_chat_store_is_named_with_the_way_to_read_it() -> None:
    store = {
        "store": {"chat": [message("user", {"block_type": "text", "text": "Hi."})]},
        "class_name": "SimpleChatStore",
    }
    with pytest.raises(ContentError, match="a LlamaIndex chat store") as refused:
        detection.detect(store)
    assert "--at '/store/*'" in (refused.value.help or "")


def test_its_messages_are_not_taken_for_langchain() -> None:
    assert detection.detect([message("user", {"block_type": "text", "text": "Hi."})]).dialect == "llamaindex"
