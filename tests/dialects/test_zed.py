"""Zed: values named by their kind, results by call, mentions, and threads of version 0.2.0."""

from __future__ import annotations

from typing import Any

import pytest

from convcli.dialects.zed import DIALECT
from convcli.engine import detection
from convcli.model.transcript import Media, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult


def lifted(*messages: Any, **keys: Any) -> list[Message]:
    return DIALECT.lift({"version": "0.3.0", "messages": list(messages), **keys}).messages


def use(id_: str, **more: Any) -> dict[str, Any]:
    native = {"id": id_, "name": "f", "raw_input": '{"n": 1}', "input": {"n": 1}, "is_input_complete": True}
    return {"ToolUse": {**native, **more}}


def result(id_: str, content: Any, **more: Any) -> dict[str, Any]:
    return {"tool_use_id": id_, "tool_name": "f", "is_error": False, "content": content, **more}


@pytest.mark.parametrize(
    ("item", "part"),
    [
        ({"Text": "Hi."}, Text("Hi.")),
        (
            {"Mention": {"uri": {"File": {}}, "content": "Buy tea."}},
            Text("Buy tea.", extras={"zed": {"mention": True, "uri": {"File": {}}}}),
        ),
        ({"Image": {"source": "iVBORw0KGgoAAA=="}}, Media("image", data="iVBORw0KGgoAAA==", media_type="image/png")),
        ({"Thinking": {"text": "Hm.", "signature": "c2ln"}}, Reasoning("Hm.", metadata={"signature": "c2ln"})),
        ({"RedactedThinking": "ZW5j"}, Reasoning("", metadata={"redactedData": "ZW5j"})),
        (use("c1"), ToolCall("c1", "f", {"n": 1})),
        (
            use("c1", raw_input='{"n":', is_input_complete=False, thought_signature="dGhv"),
            ToolCall(
                "c1",
                "f",
                {"n": 1},
                metadata={"thoughtSignature": "dGhv"},
                extras={"zed": {"raw_input": '{"n":', "is_input_complete": False}},
            ),
        ),
        ({"Audio": "x"}, Opaque("zed", {"Audio": "x"})),
    ],
)
def test_each_kind_of_content_is_a_part(item: Any, part: Part) -> None:
    (message,) = lifted({"Agent": {"content": [item]}})
    assert message == Message("assistant", [part])


@pytest.mark.parametrize(
    ("native", "expected"),
    [
        (result("c1", {"Text": "one"}), ToolResult("c1", "f", "text", "one")),
        (result("c1", [{"Text": "no"}], is_error=True), ToolResult("c1", "f", "error", "no")),
        (result("c1", [{"Text": "a"}, {"Text": "b"}]), ToolResult("c1", "f", "multimodal", [Text("a"), Text("b")])),
        (result("c1", {"Text": ""}, output="x"), ToolResult("c1", "f", "text", "", extras={"zed": {"output": "x"}})),
    ],
)
def test_the_content_of_a_result_is_one_value_or_a_list(native: Any, expected: ToolResult) -> None:
    _, answer = lifted({"Agent": {"content": [use("c1")], "tool_results": {"c1": native}}})
    assert answer == Message("tool", [expected])


def test_results_are_in_the_order_of_their_calls() -> None:
    found = {"c2": result("c2", {"Text": "two"}), "c1": result("c1", {"Text": "one"})}
    messages = lifted({"Agent": {"content": [use("c1"), use("c2")], "tool_results": found}})
    assert [part.value for message in messages[1:] for part in message.parts if isinstance(part, ToolResult)] == [
        "one",
        "two",
    ]


def test_a_continuation_is_an_event() -> None:
    assert lifted("Resume") == [Message("event", [Opaque("zed", "Resume")])]


def test_version_0_2_0_has_segments_and_lists_of_calls() -> None:
    native = {
        "id": 1,
        "role": "assistant",
        "segments": [{"type": "thinking", "text": "Hm."}, {"type": "text", "text": "Yes."}],
        "tool_uses": [{"id": "c1", "name": "f", "input": {"n": 1}}],
        "tool_results": [{"tool_use_id": "c1", "is_error": False, "content": {"Text": "one"}}],
    }
    transcript = DIALECT.lift({"version": "0.2.0", "summary": "A title", "messages": [native]})
    assert transcript.title == "A title"
    assert transcript.messages == [
        Message(
            "assistant", [Reasoning("Hm."), Text("Yes."), ToolCall("c1", "f", {"n": 1})], extras={"zed": {"id": 1}}
        ),
        Message("tool", [ToolResult("c1", "f", "text", "one")]),
    ]


def test_threads_of_both_versions_are_detected() -> None:
    said = {"User": {"id": "u", "content": [{"Text": "Hi."}]}}
    old = {"id": 0, "role": "user", "segments": [{"type": "text", "text": "Hi."}]}
    for messages in ([said], [old]):
        assert detection.detect({"version": "0.3.0", "messages": messages}).dialect == "zed"
