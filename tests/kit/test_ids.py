"""Ids of sessions and rows, and parents of rows."""

from __future__ import annotations

from typing import Any

import pytest

from convcli.kit.ids import chain_messages, is_uuid, new_uuid, number_messages, set_session_id, uuid_of
from convcli.model.transcript import Message, ToolCall, ToolResult, Transcript
from tests.kit.turns import ids, number, parents, turn


def test_messages_get_ids_that_no_other_has() -> None:
    transcript = number_messages(number)(
        Transcript([turn("a"), turn("b", id="n1"), turn("c", id="n1"), turn("d", id="")])
    )
    assert ids(transcript) == ["n2", "n1", "n3", "n4"]
    assert number_messages(number)(transcript) is transcript


def test_a_chain_names_the_row_before() -> None:
    transcript = chain_messages(number)(Transcript([turn("a"), turn("b", id="b", parent_id="x"), turn("c")]))
    assert (ids(transcript), parents(transcript)) == (["n1", "b", "n2"], [None, "n1", "b"])
    assert transcript.head is None


def test_the_session_or_a_call_may_be_named_as_a_parent() -> None:
    call = Message("assistant", [ToolCall("c", "f", {})], id="a", parent_id="s")
    result = Message("tool", [ToolResult("c", "f", "text", "x")], id="b", parent_id="c")
    session = Transcript([turn("q", id="q", parent_id="s"), call, result, turn("z")], id="s")
    assert parents(chain_messages(number)(session)) == ["s", "s", "c", "b"]


@pytest.mark.parametrize("head", ["m1", "m2", "m3"])
def test_a_tree_keeps_its_branches_and_its_head(head: str) -> None:
    links = {"m0": None, "m1": "m0", "m2": "m1", "m3": "m1"}
    tree = Transcript([turn(id_, id=id_, parent_id=parent) for id_, parent in links.items()], head=head)
    transcript = chain_messages(number)(tree)
    assert (parents(transcript), transcript.head) == (list(links.values()), head)


def test_a_chain_needs_no_head() -> None:
    assert (
        chain_messages(number)(Transcript([turn("a", id="a"), turn("b", id="b", parent_id="a")], head="b")).head is None
    )


def test_what_leads_a_tree_without_an_id_stands_before_all_its_branches() -> None:
    tree = Transcript([turn("s"), turn("a", id="a"), turn("b", id="b")], head="b")
    assert parents(chain_messages(number)(tree)) == [None, "n1", "n1"]


def test_in_a_tree_a_result_without_an_id_stands_between_its_call_and_what_follows() -> None:
    call, result = ToolCall("c", "f", {}), ToolResult("c", "f", "text", "x")
    messages = [
        turn("q", id="q"),
        Message("assistant", [call], id="a", parent_id="q"),
        Message("tool", [result]),
        turn("b", id="b", parent_id="a"),
        turn("c", id="c", parent_id="q"),
    ]
    transcript = chain_messages(number)(Transcript(messages, head="b"))
    assert parents(transcript) == [None, "q", "a", "n1", "q"]


def test_no_parent_follows_its_child() -> None:
    tree = Transcript([turn("a", id="a", parent_id="b"), turn("b", id="b", parent_id="a")], head="b")
    assert parents(chain_messages(number)(tree)) == [None, "a"]


def test_a_session_without_an_id_has_one_of_its_content() -> None:
    fits = set_session_id(lambda transcript: [part.text for m in transcript.messages for part in m.parts])
    one, same, other = (fits(Transcript([turn(text)])).id for text in ("a", "a", "b"))
    assert one == same == uuid_of(["a"]) != other
    assert fits(Transcript([], id="own")).id == "own"
    assert set_session_id(lambda _: [], accepts=lambda id_: len(id_) == 36)(Transcript([], id="own")).id == uuid_of([])


def test_ids_that_are_generated_are_uuids() -> None:
    assert is_uuid(new_uuid(1))
    assert is_uuid(uuid_of([]))
    assert new_uuid(1) != new_uuid(2)


@pytest.mark.parametrize("value", [None, 1, "1", new_uuid(1) + "x"])
def test_other_values_are_no_uuids(value: Any) -> None:
    assert not is_uuid(value)
