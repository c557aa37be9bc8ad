"""What the keys of a header or a row say is set, and the rest is kept and comes back."""

from __future__ import annotations

from typing import Any

import pytest

from convcli.kit.envelopes import CREATED_IN_MILLISECONDS, REPLACES_ALL, Envelope
from convcli.kit.settings import Setting
from convcli.kit.values import milliseconds_of_time, time_of_milliseconds
from convcli.model.transcript import Message, Text
from convcli.wire import exact_json

ROW = Envelope("type= id=id parentId=parent_id timestamp=created_at message=")


def turn(text: str, **fields: Any) -> Message:
    return Message("user", [Text(text)], **fields)


def test_an_envelope_sets_fields_and_keeps_the_rest() -> None:
    message = turn("a")
    row = {"type": "message", "id": "r1", "parentId": None, "timestamp": "2026-01-02T03:04:05Z", "branch": "x"}
    assert ROW.lift(row, message) == {"branch": "x"}
    assert (message.id, message.parent_id, message.created_at) == ("r1", None, "2026-01-02T03:04:05Z")


def test_a_key_with_two_fields_is_an_error() -> None:
    with pytest.raises(ValueError, match="one field"):
        Envelope("ts=created_at", {"ts": CREATED_IN_MILLISECONDS})


def test_what_was_lifted_is_written_in_the_order_of_the_vendor() -> None:
    message = turn("a", id="r1", created_at="2026-01-02T03:04:05Z")
    row = ROW.write(message, {"branch": "x"}, message={}, type="message")
    assert list(row.items()) == [
        ("type", "message"), ("id", "r1"), ("timestamp", "2026-01-02T03:04:05Z"), ("message", {}), ("branch", "x"),
    ]  # fmt: skip


def test_a_field_that_is_no_text_is_kept_and_comes_back_until_somebody_sets_the_field() -> None:
    message = turn("a")
    extra = ROW.lift({"timestamp": 17}, message)
    assert (extra, message.created_at) == ({"timestamp": 17}, None)
    assert ROW.write(message, extra) == {"timestamp": 17}
    message.created_at = "2026-01-02T03:04:05Z"
    assert ROW.write(message, extra) == {"timestamp": "2026-01-02T03:04:05Z"}


def test_what_the_dialect_writes_is_not_overwritten_by_what_was_kept() -> None:
    assert ROW.write(turn("a"), {"message": "old", "type": "x"}, message="new") == {"type": "x", "message": "new"}


@pytest.mark.parametrize("time", [0, 1767323045678, -62135596800000, 253402300799999])
def test_milliseconds_come_back_from_the_time_that_they_are(time: int) -> None:
    clock = Envelope("ts", {"ts": CREATED_IN_MILLISECONDS})
    message = turn("a")
    assert clock.lift({"ts": time}, message) is None
    assert clock.write(message) == {"ts": time}


def test_a_time_outside_the_calendar_is_no_time() -> None:
    assert time_of_milliseconds(10**15) is None
    assert time_of_milliseconds(1.5) is None
    assert milliseconds_of_time("2026-01-02T03:04:05") is None
    assert milliseconds_of_time("2026-01-02T03:04:05.678+00:00") == 1767323045678


def test_only_a_row_that_says_so_stands_for_all_before_it() -> None:
    rows = Envelope("isSummary", {"isSummary": REPLACES_ALL})
    summary, other = turn("a"), turn("b")
    assert (rows.lift({"isSummary": True}, summary), rows.lift({"isSummary": 1}, other)) == (None, {"isSummary": 1})
    assert (summary.replaces, other.replaces) == ("all", None)
    assert (rows.write(summary), rows.write(other)) == ({"isSummary": True}, {})


def test_a_field_that_has_two_words_in_the_vendor_s_format_is_not_kept_unless_it_says_more() -> None:
    for partial in (False, True):
        stop = Setting("stop_reason", lambda word: word.lower(), lambda word: word.upper(), partial=partial)
        answer = Message("assistant", [])
        assert Envelope("stop", {"stop": stop}).lift({"stop": "Done"}, answer) == (
            {"stop": "Done"} if partial else None
        )
        assert answer.stop_reason == "done"


def test_the_paths_and_names_of_fields_follow_from_the_keys() -> None:
    assert ROW.places("message", "..") == {
        "message.id": ("..", "id"),
        "message.parentId": ("..", "parentId"),
        "message.createdAt": ("..", "timestamp"),
    }
    assert ROW.places() == {"id": ("id",), "parentId": ("parentId",), "createdAt": ("timestamp",)}
    assert ROW.supports("message") == {"message.id", "message.parentId", "message.createdAt"}
    assert ROW.names == ("type", "id", "parentId", "timestamp", "message")


INFO = Envelope("id=model provider=provider family")
NESTED = Envelope("role= info time=created_at", nested={"info": INFO})


def test_an_object_inside_has_fields_of_the_same_record() -> None:
    message = turn("a")
    extra = NESTED.lift({"role": "user", "info": {"id": "m", "family": "x"}, "other": 1}, message)
    assert (message.model, extra) == ("m", {"other": 1, "info": {"family": "x"}})
    written = NESTED.write(message, extra, role="user")
    assert list(written.items()) == [("role", "user"), ("info", {"id": "m", "family": "x"}), ("other", 1)]
    assert NESTED.fields == ("created_at", "model", "provider")


def test_an_object_inside_without_values_is_not_written() -> None:
    assert NESTED.write(turn("a"), role="user") == {"role": "user"}
    assert NESTED.lift({"role": "user", "info": {}}, turn("a")) is None


def test_a_message_keeps_the_fields_that_come_back() -> None:
    assert NESTED.fits(turn("a", model="m", name="n")) == turn("a", model="m")
    kept = turn("a", model="m")
    assert NESTED.fits(kept) is kept


def test_a_generated_writer_has_the_same_keys_as_the_envelope() -> None:
    write = NESTED.writer("demo", {"role": "user"}, "time")
    plain, extended = turn("a", model="m"), turn("a", model="m", extras={"demo": {"other": 1}})
    assert list(write(plain, 17).items()) == [("role", "user"), ("info", {"id": "m"}), ("time", 17)]
    assert list(write(extended, 17)) == ["role", "info", "time", "other"]


def test_a_text_with_half_of_a_surrogate_pair_is_a_text() -> None:
    half, message = exact_json.parse(rb'"\uDd1e"'), turn("a")
    row = {"type": "message", "id": half, "timestamp": None}
    assert half.__class__ is not str
    assert ROW.lift(row, message) is None
    assert message.id is half
    assert ROW.write(message, type="message")["id"] is half
