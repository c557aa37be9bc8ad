"""Google AI Studio: chunks that are parts, thoughts with their signatures, files in Drive, and drafts."""

from __future__ import annotations

from typing import Any

import pytest

from convcli.dialects.aistudio import DIALECT
from convcli.engine import detection, pipeline
from convcli.model.transcript import Media, Message, Opaque, Part, Reasoning, Text, ToolCall, ToolResult, Transcript


def prompt(*chunks: Any, **more: Any) -> dict[str, Any]:
    return {"chunkedPrompt": {"chunks": list(chunks)}, **more}


def model(**chunk: Any) -> dict[str, Any]:
    return {"role": "model", **chunk}


def lifted(*chunks: Any) -> list[Message]:
    return DIALECT.lift(prompt(*chunks)).messages


def written(*messages: Message) -> tuple[list[Any], set[str]]:
    conversion = pipeline.lower(Transcript(list(messages)), DIALECT)
    return conversion.document["chunkedPrompt"]["chunks"], {f"{one.kind} {one.field}" for one in conversion.losses}


@pytest.mark.parametrize(
    ("chunk", "part"),
    [
        ({"text": "Hi."}, Text("Hi.")),
        ({"driveImage": {"id": "d"}}, Media("image", file_id="d")),
        ({"driveDocument": {"id": "d"}}, Media("document", file_id="d")),
        ({"inlineImage": {"mimeType": "image/png", "data": "aGk="}}, Media("image", "aGk=", media_type="image/png")),
        ({"inlineFile": {"mimeType": "audio/wav", "data": "aGk="}}, Media("audio", "aGk=", media_type="audio/wav")),
        ({"youtubeVideo": {"id": "v"}}, Media("video", url="https://www.youtube.com/watch?v=v")),
    ],
)
def test_a_chunk_of_the_user_is_read_and_written(chunk: Any, part: Part) -> None:
    native = {"role": "user", **chunk}
    assert lifted(native) == [Message("user", [part])]
    assert written(Message("user", [part])) == ([native], set())


def test_chunks_of_a_role_are_one_message_until_it_ends() -> None:
    chunks = [model(text="Hm.", isThought=True), model(text="Hi.", finishReason="STOP"), model(text="Ho.")]
    assert lifted(*chunks) == [
        Message("assistant", [Reasoning("Hm."), Text("Hi.")], stop_reason="stop"),
        Message("assistant", [Text("Ho.")]),
    ]


@pytest.mark.parametrize(
    ("parts", "kept"),
    [
        ([{"text": "A "}, {"text": "b."}], None),
        ([{"text": "A "}], None),
        ([{"text": "C."}], [{"text": "C."}]),
        ([{"text": "A b.", "thought": True}], [{"text": "A b.", "thought": True}]),
        ([{"text": "A b.", "inlineData": {}}], [{"text": "A b.", "inlineData": {}}]),
    ],
)
def test_parts_that_repeat_the_text_are_no_fact(parts: Any, kept: Any) -> None:
    (message,) = lifted(model(text="A b.", parts=parts))
    assert message.parts == [Text("A b.", extras=None if kept is None else {"aistudio": {"parts": kept}})]


def test_the_signature_of_a_thought_is_in_its_parts() -> None:
    thought = Reasoning("Hm.", metadata={"thoughtSignature": "s"})
    chunk = model(text="Hm.", isThought=True, parts=[{"text": "Hm.", "thought": True, "thoughtSignature": "s"}])
    assert lifted(chunk) == [Message("assistant", [thought])]
    assert written(Message("assistant", [thought])) == ([chunk], set())


def test_a_result_is_paired_with_its_call_by_name() -> None:
    call = {"role": "model", "functionCall": {"name": "f", "args": {"n": 1}}}
    answer = {"role": "user", "functionResponse": {"name": "f", "response": {"error": "no"}}}
    assert [message.parts for message in lifted(call, answer)] == [
        [ToolCall("call_1", "f", {"n": 1})],
        [ToolResult("call_1", "f", "error", "no")],
    ]


def test_code_is_kept_opaque_and_an_error_is_that_of_its_answer() -> None:
    code = {"executableCode": {"language": "PYTHON", "code": "1"}}
    assert lifted(model(**code)) == [Message("assistant", [Opaque("aistudio", code)])]
    assert lifted(model(text="", errorMessage="Down.")) == [Message("assistant", [], error="Down.")]


def test_the_instruction_the_model_and_the_settings_are_read() -> None:
    run = {"model": "models/gemini", "temperature": 0.5, "thinkingBudget": 9, "googleSearch": {}}
    document = prompt({"role": "user", "text": "Hi."}, runSettings=run, systemInstruction={"text": "Be brief."})
    transcript = DIALECT.lift(document)
    assert transcript.messages[0] == Message("system", [Text("Be brief.")])
    assert (transcript.model, transcript.settings) == ("gemini", {"temperature": 0.5, "reasoningBudget": 9})
    assert DIALECT.lower(transcript)["runSettings"]["model"] == "models/gemini"


def test_an_empty_draft_is_no_fact() -> None:
    draft = {"text": "And now?", "role": "user"}
    document = prompt({"role": "user", "text": "Hi."}, pendingInputs=[draft])
    assert DIALECT.lift(document).extras == {"aistudio": {"pendingInputs": [draft]}}
    assert DIALECT.lift({**document, "pendingInputs": [{"text": "", "role": "user"}]}).extras is None


def test_a_prompt_is_detected() -> None:
    assert detection.detect(prompt({"role": "user", "text": "Hi."})).dialect == "aistudio"
