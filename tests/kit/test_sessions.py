"""What sessions share: events, trees, repeated rows, and what a new session must have."""

from __future__ import annotations

from typing import Any

import pytest

from convcli.kit.contexts import LiftContext
from convcli.kit.envelopes import Envelope
from convcli.kit.ids import chain_messages
from convcli.kit.sessions import (
    EPOCH,
    Repeats,
    add_event,
    event_of,
    events,
    head_of,
    joined,
    keep_active_branch,
    keep_latest_branch,
    keep_own_events,
    put_results_before_events,
    replacing_all,
    row_of_event,
    set_models_of_answers,
    set_times,
    with_rows,
)
from convcli.model.transcript import Message, Opaque, ToolCall, ToolResult, Transcript
from tests.kit.turns import ids, number, parents, turn

ROW = Envelope("type= id=id parentId=parent_id timestamp=created_at message=")


# ---------------------------------------------------------------- rows


def test_an_event_is_the_whole_row_and_is_written_with_the_fields_of_its_message() -> None:
    row = {"type": "mark", "id": "r1", "timestamp": 17, "what": 1}
    event = event_of("own", row, ROW)
    assert (event.role, event.id, event.parts) == ("event", "r1", [Opaque("own", row)])
    assert row_of_event(event, "own", ROW) == row
    event.id = "r2"
    assert row_of_event(event, "own", ROW) == {**row, "id": "r2"}
    assert row_of_event(event, "other", ROW) is None


def test_rows_that_were_rolled_back_are_events_that_the_origin_knows_by_their_index() -> None:
    context = LiftContext("own", [])
    context.add(turn("a"), (0,))
    add_event(context, {"type": "gone"}, (1,), rolled_back=True)
    add_event(context, {"type": "mark"}, (2,))
    transcript = context.transcript()
    assert [message.role for message in transcript.messages] == ["user", "event", "event"]
    assert context.origin.rolled_back == {1}
    assert context.origin.places == [((0,), None), ((1,), [()]), ((2,), [()])]


@pytest.mark.parametrize(
    ("links", "head"),
    [
        ([("a", None), ("b", "a"), ("c", "b")], None),
        ([("a", None), ("b", "a"), ("c", "a")], "c"),
        ([("a", None), ("b", None)], "b"),
        ([("a", None), ("b", "nowhere")], None),
        ([(None, None), (None, None)], None),
        ([], None),
    ],
)
def test_the_last_row_is_the_head_where_rows_branch(links: list[tuple[Any, Any]], head: str | None) -> None:
    assert head_of(links) == head


def test_rows_of_one_message_are_joined_where_the_first_one_stands() -> None:
    assert joined(["m1", None, "m1", "m2", None]) == [[0, 2], [1], [3], [4]]


def test_a_value_is_repeated_as_often_as_it_stands() -> None:
    repeats = Repeats(["a", "b", "a"], str.lower)
    assert [repeats.take(value) for value in ("a", "b", "a", "a", "b")] == [0, 1, 2, None, None]


def test_a_value_is_repeated_in_any_order() -> None:
    repeats = Repeats(["a", "B", "c", "b"], str.lower)
    assert [repeats.take(value) for value in ("a", "c", "d", "b", "b", "b")] == [0, 2, None, 1, 3, None]


# ---------------------------------------------------------------- new sessions


def test_the_time_of_a_row_is_that_of_the_one_before_it_of_the_session_or_1970() -> None:
    known = "2026-01-02T03:04:05Z"
    transcript = set_times(Transcript([turn("a"), turn("b", created_at=known), turn("c")]))
    assert (transcript.created_at, [m.created_at for m in transcript.messages]) == (known, [known] * 3)
    assert set_times(Transcript([turn("a")])).messages[0].created_at == EPOCH
    later = set_times(Transcript([turn("a"), turn("b", created_at=known)], created_at="2026-01-01T00:00:00Z"))
    assert [m.created_at for m in later.messages] == ["2026-01-01T00:00:00Z", known]


def test_answers_name_the_model_that_a_session_does_not_name() -> None:
    transcript = set_models_of_answers(
        Transcript([turn("a"), Message("assistant", []), Message("assistant", [], model="y")], model="x")
    )
    assert [message.model for message in transcript.messages] == [None, "x", "y"]
    assert transcript.model is None


def test_an_event_that_is_left_out_hands_its_parent_on() -> None:
    tree = Transcript(
        [
            turn("a", id="a"),
            Message("event", [], id="e1", parent_id="a"),
            Message("event", [], id="e2", parent_id="e1"),
            turn("b", id="b", parent_id="e2"),
        ],
        head="e2",
    )
    transcript = events(lambda _: False)(tree)
    assert (ids(transcript), parents(transcript), transcript.head) == (["a", "b"], [None, "a"], "a")
    assert events(lambda _: True)(tree) is tree


def test_a_session_has_rows_for_events_of_its_own_that_are_read_as_events_again() -> None:
    note, said = (Message("event", [Opaque("own", {"type": kind})]) for kind in ("note", "said"))
    other, several = Message("event", [Opaque("other", {})]), Message("event", [Opaque("own", {}), Opaque("own", {})])
    mixed = Transcript([turn("a"), note, other, said, several])
    assert keep_own_events("own")(mixed).messages == [mixed.messages[0], note, said]
    assert keep_own_events("own", lambda row: row["type"] == "said")(mixed).messages == [mixed.messages[0], note]


def test_a_summary_of_some_messages_stands_for_all_before_it_where_a_row_cannot_say_which() -> None:
    assert replacing_all(turn("a", replaces="m1")) == turn("a", replaces="all")
    for kept in (turn("a"), turn("a", replaces="all")):
        assert replacing_all(kept) is kept


def test_results_move_behind_their_calls_and_events_stay_where_they_stood() -> None:
    ask, event = turn("q"), Message("event", [])
    call = Message("assistant", [ToolCall("c", "f", {})])
    result = Message("tool", [ToolResult("c", "f", "text", "x")])
    late = Transcript([call, event, ask, result])
    assert put_results_before_events(late).messages == [call, result, event, ask]
    in_order = Transcript([call, event, result])
    assert put_results_before_events(in_order) is in_order


def test_a_session_without_branches_takes_only_the_active_one() -> None:
    tree = Transcript([turn("a", id="a"), turn("b", id="b", parent_id="a"), turn("c", id="c", parent_id="a")], head="c")
    assert ids(keep_active_branch(tree)) == ["a", "c"]
    keep_active_conversation = Transcript([Message("event", []), turn("a")])
    assert keep_active_branch(keep_active_conversation) is keep_active_conversation


def test_a_program_that_continues_the_last_branch_gets_the_active_one_alone_unless_it_is_last() -> None:
    links = {"a": None, "b": "a", "c": "a"}
    messages = [turn(id_, id=id_, parent_id=parent) for id_, parent in links.items()]
    last, earlier = Transcript(messages, head="c"), Transcript(messages, head="b")
    assert keep_latest_branch()(last) is last
    assert ids(keep_latest_branch()(earlier)) == ["a", "b"]
    assert keep_latest_branch(lambda message: message.id != "c")(earlier) is earlier


def test_events_hold_the_ids_and_times_that_they_are_written_with() -> None:
    turns = [turn("a"), Message("event", [Opaque("own", {"type": "mark"})]), Message("event", [Opaque("other", 1)])]
    transcript = with_rows(lambda event: row_of_event(event, "own", ROW))(
        set_times(chain_messages(number)(Transcript(turns)))
    )
    row = {"type": "mark", "id": "n2", "parentId": "n1", "timestamp": EPOCH}
    assert [message.parts[0] for message in transcript.messages[1:]] == [Opaque("own", row), Opaque("other", 1)]
    assert transcript.messages[0] is with_rows(lambda _: None)(transcript).messages[0]
