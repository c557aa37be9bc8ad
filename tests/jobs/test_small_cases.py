"""Small documents that once lost something without a report, or were taken for another format.

Each stands for real files. Cases that concern one dialect are in the tests of that dialect.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import convcli
from convcli import dialects
from convcli.engine import pipeline
from convcli.jobs import inputs
from convcli.jobs.documents import Document
from convcli.model.document import Rows
from convcli.wire.decimals import builtins
from tests import tiers
from tests.support import facts, names, samples_of

STREAMS = [
    name for name in names() if "document" in dialects.get(name).framings and dialects.get(name).answer_boundaries
]
HI = {"role": "user", "content": "hi"}
BOM = b"\xef\xbb\xbf"


def events_of(name: str) -> list[Any]:
    """The events of the twin, or of the first sample of a dialect that is only read and has none."""
    return list(min(samples_of(name), key=lambda one: not one.path.name.startswith("twin-weather")).document)


# ---------------------------------------------------------------- streams


@pytest.mark.parametrize("name", STREAMS)
def test_events_are_a_stream_as_a_json_list_with_a_byte_order_mark_and_in_the_library(
    name: str, tmp_path: Path
) -> None:
    events, path = events_of(name), tmp_path / "events.json"
    path.write_bytes(BOM + json.dumps(builtins(events)).encode())
    with inputs.opened(str(path)) as source:
        [document] = [item for item in source if isinstance(item, Document)]
    assert document.dialect.name == name
    assert convcli.detect(events).dialect == name
    assert convcli.convert(events, to="intermediate").losses == []


@pytest.mark.parametrize("name", STREAMS)
def test_events_that_come_out_of_order_are_kept_as_the_help_says(name: str) -> None:
    """Every text of a stream is in its transcript, whichever event comes a second time with another text."""
    dialect, planted = dialects.get(name), 0
    for sample in tiers.few(samples_of(name), 3):
        rows = list(sample.document)
        for at, row in enumerate(rows):
            word = f"A heron number {at} stands on the pier."
            events = Rows([*rows[: at + 1], _with_text(row, word), *rows[at + 1 :]])
            findings = pipeline.validate(events, dialect)
            if word in json.dumps(builtins(list(events))) and all(one.severity != "error" for one in findings):
                planted += 1
                assert word in json.dumps(facts(dialect.lift(events)), default=str), f"{sample}: event {at}"
    assert planted


def _with_text(value: Any, text: str) -> Any:
    """The same event with this text in place of each of its own."""
    if isinstance(value, list):
        return [_with_text(each, text) for each in value]
    if not isinstance(value, dict):
        return value
    own = {key for key in TEXTS if isinstance(value.get(key), str) and value[key]}
    return {key: text if key in own else _with_text(each, text) for key, each in value.items()}


TEXTS = ("text", "content", "delta", "thinking", "partial_json", "arguments")


# ---------------------------------------------------------------- what is made up on the way in


@pytest.mark.parametrize("name", tiers.written())
def test_ids_that_convcli_generated_are_not_reported_as_lost_on_the_way_back(name: str) -> None:
    dialect, hub = dialects.get(name), dialects.get("intermediate")
    for sample in tiers.few(samples_of(name), 3):
        there = pipeline.convert(sample.document, dialect, hub)
        back = pipeline.convert(builtins(there.document), hub, dialect)
        assert [loss for loss in back.losses if loss.field.endswith(("id", "Id"))] == [], sample


# ---------------------------------------------------------------- formats that were taken for others

WORDS = "A heron stands on the pier."
SAID = [{"type": "text", "text": WORDS}]
UPDATE = {"sessionUpdate": "user_message", "messageId": "m", "content": SAID}
RESULT = {"type": "tool_result", "tool_use_id": "c", "content": {"functionResponse": {"id": "c", "response": WORDS}}}
ANSWERED = {"result": WORDS, "origin": {"id": "c", "tool_name": "look", "arguments": {}}, "error": False}
OF_OTHERS: list[Any] = [
    [{"role": "assistant", "contents": SAID, "author_name": "x"}],  # Microsoft Agent Framework
    Rows([{"method": "session/update", "params": {"sessionId": "s", "update": UPDATE}}]),  # ACP, version 2
    Rows([{"type": "user", "uuid": "u", "message": {"role": "user", "content": [RESULT]}}]),  # iFlow
    [{"role": "tool", "meta": {}, "name": None, "content": [{"tool_call_result": ANSWERED}]}],  # Haystack
    {"v": 1, "messages": [{"role": "user", "content": [{"type": "tool_result", "toolUseID": WORDS}]}]},  # Amp
    {"model": "m", "input": [{"type": "user_input", "content": SAID}]},  # interactions of the Gemini API
]


@pytest.mark.parametrize("document", OF_OTHERS)
def test_a_format_is_read_with_its_text_or_named_as_one_that_cannot_be_read(document: Any) -> None:
    try:
        said = json.dumps(convcli.convert(document, to="openai-chat").document)
    except convcli.ContentError as error:
        said = str(error)
    assert WORDS in said or "this looks like" in said


# ---------------------------------------------------------------- places


def test_a_key_of_digits_is_a_key_in_the_path_of_a_finding() -> None:
    node = {"id": "7", "parent": None, "children": [], "message": {"id": "m", "author": {"role": "user"}, "content": 5}}
    export = {"title": "t", "id": "c", "mapping": {"7": node}, "current_node": "7"}
    [finding] = convcli.validate(export, source="chatgpt-export")
    assert (finding.code, finding.where) == ("wrong-type", "/mapping/7/message/content")


def test_a_list_without_marks_is_read_where_the_user_says_that_it_stands(tmp_path: Path) -> None:
    path = tmp_path / "row.json"
    path.write_text(json.dumps({"prompt": [HI], "score": 1}))
    with inputs.opened(str(path), at=[("prompt",)]) as source:
        [document] = [item for item in source if isinstance(item, Document)]
    assert [message.role for message in document.lift().messages] == ["user"]
