"""OpenAI Responses: the hard cases beyond the laws that all dialects keep."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.engine import conversion, detection, pipeline
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
from convcli.validation import schemas
from tests.support import dumped

NAME = "openai-responses"
DIALECT = dialects.get(NAME)
HUB = dialects.get("intermediate")
USER = {"type": "message", "role": "user", "content": "Hi"}


def output_message(text: str, **more: Any) -> dict[str, Any]:
    return {"type": "message", **more, "role": "assistant", "content": [{"type": "output_text", "text": text}]}


def call(id_: str, **more: Any) -> dict[str, Any]:
    return {"type": "function_call", "call_id": id_, "name": "f", "arguments": "{}", **more}


def answer(id_: str, output: Any, **more: Any) -> dict[str, Any]:
    return {"type": "function_call_output", "call_id": id_, "output": output, **more}


def lift(document: Any) -> Transcript:
    assert schemas.findings(NAME, document) == []
    stored = pipeline.convert(document, DIALECT, HUB).document
    assert dumped(pipeline.convert(stored, HUB, DIALECT).document) == dumped(document)
    return DIALECT.lift(document)


def lower(*messages: Message, form: str | None = None, **fields: Any) -> Any:
    document = DIALECT.lower(Transcript(list(messages), **fields), Options(form=form))
    assert schemas.findings(NAME, document) == []
    return document


def written(document: Any) -> Any:
    """The document as the dialect writes it."""
    stored = HUB.lower(DIALECT.lift(document))
    return DIALECT.lower(HUB.lift(stored), Options(form="list"))


# ---------------------------------------------------------------- answers of several items


def test_items_of_the_assistant_that_follow_on_each_other_are_one_answer() -> None:
    items = [
        USER,
        {"type": "reasoning", "summary": []},
        output_message("a"),
        call("c1"),
        call("c2"),
        answer("c2", ""),
        output_message("b"),
    ]
    roles = [message.role for message in lift(items).messages]
    assert roles == ["user", "assistant", "tool", "assistant"]
    assert [part.type for part in lift(items).messages[1].parts] == ["reasoning", "text", "tool_call", "tool_call"]


def test_two_messages_of_one_answer_stay_two_items() -> None:
    items = [
        output_message("a"),
        output_message("b"),
        output_message("c", id="msg_1"),
        output_message("d", id="msg_1"),
        output_message("e", phase="final_answer"),
    ]
    (message,) = lift(items).messages
    assert [part.text for part in message.parts] == list("abcde")  # type: ignore[union-attr]


def test_an_empty_message_among_items_is_no_part_and_comes_back() -> None:
    empty = {"role": "assistant", "content": ""}
    (message,) = lift([empty, call("c1"), empty, empty, output_message("a"), empty]).messages
    assert [part.type for part in message.parts] == ["tool_call", "text"]
    (message,) = lift([empty]).messages
    assert message.parts == []


def test_an_empty_message_with_other_keys_is_opaque() -> None:
    (message,) = lift([{"type": "message", "id": "msg_1", "role": "assistant", "content": []}]).messages
    assert [part.type for part in message.parts] == ["opaque"]


def test_the_id_of_an_item_is_not_the_id_of_its_call() -> None:
    (message,) = lift([call("call_1", id="fc_1")]).messages
    assert message.parts == [ToolCall("call_1", "f", {}, metadata={"itemId": "fc_1"})]


def test_ids_and_phases_of_items_survive_a_stay_without_spellings() -> None:
    items = [
        {"type": "message", "id": "msg_1", "role": "assistant", "phase": "commentary", "content": "a"},
        {"type": "message", "id": "msg_2", "role": "assistant", "content": "b"},
        {"type": "reasoning", "id": "rs_1", "summary": [], "encrypted_content": "gAAA"},
        {"type": "custom_tool_call", "id": "ctc_1", "call_id": "c1", "name": "f", "input": "raw\ntext"},
        {"type": "custom_tool_call_output", "id": "ctco_1", "call_id": "c1", "output": "ok"},
    ]
    assert written(items) == items


def test_what_hosted_tools_did_is_kept_whole_and_belongs_to_the_answer() -> None:
    search = {"type": "web_search_call", "id": "ws_1", "status": "completed", "action": {"type": "search"}}
    novel = {"type": "of_tomorrow", "value": [1, None]}
    (message,) = lift([search, output_message("a"), {"id": "rs_1"}, novel]).messages
    assert [part.type for part in message.parts] == ["opaque", "text", "opaque", "opaque"]
    assert written([search, novel]) == [search, novel]


def test_a_change_of_settings_between_items_is_an_event() -> None:
    mark = {"type": "configuration_update", "reasoning": {"effort": "high"}}
    assert [message.role for message in lift([USER, mark, USER]).messages] == ["user", "event", "user"]


# ---------------------------------------------------------------- instructions and input


def test_instructions_are_the_leading_system_message() -> None:
    transcript = lift({"instructions": "Be brief.", "input": [{"role": "system", "content": "Be kind."}]})
    assert transcript.messages == [Message("system", [Text("Be brief.")]), Message("system", [Text("Be kind.")])]


def test_only_one_leading_system_text_becomes_instructions() -> None:
    system = Message("system", [Text("a")])
    document = lower(system, system, Message("user", [Text("b")]))
    assert document["instructions"] == "a"
    assert [item["role"] for item in document["input"]] == ["system", "user"]
    assert "instructions" not in lower(Message("system", [Text("a"), Text("b")]))
    assert "instructions" not in lower(Message("developer", [Text("a")]))
    assert "instructions" not in lower(Message("system", [Text("")]))


@pytest.mark.parametrize("text", ["Hello", ""])
def test_input_that_is_a_string_is_a_user_message(text: str) -> None:
    transcript = lift({"model": "m", "input": text})
    assert transcript.messages == [Message("user", [Text(text)] if text else [])]


# ---------------------------------------------------------------- calls and results


@pytest.mark.parametrize(
    ("written", "arguments", "raw"),
    [
        ('{"a": 1.0}', {"a": 1.0}, None),
        ("", {}, ""),
        ('{"a":', {}, '{"a":'),
        ("[1]", {}, "[1]"),
        ('{"a":1,"a":2}', {"a": 2}, '{"a":1,"a":2}'),
        ('{"n":123456789012345678901}', {"n": 123456789012345678901}, None),
    ],
)
def test_arguments_are_an_object_and_their_text_comes_back(written: str, arguments: Any, raw: str | None) -> None:
    (message,) = lift([call("c1") | {"arguments": written}]).messages
    assert message.parts == [ToolCall("c1", "f", arguments, raw)]


def test_the_input_of_a_custom_tool_is_text_even_where_it_is_json() -> None:
    items = [{"type": "custom_tool_call", "call_id": "c1", "name": "f", "input": '{"a":1}'}]
    (message,) = lift(items).messages
    assert message.parts[0].arguments == {"input": '{"a":1}'}  # type: ignore[union-attr]
    assert message.parts[0].custom  # type: ignore[union-attr]


def test_results_are_paired_by_id_and_without_id_by_order() -> None:
    transcript = lift([call("c1"), call("c2") | {"name": "g"}, answer("c2", "2"), answer("c1", "1", call_id=None)])
    results = [message.parts[0] for message in transcript.messages[1:]]
    assert results == [ToolResult("c2", "g", "text", "2"), ToolResult("c1", "f", "text", "1")]


def test_a_result_with_an_image_is_multimodal_both_ways() -> None:
    output = [{"type": "input_text", "text": "a"}, {"type": "input_image", "image_url": "https://example.com/a.png"}]
    value = [Text("a"), Media("image", url="https://example.com/a.png")]
    assert lift([call("c1"), answer("c1", output)]).messages[1].parts[0].value == value  # type: ignore[union-attr]
    (item,) = lower(Message("tool", [ToolResult("c1", "unknown", "multimodal", value)]), form="list")
    assert item["output"] == [output[0], {**output[1], "detail": "auto"}]


def test_a_result_with_an_unknown_part_is_kept_whole() -> None:
    output = [{"type": "input_text", "text": "seen"}, {"type": "encrypted_content", "encrypted_content": "gAA"}]
    result = lift([call("c1"), answer("c1", output)]).messages[1].parts[0]
    assert (result.kind, result.value) == ("text", "seen")  # type: ignore[union-attr]
    assert result.extras == {NAME: {"output": output}}
    assert written([answer("c1", output)]) == [answer("c1", output)]


def test_a_failure_is_written_by_convention_and_reported() -> None:
    before = Transcript(
        [
            Message("assistant", [ToolCall("c1", "f", {})]),
            Message("tool", [ToolResult("c1", "f", "error", "offline")]),
        ]
    )
    conversion = pipeline.lower(before, DIALECT)
    assert conversion.document["input"][1]["output"] == '{"error":"offline"}'
    assert [(loss.kind, loss.field) for loss in conversion.losses] == [("encoded", "tool_result.kind")]


def test_names_and_ids_are_made_to_fit() -> None:
    long = "x" * 70
    document = lower(
        Message("assistant", [ToolCall(long, "do.it", {})]),
        Message("tool", [ToolResult(long, "do.it", "text", "")]),
        tools=[ToolDefinition("do.it")],
        tool_choice={"name": "do.it"},
    )
    made, result = document["input"]
    assert made["call_id"] == result["call_id"] == long[:64]
    assert made["name"] == document["tools"][0]["name"] == document["tool_choice"]["name"] == "do_it"


def test_two_calls_never_share_an_id() -> None:
    turn = [Message("assistant", [ToolCall("c", "f", {})]), Message("tool", [ToolResult("c", "f", "text", "")])]
    ids = [item["call_id"] for item in lower(*turn, *turn, form="list")]
    assert ids[0] == ids[1] != ids[2] == ids[3]


# ---------------------------------------------------------------- reasoning


def test_reasoning_of_others_is_never_given_to_the_vendor() -> None:
    other = [
        Reasoning("hm", metadata={"signature": "EqQB"}),
        Reasoning("ha"),
        Reasoning("", metadata={"itemId": "x"}),
    ]
    items = lower(Message("assistant", [*other, Text("a")]), form="list")
    assert [item["type"] for item in items] == ["message"]


def test_reasoning_of_the_vendor_keeps_its_place_before_what_it_produced() -> None:
    own = Reasoning("", ["plan"], {"encryptedContent": "gAAA", "itemId": "rs_1"})
    items = lower(Message("assistant", [own, ToolCall("c", "f", {})]), form="list")
    assert items[0] == {
        "type": "reasoning",
        "id": "rs_1",
        "summary": [{"type": "summary_text", "text": "plan"}],
        "encrypted_content": "gAAA",
    }


def test_reasoning_that_nothing_follows_would_be_refused_and_is_dropped() -> None:
    own = Reasoning("", metadata={"encryptedContent": "gAAA"})
    before = Transcript([Message("assistant", [Text("a"), own]), Message("user", [Text("b")])])
    conversion = pipeline.lower(before, DIALECT)
    assert [item["type"] for item in conversion.document["input"]] == ["message", "message"]
    assert {loss.field for loss in conversion.losses} == {"reasoning", "reasoning.metadata.encryptedContent"}


def test_ids_of_items_that_another_vendor_made_are_not_written() -> None:
    parts = [Text("a", metadata={"itemId": "msg_1"}), ToolCall("c", "f", {}, metadata={"itemId": "call_9"})]
    message, made = lower(Message("assistant", parts), form="list")  # type: ignore[arg-type]
    assert message["id"] == "msg_1"
    assert "id" not in made


def test_pieces_of_reasoning_are_one_text_and_come_back() -> None:
    pieces = [{"type": "reasoning_text", "text": "a"}, {"type": "reasoning_text", "text": "b"}]
    (message,) = lift([{"type": "reasoning", "id": "rs_1", "summary": [], "content": pieces}]).messages
    assert message.parts == [Reasoning("a\n\nb", metadata={"itemId": "rs_1"})]


# ---------------------------------------------------------------- content


def test_the_detail_that_must_be_written_is_no_fact() -> None:
    before = Transcript([Message("user", [Media("image", url="https://example.com/a.png")])])
    conversion = pipeline.lower(before, DIALECT)
    assert conversion.document["input"][0]["content"][0]["detail"] == "auto"
    assert conversion.losses == []


def test_media_of_the_assistant_are_dropped_and_reported() -> None:
    before = Transcript([Message("assistant", [Text("a"), Media("image", url="https://example.com/a.png")])])
    conversion = pipeline.lower(before, DIALECT)
    assert conversion.document["input"][0]["content"] == "a"
    assert [(loss.kind, loss.field) for loss in conversion.losses] == [("dropped", "image")]


def test_text_and_refusal_of_one_item_stay_together() -> None:
    items = lower(Message("assistant", [Text("a"), Refusal("no")]), form="list")
    assert [part["type"] for part in items[0]["content"]] == ["output_text", "refusal"]


# ---------------------------------------------------------------- tools, choice, settings


def test_keys_of_a_tool_that_must_be_written_as_null_are_no_facts() -> None:
    before = Transcript([], tools=[ToolDefinition("f")])
    conversion = pipeline.lower(before, DIALECT)
    assert conversion.document["tools"] == [{"type": "function", "name": "f", "parameters": None, "strict": False}]
    assert conversion.losses == []


def test_built_in_tools_are_kept_whole_and_those_of_others_are_dropped() -> None:
    tools = [{"type": "web_search"}, {"type": "custom", "name": "patch", "format": {"type": "text"}}]
    assert [tool.name for tool in lift({"input": "", "tools": tools}).tools or ()] == ["web_search", "patch"]
    other = ToolDefinition("search", extras={"anthropic": {"tool": {"type": "web_search_20250305"}}})
    assert "tools" not in lower(tools=[other])


@pytest.mark.parametrize(
    ("native", "choice", "extra"),
    [
        ("required", "required", False),
        ({"type": "function", "name": "f"}, {"name": "f"}, False),
        ({"type": "custom", "name": "f"}, {"name": "f"}, True),
        ({"type": "web_search_preview"}, None, True),
        (
            {"type": "allowed_tools", "mode": "required", "tools": [{"type": "function", "name": "f"}]},
            {"names": ["f"]},
            False,
        ),
        (
            {"type": "allowed_tools", "mode": "auto", "tools": [{"type": "function", "name": "f"}]},
            {"names": ["f"]},
            True,
        ),
    ],
)
def test_a_tool_choice_is_read_as_near_as_it_can_be(native: Any, choice: Any, extra: bool) -> None:
    transcript = lift({"input": "", "tool_choice": native})
    assert transcript.tool_choice == choice
    assert (transcript.extras is not None) == extra


def test_effort_and_format_are_settings_and_the_rest_of_their_objects_is_kept() -> None:
    format_ = {"type": "json_schema", "name": "a", "schema": {"type": "object"}, "strict": True}
    transcript = lift({"input": "", "reasoning": {"effort": "low", "summary": "auto"}, "text": {"format": format_}})
    assert transcript.settings == {"reasoningEffort": "low", "responseFormat": format_}
    assert transcript.extras == {NAME: {"reasoning": {"summary": "auto"}}}


def test_settings_of_other_formats_are_reported() -> None:
    before = Transcript([Message("user", [Text("a")])], settings={"topK": 3, "stop": ["x"], "temperature": 0})
    conversion = pipeline.lower(before, DIALECT)
    assert conversion.document["temperature"] == 0
    assert {loss.field for loss in conversion.losses} == {"settings.topK", "settings.stop"}


# ---------------------------------------------------------------- responses


def response(status: str | None, output: list[Any], **more: Any) -> dict[str, Any]:
    return {"id": "resp_1", "object": "response", "created_at": 1790000000, "status": status, "output": output, **more}


@pytest.mark.parametrize(
    ("native", "reason", "extra"),
    [
        (response("completed", [output_message("a")]), "stop", False),
        (response("completed", [call("c")]), "tool_calls", False),
        (
            response("incomplete", [output_message("a")], incomplete_details={"reason": "max_output_tokens"}),
            "length",
            False,
        ),
        (response("incomplete", [], incomplete_details={"reason": "content_filter"}), "content_filter", False),
        (response("incomplete", [], incomplete_details={"reason": "novel"}), "novel", True),
        (response("incomplete", []), "incomplete", False),
        (response("failed", []), "error", False),
        (response("cancelled", []), "aborted", False),
        (response("queued", []), None, True),
        (response(None, [output_message("a")]), None, False),
    ],
)
def test_why_a_response_ended_is_the_stop_reason_of_its_answer(native: Any, reason: str | None, extra: bool) -> None:
    transcript = lift(native)
    assert transcript.messages[-1].stop_reason == reason
    assert (transcript.extras is not None) == extra


def test_the_error_of_a_response_is_the_error_of_its_answer() -> None:
    transcript = lift(response("failed", [], error={"code": "server_error", "message": "broken"}))
    assert (transcript.messages[0].error, transcript.extras) == ("broken", None)
    other = lift(response("failed", [], error={"code": "invalid_image", "message": "broken"}))
    assert other.messages[0].error == "broken"
    assert other.extras == {NAME: {"error": {"code": "invalid_image", "message": "broken"}}}


def test_what_a_response_repeats_of_its_request_is_kept_as_one_extra() -> None:
    echo = {"temperature": 1.0, "tools": [{"type": "web_search"}], "tool_choice": "required"}
    transcript = lift(response("completed", [output_message("a")], **echo, parallel_tool_calls=True))
    assert (transcript.tools, transcript.settings, transcript.tool_choice) == (None, None, None)
    assert transcript.extras == {NAME: {"request": echo}}
    (loss,) = pipeline.lower(transcript, dialects.get("openai-chat"), source=DIALECT).losses[:1]
    assert (loss.field, loss.level) == (f"extras.{NAME}.request", "envelope")


def test_an_answer_of_another_vendor_becomes_a_response_without_additions() -> None:
    usage = {"inputTokens": 5, "outputTokens": 2, "totalTokens": 7, "cacheReadTokens": 1}
    before = Transcript([Message("assistant", [Text("a")], stop_reason="stop", usage=usage)], id="r", model="m")
    conversion = pipeline.lower(before, DIALECT)
    assert conversion.losses == []
    assert conversion.document["output"][0]["content"] == [
        {"type": "output_text", "text": "a", "annotations": [], "logprobs": []}
    ]
    assert conversion.document["usage"]["input_tokens_details"] == {"cached_tokens": 1}


# ---------------------------------------------------------------- places


def test_a_loss_names_the_item_and_not_only_the_answer() -> None:
    items = [USER, output_message("a", id="msg_1"), call("c", id="fc_1"), output_message("b", status="incomplete")]
    losses = pipeline.convert({"input": items}, DIALECT, dialects.get("openai-chat")).losses
    places = {(loss.field, loss.where) for loss in losses}
    assert ("text.metadata.itemId", "/input/1/id") in places
    assert ("tool_call.metadata.itemId", "/input/2/id") in places
    assert (f"extras.{NAME}.item.status", "/input/3/status") in places


def test_items_parts_and_responses_are_recognised_and_shapes_of_others_are_not() -> None:
    for document in (
        [call("c")],
        {"input": [output_message("a")]},
        {"output": [output_message("a")]},
        {"model": "m", "input": "Hi"},
    ):
        assert detection.detect(document).dialect == NAME
    for document in (
        {"messages": [], "input": "x"},
        {"input": "x"},
        {"input": "x", "output": "y", "model": "m"},
        [{"role": "user", "content": "x"}],
        {"input": {"a": 1}, "model": "m"},
        {"prompt": "x", "completion": "y"},
        [{"type": "function_call", "payload": {}}],
        7,
        [],
        None,
    ):
        assert detection.evidence(document, DIALECT) is None


@pytest.mark.parametrize(
    ("stated", "meant", "written"),
    [({}, None, False), ({"strict": False}, None, False), ({"strict": True}, True, True)],
)
def test_a_function_of_chat_completions_that_does_not_say_strict_is_not_made_strict(
    stated: dict[str, Any], meant: bool | None, written: bool
) -> None:
    function = {"name": "f", "parameters": {"type": "object", "properties": {}}, **stated}
    chat = dialects.get("openai-chat")
    request = {"model": "m", "messages": [], "tools": [{"type": "function", "function": function}]}
    there = pipeline.convert(request, chat, DIALECT)
    assert (there.document["tools"][0]["strict"], there.losses) == (written, [])
    assert (there.transcript.tools or [])[0].strict is meant
    assert pipeline.convert(there.document, DIALECT, chat).losses == []


@pytest.mark.parametrize("stated", [{}, {"strict": None}, {"strict": True}])
def test_a_function_is_strict_by_default(stated: dict[str, Any]) -> None:
    tool = {"type": "function", "name": "f", "parameters": {"type": "object", "properties": {"x": {}}}, **stated}
    request = {"model": "m", "input": "Hi.", "tools": [tool]}
    done = pipeline.convert(request, DIALECT, dialects.get("openai-chat"))
    assert done.document["tools"][0]["function"]["strict"] is True
    codes = {finding.code for finding in pipeline.validate(request, DIALECT)}
    assert codes == ({"open-strict-schema"} if stated.get("strict") else set())  # the service closes the others itself


@pytest.mark.parametrize("name", ["openai-responses", "openai-responses-stream"])
def test_a_response_has_reasoning_of_others_and_a_request_does_not(name: str) -> None:
    thinking = {"type": "thinking", "thinking": "Hm.", "signature": "EqQB"}
    content = [thinking, {"type": "text", "text": "4"}]
    message = {"type": "message", "role": "assistant", "content": content, "stop_reason": "end_turn", "usage": {}}
    done = pipeline.convert(message, dialects.get("anthropic"), dialects.get(name))
    assert "reasoning" not in {loss.field for loss in done.losses}
    output = done.document[-1]["response"]["output"] if name.endswith("stream") else done.document["output"]
    assert output[0] | {"id": "rs"} == {
        "id": "rs",
        "type": "reasoning",
        "summary": [],
        "content": [{"type": "reasoning_text", "text": "Hm."}],
    }
    asked = {"messages": [{"role": "user", "content": "2+2?"}, {"role": "assistant", "content": content}]}
    request = pipeline.convert(asked, dialects.get("anthropic"), DIALECT)
    assert [loss.field for loss in request.losses if loss.field == "reasoning"] == ["reasoning"]
    assert all(item["type"] == "message" for item in request.document["input"])


@pytest.mark.parametrize("kind", [["input_text"], {"a": 1}, 1, None])
def test_a_part_whose_type_is_no_text_is_no_mark(kind: Any) -> None:
    assert detection.evidence([{"role": "user", "content": [{"type": kind}]}], DIALECT) is None


def test_tools_that_come_as_an_item_are_a_mark_of_a_request() -> None:
    added = {"type": "additional_tools", "role": "developer", "tools": []}
    found = detection.detect({"model": "m", "input": [added, {"role": "user", "content": "Hi."}]})
    assert found.dialect == "openai-responses"


@pytest.mark.parametrize("name", [NAME, "openai-responses-stream"])
def test_the_result_of_a_custom_tool_has_the_name_of_its_call(name: str) -> None:
    """The vendor's type has no `name` for such an output, but for that of a function."""
    calls = [ToolCall("c1", "web", {"input": "tide"}, custom=True), ToolCall("c2", "f", {})]
    results = [ToolResult("c1", "web_run", "text", "High."), ToolResult("c2", "g", "text", "Low.")]
    source = Transcript([Message("assistant", calls), *(Message("tool", [result]) for result in results)])
    target = dialects.get(name)
    written = conversion.lower(source, target, Options(form="response"), HUB)
    assert [part.name for part in target.lift(written.document).messages[-2].parts] == ["web"]  # type: ignore[union-attr]
    assert [part.name for part in target.lift(written.document).messages[-1].parts] == ["g"]  # type: ignore[union-attr]
    lost = [loss for loss in written.losses if loss.field == "tool_result.name"]
    assert [(loss.before, loss.after) for loss in lost] == [("web_run", "web")]
