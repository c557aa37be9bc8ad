"""Pointers into documents and the messages that contain them."""

from __future__ import annotations

import pytest

from convcli import dialects
from convcli.model.document import Rows
from convcli.views.changed_messages import messages_at

RESULTS = [{"type": "tool_result", "tool_use_id": id_, "content": "1"} for id_ in "ab"]
CALLS = [{"type": "tool_use", "id": id_, "name": "f", "input": {}} for id_ in "ab"]
REQUEST = {
    "model": "m",
    "max_tokens": 9,
    "messages": [
        {"role": "user", "content": "Go."},
        {"role": "assistant", "content": CALLS},
        {"role": "user", "content": RESULTS},
    ],
}
STREAM = [
    {"object": "chat.completion.chunk", "choices": [{"index": 0, "delta": {"role": "assistant", "content": text}}]}
    for text in ("Hi", " you.")
]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        ("/messages/0/content", {0}),
        ("/messages/1/content/1/input", {1}),
        ("/messages/2/content/0/content", {2}),
        ("/messages/2/content/1", {3}),
        ("/messages/2/role", {2, 3}),  # one message of the document is two of the transcript
        ("/max_tokens", set()),
        ("", set()),
    ],
)
def test_a_pointer_is_in_the_message_of_the_nearest_place_around_it(where: str, expected: set[int]) -> None:
    dialect = dialects.get("anthropic")
    assert messages_at(dialect.lift(REQUEST), dialect, [where]) == expected


def test_in_a_stream_any_message_may_contain_a_pointer() -> None:
    dialect = dialects.get("openai-chat-stream")
    assert messages_at(dialect.lift(Rows(STREAM)), dialect, ["/0"]) == {0}
