"""Which text of a user message an agent program wrote."""

from __future__ import annotations

import pytest

from convcli.model.transcript import Message, Text, Transcript
from convcli.views.program_texts import is_message_of_program, is_of_program, label_of, without_events

OF_PROGRAM = {
    "<command-name>/release-notes</command-name>\n<command-args></command-args>": "/release-notes",
    "<command-name>/model</command-name><command-args>opus</command-args>": "/model opus",
    "<local-command-stdout>Version 1\n</local-command-stdout>": "local command stdout",
    "<environment_context>\n<cwd>/x</cwd>": "environment context",
    "# AGENTS.md instructions for /x": "# AGENTS.md instructions for /x",
}


@pytest.mark.parametrize("text", OF_PROGRAM)
def test_text_of_a_program_has_a_short_name(text: str) -> None:
    assert is_of_program(text)
    assert label_of(text) == OF_PROGRAM[text]


@pytest.mark.parametrize("text", ["Fix the <div> on the page", "<div>why?</div>", "# AGENTS", ""])
def test_text_of_a_person_is_none_of_a_program(text: str) -> None:
    assert not is_of_program(text)


def test_a_message_with_words_of_a_person_is_from_a_person() -> None:
    tag = Text("<system-reminder>x</system-reminder>")
    assert is_message_of_program(Message("user", [tag]))
    assert not is_message_of_program(Message("user", [tag, Text("hi")]))
    assert not is_message_of_program(Message("assistant", [tag]))
    assert not is_message_of_program(Message("user", []))


def test_a_transcript_without_events_keeps_all_other_messages() -> None:
    messages = [Message("event", []), Message("user", [Text("a")]), Message("event", [])]
    assert without_events(Transcript(messages)).messages == messages[1:2]
