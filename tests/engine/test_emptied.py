"""A document whose messages come out empty, while their extras hold the text, is not in the claimed dialect."""

from __future__ import annotations

import pytest

from convcli import dialects
from convcli.engine import pipeline
from convcli.engine.detection import detect
from convcli.engine.emptied import is_emptied
from convcli.model.errors import RefusedError
from convcli.model.transcript import Message, Text, Transcript

LLAMA_INDEX = [
    {"role": role, "additional_kwargs": {}, "blocks": [{"block_type": "text", "text": text}]}
    for role, text in (("user", "Hi"), ("assistant", "Hello."))
]
HELD = {"langchain": {"blocks": [{"text": "Hi"}]}}


@pytest.mark.parametrize(
    ("messages", "expected"),
    [
        ([Message("user", [], extras=HELD)], True),
        ([Message("assistant", [Text(" ")], extras=HELD), Message("assistant", [], extras=HELD)], True),
        ([Message("assistant", [], extras=HELD)], False),
        ([Message("user", [Text("Hi")], extras=HELD), Message("user", [], extras=HELD)], False),
        ([Message("user", []), Message("assistant", [])], False),
        ([Message("user", [], extras={"x": {"id": "a1", "n": 3}})], False),
        ([], False),
    ],
)
def test_messages_are_emptied_where_none_has_content_and_extras_hold_text(
    messages: list[Message], expected: bool
) -> None:
    assert is_emptied(Transcript(messages)) is expected


def test_llama_index_is_not_read_as_langchain() -> None:
    assert detect(LLAMA_INDEX).dialect == "llamaindex"


def test_a_named_dialect_that_empties_every_message_is_refused() -> None:
    with pytest.raises(RefusedError) as refused:
        pipeline.convert(LLAMA_INDEX, dialects.get("langchain"), dialects.get("openai-chat"))
    assert [finding.code for finding in refused.value.findings] == ["no-messages"]
