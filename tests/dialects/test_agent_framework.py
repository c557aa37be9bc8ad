"""Microsoft Agent Framework: contents of both libraries, failures, media, and the history of a session."""

from __future__ import annotations

from typing import Any

import pytest

from convcli.dialects.agent_framework import DIALECT
from convcli.engine import detection, pipeline
from convcli.model.dialect import Options
from convcli.model.transcript import Media, Message, Part, Reasoning, Refusal, Text, ToolCall, ToolResult, Transcript

CALL = ToolCall("c1", "f", {"n": 1})
NATIVE_CALL = {"type": "function_call", "call_id": "c1", "name": "f", "arguments": {"n": 1}}
DOTNET_CALL = {"$type": "functionCall", "callId": "c1", "name": "f", "arguments": {"n": 1}}


def message(role: str, *contents: Any, **more: Any) -> dict[str, Any]:
    return {"type": "message", "role": role, "contents": list(contents), **more}


def dotnet(role: str, *contents: Any) -> dict[str, Any]:
    return {"role": role, "contents": list(contents)}


def lifted(*natives: Any) -> list[Message]:
    return DIALECT.lift(list(natives)).messages


def written(*messages: Message, form: str = "list") -> tuple[Any, set[str]]:
    conversion = pipeline.lower(Transcript(list(messages)), DIALECT, Options(form=form))
    return conversion.document, {f"{loss.kind} {loss.field}" for loss in conversion.losses}


@pytest.mark.parametrize(
    ("native", "of_dotnet", "part"),
    [
        ({"type": "text", "text": "Hi."}, {"$type": "text", "text": "Hi."}, Text("Hi.")),
        ({"type": "text_reasoning", "text": "Hm."}, {"$type": "reasoning", "text": "Hm."}, Reasoning("Hm.")),
        (NATIVE_CALL, DOTNET_CALL, CALL),
        (
            {"type": "data", "uri": "data:image/png;base64,aGk=", "media_type": "image/png", "name": "a"},
            {"$type": "data", "uri": "data:image/png;base64,aGk=", "mediaType": "image/png", "name": "a"},
            Media("image", "aGk=", media_type="image/png", name="a"),
        ),
        (
            {"type": "uri", "uri": "https://example.com/a", "media_type": "audio/*"},
            {"$type": "uri", "uri": "https://example.com/a", "mediaType": "audio/*"},
            Media("audio", url="https://example.com/a"),
        ),
        (
            {"type": "hosted_file", "file_id": "f1", "media_type": "application/pdf"},
            {"$type": "hostedFile", "fileId": "f1", "mediaType": "application/pdf"},
            Media("document", file_id="f1", media_type="application/pdf"),
        ),
    ],
)
def test_a_content_is_read_and_written_as_both_libraries_do(native: Any, of_dotnet: Any, part: Part) -> None:
    answer = Message("assistant", [part])
    assert lifted(message("assistant", native)) == lifted(dotnet("assistant", of_dotnet)) == [answer]
    assert written(answer) == ([message("assistant", native)], set())
    assert written(answer, form="dotnet") == ([dotnet("assistant", of_dotnet)], set())


def test_a_result_repeats_its_texts_and_has_a_constant_for_a_failure() -> None:
    items = [{"type": "text", "text": "offline"}]
    native = {"type": "function_result", "call_id": "c1", "exception": "FunctionInvocationError"}
    native |= {"result": "offline", "items": items}
    call, failed = Message("assistant", [CALL]), Message("tool", [ToolResult("c1", "f", "error", "offline")])
    assert lifted(message("assistant", NATIVE_CALL), message("tool", native)) == [call, failed]
    assert written(call, failed) == ([message("assistant", NATIVE_CALL), message("tool", native)], set())


def test_a_failure_in_dotnet_keeps_only_its_text_and_data_stays_data() -> None:
    call, failed = Message("assistant", [CALL]), Message("tool", [ToolResult("c1", "f", "error", "offline")])
    document, losses = written(call, failed, form="dotnet")
    assert document[1]["contents"] == [{"$type": "functionResult", "callId": "c1", "result": "offline"}]
    assert losses == {"changed tool_result.kind"}
    data = Message("tool", [ToolResult("c1", "f", "data", {"n": 1})])
    document, losses = written(call, data, form="dotnet")
    assert document[1]["contents"][0]["result"] == {"n": 1}
    assert not losses


def test_results_in_one_message_are_messages_of_their_own() -> None:
    native = message("tool", *({"type": "function_result", "call_id": id_, "result": "1"} for id_ in ("c1", "c2")))
    assert [one.role for one in lifted(native)] == ["tool", "tool"]
    assert pipeline.convert([native], DIALECT, DIALECT, Options(form="list")).losses == []


def test_a_result_in_an_answer_splits_it() -> None:
    result = {"type": "function_result", "call_id": "c1", "result": "1"}
    native = message("assistant", NATIVE_CALL, result, {"type": "text", "text": "1."}, message_id="m")
    assert lifted(native) == [
        Message("assistant", [CALL], id="m"),
        Message("tool", [ToolResult("c1", "f", "text", "1")]),
        Message("assistant", [Text("1.")]),
    ]


def test_a_session_keeps_its_id_and_the_rest_of_its_state() -> None:
    history = {"messages": [message("user", {"type": "text", "text": "Hi."})], "k": 1}
    session = {"type": "session", "session_id": "s", "state": {"in_memory": history, "todo": ["x"]}}
    transcript = DIALECT.lift(session)
    assert transcript.id == "s"
    assert transcript.extras == {"agent-framework": {"state": {"in_memory": {"k": 1}, "todo": ["x"]}}}
    assert pipeline.convert(session, DIALECT, DIALECT).document == session


def test_a_session_of_dotnet_has_its_history_in_a_state_bag() -> None:
    native = dotnet("user", {"$type": "text", "text": "Hi."})
    session = {"stateBag": {"InMemoryChatHistoryProvider": {"messages": [native]}}}
    assert detection.detect(session).dialect == "agent-framework"
    assert DIALECT.lift(session).messages == [Message("user", [Text("Hi.")])]
    conversion = pipeline.convert(session, DIALECT, DIALECT, Options(form="dotnet-session"))
    assert (conversion.document, conversion.losses) == (session, [])


def test_calls_of_a_service_are_kept_and_refusals_are_text() -> None:
    native = message("assistant", {"type": "mcp_server_tool_call", "call_id": "m", "tool_name": "f"})
    assert lifted(native)[0].parts[0].type == "opaque"
    assert pipeline.convert([native], DIALECT, DIALECT, Options(form="list")).document == [native]
    document, losses = written(Message("assistant", [Refusal("No.")]))
    assert document == [message("assistant", {"type": "text", "text": "No."})]
    assert losses == {"changed refusal"}


def test_the_type_of_an_older_message_is_kept() -> None:
    native = {"type": "chat_message", "role": "user", "contents": [{"type": "text", "text": "Hi."}]}
    assert pipeline.convert([native], DIALECT, DIALECT, Options(form="list")).document == [native]
