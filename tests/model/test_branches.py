"""Of a tree the active branch: the path from the root to the head, and results that follow it."""

from __future__ import annotations

from convcli.model.branches import active, branch, context
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


def summary(id_: str | None, replaces: str, parent: str | None = None) -> Message:
    return Message("user", [], id=id_, parent_id=parent, replaces=replaces)


def test_without_a_compaction_the_context_is_the_branch() -> None:
    assert context(Transcript(TREE)) is TREE
    assert ids(context(Transcript(TREE, head="4"))) == ["1", "3", "e", "4"]


def test_of_what_a_compaction_replaces_only_the_leading_instructions_are_left() -> None:
    lead, later = message("s", role="system"), message("d", role="developer")
    messages = [lead, message("1"), later, message("2"), summary("sum", "all"), message("3")]
    assert ids(context(Transcript(messages))) == ["s", "sum", "3"]


def test_what_a_compaction_leaves_standing_follows_its_summary() -> None:
    messages = [message("1"), message("2"), message("3"), summary("sum", "2"), message("4")]
    assert ids(context(Transcript(messages))) == ["sum", "2", "3", "4"]


def test_of_several_compactions_the_last_one_counts_and_only_on_the_active_branch() -> None:
    messages = [message("1"), summary("a", "all", "1"), message("2", "a"), summary("b", "all", "2"), message("3", "b")]
    assert ids(context(Transcript(messages))) == ["b", "3"]
    assert ids(context(Transcript(messages, head="2"))) == ["a", "2"]


def test_instructions_before_a_tree_belong_to_every_branch() -> None:
    messages = [message(None, role="system"), message(None), message("1"), message("2", "1"), message("3", "1")]
    kept = branch(Transcript(messages, head="2"))
    assert [(one.role, one.id) for one in kept] == [("system", None), ("user", "1"), ("user", "2")]
