"""Keys that a dialect knows are in the vendor's order, and the rest is kept."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given

from convcli.kit.envelopes import Envelope
from convcli.kit.objects import (
    Keys,
    add_extras,
    as_object,
    claim_names,
    drop_extras,
    except_keys,
    get_extras,
    has_content,
    make_extras,
    merge,
    objects_in,
    omit,
    set_extra_key,
    set_extras,
    without_empty,
    without_nulls,
)
from convcli.model.transcript import Message
from tests import strategies

KEYS = Keys("id= role= content= cost")


def test_an_object_of_known_keys_has_no_extras() -> None:
    assert KEYS.extra({"id": 1, "role": "user", "content": ""}) is None


def test_unknown_keys_and_keys_without_a_field_are_kept() -> None:
    assert KEYS.extra({"id": 1, "zz": "x", "cost": 0}) == {"zz": "x", "cost": 0}


@pytest.mark.parametrize("value", ["", [], {}])
def test_an_empty_value_says_nothing_under_a_known_key_and_something_under_an_unknown_one(value: Any) -> None:
    assert KEYS.extra({"cost": value}) is None
    assert KEYS.extra({"zz": value}) == {"zz": value}
    assert KEYS.extra({"zz": None}) is None


def test_what_was_kept_is_put_into_the_vendors_order_with_unknown_keys_last() -> None:
    written = KEYS.put({"content": "x", "role": "user"}, {"zz": 1, "cost": 2})
    assert list(written) == ["role", "content", "cost", "zz"]
    assert list(KEYS.put({"content": "x", "role": "user"}, None)) == ["content", "role"]
    assert list(KEYS.put({"content": "x", "role": "user"}, None, sort=True)) == ["role", "content"]


def test_what_is_null_is_not_written_and_the_rest_in_the_vendors_order() -> None:
    written = KEYS.write({"content": None, "role": "user", "id": 0}, {"cost": None})
    assert list(written.items()) == [("id", 0), ("role", "user"), ("cost", None)]
    assert without_nulls({"a": None, "b": 0, "c": ""}) == {"b": 0, "c": ""}
    assert omit({"a": 1, "b": None, "c": 2}, "a", "d") == {"b": None, "c": 2}
    assert (as_object({"a": 1}), as_object([])) == ({"a": 1}, {})
    assert (objects_in([{"a": 1}, 2]), objects_in({"a": 1})) == ([{"a": 1}], [])
    assert without_empty({"a": 1, "b": [], "c": 0}, "a") == {"c": 0}
    assert except_keys({"a": 1, "b": None, "c": 0}, "a", "d") == {"c": 0}


def test_without_marks_all_keys_have_a_field() -> None:
    assert Keys("id cost").extra({"id": 1, "cost": 2, "zz": 3}) == {"zz": 3}
    assert Keys(["a=", "b"]).extra({"a=": 1, "b": 2}) is None
    assert Keys("id cost", known=()).extra({"id": 1, "cost": 2}) == {"id": 1, "cost": 2}


def test_extras_stand_under_the_name_of_their_owner() -> None:
    assert make_extras("x", {"a": 1}) == {"x": {"a": 1}}
    assert make_extras("x", {}) is make_extras("x", None) is make_extras("x", None, inner={}, other=None) is None
    assert make_extras("x", {"a": 1}, inner={"b": 2}, other=None) == {"x": {"a": 1, "inner": {"b": 2}}}
    assert get_extras({"x": {"a": 1}}, "x") == {"a": 1}
    assert get_extras({"x": {"a": 1}}, "y") == get_extras(None, "y") == {}


def test_more_is_added_to_the_extras_that_a_record_has() -> None:
    message = Message("user", [], extras={"y": {"b": 2}})
    add_extras(message, "x", {})
    assert message.extras == {"y": {"b": 2}}
    add_extras(message, "x", {"a": 1})
    add_extras(message, "x", {"c": 3})
    assert message.extras == {"y": {"b": 2}, "x": {"a": 1, "c": 3}}


def test_a_record_loses_keys_of_one_owner_and_is_shared_where_it_has_none_of_them() -> None:
    message = Message("user", [], extras={"x": {"a": 1, "b": 2}, "y": {"a": 3}})
    assert drop_extras(message, "x", "a", "c").extras == {"x": {"b": 2}, "y": {"a": 3}}
    assert drop_extras(message, "y", "a").extras == {"x": {"a": 1, "b": 2}}
    assert drop_extras(message, "z", "a") is drop_extras(message, "x", "c") is message


def test_a_record_keeps_an_object_under_a_key_and_nothing_where_that_is_empty() -> None:
    message = Message("user", [], extras={"x": {"a": {"k": 1}}, "y": {"b": 2}})
    assert set_extras(message, "x", "a", {"k": 2}).extras == {"y": {"b": 2}, "x": {"a": {"k": 2}}}
    assert set_extras(message, "x", "a", {}).extras == {"y": {"b": 2}}
    assert set_extras(message, "x", "a", {"k": 1}) is set_extras(message, "z", "a", {}) is message
    assert set_extra_key(None, "x", "a", {"k": 1}) == {"x": {"a": {"k": 1}}}
    assert set_extra_key(None, "x", "a", {}) is set_extra_key({"x": {"a": {"k": 1}}}, "x", "a", {}) is None


def test_a_key_of_the_vendor_with_the_name_of_another_object_is_kept_apart_and_written() -> None:
    kept = {"x": {"@": {"a": 1}, "a": {"k": 2}}}
    assert make_extras("x", {"a": 1}, a={"k": 2}) == kept
    assert make_extras("x", {"a": 1}, a=None) == {"x": {"@": {"a": 1}}}
    message = Message("user", [], extras={"x": {"a": 1}})
    claim_names([message], "x", "a", "b")
    assert message.extras == make_extras("x", Keys("b", groups="a").extra({"a": 1}))
    assert set_extra_key(message.extras, "x", "a", {"k": 2}) == kept
    message = Message("user", [], extras={"x": {"a": 1}})
    add_extras(message, "x", None, a={"k": 2})
    assert message.extras == kept
    add_extras(message, "x", {"b": 3}, b=None)
    assert message.extras == {"x": {"@": {"a": 1, "b": 3}, "a": {"k": 2}}}
    assert Keys("b a").put({"b": 0}, {"@": {"a": 1}}) == {"b": 0, "a": 1}
    assert Envelope("a b").write(message, {"@": {"a": 1}, "b": 0}) == {"a": 1, "b": 0}


@pytest.mark.parametrize("value", [0, 0.0, False, "x", [None], {"a": None}])
def test_zero_false_and_what_holds_anything_say_something(value: Any) -> None:
    assert has_content(value)


def test_objects_are_merged_where_both_hold_one() -> None:
    base, more = {"a": {"b": 1, "c": 2}, "d": 3}, {"a": {"c": 4}, "d": {"e": 5}}
    assert merge(base, more) == {"a": {"b": 1, "c": 4}, "d": {"e": 5}}
    assert base == {"a": {"b": 1, "c": 2}, "d": 3}


@given(native=strategies.objects)
def test_no_value_is_lost_between_known_and_other_keys(native: dict[str, Any]) -> None:
    known = {key: value for key, value in native.items() if key in ("id", "role", "content")}
    put = KEYS.put(known, KEYS.extra(native))
    blank = {key for key, value in native.items() if value is None or (key == "cost" and not has_content(value))}
    assert {key: value for key, value in put.items() if key not in blank} == {
        key: value for key, value in native.items() if key not in blank
    }


def test_the_objects_of_a_document_are_those_in_its_list() -> None:
    assert objects_in([{"a": 1}, "x", None, {}]) == [{"a": 1}, {}]
    assert [objects_in(document) for document in ({"a": 1}, "x", None)] == [[]] * 3
