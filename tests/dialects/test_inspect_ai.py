"""Inspect: attachments, keys outside of messages, failures, and samples of logs and archives."""

from __future__ import annotations

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from convcli import dialects
from convcli.dialects.inspect_ai import DIALECT
from convcli.engine import detection, pipeline
from convcli.jobs.documents import Document
from convcli.jobs.inputs import opened
from convcli.model.dialect import Options
from convcli.model.transcript import (
    Media,
    Message,
    Opaque,
    Part,
    Reasoning,
    Refusal,
    Text,
    ToolCall,
    ToolDefinition,
    ToolResult,
    Transcript,
)
from tests.support import samples_of

NAME = "inspect-ai"
CALL = {"id": "c1", "function": "f", "arguments": {"n": 1}, "type": "function"}


def sample(name: str) -> Any:
    return next(sample.document for sample in samples_of(NAME) if sample.path.name == name)


def parts(*blocks: Any) -> list[Part]:
    return DIALECT.lift([{"role": "user", "content": list(blocks)}]).messages[0].parts


def result(**native: Any) -> ToolResult:
    (part,) = DIALECT.lift([{"role": "tool", "tool_call_id": "c1", "function": "f", **native}]).messages[0].parts
    assert isinstance(part, ToolResult)
    return part


def written(*messages: Message, **options: Any) -> tuple[Any, set[str]]:
    conversion = pipeline.lower(Transcript(list(messages)), DIALECT, Options(**options))
    return conversion.document, {f"{loss.kind} {loss.field}" for loss in conversion.losses}


# ---------------------------------------------------------------- samples


def test_attachments_are_read_in_their_places_and_those_that_are_missing_stay_references() -> None:
    system, user, *_ = DIALECT.lift(sample("sample.json")).messages
    assert system.parts == [Text("Be brief.")]
    _, image, missing = user.parts
    assert isinstance(image, Media)
    assert isinstance(missing, Media)
    assert (image.media_type, (image.data or "")[:4], missing.url) == ("image/png", "iVBO", "attachment://none")


def test_a_sample_with_attachments_comes_back_as_it_was_and_is_read_alike_when_it_is_written_anew() -> None:
    document = sample("sample.json")
    transcript = DIALECT.lift(document)
    again = DIALECT.lower(transcript, Options(form="sample"))
    assert again["messages"][0]["content"] == "Be brief."
    assert DIALECT.lift(again) == transcript


def test_counts_stop_reasons_and_models_of_answers_are_read_from_events_and_output() -> None:
    called, last = (one for one in DIALECT.lift(sample("sample.json")).messages if one.role == "assistant")
    assert (called.stop_reason, called.model) == ("tool_calls", "deep-1")
    assert called.usage == {"inputTokens": 10, "outputTokens": 5, "totalTokens": 15}
    assert (last.stop_reason, (last.usage or {})["cacheReadTokens"]) == ("length", 8)


def test_the_output_is_that_of_the_last_answer_where_messages_have_no_ids() -> None:
    answer = DIALECT.lift(sample("older.json")).messages[-1]
    assert (answer.stop_reason, answer.model, (answer.usage or {})["totalTokens"]) == ("stop", "llama", 8)


def test_an_output_is_of_no_other_answer() -> None:
    document = sample("older.json")
    answer = DIALECT.lift({**document, "messages": [{**one, "id": "x"} for one in document["messages"]]}).messages[-1]
    assert (answer.stop_reason, answer.usage) == (None, None)


def test_tools_and_the_choice_are_those_of_the_last_call_of_a_model() -> None:
    transcript = DIALECT.lift(sample("sample.json"))
    parameters = {"type": "object", "properties": {"of": {"type": "string"}}, "required": ["of"]}
    assert transcript.tools == [ToolDefinition("depth", "How deep something is.", parameters)]
    assert transcript.tool_choice == "required"


def test_a_sample_has_its_id_and_times() -> None:
    transcript = DIALECT.lift(sample("sample.json"))
    assert (transcript.id, transcript.created_at) == ("E4WmpJUesqig", "2026-01-02T10:00:00+00:00")


# ---------------------------------------------------------------- messages


def test_the_text_of_a_failure_is_in_its_error() -> None:
    failed = result(content="", error={"type": "timeout", "message": "too slow"})
    assert (failed.kind, failed.value) == ("error", "too slow")
    assert (result(content="5").kind, result(content="5").value) == ("text", "5")


def test_blocks_are_parts_and_what_a_service_did_itself_is_kept() -> None:
    thought, blob, text, refusal, server = DIALECT.lift(sample("blocks.json")).messages[1].parts
    assert thought == Reasoning("Look first.", ["Looking."], {"signature": "c2ln"})
    assert blob == Reasoning("", None, {"redactedData": "QUJD"})
    assert (type(text), refusal, type(server)) == (Text, Refusal("No more."), Opaque)


@pytest.mark.parametrize(
    ("block", "media"),
    [
        ({"type": "image", "image": "https://a.example/x"}, Media("image", url="https://a.example/x")),
        ({"type": "image", "image": "x/y.png"}, Media("image", path="x/y.png")),
        ({"type": "audio", "audio": "x.wav", "format": "wav"}, Media("audio", path="x.wav", media_type="audio/wav")),
        (
            {"type": "video", "video": "data:video/mp4;base64,QQ==", "format": "mp4"},
            Media("video", data="QQ==", media_type="video/mp4"),
        ),
        ({"type": "document", "document": "x.pdf", "filename": "x"}, Media("document", path="x.pdf", name="x")),
    ],
)
def test_media_are_an_address_a_path_or_data(block: Any, media: Media) -> None:
    assert parts(block) == [media]
    document, losses = written(Message("user", [media]))
    assert (document[0]["content"], losses) == ([block], set())


def test_media_of_a_format_that_inspect_does_not_take_are_lost() -> None:
    flac = Media("audio", data="QQ==", media_type="audio/flac")
    document, losses = written(Message("user", [Text("Listen."), flac]))
    assert (document[0]["content"], losses) == ("Listen.", {"dropped audio"})


def test_calls_stand_behind_the_content_and_custom_tools_keep_their_type() -> None:
    document = [{"role": "assistant", "content": "", "tool_calls": [CALL, {**CALL, "id": "c2", "type": "custom"}]}]
    assert [part.id for part in DIALECT.lift(document).messages[0].parts if isinstance(part, ToolCall)] == ["c1", "c2"]
    assert DIALECT.lower(DIALECT.lift(document)) == document


def test_data_is_written_as_json_and_a_failure_with_its_data_as_an_error() -> None:
    call = Message("assistant", [ToolCall("c1", "f", {})])
    (_, native), losses = written(call, Message("tool", [ToolResult("c1", "f", "data", {"n": 1}, True)]))
    assert native["error"] == {"type": "unknown", "message": '{"n":1}'}
    assert losses == {"changed tool_result.kind"}


def test_messages_are_written_and_a_sample_only_where_it_was_one_or_is_asked_for() -> None:
    chat = {"model": "m", "messages": [{"role": "user", "content": "Hi."}]}
    assert pipeline.convert(chat, dialects.get("openai-chat"), DIALECT).document == [{"content": "Hi.", "role": "user"}]
    document, _ = written(Message("user", [Text("Hi.")]), form="sample")
    assert {"id", "epoch", "input", "target", "messages"} == document.keys()


# ---------------------------------------------------------------- files


@pytest.mark.parametrize(
    "document",
    [
        {"version": 2, "eval": {"task": "t"}, "samples": []},
        {"id": 1, "epoch": 1, "messages": []},
        [{"role": "assistant", "content": "", "tool_calls": [CALL]}],
        [{"role": "tool", "content": "1", "tool_call_id": "c1", "function": "f"}],
        [{"role": "user", "id": "u", "content": "Hi.", "source": "input"}],
    ],
)
def test_logs_samples_and_messages_are_recognised(document: Any) -> None:
    assert detection.detect(document).dialect == NAME


def archive(*documents: Any) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as made:
        made.writestr("header.json", '{"version": 2}')
        for number, document in enumerate(documents):
            made.writestr(f"samples/{number}_epoch_1.json", json.dumps(document))
    return file.getvalue()


def test_a_log_and_an_archive_hold_the_same_samples(tmp_path: Path) -> None:
    both = [sample("sample.json"), sample("older.json")]
    log = {"version": 2, "status": "success", "eval": {"task": "t"}, "samples": both}
    (tmp_path / "a.json").write_text(json.dumps(log), "utf-8")
    (tmp_path / "a.eval").write_bytes(archive(*both))
    found = []
    for name in ("a.json", "a.eval"):
        with opened(str(tmp_path / name)) as source:
            items = [item for item in source if isinstance(item, Document)]
            found.append([(item.dialect.name, item.lift()) for item in items])
    assert found[0] == found[1] == [(NAME, DIALECT.lift(one)) for one in both]


def test_a_line_without_samples_in_a_file_of_logs_is_reported(tmp_path: Path) -> None:
    log = {"eval": {"task": "t"}, "plan": {}, "samples": [sample("older.json")]}
    path = tmp_path / "a.jsonl"
    path.write_text(f"{json.dumps(log)}\n{json.dumps({'eval': {}, 'plan': {}})}\n", "utf-8")
    with opened(str(path)) as source:
        first, second = source
    assert isinstance(first, Document)
    assert not isinstance(second, Document)
    assert (second.error.code, second.error.line) == ("empty-input", 2)
