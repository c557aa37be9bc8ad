"""Settings by one table for both directions: what is read is written again, and what cannot be said is carried."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convcli.kit.settings import Setting, Settings, in_snake_case
from convcli.model.transcript import Transcript

EFFORTS = {"low": "LOW", "high": "HIGH"}
TABLE = Settings(
    {
        "max_tokens": "maxOutputTokens",
        "max_completion_tokens": "maxOutputTokens",
        "temp": "temperature",
        "effort": Setting("reasoningEffort", {"LOW": "low", "HIGH": "high"}.get, EFFORTS.get),
        "shape": Setting("format", lambda shape: shape.get("type"), lambda kind: {"type": kind}, partial=True),
    }
)


def test_a_setting_is_read_under_our_name_and_written_under_the_vendors() -> None:
    assert TABLE.lift({"temp": 0.5, "effort": "LOW"}) == ({"temperature": 0.5, "reasoningEffort": "low"}, {})
    assert TABLE.write({"temperature": 0.5, "reasoningEffort": "low"}, {}) == {"temp": 0.5, "effort": "LOW"}


def test_the_vendors_keys_are_written_in_the_order_of_the_table() -> None:
    written = TABLE.write({"reasoningEffort": "high", "temperature": 1, "maxOutputTokens": 9}, {})
    assert list(written) == ["max_tokens", "temp", "effort"]


@pytest.mark.parametrize("value", [None, "", [], {}])
def test_a_value_that_says_nothing_is_no_setting(value: Any) -> None:
    assert TABLE.lift({"temp": value}) == ({}, {})


@pytest.mark.parametrize("value", [0, 0.0, False])
def test_zero_and_false_are_settings(value: Any) -> None:
    assert TABLE.lift({"temp": value}) == ({"temperature": value}, {})


def test_a_value_that_we_have_no_word_for_is_carried_and_written_again() -> None:
    settings, carried = TABLE.lift({"effort": "EXTREME", "temp": 1})
    assert (settings, carried) == ({"temperature": 1}, {"effort": "EXTREME"})
    assert TABLE.write(settings, carried) == {"temp": 1, "effort": "EXTREME"}


def test_a_setting_that_was_edited_wins_over_what_was_carried() -> None:
    _, carried = TABLE.lift({"effort": "EXTREME"})
    assert TABLE.write({"reasoningEffort": "low"}, carried) == {"effort": "LOW"}


def test_of_two_keys_with_one_name_the_first_is_written_and_another_value_of_the_second_is_kept() -> None:
    assert TABLE.lift({"max_completion_tokens": 5}) == ({"maxOutputTokens": 5}, {})
    settings, carried = TABLE.lift({"max_tokens": 5, "max_completion_tokens": 6})
    assert (settings, carried) == ({"maxOutputTokens": 5}, {"max_completion_tokens": 6})
    assert TABLE.write(settings, carried) == {"max_tokens": 5, "max_completion_tokens": 6}


def test_what_a_partial_setting_does_not_say_is_carried_while_it_says_the_same() -> None:
    settings, carried = TABLE.lift({"shape": {"type": "json", "depth": 2}})
    assert settings == {"format": "json"}
    assert TABLE.write(settings, carried) == {"shape": {"type": "json", "depth": 2}}
    assert TABLE.write({"format": "text"}, carried) == {"shape": {"type": "text"}}


def test_the_pass_leaves_what_comes_back_and_shares_what_it_leaves_alone() -> None:
    fits = Transcript([], settings={"temperature": 1})
    assert TABLE.fits(fits) is fits
    strange = Transcript([], settings={"temperature": 1, "reasoningEffort": "extreme", "seed": 7})
    assert TABLE.fits(strange).settings == {"temperature": 1}
    assert strange.settings == {"temperature": 1, "reasoningEffort": "extreme", "seed": 7}
    assert TABLE.fits(Transcript([], settings={"seed": 7})).settings is None
    assert TABLE.fits(Transcript([], settings={"seed": 7}), Settings({"seed": "seed"})).settings == {"seed": 7}


def test_what_was_carried_beside_the_settings_is_the_rest() -> None:
    assert TABLE.rest({"effort": "EXTREME", "user": "u"}) == {"user": "u"}


def test_the_place_of_a_setting_is_the_key_that_is_written() -> None:
    assert TABLE.places("config")["settings.maxOutputTokens"] == ("config", "max_tokens")
    assert TABLE.places()["settings.format"] == ("shape",)
    assert TABLE.keys() == ("max_tokens", "max_completion_tokens", "temp", "effort", "shape")


@given(
    native=st.fixed_dictionaries(
        {},
        optional={
            "max_tokens": st.integers(0, 3),
            "max_completion_tokens": st.integers(0, 3),
            "temp": st.sampled_from([0, 0.5, 1, 1.0, True]),
            "effort": st.sampled_from(["LOW", "HIGH", "EXTREME"]),
            "shape": st.fixed_dictionaries({"type": st.sampled_from(["json", "text"])}, optional={"depth": st.just(1)}),
        },
    )
)
def test_writing_what_was_read_gives_the_same_values(native: dict[str, Any]) -> None:
    settings, carried = TABLE.lift(native)
    written = TABLE.write(settings, carried)
    assert TABLE.lift(written) == (settings, carried)
    assert {str(value) for value in native.values()} == {str(value) for value in written.values()}


def test_settings_in_snake_case_have_our_names() -> None:
    assert in_snake_case("stop top_p parallel_tool_calls") == {
        "stop": "stop",
        "top_p": "topP",
        "parallel_tool_calls": "parallelToolCalls",
    }
