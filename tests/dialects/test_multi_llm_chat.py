"""multi-llm-chat: what the program really writes to disk, what it wrote before, and what others receive of it."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.engine import pipeline
from convcli.model.dialect import Options
from convcli.model.transcript import Message, Text, ToolCall, ToolResult, Transcript
from tests.support import samples_of

MLC = dialects.get("multi-llm-chat")


def sample(name: str) -> Any:
    return next(sample.document for sample in samples_of("multi-llm-chat") if sample.path.name == name)


def to(name: str, document: Any) -> pipeline.Conversion:
    return pipeline.convert(document, MLC, dialects.get(name))


def written(transcript: Transcript, form: str = "list") -> Any:
    return pipeline.lower(transcript, MLC, Options(form=form))


def results(transcript: Transcript) -> list[ToolResult]:
    return [part for message in transcript.messages for part in message.parts if isinstance(part, ToolResult)]


def pairs(transcript: Transcript) -> list[tuple[str, Any, Any]]:
    """Name, arguments and value of every call and the results with its id."""
    calls = [part for message in transcript.messages for part in message.parts if isinstance(part, ToolCall)]
    return [
        (call.name, call.arguments, [result.value for result in results(transcript) if result.tool_call_id == call.id])
        for call in calls
    ]


# ---------------------------------------------------------------- reading


def test_a_flat_and_a_nested_call_say_the_same() -> None:
    body = {"name": "f", "arguments": {"a": 1}, "tool_call_id": "c"}
    flat = MLC.lift([{"role": "gemini", "content": [{"type": "tool_call", **body}]}])
    nested = MLC.lift([{"role": "gemini", "content": [{"type": "tool_call", "content": body}]}])
    older = MLC.lift([{"role": "gemini", "content": "", "tool_calls": [body]}])
    assert flat == nested == older
    assert flat.messages[0].parts == [ToolCall("c", "f", {"a": 1})]


def test_a_result_may_be_flat_nested_a_bare_string_or_under_its_author() -> None:
    call = {"role": "chatgpt", "content": [{"type": "tool_call", "name": "f", "arguments": {}, "tool_call_id": "c"}]}
    answers = [
        {"role": "tool", "content": [{"type": "tool_result", "name": "f", "content": "ok", "tool_call_id": "c"}]},
        {"role": "tool", "content": [{"type": "tool_result", "content": {"name": "f", "content": "ok"}}]},
        {"role": "tool", "name": "f", "content": "ok"},
        {"role": "chatgpt", "content": {"type": "tool_result", "tool_call_id": "c", "result": "ok"}},
        {"role": "chatgpt", "content": [{"type": "tool_result", "tool_call_id": "c", "content": "ok"}]},
    ]
    for answer in answers:
        assert MLC.lift([call, answer]).messages[1] == Message("tool", [ToolResult("c", "f", "text", "ok")])


def test_data_with_the_keys_of_a_nested_result_is_data_when_the_tool_is_named_outside_of_it() -> None:
    content = {"name": "x", "content": "y"}
    lifted = MLC.lift([{"role": "tool", "content": [{"type": "tool_result", "name": "f", "content": content}]}])
    assert lifted.messages[0].parts == [ToolResult("call_1", "f", "data", content)]


def test_the_name_of_the_tool_as_id_answers_the_next_open_call_of_that_tool() -> None:
    assert pairs(MLC.lift(sample("gemini-without-ids.json"))) == [
        ("get_weather", {"location": "Tokyo"}, ["25°C"]),
        ("get_weather", {"location": "Osaka"}, ["21°C"]),
        ("get_time", {}, ["12:00"]),
    ]


def test_a_call_without_an_id_gets_that_of_its_result() -> None:
    call = {"type": "tool_call", "name": "f", "arguments": {}}
    result = {"type": "tool_result", "name": "f", "content": "ok", "tool_call_id": "call_77"}
    lifted = MLC.lift([{"role": "gemini", "content": [call]}, {"role": "tool", "content": [result]}])
    assert [part.id for part in lifted.messages[0].parts if isinstance(part, ToolCall)] == ["call_77"]
    assert lifted.origin is not None
    assert not lifted.origin.generated_ids


def test_the_text_of_a_result_is_never_read_as_json_or_as_an_error() -> None:
    lifted = MLC.lift(sample("saved-version-2.json"))
    values = [
        (part.kind, part.value) for message in lifted.messages for part in message.parts if part.type == "tool_result"
    ]  # type: ignore[union-attr]
    assert values == [("text", "25°C"), ("text", "[ERROR] station offline")]
    documented = MLC.lift(sample("as-specified.json"))
    assert documented.messages[2].parts[0].kind == "text"  # type: ignore[union-attr]


def test_an_entry_with_a_result_between_texts_is_three_messages_and_one_entry_again() -> None:
    entry = {"role": "chatgpt", "content": ["a", {"type": "tool_result", "content": "r"}, "b"]}
    lifted = MLC.lift([entry])
    assert [message.role for message in lifted.messages] == ["assistant", "tool", "assistant"]
    hub = dialects.get("intermediate")
    stored = pipeline.convert([entry], MLC, hub).document
    assert pipeline.convert(stored, hub, MLC).document == [entry]


def test_the_system_prompt_is_the_first_message() -> None:
    lifted = MLC.lift(sample("saved-version-2.json"))
    assert lifted.messages[0] == Message("system", [Text("Answer in one sentence.")])
    assert (lifted.title, lifted.created_at) == ("Trip to the coast", "2026-02-28T09:00:00.123456+00:00")


# ---------------------------------------------------------------- to others, as the documents say


def test_the_documented_example_converts_to_openai_as_in_its_table() -> None:
    messages = to("openai-chat", sample("as-specified.json")).document["messages"]
    assert messages[0] == {"role": "user", "content": "Hello, how are you?"}
    assert messages[1]["role"] == "assistant"
    assert messages[1]["content"] == "Let me check the weather for you."
    assert messages[1]["tool_calls"] == [
        {
            "id": "call_abc123",
            "type": "function",
            "function": {"name": "get_weather", "arguments": '{"location":"Tokyo"}'},
        }
    ]
    assert messages[2]["role"] == "tool"
    assert messages[2]["tool_call_id"] == "call_abc123"
    assert messages[2]["content"] == '{"temperature": "25°C", "condition": "sunny"}'


def test_answers_under_chatgpt_convert_to_openai_as_in_the_issue() -> None:
    messages = to("openai-chat", sample("answers-under-chatgpt.json")).document["messages"]
    assert [message["role"] for message in messages[:4]] == ["user", "assistant", "tool", "assistant"]
    assert messages[1]["content"] is None
    assert messages[2] == {"role": "tool", "tool_call_id": "call_abc123", "content": '{"data":1}'}


def test_the_documented_example_converts_to_gemini_as_in_its_table() -> None:
    contents = to("gemini", sample("as-specified.json")).document["contents"]
    call = {"name": "get_weather", "args": {"location": "Tokyo"}}
    assert contents[0] == {"role": "user", "parts": [{"text": "Hello, how are you?"}]}
    assert contents[1]["role"] == "model"
    assert contents[1]["parts"][0] == {"text": "Let me check the weather for you."}
    assert call.items() <= contents[1]["parts"][1]["functionCall"].items()
    response = contents[2]["parts"][0]["functionResponse"]
    assert response["name"] == "get_weather"
    assert list(response["response"].values()) == ['{"temperature": "25°C", "condition": "sunny"}']


# ---------------------------------------------------------------- writing


def test_a_call_is_written_flat_as_the_program_stores_it() -> None:
    transcript = Transcript([Message("assistant", [Text("Wait."), ToolCall("c", "f", {"a": 1})], name="gemini")])
    assert written(transcript).document == [
        {
            "role": "gemini",
            "content": [
                {"type": "text", "content": "Wait."},
                {"type": "tool_call", "name": "f", "arguments": {"a": 1}, "tool_call_id": "c"},
            ],
        }
    ]


def test_all_results_of_a_turn_share_one_entry() -> None:
    calls = Message("assistant", [ToolCall("a", "f", {}), ToolCall("b", "f", {})])
    results = [Message("tool", [ToolResult(id_, "f", "text", id_)]) for id_ in "ab"]
    assert [len(entry["content"]) for entry in written(Transcript([calls, *results])).document] == [2, 2]


@pytest.mark.parametrize(
    ("message", "role"),
    [
        (Message("assistant", [], name="gemini"), "gemini"),
        (Message("assistant", [], name="chatgpt"), "chatgpt"),
        (Message("assistant", [], name="someone"), "chatgpt"),
        (Message("assistant", [], model="gemini-pro"), "gemini"),
        (Message("developer", []), "system"),
    ],
)
def test_the_role_of_an_answer_is_its_author(message: Message, role: str) -> None:
    assert written(Transcript([Message("user", []), message])).document[1]["role"] == role


def test_an_author_that_the_source_does_not_name_is_reported() -> None:
    losses = written(Transcript([Message("assistant", [Text("Hi")])])).losses
    assert [(loss.kind, loss.field, loss.after) for loss in losses] == [("invented", "message.name", "chatgpt")]


def test_the_first_system_text_is_the_system_prompt_and_later_ones_keep_their_place() -> None:
    turns = [Message("system", [Text("A")]), Message("user", [Text("Hi")]), Message("system", [Text("B")])]
    conversion = written(Transcript(turns), "saved")
    assert conversion.document["system_prompt"] == "A"
    assert [entry["role"] for entry in conversion.document["turns"]] == ["user", "system"]
    assert conversion.document["metadata"] == {"schema_version": 2}
    assert conversion.losses == []


def test_a_list_has_no_system_prompt_but_an_entry() -> None:
    conversion = written(Transcript([Message("system", [Text("A")])]))
    assert conversion.document == [{"role": "system", "content": [{"type": "text", "content": "A"}]}]


@pytest.mark.parametrize(
    ("result", "content", "kind"),
    [
        (ToolResult("c", "f", "error", "offline"), "[ERROR] offline", "encoded"),
        (ToolResult("c", "f", "data", {"a": 1}, is_error=True), '[ERROR] {"a":1}', "encoded"),
        (ToolResult("c", "f", "data", "5"), '"5"', "changed"),
        (ToolResult("c", "f", "multimodal", [Text("a"), Text("b")]), "a\nb", "changed"),
    ],
)
def test_a_result_without_a_form_of_its_own_is_reported_once(result: ToolResult, content: str, kind: str) -> None:
    conversion = written(Transcript([Message("tool", [result])]))
    assert conversion.document[0]["content"][0]["content"] == content
    assert [(loss.kind, loss.field) for loss in conversion.losses] == [(kind, "tool_result.kind")]


@pytest.mark.parametrize("value", [{"content": 1, "name": "x"}, [1, "a"], 5, None, False, {}])
def test_data_is_kept_as_it_is(value: Any) -> None:
    assert written(Transcript([Message("tool", [ToolResult("c", "f", "data", value)])])).losses == []


def test_a_list_of_arguments_is_kept() -> None:
    call = ToolCall("c", "f", {}, raw_arguments="[1,2]")
    conversion = written(Transcript([Message("assistant", [call], name="gemini")]))
    assert conversion.document[0]["content"][0]["arguments"] == [1, 2]
    assert conversion.losses == []
