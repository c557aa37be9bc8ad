"""Finds the values of the columns that state where a training row comes from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from convcli.engine.row_choices import LeftOut
from convcli.jobs.documents import Document
from convcli.jobs.portions import Portion
from convcli.model.branches import active
from convcli.model.transcript import ToolResult
from convcli.proof.reasons import Loss, is_chosen
from convcli.views.columns import branch_of, directory_of, program_of
from convcli.views.rows import about, is_error

STDIN = "<stdin>"


class RowFacts:
    """What the columns of a row are found from."""

    def __init__(self, item: Document, portion: Portion, losses: list[Loss], left_out: LeftOut) -> None:
        self.item, self.portion, self.losses = item, portion, losses
        self.transcript = portion.transcript
        self.left_out = {id(self.transcript.messages[place]) for place in left_out if isinstance(place, int)}
        self.messages = [message for message in active(self.transcript) if message.role != "event"]
        self.about = about(self.transcript)

    @property
    def failed(self) -> list[ToolResult]:
        """The results of failed calls."""
        parts = (part for message in self.messages for part in message.parts)
        return [part for part in parts if isinstance(part, ToolResult) and is_error(part)]


def _tokens(facts: RowFacts) -> int | None:
    """Returns the tokens of the conversation: those of the user's tokenizer, else as counted for its last answer."""
    if facts.portion.tokens is not None:
        return facts.portion.tokens
    usage = next((message.usage for message in reversed(facts.messages) if message.usage), None)
    return None if usage is None else usage.get("inputTokens", 0) + usage.get("outputTokens", 0)


def _turns(facts: RowFacts) -> int:
    """Returns the number of user messages; several in a row are one turn."""
    written = [message.role for message in facts.messages if id(message) not in facts.left_out]
    return sum(role == "user" and before != "user" for before, role in pairwise(["", *written]))


FINDERS: Mapping[str, Callable[[RowFacts], Any]] = {
    "id": lambda facts: facts.portion.id or facts.about["id"],
    "parent": lambda facts: facts.portion.parent,
    "program": lambda facts: program_of(facts.item) or facts.item.dialect.name,
    "model": lambda facts: facts.about["model"],
    "file": lambda facts: None if facts.item.file == STDIN else facts.item.file,
    "line": lambda facts: facts.item.number,
    "part": lambda facts: facts.portion.part or None,
    "parts": lambda facts: facts.portion.parts or None,
    "cwd": lambda facts: directory_of(facts.item, facts.transcript),
    "branch": lambda facts: branch_of(facts.item, facts.transcript),
    "created": lambda facts: facts.about["begin"],
    "tokens": _tokens,
    "turns": _turns,
    "errors": lambda facts: len(facts.failed),
    "failed": lambda facts: [result.tool_call_id for result in facts.failed],
    "losses": lambda facts: sum(loss.level == "content" and not is_chosen(loss) for loss in facts.losses),
}
"""How each column is found."""
