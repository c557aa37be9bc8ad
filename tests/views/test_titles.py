"""The title of a session and of a prompt."""

from __future__ import annotations

import pytest

from convcli.model.transcript import Message, Text, Transcript
from convcli.views.titles import plain, prompt_of, title_of


def user(*texts: str) -> Message:
    return Message("user", [Text(text) for text in texts])


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("A bug with `entire resume`. Fix **it**!", "A bug with entire resume. Fix it!"),
        ("Implement the following plan:\n\n# Add a *switch*\n\nMore.", "Implement the following plan: Add a *switch*"),
        ("See [the docs](https://x.example/a) and ![it](b.png)", "See the docs and it"),
        ("First.\n\nSecond.", "First."),
        ("- one\n- two", "one two"),
        ("# <b>bold</b>", "<b>bold</b>"),
        ("snake_case and 2 * 3", "snake_case and 2 * 3"),
    ],
)
def test_a_title_is_the_prompt_without_markup(text: str, title: str) -> None:
    assert title_of(Transcript([user(text)])) == title


def test_a_title_is_of_a_person_and_the_title_of_the_session_counts_first() -> None:
    messages = [Message("system", [Text("Be brief.")]), user("<environment_context>x"), user("Hi.")]
    assert title_of(Transcript(messages)) == "Hi."
    assert title_of(Transcript(messages, title="`Mine`")) == "Mine"
    assert title_of(Transcript([])) == ""
    assert title_of(Transcript([user("/model"), user("/fix it")])) == "/fix it"
    assert title_of(Transcript([user("/model"), user("/clear")])) == "/model"
    assert prompt_of(Message("assistant", [Text("Hi.")])) == ""
    image = [Text('<image name=[Image #1] path="<HOME-1>/a.png">'), Text("</image>"), Text("Look.")]
    assert prompt_of(Message("user", [*image])) == "Look."


def test_a_long_title_is_cut_between_words() -> None:
    assert plain("one two three", 9) == "one two…"
    assert plain("x" * 20, 9) == "x" * 8 + "…"


def test_a_title_has_no_element_that_a_program_wrote() -> None:
    task = "<task>\nCount the gulls.\n</task>"
    assert title_of(Transcript([user(task, "<environment_details>x</environment_details>")])) == "Count the gulls."
    assert title_of(Transcript([user("Hi.")], title="<task>Count the gulls.</task>")) == "Count the gulls."
    both = "<user_info>\nOS: linux\n</user_info>\n<user_query>\nFix it.\n</user_query>"
    assert title_of(Transcript([user(both)])) == "Fix it."


def test_without_a_prompt_the_title_is_what_a_program_wrote_without_its_tags() -> None:
    assert title_of(Transcript([user("<environment_context>\n<cwd>/x</cwd></environment_context>")])) == "/x"
