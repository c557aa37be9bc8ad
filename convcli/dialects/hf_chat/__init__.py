"""Rows for Hugging Face trainers (TRL, axolotl, Unsloth): conversations, prompts with completions, preferences.

Specification: "Dataset formats and types" of TRL 1.16 and the chat templates that it ships, "chat_template" of axolotl
0.19; read 2026-11-22.

Quirks
- Templates print arguments as they are: an object becomes JSON once, a string in many templates twice.
- `content` of a message with calls is an empty string: several templates cannot print null.
- Only the conversation is trained: a row has no settings and no model.
- Reasoning is `reasoning_content` (Qwen, GLM), `thinking` (gpt-oss) or `reasoning`.
- axolotl's `training` states whether a turn counts. KTO's `label` rates the end of a conversation.
- Preference pairs have a separate prompt, or both `chosen` and `rejected` begin with it.
- An image with a path is in the column `images`, with a placeholder in a message; one with a URL or data is in the
  message. Next to a path, a URL is in the column too: TRL 1.16 fills only placeholders.
- TRL 1.16 reads no column of videos or audio files; `sharegpt` and `ms-swift` have such columns.
- A prompt, a completion or an answer may be a string instead of messages: text of the user, or of the assistant.
"""

from __future__ import annotations

from typing import Any

from msgspec.structs import replace

from convcli.dialects.hf_chat import columns, images, rules
from convcli.dialects.hf_chat.columns import (
    COMPLETION,
    COUNT,
    MESSAGES,
    PREFERENCE,
    Columns,
    counted,
    is_counted,
    without_columns,
)
from convcli.families.openai import messages as common
from convcli.families.openai.calls import OBJECT_CALL, kind_in_turn
from convcli.families.openai.fitting import ROW_RESULTS, of_conversations
from convcli.families.openai.parts import parts_of, usual_audio, write_media
from convcli.families.openai.request import lift_tools, write_tools
from convcli.families.openai.tables import MEDIA as MEDIA_FIELDS
from convcli.families.openai.tables import OF_CALLS, REASONS
from convcli.families.rows.media import joined_texts, known
from convcli.families.rows.pairs import CHOSEN, StoredFields, is_pair, keep_last_label, on_both, pair_of
from convcli.families.rows.training import answered, no_empty_answers
from convcli.families.rows.weights import BINARY, binary_weight
from convcli.kit import custom, fitting
from convcli.kit.contexts import LiftContext
from convcli.kit.objects import Keys, Native, add_extras, get_extras, make_extras, omit, without_nulls
from convcli.kit.passes import MEDIA, fused, on_each_message, on_messages, on_parts, shared
from convcli.kit.supported import CALLS, OPAQUE, TEXTS, TOOLS, fields
from convcli.model.branches import active
from convcli.model.dialect import Dialect, Options
from convcli.model.transcript import Media, Message, Opaque, Part, PartPaths, Reasoning, Text, ToolCall, Transcript
from convcli.validation.rules import arguments, links, tools
from convcli.validation.survey import for_outputs

NAME = "hf-chat"
ROW = Keys("messages= prompt= completion= chosen= rejected= label= tools= images image", groups=COUNT)
MESSAGE = Keys("role tool_call_id name content reasoning_content tool_calls training training_detail")
THOUGHTS = ("reasoning_content", "thinking", "reasoning")
IGNORED = ("refusal", "audio", "function_call", "annotations")
"""Keys of Chat Completions that trainers ignore."""
SEPARATE_KEYS = frozenset(("training", *THOUGHTS, *IGNORED))
JOINT = "\n\n"
EMPTY_CONTENT: list[Part] = [Text("")]
"""An empty text as the only part: how columns of lists store empty content."""


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the conversation of a row; that of a preference pair is a tree."""
    context = LiftContext(NAME, document)
    row = Columns(document, context, lift_message)
    extra = {**row.extra, **(ROW.extra(document) or {})}
    if not extra.keys().isdisjoint(images.COLUMNS):
        extra = omit(extra, *images.lift_images(document, context))
    offered = lift_tools({"tools": document.get("tools")}, context)
    return context.transcript(tools=offered, head=row.head, extras=make_extras(NAME, extra))


def lift_message(native: Native, context: LiftContext) -> tuple[Message, PartPaths]:
    """Lifts a turn or a result, with its training weight."""
    weight = native.get("training")
    is_result = native["role"] == "tool"
    thoughts = [key for key in THOUGHTS if native.get(key) and not is_result]
    others = omit(native, *SEPARATE_KEYS)
    message, part_paths = common.lift_any(others, context)
    if [part for part in message.parts if not isinstance(part, ToolCall)] == EMPTY_CONTENT:
        message.parts, part_paths = message.parts[1:], None if part_paths is None else part_paths[1:]
    ignored = {key: native[key] for key in (*IGNORED, *THOUGHTS * is_result) if native.get(key) is not None}
    if ignored:
        add_extras(message, NAME, ignored)
    if thoughts:
        parts: list[Part] = [Reasoning(native[key]) for key in thoughts]
        places = part_paths if part_paths is not None else [("content",) for _ in message.parts]
        message.parts, part_paths = [*parts, *message.parts], [*((key,) for key in thoughts), *places]
    if isinstance(weight, bool):
        message.weight = BINARY[weight]
    message.parts = shared(message.parts, list(map(_bare_placeholder, message.parts)))
    return message, part_paths


def _bare_placeholder(part: Part) -> Part:
    """Removes null keys from a placeholder for a file column: tables fill keys of other parts with null."""
    if not isinstance(part, Opaque) or not isinstance(part.value, dict):
        return part
    not_null = without_nulls(part.value)
    return replace(part, value=not_null) if len(not_null) < len(part.value) and not_null.keys() == {"type"} else part


# ---------------------------------------------------------------- fit


def form_of(transcript: Transcript) -> str:
    """Returns the form for a transcript: preference, completion (if prompt length or label is known) or messages."""
    if is_pair(transcript):
        return PREFERENCE
    is_judged = _label(active(transcript)) is not None
    return COMPLETION if is_judged or is_counted(transcript, NAME) else MESSAGES


def _label(messages: list[Message]) -> str | None:
    return messages[-1].label if messages else None


def _join_thoughts(message: Message) -> Message:
    """Joins the thoughts of a turn, and drops empty ones."""
    thoughts = [part for part in message.parts if isinstance(part, Reasoning)]
    if not thoughts or (len(thoughts) == 1 and thoughts[0].text):
        return message
    text = JOINT.join(thought.text for thought in thoughts if thought.text)
    parts = [part for part in message.parts if not isinstance(part, Reasoning)]
    return replace(message, parts=[*([Reasoning(text)] if text else []), *parts])


def _is_written(media: Media) -> bool:
    return images.is_in_column(media) or write_media(media, NAME) is not None


def _fit_media(part: Part, message: Message) -> Part | None:
    """Keeps media in user messages only, except images of a column, and sets the usual audio types."""
    if not isinstance(part, Media):
        return part
    if images.is_in_column(part):
        return known(part)
    if message.role != "user" or not _is_written(part):
        return None
    return usual_audio(part)


def _join_texts(message: Message) -> Message:
    """Joins texts without other content: most templates of text models cannot read a list."""
    return replace(message, parts=joined_texts(message.parts, JOINT)) if rules.are_several(message) else message


CONVERSATION = fused(
    *of_conversations(NAME, ROW_RESULTS, _is_written, on_each_message(fitting.drop_empty_name)),
    fitting.roles({"developer": "system"}),
    fitting.refusals_as_texts,
    fitting.keep_parts_of_roles({"tool_call": ("assistant",), "reasoning": ("assistant",)}),
    on_parts(_fit_media, *MEDIA),
    fitting.drop_other_opaque(NAME),
    common.without_empty_text(NAME),
    on_messages(lambda messages: [binary_weight(_join_thoughts(message)) for message in messages]),
    fitting.sort_parts("reasoning", "text image audio document opaque", "tool_call", kind=kind_in_turn),
    on_each_message(_join_texts),
    fitting.keep_functions(NAME),
    custom.as_functions,
)
OWN_IMAGES = images.own_images(NAME)
SUPPORTS = TEXTS | TOOLS | CALLS | OPAQUE | MEDIA_FIELDS | {"image.path"}
SUPPORTS |= fields("message.name message.weight message.label reasoning.text tool.strict tool_call.rawArguments")
FIT = {
    MESSAGES: (*CONVERSATION, on_messages(keep_last_label), without_columns(MESSAGES, NAME), OWN_IMAGES),
    COMPLETION: (
        *CONVERSATION,
        on_messages(keep_last_label),
        without_columns(COMPLETION, NAME),
        counted(NAME),
        OWN_IMAGES,
    ),
    PREFERENCE: (
        on_both(*CONVERSATION, stored=StoredFields(NAME, SUPPORTS)),
        without_columns(PREFERENCE, NAME),
        OWN_IMAGES,
    ),
}


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Any:
    """Returns a row with messages, with a prompt and a completion, or with two answers."""
    form = options.form or MESSAGES
    with_placeholders, image_column = images.move_to_column(transcript.messages, NAME)
    messages = [write_message(message) for message in with_placeholders]
    extra = dict(get_extras(transcript.extras, NAME))
    native = columns.written(form, messages, pair_of(transcript), extra)
    label = _label(transcript.messages) if form != PREFERENCE else None
    native |= {} if label is None else {"label": label == CHOSEN}
    rest = {**omit(extra, COUNT), **image_column}
    return ROW.put({**native, **write_tools(transcript, NAME)}, rest)


def write_message(message: Message) -> Native:
    """Returns a turn or a result: arguments are an object, and missing content is an empty string."""
    native = common.write_message(message, NAME, OBJECT_CALL.write)
    if native["content"] is None:
        native["content"] = ""
    weight = {} if message.weight is None else {"training": message.weight == BINARY[True]}
    return MESSAGE.put({**native, **weight}, None, sort=True)


DIALECT = Dialect(
    name=NAME,
    title="Hugging Face chat rows",
    aliases=("trl", "hf", "huggingface", "transformers", "datasets", "axolotl", "unsloth"),
    is_training=True,
    form_columns=(*columns.COLUMNS, "label"),
    label_form=COMPLETION,
    label_columns=frozenset((columns.PROMPT, columns.ANSWER)),
    columns="usual",
    specification="dataset formats of TRL 1.16, chat_template of axolotl 0.19; read 2026-11-22",
    framings=("records", "document"),
    forms=(MESSAGES, COMPLETION, PREFERENCE),
    lift=lift,
    fit=FIT,
    write=write,
    form_of=form_of,
    rules=(
        links.paired(links.PairingRules()),
        for_outputs(answered(severity="warning")),
        no_empty_answers(),
        *rules.RULES,
        arguments.as_object(),
        tools.unique("warning"),
        tools.schemas(tools.SchemaDemands()),
    ),
    conventions=(ROW_RESULTS,),
    supports=SUPPORTS,
    reasons={
        **REASONS,
        "message.role": "chat templates have only the roles system, user, assistant and tool",
        "message.weight": "only assistant messages have a training flag in Hugging Face chat rows",
        "message.label": "Hugging Face chat rows have one label for the whole conversation",
        "reasoning": "a chat row message has one thought: several are joined by a blank line",
        "refusal": "Hugging Face chat rows have no field for a refusal: it is written as text",
        "text": "consecutive texts are joined: many chat templates cannot read a list of texts",
        "settings": "Hugging Face chat rows have no request settings",
        "model": "Hugging Face chat rows have no model",
        "toolChoice": "Hugging Face chat rows have no tool choice",
        "message.usage": "Hugging Face chat rows have no token counts",
        "message.stopReason": "Hugging Face chat rows have no stop reason",
        "video": "TRL reads no videos: rows of sharegpt and ms-swift have a column for them",
    },
    places={
        **OF_CALLS,
        "message.weight": ("training",),
        "message.label": ("..", "..", "label"),
        **parts_of(NAME).places(),
    },
    metadata=frozenset(("messages",)),
)
