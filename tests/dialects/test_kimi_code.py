"""Kimi Code: steps that are put together from their rows, results, configurations, tools, and compactions."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.dialects.kimi_code import DIALECT
from convcli.engine import detection, pipeline
from convcli.model.document import Rows
from convcli.model.transcript import Message, Opaque, Reasoning, Text, ToolCall, ToolResult, Transcript

APPEND = "context.append_loop_event"


def event(type_: str, **keys: Any) -> dict[str, Any]:
    return {"type": APPEND, "event": {"type": type_, **keys}}


def part(step: str, **native: Any) -> dict[str, Any]:
    return event("content.part", stepUuid=step, part=native)


def lifted(*rows: Any) -> Transcript:
    return DIALECT.lift(Rows(rows))


BEGIN, END = event("step.begin", uuid="s1"), event("step.end", uuid="s1", finishReason="tool_use")
CALL = event("tool.call", stepUuid="s1", toolCallId="c1", name="f", args={"n": 1})


def test_the_rows_of_a_step_are_one_answer() -> None:
    rows = [BEGIN, part("s1", type="think", think="Hm."), {"type": "llm.request"}, part("s1", type="text", text="Yo.")]
    answer, other = lifted(*rows, CALL, END).messages
    assert [type(one) for one in answer.parts] == [Reasoning, Text, ToolCall]
    assert (answer.role, answer.stop_reason) == ("assistant", "tool_calls")
    assert other == Message("event", [Opaque("kimi-code", {"type": "llm.request"})])


def test_two_steps_at_once_keep_their_parts() -> None:
    rows = [BEGIN, event("step.begin", uuid="s2"), part("s1", type="text", text="A"), part("s2", type="text", text="B")]
    texts = [[one.text for one in message.parts if isinstance(one, Text)] for message in lifted(*rows).messages]
    assert texts == [["A"], ["B"]]


@pytest.mark.parametrize("row", [part("s9", type="text", text="A"), event("step.retrying", stepUuid="s1")])
def test_an_event_of_no_step_or_of_an_unknown_type_is_kept(row: Any) -> None:
    assert lifted(BEGIN, row).messages[1] == Message("event", [Opaque("kimi-code", row)])


@pytest.mark.parametrize(
    ("result", "kind", "value"),
    [
        ({"output": "1"}, "text", "1"),
        ({"output": "no", "isError": True}, "error", "no"),
        ({"output": [{"type": "text", "text": "1"}]}, "text", "1"),
        ({}, "text", ""),
    ],
)
def test_a_result_is_a_row_with_a_failure(result: Any, kind: Any, value: str) -> None:
    message = lifted(BEGIN, CALL, event("tool.result", toolCallId="c1", result=result)).messages[1]
    assert message.parts == [ToolResult("c1", "f", kind, value)]


def test_counts_include_what_was_cached() -> None:
    usage = {"inputOther": 10, "output": 5, "inputCacheRead": 30, "inputCacheCreation": 2}
    (message,) = lifted(BEGIN, event("step.end", uuid="s1", usage=usage)).messages
    assert message.usage == {"inputTokens": 42, "outputTokens": 5, "cacheReadTokens": 30, "cacheWriteTokens": 2}


def test_a_configuration_names_the_model_of_the_steps_behind_it() -> None:
    rows = [{"type": "config.update", "modelAlias": "m1"}, BEGIN, {"type": "profile.bind", "modelAlias": "m2"}]
    messages = lifted(*rows, event("step.begin", uuid="s2")).messages
    assert [message.model for message in messages if message.role == "assistant"] == ["m1", "m2"]


def test_a_system_prompt_is_an_instruction() -> None:
    (message,) = lifted({"type": "config.update", "systemPrompt": "Be brief.", "profileName": "agent"}).messages
    assert (message.role, message.parts) == ("system", [Text("Be brief.")])
    assert message.extras == {"kimi-code": {"type": "config.update", "profileName": "agent"}}


def test_keys_of_another_role_are_kept() -> None:
    asked = {"role": "user", "content": [{"type": "text", "text": "Hi."}], "toolCallId": "c3"}
    answered = {"role": "tool", "content": [], "toolCallId": "c1", "toolCalls": [{"id": "c2", "name": "f"}]}
    messages = lifted(*({"type": "context.append_message", "message": one} for one in (asked, answered))).messages
    assert [(message.extras or {})["kimi-code"]["message"] for message in messages] == [
        {"toolCallId": "c3"},
        {"toolCalls": [{"id": "c2", "name": "f"}]},
    ]


def test_a_session_that_goes_on_states_its_system_prompt_again() -> None:
    prompts = [{"type": kind, "systemPrompt": "Be brief."} for kind in ("config.update", "profile.bind")]
    changed = {"type": "config.update", "systemPrompt": "Be kind."}
    assert [message.role for message in lifted(*prompts, changed).messages] == ["system", "event", "system"]


def test_an_approval_is_an_event_without_content() -> None:
    approval = {"type": "permission.record_approval_result", "action": "Running the command", "toolCallId": "c1"}
    asked = {"type": "context.append_message", "message": {"role": "user", "content": [{"type": "text", "text": "Hi"}]}}
    conversion = pipeline.convert(Rows([asked, approval]), DIALECT, dialects.get("openai-chat"))
    assert [loss.field for loss in conversion.losses if loss.level == "content"] == []


def test_the_first_snapshot_of_tools_has_the_definitions() -> None:
    rows = [{"type": "llm.tools_snapshot", "hash": hash_, "tools": [{"name": hash_}]} for hash_ in ("a", "b")]
    transcript = lifted(*rows)
    assert [tool.name for tool in transcript.tools or ()] == ["a"]
    assert transcript.messages == [Message("event", [Opaque("kimi-code", rows[1])])]


@pytest.mark.parametrize(("keys", "text"), [({}, "Short."), ({"contextSummary": "Long."}, "Long.")])
def test_a_compaction_replaces_what_came_before(keys: Any, text: str) -> None:
    (message,) = lifted({"type": "context.apply_compaction", "summary": "Short.", **keys}).messages
    assert (message.role, message.parts, message.replaces) == ("user", [Text(text)], "all")


def test_its_rows_are_detected() -> None:
    asked = {"type": "context.append_message", "message": {"role": "user", "content": []}}
    begun = [{"type": "metadata", "protocol_version": "1.4"}, {"type": "config.update", "systemPrompt": "Be brief."}]
    for rows in ([asked], begun, [{"type": "config.update", "cwd": "/w", "modelAlias": "k2"}]):
        assert detection.detect(Rows(rows)).dialect == "kimi-code"
