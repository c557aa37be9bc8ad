"""Converts one transcript into one dialect: fits, writes, reads back, compares and validates it."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import Any

import msgspec

from convcli import dialects
from convcli.engine import answers, reading, row_choices, untrusted
from convcli.engine.row_choices import LeftOut
from convcli.model.branches import branch, context
from convcli.model.dialect import Dialect, Options
from convcli.model.findings import Finding
from convcli.model.inventory import Inventory
from convcli.model.rule import Purpose
from convcli.model.transcript import Transcript
from convcli.proof.difference import NOTHING, difference
from convcli.proof.levels import Knowledge
from convcli.proof.reasons import KeysOf, Locate, Loss, Losses
from convcli.validation import schemas, unknown, verdict

BY_DEFAULT = Options()


class Conversion:
    """The result of converting one document: the output, its losses, and the findings of the target's rules.

    `document`: the output in the target dialect · `findings`: what the target would not accept, and what is wrong with
    the input; pointers lead into the input · `left_out`: what of the input was not to be written. The transcript may be
    passed as a function that lifts it when it is first read.
    """

    def __init__(
        self,
        document: Any,
        transcript: Transcript | Callable[[], Transcript],
        losses: list[Loss] | Losses,
        findings: list[Finding],
        left_out: LeftOut = NOTHING,
    ) -> None:
        self.document, self._transcript, self._losses, self.findings = document, transcript, losses, findings
        self.left_out = left_out

    @property
    def losses(self) -> list[Loss]:
        """What the output does not have as the input had it. The list is made when it is first read."""
        return self._losses if isinstance(self._losses, list) else self._losses.records

    @losses.setter
    def losses(self, losses: list[Loss]) -> None:
        self._losses = losses

    @property
    def unread_losses(self) -> list[Loss] | Losses:
        """The same losses, to be counted without making records of them."""
        return self._losses

    def locate(self, locate: Locate) -> None:
        """Adds the position in a file to the losses."""
        if isinstance(self._losses, list):
            locate(self._losses)
        else:
            self._losses.locate(locate)

    @property
    def transcript(self) -> Transcript:
        """The input in the intermediate format."""
        if not isinstance(self._transcript, Transcript):
            self._transcript = self._transcript()
        return self._transcript

    def __reduce__(self) -> tuple[type[Conversion], tuple[Any, ...]]:
        return Conversion, (self.document, self.transcript, self.losses, self.findings, self.left_out)

    def __repr__(self) -> str:
        return f"Conversion({self.document!r}, losses={self.losses!r}, findings={self.findings!r})"


def lower(
    before: Transcript,
    target: Dialect,
    options: Options = BY_DEFAULT,
    source: Dialect | None = None,
    *,
    purpose: Purpose | None = None,
) -> Conversion:
    """Converts a transcript: chooses what of it to write, writes it, reads it back, compares and judges it.

    All pointers refer to the source. Raises JobError if the target is read-only.
    """
    turns, named = _program_turns(before, options, source, target), _named(before, options, source)
    chosen = _chosen(named, options, source, target, turns)
    inventory = Inventory(chosen.messages)
    document = untrusted.write(chosen, source, target, options, inventory)
    gone = _with_history(turns, before, options)
    done = read_back(
        before, document, target, source, purpose=purpose, left_out=gone, form=options.form, written=inventory
    )
    if options.models:
        from convcli.engine.model_names import explained

        done.losses = explained(done.losses, options.models)
    if named is not before:
        from convcli.engine import tool_names

        done.losses = tool_names.explained(done.losses, before, named)
    return done


def write(before: Transcript, target: Dialect, options: Options, source: Dialect | None) -> Any:
    """Returns only the output document; nothing is read back."""
    turns, named = _program_turns(before, options, source, target), _named(before, options, source)
    return untrusted.write(_chosen(named, options, source, target, turns), source, target, options)


def read_back(
    before: Transcript,
    document: Any,
    target: Dialect,
    source: Dialect | None,
    *,
    purpose: Purpose | None = None,
    left_out: LeftOut = NOTHING,
    form: str | None = None,
    is_original: bool = False,
    written: Inventory | None = None,
) -> Conversion:
    """Reads an output back and returns it with its losses and findings.

    `left_out`: what was not to be written · `form`: the requested one · `purpose`: what the output is judged as; by
    default what `validate` judges rows for a trainer as, and other documents as an output · `is_original`: the source
    was made from this document, so it has the ids that reading the document generates · `written`: the inventory of
    the messages that were written. If the same messages are read back, the rules use it again, and those that were
    written unchanged need not be compared with those of the input.
    """
    purpose = purpose or ("request" if target.is_training_data else "output")
    after = answers.lift(document, target)
    if after.origin is not None and form is None and after.origin.form in target.on_demand:
        after.origin.form = target.forms[0]
    if written is not None and written.messages != after.messages:
        written = None
    findings = verdict.of_output(document, after, target, before, source, purpose=purpose, inventory=written)
    problem = reading.not_understood(document, after, target)
    if problem is not None and problem.code == "no-messages":
        message = f"{target.title} cannot store any message of this transcript: the output has none"
        findings.append(Finding("no-messages", "error", message))
    elif target.is_session and not after.messages:
        message = f"the transcript has no message: the output is a {target.title} session without any"
        findings.append(Finding("no-messages", "error", message))
    if is_original and after.origin is not None:
        after.origin.generated_ids = set()
    known = _known(source)
    twins = after.messages if written is None else written.messages
    losses = difference(before, after, source, target, left_out, _keys(target.name), known, twins)
    if known is not None:
        source_document = None if before.origin is None else before.origin.document
        of_losses = unknown.of_losses(losses.select("content", unknown.may_be_unknown), known, source_document)
        findings += of_losses + unknown.of_kept(before, known.dialect, target, of_losses)
    explains = source is not None and source.is_session and target.is_training
    return Conversion(document, before, row_choices.explained(losses) if explains else losses, findings, left_out)


@cache
def _keys(name: str) -> KeysOf:
    """Returns the keys that the schema names. Cached, because the words of losses are cached by this function."""
    return partial(schemas.vocabulary, name)


@cache
def _known(source: Dialect | None) -> Knowledge | None:
    """What the source knows, and what the owners of the extras know that it carries."""
    return None if source is None else unknown.knowledge(source, _known_of_owner)


@cache
def _known_of_owner(owner: str) -> Knowledge | None:
    """What the dialect knows that has extras under this name; None where there is no such dialect."""
    if owner in dialects.names():
        return unknown.known_of(dialects.get(owner))
    return next((unknown.known_of(dialect) for dialect in dialects.builtin() if dialect.owns(owner)), None)


def _named(transcript: Transcript, options: Options, source: Dialect | None) -> Transcript:
    """Returns the transcript with its tools named as the program of the options names them."""
    if options.tools_of is None:
        return transcript
    from convcli.engine.tool_names import renamed

    return renamed(transcript, source, options.tools_of)


def _chosen(
    transcript: Transcript, options: Options, source: Dialect | None, target: Dialect, program_turns: LeftOut
) -> Transcript:
    """Returns what is to be written. The rest is missing when the output is read back, so it is reported as lost."""
    if options.models:
        from convcli.engine.model_names import renamed

        bare = msgspec.structs.replace(options, models=())
        return renamed(_chosen(transcript, bare, source, target, program_turns), options.models)
    if source is not None and row_choices.adds_tools(transcript, source, target, options):
        transcript = row_choices.with_tools(transcript, source, options)
    if program_turns:
        transcript = row_choices.without(transcript, program_turns)
    if replaced(transcript, options):  # the rest is linear, because the parents are gone
        messages = [msgspec.structs.replace(message, parent_id=None) for message in context(transcript)]
        return msgspec.structs.replace(transcript, messages=messages, head=None)
    if options.branch == "all" or transcript.head is None:
        return transcript
    return msgspec.structs.replace(transcript, messages=branch(transcript))


def left_out(transcript: Transcript, options: Options, source: Dialect | None, target: Dialect) -> LeftOut:
    """Returns what is not to be written: turns of the agent program, and messages outside of the model's context."""
    return _with_history(_program_turns(transcript, options, source, target), transcript, options)


def _with_history(turns: LeftOut, transcript: Transcript, options: Options) -> LeftOut:
    return {**turns, **dict.fromkeys(replaced(transcript, options), "history")}


def _program_turns(transcript: Transcript, options: Options, source: Dialect | None, target: Dialect) -> LeftOut:
    """Returns the turns of the agent program that are not to be written."""
    if source is None or source.program_turns is None or not row_choices.drops_program_turns(source, target, options):
        return NOTHING
    return row_choices.program_turns(transcript, source.program_turns)


def replaced(transcript: Transcript, options: Options) -> set[int]:
    """Returns the indexes of messages outside of the model's context, if only the context is wanted."""
    if options.view == "history":
        return set()
    kept = set(map(id, context(transcript)))
    return {index for index, message in enumerate(transcript.messages) if id(message) not in kept}
