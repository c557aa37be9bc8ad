"""What is hard about Chat Completions: arguments in a string, results of texts only, reasoning that goes one way."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.engine import pipeline
from convcli.model.transcript import Message, Reasoning, Text, ToolCall, ToolResult, Transcript

CHAT = dialects.get("openai-chat")
ANTHROPIC = dialects.get("anthropic")
QUESTION = {"role": "user", "content": "?"}


def calling(arguments: str, **keys: Any) -> dict[str, Any]:
    """An answer that calls one function."""
    call = {"id": "a", "type": "function", "function": {"name": "f", "arguments": arguments}}
    return {"role": "assistant", "content": None, **keys, "tool_calls": [call]}


def lifted(*messages: dict[str, Any]) -> list[Message]:
    return CHAT.lift({"messages": list(messages)}).messages


def written(*messages: Message) -> Any:
    return CHAT.lower(Transcript(list(messages)))["messages"]


def results_of(*blocks: dict[str, Any]) -> pipeline.Conversion:
    """A turn of Anthropic with one call for each result, in Chat Completions."""
    calls = [{"type": "tool_use", "id": block["tool_use_id"], "name": "f", "input": {}} for block in blocks]
    results = [{"type": "tool_result", **block} for block in blocks]
    turns = [{"role": "assistant", "content": calls}, {"role": "user", "content": results}]
    return pipeline.convert({"messages": [QUESTION, *turns]}, ANTHROPIC, CHAT)


# ---------------------------------------------------------------- calls


def test_arguments_that_are_no_json_are_kept_as_they_were_written() -> None:
    _, answer = lifted(QUESTION, calling('{"city": "Tok'))
    assert answer.parts == [ToolCall("a", "f", {}, raw_arguments='{"city": "Tok')]
    assert written(Message("user", [Text("?")]), answer)[1]["tool_calls"] == calling('{"city": "Tok')["tool_calls"]


@pytest.mark.parametrize("arguments", ['{"x":1.0}', '{"n":18446744073709551617}', '{"\\u5927":"阪"}', "{}"])
def test_arguments_are_exact_in_their_string(arguments: str) -> None:
    document = {"messages": [QUESTION, calling(arguments)]}
    stored = pipeline.convert(document, CHAT, dialects.get("intermediate")).document
    assert pipeline.convert(stored, dialects.get("intermediate"), CHAT).document == document


def test_text_of_an_answer_stands_before_its_calls_and_what_moves_is_told() -> None:
    blocks = [{"type": "tool_use", "id": "a", "name": "f", "input": {}}, {"type": "text", "text": "Wait."}]
    conversion = pipeline.convert({"messages": [QUESTION, {"role": "assistant", "content": blocks}]}, ANTHROPIC, CHAT)
    assert conversion.document["messages"][1] == calling("{}", content="Wait.")
    assert [(loss.kind, loss.where) for loss in conversion.losses] == [("moved", "/messages/1/content/1")]


def test_a_call_in_the_older_form_is_a_call_without_an_id_and_its_result_answers_it() -> None:
    call = {"role": "assistant", "content": None, "function_call": {"name": "f", "arguments": "{}"}}
    _, answer, result = lifted(QUESTION, call, {"role": "function", "name": "f", "content": "1"})
    assert isinstance(answer.parts[0], ToolCall)
    assert isinstance(result.parts[0], ToolResult)
    assert result.parts[0].tool_call_id == answer.parts[0].id


# ---------------------------------------------------------------- results


def test_a_failure_is_written_as_an_object_in_the_text_and_read_back_as_a_failure() -> None:
    conversion = results_of({"tool_use_id": "a", "is_error": True, "content": "boom"})
    assert conversion.document["messages"][2]["content"] == '{"error":"boom"}'
    assert [(loss.kind, loss.field) for loss in conversion.losses] == [("encoded", "tool_result.kind")]


def test_media_of_results_follow_in_a_user_message_behind_all_results_of_the_turn() -> None:
    image = {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AA=="}}
    shown = {"tool_use_id": "a", "content": [{"type": "text", "text": "see"}, image]}
    _, _, first, second, media = results_of(shown, {"tool_use_id": "b", "content": "2"}).document["messages"]
    assert (first["content"], second["content"], media["role"]) == ("see", "2", "user")
    assert media["content"][1] == {"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}}


# ---------------------------------------------------------------- reasoning and responses


def test_reasoning_of_a_compatible_server_is_read_and_goes_to_no_service() -> None:
    _, answer = lifted(QUESTION, calling("{}", reasoning_content="Hm."))
    assert answer.parts[0] == Reasoning("Hm.")
    assert written(Message("user", [Text("?")]), answer)[1] == calling("{}")


def test_several_choices_are_branches_and_the_first_is_the_head() -> None:
    choices = [
        {"index": 0, "message": {"role": "assistant", "content": "a"}, "finish_reason": "stop"},
        {"index": 1, "message": {"role": "assistant", "content": "b"}, "finish_reason": "length"},
    ]
    transcript = CHAT.lift({"id": "x", "object": "chat.completion", "created": 1, "model": "m", "choices": choices})
    first, second = transcript.messages
    assert (transcript.head, first.parent_id, second.parent_id) == (first.id, None, None)
    assert [message.stop_reason for message in transcript.messages] == ["stop", "length"]


def test_thoughts_are_part_of_the_output_tokens() -> None:
    usage = {"prompt_tokens": 3, "completion_tokens": 5, "completion_tokens_details": {"reasoning_tokens": 2}}
    choice = {"index": 0, "message": {"role": "assistant", "content": "a"}, "finish_reason": "stop"}
    response = {"object": "chat.completion", "choices": [choice], "usage": {**usage, "total_tokens": 8}}
    assert CHAT.lift(response).messages[0].usage == {
        "inputTokens": 3,
        "outputTokens": 5,
        "totalTokens": 8,
        "reasoningTokens": 2,
    }


# ---------------------------------------------------------------- recognition


@pytest.mark.parametrize(
    "document",
    [
        {"messages": [calling("{}")]},
        {"choices": [{"message": {"role": "assistant", "content": "a"}}]},
        [QUESTION, {"role": "tool", "tool_call_id": "a", "content": "1"}],
        {"messages": [{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}]},
    ],
)
def test_a_document_is_recognised_by_calls_choices_and_parts(document: Any) -> None:
    assert CHAT.detect(document) is not None


@pytest.mark.parametrize("document", [None, 1, [], {}, {"messages": 1}, {"choices": []}, [{"role": "user"}, 1]])
def test_a_document_without_marks_of_ours_is_not_claimed(document: Any) -> None:
    clue = CHAT.detect(document)
    assert clue is None or clue.strength < 50
