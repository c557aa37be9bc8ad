"""Google's Interactions API: every kind of input, steps as one answer, results, hosted tools, and the end."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.dialects.gemini_interactions import DIALECT
from convcli.engine import detection, pipeline
from convcli.model.dialect import Options
from convcli.model.transcript import Media, Message, Reasoning, Refusal, Text, ToolCall, ToolResult, Transcript

JSON = "application/json"
CALL = ToolCall("fc_1", "f", {"n": 1})
CALL_STEP = {"type": "function_call", "id": "fc_1", "name": "f", "arguments": {"n": 1}}


def text(value: str, **keys: Any) -> dict[str, Any]:
    return {"type": "text", "text": value, **keys}


def asked(*contents: Any) -> dict[str, Any]:
    return {"type": "user_input", "content": list(contents)}


def said(*contents: Any) -> dict[str, Any]:
    return {"type": "model_output", "content": list(contents)}


def result(value: Any, **keys: Any) -> dict[str, Any]:
    return {"type": "function_result", "call_id": "fc_1", "name": "f", **keys, "result": value}


def written(*messages: Message, form: str = "list") -> tuple[Any, set[str]]:
    conversion = pipeline.lower(Transcript(list(messages)), DIALECT, Options(form=form))
    return conversion.document, {f"{loss.kind} {loss.field}" for loss in conversion.losses}


HI = [Message("user", [Text("Hi.")])]


@pytest.mark.parametrize(
    ("value", "messages"),
    [
        ("Hi.", HI),
        (text("Hi."), HI),
        ([text("Hi."), text("Ho.")], [Message("user", [Text("Hi."), Text("Ho.")])]),
        ([asked(text("Hi."))], HI),
        ([{"role": "user", "content": "Hi."}], HI),
        (
            [{"role": "user", "content": [text("Hi.")]}, {"role": "model", "content": [CALL_STEP]}],
            [*HI, Message("assistant", [CALL])],
        ),
        ([asked(text("Hi.")), asked(text("Hi."))], [*HI, *HI]),
    ],
)
def test_an_input_has_every_form(value: Any, messages: list[Message]) -> None:
    assert DIALECT.lift({"model": "gemini-3.5-flash", "input": value}).messages == messages


def test_consecutive_steps_of_the_model_are_one_answer() -> None:
    thought = {"type": "thought", "signature": "c2ln", "summary": [text("Hm.")]}
    steps = [thought, said(text("Hi."), text("Ho.")), CALL_STEP, said(text("Done."))]
    parts = [Reasoning("Hm.", metadata={"thoughtSignature": "c2ln"}), Text("Hi."), Text("Ho."), CALL, Text("Done.")]
    assert DIALECT.lift(steps).messages == [Message("assistant", parts)]
    assert written(Message("assistant", parts)) == (steps, set())


def test_keys_of_a_step_are_kept_on_its_first_content() -> None:
    steps = [said(text("One")), {**said(text("Two")), "error": {"code": 1, "message": "stopped"}}]
    assert pipeline.convert(steps, DIALECT, DIALECT).document == steps
    (answer,) = DIALECT.lift(steps).messages
    assert answer.parts[1].extras == {"gemini-interactions": {"step": {"error": {"code": 1, "message": "stopped"}}}}


@pytest.mark.parametrize(
    ("native", "kind", "value"),
    [
        (result("1"), "text", "1"),
        (result("offline", is_error=True), "error", "offline"),
        (result({"n": 1}), "data", {"n": 1}),
        (result([text("1")]), "text", "1"),
        (
            result([text("1"), {"type": "image", "data": "aGk=", "mime_type": "image/png"}]),
            "multimodal",
            [Text("1"), Media("image", "aGk=", media_type="image/png")],
        ),
    ],
)
def test_a_result_is_text_an_object_or_contents(native: Any, kind: Any, value: Any) -> None:
    (message,) = DIALECT.lift([native]).messages
    assert message == Message("tool", [ToolResult("fc_1", "f", kind, value)])
    assert pipeline.convert([native], DIALECT, DIALECT).document == [native]


def test_data_that_is_no_object_is_written_as_json() -> None:
    call, answer = Message("assistant", [CALL]), Message("tool", [ToolResult("fc_1", "f", "data", [1, 2])])
    document, losses = written(call, answer)
    assert document == [CALL_STEP, result("[1,2]")]
    assert losses == {"changed tool_result.kind"}


def test_a_tool_definition_in_a_result_is_kept() -> None:
    native = result([text("Found:"), {"type": "function", "name": "g"}])
    assert pipeline.convert([native], DIALECT, DIALECT).document == [native]
    assert '"g"' in str(DIALECT.lift([native]).messages[0].parts[0])


def test_steps_of_hosted_tools_are_kept_where_they_stand() -> None:
    steps = [
        {"type": "google_search_call", "id": "gs_1", "arguments": {"queries": ["a"]}},
        {"type": "google_search_result", "call_id": "gs_1", "result": []},
        said(text("A.")),
    ]
    (answer,) = DIALECT.lift(steps).messages
    assert [part.type for part in answer.parts] == ["opaque", "opaque", "text"]
    assert written(answer)[0] == steps


@pytest.mark.parametrize(
    ("status", "reason"),
    [
        ("completed", "stop"),
        ("requires_action", "tool_calls"),
        ("incomplete", "length"),
        ("failed", "error"),
        ("cancelled", "aborted"),
        ("budget_exceeded", "budget_exceeded"),
        ("in_progress", None),
    ],
)
def test_the_status_is_the_stop_reason_of_the_last_answer(status: str, reason: str | None) -> None:
    response = {"id": "v1", "object": "interaction", "status": status, "steps": [said(text("One"))]}
    transcript = DIALECT.lift(response)
    assert [message.stop_reason for message in transcript.messages] == [reason]
    assert DIALECT.lower(transcript, Options(form="response")) == response


def test_thoughts_count_as_output() -> None:
    usage = {"total_input_tokens": 3, "total_output_tokens": 2, "total_thought_tokens": 4, "total_tokens": 9}
    response = {"object": "interaction", "steps": [said(text("One"))], "usage": usage}
    (answer,) = DIALECT.lift(response).messages
    assert answer.usage == {"inputTokens": 3, "outputTokens": 6, "reasoningTokens": 4, "totalTokens": 9}
    assert DIALECT.lower(DIALECT.lift(response), Options(form="response")) == response


def test_the_first_error_is_that_of_the_answer() -> None:
    response = {"object": "interaction", "status": "failed", "steps": [], "errors": [{"code": "x", "message": "No."}]}
    assert DIALECT.lift(response).messages == [Message("assistant", [], stop_reason="error", error="No.")]
    assert pipeline.convert(response, DIALECT, DIALECT, Options(form="response")).document == response


def test_older_responses_have_contents_in_place_of_steps() -> None:
    outputs = [{"type": "thought", "signature": "c2ln"}, text("Hi."), CALL_STEP]
    (answer,) = DIALECT.lift({"object": "interaction", "outputs": outputs}).messages
    assert answer.parts == [Reasoning("", metadata={"thoughtSignature": "c2ln"}), Text("Hi."), CALL]


def test_the_input_of_a_response_is_read_unless_its_steps_repeat_it() -> None:
    response = {"object": "interaction", "input": "Hi.", "steps": [said(text("Ho."))]}
    assert [message.role for message in DIALECT.lift(response).messages] == ["user", "assistant"]
    repeated = {**response, "steps": [asked(text("Hi.")), said(text("Ho."))]}
    assert [message.role for message in DIALECT.lift(repeated).messages] == ["user", "assistant"]


def test_instructions_are_one_text_and_refusals_are_text() -> None:
    messages = [
        Message("system", [Text("Be brief.")]),
        *HI,
        Message("developer", [Text("Be kind.")]),
        Message("assistant", [Refusal("No.")]),
    ]
    document, losses = written(*messages, form="request")
    assert document["system_instruction"] == "Be brief.\n\nBe kind."
    assert document["input"] == [asked(text("Hi.")), said(text("No."))]
    assert "changed refusal" in losses


@pytest.mark.parametrize(
    ("native", "choice"),
    [
        ("any", "required"),
        ("validated", "auto"),
        ({"allowed_tools": {"mode": "any", "tools": ["f"]}}, {"name": "f"}),
        ({"allowed_tools": {"mode": "any", "tools": ["f", "g"]}}, {"names": ["f", "g"]}),
        ({"allowed_tools": {"mode": "auto", "tools": ["f"]}}, "auto"),
    ],
)
def test_a_tool_choice_is_read_and_comes_back(native: Any, choice: Any) -> None:
    tools = [{"type": "function", "name": name} for name in "fg"]
    request = {"model": "gemini-3.5-flash", "input": [asked(text("Hi."))], "tools": tools}
    request["generation_config"] = {"tool_choice": native}
    transcript = DIALECT.lift(request)
    assert transcript.tool_choice == choice
    assert not transcript.settings
    assert DIALECT.lower(transcript) == request


@pytest.mark.parametrize(
    ("native", "ours"),
    [
        ({"type": "text", "mime_type": JSON}, {"type": "json"}),
        ({"type": "text", "mime_type": JSON, "schema": {"a": 1}}, {"type": "json_schema", "schema": {"a": 1}}),
        ({"type": "object"}, {"type": "json_schema", "schema": {"type": "object"}}),
        ({"type": "audio"}, None),
    ],
)
def test_a_response_format_is_an_object_or_the_schema_itself(native: Any, ours: Any) -> None:
    settings = DIALECT.lift({"input": "Hi.", "response_format": native}).settings
    assert settings == (None if ours is None else {"responseFormat": ours})


def test_results_may_answer_calls_of_the_interaction_that_is_continued() -> None:
    request = {"model": "gemini-3.5-flash", "input": [result("1")]}
    assert [one.code for one in pipeline.validate(request, DIALECT)] == ["orphan-tool-result"]
    assert pipeline.validate({**request, "previous_interaction_id": "v1"}, DIALECT) == []


@pytest.mark.parametrize(
    "document",
    [
        {"model": "gemini-3.5-flash", "input": "Hi."},
        {"model": "gemini-3.5-flash", "input": [text("Hi.")]},
        {"model": "twin-1", "input": [asked(text("Hi.")), CALL_STEP, result("1")]},
        {"agent": "deep-research", "input": "Hi.", "previous_interaction_id": "v1"},
        {"object": "interaction", "outputs": [text("Hi.")]},
        [asked(text("Hi.")), CALL_STEP],
    ],
)
def test_its_documents_are_not_taken_for_the_responses_api(document: Any) -> None:
    assert detection.detect(document).dialect == "gemini-interactions"


def test_a_request_of_the_responses_api_is_not_taken_for_it() -> None:
    item = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi."}]}
    assert detection.detect({"model": "gpt-5", "input": [item]}).dialect == "openai-responses"
    assert detection.detect({"model": "gpt-5", "input": "Hi."}).dialect == "openai-responses"


def test_signatures_of_thoughts_go_between_both_apis_of_google() -> None:
    thought = {"type": "thought", "signature": "c2ln", "summary": [text("Hm.")]}
    gemini = pipeline.convert([asked(text("Hi.")), thought, said(text("Ho."))], DIALECT, dialects.get("gemini"))
    assert {"text": "Hm.", "thought": True, "thoughtSignature": "c2ln"} in gemini.document["contents"][1]["parts"]
