"""Claude Code: sessions, streams and the web's log lines, what others receive of them, and what is written."""

from __future__ import annotations

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from convcli import dialects
from convcli.engine import detection, pipeline
from convcli.jobs import inputs
from convcli.model.dialect import Options, SessionFacts
from convcli.model.document import Rows
from convcli.model.transcript import Message, Opaque, Reasoning, Text, ToolCall, ToolResult, Transcript
from convcli.validation import schemas
from tests.support import samples_of

CODE, CHAT = dialects.get("claude-code"), dialects.get("openai-chat")
ID = "5f0c1d2e-0000-4000-8000-{:012d}"


def sample(name: str) -> Any:
    return copy.deepcopy(next(sample.document for sample in samples_of("claude-code") if sample.path.name == name))


def lifted(name: str) -> Transcript:
    return CODE.lift(sample(name))


def turns(transcript: Transcript) -> list[Message]:
    return [message for message in transcript.messages if message.role != "event"]


def parts(transcript: Transcript, kind: str) -> list[Any]:
    return [part for message in transcript.messages for part in message.parts if part.type == kind]


def written(*messages: Message, **fields: Any) -> pipeline.Conversion:
    conversion = pipeline.lower(Transcript(list(messages), **fields), CODE)
    assert schemas.findings("claude-code", conversion.document) == []
    return conversion


def row(number: int, parent: int | None, content: Any, role: str = "user", **other_keys: Any) -> dict[str, Any]:
    up = None if parent is None else ID.format(parent)
    message = {"role": role, "content": content}
    return {"type": role, "uuid": ID.format(number), "parentUuid": up, "message": message, **other_keys}


# ---------------------------------------------------------------- answers of several rows


def test_the_rows_of_one_answer_are_one_message_whose_usage_is_counted_once() -> None:
    answers = [message for message in lifted("session-blocks.jsonl").messages if message.role == "assistant"]
    assert [[part.type for part in answer.parts] for answer in answers] == [
        ["reasoning", "text", "tool_call", "tool_call"],
        ["text"],
        ["tool_call"],
    ]
    usage = {"inputTokens": 929, "cacheWriteTokens": 120, "cacheReadTokens": 800, "outputTokens": 41}
    assert (answers[0].usage, answers[0].stop_reason, answers[0].model) == (usage, "tool_calls", "claude-sand-4")


def test_the_usage_of_an_answer_is_that_of_its_last_row_and_an_earlier_one_is_kept() -> None:
    document = sample("session-blocks.jsonl")
    document[2]["message"]["usage"]["output_tokens"] = 1
    answer = next(message for message in CODE.lift(document).messages if message.role == "assistant")
    assert (answer.usage or {})["outputTokens"] == 41
    assert (answer.extras or {})["claude-code"]["row"]["message"]["usage"]["output_tokens"] == 1


def test_answers_without_an_id_are_one_for_each_row() -> None:
    rows = Rows([row(1, None, "Hi."), row(2, 1, [{"type": "text", "text": "A"}], "assistant")])
    rows.append(row(3, 2, [{"type": "text", "text": "B"}], "assistant"))
    assert [len(message.parts) for message in CODE.lift(rows).messages] == [1, 1, 1]


def test_an_answer_of_several_rows_is_written_in_several_rows_again() -> None:
    again = CODE.lower(lifted("session-blocks.jsonl"))
    rows = [one for one in again if one.get("message", {}).get("id") == "msg_01A"]
    assert [one["uuid"] for one in rows] == [ID.format(n) for n in (2, 3, 4, 5)]
    assert [one["parentUuid"] for one in rows[1:]] == [one["uuid"] for one in rows[:-1]]
    assert {str(one["message"]["usage"]) for one in rows} == {str(rows[0]["message"]["usage"])}


# ---------------------------------------------------------------- the tree


def test_results_of_parallel_calls_are_no_branches() -> None:
    transcript = lifted("session-blocks.jsonl")
    assert transcript.head is None
    results = [message for message in transcript.messages if message.role == "tool"]
    assert [(one.parts[0].tool_call_id, one.parts[0].kind) for one in results[:2]] == [  # type: ignore[union-attr]
        ("toolu_a1", "text"),
        ("toolu_a2", "error"),
    ]
    assert [message.parent_id for message in turns(transcript)[1:]] == [one.id for one in turns(transcript)[:-1]]


def test_a_branch_that_was_left_is_kept_and_the_last_one_is_active() -> None:
    transcript = lifted("session-branches.jsonl")
    assert transcript.head == ID.format(8)
    conversion = pipeline.convert(sample("session-branches.jsonl"), CODE, CHAT)
    assert [message["role"] for message in conversion.document["messages"]] == [
        "user",
        "assistant",
        "user",
        "user",
        "assistant",
        "assistant",
    ]
    assert [loss.where for loss in conversion.losses if loss.field == "branch"] == ["/2", "/3"]


def test_a_row_whose_parent_is_lost_follows_the_row_before_it() -> None:
    document = sample("session-blocks.jsonl")
    del document[9]  # the answer with the id 9, as a torn line would
    transcript = CODE.lift(document)
    assert transcript.head is None
    assert len(turns(transcript)) == len(turns(lifted("session-blocks.jsonl"))) - 1


def test_rows_that_are_not_linked_at_all_are_a_list() -> None:
    rows = Rows([row(1, None, "One."), row(2, None, [{"type": "text", "text": "Two."}], "assistant")])
    transcript = CODE.lift(rows)
    assert (transcript.head, [message.parent_id for message in transcript.messages]) == (None, [None, None])


def test_of_two_rows_with_one_id_the_later_counts_and_a_copy_counts_once() -> None:
    transcript = lifted("rows-of-others.jsonl")
    texts = [part.text for part in parts(transcript, "text")]
    assert texts.count("Old and bare.") == 1
    assert "Said again, and longer." in texts
    assert "Said again." not in texts


def test_a_row_whose_newer_copy_stands_behind_its_answer_is_no_ancestor_of_itself() -> None:
    answer = row(2, 1, [{"type": "text", "text": "Yes."}], "assistant")
    newer = {"type": "user", "uuid": ID.format(1), "message": {"role": "user", "content": "Is it, really?"}}
    document = Rows([row(1, None, "Is it?"), answer, newer])
    assert [message.parent_id for message in CODE.lift(document).messages[1:]] == [ID.format(1), None]
    assert "parent-cycle" not in {finding.code for finding in pipeline.validate(document, CODE)}


def test_rows_that_are_no_messages_are_events_in_their_places() -> None:
    transcript = lifted("rows-of-others.jsonl")
    values = [part.value for part in parts(transcript, "opaque") if part.value in ("no row", 42, ["x"])]
    assert values == ["no row", 42, ["x"]]


# ---------------------------------------------------------------- subagents, compaction, prompts, titles


def test_the_run_of_a_subagent_belongs_to_the_call_with_its_prompt_and_is_no_part_of_the_main_path() -> None:
    transcript = lifted("session-subagent.jsonl")
    assert [message.parent_call_id for message in transcript.messages] == [None, None, *["toolu_t1"] * 4, None, None]
    roles = [one["role"] for one in pipeline.convert(sample("session-subagent.jsonl"), CODE, CHAT).document["messages"]]
    assert roles == ["user", "assistant", "tool", "assistant"]


def test_the_file_of_a_subagent_is_a_session_of_its_own() -> None:
    document = Rows([row(1, None, "Look.", isSidechain=True, agentId="a7f")])
    document.append(row(2, 1, [{"type": "text", "text": "Seen."}], "assistant", isSidechain=True, agentId="a7f"))
    transcript = CODE.lift(document)
    assert (transcript.head, [message.parent_call_id for message in transcript.messages]) == (None, [None, None])


def test_a_stream_names_the_call_that_began_a_run() -> None:
    transcript = lifted("stream.jsonl")
    assert [message.parent_call_id for message in turns(transcript)] == [None, *["toolu_p1"] * 3, None, None]
    assert (transcript.id, transcript.cwd) == ("7b1d9a50-93c1-4c6e-9d35-0f6f5e0c8a11", "/home/mira/boat")


def test_a_summary_replaces_what_came_before_it_which_is_kept() -> None:
    transcript = lifted("session-compacted.jsonl")
    summary = next(message for message in transcript.messages if message.replaces)
    assert (summary.replaces, summary.parent_id) == ("all", ID.format(3))
    assert transcript.head is None
    again = next(one for one in CODE.lower(transcript) if one.get("isCompactSummary"))
    assert (again["parentUuid"], again["logicalParentUuid"]) == (None, ID.format(3))


@pytest.mark.parametrize(
    ("kinds", "title"),
    [((), "How deep is it?"), (("custom-title",), "Harbour and bay"), (("custom-title", "ai-title"), "Depths")],
)
def test_the_title_is_the_one_that_the_program_displays(kinds: tuple[str, ...], title: str) -> None:
    document = Rows([one for one in sample("session-compacted.jsonl") if one["type"] not in kinds])
    found = CODE.lift(document).title
    assert str(found).startswith(title)


def test_the_last_request_shape_or_else_a_snapshot_states_prompt_and_tools() -> None:
    transcript = lifted("session-prompts.jsonl")
    assert [part.text for part in transcript.messages[0].parts] == ["You help with boats.", "Be brief."]  # type: ignore[union-attr]
    assert [tool.name for tool in transcript.tools or ()] == ["Read", "Bash"]
    without = Rows([one for one in sample("session-prompts.jsonl") if one["type"] != "api-request-shape"])
    assert [tool.name for tool in CODE.lift(without).tools or ()] == ["Read"]


def test_values_that_most_rows_share_are_kept_once_and_by_each_row_that_differs() -> None:
    transcript = lifted("session-blocks.jsonl")
    assert transcript.extras == {"claude-code": {"session": {"version": "2.1.62", "gitBranch": "main"}}}
    extra = [(message.extras or {}).get("claude-code", {}).get("row", {}) for message in turns(transcript)]
    assert [one.get("gitBranch") for one in extra][-3:] == ["drawing"] * 3


def test_a_queued_message_is_a_user_message() -> None:
    transcript = lifted("session-blocks.jsonl")
    queued = next(message for message in transcript.messages if message.id == ID.format(14))
    assert (queued.role, queued.parts) == ("user", [Text("In blue.")])
    again = next(one for one in CODE.lower(transcript) if one.get("uuid") == ID.format(14))
    assert again["attachment"] == {"type": "queued_command", "commandMode": "prompt", "prompt": "In blue."}
    assert (again["type"], "message" in again) == ("attachment", False)
    losses = pipeline.convert(sample("session-blocks.jsonl"), CODE, CHAT).losses
    assert [loss.where for loss in losses if loss.field == "message.id"].count("/12/uuid") == 1


# ---------------------------------------------------------------- writing


def conversation() -> list[Message]:
    call = ToolCall("call_1", "read", {"path": "a.txt"})
    return [
        Message("system", [Text("Be brief.")]),
        Message("user", [Text("Read a.txt.")]),
        Message("assistant", [Reasoning("I read."), call], created_at="2026-02-03T09:00:00Z"),
        Message("tool", [ToolResult("call_1", "read", "data", {"lines": 2})]),
        Message("user", [Text("Thanks.")]),
    ]


def test_what_a_session_requires_is_invented_and_reported() -> None:
    conversion = written(*conversation())
    rows = conversion.document
    assert [one["type"] for one in rows] == ["user", "assistant", "user", "api-request-shape"]
    assert [one["parentUuid"] for one in rows[:3]] == [None, rows[0]["uuid"], rows[1]["uuid"]]
    assert {one["sessionId"] for one in rows} == {conversion.document[0]["sessionId"]}
    assert [one["timestamp"] for one in rows[:3]] == ["2026-02-03T09:00:00Z"] * 3
    invented = {loss.field for loss in conversion.losses if loss.kind == "invented"}
    assert invented == {"id", "message.id", "message.parentId", "message.createdAt"}
    assert written(*conversation()).document == rows


def test_results_are_in_one_row_with_the_text_after_them() -> None:
    blocks = written(*conversation()).document[2]["message"]["content"]
    assert [(block["type"], block.get("content", block.get("text"))) for block in blocks] == [
        ("tool_result", '{"lines":2}'),
        ("text", "Thanks."),
    ]


def test_unsigned_thinking_is_dropped_and_reported() -> None:
    losses = [loss for loss in written(*conversation()).losses if loss.field == "reasoning"]
    assert [(loss.where, loss.kind) for loss in losses] == [("/messages/2/parts/0", "dropped")]


def test_the_reason_of_what_is_bound_to_a_part_is_not_that_of_the_part() -> None:
    call = ToolCall("call_1", "read", {}, metadata={"itemId": "fc_1"})
    text = Text("Hi.", metadata={"itemId": "msg_1"})
    losses = written(Message("user", [Text("Hi.")]), Message("assistant", [text, call])).losses
    assert {loss.why for loss in losses if "metadata" in loss.field} == {"only thinking has an Anthropic signature"}


@pytest.mark.parametrize(
    ("given", "ids"),
    [(["c", "c"], ["c", "c-2"]), (["c", "c_2"], ["c", "c-2"]), (["c_1", "c_2"], ["c_1", "c_2"])],
)
def test_no_call_has_the_id_of_an_entry_of_another(given: list[str], ids: list[str]) -> None:
    messages = [Message("user", [Text("Hi.")])]
    for id_ in given:
        messages += [
            Message("assistant", [ToolCall(id_, "f", {})]),
            Message("tool", [ToolResult(id_, "f", "text", "1")]),
        ]
    after = dialects.get("claude-code").lift(written(*messages).document)
    assert [part.id for part in parts(after, "tool_call")] == ids
    assert [part.tool_call_id for part in parts(after, "tool_result")] == ids


def test_keys_of_other_dialects_go_nowhere_into_a_session() -> None:
    message = Message("user", [Text("Hi.", extras={"elsewhere": {"key": 1}})], extras={"elsewhere": {"key": 2}})
    event = Message("event", [Opaque("elsewhere", {"type": "row"})])
    assert "key" not in str(written(message, event).document)


def test_of_branches_that_the_program_would_not_show_only_the_active_one_is_written() -> None:
    first = Message("user", [Text("One?")], id="a")
    active, left = (Message("assistant", [Text(one)], id=one, parent_id="a") for one in "bc")
    conversion = written(first, active, left, head="b")
    assert [one["uuid"] for one in conversion.document] == ["a", "b"]
    assert "branch" in {loss.field for loss in conversion.losses}
    assert [one["uuid"] for one in written(first, active, left, head="c").document] == ["a", "b", "c"]


def test_a_subagent_run_is_written_outside_the_main_path() -> None:
    run = [Message(role, [Text("x")], parent_call_id="call_1") for role in ("user", "assistant")]
    rows = written(*conversation()[1:3], *run, *conversation()[3:]).document
    asides = [(one.get("parent_tool_use_id"), one["isSidechain"]) for one in rows]
    assert asides == [*[(None, False)] * 3, *[("call_1", True)] * 2, (None, False)]
    assert (rows[3]["parentUuid"], rows[5]["parentUuid"]) == (None, rows[2]["uuid"])


def test_a_session_without_a_turn_is_written_and_read() -> None:
    assert written().document == []
    assert CODE.lift(written(title="Nothing yet").document).title == "Nothing yet"


def test_a_session_is_in_the_folder_of_its_directory() -> None:
    (program,) = CODE.programs
    assert program.place is not None
    assert program.place(SessionFacts("an-id", "/home/mira/my.boat", "")) == "projects/-home-mira-my-boat/an-id.jsonl"
    long = program.place(SessionFacts("an-id", "/" + "deep/" * 60, ""))
    assert long == f"projects/{('-deep' * 40)}-69qce8/an-id.jsonl"


# ---------------------------------------------------------------- detection


@pytest.mark.parametrize(
    ("rows", "strength"),
    [
        ([row(1, None, "Hi.")], 98),
        ([{"type": "system", "subtype": "init", "session_id": "s"}], 97),
        ([{"type": "user", "sessionId": "s", "message": {"content": "Hi."}}], 95),
        ([{"type": "user", "message": {"content": "Hi."}}], 85),
        ([{"type": "summary", "summary": "x", "leafUuid": "y"}], 80),
    ],
)
def test_a_session_is_known_by_its_rows(rows: list[Any], strength: int) -> None:
    match = detection.evidence(Rows(rows), CODE)
    assert match is not None
    assert match.strength == strength
    assert detection.detect(Rows(rows)).dialect == "claude-code"


@pytest.mark.parametrize("row", [{"type": ["user"]}, {"type": {}, "message": []}, {"type": "user", "message": 1}, 7])
def test_rows_of_no_kind_are_no_session(row: Any) -> None:
    assert detection.evidence(Rows([row]), CODE) is None
    assert detection.evidence({"loglines": row}, CODE) is None


def test_rows_with_the_parts_of_another_program_are_not_taken_for_a_session() -> None:
    qwen = [{"type": "user", "parentUuid": None, "sessionId": "s", "message": {"role": "user", "parts": []}}]
    qwen.append({"type": "system", "subtype": "ui_telemetry", "parentUuid": "x"})
    assert detection.evidence(Rows(qwen), CODE) is None
    assert detection.detect(Rows(qwen)).dialect == "qwen-code"


def test_a_session_value_is_lost_where_a_row_first_states_it() -> None:
    rows = [
        row(0, None, "Hi."),
        row(1, 0, "Hello.", "assistant", slug="quiet-river"),
        row(2, 1, "Bye.", slug="quiet-river"),
    ]
    claude_code, other = dialects.get("claude-code"), dialects.get("openai-chat")
    losses = pipeline.convert(Rows(rows, [1, 2, 3]), claude_code, other).losses
    assert [loss.where for loss in losses if loss.field.endswith(".slug")] == ["/1/slug"]


def test_the_file_next_to_that_of_a_subagent_names_its_call(tmp_path: Path) -> None:
    rows = [
        {
            "type": "user",
            "uuid": "u1",
            "parentUuid": None,
            "isSidechain": True,
            "message": {"role": "user", "content": "Look."},
        }
    ]
    path = tmp_path / "agent-a1.jsonl"
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    agent_file = {"toolUseId": "toolu_1", "agentType": "Explore", "description": "Look around"}
    (tmp_path / "agent-a1.meta.json").write_text(json.dumps(agent_file))
    [document] = inputs.documents(str(path))
    transcript = document.lift()
    assert [message.parent_call_id for message in transcript.messages] == ["toolu_1"]
    assert transcript.title == "Look around"
    assert transcript.extras is not None
    assert transcript.extras["claude-code"]["agent"] == agent_file
    same = document.convert(CODE, Options())
    assert same.document == rows
    stored = document.convert(dialects.get("intermediate"), Options())
    assert pipeline.convert(stored.document, dialects.get("intermediate"), CODE).document == rows
