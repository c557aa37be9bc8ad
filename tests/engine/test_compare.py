"""Two files are the same conversation, or every difference has both places."""

from __future__ import annotations

import copy
from collections.abc import Callable, Iterator
from contextlib import suppress
from itertools import pairwise
from operator import eq
from typing import Any

import pytest

from convcli import dialects, testing
from convcli.engine import reading
from convcli.engine.compare import Difference, differences
from convcli.model.dialect import Dialect
from convcli.model.document import Rows
from convcli.model.errors import RefusedError
from convcli.model.transcript import Path, Transcript
from convcli.testing.planting import plant, plantable
from convcli.validation import schemas
from convcli.wire import pointers
from tests import tiers
from tests.support import Sample, names, samples_of

CHAT, ANTHROPIC = dialects.get("openai-chat"), dialects.get("anthropic")


def twin(name: str) -> Sample | None:
    return next((sample for sample in samples_of(name) if sample.path.name.startswith("twin-weather")), None)


TWINS = {name: sample for name in names() if (sample := twin(name)) is not None}
WHOLE = [name for name, sample in TWINS.items() if len(dialects.get(name).lift(sample.document).messages) > 1]
"""Streams of one answer hold the last turn only."""
JOINED = {"alpaca"}
"""What an answer says before its calls and after them is one text there, and is compared with the first of them."""


def reported(
    first: Any, second: Any, of_first: Dialect = CHAT, of_second: Dialect = CHAT, **more: Any
) -> list[Difference]:
    return differences(of_first.lift(first), of_second.lift(second), of_first, of_second, **more)


def edited(document: Any, edit: Callable[[str], str]) -> Any:
    """The document with another text in every string."""
    if isinstance(document, dict):
        return {key: edited(value, edit) for key, value in document.items()}
    if isinstance(document, list):
        return [edited(value, edit) for value in document]
    return edit(document) if isinstance(document, str) else document


@pytest.mark.parametrize("second", WHOLE)
@pytest.mark.parametrize("first", ["intermediate", "openai-chat"])
def test_twins_are_the_same_conversation_from_either_side(first: str, second: str) -> None:
    for one, other in ((first, second), (second, first)):
        assert same(one, other), f"{one} and {other}"


def test_any_two_twins_are_the_same_conversation() -> None:
    """Each with the next: in a ring all of them meet two others."""
    for one, other in pairwise([*WHOLE, WHOLE[0]]):
        assert same(one, other), f"{one} and {other}"


def same(first: str, second: str) -> bool:
    documents = TWINS[first].document, TWINS[second].document
    return reported(*documents, dialects.get(first), dialects.get(second)) == []


@pytest.mark.parametrize("name", TWINS)
def test_a_text_that_was_edited_is_reported_with_the_places_of_both_sides(name: str) -> None:
    document, dialect = TWINS[name].document, dialects.get(name)
    other = edited(document, lambda text: text.replace("did not answer", "was silent"))
    found = reported(document, other, dialect, dialect)
    assert [(one.kind, one.level) for one in found] == [("changed", "content")]
    assert found[0].first == found[0].second
    assert pointers.resolve(document, pointers.steps(found[0].first)) is not None


@pytest.mark.parametrize("name", WHOLE)
def test_an_edited_answer_is_reported_in_any_other_dialect_too(name: str) -> None:
    other = edited(TWINS[name].document, lambda text: text.replace("did not answer", "was silent"))
    found = reported(TWINS["intermediate"].document, other, dialects.get("intermediate"), dialects.get(name))
    before = "Let me check" if name in JOINED else "did not answer"
    assert any(before in repr(one.before) and "was silent" in repr(one.after) for one in found)


IN_PIECES = sorted({name for name in names() if name.endswith("-stream")} | {"acp", "ag-ui", "codex"})
"""A text, a call or the time of a turn stands in several of their events."""


def is_there(document: Any, path: Path) -> bool:
    """Has the document a value at this place?"""
    with suppress(LookupError):
        pointers.resolve(document, path)
        return True
    return False


def is_around(place: str, other: str) -> bool:
    """Is one of the places the other, or within it?"""
    steps = pointers.steps(place), pointers.steps(other)
    return all(map(eq, *steps))


def edits(document: Any, dialect: Dialect) -> Iterator[tuple[Path, Any]]:
    """The document with one other value, for each value of it that is a fact, and the place of that."""
    for number, path in enumerate(plantable(document)):
        planted = plant(document, path, number, lambda value: schemas.accepts(dialect.name, value))
        if planted is not None and not testing.is_repeated(dialect, path) and is_there(document, path):
            yield path, planted[0]


def lifted(document: Any, dialect: Dialect) -> Transcript | None:
    """The transcript; None if an edit made events of several answers of one, which are refused in one list."""
    try:
        return reading.lift(document, dialect)
    except RefusedError as error:
        if [finding.code for finding in error.findings] == ["several-streams"]:
            return None
        raise


def assert_told_at_its_place(document: Any, dialect: Dialect) -> None:
    before = reading.lift(document, dialect)  # as the command does
    for path, other in edits(document, dialect):
        after = lifted(other, dialect)
        if after is None:
            continue
        found = differences(before, after, dialect, dialect, exact=True)
        assert found, f"{path} was edited, and nothing differs"
        places = [where for one in found for where in (one.first, one.second) if where or not path[1:]]
        assert any(is_at(where, path, before) for where in places), f"{path}: {found}"


TIES = ("index", "messageId")
"""Keys that link events to messages: if one is edited, any event of that message may show it. Equal indexes merge
two answers: then it is reported at either, at the pointer that both have in their events."""


def is_at(where: str, path: Path, transcript: Transcript) -> bool:
    if is_around(where, pointers.pointer(path)) or path[-1] not in TIES or transcript.origin is None:
        return is_around(where, pointers.pointer(path))
    pieces = [{place[0] for place in places} for places in transcript.origin.pieces.values()]
    events = {path[0]}.union(*(each for each in pieces if path[0] in each))
    event, *steps = pointers.steps(where)
    is_alike = path[-1] == "index" and steps[: len(path) - 2] == list(map(str, path[1:-1]))
    return event in map(str, events) or is_alike


@pytest.mark.parametrize("name", TWINS)
def test_each_value_that_was_edited_is_reported_at_its_place(name: str) -> None:
    assert_told_at_its_place(TWINS[name].document, dialects.get(name))


@pytest.mark.parametrize("name", IN_PIECES)
def test_what_was_edited_in_one_of_several_events_is_reported_at_this_event(name: str) -> None:
    """In all samples, since the twins have few pieces."""
    for sample in tiers.few(samples_of(name), 1):
        assert_told_at_its_place(sample.document, dialects.get(name))


CALL = {"id": "call_1", "type": "function", "function": {"name": "f", "arguments": '{"a": 1}'}}
CHAT_DOCUMENT = {
    "messages": [
        {"role": "user", "content": "Hi", "name": "ann"},
        {"role": "assistant", "content": None, "tool_calls": [CALL]},
        {"role": "tool", "tool_call_id": "call_1", "content": "one"},
        {"role": "assistant", "content": "Done"},
    ]
}


def changed(edit: Callable[[Any], object]) -> Any:
    document = copy.deepcopy(CHAT_DOCUMENT)
    edit(document["messages"])
    return document


def test_ids_that_only_tie_a_call_to_its_result_may_differ() -> None:
    other = edited(CHAT_DOCUMENT, lambda text: text.replace("call_1", "call_of_another_kind"))
    assert reported(CHAT_DOCUMENT, other) == []
    assert {one.field for one in reported(CHAT_DOCUMENT, other, exact=True)} == {
        "tool_call.id",
        "tool_result.toolCallId",
    }


@pytest.mark.parametrize(
    ("edit", "fields"),
    [
        (lambda messages: messages.pop(), ["message"]),
        (lambda messages: messages[1]["tool_calls"][0]["function"].update(name="g"), ["tool_call.name"]),
        (lambda messages: messages[2].update(content="two"), ["tool_result.value"]),
        (lambda messages: messages[0].update(role="system"), ["message.role"]),
        (lambda messages: messages[0].update(name="bob"), ["message.name"]),
    ],
)
def test_what_differs_is_reported_by_its_field(edit: Callable[[Any], object], fields: list[str]) -> None:
    found = reported(CHAT_DOCUMENT, changed(edit))
    assert {one.field for one in found} >= set(fields)
    assert all(one.first or one.second for one in found)


def test_what_the_other_dialect_has_no_place_for_counts_only_when_it_is_asked_for() -> None:
    other = {
        "messages": [
            {"role": "user", "content": "Hi"},
            {"role": "assistant", "content": [{"type": "tool_use", "id": "x", "name": "f", "input": {"a": 1}}]},
            {"role": "user", "content": [{"type": "tool_result", "tool_use_id": "x", "content": "one"}]},
            {"role": "assistant", "content": "Done"},
        ]
    }
    assert reported(CHAT_DOCUMENT, other, CHAT, ANTHROPIC) == []
    assert reported(other, CHAT_DOCUMENT, ANTHROPIC, CHAT) == []
    assert "message.name" in {one.field for one in reported(CHAT_DOCUMENT, other, CHAT, ANTHROPIC, exact=True)}
    other["messages"][1]["content"][0]["input"] = {"a": 2}  # type: ignore[index]
    [found] = reported(CHAT_DOCUMENT, other, CHAT, ANTHROPIC)
    assert (found.first, found.second, found.before, found.after) == (
        "/messages/1/tool_calls/0/function/arguments",
        "/messages/1/content/0/input",
        {"a": 1},
        {"a": 2},
    )


def test_what_only_the_second_has_is_reported_with_its_place_there() -> None:
    longer = changed(lambda messages: messages.append({"role": "user", "content": "And now?"}))
    [found] = reported(CHAT_DOCUMENT, longer)
    assert (found.kind, found.field, found.second) == ("invented", "message", "/messages/4")


def test_what_the_service_would_not_take_back_is_missed_in_a_file_of_the_same_dialect() -> None:
    codex = dialects.get("codex")
    thought = {"type": "reasoning", "summary": [{"type": "summary_text", "text": "Hm."}]}
    said = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Ho."}]}
    header = {"type": "session_meta", "timestamp": "T", "payload": {"id": "x"}}
    rows = [header, *({"type": "response_item", "timestamp": "T", "payload": item} for item in (thought, said))]
    found = reported(Rows(rows), Rows([rows[0], rows[2]]), codex, codex)
    assert [(each.kind, each.field) for each in found] == [("dropped", "reasoning")]
