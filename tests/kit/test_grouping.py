"""Messages that share a row."""

from __future__ import annotations

from convcli.kit.grouping import are_of_user, begins, groups, main_path
from convcli.model.transcript import Message, Transcript


def has_no_id(message: Message, before: Message, first: Message) -> bool:
    return message.id is None and first.id is not None and are_of_user(before, message)


def test_results_without_an_id_stand_in_the_row_of_the_one_before_them() -> None:
    roles = [("user", "a"), ("assistant", "b"), ("tool", "c"), ("tool", None), ("user", None), ("user", None)]
    messages = [Message(role, [], id=id_) for role, id_ in roles]  # type: ignore[arg-type]
    assert begins(messages, has_no_id) == [0, 1, 2, 5]
    assert [len(group) for group in groups(messages, has_no_id)] == [1, 1, 3, 1]


def test_no_message_is_in_no_row() -> None:
    assert groups([], has_no_id) == []


def test_the_run_that_a_call_began_is_not_on_the_main_path() -> None:
    asked, answered = Message("user", [], id="a"), Message("assistant", [], id="c")
    run = Message("assistant", [], id="b", parent_call_id="call_1")
    assert main_path(Transcript([asked, run, answered])).messages == [asked, answered]
    assert main_path(Transcript([run])).messages == [run]
