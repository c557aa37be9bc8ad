"""Continue: thoughts before answers, results in the states of calls, context items, summaries, and its folder."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.dialects.continue_dev import DIALECT
from convcli.engine import detection, pipeline
from convcli.model.dialect import SessionFacts
from convcli.model.transcript import Media, Message, Reasoning, Text, ToolCall, ToolResult, Transcript

CALL = {"id": "c1", "type": "function", "function": {"name": "f", "arguments": '{"n":1}'}}
OUTPUT = {"content": "one", "name": "Tool Result", "description": "Tool execution result"}


def item(role: str, content: Any = "", **more: Any) -> dict[str, Any]:
    native = {"role": role, "content": content, **more.pop("message", {})}
    return {"message": native, "contextItems": [], **more}


def called(status: str, *output: Any, **more: Any) -> dict[str, Any]:
    state = {"toolCallId": "c1", "toolCall": CALL, "status": status, "parsedArgs": {"n": 1}, **more}
    state |= {"output": list(output)} if output else {}
    return item("assistant", message={"toolCalls": [CALL]}, toolCallStates=[state])


def session(*items: Any) -> dict[str, Any]:
    return {"sessionId": "s", "history": list(items)}


def lifted(*items: Any) -> list[Message]:
    return DIALECT.lift(session(*items)).messages


def written(*messages: Message) -> Any:
    return pipeline.lower(Transcript(list(messages)), DIALECT).document["history"]


def test_a_thought_belongs_to_the_answer_after_it() -> None:
    thought = item("thinking", "Hm.", message={"signature": "c2ln"})
    (message,) = lifted(thought, item("assistant", "Yes."))
    assert message == Message("assistant", [Reasoning("Hm.", metadata={"signature": "c2ln"}), Text("Yes.")])
    assert written(message) == [thought, item("assistant", "Yes.")]


def test_a_thought_without_an_answer_is_an_answer() -> None:
    messages = lifted(item("thinking", "Hm."), item("user", "Well?"))
    assert messages == [Message("assistant", [Reasoning("Hm.")]), Message("user", [Text("Well?")])]


def test_thoughts_from_the_text_of_an_answer_come_back_in_it() -> None:
    native = item("assistant", "Yes.", reasoning={"text": "Hm.", "active": False})
    (message,) = lifted(native)
    assert [part.type for part in message.parts] == ["reasoning", "text"]
    assert written(message) == [native]


@pytest.mark.parametrize(
    ("status", "output", "result"),
    [
        ("done", [OUTPUT], ToolResult("c1", "f", "text", "one")),
        ("errored", [OUTPUT], ToolResult("c1", "f", "error", "one")),
        ("canceled", [], ToolResult("c1", "f", "error", "", status="cancelled")),
        ("done", [OUTPUT, OUTPUT], ToolResult("c1", "f", "multimodal", [Text("one"), Text("one")])),
    ],
)
def test_a_result_is_in_the_state_of_its_call(status: str, output: list[Any], result: ToolResult) -> None:
    call, answer = lifted(called(status, *output))
    assert call.parts == [ToolCall("c1", "f", {"n": 1})]
    assert answer == Message("tool", [result])
    assert written(call, answer)[0]["toolCallStates"][0]["status"] == status


def test_a_call_without_a_result_has_none() -> None:
    (message,) = lifted(called("generated"))
    assert message.parts == [ToolCall("c1", "f", {"n": 1})]
    (other,) = lifted(called("calling"))
    assert other.parts[0].extras == {"continue-dev": {"state": {"status": "calling"}}}


def test_a_tool_message_repeats_the_state_or_replaces_it() -> None:
    answer = item("tool", "one", message={"toolCallId": "c1"})
    assert lifted(called("done", OUTPUT), answer) == lifted(called("done", OUTPUT))
    assert lifted(called("done"), answer) == lifted(called("done", OUTPUT))
    assert lifted(called("errored"), answer)[1].parts == [ToolResult("c1", "f", "error", "one")]
    different = item("tool", "two", message={"toolCallId": "c1"})
    assert [message.role for message in lifted(called("done", OUTPUT), different)] == ["assistant", "tool", "tool"]


def test_what_a_repeated_result_adds_is_kept() -> None:
    answer = item("tool", "one", message={"toolCallId": "c1"}, contextItems=[OUTPUT])
    _, message = lifted(called("done", OUTPUT), answer)
    assert message.extras == {"continue-dev": {"again": {"contextItems": [OUTPUT]}}}
    assert written(*lifted(called("done", OUTPUT), answer))[1] == answer


def test_the_model_reads_context_items_first() -> None:
    context = {"content": "Buy tea.", "name": "notes.md", "description": "notes.md"}
    native = item("user", "What?", contextItems=[context])
    (message,) = lifted(native)
    assert [part.text for part in message.parts if isinstance(part, Text)] == ["Buy tea.", "What?"]
    assert written(message) == [native]


@pytest.mark.parametrize(
    "items",
    [
        [item("assistant", "Tea is a drink.", conversationSummary="About tea.")],
        [item("assistant", "Tea is a drink."), item("assistant", "About tea.", conversationSummary="About tea.")],
    ],
)
def test_a_summary_replaces_everything_before_it(items: list[Any]) -> None:
    answer, summary = lifted(*items)
    assert answer == Message("assistant", [Text("Tea is a drink.")])
    assert summary == Message("user", [Text("About tea.")], replaces="all")
    assert written(answer, summary)[1] == item("assistant", "About tea.", conversationSummary="About tea.")


def test_images_are_urls_and_those_of_results_follow_them() -> None:
    image = Media("image", data="aGk=", media_type="image/png")
    natives = [
        {"type": "text", "text": "See:"},
        {"type": "imageUrl", "imageUrl": {"url": "data:image/png;base64,aGk="}},
    ]
    assert lifted(item("user", natives))[0].parts == [Text("See:"), image]
    result = ToolResult("c1", "f", "multimodal", [Text("one"), image])
    _, attached = written(Message("assistant", [ToolCall("c1", "f", {"n": 1})]), Message("tool", [result]))
    assert attached["message"]["content"][1] == natives[1]


def test_sessions_are_detected_and_have_their_place() -> None:
    assert detection.detect(session(item("user", "Hi."))).dialect == "continue-dev"
    assert detection.evidence({"sessionId": "s", "history": []}, DIALECT) is None
    assert dialects.get("continue") is DIALECT
    (program,) = DIALECT.programs
    assert program.place is not None
    assert program.place(SessionFacts("a-b", "/", "2026-01-01T00:00:00Z")) == "sessions/a-b.json"
