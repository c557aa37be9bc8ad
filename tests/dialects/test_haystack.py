"""Haystack: blocks under the key of their kind, older versions, what is in `meta`, and results that repeat calls."""

from __future__ import annotations

from typing import Any

import pytest

from convcli.dialects.haystack import DIALECT
from convcli.engine import detection, pipeline
from convcli.model.transcript import Media, Message, Reasoning, Refusal, Text, ToolCall, ToolResult, Transcript

CALL = ToolCall("c1", "f", {"n": 1})
CALL_BLOCK = {"tool_call": {"tool_name": "f", "arguments": {"n": 1}, "id": "c1"}}


def message(role: str, *blocks: Any, **meta: Any) -> dict[str, Any]:
    return {"role": role, "meta": meta, "name": None, "content": list(blocks)}


def result(value: Any, **origin: Any) -> dict[str, Any]:
    origin = {"tool_name": "f", "arguments": {"n": 1}, "id": "c1", **origin}
    return {"tool_call_result": {"result": value, "origin": origin, "error": False}}


def lifted(*natives: Any) -> list[Message]:
    return DIALECT.lift(list(natives)).messages


def written(*messages: Message) -> tuple[Any, set[str]]:
    conversion = pipeline.lower(Transcript(list(messages)), DIALECT)
    return conversion.document, {f"{loss.kind} {loss.field}" for loss in conversion.losses}


@pytest.mark.parametrize(
    ("native", "part"),
    [
        ({"text": "Hi."}, Text("Hi.")),
        ({"reasoning": {"reasoning_text": "Hm."}}, Reasoning("Hm.")),
        (CALL_BLOCK, CALL),
        (
            {"image": {"base64_image": "aGk=", "mime_type": "image/png", "detail": "low"}},
            Media("image", "aGk=", media_type="image/png", detail="low"),
        ),
        (
            {"file": {"base64_data": "aGk=", "mime_type": "application/pdf", "filename": "a.pdf"}},
            Media("document", "aGk=", media_type="application/pdf", name="a.pdf"),
        ),
        (
            {"file": {"base64_data": "aGk=", "mime_type": "audio/wav"}},
            Media("audio", "aGk=", media_type="audio/wav"),
        ),
    ],
)
def test_a_block_is_read_and_written(native: Any, part: Any) -> None:
    assert lifted(message("assistant", native)) == [Message("assistant", [part])]
    assert written(Message("assistant", [part])) == ([message("assistant", native)], set())


@pytest.mark.parametrize("key", ["tool_call", "reasoning"])
def test_a_block_without_the_key_of_its_kind_is_read(key: str) -> None:
    block = {"tool_call": CALL_BLOCK["tool_call"], "reasoning": {"reasoning_text": "Hm."}}[key]
    assert lifted(message("assistant", block)) == lifted(message("assistant", {key: block}))
    assert detection.detect([message("assistant", block)]).dialect == "haystack"


@pytest.mark.parametrize(
    "native",
    [
        {"role": "user", "content": "Hi.", "meta": {"k": 1}, "name": "ann"},
        {"_role": "user", "_content": [{"text": "Hi."}], "_meta": {"k": 1}, "_name": "ann"},
        {"role": "user", "content": [{"text": "Hi."}], "meta": {"k": 1}, "name": "ann"},
    ],
)
def test_messages_of_older_versions_are_read(native: Any) -> None:
    assert lifted(native) == [
        Message("user", [Text("Hi.")], name="ann", extras={"haystack": {"meta": {"k": 1}}}),
    ]
    assert pipeline.convert([native], DIALECT, DIALECT).document == [native]


def test_model_finish_reason_and_usage_are_in_meta() -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 2}
    native = message("assistant", {"text": "Hi."}, model="m", index=0, finish_reason="stop", usage=usage)
    (answer,) = lifted(native)
    assert (answer.model, answer.stop_reason, answer.usage) == ("m", "stop", {"inputTokens": 3, "outputTokens": 2})
    assert written(answer) == ([native], set())


def test_a_result_keeps_only_what_differs_from_its_call() -> None:
    call = message("assistant", CALL_BLOCK)
    _, same = lifted(call, message("tool", result("1")))
    assert same == Message("tool", [ToolResult("c1", "f", "text", "1")])
    _, other = lifted(call, message("tool", result("1", arguments={"n": 2})))
    assert other.parts[0].extras == {"haystack": {"origin": {"arguments": {"n": 2}}}}
    assert written(*lifted(call, message("tool", result("1")))) == ([call, message("tool", result("1"))], set())


def test_several_results_of_one_message_are_messages_of_their_own() -> None:
    native = message("tool", result("1"), result("2", id="c2"))
    assert [one.parts[0] for one in lifted(native)] == [
        ToolResult("c1", "f", "text", "1", extras={"haystack": {"origin": {"arguments": {"n": 1}}}}),
        ToolResult("c2", "f", "text", "2", extras={"haystack": {"origin": {"arguments": {"n": 1}}}}),
    ]
    assert pipeline.convert([native], DIALECT, DIALECT).document == [native]


def test_a_failure_has_a_flag_and_data_is_written_as_json() -> None:
    call = Message("assistant", [CALL])
    failed = Message("tool", [ToolResult("c1", "f", "error", "offline")])
    document, losses = written(call, failed)
    assert document[1]["content"][0]["tool_call_result"]["error"] is True
    assert not losses
    document, losses = written(call, Message("tool", [ToolResult("c1", "f", "data", {"n": 1})]))
    assert document[1]["content"] == [result('{"n":1}')]
    assert losses == {"changed tool_result.kind"}


def test_media_by_url_are_dropped_and_refusals_are_text() -> None:
    image = Media("image", url="https://example.com/a.png")
    document, losses = written(Message("user", [Text("Hi."), image]), Message("assistant", [Refusal("No.")]))
    assert [one["content"] for one in document] == [[{"text": "Hi."}], [{"text": "No."}]]
    assert losses == {"dropped image", "changed refusal"}


def test_its_texts_are_not_taken_for_those_of_converse() -> None:
    assert detection.detect([message("user", {"text": "Hi."})]).dialect == "haystack"
    assert detection.detect([{"role": "user", "content": [{"text": "Hi."}]}]).dialect == "bedrock-converse"
