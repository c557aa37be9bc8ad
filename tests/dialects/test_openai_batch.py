"""Lines of batches of OpenAI: bodies of other dialects in requests and results, ids, and lines without an answer."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from convcli import dialects
from convcli.engine import detection, pipeline, set_keys, texts
from convcli.jobs.documents import Document, Skipped
from convcli.jobs.inputs import opened
from convcli.model.dialect import Options
from convcli.model.errors import JobError
from convcli.model.transcript import Message, Text, Transcript
from tests.support import samples_of

BATCH, CHAT, CLAUDE, HUB = (
    dialects.get(name) for name in ("openai-batch", "openai-chat", "anthropic-batch", "intermediate")
)
NAME = "openai-batch"


def sample(name: str, dialect: str = NAME) -> Any:
    return next(sample.document for sample in samples_of(dialect) if sample.path.name == name)


def lifted(name: str) -> Transcript:
    return BATCH.lift(sample(name))


def written(transcript: Transcript, form: str | None = None) -> Any:
    return pipeline.lower(transcript, BATCH, Options(form=form)).document


HI = Transcript([Message("user", [Text("Hi.")])])


@pytest.mark.parametrize(
    ("name", "inner", "path"),
    [
        ("twin-weather.json", "openai-chat", ["body"]),
        ("responses.json", "openai-responses", ["body"]),
        ("result.json", "openai-chat", ["response", "body"]),
        ("responses-result.json", "openai-responses", ["response", "body"]),
    ],
)
def test_the_body_is_read_as_a_document_of_its_dialect(name: str, inner: str, path: list[str]) -> None:
    body = sample(name)
    for step in path:
        body = body[step]
    alone, transcript = dialects.get(inner).lift(body), lifted(name)
    assert transcript.messages == alone.messages
    assert (transcript.model, transcript.tools, transcript.settings) == (alone.model, alone.tools, alone.settings)


def test_the_line_id_is_that_of_the_transcript_and_the_response_id_is_an_extra() -> None:
    transcript = lifted("result.json")
    assert (transcript.id, transcript.created_at) == ("r-1", "2026-01-01T10:00:00Z")
    assert transcript.extras is not None
    assert transcript.extras[NAME] == {
        "id": "batch_req_1",
        "response": {"request_id": "req_1"},
        "bodyId": "chatcmpl-1",
    }


def test_a_transcript_becomes_a_request_with_an_id_derived_from_its_content() -> None:
    document = written(HI)
    assert list(document) == ["custom_id", "method", "url", "body"]
    assert document["body"] == {"messages": [{"role": "user", "content": "Hi."}]}
    assert document["custom_id"] == written(HI)["custom_id"] != written(Transcript([]))["custom_id"]
    assert written(Transcript(HI.messages, id="row-1"))["custom_id"] == "row-1"


def test_the_form_selects_the_service() -> None:
    document = written(HI, "responses")
    assert document["url"] == "/v1/responses"
    assert document["body"] == {"input": [{"type": "message", "role": "user", "content": "Hi."}]}


def test_a_request_to_responses_stays_one_by_way_of_the_intermediate_format() -> None:
    stored = pipeline.convert(sample("responses.json"), BATCH, HUB).document
    stored["messages"][1]["parts"][0]["text"] = "Tide in Osaka?"
    document = pipeline.convert(stored, HUB, BATCH).document
    assert (document["url"], document["body"]["input"][0]["content"]) == ("/v1/responses", "Tide in Osaka?")


@pytest.mark.parametrize(
    ("name", "words"),
    [("expired.json", "This request could not be executed in time."), ("refused.json", "No such model.")],
)
def test_a_line_without_an_answer_is_an_answer_that_failed(name: str, words: str) -> None:
    (message,) = lifted(name).messages
    assert (message.role, message.parts, message.stop_reason, message.error) == ("assistant", [], "error", words)


def test_an_edited_failure_has_the_new_message_and_keeps_its_code() -> None:
    transcript = lifted("expired.json")
    transcript.messages[0].error = "Too late."
    assert written(transcript)["error"] == {"code": "batch_expired", "message": "Too late."}


def test_requests_and_results_go_to_the_other_service() -> None:
    request = pipeline.convert(sample("unusual.json"), BATCH, CLAUDE)
    assert request.document["params"]["messages"] == [{"role": "user", "content": "When is high tide?"}]
    assert {(loss.field, loss.where) for loss in request.losses} >= {
        ("message.name", "/body/messages/0/name"),
        ("extras.openai-batch.priority", "/priority"),
        ("extras.openai-chat.aKeyOfTheFuture", "/body/aKeyOfTheFuture"),
    }
    failed = pipeline.convert(sample("expired.json"), BATCH, CLAUDE).document
    assert failed["result"]["type"] == "errored"
    assert failed["result"]["error"]["error"]["message"] == "This request could not be executed in time."


@pytest.mark.parametrize("dialect", [BATCH, CLAUDE], ids=lambda one: one.name)
def test_batch_answers_are_not_streamed(dialect: Any) -> None:
    conversion = pipeline.lower(Transcript(HI.messages, settings={"stream": True, "temperature": 0.5}), dialect)
    assert [loss.field for loss in conversion.losses if loss.field.startswith("settings")] == ["settings.stream"]
    assert [loss.why for loss in conversion.losses if loss.field == "settings.stream"] == [
        "batches do not stream their answers"
    ]
    streamed = {**sample("unusual.json"), "body": {**sample("unusual.json")["body"], "stream": True}}
    assert [(one.code, one.where) for one in pipeline.validate(streamed, BATCH)] == [("unknown-value", "/body/stream")]


def test_rules_of_the_service_apply_to_the_body_and_are_reported_at_their_path() -> None:
    document = {**sample("unusual.json"), "body": {"model": "gpt-5", "messages": [{"role": "user", "content": None}]}}
    findings = {(finding.code, finding.where) for finding in pipeline.validate(document, BATCH, purpose="request")}
    alone = {
        (finding.code, f"/body{finding.where}")
        for finding in pipeline.validate(document["body"], CHAT, purpose="request")
    }
    assert findings == alone != set()


def test_what_the_user_sets_goes_into_the_body_unless_it_is_a_key_of_the_line() -> None:
    keys = set_keys.checked({"model": "gpt-5", "custom_id": "row-9"}, BATCH)
    document = pipeline.convert({"convcli": 1, "messages": []}, HUB, BATCH, Options(set_keys=keys)).document
    assert (document["custom_id"], document["body"]["model"]) == ("row-9", "gpt-5")
    assert "model" not in document
    with pytest.raises(JobError) as caught:
        set_keys.checked({"modle": "gpt-5"}, BATCH)
    assert caught.value.code == "unknown-key"


def test_arguments_are_written_in_the_body_as_the_user_wants_them() -> None:
    styled = pipeline.convert(sample("twin-weather.json", "intermediate"), HUB, BATCH)
    styled = texts.with_arguments(styled, HUB, BATCH, "object")
    calls = styled.document["body"]["messages"][2]["tool_calls"]
    assert calls[0]["function"]["arguments"] == {"city": "Tokyo"}


def test_a_request_without_a_conversation_does_not_stop_the_others(tmp_path: Path) -> None:
    embedding = {"custom_id": "e", "method": "POST", "url": "/v1/embeddings", "body": {"model": "e-1", "input": "hi"}}
    path = tmp_path / "requests.jsonl"
    path.write_text(
        "".join(json.dumps(one) + "\n" for one in (sample("unusual.json"), embedding, sample("responses.json")))
    )
    with opened(str(path)) as source:
        found = [one for one in source if isinstance(one, Document)]
        assert not isinstance(found[1], Skipped)
    codes = [[finding.code for finding in pipeline.validate(one.value, BATCH)] for one in found]
    assert codes == [[], ["unknown-value"], []]


@pytest.mark.parametrize(
    "document", [{"custom_id": "r"}, {"url": "u", "body": {}}, [], {"custom_id": "r", "response": {}}]
)
def test_other_lines_are_none_of_a_batch(document: Any) -> None:
    assert detection.evidence(document, BATCH) is None
