"""Rules for transcripts whose messages form a tree."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from operator import gt

from convcli.model.rule import Breach, NodeRef, Rule
from convcli.validation.survey import Survey


def rooted(*, fixed: bool = False) -> Rule:
    """Every parent exists, no message is its own ancestor, and no two messages share an id.

    `fixed`: missing parents are allowed, because the program itself then continues from the row before. Some programs
    name the session as the parent of its first message, and a call as the parent of its result.
    """

    def check(survey: Survey) -> Iterator[Breach]:
        first: dict[str, int] = {}
        for i, message in enumerate(survey.messages):
            if message.id is not None and first.setdefault(message.id, i) != i:
                note = ("the first", NodeRef(first[message.id]))
                problem = "another message has the same id"
                yield Breach("duplicate-message-id", NodeRef(i, field="message.id"), problem, notes=(note,))
        yield from () if fixed else _parents(survey, first)
        yield from _cycles(survey, first)

    codes = ("duplicate-message-id", *(() if fixed else ("missing-parent",)), "parent-cycle")
    return Rule(codes, check, of_input=codes)


def _parents(survey: Survey, first: dict[str, int]) -> Iterator[Breach]:
    others = {survey.transcript.id, *(called.call.id for called in survey.calls)}
    for i, message in enumerate(survey.messages):
        if message.parent_id is not None and message.parent_id not in first and message.parent_id not in others:
            yield Breach("missing-parent", NodeRef(i, field="message.parentId"), "no message has this parent's id")


def _cycles(survey: Survey, first: dict[str, int]) -> Iterator[Breach]:
    """Runs in linear time: each message is walked once."""
    parents = [first.get(message.parent_id or "", -1) for message in survey.messages]
    if all(map(gt, count(), parents)):  # in nearly all trees parents come first
        return
    done: set[int] = set()
    for start in range(len(survey.messages)):
        walked: dict[int, None] = {}
        at: int | None = start
        while at is not None and at not in done and at not in walked:
            walked[at] = None
            at = parents[at] if parents[at] >= 0 else None
        if at is not None and at in walked:
            problem = "the message is an ancestor of itself"
            yield Breach("parent-cycle", NodeRef(at, field="message.parentId"), problem)
        done.update(walked)
