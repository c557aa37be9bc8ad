"""The texts of a session that a search looks through."""

from __future__ import annotations

from convcli.model.transcript import Message, Opaque, Reasoning, Text, ToolCall, ToolResult, Transcript
from convcli.views.session_texts import message_texts


def test_texts_are_those_of_the_page_without_events_and_escapes() -> None:
    call = ToolCall("1", "Bash", {"command": 'echo "a"\nls', "more": [{"deep": "b"}], "n": 3})
    preamble = "Chunk ID: 94bd74\nWall time: 0.5000 seconds\nProcess exited with code 1\nOutput:\n"
    messages = [
        Message("user", [Text("hi")]),
        Message("event", [Text("logged")]),
        Message("assistant", [Reasoning("why"), call, Opaque("x", {"y": "z"})]),
        Message("tool", [ToolResult("1", "Bash", "text", f"{preamble}out")]),
        Message("assistant", []),
    ]
    assert list(message_texts(Transcript(messages))) == [
        (0, "hi"), (2, 'why\nBash\necho "a"\nls\nb'), (3, "out"),
    ]  # fmt: skip


def test_raw_arguments_are_searched_as_they_are() -> None:
    call = ToolCall("1", "f", {}, raw_arguments='{"a": ')
    assert list(message_texts(Transcript([Message("assistant", [call])]))) == [(0, 'f\n{"a": ')]
