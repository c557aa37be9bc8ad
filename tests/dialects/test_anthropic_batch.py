"""Lines of Anthropic batches: requests, results with responses, and results without."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.engine import detection, pipeline
from convcli.model.errors import ContentError
from convcli.model.transcript import Message, Text, Transcript
from tests.support import samples_of

BATCH, CLAUDE = dialects.get("anthropic-batch"), dialects.get("anthropic")


def sample(name: str) -> Any:
    return next(sample.document for sample in samples_of("anthropic-batch") if sample.path.name == name)


def lifted(name: str) -> Transcript:
    return BATCH.lift(sample(name))


def written(transcript: Transcript) -> Any:
    return pipeline.lower(transcript, BATCH).document


@pytest.mark.parametrize(("name", "steps"), [("twin-weather.json", ["params"]), ("result.json", ["result", "message"])])
def test_the_body_is_read_as_a_document_of_the_messages_api(name: str, steps: list[str]) -> None:
    body = sample(name)
    for step in steps:
        body = body[step]
    assert lifted(name).messages == CLAUDE.lift(body).messages
    assert lifted(name).model == CLAUDE.lift(body).model


def test_the_id_of_a_response_comes_back_with_that_of_its_line() -> None:
    transcript = lifted("result.json")
    assert transcript.id == "r-1"
    transcript.id = "r-9"
    document = written(transcript)
    assert (document["custom_id"], document["result"]["message"]["id"]) == ("r-9", "msg_1")


@pytest.mark.parametrize(
    ("name", "words"),
    [("errored.json", "max_tokens: field required"), ("expired.json", "expired"), ("canceled.json", "canceled")],
)
def test_a_result_without_a_message_is_an_answer_that_failed(name: str, words: str) -> None:
    assert lifted(name).messages == [Message("assistant", [], stop_reason="error", error=words)]


def test_a_failure_of_another_dialect_is_an_errored_result() -> None:
    failure = Transcript([Message("assistant", [], stop_reason="error", error="Slow down.")], id="r-1")
    assert written(failure) == {
        "custom_id": "r-1",
        "result": {
            "type": "errored",
            "error": {"type": "error", "error": {"type": "api_error", "message": "Slow down."}},
        },
    }


@pytest.mark.parametrize("id_", ["row 7", "x" * 65, "行", ""])
def test_an_id_that_the_service_rejects_is_derived_from_the_content(id_: str) -> None:
    conversion = pipeline.lower(Transcript([Message("user", [Text("Hi.")])], id=id_), BATCH)
    assert len(conversion.document["custom_id"]) == 36
    assert [loss.field for loss in conversion.losses if loss.field == "id"] == ["id"]
    assert pipeline.validate(conversion.document, BATCH) == []


def test_losses_point_into_the_body() -> None:
    losses = pipeline.convert(sample("result.json"), BATCH, dialects.get("hf-chat")).losses
    places = {loss.field: loss.where for loss in losses}
    assert places["id"] == "/custom_id"
    assert places["extras.anthropic-batch.bodyId"] == "/result/message/id"


def test_the_body_that_makes_a_batch_is_named() -> None:
    document = {"requests": [sample("unusual.json")]}
    with pytest.raises(ContentError) as caught:
        detection.detect(document)
    assert "--at '/requests/*'" in caught.value.help
    assert detection.detect(document["requests"][0]).dialect == "anthropic-batch"


@pytest.mark.parametrize("document", [{"custom_id": "r"}, {"params": {}}, {"custom_id": "r", "result": "x"}, []])
def test_other_lines_are_none_of_a_batch(document: Any) -> None:
    assert detection.evidence(document, BATCH) is None
