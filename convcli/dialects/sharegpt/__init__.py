"""ShareGPT rows, with tools as in LLaMA-Factory: turns of `from` and `value`.

Specification: data/README.md and src/llamafactory/data/converter.py of LLaMA-Factory 0.9.5; the spellings of FastChat,
axolotl and ms-swift 4.6; read 2026-11-22.

Quirks
- Turns have a strict order: the user or results, then the assistant, ending with the assistant, after an optional
  instruction. LLaMA-Factory treats a row that breaks it as empty, and only logs a warning.
- Calls have a turn of their own (`function_call`), a JSON object or list, with an optional thought before it and no
  other text. Arguments are objects: a string is JSON-encoded once more in training.
- There are no ids. The results of one turn are in one `observation`, with `</tool_response>` and `<tool_response>`
  between them: they are split only if there are as many as calls.
- `tools` is a JSON string. Files are in columns of their own, each with a mark (`<image>`) in the text.
- The older `conversation` has pairs of `human` and `assistant`. Other tags name the same roles; they are configured
  outside of the file, so one role has one tag in a row.
- `kto_tag` (or `label`) rates the last turn. `chosen` and `rejected` are two answers, of one turn each, to turns that
  end with the user or with results.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.dialects.sharegpt.lifting import CONVERSATIONS, KTO, NAME, PREFERENCE, ROW, TAGS, TURN, lift
from convcli.dialects.sharegpt.rules import RULES
from convcli.families.openai.calls import ROW_TEXTS
from convcli.families.rows import calls, media, order, training
from convcli.families.rows.order import calls_of
from convcli.families.rows.pairs import (
    CHOSEN,
    REJECTED,
    Preference,
    StoredFields,
    is_pair,
    keep_last_label,
    on_both,
    pair_of,
)
from convcli.families.rows.thoughts import write_thought
from convcli.kit import custom, fitting, results
from convcli.kit.definitions import described
from convcli.kit.objects import Native, drop_extra_keys, get_extras, omit
from convcli.kit.passes import MEDIA, fused, on_messages, on_parts, on_results
from convcli.kit.supported import fields
from convcli.model.dialect import Dialect, Options
from convcli.model.transcript import Message, Reasoning, ToolResult, Transcript

# ---------------------------------------------------------------- fit


def _label_last_turn(transcript: Transcript) -> Transcript:
    """Keeps the label of a last assistant turn only, and removes extras that would rate it."""
    messages = keep_last_label(transcript.messages, answers=True)
    transcript = replace(transcript, messages=messages)
    is_labelled = bool(messages) and messages[-1].label is not None
    return transcript if is_labelled else _drop_columns(transcript, *KTO)


def _drop_columns(transcript: Transcript, *columns: str) -> Transcript:
    """Removes extras that would be read back as one of these columns."""
    extra = get_extras(transcript.extras, NAME)
    read = [key for key in columns if isinstance(extra.get(key), (bool, dict))]
    return replace(transcript, extras=drop_extra_keys(transcript.extras, NAME, *read)) if read else transcript


def _drop_pair_columns(transcript: Transcript) -> Transcript:
    return _drop_columns(transcript, CHOSEN, REJECTED)


def _cut_to_one_turn(transcript: Transcript) -> Transcript:
    """Cuts both answers to one assistant turn: the first in which the branches differ, or else the last."""
    pair = pair_of(transcript)
    assert pair is not None, "both branches of the pair are fitted before"
    prompt, chosen, rejected = pair.prompt, pair.chosen[0], pair.rejected[0]
    if chosen.role == rejected.role == "assistant":
        if len(pair.chosen) == len(pair.rejected) == 1:
            return transcript
    else:
        chosen, rejected = _last_answer(pair.chosen), _last_answer(pair.rejected)
        prompt = [*prompt, *(message for message in pair.chosen if message is not chosen)]
    fitted = Preference([replace(message, label=None) for message in prompt], [chosen], [rejected])
    return replace(transcript, messages=fitted.messages, head=fitted.head)


def _last_answer(messages: list[Message]) -> Message:
    return messages[-1] if messages[-1].role == "assistant" else Message("assistant", [])


LINE = fused(
    fitting.keep_active_conversation,
    results.results_behind_calls,
    results.one_result_each,
    fitting.roles({"developer": "system"}),
    fitting.refusals_as_texts,
    fitting.keep_parts_of_roles(
        {"tool_call": ("assistant",), "reasoning": ("assistant",), **dict.fromkeys(MEDIA, ("user", "assistant"))}
    ),
    media.in_columns,
    on_parts(lambda part, _: None, "opaque"),
    on_results(order.text_with_files),
    results.apply_convention(ROW_TEXTS),
    custom.as_functions,
    calls.without_raw_arguments,
    on_messages(order.in_order),
    media.drop_ambiguous_marks,
    fitting.keep_functions(NAME),
    fitting.add_parameters(),
    described,
)
SUPPORTS = training.SUPPORTS | training.FILES | fields("id message.label")
FIT = {
    CONVERSATIONS: (*LINE, _label_last_turn, _drop_pair_columns),
    PREFERENCE: (on_both(*LINE, stored=StoredFields(NAME, SUPPORTS)), _cut_to_one_turn, _drop_pair_columns),
}


def form_of(transcript: Transcript) -> str:
    """Returns the preference form for a preference pair."""
    return PREFERENCE if is_pair(transcript) else CONVERSATIONS


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Any:
    """Writes a row with LLaMA-Factory's default tags."""
    columns: Native = {}
    turns = [_write_turn(turn, columns) for turn in order.turns_of(transcript.messages)]
    native: Native = {} if transcript.id is None else {"id": transcript.id}
    label = transcript.messages[-1].label if transcript.messages else None
    if options.form == PREFERENCE:
        native |= {"conversations": turns[:-2], CHOSEN: turns[-2], REJECTED: turns[-1]}
    else:
        native |= {"conversations": turns, **({} if label is None else {"kto_tag": label == CHOSEN})}
    if transcript.tools is not None:
        written = [calls.write_tool(tool, NAME) for tool in transcript.tools]
        native["tools"] = calls.write_json(written)
    extra = omit(get_extras(transcript.extras, NAME), *native)
    return ROW.put({**native, **columns}, {**extra, **columns}, sort=True)


def _write_turn(turn: list[Message], columns: Native) -> Native:
    message = turn[0]
    called = calls_of(message)
    if message.role == "tool":
        value = order.join_results([_write_result(item, columns) for item in turn])
    else:
        thought = "".join(part.text for part in message.parts if isinstance(part, Reasoning))
        value = media.write_parts(message.parts, columns)
        if called:
            natives = [calls.CALL.write(call, NAME) for call in called]
            value = calls.write_json(natives if len(natives) > 1 else natives[0])
        value = write_thought(thought, value)
    tag = TAGS["call" if called else message.role]
    return TURN.put({"from": tag, "value": value}, get_extras(message.extras, NAME))


def _write_result(message: Message, columns: Native) -> str:
    result = message.parts[0] if message.parts else None
    if not isinstance(result, ToolResult):
        return media.write_parts(message.parts, columns)
    return media.write_parts(result.value, columns) if result.kind == "multimodal" else str(result.value)


DIALECT = Dialect(
    name=NAME,
    title="ShareGPT rows",
    aliases=("llamafactory", "llama-factory", "fastchat", "vicuna"),
    is_training=True,
    form_columns=("conversations", "chosen", "rejected", "kto_tag"),
    columns="allowed",
    specification="LLaMA-Factory 0.9.5, sharegpt format; read 2026-11-22",
    framings=("records", "document"),
    forms=(CONVERSATIONS, PREFERENCE),
    lift=lift,
    fit=FIT,
    write=write,
    form_of=form_of,
    rules=RULES,
    conventions=(ROW_TEXTS,),
    supports=SUPPORTS,
    reasons={
        "message": "a row ends with an answer, and consecutive turns of one side become one",
        "message.role": "a row has one system message, before all turns",
        "message.grouping": "user and assistant turns must alternate",
        "moved": "a tool result directly follows its call",
        "message.label": "only the last turn has a label, good or bad",
        "message.name": "ShareGPT turns have no name",
        "text": "a turn has one text, and a call turn none",
        "reasoning": "a turn has one thought, before its text",
        "reasoning.metadata": "a thought is text only",
        **training.REASONS,
        "tool_result.value": "the results of a turn share one text",
        **training.REASONS_OF_FILES,
        "document": "a row has no column for documents",
    },
    places={
        "id": ("id",),
        "tools": ("tools",),
        "message.label": ("..", "..", "kto_tag"),
    },
)
