"""`convcli.batches`: batches of rows, as `map` of datasets gives them."""

from __future__ import annotations

import pickle
from typing import Any

import pytest

import convcli

TURNS = [{"from": "human", "value": "Hi."}, {"from": "gpt", "value": "Hello."}]
TOOLS = '[{"name": "look", "description": "Looks.", "parameters": {"type": "object", "properties": {}}}]'
BATCH: dict[str, list[Any]] = {"conversations": [TURNS, TURNS, TURNS], "tools": [None, TOOLS, None], "id": ["a"] * 3}


def test_each_key_is_a_column_and_rows_without_it_have_null() -> None:
    columns = convcli.batches("hf-chat", source="sharegpt")(BATCH)
    assert columns.keys() == {"messages", "tools", "losses", "error"}
    assert [len(column) for column in columns.values()] == [3] * 4
    assert [tools is None for tools in columns["tools"]] == [True, False, True]
    assert columns["messages"][0] == [{"role": "user", "content": "Hi."}, {"role": "assistant", "content": "Hello."}]
    assert columns["error"] == [None] * 3


def test_losses_of_content_are_counted_and_options_apply() -> None:
    look = [{"role": "user", "content": [{"type": "image"}, {"type": "text", "text": "What is it?"}]}]
    batch = {"messages": [look], "images": [["a.png"]], "seed": [5]}
    columns = convcli.batches("anthropic", ["model", "messages"], source="hf-chat", set={"model": "m"})(batch)
    assert (columns["model"], columns["losses"]) == (["m"], [1])


def test_a_row_that_cannot_be_converted_raises_or_has_an_error() -> None:
    batch = {"conversations": [TURNS, "?", [{"from": "nobody", "value": "x"}]]}
    with pytest.raises(convcli.RefusedError):
        convcli.batches("hf-chat", source="sharegpt")(batch)
    columns = convcli.batches("hf-chat", source="sharegpt", keep_going=True)(batch)
    assert columns["error"] == [None, "wrong-type", "unknown-value"]
    assert [messages is None for messages in columns["messages"]] == [False, True, True]
    unknown = convcli.batches("hf-chat", keep_going=True)({"text": ["x"]})
    assert unknown["error"] == ["unknown-dialect"]


def test_it_can_be_pickled_and_equal_options_give_equal_pickles() -> None:
    one, two = (convcli.batches("trl", source="llamafactory", default={"label": True}) for _ in range(2))
    assert pickle.dumps(one) == pickle.dumps(two)
    assert pickle.loads(pickle.dumps(one))(BATCH) == one(BATCH)


def test_mistakes_raise_at_once() -> None:
    for words in ({"source": "nothing"}, {"form": "nothing"}, {"set": {"nothing": 1}}):
        with pytest.raises(convcli.JobError):
            convcli.batches("hf-chat", **words)  # type: ignore[arg-type]
