"""Messages that share a row."""

from __future__ import annotations

from convcli.kit.grouping import are_of_user, begins, drop_subagent_runs, groups, lines, on_rows
from convcli.kit.ids import chain_messages
from convcli.kit.sessions import set_times
from convcli.model.transcript import Message, Text, Transcript


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
    assert drop_subagent_runs(Transcript([asked, run, answered])).messages == [asked, answered]
    assert drop_subagent_runs(Transcript([run])).messages == [run]


def test_passes_see_only_the_messages_with_which_rows_begin() -> None:
    messages = [Message("user", [], id="a"), Message("tool", []), Message("assistant", [], created_at="t")]
    fitted = on_rows(Transcript(messages), [0, 2], chain_messages(lambda number: f"n{number}"), set_times)
    assert [(one.id, one.parent_id, one.created_at) for one in fitted.messages] == [
        ("a", None, "t"),
        (None, None, None),
        ("n1", "a", "t"),
    ]
    assert fitted.created_at == "t"
    same = Transcript(messages)
    assert on_rows(same, [0, 1], lambda rows: rows).messages is messages


def test_a_part_with_which_a_row_begins_has_the_keys_of_the_row() -> None:
    first, second = Text("a", extras={"own": {"line": {}}}), Text("b")
    third = Text("c", extras={"own": {"line": {"k": 1}}})
    answer = Message("assistant", [first, second, third])
    assert lines(answer, "own", "line") == [[first, second], [third]]
    assert lines(answer, "other", "line") == [[first, second, third]]
    assert lines(Message("assistant", []), "own", "line") == [[]]
