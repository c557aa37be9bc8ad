"""SillyTavern: roles, names, hidden rows, calls with their results, images, and what a new chat gets."""

from __future__ import annotations

from typing import Any

import pytest

from convcli import dialects
from convcli.dialects.sillytavern import DIALECT
from convcli.engine import detection, pipeline
from convcli.model.document import Rows
from convcli.model.transcript import Media, Message, Opaque, Reasoning, Text, ToolCall, ToolResult, Transcript

HEADER = {"user_name": "Ann", "character_name": "Aki", "chat_metadata": {}}
CALL = ToolCall("c1", "weather", {"city": "Oslo"})
CHAT = dialects.get("openai-chat")
RESULT = Message("tool", [ToolResult("c1", "weather", "text", "Rain")])


def row(mes: str, *, is_user: bool = False, name: str = "", **keys: Any) -> dict[str, Any]:
    names = {"name": name or ("Ann" if is_user else "Aki"), "is_user": is_user, "is_system": False}
    return {**names, "mes": mes, "extra": {}, **keys}


def lifted(*rows: Any) -> Transcript:
    return DIALECT.lift(Rows([HEADER, *rows]))


def written(*messages: Message, **fields: Any) -> Any:
    return pipeline.lower(Transcript(list(messages), **fields), DIALECT).document


def test_roles_are_flags_and_a_narrator_instructs() -> None:
    narrator = row("It rains.", name="System", extra={"type": "narrator"})
    messages = lifted(narrator, row("Run!", is_user=True), row("I run.")).messages
    assert messages == [
        Message("system", [Text("It rains.")]),
        Message("user", [Text("Run!")]),
        Message("assistant", [Text("I run.")]),
    ]


def test_only_a_name_that_is_not_in_the_header_is_a_field() -> None:
    rows = [HEADER, row("I run."), row("I too.", name="Bo")]
    transcript = DIALECT.lift(Rows(rows))
    assert [message.name for message in transcript.messages] == [None, "Bo"]
    assert transcript.extras == {"sillytavern": {"user_name": "Ann", "character_name": "Aki"}}
    assert DIALECT.lower(transcript) == rows


def test_a_hidden_message_is_an_event() -> None:
    hidden = {**row("A note."), "is_system": True}
    assert lifted(hidden).messages == [Message("event", [Opaque("sillytavern", hidden)])]


def test_calls_are_a_row_with_their_results() -> None:
    invocation = {"id": "c1", "name": "weather", "parameters": '{"city":"Oslo"}', "result": "Rain"}
    rows = written(Message("assistant", [CALL]), RESULT)
    assert rows[1]["extra"] == {"isSmallSys": True, "tool_invocations": [invocation]}
    assert rows[1]["is_system"] is True
    assert DIALECT.lift(rows).messages == [Message("assistant", [CALL]), RESULT]


def test_calls_behind_a_text_get_a_row_of_their_own() -> None:
    rows = written(Message("assistant", [Reasoning("Hm."), Text("Let me look."), CALL]), RESULT)
    assert [one.get("mes") for one in rows] == [None, "Let me look.", "Tool calls"]
    assert rows[1]["extra"] == {"reasoning": "Hm."}


def test_a_call_without_a_result_has_none() -> None:
    assert "result" not in written(Message("assistant", [CALL]))[1]["extra"]["tool_invocations"][0]


@pytest.mark.parametrize(
    ("image", "media"),
    [
        ("/user/a.png", Media("image", path="/user/a.png")),
        ("https://example.com/a.png", Media("image", url="https://example.com/a.png")),
        ("data:image/gif;base64,aGk=", Media("image", data="aGk=", media_type="image/gif")),
    ],
)
def test_an_image_is_a_path_a_url_or_data(image: str, media: Media) -> None:
    (message,) = lifted(row("See.", extra={"image": image})).messages
    assert message.parts == [Text("See."), media]
    assert written(message)[1]["extra"] == {"image": image}


def test_other_answers_are_kept() -> None:
    (message,) = lifted(row("Sun.", swipes=["Rain.", "Sun."], swipe_id=1)).messages
    assert message.extras == {"sillytavern": {"swipes": ["Rain.", "Sun."], "swipe_id": 1}}
    (message,) = lifted(row("Sun.", swipes=["Sun."])).messages
    assert message.extras is None


def test_other_answers_files_and_hidden_messages_are_content() -> None:
    chosen = row("Sun.", swipes=["Rain.", "Sun."], extra={"file": {"name": "a.txt", "text": "A text."}})
    hidden = {**row("A secret plan.", is_user=True), "is_system": True}
    conversion = pipeline.convert(Rows([HEADER, row("Hi.", is_user=True), hidden, chosen]), DIALECT, CHAT)
    assert {loss.field: loss.why for loss in conversion.losses if loss.level == "content"} == {
        "event": "SillyTavern hides this message from the model",
        "extras.sillytavern.swipes": "OpenAI Chat Completions cannot store this field",
        "extras.sillytavern.file": "convcli does not convert it to OpenAI Chat Completions",
    }
    assert "unknown-content" not in {finding.code for finding in conversion.findings}


def test_its_rows_are_detected_with_and_without_a_header() -> None:
    for rows in ([HEADER, row("Hi.")], [row("Hi.")]):
        assert detection.detect(Rows(rows)).dialect == "sillytavern"
    assert detection.evidence(Rows([HEADER]), DIALECT) is None
