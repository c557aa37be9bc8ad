"""Summaries of conversions: how many transcripts became what, and the losses in groups of one kind and field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import msgspec

from convcli.jobs.row_forms import RowForms, count_form
from convcli.model.errors import DONE, UNACCEPTABLE
from convcli.proof.reasons import PROGRAM_TURN, SET, Level, Loss

if TYPE_CHECKING:
    from convcli.jobs.inputs import Input

WORDS = frozenset(
    (
        "text", "reasoning", "refusal", "image", "audio", "video", "document", "opaque", "tool_call", "tool_result",
        "data", "error", "multimodal", "system", "developer", "user", "assistant", "tool", "event",
    )
)  # fmt: skip
"""Types, kinds and roles: the only values of `before` and `after` that a report may show; others are user data."""
MOST_GROUPS = 1000
"""Groups of losses that are counted separately: user keys are fields too, and each line of a file can have another."""
OTHER = "other fields"
"""The label of all other groups of one level and kind."""
AS_SET, AS_LEFT_OUT = " (set)", " (left out)"
"""The ends of the labels of values that the user has set, and of turns of the agent program that are left out."""


class LossCount(msgspec.Struct):
    """The number of losses of one kind and field, and the first of them."""

    level: Level
    kind: str
    label: str
    first: Loss
    count: int = 0

    @property
    def is_chosen(self) -> bool:
        """True for losses that the user has chosen."""
        return self.label.endswith((AS_SET, AS_LEFT_OUT))


COUNTED = (
    *("transcripts", "rows", "lossy", "refused", "failing", "outputs", "withheld", "torn"),
    *("incomplete", "left_out", "calls", "conversations"),
)
"""Numbers of a summary that are added."""


class Summary(msgspec.Struct):
    """The result of one or more inputs.

    `transcripts`: read · `rows`: what they became; runs of subagents and parts have rows of their own · `lossy`:
    transcripts with losses · `refused`: unacceptable documents and lines · `failing`: losses of levels that the job
    does not accept · `outputs`: written · `withheld`: sessions not converted only because of a refused line ·
    `incomplete`: transcripts without their refused lines, and `left_out` the number of these lines · `calls`,
    `conversations`: joined calls, and what became of them · `forms`: training rows by dialect and columns · `groups`:
    at most a little more than `most_groups`, with exact counts.
    """

    sources: list[str]
    target: str
    transcripts: int = 0
    rows: int = 0
    lossy: int = 0
    refused: int = 0
    failing: int = 0
    outputs: int = 0
    withheld: int = 0
    torn: int = 0
    incomplete: int = 0
    left_out: int = 0
    calls: int = 0
    conversations: int = 0
    groups: dict[str, LossCount] = {}
    forms: RowForms = {}
    most_groups: int = MOST_GROUPS

    @property
    def losses(self) -> int:
        """The number of losses, without those that the user has chosen."""
        return sum(group.count for group in self.groups.values() if not group.is_chosen)

    @property
    def is_held_back(self) -> bool:
        """True if nothing is written only because something else was refused."""
        is_rest = bool(self.transcripts or self.withheld)
        return bool(self.refused) and is_rest and not self.outputs and not self.failing

    @property
    def exit_code(self) -> int:
        """UNACCEPTABLE if something was refused, or lost that must not be."""
        return UNACCEPTABLE if self.refused or self.failing else DONE

    @property
    def left_out_turns(self) -> dict[str, int]:
        """The number of turns of the agent program that are left out, by their kind."""
        groups = [group for group in self.groups.values() if group.label.endswith(AS_LEFT_OUT)]
        return {group.label.removeprefix(f"{PROGRAM_TURN}.").removesuffix(AS_LEFT_OUT): group.count for group in groups}

    @property
    def set_values(self) -> dict[str, int]:
        """The number of values that the user's options changed or added, by what they did and the field."""
        groups = [group for group in self.groups.values() if group.label.endswith(AS_SET)]
        words = {"changed": "overwrote", "invented": "added"}
        return {
            f"{words.get(group.kind, group.kind)} {group.label.removesuffix(AS_SET)}": group.count for group in groups
        }

    def count(self, loss: Loss, number: int = 1) -> None:
        """Counts a loss, and as many like it as the `number` states."""
        self._group(loss.level, loss.kind, label(loss), loss).count += number

    def count_joined(self, source: Input) -> None:
        """Counts the calls of an input that were joined."""
        if source.joined is not None:
            self.calls += source.joined.calls
            self.conversations += source.joined.conversations

    def add(self, other: Summary) -> None:
        """Adds the result of another input."""
        self.sources += [name for name in other.sources if name not in self.sources]
        for name in COUNTED:
            setattr(self, name, getattr(self, name) + getattr(other, name))
        for group in other.groups.values():
            self._group(group.level, group.kind, group.label, group.first).count += group.count
        for dialect, forms in other.forms.items():
            for columns, number in forms.items():
                count_form(self.forms, dialect, columns, number)

    def _group(self, level: Level, kind: str, label: str, first: Loss) -> LossCount:
        """Returns the group of these losses, or that of all other groups if there are too many."""
        group = self.groups.get(f"{level} {kind} {label}")
        if group is None:
            label = label if len(self.groups) < self.most_groups else OTHER
            group = self.groups.setdefault(f"{level} {kind} {label}", LossCount(level, kind, label, first))
        return group


def label(loss: Loss) -> str:
    """Names what was lost: `name` of messages, `settings.seed`, `anthropic.cache_control` of extras, or `data → text`.
    Different fields have different labels."""
    is_of_transcript = loss.field in ("id", "model", "createdAt")
    name = f"transcript {loss.field}" if is_of_transcript else loss.field.removeprefix("extras.")
    chosen = AS_SET if loss.why == SET else AS_LEFT_OUT if loss.field.startswith(PROGRAM_TURN) else ""
    return shown_types(loss.before, loss.after) or name.removeprefix("message.") + chosen


def shown_types(before: Any, after: Any) -> str:
    """Returns `data → text` for types that say more than the field; empty for other values."""
    is_words = isinstance(before, str) and isinstance(after, str) and before in WORDS and after in WORDS
    return f"{before} → {after}" if is_words else ""
