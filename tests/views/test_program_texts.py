"""Which text of a user message an agent program wrote."""

from __future__ import annotations

import pytest

from convcli import dialects
from convcli.model.transcript import Message, Text, Transcript
from convcli.views.program_texts import (
    Segment,
    is_message_of_program,
    is_of_program,
    label_of,
    segments,
    without_events,
    words_of_person,
)

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


@pytest.mark.parametrize("text", ["Fix the <div> on the page", "<div>why?</div>", "# AGENTS", "", "  "])
def test_text_of_a_person_is_none_of_a_program(text: str) -> None:
    assert not is_of_program(text)


REMINDER = "<system-reminder>x</system-reminder>"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("<task>\nCount it.\n</task>", "Count it."),
        ("<task>a</task> b", "<task>a</task> b"),
        ("<feedback>No.</feedback>\n", "No."),
        ('<user_input mode="act">Count it.</user_input>', "Count it."),
        (f"{REMINDER}\n{REMINDER}\nCount it.", "\nCount it."),
        (f"Count it.\n{REMINDER}", "Count it."),
        (f"What does {REMINDER} mean?", f"What does {REMINDER} mean?"),
        (f"<user_info>\nlinux\n</user_info>\n<user_query>Count it.</user_query>\n{REMINDER}", "Count it."),
        ("<system-reminder>never closed", ""),
        ("<context>\na.py is open.\n</context>\n<userRequest>\nCount it.\n</userRequest>\n", "Count it."),
        ("What is\n<user_query>?", "What is\n<user_query>?"),
        ("The user provided the following feedback:\n<feedback>\nNo.\n</feedback>", "No."),
    ],
)
def test_the_words_of_a_person_stand_between_those_of_the_program(text: str, words: str) -> None:
    assert words_of_person(text) == words


def test_the_segments_of_a_text_keep_its_order_and_all_that_the_program_wrote() -> None:
    command = "<command-name>/x</command-name>\n<command-args></command-args>"
    assert list(segments(command)) == [Segment(command, True)]
    assert list(segments(f"{command}\nHi.\n{REMINDER}")) == [
        Segment(command, True), Segment("\nHi.", False), Segment(f"\n{REMINDER}", True),
    ]  # fmt: skip


@pytest.mark.parametrize(
    "begin",
    sorted(
        {begin for dialect in dialects.builtin() if dialect.program_turns for begin in dialect.program_turns.begins}
    ),
)
def test_what_the_dialects_know_as_turns_of_a_program_is_text_of_a_program(begin: str) -> None:
    assert is_of_program(f"{begin}x")


def test_a_message_with_words_of_a_person_is_from_a_person() -> None:
    tag = Text("<system-reminder>x</system-reminder>")
    assert is_message_of_program(Message("user", [tag]))
    assert not is_message_of_program(Message("user", [tag, Text("hi")]))
    assert not is_message_of_program(Message("assistant", [tag]))
    assert not is_message_of_program(Message("user", []))


def test_a_transcript_without_events_keeps_all_other_messages() -> None:
    messages = [Message("event", []), Message("user", [Text("a")]), Message("event", [])]
    assert without_events(Transcript(messages)).messages == messages[1:2]
