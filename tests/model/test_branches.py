"""Of a tree the active branch: the path from the root to the head, and results that follow it."""

from __future__ import annotations

from convcli.model.branches import active, branch
from convcli.model.transcript import Message, Transcript


def message(id_: str | None, parent: str | None = None, role: str = "user") -> Message:
    return Message(role, [], id=id_, parent_id=parent)


def ids(messages: list[Message]) -> list[str | None]:
    return [one.id for one in messages]


TREE = [message("1"), message("2", "1"), message("3", "1"), message("e", "3", "event"), message("4", "e")]


def test_without_a_head_all_messages_are_one_branch() -> None:
    transcript = Transcript(TREE)
    assert branch(transcript) is TREE
    assert ids(active(transcript)) == ["1", "2", "3", "4"]


def test_the_branch_leads_from_the_root_to_the_head_in_the_order_of_the_file() -> None:
    assert ids(branch(Transcript(TREE, head="4"))) == ["1", "3", "e", "4"]
    assert ids(active(Transcript(TREE, head="4"))) == ["1", "3", "4"]
    assert ids(branch(Transcript(TREE, head="2"))) == ["1", "2"]


def test_results_without_an_id_follow_the_message_before_them() -> None:
    messages = [
        message("1"),
        message("2", "1"),
        message(None, role="tool"),
        message("3", "1"),
        message(None, role="tool"),
    ]
    kept = branch(Transcript(messages, head="2"))
    assert kept == messages[:3]
    assert kept[2] is messages[2]


def test_a_circle_of_parents_ends() -> None:
    assert ids(branch(Transcript([message("1", "2"), message("2", "1")], head="2"))) == ["1", "2"]


def test_a_head_that_no_message_has_leads_nowhere() -> None:
    assert branch(Transcript(TREE, head="x")) == []
