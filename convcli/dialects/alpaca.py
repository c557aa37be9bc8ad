"""Rows of Stanford Alpaca, as LLaMA-Factory reads them: an instruction and its output, with earlier turns.

Specification: data/README of LLaMA-Factory 0.9.5 and its converter, the data set of Stanford Alpaca; read 2026-11-22.

Quirks
- The user message is the `instruction`, a line break, and the `input` if there is one.
- `history` has the earlier turns, two strings each.
- An empty string is no message.
- A preference pair has `chosen` and `rejected` in place of `output`; `kto_tag` rates an output.
- Rows have only text: calls, results, files and reasoning are unsupported.
"""

from __future__ import annotations

from functools import partial
from itertools import takewhile
from typing import Any

from msgspec.structs import replace

from convcli.families.rows.pairs import (
    CHOSEN,
    REJECTED,
    StoredFields,
    first_answer,
    is_pair,
    keep_last_label,
    lift_pair,
    on_both,
    pair_of,
)
from convcli.families.rows.training import answered
from convcli.kit import fitting
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, drop_extras, get_extras, make_extras
from convcli.kit.passes import MEDIA, fused, on_messages, on_parts, shared
from convcli.kit.supported import TEXTS
from convcli.kit.texts import text_of
from convcli.model.branches import INSTRUCTIONS
from convcli.model.dialect import Dialect, Options
from convcli.model.transcript import MEDIA_KINDS, Message, Part, Path, Text, Transcript
from convcli.validation.survey import for_outputs

NAME = "alpaca"
INSTRUCTION, PREFERENCE = "instruction", "preference"
ROW = Keys("instruction= input= output chosen rejected kto_tag system= history=")
LABELS = {True: CHOSEN, False: REJECTED}
TURNS = ("user", "assistant")
TEXT_SEPARATOR = "\n\n"
"""Separates joined texts."""


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the conversation of a row; a preference pair becomes a tree."""
    context = LiftContext(NAME, document)
    extra = dict(ROW.extra(document) or {})
    head = None
    if all(document.get(key) is not None for key in (CHOSEN, REJECTED)):
        context.origin.form = PREFERENCE
        lines = context, LiftContext(NAME, document)
        for line, key in zip(lines, (CHOSEN, REJECTED), strict=True):
            _add_prompt(line, document)
            line.add(_turn("assistant", document[key]), (key,), [()])
            extra.pop(key, None)
        head = lift_pair(*lines)
    else:
        context.origin.form = INSTRUCTION
        _add_prompt(context, document)
        _add(context, "assistant", document.get("output"), "output")
        extra.pop("output", None)
        _set_label(context, extra)
    return context.transcript(head=head, extras=make_extras(NAME, extra))


def _turn(role: str, text: str) -> Message:
    return Message(role, [Text(text)] if text else [])


def _add(context: LiftContext, role: str, text: str | None, *path: Any) -> None:
    if text:
        context.add(_turn(role, text), path, [()])


def _add_prompt(context: LiftContext, row: Native) -> None:
    """Adds everything before the answer."""
    _add(context, "system", row.get("system"), "system")
    for i, turns in enumerate(row.get("history") or ()):
        for j, text in enumerate(turns):
            _add(context, TURNS[j % 2], text, "history", i, j)
    texts = {key: row[key] for key in ("instruction", "input") if row.get(key)}
    if texts:
        _add(context, "user", "\n".join(texts.values()), *(texts if len(texts) == 1 else ()))


def _set_label(context: LiftContext, extra: Native) -> None:
    """Sets the label of the output from its KTO tag."""
    last = context.messages[-1] if context.messages else None
    if isinstance(extra.get("kto_tag"), bool) and last is not None and last.role == "assistant":
        last.label = LABELS[extra.pop("kto_tag")]


# ---------------------------------------------------------------- fit


def form_of(transcript: Transcript) -> str:
    """Returns the preference form for a pair of answers, else the instruction form."""
    return PREFERENCE if is_pair(transcript) else INSTRUCTION


def _drop_part(part: Part, message: Message) -> Part | None:
    """Drops a part: calls, results, files and reasoning are unsupported."""
    return None


def _alternate_roles(messages: list[Message]) -> list[Message]:
    """Fits messages into a system text, then alternating user and assistant messages of one text each.

    Later instructions and empty messages are dropped.
    """
    leading = list(takewhile(lambda message: message.role in INSTRUCTIONS, messages))
    turns = [message for message in messages[len(leading) :] if message.role in TURNS]
    fitted: list[Message] = []
    for message in [replace(one, role="system") if one.role != "system" else one for one in leading] + turns:
        text = TEXT_SEPARATOR.join(part.text for part in message.parts if isinstance(part, Text) and part.text)
        if not text:
            continue
        if fitted and fitted[-1].role == message.role:
            text = f"{text_of(fitted.pop().parts)}{TEXT_SEPARATOR}{text}"
        is_same = message.parts == [Text(text)]
        fitted.append(message if is_same else replace(message, parts=[Text(text)]))
    return shared(messages, fitted)


def _drop_stale_columns(transcript: Transcript) -> Transcript:
    """Drops kept columns that are written anew, or that would be read in place of what is written."""
    extra, ends = get_extras(transcript.extras, NAME), transcript.messages[-1:]
    pair_columns = (CHOSEN, REJECTED) if extra.keys() >= {CHOSEN, REJECTED} else ()
    label = ("kto_tag",) if ends and ends[0].role == "assistant" else ()
    return drop_extras(transcript, NAME, "output", *pair_columns, *label)


CONVERSATION = fused(
    fitting.keep_active_conversation,
    fitting.refusals_as_texts,
    on_parts(_drop_part, "reasoning", "tool_call", "tool_result", "opaque", *MEDIA),
    on_messages(_alternate_roles),
)
SUPPORTS = TEXTS | {"message.label"}
FIT = {
    INSTRUCTION: (*CONVERSATION, on_messages(partial(keep_last_label, answers=True)), _drop_stale_columns),
    PREFERENCE: (on_both(*CONVERSATION, stored=StoredFields(NAME, SUPPORTS), answer=first_answer),),
}


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Any:
    """Returns a row with its output, or with a preference pair."""
    pair = pair_of(transcript) if options.form == PREFERENCE else None
    extra = get_extras(transcript.extras, NAME)
    if pair is None:
        native = _row(transcript.messages)
        label = transcript.messages[-1].label if transcript.messages else None
        return ROW.put({**native, **({} if label is None else {"kto_tag": label == CHOSEN})}, extra, sort=True)
    native = _row(pair.prompt)
    del native["output"]
    answers = {key: text_of(turns[0].parts) for key, turns in ((CHOSEN, pair.chosen), (REJECTED, pair.rejected))}
    return ROW.put({**native, **answers}, extra, sort=True)


def _row(messages: list[Message]) -> Native:
    """Returns the columns of a conversation, whose last exchange is the instruction and the output."""
    system = {"system": text_of(messages[0].parts)} if messages and messages[0].role == "system" else {}
    turns: list[list[str]] = []
    for message in messages[len(system) :]:
        is_answer = message.role == "assistant"
        if not is_answer or not turns or turns[-1][1]:
            turns.append(["", ""])
        turns[-1][is_answer] = text_of(message.parts)
    *history, (asked, answer) = turns or [["", ""]]
    native: Native = {"instruction": asked, "input": "", "output": answer, **system}
    return {**native, "history": history} if history else native


PLACES: dict[str, Path] = {"message.label": ("..", "kto_tag")}

DIALECT = Dialect(
    name=NAME,
    title="Alpaca rows",
    aliases=("stanford-alpaca", "alpaca-rows", "instruction"),
    is_training=True,
    form_columns=("output", "chosen", "rejected", "kto_tag"),
    columns="allowed",
    specification="data/README of LLaMA-Factory 0.9.5, data set of Stanford Alpaca; read 2026-11-22",
    framings=("records", "document"),
    forms=(INSTRUCTION, PREFERENCE),
    lift=lift,
    fit=FIT,
    write=write,
    form_of=form_of,
    rules=(for_outputs(answered()),),
    supports=SUPPORTS,
    reasons={
        **dict.fromkeys(("tools", "tool_call", "tool_result"), "Alpaca rows have neither tools nor calls"),
        **dict.fromkeys(MEDIA_KINDS, "Alpaca rows name files in extra columns, which convcli keeps unchanged"),
        "reasoning": "an Alpaca output is one text, without reasoning",
        "message.role": "Alpaca rows have a system text, user messages and assistant messages",
        "message.label": "only the output has a label (`kto_tag`)",
        "text": "the texts of a message, and of consecutive messages of one role, are joined",
        "refusal": "Alpaca rows have no field for a refusal: it is written as text",
    },
    places=PLACES,
    metadata=frozenset(("text",)),
)
