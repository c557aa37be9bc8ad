"""Cline and Roo Code: tasks, sessions, compactions, what other dialects receive, and what Cline accepts from them."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects, testing
from convcli.engine import detection, pipeline
from convcli.model.dialect import Options
from convcli.model.errors import ContentError
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
from convcli.validation import schemas
from tests.support import samples_of

CLINE, HUB = dialects.get("cline"), dialects.get("intermediate")


def sample(name: str) -> Any:
    return next(sample.document for sample in samples_of("cline") if sample.path.name == name)


def lifted(name: str) -> Transcript:
    return CLINE.lift(sample(name))


def parts(transcript: Transcript, kind: str) -> list[Any]:
    return [part for message in transcript.messages for part in message.parts if part.type == kind]


def written(*messages: Message, form: str = "task", **fields: Any) -> pipeline.Conversion:
    conversion = pipeline.lower(Transcript(list(messages), **fields), CLINE, Options(form=form))
    assert schemas.findings("cline", conversion.document) == []
    return conversion


def fields_of(conversion: pipeline.Conversion) -> set[str]:
    return {loss.field for loss in conversion.losses}


# ---------------------------------------------------------------- reading


def test_a_turn_of_a_task_has_time_model_provider_counts_and_cost() -> None:
    answer = lifted("chat.json").messages[1]
    assert answer.created_at == "2026-01-01T10:00:04.250Z"
    assert (answer.id, answer.model, answer.provider) == ("gen-1", "tide-large", "openrouter")
    assert answer.usage == {"inputTokens": 5120, "outputTokens": 48}
    assert answer.cost == 0.0161
    extra = {"modelInfo": {"mode": "plan"}, "metrics": {"tokens": {"cached": 0}}}
    assert answer.extras == {"cline": extra}


def test_a_cost_of_nothing_is_a_cost_and_no_cost_is_none() -> None:
    assert lifted("media-and-unknown-keys.json").messages[2].cost == 0
    assert lifted("chat.json").messages[5].cost is None


def test_a_turn_of_a_session_counts_what_went_through_the_cache_among_the_input() -> None:
    answer = lifted("session.json").messages[2]
    counts = {"inputTokens": 900, "outputTokens": 30, "cacheReadTokens": 640, "cacheWriteTokens": 128}
    assert answer.usage == counts
    assert (answer.model, answer.provider, answer.cost) == ("kelp-1", "openai-compatible", 0.002)


def test_a_session_has_an_id_a_time_and_a_system_prompt() -> None:
    session = lifted("session.json")
    assert (session.id, session.updated_at) == ("1767780000000_kelpa", "2026-01-07T10:00:09.100Z")
    assert session.messages[0] == Message("system", [Text("You help divers.")])


def test_a_list_of_values_is_data_whatever_it_states_about_success() -> None:
    results = parts(lifted("session.json"), "tool_result")
    assert [(result.name, result.kind, result.is_error) for result in results] == [
        ("run_commands", "data", None),
        ("read_files", "data", None),
        ("dive", "error", None),
    ]
    assert results[1].value[0]["success"] is False


def test_a_list_of_blocks_is_a_text_or_several_parts() -> None:
    results = parts(lifted("tools.json"), "tool_result")
    assert [result.kind for result in results] == ["text", "multimodal", "error", "text"]
    assert [part.type for part in results[1].value] == ["text", "image"]


@pytest.mark.parametrize("kind", [{}, [], 5, None])
def test_a_type_that_is_no_word_makes_no_block(kind: Any) -> None:
    result = {"type": "tool_result", "tool_use_id": "a", "content": [{"type": kind}]}
    part = CLINE.lift([{"role": "user", "content": [result]}]).messages[0].parts[0]
    assert isinstance(part, ToolResult)
    assert (part.kind, part.value) == ("data", [{"type": kind}])


@pytest.mark.parametrize("name", ["condensed.json", "compaction.json", "compaction-of-turns.json"])
def test_a_summary_replaces_all_before_it(name: str) -> None:
    summaries = [message for message in lifted(name).messages if message.replaces is not None]
    assert [message.replaces for message in summaries] == ["all"]


def test_a_truncation_hides_turns_in_the_middle_and_replaces_nothing() -> None:
    marker = lifted("condensed.json").messages[-2]
    assert marker.replaces is None
    assert marker.extras == {"cline": {"isTruncationMarker": True, "truncationId": "t2"}}


def test_signatures_of_gemini_on_texts_and_calls_are_thought_signatures() -> None:
    answer = lifted("tools.json").messages[1]
    assert [part.metadata for part in answer.parts[:2]] == [
        {"thoughtSignature": "CiQBlamp"},
        {"thoughtSignature": "CiQBcall"},
    ]


def test_thinking_needs_no_signature() -> None:
    thoughts = parts(lifted("thinking.json"), "reasoning")
    assert [thought.metadata for thought in thoughts] == [
        {"redactedData": "EmwKAhgB"},
        {"signature": "EqQBferry"},
        None,
    ]


def test_reasoning_of_roo_between_messages_is_an_event() -> None:
    events = [message for message in lifted("media-and-unknown-keys.json").messages if message.role == "event"]
    assert [type(part) for event in events for part in event.parts] == [Opaque]


def test_an_image_of_a_session_has_its_data_in_the_block() -> None:
    (image,) = parts(lifted("session.json"), "image")
    assert image.media_type == "image/png"
    assert image.data.startswith("iVBOR")


@pytest.mark.parametrize("time", [10**15, -(10**15)])
def test_a_time_that_no_calendar_has_is_kept(time: int) -> None:
    message = CLINE.lift([{"role": "user", "content": "Hi.", "ts": time}]).messages[0]
    assert (message.created_at, message.extras) == (None, {"cline": {"ts": time}})


# ---------------------------------------------------------------- detection


def test_a_bare_list_of_messages_is_anthropics() -> None:
    call = {"type": "tool_use", "id": "a", "name": "f", "input": {}}
    document = [{"role": "user", "content": "Go."}, {"role": "assistant", "id": "msg_1", "content": [call]}]
    assert detection.detect(document).dialect == "anthropic"
    assert detection.detect([*document[:1], {**document[1], "ts": 1767261600000}]).dialect == "cline"


@pytest.mark.parametrize("mark", [{"ts": 12}, {"ts": "2026-01-01"}, {"modelInfo": "m"}, {"metrics": {"seconds": 1}}])
def test_other_times_and_models_are_no_evidence(mark: dict[str, Any]) -> None:
    assert detection.evidence([{"role": "user", "content": "Hi.", **mark}], CLINE) is None


def test_a_manifest_is_no_session() -> None:
    manifest = {"version": 1, "session_id": "s", "agent": "lead", "sessionId": "s", "messages_path": "m.json"}
    with pytest.raises(ContentError):
        detection.detect(manifest)


# ---------------------------------------------------------------- writing


def test_results_and_the_user_text_after_them_are_one_message() -> None:
    calls: list[Any] = [ToolCall("a", "f", {}), ToolCall("b", "f", {})]
    results = [Message("tool", [ToolResult(id_, "f", "text", "ok")]) for id_ in ("a", "b")]
    document = written(Message("assistant", calls), *results, Message("user", [Text("Go on.")])).document
    assert [[block["type"] for block in message["content"]] for message in document] == [
        ["tool_use", "tool_use"],
        ["tool_result", "tool_result", "text"],
    ]
    assert "name" not in document[1]["content"][0]


def test_a_result_with_a_time_of_its_own_is_a_message_of_its_own() -> None:
    result = Message("tool", [ToolResult("a", "f", "text", "ok")])
    later = Message("tool", [ToolResult("b", "f", "text", "ok")], created_at="2026-01-01T00:00:00Z")
    document = written(Message("assistant", [ToolCall("a", "f", {}), ToolCall("b", "f", {})]), result, later).document
    assert [message.get("ts") for message in document] == [None, None, 1767225600000]


def test_nothing_is_invented_for_a_task() -> None:
    conversion = written(Message("user", [Text("Hi.")]), Message("assistant", [Text("Ho.")]))
    text = [{"type": "text", "text": "Hi."}]
    assert conversion.document[0] == {"role": "user", "content": text}
    assert conversion.losses == []


def test_every_answer_names_the_model_of_the_whole() -> None:
    document = written(Message("user", [Text("Hi.")]), Message("assistant", [Text("Ho.")]), model="m-1").document
    assert [message.get("modelInfo") for message in document] == [None, {"modelId": "m-1"}]


def test_only_a_session_stores_instructions() -> None:
    messages = Message("system", [Text("Be brief.")]), Message("user", [Text("Hi.")])
    task, session = written(*messages), written(*messages, form="session")
    assert [message["role"] for message in task.document] == ["user"]
    assert "message" in fields_of(task)
    assert session.document["system_prompt"] == "Be brief."
    assert fields_of(session) == {"extras.cline.version"}


def test_a_session_names_tools_and_has_its_own_keys() -> None:
    answer = Message("assistant", [ToolCall("a", "f", {})], model="m-1", provider="p-1", usage={"cacheReadTokens": 3})
    image = Message("user", [Media("image", data="iVBORw0KGgo=", media_type="image/png")], replaces="all")
    result = Message("tool", [ToolResult("a", "f", "data", [{"query": "x"}])])
    summary, asked, answered = written(image, answer, result, form="session", id="s-1").document["messages"]
    assert summary["metadata"] == {"kind": "compaction_summary"}
    assert summary["content"] == [{"type": "image", "data": "iVBORw0KGgo=", "mediaType": "image/png"}]
    assert asked["modelInfo"] == {"id": "m-1", "provider": "p-1"}
    assert asked["metrics"] == {"cacheReadTokens": 3}
    assert answered["content"][0]["name"] == "f"
    assert answered["content"][0]["content"] == [{"query": "x"}]


@pytest.mark.parametrize("value", [{"a": 1}, [], [{"type": "text", "text": "x"}], [{"type": "file"}, 5]])
def test_data_that_no_tool_of_the_sdk_gives_is_written_as_json(value: Any) -> None:
    call = Message("assistant", [ToolCall("a", "f", {})])
    conversion = written(call, Message("tool", [ToolResult("a", "f", "data", value)]))
    assert isinstance(conversion.document[1]["content"][0]["content"], str)
    assert fields_of(conversion) == {"tool_result.kind"}


def test_unsupported_fields_are_lost_and_reported() -> None:
    declined = Message("assistant", [Refusal("No."), Reasoning("Hm.", metadata={"itemId": "rs_1"})], stop_reason="stop")
    asked = Message("user", [Text("Hi."), Media("audio", data="AAAA"), Opaque("gemini", {"x": 1})], replaces="m-1")
    tools = [ToolDefinition("f")]
    conversion = written(asked, declined, title="T", cwd="/", tools=tools, settings={"seed": 7})
    assert [[block["type"] for block in message["content"]] for message in conversion.document] == [
        ["text"],
        ["text", "thinking"],
    ]
    lost = {"title", "cwd", "tool", "settings.seed", "audio", "opaque", "refusal", "message.replaces"}
    assert lost | {"message.stopReason", "reasoning.metadata.itemId"} <= fields_of(conversion)


def test_cache_counts_are_lost_in_a_task() -> None:
    usage = {"inputTokens": 9, "outputTokens": 1, "cacheReadTokens": 5}
    conversion = written(Message("assistant", [Text("Ho.")], usage=usage, cost=0.5))
    assert conversion.document[0]["metrics"] == {"tokens": {"prompt": 9, "completion": 1}, "cost": 0.5}
    assert fields_of(conversion) == {"message.usage.cacheReadTokens"}


# ---------------------------------------------------------------- there and back


@pytest.mark.parametrize("sample", samples_of("cline"), ids=str)
def test_a_document_comes_back_from_the_intermediate_format(sample: Any) -> None:
    testing.assert_laws(CLINE, sample.document)


def test_a_summary_without_its_mark_is_none() -> None:
    stored = pipeline.convert(sample("compaction.json"), CLINE, HUB).document
    del stored["messages"][1]["replaces"]
    back = pipeline.convert(stored, HUB, CLINE).document
    assert "kind" not in back["messages"][0]["metadata"]
    assert CLINE.lift(back).messages[1].replaces is None


def test_a_session_in_chat_completions_keeps_calls_and_results() -> None:
    document = pipeline.convert(sample("session.json"), CLINE, dialects.get("openai-chat")).document
    roles = [message["role"] for message in document["messages"]]
    assert roles == ["system", "user", "assistant", "tool", "tool", "tool", "assistant"]
