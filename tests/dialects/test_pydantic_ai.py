"""PydanticAI: requests that are several messages, what tools return and how that ended, and who signed a thought."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.dialects.pydantic_ai import DIALECT
from convcli.engine import detection, pipeline
from convcli.model.transcript import Media, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult, Transcript

USER = {"content": "Go.", "part_kind": "user-prompt"}
PNG = {"data": "YQ==", "media_type": "image/png", "kind": "binary"}


def request(*parts: Any, **more: Any) -> Any:
    return {"parts": list(parts), "kind": "request", **more}


def response(*parts: Any, **more: Any) -> Any:
    return {"parts": list(parts), "kind": "response", **more}


def returned(content: Any, **more: Any) -> Any:
    return {"tool_name": "f", "content": content, "tool_call_id": "a", "part_kind": "tool-return", **more}


def lifted(*natives: Any) -> list[Message]:
    return DIALECT.lift(list(natives)).messages


def written(*messages: Message) -> tuple[Any, set[str]]:
    conversion = pipeline.lower(Transcript(list(messages)), DIALECT)
    return conversion.document, {f"{loss.kind} {loss.field}" for loss in conversion.losses}


def test_everything_between_two_responses_is_one_request() -> None:
    result = Message("tool", [ToolResult("a", "f", "text", "x")])
    natives, losses = written(result, Message("user", [Text("Go.")]), Message("assistant", []), Message("user", []))
    assert [[part["part_kind"] for part in native["parts"]] for native in natives] == [
        ["tool-return", "user-prompt"],
        [],
        ["user-prompt"],
    ]
    assert losses == set()


def test_two_requests_that_say_more_than_their_parts_stay_two() -> None:
    document = [request(USER, run_id="1"), request(USER, run_id="2"), request(USER)]
    assert pipeline.lower(DIALECT.lift(document), DIALECT).document == [
        request(USER, run_id="1"),
        request(USER, USER, run_id="2"),
    ]
    assert pipeline.convert(document, DIALECT, DIALECT).document == document


def test_the_instructions_of_the_last_request_come_first_and_are_on_every_request() -> None:
    document = [request(USER, instructions="A"), response(), request(USER, instructions="B"), response(), request(USER)]
    transcript = DIALECT.lift(document)
    assert transcript.messages[0].parts == [Text("B")]
    natives = pipeline.lower(transcript, DIALECT).document
    assert [native.get("instructions") for native in natives] == ["A", None, "B", None, "B"]


@pytest.mark.parametrize(
    ("content", "kind", "value"),
    [
        ("22", "text", "22"),
        ({"celsius": 22}, "data", {"celsius": 22}),
        (["a", "b"], "data", ["a", "b"]),
        (None, "data", None),
        (PNG, "multimodal", [Media("image", data="YQ==", media_type="image/png")]),
        (["A:", PNG], "multimodal", [Text("A:"), Media("image", data="YQ==", media_type="image/png")]),
        ({"kind": "binary", "data": 1}, "data", {"kind": "binary", "data": 1}),
        ([PNG, {"n": 1}], "data", [PNG, {"n": 1}]),
    ],
)
def test_a_tool_returns_a_text_media_or_any_data(content: Any, kind: str, value: Any) -> None:
    result = lifted(request(returned(content)))[0].parts[0]
    assert isinstance(result, ToolResult)
    assert (result.kind, result.value) == (kind, value)


@pytest.mark.parametrize(
    ("outcome", "kind", "status"),
    [
        ("success", "text", None),
        ("failed", "error", None),
        ("retried", "error", None),
        ("denied", "error", "denied"),
        ("interrupted", "error", "interrupted"),
    ],
)
def test_an_outcome_gives_how_a_call_ended(outcome: str, kind: str, status: str | None) -> None:
    document = [request(returned("x", outcome=outcome))]
    result = DIALECT.lift(document).messages[0].parts[0]
    assert isinstance(result, ToolResult)
    assert (result.kind, result.status) == (kind, status)
    assert pipeline.lower(DIALECT.lift(document), DIALECT).document == document


def test_a_retry_of_older_files_is_a_tool_failure_or_a_user_message() -> None:
    retry = {"content": "Again.", "tool_name": "f", "tool_call_id": "a", "part_kind": "retry-prompt"}
    result = lifted(request(retry))[0].parts[0]
    assert result == ToolResult("a", "f", "error", "Again.", extras={"pydantic-ai": {"outcome": "retried"}})
    asked = lifted(request({"content": "JSON!", "tool_name": None, "part_kind": "retry-prompt"}))[0]
    assert (asked.role, asked.parts) == ("user", [Text("JSON!")])


@pytest.mark.parametrize(
    ("provider", "key"),
    [
        ("anthropic", "signature"),
        (None, "signature"),
        ("google-gla", "thoughtSignature"),
        ("openai", "encryptedContent"),
    ],
)
def test_a_signature_belongs_to_whoever_signed(provider: str | None, key: str) -> None:
    thought = {"content": "Hm.", "signature": "s", "provider_name": provider, "part_kind": "thinking"}
    assert lifted(response(thought))[0].parts[0].metadata == {key: "s"}


@pytest.mark.parametrize(
    ("part", "native"),
    [
        (
            Reasoning("x", metadata={"signature": "s"}),
            {"content": "x", "signature": "s", "provider_name": "anthropic", "part_kind": "thinking"},
        ),
        (
            Reasoning("", metadata={"redactedData": "d"}),
            {"content": "", "id": "redacted_thinking", "signature": "d", "provider_name": "anthropic",
             "part_kind": "thinking"},
        ),
        (
            ToolCall("a", "f", {}, raw_arguments="{oops"),
            {"tool_name": "f", "args": "{oops", "tool_call_id": "a", "part_kind": "tool-call"},
        ),
        (Media("image", data="YQ==", media_type="image/png"), {"content": PNG, "part_kind": "file"}),
    ],
)  # fmt: skip
def test_each_part_of_a_response_comes_back(part: Part, native: Any) -> None:
    natives, losses = written(Message("assistant", [part]))
    assert (natives, losses) == ([response(native)], set())


@pytest.mark.parametrize(
    ("result", "content", "losses"),
    [
        (ToolResult("a", "f", "data", "x"), "x", {"changed tool_result.kind"}),
        (ToolResult("a", "f", "data", {"n": 1}, is_error=True), {"n": 1}, set()),
        (ToolResult("a", "f", "multimodal", [Text("x"), Text("y")]), "x\ny", {"changed tool_result.kind"}),
    ],
)
def test_what_is_read_differently_is_reported(result: ToolResult, content: Any, losses: set[str]) -> None:
    natives, reported = written(Message("tool", [result]))
    assert (natives[0]["parts"][0]["content"], reported) == (content, losses)


def test_counts_and_ids_of_older_files_are_read() -> None:
    usage = {"request_tokens": 9, "response_tokens": 2, "total_tokens": 11}
    message = lifted(response({"content": "x", "part_kind": "text"}, usage=usage, vendor_id="r-1"))[0]
    assert message.usage == {"inputTokens": 9, "outputTokens": 2, "totalTokens": 11}
    assert message.id == "r-1"


def test_parts_of_other_kinds_stay_what_they_are() -> None:
    delta, search = {"part_kind": "instruction-delta", "id": "d"}, {"part_kind": "builtin-tool-call", "args": {}}
    document = [request(USER, delta), response(search)]
    messages = DIALECT.lift(document).messages
    assert [message.parts for message in messages[1:]] == [
        [Opaque("pydantic-ai", delta)],
        [Opaque("pydantic-ai", search)],
    ]
    assert pipeline.lower(DIALECT.lift(document), DIALECT).document == document


def test_the_list_is_known_by_the_kinds_of_its_parts() -> None:
    assert detection.detect([request(USER)]).dialect == "pydantic-ai"
    losses = pipeline.convert([request(USER, run_id="1")], DIALECT, dialects.get("openai-chat")).losses
    assert [(loss.field, loss.where) for loss in losses] == [("extras.pydantic-ai.request.run_id", "/0/run_id")]
