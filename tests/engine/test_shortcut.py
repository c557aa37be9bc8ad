"""Plain conversations: the short way gives what the long way gives, and is taken by what nearly all messages are."""

from __future__ import annotations

import copy
import json
import random
from itertools import permutations
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from convcli import dialects
from convcli.engine import conversion, pipeline, shortcut
from convcli.kit.turns import messages_of, sample
from convcli.model.dialect import Dialect, Plain, Turn
from convcli.validation import schemas
from convcli.validation.rules.keys import BESIDE_TURNS
from tests import strategies
from tests.laws.test_mutants import containers, mutate
from tests.support import acceptable, dumped, names, samples

PLAIN: dict[str, Plain] = {
    dialect.name: dialect.plain for dialect in map(dialects.get, names()) if dialect.plain is not None
}
PAIRS = list(permutations(PLAIN, 2))
RESTS: list[dict[str, Any]] = [
    {},
    {"model": "m", "tools": []},
    {"temperature": 0.5, "stop": ["x"], "stop_sequences": ["x"]},
    {"tools": [{"type": "function", "function": {"name": "f", "parameters": {"type": "object"}}}]},
    {"tools": [{"name": "f", "input_schema": {"type": "object"}}], "max_tokens": 9, "tool_choice": {"type": "auto"}},
    {"thinking": {"type": "enabled", "budget_tokens": 2000}},
]

texts = st.sampled_from(["Hi.", "Tokyo は晴れ", "", " ", "x\n"])
images = st.sampled_from(
    [("image/png", "iVBORw0KGgo="), ("image/png", "?"), ("image/tiff", "AAAA"), ("", "https://x.y/z")]
)
roles = st.sampled_from(["user", "assistant", "user", "assistant", "system", "developer"])
calls = st.tuples(
    st.sampled_from(["a", "b", "c d", "e" * 41]),
    st.sampled_from(["f", "g.h", "f"]),
    strategies.objects | st.just({"n": 1}),
)


@st.composite
def conversations(draw: st.DrawFn) -> list[Turn]:
    """Turns in any order, most of them as they are to be."""
    turns: list[Turn] = [("system", "Be brief.")] if draw(st.booleans()) else []
    turns += [("user", draw(texts))] if draw(st.booleans()) else []
    for _ in range(draw(st.integers(0, 4))):
        kind = draw(st.sampled_from(["said", "shown", "called"]))
        if kind == "said":
            turns.append((draw(roles), draw(texts)))
        elif kind == "shown":
            turns.append(("user", draw(st.lists(texts | images, min_size=1, max_size=3))))
        else:
            called = draw(st.lists(calls, min_size=1, max_size=2))
            turns.append(("assistant", draw(st.none() | texts), called))
            answered = draw(st.permutations([id_ for id_, _, _ in called]))[: draw(st.integers(0, 3))]
            turns += [("tool", id_, draw(texts)) for id_ in answered]
    return turns


def conversation(seed: int, *, named: bool = False) -> dict[str, Any]:
    """A request with texts, images, calls and results, and the tools that all of them have; with `named` every user has
    a name, which Anthropic cannot say."""
    rng = random.Random(seed)
    messages: list[dict[str, Any]] = [{"role": "system", "content": "Be brief."}]
    for turn in range(5):
        user: dict[str, Any] = {"role": "user", "content": f"What is {rng.random()}?"}
        if named:
            user["name"] = f"u{turn}"
        elif rng.random() < 0.2:
            image = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
            user["content"] = [{"type": "text", "text": user["content"]}, image]
        ids = [f"call_{turn}_{k}" for k in range(rng.choice((1, 1, 2)))]
        function = {"name": "search", "arguments": json.dumps({"q": "x", "n": turn})}
        called = [{"id": id_, "type": "function", "function": function} for id_ in ids]
        messages += [user, {"role": "assistant", "content": "Let me see.", "tool_calls": called}]
        messages += [{"role": "tool", "tool_call_id": id_, "content": f"{rng.random()}"} for id_ in ids]
        messages.append({"role": "assistant", "content": "東京"})
    tools = [{"type": "function", "function": {"name": "search", "parameters": {"type": "object"}}}]
    return {"model": "gpt-6-sol", "messages": messages, "tools": tools}


def assert_same_way(document: Any, source: Dialect, target: Dialect) -> bool:
    """Does the document go the short way? Then the long one leads to the same."""
    before = copy.deepcopy(document)
    short = shortcut.by_template(document, source, target) or shortcut.by_template(document, source, target)
    assert dumped(document) == dumped(before)
    if short is None:
        return False
    assert schemas.findings(source.name, document) == []
    long = conversion.lower(conversion.lift(document, source), target, source=source)
    assert dumped(short.document) == dumped(long.document)
    assert short.losses == long.losses
    assert short.findings == long.findings
    assert {finding.code for finding in short.findings} <= BESIDE_TURNS
    return True


@pytest.mark.parametrize(("source", "target"), PAIRS)
def test_samples_come_out_the_same_on_both_ways(source: str, target: str) -> None:
    mine = [one.document for one in acceptable() if one.dialect == source]
    short = [assert_same_way(document, dialects.get(source), dialects.get(target)) for document in mine]
    assert sum(short) >= 3


@pytest.mark.parametrize(("source", "target"), PAIRS)
@given(turns=conversations(), rest=st.sampled_from(RESTS), listed=st.booleans(), named=st.booleans(), draw=st.data())
@settings(max_examples=300)
def test_conversations_come_out_the_same_on_both_ways(
    source: str, target: str, turns: list[Turn], rest: dict[str, Any], listed: bool, named: bool, draw: st.DataObject
) -> None:
    document = copy.deepcopy(PLAIN[source].give([] if listed else {**rest, "messages": []}, turns))
    for message in messages_of(document)[1] if named else ():
        message["name"] = draw.draw(st.sampled_from(["Ann", "Ann", "Ann", "", "two words", 3]))
    for _ in range(draw.draw(st.sampled_from([0, 0, 1, 2]))):
        places = list(containers(document))
        mutate(draw.draw, places[draw.draw(st.integers(0, len(places) - 1))])
    assert_same_way(document, dialects.get(source), dialects.get(target))


@pytest.mark.parametrize("name", PLAIN)
@given(turns=conversations())
@settings(max_examples=200)
def test_what_is_given_is_taken_back_or_not_at_all(name: str, turns: list[Turn]) -> None:
    taken = PLAIN[name].take(PLAIN[name].give({"model": "m", "messages": []}, turns))
    if taken is not None:
        again = PLAIN[name].take(PLAIN[name].give({"model": "m", "messages": []}, taken.turns))
        assert again == taken


def test_the_conversations_of_the_benchmark_go_the_short_way_and_back() -> None:
    chat, anthropic = dialects.get("openai-chat"), dialects.get("anthropic")
    for seed in range(20):
        document = conversation(seed)
        assert assert_same_way(document, chat, anthropic)
        assert assert_same_way(pipeline.convert(document, chat, anthropic).document, anthropic, chat)


def test_names_that_get_lost_are_told_on_the_short_way() -> None:
    document = conversation(1, named=True)
    for one, prefix in ((document, "/messages"), (document["messages"], "")):
        assert assert_same_way(one, dialects.get("openai-chat"), dialects.get("anthropic"))
        found = pipeline.convert(one, dialects.get("openai-chat"), dialects.get("anthropic")).losses
        assert [loss.before for loss in found] == ["u0", "u1", "u2", "u3", "u4"]
        assert found[0].where == f"{prefix}/1/name"


def test_two_outputs_share_nothing() -> None:
    chat, anthropic = dialects.get("openai-chat"), dialects.get("anthropic")
    _, one, two = (pipeline.convert(conversation(2), chat, anthropic).document for _ in range(3))
    for holder in containers(one):
        holder.clear()
    assert two["tools"][0]["input_schema"]["type"] == "object"
    assert two == pipeline.convert(conversation(2), chat, anthropic).document


def test_a_conversion_on_the_short_way_knows_its_transcript() -> None:
    document = conversation(3)
    for _ in range(2):
        made = pipeline.convert(document, dialects.get("openai-chat"), dialects.get("anthropic"))
    assert made.transcript == conversion.lift(document, dialects.get("openai-chat"))
    assert made.transcript is made.transcript


@pytest.mark.parametrize("name", PLAIN)
def test_the_short_way_is_open_to_clean_samples(name: str) -> None:
    taken = [one for one in samples() if one.dialect == name and PLAIN[name].take(one.document) is not None]
    assert len(taken) >= 4


def test_a_sample_is_plain_everywhere() -> None:
    for name, plain in PLAIN.items():
        for has_system in (False, True):
            taken = plain.take(plain.give({"messages": []}, sample(has_system)))
            assert taken is not None, name
            assert taken.turns == sample(has_system)


def test_nothing_is_prepared_for_a_document_that_is_alone() -> None:
    document = {**conversation(4), "temperature": 0.123456}
    chat, anthropic = dialects.get("openai-chat"), dialects.get("anthropic")
    assert shortcut.by_template(document, chat, anthropic) is None
    assert shortcut.by_template(document, chat, anthropic) is not None
