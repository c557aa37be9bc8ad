"""Mistral: what differs from Chat Completions."""

from __future__ import annotations

from typing import Any

import pytest

import convcli
from convcli import dialects
from convcli.dialects.mistral import DIALECT
from convcli.engine import detection, pipeline
from convcli.model.dialect import Options
from convcli.model.transcript import (
    Media,
    Message,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResult,
    Transcript,
)
from convcli.proof.reasons import Loss
from convcli.testing import assert_same

ANSWERED = {"role": "assistant", "content": "Done."}


def written(transcript: Transcript) -> tuple[Any, dict[str, Loss]]:
    """The document, and the losses by their field."""
    conversion = pipeline.lower(transcript, DIALECT)
    return conversion.document, {loss.field: loss for loss in conversion.losses}


def called(*ids: str) -> Transcript:
    calls = Message("assistant", [ToolCall(id_, "f", {}) for id_ in ids])
    return Transcript([calls, *(Message("tool", [ToolResult(id_, "f", "text", id_)]) for id_ in ids)])


def asked(content: Any, role: str = "user") -> list[Any]:
    return DIALECT.lift([{"role": role, "content": content}]).messages[0].parts


def test_other_ids_become_nine_letters_or_digits_one_to_one_and_valid_ids_stay() -> None:
    document, losses = written(called("call_1", "call_10", "0000call1", "toolu_01ABCDEFGHI", "x|ABCDEFGHI"))
    ids = [call["id"] for call in document["messages"][0]["tool_calls"]]
    assert ids == ["0000call2", "000call10", "0000call1", "ABCDEFGHI", "ABCDEFGH2"]
    assert [message["tool_call_id"] for message in document["messages"][1:]] == ids
    assert losses["tool_call.id"].kind == "changed"
    assert losses["tool_result.toolCallId"].level == "context"


def test_its_own_ids_are_never_rewritten() -> None:
    call = {"id": "call_of_v13", "function": {"name": "f", "arguments": "{}"}}
    document = [{"role": "assistant", "content": "", "tool_calls": [call]}]
    assert_same(DIALECT, document)


def test_arguments_say_the_same_as_text_and_as_an_object() -> None:
    def arguments(value: Any) -> Any:
        call = {"id": "abcdefgh1", "function": {"name": "f", "arguments": value}}
        return DIALECT.lift([{"role": "assistant", "content": "", "tool_calls": [call]}])

    assert arguments({"a": 1, "b": "é"}) == arguments('{"a": 1, "b": "\\u00e9"}')


def test_the_id_null_is_no_id() -> None:
    call = {"id": "null", "function": {"name": "f", "arguments": "{}"}}
    result = {"role": "tool", "content": "x", "tool_call_id": "null"}
    transcript = DIALECT.lift([{"role": "assistant", "content": "", "tool_calls": [call, call]}, result, result])
    calls = transcript.messages[0].parts
    assert [part.id for part in calls] == ["call_1", "call_2"]  # type: ignore[union-attr]
    assert [message.parts[0].tool_call_id for message in transcript.messages[1:]] == ["call_1", "call_2"]  # type: ignore[union-attr]


@pytest.mark.parametrize("word", ["any", "required"])
def test_any_and_required_are_one_choice_and_come_back_as_they_were(word: str) -> None:
    document = {"messages": [], "tool_choice": word}
    transcript = DIALECT.lift(document)
    assert transcript.tool_choice == "required"
    assert_same(DIALECT, document)


def test_required_is_written_as_any_and_one_of_several_tools_too_but_reported() -> None:
    plain, losses = written(Transcript([], tool_choice="required"))
    several, more = written(Transcript([], tool_choice={"names": ["f", "g"]}))
    assert plain["tool_choice"] == several["tool_choice"] == "any"
    assert "toolChoice" not in losses
    assert more["toolChoice"].kind == "changed"


def test_the_pieces_of_thinking_are_one_reasoning_and_references_stay() -> None:
    pieces = [
        {"type": "text", "text": "I read "},
        {"type": "reference", "reference_ids": [1]},
        {"type": "text", "text": "it."},
    ]
    (part,) = asked([{"type": "thinking", "thinking": pieces}], "assistant")
    assert part == Reasoning("I read it.", extras={"mistral": {"thinking": pieces}})


def test_only_an_assistant_has_reasoning_chunks() -> None:
    document, losses = written(
        Transcript([Message("user", [Reasoning("no")]), Message("assistant", [Reasoning("yes"), Text("A")])])
    )
    assert document["messages"][0]["content"] == ""
    assert document["messages"][1]["content"][0] == {"type": "thinking", "thinking": [{"type": "text", "text": "yes"}]}
    assert losses["reasoning"].before == {"type": "reasoning", "text": "no"}


def test_audio_is_base64_or_a_data_url_or_a_url() -> None:
    def heard(value: Any) -> Any:
        return asked([{"type": "input_audio", "input_audio": value}])[0]

    assert heard("UklGRg==") == Media("audio", data="UklGRg==")
    assert heard("data:audio/wav;base64,UklGRg==") == Media("audio", data="UklGRg==", media_type="audio/wav")
    assert heard({"data": "UklGRg==", "format": "wav"}) == Media("audio", data="UklGRg==", media_type="audio/wav")
    assert heard("https://example.com/a.mp3") == Media("audio", url="https://example.com/a.mp3")


def test_result_media_follow_in_a_user_message_after_all_results() -> None:
    transcript = called("abcdefgh1", "abcdefgh2")
    picture = Media("image", data="iVBORw0KGgo=", media_type="image/png")
    transcript.messages[1].parts = [ToolResult("abcdefgh1", "f", "multimodal", [Text("A map"), picture])]
    document, losses = written(transcript)
    assert [message["role"] for message in document["messages"]] == ["assistant", "tool", "tool", "user"]
    assert document["messages"][1]["content"] == "A map"
    assert document["messages"][3]["content"][1]["image_url"] == "data:image/png;base64,iVBORw0KGgo="
    assert [(loss.field, loss.kind) for loss in losses.values()] == [("tool_result.kind", "encoded")]


def test_a_result_that_loses_media_is_reported_with_its_value() -> None:
    transcript = called("abcdefgh1")
    video = Media("video", url="https://example.com/a.mp4")
    transcript.messages[1].parts = [ToolResult("abcdefgh1", "f", "multimodal", [video])]
    _, losses = written(transcript)
    assert losses["tool_result.value"].before == [video]


def test_a_system_message_after_an_answer_becomes_a_user_message() -> None:
    rows = [Message("user", [Text("A")]), Message("assistant", [Text("B")]), Message("system", [Text("C")])]
    document, losses = written(Transcript(rows))
    assert [message["role"] for message in document["messages"]] == ["user", "assistant", "user"]
    assert (losses["message.role"].before, losses["message.role"].after) == ("system", "user")


def test_a_refusal_is_written_as_text() -> None:
    document, losses = written(Transcript([Message("assistant", [Refusal("I cannot.")])]))
    assert document["messages"] == [{"role": "assistant", "content": "I cannot."}]
    assert losses["refusal"].kind == "changed"


def test_a_function_without_parameters_gets_an_empty_object() -> None:
    document, losses = written(Transcript([], tools=[ToolDefinition("f")]))
    assert document["tools"][0]["function"]["parameters"] == {"type": "object", "properties": {}}
    assert losses["tool.parameters"].kind == "invented"


def test_names_that_the_api_forbids_are_rewritten_everywhere() -> None:
    transcript = Transcript(
        [
            Message("assistant", [ToolCall("abcdefgh1", "do.it", {})]),
            Message("tool", [ToolResult("abcdefgh1", "do.it", "text", "")]),
        ],
        tools=[ToolDefinition("do.it", parameters={}), ToolDefinition("do_it", parameters={})],
        tool_choice={"name": "do.it"},
    )
    document, _ = written(transcript)
    assert [tool["function"]["name"] for tool in document["tools"]] == ["do_it_2", "do_it"]
    assert document["messages"][0]["tool_calls"][0]["function"]["name"] == "do_it_2"
    assert document["messages"][1]["name"] == document["tool_choice"]["function"]["name"] == "do_it_2"


def test_the_reason_model_length_is_length_and_comes_back() -> None:
    document = {"choices": [{"index": 0, "message": ANSWERED, "finish_reason": "model_length"}]}
    transcript = DIALECT.lift(document)
    assert transcript.messages[0].stop_reason == "length"
    assert DIALECT.lower(transcript, Options())["choices"] == document["choices"]  # type: ignore[misc]


def test_it_is_known_by_its_chunks_ids_settings_and_models_and_leaves_other_keys_alone() -> None:
    def strength(document: Any) -> int:
        return max(
            (evidence.strength for name, evidence in detection.candidates(document) if name == "mistral"), default=0
        )

    assert strength([{"role": "user", "content": [{"type": "document_url", "document_url": "x"}]}]) == 96
    assert strength({"model": "mistral-large-latest", "messages": [ANSWERED]}) == 96
    assert strength({"model": "mistralai/mistral-large", "messages": [ANSWERED]}) == 0
    assert strength({"tool_choice": "any", "messages": [ANSWERED]}) == 60
    assert strength({"random_seed": 1, "messages": [{**ANSWERED, "refusal": None}]}) == 0


def test_an_openai_request_keeps_all_that_both_can_say() -> None:
    source = dialects.get("openai-chat")
    document = {
        "model": "m",
        "messages": [
            {
                "role": "user",
                "content": [{"type": "image_url", "image_url": {"url": "https://a.example/b", "detail": "low"}}],
            }
        ],
        "seed": 7,
        "stop": ["a"],
        "response_format": {"type": "json_object"},
    }
    conversion = pipeline.convert(document, source, DIALECT)
    assert conversion.losses == []
    assert conversion.document["random_seed"] == 7
    assert pipeline.convert(conversion.document, DIALECT, source).document == document


def test_a_row_for_fine_tuning_ends_with_an_answer_that_has_a_text_or_calls() -> None:
    call = ToolCall("Ab3dE6gH9", "f", {})
    transcript = Transcript(
        [
            Message("assistant", [Reasoning("Hm."), Text("Going."), call]),
            Message("tool", [ToolResult("Ab3dE6gH9", "f", "text", "1")]),
            Message("assistant", [Text("Gone.")]),
            Message("user", [Text("Thanks.")]),
        ],
        model="mistral-small",
    )
    row = DIALECT.lower(transcript, Options(form="row"))
    assert row.keys() == {"messages"}
    assert [message["role"] for message in row["messages"]] == ["user", "assistant", "assistant", "tool", "assistant"]
    assert ["tool_calls" in message for message in row["messages"]] == [False, False, True, False, False]


def test_a_request_that_looks_like_a_row_is_judged_as_a_request_unless_a_row_was_asked_for() -> None:
    document = {"messages": [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]}
    chat, mistral = dialects.get("openai-chat"), dialects.get("mistral")
    reported = [
        [finding.code for finding in pipeline.convert(document, chat, mistral, Options(form=form)).findings]
        for form in (None, "row")
    ]
    assert reported == [["incomplete-request"], []]


def test_an_answer_of_a_row_has_a_weight_and_no_other_form_has_one() -> None:
    call = {"id": "flip00001", "type": "function", "function": {"name": "flip", "arguments": "{}"}}
    result = {"role": "tool", "tool_call_id": "flip00001", "name": "flip", "content": "tails"}
    answer: Any = {"role": "assistant", "content": "Tails.", "weight": 1}
    called: Any = {"role": "assistant", "content": "", "tool_calls": [call], "weight": 0}
    row = {"messages": [{"role": "user", "content": "Heads?"}, called, result, answer]}
    assert [message.weight for message in DIALECT.lift(row).messages] == [None, 0, None, 1]
    rows = pipeline.convert(row, DIALECT, dialects.get("openai-ft"))
    assert [message.get("weight") for message in rows.document["messages"]] == [None, 0, None, 1]
    back = pipeline.convert(rows.document, dialects.get("openai-ft"), DIALECT, Options(form="row"))
    assert [message.get("weight") for message in back.document["messages"]] == [None, 0, None, 1]
    request = pipeline.convert(rows.document, dialects.get("openai-ft"), DIALECT)
    assert [loss.kind for loss in request.losses if loss.field == "message.weight"] == ["dropped", "dropped"]


def test_a_turn_that_is_cut_in_two_is_weighed_in_both() -> None:
    turn = Message("assistant", [Text("Look."), ToolCall("flip00001", "flip", {})], weight=0)
    transcript = Transcript([Message("user", [Text("Heads?")]), turn])
    messages = pipeline.lower(transcript, DIALECT, Options(form="row")).document["messages"]
    assert [message.get("weight") for message in messages] == [None, 0, 0]


def test_a_request_may_end_with_the_turn_with_which_the_answer_begins() -> None:
    def codes(last: dict[str, Any]) -> list[str]:
        document = {"model": "mistral-large-latest", "messages": [{"role": "user", "content": "x"}, last]}
        return [finding.code for finding in convcli.validate(document, source="mistral", as_="mistral")]

    assert codes({**ANSWERED, "prefix": True}) == []
    assert codes({**ANSWERED, "prefix": False}) == ["wrong-last-role"]
