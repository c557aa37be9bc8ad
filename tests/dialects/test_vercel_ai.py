"""The AI SDK: steps and states of UI messages, outputs of model messages, and what version 4 had instead."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.dialects.vercel_ai import DIALECT
from convcli.engine import detection, pipeline
from convcli.model.dialect import Options
from convcli.model.transcript import Media, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult, Transcript
from tests.support import samples_of

CALL = {"type": "tool-call", "toolCallId": "a", "toolName": "f", "input": {}}


def text(words: str) -> Any:
    return {"type": "text", "text": words}


def shown(*parts: Any, **more: Any) -> Any:
    return {"id": "m", "role": "assistant", "parts": list(parts), **more}


def tool(state: str, **more: Any) -> Any:
    return {"type": "tool-f", "toolCallId": "a", "state": state, "input": {}, **more}


def lifted(*natives: Any) -> list[Message]:
    return DIALECT.lift(list(natives)).messages


def written(*messages: Message, form: str) -> tuple[Any, set[str]]:
    conversion = pipeline.lower(Transcript(list(messages)), DIALECT, Options(form=form))
    return conversion.document, {f"{loss.kind} {loss.field}" for loss in conversion.losses}


def test_a_ui_message_is_a_turn_for_each_step_followed_by_its_results() -> None:
    step = {"type": "step-start"}
    native = shown(step, text("Wait."), tool("output-available", output="x"), step, text("So."))
    assert [message.role for message in lifted(native)] == ["assistant", "tool", "assistant"]
    assert [message.id for message in lifted(native)] == ["m", None, None]
    assert pipeline.lower(Transcript(lifted(native)), DIALECT, Options(form="ui")).document == [native]


def test_turns_of_a_model_with_their_results_become_one_ui_message() -> None:
    turn = Message("assistant", [ToolCall("a", "f", {})])
    result = Message("tool", [ToolResult("a", "f", "text", "x")])
    natives, losses = written(
        Message("user", [Text("Go.")]), turn, result, Message("assistant", [Text("So.")]), form="ui"
    )
    assert [native["id"] for native in natives] == ["message-1", "message-2"]
    kinds = [part["type"] for part in natives[1]["parts"]]
    assert kinds == ["step-start", "tool-f", "step-start", "text"]
    assert losses == {"invented message.id"}


@pytest.mark.parametrize(
    ("native", "kind", "value", "status"),
    [
        (tool("output-available", output="x"), "text", "x", None),
        (tool("output-available", output={"n": 1}), "data", {"n": 1}, None),
        (
            tool("output-available", output={"type": "content", "value": [text("x"), text("y")]}),
            "multimodal",
            [Text("x"), Text("y")],
            None,
        ),
        (tool("output-error", errorText="No."), "error", "No.", None),
        (tool("output-denied", approval={"id": "p", "approved": False, "reason": "no"}), "error", "no", "denied"),
    ],
)
def test_the_state_of_a_tool_gives_the_result_of_the_call(native: Any, kind: str, value: Any, status: Any) -> None:
    result = lifted(shown(native))[1].parts[0]
    assert isinstance(result, ToolResult)
    assert (result.kind, result.value, result.status) == (kind, value, status)
    document = [shown({"type": "step-start"}, native)]
    assert pipeline.lower(DIALECT.lift(document), DIALECT, Options(form="ui")).document == document


@pytest.mark.parametrize("state", ["input-streaming", "input-available", "approval-requested"])
def test_a_call_without_an_output_has_no_result(state: str) -> None:
    document = [shown({"type": "step-start"}, tool(state))]
    assert [message.role for message in DIALECT.lift(document).messages] == ["assistant"]
    assert pipeline.lower(DIALECT.lift(document), DIALECT, Options(form="ui")).document == document


@pytest.mark.parametrize(
    ("output", "kind", "value", "fields"),
    [
        ({"type": "text", "value": "x"}, "text", "x", {}),
        ({"type": "json", "value": "x"}, "data", "x", {}),
        ({"type": "error-text", "value": "x"}, "error", "x", {}),
        ({"type": "error-json", "value": [1]}, "data", [1], {"is_error": True}),
        ({"type": "execution-denied", "reason": "no"}, "error", "no", {"status": "denied"}),
        (
            {"type": "content", "value": [{"type": "image-data", "data": "YQ==", "mediaType": "image/png"}]},
            "multimodal",
            [Media("image", data="YQ==", media_type="image/png")],
            {},
        ),
    ],
)
def test_an_output_has_its_own_type(output: Any, kind: Any, value: Any, fields: Any) -> None:
    document = [
        {"role": "assistant", "content": [CALL]},
        {"role": "tool", "content": [{"type": "tool-result", "toolCallId": "a", "toolName": "f", "output": output}]},
    ]
    assert DIALECT.lift(document).messages[1].parts == [ToolResult("a", "f", kind, value, **fields)]
    assert pipeline.lower(DIALECT.lift(document), DIALECT).document == document


def test_an_output_keeps_a_key_of_another_type() -> None:
    for output in ({"type": "text", "value": "x", "reason": "y"}, {"type": "execution-denied", "value": "x"}):
        part = {"type": "tool-result", "toolCallId": "a", "toolName": "f", "output": output}
        document = [{"role": "assistant", "content": [CALL]}, {"role": "tool", "content": [part]}]
        assert pipeline.lower(DIALECT.lift(document), DIALECT).document == document


def test_what_a_ui_message_cannot_store_of_a_result_is_reported() -> None:
    turn = Message("assistant", [ToolCall("a", "f", {})])
    result = Message("tool", [ToolResult("a", "f", "data", {"n": 1}, is_error=True)])
    natives, losses = written(turn, result, form="ui")
    assert natives[0]["parts"][1]["errorText"] == '{"n":1}'
    assert losses == {"invented message.id", "changed tool_result.kind"}
    natives, losses = written(Message("tool", [ToolResult("zz", "f", "text", "x")]), form="ui")
    assert (natives, losses) == ([], {"dropped tool_result", "dropped message"})


def test_input_that_is_no_json_is_a_text() -> None:
    torn = lifted(shown(tool("output-error", errorText="x", input=None, rawInput="{oops")))[0].parts[0]
    assert torn == ToolCall("a", "f", {}, raw_arguments="{oops")
    natives, _ = written(Message("assistant", [torn]), form="model")
    assert natives[0]["content"][0]["input"] == "{oops"


@pytest.mark.parametrize(
    ("provider", "metadata"),
    [
        ({"anthropic": {"signature": "s"}}, {"signature": "s"}),
        ({"anthropic": {"redactedData": "d"}}, {"redactedData": "d"}),
        ({"google": {"thoughtSignature": "s"}}, {"thoughtSignature": "s"}),
        (
            {"openai": {"reasoningEncryptedContent": "e", "itemId": "i"}},
            {"encryptedContent": "e", "itemId": "i"},
        ),
    ],
)
@pytest.mark.parametrize("form", ["model", "ui"])
def test_what_providers_want_back_is_metadata(form: str, provider: Any, metadata: Any) -> None:
    natives, losses = written(Message("assistant", [Reasoning("x", metadata=metadata)], id="m"), form=form)
    part = (natives[0].get("parts") or natives[0]["content"])[-1]
    assert part.get("providerMetadata" if form == "ui" else "providerOptions") == provider
    assert losses <= {"dropped message.id"}


@pytest.mark.parametrize(
    "native",
    [
        {"id": "1", "role": "assistant", "content": "", "toolInvocations": [
            {"state": "result", "toolCallId": "a", "toolName": "f", "args": {"n": 1}, "result": "x"}]},
        shown({"type": "tool-invocation", "toolInvocation":
            {"state": "result", "toolCallId": "a", "toolName": "f", "args": {"n": 1}, "result": "x"}}),
    ],
)  # fmt: skip
def test_version_4_is_read(native: Any) -> None:
    assert detection.detect([native]).dialect == "vercel-ai"
    messages = lifted(native)
    assert messages[0].parts == [ToolCall("a", "f", {"n": 1})]
    assert messages[1].parts == [ToolResult("a", "f", "text", "x")]
    assert pipeline.convert([native], DIALECT, DIALECT).document == [native]


@pytest.mark.parametrize(
    ("part", "form", "native"),
    [
        (Media("image", url="https://example.com/a"), "model", {"type": "image", "image": "https://example.com/a"}),
        (
            Media("image", url="https://example.com/a"),
            "ui",
            {"type": "file", "url": "https://example.com/a", "mediaType": "image/*"},
        ),
        (
            Media("document", data="YQ==", media_type="text/csv", name="a"),
            "ui",
            {"type": "file", "url": "data:text/csv;base64,YQ==", "mediaType": "text/csv", "filename": "a"},
        ),
    ],
)
def test_media_are_data_or_an_address(part: Part, form: str, native: Any) -> None:
    natives, losses = written(Message("user", [part]), form=form)
    assert (natives[0].get("parts") or natives[0]["content"]) == [native]
    assert losses <= {"invented message.id"}


def test_parts_of_one_shape_are_not_written_in_the_other() -> None:
    source = {"type": "source-url", "sourceId": "s", "url": "https://example.com"}
    document = [shown({"type": "step-start"}, text("x"), source)]
    assert DIALECT.lift(document).messages[0].parts == [Text("x"), Opaque("vercel-ai", source)]
    assert pipeline.convert(document, DIALECT, DIALECT, Options(form="model")).document == [
        {"role": "assistant", "content": "x"}
    ]
    asked = {"type": "tool-approval-request", "approvalId": "p", "toolCallId": "a"}
    document = [{"role": "assistant", "content": [CALL, asked]}]
    assert len(pipeline.convert(document, DIALECT, DIALECT, Options(form="ui")).document[0]["parts"]) == 2
    assert dialects.get("vercel-ai").forms == ("model", "ui", "roo")


def test_a_task_of_roo_code_has_times_summaries_and_thoughts_without_a_role() -> None:
    [task] = [sample.document for sample in samples_of("vercel-ai") if sample.path.name == "roo-task.json"]
    messages = DIALECT.lift(task).messages
    roles = ["user", "assistant", "assistant", "tool", "tool", "user", "assistant"]
    assert [message.role for message in messages] == roles
    assert messages[0].created_at == "2026-01-01T10:00:00.000Z"
    assert getattr(messages[1].parts[0], "metadata", None) == {"encryptedContent": "c2VhbGVk", "itemId": "rs_1"}
    results = [part for message in messages for part in message.parts if isinstance(part, ToolResult)]
    assert [result.kind for result in results] == ["text", "error"]
    assert [message.replaces for message in messages] == [None] * 5 + ["all", None]


def test_a_task_of_roo_code_is_written_without_instructions() -> None:
    task = Transcript(
        [
            Message("system", [Text("Be brief.")]),
            Message("user", [Text("Hi")], created_at="2026-01-01T10:00:00.000Z"),
            Message("assistant", [Text("Ho")], replaces="all"),
        ]
    )
    conversion = pipeline.lower(task, DIALECT, Options(form="roo"))
    assert conversion.document == {
        "version": 2,
        "messages": [
            {"role": "user", "content": "Hi", "ts": 1767261600000},
            {"role": "assistant", "content": "Ho", "isSummary": True},
        ],
    }
    dropped = {loss.where for loss in conversion.losses if loss.kind == "dropped"}
    assert dropped == {"/messages/0", "/messages/0/parts/0"}


STEERED = [
    {"id": "u1", "role": "user", "parts": [{"type": "text", "text": "A story, please."}]},
    {
        "id": "a1",
        "role": "assistant",
        "parts": [
            {"type": "step-start"},
            {"type": "text", "text": "Once upon a time"},
            {"type": "steering-message", "id": "st-1", "parts": [{"type": "text", "text": "Shorter."}]},
            {"type": "step-start"},
            {"type": "text", "text": "Short."},
        ],
    },
]


def test_what_a_user_says_in_the_middle_of_an_answer_is_a_user_message() -> None:
    ui, stream = dialects.get("vercel-ai"), dialects.get("vercel-ai-stream")
    transcript = ui.lift(STEERED)
    said = [(message.role, message.id, message.parts[0].text) for message in transcript.messages]  # type: ignore[union-attr]
    assert said[1:] == [
        ("assistant", "a1", "Once upon a time"),
        ("user", "st-1", "Shorter."),
        ("assistant", None, "Short."),
    ]
    assert ui.lower(transcript, Options(form="ui")) == STEERED
    assert [each["role"] for each in ui.lower(transcript, Options(form="model"))] == ["user", "assistant"] * 2
    events = stream.lower(transcript)
    assert STEERED[1]["parts"][2] in events  # type: ignore[index]
    assert stream.lift(events).messages == transcript.messages[1:]


def test_a_model_message_has_no_approval_of_a_call() -> None:
    call = {"type": "tool-f", "toolCallId": "c1", "state": "approval-requested", "input": {}, "approval": {"id": "p1"}}
    shown = [{"id": "a1", "role": "assistant", "parts": [call]}]
    ui = dialects.get("vercel-ai")
    [message] = ui.lower(ui.lift(shown), Options(form="model"))
    assert message["content"] == [{"type": "tool-call", "toolCallId": "c1", "toolName": "f", "input": {}}]
