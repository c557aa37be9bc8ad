"""LangChain: three shapes of one message, calls that stand in it twice, and what a tool message can say."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.dialects.langchain import DIALECT
from convcli.engine import detection, pipeline
from convcli.model.dialect import Options
from convcli.model.errors import RefusedError
from convcli.model.transcript import (
    Media,
    Message,
    Opaque,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResult,
    Transcript,
)

HUMAN = {"type": "human", "content": "Go."}
CALL = {"name": "f", "args": {"n": 1}, "id": "call_1", "type": "tool_call"}
OPENAI = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"n": 1}'}}
STORED = {"type": "human", "data": HUMAN}
BUILT = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "messages", "HumanMessage"], "kwargs": HUMAN}


def lifted(*natives: Any) -> list[Message]:
    return DIALECT.lift(list(natives)).messages


def written(*messages: Message, **options: Any) -> tuple[Any, set[str]]:
    conversion = pipeline.lower(Transcript(list(messages)), DIALECT, Options(**options))
    return conversion.document, {f"{loss.kind} {loss.field}" for loss in conversion.losses}


@pytest.mark.parametrize("native", [HUMAN, STORED, BUILT, {**BUILT, "kwargs": {"content": "Go."}}])
def test_a_message_is_read_in_each_of_its_shapes(native: Any) -> None:
    assert lifted(native) == [Message("user", [Text("Go.")])]


@pytest.mark.parametrize(
    ("form", "document"),
    [("flat", [HUMAN]), ("to-dict", [STORED]), ("constructors", [BUILT]), ("state", {"messages": [HUMAN]})],
)
def test_a_message_is_written_in_each_of_its_shapes(form: str, document: Any) -> None:
    native, losses = written(Message("user", [Text("Go.")]), form=form)
    assert (native, losses) == (document, set())
    assert detection.detect(document).dialect == "langchain"


@pytest.mark.parametrize(
    "twice",
    [
        {"additional_kwargs": {"tool_calls": [OPENAI]}},
        {"content": [{"type": "tool_use", "id": "call_1", "name": "f", "input": {"n": 1}}]},
        {"content": [{"type": "tool_call", "id": "call_1", "name": "f", "args": {"n": 1}}]},
    ],
)
def test_a_call_that_stands_in_a_message_twice_is_one(twice: Any) -> None:
    message = lifted({"type": "ai", "content": "", "tool_calls": [CALL], **twice})[0]
    assert message == Message("assistant", [ToolCall("call_1", "f", {"n": 1})])


def test_what_differs_from_the_listed_call_is_kept() -> None:
    block = {"type": "tool_use", "id": "call_1", "name": "f", "input": {"n": 2}}
    message = lifted({"type": "ai", "content": [block], "tool_calls": [CALL]})[0]
    assert message.parts == [Opaque("langchain", block), ToolCall("call_1", "f", {"n": 1})]
    message = lifted(
        {
            "type": "ai",
            "content": "",
            "tool_calls": [{**CALL, "id": "x"}],
            "additional_kwargs": {"tool_calls": [OPENAI]},
        }
    )[0]
    assert message.extras == {"langchain": {"additional_kwargs": {"tool_calls": [OPENAI]}}}


def test_calls_of_older_messages_stand_in_additional_kwargs_and_have_their_place_there() -> None:
    document = [{"type": "ai", "content": "", "additional_kwargs": {"tool_calls": [OPENAI]}}]
    transcript = DIALECT.lift(document)
    assert transcript.messages[0].parts == [ToolCall("call_1", "f", {"n": 1})]
    assert transcript.origin is not None
    assert transcript.origin.places == [((0,), [("additional_kwargs", "tool_calls", 0)])]


def test_arguments_that_are_no_object_are_those_of_an_invalid_call() -> None:
    native, _ = written(Message("assistant", [ToolCall("a", "f", {}, raw_arguments="{oops")]))
    call = {"type": "invalid_tool_call", "id": "a", "name": "f", "args": "{oops"}
    assert native == [{"type": "ai", "content": "", "invalid_tool_calls": [call]}]
    assert lifted(*native)[0].parts == [ToolCall("a", "f", {}, raw_arguments="{oops")]


def test_a_block_that_repeats_a_call_and_states_something_else_is_kept() -> None:
    use = {"type": "tool_use", "id": "call_1", "name": "f", "input": {"n": 1}}
    for block, kept in ((use, 0), ({**use, "args": "other"}, 1)):
        [message] = lifted({"type": "ai", "content": [block], "tool_calls": [CALL]})
        assert [part.value for part in message.parts if isinstance(part, Opaque)] == [block] * kept


def test_a_logged_message_with_the_name_of_a_tool_as_role_keeps_another_name() -> None:
    [_, message] = lifted(
        {"type": "ai", "content": "", "tool_calls": [CALL]}, {"role": "f", "name": "g", "content": "3"}
    )
    assert message.name == "g"


def test_an_invalid_call_counts_as_one_which_its_result_answers() -> None:
    valid = {"type": "tool_call", "id": "a", "name": "f", "args": {}}
    invalid = {"type": "invalid_tool_call", "id": "b", "name": "g", "args": "{oops"}
    answer = {"type": "ai", "content": "", "tool_calls": [valid], "invalid_tool_calls": [invalid]}
    result = {"type": "tool", "tool_call_id": "b", "status": "error", "content": "no JSON"}
    messages = lifted(answer, result)
    assert [part.id for part in messages[0].parts if isinstance(part, ToolCall)] == ["a", "b"]
    assert messages[1].parts == [ToolResult("b", "g", "error", "no JSON")]


@pytest.mark.parametrize(
    ("result", "content", "status", "losses"),
    [
        (ToolResult("a", "f", "text", "x"), "x", "success", set()),
        (ToolResult("a", "f", "error", "x"), "x", "error", set()),
        (ToolResult("a", "f", "data", {"n": 1}), '{"n":1}', "success", {"changed tool_result.kind"}),
        (ToolResult("a", "f", "data", [1], is_error=True), "[1]", "error", {"changed tool_result.kind"}),
        (ToolResult("a", "f", "multimodal", [Text("x")]), "x", "success", {"changed tool_result.kind"}),
        (
            ToolResult("a", "f", "multimodal", [Media("image", url="https://example.com/a.png")], is_error=True),
            [{"type": "image", "url": "https://example.com/a.png"}],
            "error",
            set(),
        ),
    ],
)
def test_a_tool_answers_with_a_text_or_blocks_and_a_status(
    result: ToolResult, content: Any, status: str, losses: set[str]
) -> None:
    native, reported = written(Message("assistant", [ToolCall("a", "f", {})]), Message("tool", [result]))
    assert (native[1]["content"], native[1]["status"], reported) == (content, status, losses)


def test_any_other_tool_result_is_the_text_that_langchain_makes_of_it() -> None:
    message = lifted({"type": "tool", "content": 42, "tool_call_id": "a"})[0]
    assert message.parts == [ToolResult("a", "unknown", "text", "42")]


def test_a_developer_speaks_in_a_message_of_a_chat() -> None:
    native, losses = written(Message("developer", [Text("Be brief.")]))
    assert (native, losses) == ([{"type": "chat", "role": "developer", "content": "Be brief."}], set())
    assert lifted({"type": "chat", "role": "critic", "content": "x"})[0].role == "user"


@pytest.mark.parametrize(
    ("part", "block"),
    [
        (Reasoning("x"), {"type": "reasoning", "reasoning": "x"}),
        (Reasoning("x", metadata={"signature": "s"}), {"type": "thinking", "thinking": "x", "signature": "s"}),
        (Reasoning("", metadata={"redactedData": "d"}), {"type": "redacted_thinking", "data": "d"}),
        (Refusal("No."), {"type": "refusal", "refusal": "No."}),
        (Media("document", data="YQ==", name="a"), {"type": "file", "base64": "YQ==", "filename": "a"}),
        (Media("document", text="a"), {"type": "text-plain", "text": "a"}),
    ],
)
def test_each_part_has_its_block(part: Any, block: Any) -> None:
    native, losses = written(Message("assistant", [part]))
    assert (native[0]["content"], losses) == ([block], set())


@pytest.mark.parametrize(
    "block",
    [
        {"type": "image_url", "image_url": "data:image/png;base64,YQ=="},
        {"type": "image_url", "image_url": {"url": "data:image/png;base64,YQ=="}},
        {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "YQ=="}},
        {"type": "image", "url": "data:image/png;base64,YQ=="},
    ],
)
def test_images_are_read_as_every_service_has_them(block: Any) -> None:
    assert lifted({"type": "human", "content": [block]})[0].parts == [
        Media("image", data="YQ==", media_type="image/png")
    ]


def test_counts_are_those_of_input_and_output_and_their_sum() -> None:
    usage = {"inputTokens": 3, "outputTokens": 2}
    native, losses = written(Message("assistant", [Text("x")], usage=usage))
    assert native[0]["usage_metadata"] == {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}
    assert losses == {"invented message.usage.totalTokens"}
    native, losses = written(Message("assistant", [Text("x")], usage={"outputTokens": 2}))
    assert ("usage_metadata" in native[0], losses) == (False, {"dropped message.usage.outputTokens"})


def test_removals_and_objects_that_are_no_messages_are_events() -> None:
    removal = {"type": "remove", "content": "", "id": "m-1"}
    assert [message.role for message in lifted(HUMAN, removal)] == ["user", "event"]
    other = {"lc": 1, "type": "constructor", "id": ["langchain", "schema", "Document"], "kwargs": {"content": "x"}}
    with pytest.raises(RefusedError):
        pipeline.convert([other], DIALECT, dialects.get("intermediate"))


def test_a_single_result_is_recognised_by_its_other_keys() -> None:
    result = {"type": "tool", "content": "ok", "tool_call_id": "c1", "name": "f", "response_metadata": {}}
    assert detection.detect({"messages": [result]}).dialect == "langchain"


HUMAN_LOGGED = {"role": "user", "content": "Go."}
LOGGED: list[Any] = [
    HUMAN_LOGGED,
    {"role": "assistant", "content": "", "additional_kwargs": {"tool_calls": [OPENAI], "refusal": None}},
    {"role": "f", "content": "1", "additional_kwargs": {}},
    {"role": "critic", "content": "No."},
    {"role": "tool", "content": {"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}},
]


def test_what_a_tracer_logs_has_roles_and_the_definitions_of_tools_behind_the_messages() -> None:
    transcript = DIALECT.lift(LOGGED)
    assert transcript.tools == [ToolDefinition("f", parameters={"type": "object"})]
    assert transcript.messages == [
        Message("user", [Text("Go.")]),
        Message("assistant", [ToolCall("call_1", "f", {"n": 1})]),
        Message("tool", [ToolResult("call_1", "f", "text", "1")]),
        Message("user", [Text("No.")], extras={"langchain": {"type": "chat", "role": "critic"}}),
    ]


@pytest.mark.parametrize(
    "message",
    [
        {"role": "user", "content": "Go.", "additional_kwargs": {}},
        {"role": "assistant", "content": "", "tool_calls": [CALL]},
        LOGGED[-1],
    ],
)
def test_a_log_of_messages_is_distinguished_from_chat_completions(message: Any) -> None:
    for document in ([HUMAN_LOGGED, message], {"messages": [HUMAN_LOGGED, message]}):
        assert detection.detect(document).dialect == "langchain"


def test_a_definition_that_is_lost_is_reported_where_it_is_logged() -> None:
    conversion = pipeline.convert(LOGGED, DIALECT, dialects.get("sharegpt"))
    assert "f" in str(conversion.document["tools"])
    conversion = pipeline.lower(DIALECT.lift(LOGGED), DIALECT)
    assert [loss.where for loss in conversion.losses if loss.field == "tool"] == ["/4/content"]
