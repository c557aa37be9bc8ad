"""OpenClaw and pi: sessions in three versions, the request form, and what others receive of them."""

from __future__ import annotations

import copy
from typing import Any

import pytest

from convcli import dialects
from convcli.engine import conversion, pipeline, reading
from convcli.model.branches import active, context
from convcli.model.dialect import Options
from convcli.model.document import Rows
from convcli.model.transcript import (
    Media,
    Message,
    Opaque,
    Reasoning,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResult,
    Transcript,
)
from convcli.proof.reasons import Loss
from convcli.testing import assert_same
from convcli.validation import schemas
from tests.support import Sample, samples_of

OPENCLAW = dialects.get("openclaw")
GEMINI_CLI = dialects.get("gemini-cli")


def sample(name: str) -> Any:
    return next(sample.document for sample in samples_of("openclaw") if sample.path.name == name)


def lifted(name: str) -> Transcript:
    return OPENCLAW.lift(sample(name))


def calls(transcript: Transcript) -> list[ToolCall]:
    return [part for message in transcript.messages for part in message.parts if isinstance(part, ToolCall)]


def results(transcript: Transcript) -> list[ToolResult]:
    return [part for message in transcript.messages for part in message.parts if isinstance(part, ToolResult)]


def reported(losses: list[Loss], field: str) -> list[str]:
    return [loss.where for loss in losses if loss.field == field]


def written(transcript: Transcript) -> list[Any]:
    rows: list[Any] = pipeline.lower(transcript, OPENCLAW).document
    return rows


# ---------------------------------------------------------------- reading


def test_a_failure_is_the_flag_or_the_status_in_the_details_and_both_come_back() -> None:
    document = sample("session-google-errors.jsonl")
    first, picture, last = results(OPENCLAW.lift(document))
    assert (first.kind, last.kind, picture.kind) == ("error", "error", "multimodal")
    assert first.extras == {"openclaw": {"details": {"status": "error", "tool": "exec", "error": "no such bed"}}}
    again = OPENCLAW.lift(OPENCLAW.lower(OPENCLAW.lift(document)))
    assert [(result.kind, result.extras) for result in results(again)] == [
        (result.kind, result.extras) for result in (first, picture, last)
    ]


@pytest.mark.parametrize("sample_", samples_of("openclaw"), ids=str)
def test_every_sample_comes_back_by_way_of_the_intermediate_format(sample_: Sample) -> None:
    assert_same(OPENCLAW, sample_.document)


def test_the_text_of_a_result_never_makes_it_a_failure() -> None:
    rows = copy.deepcopy(sample("session-google-errors.jsonl"))
    del rows[3]["message"]["details"]
    assert results(OPENCLAW.lift(rows))[0].kind == "text"


def test_seven_spellings_of_a_call_and_four_of_an_id_are_read() -> None:
    transcript = lifted("spellings.json")
    assert [call.arguments for call in calls(transcript)] == [{"n": n} for n in range(7)] + [{}]
    assert [result.tool_call_id for result in results(transcript)] == [f"c{n}" for n in range(7)] + ["call_1"]
    assert [result.kind for result in results(transcript)] == ["text"] * 5 + ["error", "data", "error"]
    assert [message.role for message in transcript.messages[-4:-2]] == ["tool", "user"]


def test_calls_that_are_stored_twice_are_lifted_once() -> None:
    transcript = lifted("session-injected.jsonl")
    assert [(call.id, call.arguments) for call in calls(transcript)] == [("s_1", {"q": "moss"}), ("s_2", {"q": "fern"})]
    assert [(r.tool_call_id, r.kind, r.value) for r in results(transcript)] == [
        ("s_2", "error", "offline"),
        ("s_1", "text", "green"),
    ]


def test_other_keys_of_an_injected_call_are_extras_of_the_call() -> None:
    extra = [call.extras for call in calls(lifted("session-injected.jsonl"))]
    time = "2026-02-15T10:00:02.000Z"
    assert extra == [{"openclaw": {"status": word, "timestamp": time}} for word in ("success", "error")]
    conversion = pipeline.convert(sample("session-injected.jsonl"), OPENCLAW, dialects.get("openai-chat"))
    places = reported(conversion.losses, "extras.openclaw.status")
    assert places == ["/2/message/toolCalls/0/status", "/2/message/toolCalls/1/status"]


def test_as_a_request_results_outside_the_content_are_reported() -> None:
    codes = [f.code for f in pipeline.validate(sample("session-injected.jsonl"), OPENCLAW, purpose="request")]
    assert [code for code in codes if code != "missing-key"] == ["misplaced-tool-result"]
    assert pipeline.validate(sample("session-injected.jsonl"), OPENCLAW) == []


def test_the_head_is_the_last_row_and_only_trees_have_one() -> None:
    assert lifted("session-tree.jsonl").head == "aa000010"
    assert all(lifted(name).head is None for name in ("session-v1.jsonl", "session-tools.jsonl", "twin-weather.jsonl"))


def test_only_the_active_branch_goes_to_a_dialect_without_branches() -> None:
    conversion = pipeline.convert(sample("session-tree.jsonl"), OPENCLAW, dialects.get("openai-chat"))
    assert [message["content"] for message in conversion.document["messages"]] == [
        "Which plant needs water?",
        "On the other branch the basil was found dry.",
        "Rain is announced for tonight.",
        "Then wait until tomorrow.",
        "The basil is dry; rain comes tonight.",
        "I will remind you.",
    ]
    assert reported(conversion.losses, "branch") == ["/5", "/6", "/7"]


def test_a_parent_that_no_row_has_cuts_nothing_off() -> None:
    rows = copy.deepcopy(sample("session-google-errors.jsonl"))
    rows[5]["parentId"] = "nowhere"
    assert OPENCLAW.lift(rows).head is None


def test_rows_that_no_model_saw_are_events_in_their_place() -> None:
    transcript = lifted("session-tree.jsonl")
    roles = [message.role for message in transcript.messages]
    assert roles[:4] == ["event", "event", "event", "user"]
    assert transcript.messages[14].parts == [Opaque("openclaw", sample("session-tree.jsonl")[15])]
    assert transcript.title == "Watering"


def test_signatures_belong_to_the_provider_that_the_api_names() -> None:
    thoughts = [p for m in lifted("session-tree.jsonl").messages for p in m.parts if isinstance(p, Reasoning)]
    assert [thought.metadata for thought in thoughts] == [{"signature": "EqQBc2ln"}, {"redactedData": "cmVkYWN0ZWQ="}]
    google = lifted("session-google-errors.jsonl").messages
    assert google[1].parts[0].metadata == {"thoughtSignature": "dGV4dA=="}
    assert google[1].parts[1].metadata == {"thoughtSignature": "AAAA"}


def test_tools_are_what_the_system_messages_add_and_remove() -> None:
    transcript = lifted("session-tools.jsonl")
    assert [tool.name for tool in transcript.tools or ()] == ["water", "prune"]
    assert [part.text for part in transcript.messages[0].parts if isinstance(part, Text)] == [
        "You look after a garden.",
        "<tools>\n- water\n</tools>",
    ]


def test_input_tokens_hold_the_cache_and_zero_is_no_count() -> None:
    first = next(message for message in lifted("session-tree.jsonl").messages if message.usage)
    assert first.usage == {
        "inputTokens": 1220, "outputTokens": 82, "cacheReadTokens": 1200, "cacheWriteTokens": 17, "totalTokens": 1302,
    }  # fmt: skip
    assert lifted("session-tree.jsonl").messages[-1].usage is None


# ---------------------------------------------------------------- writing


def test_a_session_has_a_header_ids_and_a_chain_of_parents() -> None:
    rows = written(Transcript([Message("user", [Text("Hi")]), Message("assistant", [Text("Hello")])], cwd="/w"))
    assert isinstance(rows, Rows)
    assert (rows[0]["type"], rows[0]["version"], rows[0]["cwd"]) == ("session", 3, "/w")
    assert [(row["id"], row["parentId"]) for row in rows[1:]] == [("00000001", None), ("00000002", "00000001")]
    assert rows[2]["message"]["usage"]["totalTokens"] == 0


def test_unknown_counts_and_an_unknown_directory_are_reported_as_invented() -> None:
    conversion = pipeline.lower(
        Transcript([Message("user", [Text("Hi")]), Message("assistant", [Text("No.")])]), OPENCLAW
    )
    assert conversion.document[0]["cwd"] == ""
    invented = {loss.field: loss.after for loss in conversion.losses if loss.kind == "invented"}
    assert invented["cwd"] == ""
    assert invented["extras.openclaw.usage"] == conversion.document[2]["message"]["usage"]


def test_a_total_is_a_sum_and_only_the_other_counts_are_zero() -> None:
    answer = Message("assistant", [Text("No.")], usage={"inputTokens": 5, "outputTokens": 2, "cacheReadTokens": 5})
    conversion = pipeline.lower(Transcript([answer], cwd="/w"), OPENCLAW)
    usage = dict(conversion.document[1]["message"]["usage"])
    del usage["cost"]
    assert usage == {"input": 0, "output": 2, "cacheRead": 5, "cacheWrite": 0, "totalTokens": 7}
    changed = {loss.field: loss.after for loss in conversion.losses if "usage" in loss.field}
    assert changed["message.usage.totalTokens"] == 7
    assert changed["extras.openclaw.usage"].keys() == {"cacheWrite", "cost"}


def test_a_row_without_a_time_gets_that_of_the_previous_row_and_it_is_reported() -> None:
    messages = [Message("user", [Text("a")], created_at="2026-01-02T03:04:05Z"), Message("user", [Text("b")])]
    conversion = pipeline.lower(Transcript(messages), OPENCLAW)
    assert [row["timestamp"] for row in conversion.document] == ["2026-01-02T03:04:05Z"] * 3
    assert conversion.document[1]["message"]["timestamp"] == 1767323045000
    assert reported(conversion.losses, "message.createdAt") == ["/messages/1/createdAt"]


def test_used_ids_are_not_generated_again() -> None:
    messages = [Message("user", [Text("a")]), Message("user", [Text("b")], id="00000001")]
    messages.append(Message("user", [Text("c")], id="00000001"))
    assert [row["id"] for row in written(Transcript(messages))[1:]] == ["00000002", "00000001", "00000003"]


def test_the_same_transcript_has_the_same_session_id_and_another_one_has_another() -> None:
    one, two = (written(Transcript([Message("user", [Text(text)])]))[0]["id"] for text in ("a", "b"))
    assert one == written(Transcript([Message("user", [Text("a")])]))[0]["id"] != two


@pytest.mark.parametrize("head", ["m1", "m2", "m3"])
def test_a_tree_keeps_its_branches_and_its_head(head: str) -> None:
    parents = {"m0": None, "m1": "m0", "m2": "m1", "m3": "m1"}
    messages = [Message("user", [Text(id_)], id=id_, parent_id=parent) for id_, parent in parents.items()]
    conversion = pipeline.lower(Transcript(messages, head=head), OPENCLAW)
    after = OPENCLAW.lift(conversion.document)
    assert (after.head, [message.parent_id for message in after.messages]) == (head, list(parents.values()))
    assert reported(conversion.losses, "head") == reported(conversion.losses, "message.parentId") == []


def test_no_parent_comes_after_its_child() -> None:
    """pi walks from the leaf to the root, and a circle would never end."""
    messages = [
        Message("user", [Text("a")], id="a", parent_id="b"),
        Message("user", [Text("b")], id="b", parent_id="a"),
    ]
    rows = written(Transcript(messages, head="b"))
    assert [row["parentId"] for row in rows[1:3]] == [None, "a"]


def test_tools_are_in_a_system_message_which_is_added_if_missing() -> None:
    transcript = Transcript([Message("user", [Text("Hi")])], tools=[ToolDefinition("f", parameters={"type": "object"})])
    conversion = pipeline.lower(transcript, OPENCLAW)
    assert conversion.document[1]["message"]["toolsAdded"][0]["name"] == "f"
    assert [tool.name for tool in OPENCLAW.lift(conversion.document).tools or ()] == ["f"]
    assert [loss.kind for loss in conversion.losses if loss.field == "message"] == ["invented"]


def test_data_is_written_as_json_and_images_stay_in_the_result() -> None:
    picture = Media("image", data="AAAA", media_type="image/png")
    transcript = Transcript(
        [
            Message("assistant", [ToolCall("a", "f", {}), ToolCall("b", "f", {})]),
            Message("tool", [ToolResult("a", "f", "data", {"n": 1}, is_error=True)]),
            Message("tool", [ToolResult("b", "f", "multimodal", [Text("see"), picture])]),
        ]
    )
    conversion = pipeline.lower(transcript, OPENCLAW)
    failed, shown = (row["message"] for row in conversion.document[2:])
    assert (failed["isError"], failed["content"][0]["text"]) == (True, '{"n":1}')
    assert [block["type"] for block in shown["content"]] == ["text", "image"]
    assert reported(conversion.losses, "tool_result.kind") == ["/messages/1/parts/0"]


def test_an_event_of_another_dialect_rides_in_a_custom_row_and_comes_back() -> None:
    event = Message("event", [Opaque("gemini-cli", {"id": "i1", "type": "info", "content": "noted"})], id="i1")
    conversion = pipeline.lower(Transcript([Message("user", [Text("a")]), event]), OPENCLAW)
    assert conversion.document[2]["customType"] == "convcli.gemini-cli"
    assert OPENCLAW.lift(conversion.document).messages[1].parts == event.parts


def test_the_request_form_has_blocks_for_calls_and_results() -> None:
    document = OPENCLAW.lower(lifted("session-google-errors.jsonl"), Options(form="api"))
    assert schemas.findings("openclaw", document) == []
    first = document["messages"][1]["content"]
    assert [block["type"] for block in first] == ["output_text", "tool_use", "tool_use"]
    assert document["messages"][2] == {
        "role": "tool",
        "content": [
            {
                "type": "tool_result_error",
                "tool_use_id": "exec_1_1",
                "content": '{"status":"error"}',
                "details": {"status": "error", "tool": "exec", "error": "no such bed"},
                "is_error": True,
            }
        ],
    }


def test_a_request_becomes_a_session_when_that_is_asked_for() -> None:
    rows = OPENCLAW.lower(lifted("request.json"), Options(form="session"))
    assert schemas.findings("openclaw", rows) == []
    assert rows[0]["id"] == "s-17"
    assert [row["message"]["role"] for row in rows[1:]] == ["system", "user", "assistant", "toolResult", "assistant"]
    assert rows[3]["message"]["content"][1]["type"] == "toolCall"


def test_an_edited_session_of_version_1_stays_one() -> None:
    transcript = lifted("session-v1.jsonl")
    transcript.messages[0].parts = [Text("Good day")]
    rows = written(transcript)
    assert ("version" in rows[0], rows[0]["modelId"]) == (False, "model-a")
    assert not any("id" in row or "parentId" in row for row in rows[1:])


def test_removed_tools_stay_removed_when_an_edited_session_is_written() -> None:
    transcript = lifted("session-tools.jsonl")
    assert transcript.tools is not None
    transcript.tools.append(ToolDefinition("rake", parameters={}))
    again = OPENCLAW.lift(written(transcript))
    assert [tool.name for tool in again.tools or ()] == ["water", "prune", "rake"]
    assert again.messages[0].extras == transcript.messages[0].extras


def test_of_two_tools_with_one_name_the_last_counts() -> None:
    tools = [ToolDefinition("f", "one", parameters={}), ToolDefinition("f", "two", parameters={})]
    rows = written(Transcript([Message("user", [Text("Hi")])], tools=tools))
    assert [tool["description"] for tool in rows[1]["message"]["toolsAdded"]] == ["two"]


def test_a_title_is_a_row_unless_a_row_has_it() -> None:
    transcript = lifted("session-tree.jsonl")
    assert len(written(transcript)) == len(sample("session-tree.jsonl"))
    transcript.title = "Another"
    assert written(transcript)[1]["name"] == "Another"


def test_between_tree_rows_a_result_without_an_id_stays_on_the_branch() -> None:
    messages = [
        Message("assistant", [ToolCall("c", "f", {})], id="a"),
        Message("tool", [ToolResult("c", "f", "text", "x")]),
        Message("user", [Text("b")], id="b", parent_id="a"),
        Message("user", [Text("c")], id="c", parent_id="a"),
    ]
    after = OPENCLAW.lift(written(Transcript(messages, head="b")))
    assert [message.role for message in active(after)] == ["assistant", "tool", "user"]


# ---------------------------------------------------------------- to Gemini CLI and back


@pytest.mark.parametrize(
    "name", ["session-google-errors.jsonl", "session-v1.jsonl", "request.json", "twin-weather.jsonl"]
)
def test_calls_results_errors_and_texts_survive_the_way_to_gemini_cli_and_back(name: str) -> None:
    before = lifted(name)
    there = pipeline.lower(before, GEMINI_CLI, source=OPENCLAW).document
    back = OPENCLAW.lift(pipeline.convert(there, GEMINI_CLI, OPENCLAW).document)
    for kept in (before, back):
        assert [(c.id, c.name, c.arguments) for c in calls(kept)] == [
            (c.id, c.name, c.arguments) for c in calls(before)
        ]
        assert [(r.tool_call_id, r.kind) for r in results(kept)] == [(r.tool_call_id, r.kind) for r in results(before)]
    said = [p.text for m in before.messages if m.role != "system" for p in m.parts if isinstance(p, Text)]
    assert [p.text for m in back.messages for p in m.parts if isinstance(p, Text)] == said


def test_the_text_that_forks_write_as_the_version_is_kept() -> None:
    header = {"type": "session", "version": "0.4.2", "id": "s", "timestamp": "2026-01-01T00:00:00Z", "cwd": "/"}
    said = {"role": "user", "content": "Hi."}
    rows = Rows([header, {"type": "message", "id": "a", "parentId": None, "timestamp": "t", "message": said}])
    transcript = reading.lift(rows, OPENCLAW)
    assert [message.role for message in transcript.messages] == ["user"]
    assert OPENCLAW.lower(transcript)[0]["version"] == "0.4.2"


@pytest.mark.parametrize(
    ("arguments", "text", "raw"),
    [
        ({}, '{"path": "a', '{"path": "a'),
        ({}, "", ""),
        ({}, "{}", None),
        ({}, None, None),
        ({"path": "a"}, '{"path": "ab', None),
    ],
)
def test_the_text_of_torn_arguments_is_that_of_the_call(arguments: Any, text: Any, raw: str | None) -> None:
    block = {"type": "toolCall", "id": "c", "name": "f", "arguments": arguments, "partialJson": text}
    turns = [{"role": "user", "content": "Go."}, {"role": "assistant", "content": [block]}]
    result = {"role": "toolResult", "toolCallId": "c", "toolName": "f", "content": "ok"}
    document = {"messages": [*turns, result]}
    (call,) = OPENCLAW.lift(document).messages[1].parts
    assert isinstance(call, ToolCall)
    assert (call.arguments, call.raw_arguments) == (arguments, raw)
    codes = [finding.code for finding in pipeline.validate(document, OPENCLAW)]
    assert codes == ["invalid-arguments"] * (raw is not None)
    assert_same(OPENCLAW, document)
    if raw is not None:
        written = pipeline.convert(document, OPENCLAW, dialects.get("openai-chat")).document["messages"][1]
        assert written["tool_calls"][0]["function"]["arguments"] == raw
        losses = pipeline.lower(OPENCLAW.lift(document), OPENCLAW).losses
        assert not [loss for loss in losses if loss.field.startswith("tool_call")]


def test_a_compaction_replaces_what_came_before_the_row_that_it_names() -> None:
    transcript = OPENCLAW.lift(sample("session-tree.jsonl"))
    (summary,) = (message for message in transcript.messages if message.replaces is not None)
    assert (summary.role, summary.replaces) == ("user", "aa00000b")
    kept = [message.id for message in context(transcript) if message.role != "event"]
    assert kept == [summary.id, "aa00000b", "aa000010"]


def test_a_summary_that_replaces_all_names_itself_and_comes_back() -> None:
    summary = Message("user", [Text("We"), Text("talked.")], replaces="all")
    conversion = pipeline.lower(Transcript([Message("user", [Text("Hi")]), summary], cwd="/w"), OPENCLAW)
    row = conversion.document[2]
    assert row["type"] == "compaction"
    assert (row["summary"], row["firstKeptEntryId"], row["tokensBefore"]) == ("We\n\ntalked.", row["id"], 0)
    assert OPENCLAW.lift(conversion.document).messages[1].replaces == "all"
    assert reported(conversion.losses, "message.replaces") == []


def test_a_cost_in_dollars_is_the_total_and_zero_is_none() -> None:
    document = sample("session-v1.jsonl")
    answers = [message for message in OPENCLAW.lift(document).messages if message.role == "assistant"]
    assert [(answer.cost, answer.provider) for answer in answers] == [(None, "openai"), (0.003, "openai")]
    transcript = Transcript([Message("assistant", [Text("No.")], cost=0.5, provider="somebody")], cwd="/w")
    message = written(transcript)[1]["message"]
    assert (message["usage"]["cost"]["total"], message["provider"]) == (0.5, "somebody")


def test_a_signature_of_another_dialect_names_a_missing_provider() -> None:
    thought = Reasoning("Hm.", metadata={"signature": "c2ln"})
    conversion = pipeline.lower(Transcript([Message("assistant", [thought])], cwd="/w"), OPENCLAW)
    assert conversion.document[1]["message"]["provider"] == "anthropic"
    assert [loss.kind for loss in conversion.losses if loss.field == "message.provider"] == ["invented"]


@pytest.mark.parametrize("target", ["hf-chat", "openai-ft", "ms-swift", "llamafactory-v1", "sharegpt", "hermes"])
def test_an_answer_stopped_before_it_began_is_reported_in_rows_at_its_path(target: str) -> None:
    asked = {"role": "user", "content": "Hi."}
    stopped = {"role": "assistant", "content": [], "stopReason": "aborted"}
    answer = {"role": "assistant", "content": [{"type": "text", "text": "Ho."}], "stopReason": "stop"}
    rows = [
        {"type": "message", "id": str(i), "parentId": str(i - 1) if i else None, "message": message}
        for i, message in enumerate([asked, stopped, asked, answer])
    ]
    transcript = OPENCLAW.lift(Rows([{"type": "session", "version": 3, "id": "s", "cwd": "/p"}, *rows]))
    findings = conversion.lower(transcript, dialects.get(target), source=OPENCLAW).findings
    reported = [finding.where for finding in findings if finding.code == "empty-message"]
    assert reported == ["/2/message"]


def test_what_an_injected_call_says_in_another_way_is_kept_and_reported_at_its_place() -> None:
    injected = [
        {"id": "c1", "type": "other", "name": "g", "args": {"q": 2}},
        {"id": "c2", "name": "h", "arguments": ["a list"]},
        {"id": "c3", "function": {"name": "k", "arguments": "{}", "strict": True}, "args": {"more": 1}},
    ]
    called = {"type": "toolCall", "id": "c1", "name": "f", "arguments": {"q": 1}}
    answer = {"role": "assistant", "content": [called], "toolCalls": injected}
    document = {"messages": [{"role": "user", "content": "Hi."}, answer], "_openclawSessionKey": "k"}
    done = pipeline.convert(document, dialects.get("openclaw"), dialects.get("openai-chat"))
    lost = {loss.where.removeprefix("/messages/1/toolCalls/"): loss.before for loss in done.losses}
    kept = {"0/type": "other", "0/name": "g", "0/args": {"q": 2}, "1/arguments": ["a list"]}
    assert lost.items() >= {**kept, "2/function": {"strict": True}, "2/args": {"more": 1}}.items()
