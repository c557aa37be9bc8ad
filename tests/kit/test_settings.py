"""Settings by one table for both directions: values read are written again, and values without a setting are kept."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from convcli import dialects
from convcli.engine import pipeline
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


def test_a_value_that_we_have_no_word_for_is_kept_and_written_again() -> None:
    settings, extra = TABLE.lift({"effort": "EXTREME", "temp": 1})
    assert (settings, extra) == ({"temperature": 1}, {"effort": "EXTREME"})
    assert TABLE.write(settings, extra) == {"temp": 1, "effort": "EXTREME"}


def test_a_setting_that_was_edited_wins_over_what_was_kept() -> None:
    _, extra = TABLE.lift({"effort": "EXTREME"})
    assert TABLE.write({"reasoningEffort": "low"}, extra) == {"effort": "LOW"}


def test_of_two_keys_with_one_name_the_first_is_written_and_another_value_of_the_second_is_kept() -> None:
    assert TABLE.lift({"max_completion_tokens": 5}) == ({"maxOutputTokens": 5}, {})
    settings, extra = TABLE.lift({"max_tokens": 5, "max_completion_tokens": 6})
    assert (settings, extra) == ({"maxOutputTokens": 5}, {"max_completion_tokens": 6})
    assert TABLE.write(settings, extra) == {"max_tokens": 5, "max_completion_tokens": 6}


def test_what_a_partial_setting_does_not_say_is_kept_while_it_says_the_same() -> None:
    settings, extra = TABLE.lift({"shape": {"type": "json", "depth": 2}})
    assert settings == {"format": "json"}
    assert TABLE.write(settings, extra) == {"shape": {"type": "json", "depth": 2}}
    assert TABLE.write({"format": "text"}, extra) == {"shape": {"type": "text"}}


def test_the_pass_leaves_what_comes_back_and_shares_what_it_leaves_alone() -> None:
    fits = Transcript([], settings={"temperature": 1})
    assert TABLE.fits(fits) is fits
    strange = Transcript([], settings={"temperature": 1, "reasoningEffort": "extreme", "seed": 7})
    assert TABLE.fits(strange).settings == {"temperature": 1}
    assert strange.settings == {"temperature": 1, "reasoningEffort": "extreme", "seed": 7}
    assert TABLE.fits(Transcript([], settings={"seed": 7})).settings is None
    assert TABLE.fits(Transcript([], settings={"seed": 7}), Settings({"seed": "seed"})).settings == {"seed": 7}


def test_the_extras_without_the_settings_are_the_rest() -> None:
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
    settings, extra = TABLE.lift(native)
    written = TABLE.write(settings, extra)
    assert TABLE.lift(written) == (settings, extra)
    assert {str(value) for value in native.values()} == {str(value) for value in written.values()}


def test_settings_in_snake_case_have_our_names() -> None:
    assert in_snake_case("stop top_p parallel_tool_calls") == {
        "stop": "stop",
        "top_p": "topP",
        "parallel_tool_calls": "parallelToolCalls",
    }


INSIDE = Settings({"text/verbosity": "verbosity", "text/format": "responseFormat", "top": "topK"})


def test_a_member_of_an_object_is_a_setting_and_its_other_members_are_kept() -> None:
    settings, extra = INSIDE.lift({"text": {"verbosity": "low", "width": 80, "format": None}, "top": 3, "user": "u"})
    assert (settings, extra) == ({"verbosity": "low", "topK": 3}, {"text": {"width": 80}})
    assert INSIDE.write(settings, extra) == {"text": {"verbosity": "low", "width": 80}, "top": 3}
    assert INSIDE.write({}, {"text": "no object"}) == {}
    assert INSIDE.rest({**extra, "user": "u"}) == {"user": "u"}
    assert INSIDE.keys() == ("text", "top")
    assert INSIDE.places("config")["settings.verbosity"] == ("config", "text", "verbosity")


BUDGETS = Settings({"budget": "reasoningBudget", "effort": "reasoningEffort"})


@pytest.mark.parametrize(
    ("native", "settings"),
    [
        ({"budget": 0}, {"reasoningEffort": "none"}),
        ({"budget": 0, "effort": "low"}, {"reasoningBudget": 0, "reasoningEffort": "low"}),
        ({"budget": 9}, {"reasoningBudget": 9}),
    ],
)
def test_reasoning_that_is_switched_off_is_the_effort_none(native: dict[str, Any], settings: dict[str, Any]) -> None:
    assert BUDGETS.lift(native) == (settings, {})
    assert BUDGETS.write(settings, {}) == native


# ---------------------------------------------------------------- what two services both have

ASKED: dict[str, Any] = {"model": "m", "messages": [{"role": "user", "content": "Hi."}]}
RESPONSES: dict[str, Any] = {"model": "m", "input": [{"type": "message", "role": "user", "content": "Hi."}]}
MISTRAL = {
    **ASKED,
    "messages": [{"role": "user", "content": [{"type": "document_url", "document_url": "https://e.x"}]}],
}
GEMINI: dict[str, Any] = {"model": "models/m", "contents": [{"role": "user", "parts": [{"text": "Hi."}]}]}
CLAUDE: dict[str, Any] = {"max_tokens": 4096, **ASKED}
BEDROCK: dict[str, Any] = {"modelId": "m", "messages": [{"role": "user", "content": [{"text": "Hi."}]}]}
BASES = {
    "openai-chat": ASKED,
    "openai-responses": RESPONSES,
    "mistral": ASKED,
    "gemini": GEMINI,
    "anthropic": CLAUDE,
    "bedrock-converse": BEDROCK,
    "cohere": ASKED,
    "ollama": ASKED,
}

SAME = [
    ({key: value}, {key: value})
    for key, value in {
        "store": True,
        "metadata": {"run": "7"},
        "user": "u-1",
        "safety_identifier": "s-1",
        "prompt_cache_key": "k",
        "prompt_cache_retention": "24h",
        "prompt_cache_options": {"mode": "explicit"},
        "moderation": {"model": "omni"},
        "stream_options": {"include_obfuscation": False},
        "service_tier": "flex",
        "top_logprobs": 3,
    }.items()
]
THINKING = {"type": "enabled", "budget_tokens": 2048}
BOTH_HAVE: list[tuple[str, str, dict[str, Any], dict[str, Any]]] = [
    *(("openai-chat", "openai-responses", chat, responses) for chat, responses in SAME),
    ("openai-chat", "openai-responses", {"verbosity": "low"}, {"text": {"verbosity": "low"}}),
    ("openai-chat", "openai-responses", {"logprobs": True}, {"include": ["message.output_text.logprobs"]}),
    ("openai-chat", "gemini", {"n": 2}, {"generationConfig": {"candidateCount": 2}}),
    (
        "openai-chat",
        "gemini",
        {"logprobs": True, "top_logprobs": 3},
        {"generationConfig": {"responseLogprobs": True, "logprobs": 3}},
    ),
    (
        "openai-chat",
        "gemini",
        {"modalities": ["text", "audio"]},
        {"generationConfig": {"responseModalities": ["TEXT", "AUDIO"]}},
    ),
    ("openai-chat", "gemini", {"service_tier": "default"}, {"serviceTier": "standard"}),
    (
        "openai-chat",
        "gemini",
        {"reasoning_effort": "none"},
        {"generationConfig": {"thinkingConfig": {"thinkingBudget": 0}}},
    ),
    ("openai-chat", "mistral", {"n": 2, "metadata": {"a": "b"}}, {"n": 2, "metadata": {"a": "b"}}),
    ("openai-chat", "mistral", {"service_tier": "default"}, {"service_tier": "standard_only"}),
    (
        "openai-chat",
        "mistral",
        {"prediction": {"type": "content", "content": "x"}},
        {"prediction": {"type": "content", "content": "x"}},
    ),
    ("openai-chat", "mistral", {"prompt_cache_key": "k"}, {"prompt_cache_key": "k"}),
    ("openai-chat", "anthropic", {"safety_identifier": "s"}, {"metadata": {"user_id": "s"}}),
    ("openai-chat", "anthropic", {"service_tier": "auto"}, {"service_tier": "auto"}),
    ("openai-chat", "anthropic", {"reasoning_effort": "none"}, {"thinking": {"type": "disabled"}}),
    ("openai-chat", "bedrock-converse", {"service_tier": "priority"}, {"serviceTier": {"type": "priority"}}),
    ("openai-chat", "bedrock-converse", {"metadata": {"a": "b"}}, {"requestMetadata": {"a": "b"}}),
    ("openai-chat", "cohere", {"logprobs": True}, {"logprobs": True}),
    ("openai-chat", "ollama", {"logprobs": True, "top_logprobs": 2}, {"logprobs": True, "top_logprobs": 2}),
    ("anthropic", "gemini", {"thinking": THINKING}, {"generationConfig": {"thinkingConfig": {"thinkingBudget": 2048}}}),
    (
        "anthropic",
        "gemini",
        {"thinking": {"type": "adaptive"}},
        {"generationConfig": {"thinkingConfig": {"thinkingBudget": -1}}},
    ),
    ("anthropic", "cohere", {"thinking": THINKING}, {"thinking": {"type": "enabled", "token_budget": 2048}}),
]


@pytest.mark.parametrize(("one", "other", "native", "expected"), BOTH_HAVE, ids=str)
def test_what_two_services_both_have_goes_from_one_to_the_other_and_back(
    one: str, other: str, native: dict[str, Any], expected: dict[str, Any]
) -> None:
    there = pipeline.convert({**BASES[one], **native}, dialects.get(one), dialects.get(other))
    assert [loss.field for loss in there.losses if loss.field.startswith(("settings", "extras"))] == []
    assert {key: there.document[key] for key in expected} == said_with(there.document, expected)
    back = pipeline.convert({**BASES[other], **expected}, dialects.get(other), dialects.get(one))
    assert [loss.field for loss in back.losses if loss.field.startswith(("settings", "extras"))] == []
    assert {key: back.document[key] for key in native} == native


def said_with(document: dict[str, Any], expected: dict[str, Any]) -> dict[str, Any]:
    """What is expected, and the limit that the source has too."""
    config = document.get("generationConfig", {})
    limit = {key: config[key] for key in ("maxOutputTokens",) if key in config}
    return {key: {**limit, **value} if key == "generationConfig" else value for key, value in expected.items()}


@pytest.mark.parametrize(
    ("one", "other", "native", "field", "word"),
    [
        ("openai-chat", "anthropic", {"service_tier": "flex"}, "settings.serviceTier", "auto and standard_only"),
        ("openai-chat", "anthropic", {"user": "u"}, "settings.user", "metadata.user_id"),
        ("openai-chat", "openai-responses", {"n": 2}, "settings.candidateCount", "one answer"),
        ("openai-chat", "gemini", {"metadata": {"a": "b"}}, "settings.metadata", "billing"),
        ("openai-chat", "gemini", {"store": True}, "settings.store", "logs"),
        ("openai-chat", "vertexai", {"service_tier": "flex"}, "settings.serviceTier", "Vertex AI has none"),
        (
            "gemini",
            "openai-chat",
            {"generationConfig": {"responseModalities": ["IMAGE"]}},
            "settings.modalities",
            "audio",
        ),
        (
            "gemini",
            "anthropic",
            {"generationConfig": {"thinkingConfig": {"thinkingBudget": 512}}},
            "settings.reasoningBudget",
            "1,024",
        ),
        (
            "bedrock-converse",
            "openai-chat",
            {"serviceTier": {"type": "reserved"}},
            "settings.serviceTier",
            "no such service tier",
        ),
        (
            "anthropic",
            "openai-responses",
            {"thinking": THINKING},
            "settings.reasoningBudget",
            "cannot store this field",
        ),
    ],
)
def test_a_setting_whose_meaning_the_other_service_has_not_is_dropped_and_the_reason_says_why(
    one: str, other: str, native: dict[str, Any], field: str, word: str
) -> None:
    lost = pipeline.convert({**BASES[one], **native}, dialects.get(one), dialects.get(other)).losses
    assert [word in loss.why for loss in lost if loss.field == field and loss.kind == "dropped"] == [True]


def test_a_user_stands_in_the_one_place_that_anthropic_has_for_one() -> None:
    chat, claude = dialects.get("openai-chat"), dialects.get("anthropic")
    assert pipeline.convert({**ASKED, "user": "u"}, chat, claude).document["metadata"] == {"user_id": "u"}
    both = pipeline.convert({**ASKED, "user": "u", "safety_identifier": "s"}, chat, claude)
    assert both.document["metadata"] == {"user_id": "s"}
    assert [loss.field for loss in both.losses] == ["settings.user"]


CALLED: list[dict[str, Any]] = [
    {"role": "model", "parts": [{"functionCall": {"name": "f", "args": {}}}]},
    {"role": "user", "parts": [{"functionResponse": {"name": "f", "response": {"output": "x"}}}]},
]


@pytest.mark.parametrize(
    "native",
    [
        {"contents": [*GEMINI["contents"], *CALLED]},
        {
            "tools": [{"functionDeclarations": [{"name": "f"}]}],
            "toolConfig": {"functionCallingConfig": {"mode": "ANY"}},
        },
        {"generationConfig": {"thinkingConfig": {"thinkingBudget": 2048}, "maxOutputTokens": 2048}},
    ],
    ids=["results come last", "a tool is forced", "no room for an answer"],
)
def test_a_budget_for_thinking_is_not_asked_of_anthropic_where_it_would_refuse_it(native: dict[str, Any]) -> None:
    config = {"thinkingConfig": {"thinkingBudget": 2048}, "maxOutputTokens": 4096}
    gemini, claude = dialects.get("gemini"), dialects.get("anthropic")
    request = {**GEMINI, "generationConfig": config}
    assert pipeline.convert(request, gemini, claude).document["thinking"] == THINKING
    assert "thinking" not in pipeline.convert({**request, **native}, gemini, claude).document
