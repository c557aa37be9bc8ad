"""Rows of LLaMA-Factory v1, its new generation: messages whose content is a list of typed strings.

Specification: src/llamafactory/v1/utils/types.py of LLaMA-Factory 0.9.5; read 2026-11-22.

Quirks
- Content is a list of `{type, value}`, and every value a string: for a call the JSON of its name and arguments, for a
  file its path or URL.
- There are no ids: results answer the calls of the turn before them in order.
- `loss_weight` is the weight of a message in training. The default is 1 for an answer and 0 for anything else; an
  explicit 0 for anything else means the same.
- Preference pairs are two conversations (`chosen_messages`, `rejected_messages`) with the same beginning.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from convcli.families.openai.calls import ROW_TEXTS
from convcli.families.rows import calls, media, order, training
from convcli.families.rows.order import calls_of
from convcli.families.rows.pairs import StoredFields, is_pair, lift_pair, on_both, pair_of
from convcli.kit import custom, fitting, results
from convcli.kit.contexts import LiftContext
from convcli.kit.definitions import described
from convcli.kit.objects import Keys, Native, add_extras, drop_extras, get_extras, make_extras, omit
from convcli.kit.passes import MEDIA, fused, on_each_message, on_messages, on_parts, on_results
from convcli.kit.supported import OPAQUE
from convcli.kit.texts import only_text, text_of
from convcli.model.dialect import Dialect, Options
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.model.transcript import (
    Media,
    Message,
    Opaque,
    Part,
    PartPaths,
    Path,
    Reasoning,
    Text,
    ToolCall,
    ToolResult,
    Transcript,
)
from convcli.validation.rules.arguments import AS_OBJECT, readable
from convcli.validation.survey import Survey

NAME = "llamafactory-v1"
MESSAGES, PREFERENCE = "messages", "preference"
"""The forms of a row."""
CHOSEN, REJECTED = "chosen_messages", "rejected_messages"
ROW = Keys("messages= chosen_messages= rejected_messages= tools= extra_info")
MESSAGE = Keys("role content loss_weight")
CONTENT = Keys("type value")
FILES = {"image_url": "image", "video_url": "video", "audio_url": "audio"}
TYPE_OF = {kind: type_ for type_, kind in FILES.items()}
ITEM_KEYS = "content"
"""The extra with the other keys of a call's content item."""


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """Returns the conversation of a row; that of a preference pair is a tree."""
    context = LiftContext(NAME, document)
    extra = ROW.extra(document) or {}
    is_rated = bool(document.get(CHOSEN)) and bool(document.get(REJECTED))
    context.origin.form = PREFERENCE if is_rated else MESSAGES
    head: str | None = None
    if is_rated:
        other = LiftContext(NAME, document)
        _TypedMessages(context).lift(document[CHOSEN], CHOSEN)
        _TypedMessages(other).lift(document[REJECTED], REJECTED)
        head = lift_pair(context, other)
        rest: tuple[str, ...] = ("messages",)
    else:
        _TypedMessages(context).lift(document.get("messages") or (), "messages")
        rest = (CHOSEN, REJECTED)
    text = document.get("tools")
    natives = calls.read_tools(text) if text else None
    extra |= {key: document[key] for key in rest if document.get(key)}
    extra |= {"tools": text} if text and natives is None else {}
    offered = None if natives is None else [calls.lift_tool(native, context, ("tools",)) for native in natives]
    return context.transcript(head=head, tools=offered, extras=make_extras(NAME, extra))


class _TypedMessages:
    """Lifts messages; results answer the calls of the turn before them."""

    def __init__(self, context: LiftContext) -> None:
        self.context = context
        self.open: list[str] = []

    def lift(self, natives: Iterable[Native], column: str) -> None:
        """Lifts all messages of a column."""
        self.context.each(natives, (column,), self._message)

    def _message(self, native: Native, context: LiftContext) -> tuple[Message, PartPaths]:
        parts = [self._part(one) for one in native["content"]]
        part_paths: list[Path] = [("content", i) for i in range(len(parts))]
        message = Message(native["role"], parts, extras=make_extras(NAME, MESSAGE.extra(native)))
        message.weight = _weight(native)
        if message.role == "tool":
            message.parts, part_paths = [self._result(parts)], [("content", 0) if len(parts) == 1 else ("content",)]
        else:
            self.open = [call.id for call in calls_of(message)]
        return message, part_paths

    def _part(self, native: Native) -> Part:
        kind, value, extra = native["type"], native["value"], CONTENT.extra(native)
        if kind == "tool_call":
            natives = calls.read_natives(value)
            if natives is None or len(natives) != 1 or value.lstrip()[:1] != "{":
                return Opaque(NAME, native)
            call = calls.CALL.lift(natives[0], self.context)
            add_extras(call, NAME, None, **{ITEM_KEYS: extra})
            return call
        extras = make_extras(NAME, extra)
        if kind in FILES:
            return replace(media.lift_media(FILES[kind], value), extras=extras)  # type: ignore[arg-type]
        return Reasoning(value, extras=extras) if kind == "reasoning" else Text(value, extras=extras)

    def _result(self, parts: list[Part]) -> ToolResult:
        id_, name = self.context.pairing.result(self.open.pop(0) if self.open else None, None)
        return _with_value(ToolResult(id_, name, "text", ""), parts)


def _with_value(result: ToolResult, parts: list[Part]) -> ToolResult:
    """Returns the result with these parts as its value; a single bare text becomes text."""
    if not parts or only_text(parts) is not None:
        return replace(result, kind="text", value=text_of(parts))
    return replace(result, kind="multimodal", value=parts)


def _weight(native: Native) -> float | None:
    """Returns the training weight of a message, or None if it is the default for its role."""
    weight = native.get("loss_weight")
    if weight is None or (weight == 0 and native["role"] != "assistant"):
        return None
    return int(weight) if weight in (0, 1) else weight


# ---------------------------------------------------------------- fit


def _fit_result(result: ToolResult) -> ToolResult:
    """Keeps texts and files of a result."""
    if result.kind != "multimodal":
        return result
    fitted_parts = [fitted for part in result.value if (fitted := _fit_part(part)) is not None]
    fitted = _with_value(replace(result, is_error=None), fitted_parts)
    return result if fitted == result else fitted


def _fit_part(part: Part) -> Part | None:
    if isinstance(part, (Text, Reasoning)):
        return results.only_own(part, NAME)
    if isinstance(part, Media):
        return _fit_media(part)
    return part if isinstance(part, Opaque) and part.dialect == NAME else None


def _fit_media(part: Media) -> Media | None:
    """Returns a file with only its path, URL or data, or None."""
    owned = make_extras(NAME, get_extras(part.extras, NAME))
    bare = media.known(replace(part, extras=None))
    fitted = None if bare is None else replace(bare, extras=owned)
    return part if fitted == part else fitted


def _drop_default_weight(message: Message) -> Message:
    if message.weight is None:
        return message
    weight = _weight({"role": message.role, "loss_weight": message.weight})
    return message if type(weight) is type(message.weight) else replace(message, weight=weight)


def _drop_read_extras(transcript: Transcript) -> Transcript:
    """Drops extras under the names of columns that would be read."""
    return drop_extras(transcript, NAME, CHOSEN, REJECTED)


CONVERSATION = fused(
    fitting.keep_active_conversation,
    results.results_behind_calls,
    results.one_result_each,
    fitting.roles({"developer": "system"}),
    fitting.refusals_as_texts,
    fitting.keep_parts_of_roles({"tool_call": ("assistant",), "reasoning": ("assistant",)}),
    on_parts(lambda part, _: _fit_media(part), *MEDIA),
    fitting.drop_other_opaque(NAME),
    on_results(_fit_result),
    results.apply_convention(ROW_TEXTS),
    custom.as_functions,
    calls.without_raw_arguments,
    on_messages(order.results_by_position),
    on_each_message(_drop_default_weight),
    fitting.keep_functions(NAME),
    described,
)
SUPPORTS = training.SUPPORTS | training.FILES | OPAQUE | {"message.weight"}
FIT = {
    MESSAGES: (*CONVERSATION, fitting.without("message.label"), _drop_read_extras),
    PREFERENCE: (on_both(*CONVERSATION, stored=StoredFields(NAME, SUPPORTS | {"message.label"})), _drop_read_extras),
}


def form_of(transcript: Transcript) -> str:
    """Returns the form for a transcript: preference for a pair."""
    return PREFERENCE if is_pair(transcript) else MESSAGES


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Any:
    """Returns a row with its messages, or with chosen and rejected messages."""
    pair = pair_of(transcript) if options.form == PREFERENCE else None
    if pair is None:
        native: Native = {"messages": [_write_message(message) for message in transcript.messages]}
    else:
        prompt, chosen, rejected = ([_write_message(message) for message in messages] for messages in pair)
        native = {CHOSEN: [*prompt, *chosen], REJECTED: [*prompt, *rejected]}
    if transcript.tools is not None:
        native["tools"] = calls.write_json([calls.write_tool(tool, NAME, wrapped=True) for tool in transcript.tools])
    extra = omit(get_extras(transcript.extras, NAME), *native)
    return ROW.put(native, extra, sort=True)


def _write_message(message: Message) -> Native:
    parts: list[Part] = []
    for part in message.parts:
        if isinstance(part, ToolResult):
            parts += part.value if part.kind == "multimodal" else [Text(str(part.value))]
        else:
            parts.append(part)
    content = [native for part in parts if (native := _write_part(part)) is not None]
    weight = {} if message.weight is None else {"loss_weight": message.weight}
    return MESSAGE.put(
        {"role": message.role, "content": content, **weight}, get_extras(message.extras, NAME), sort=True
    )


def _write_part(part: Part) -> Native | None:
    extra = get_extras(part.extras, NAME)
    if isinstance(part, (Text, Reasoning)):
        return CONTENT.put({"type": part.type, "value": part.text}, extra)
    if isinstance(part, Media):
        return CONTENT.put({"type": TYPE_OF[part.type], "value": media.write_media(part)}, extra)
    if isinstance(part, ToolCall):
        value = calls.write_json(calls.CALL.write(drop_extras(part, NAME, ITEM_KEYS), NAME))
        return CONTENT.put({"type": "tool_call", "value": value}, extra.get(ITEM_KEYS))
    return part.value if isinstance(part, Opaque) else None


# ---------------------------------------------------------------- rules


def _find_invalid_calls(survey: Survey) -> Iterable[Breach]:
    """Checks that the value of a call is a JSON object whose arguments are an object."""
    for i, k, part in survey.parts["opaque"]:
        if isinstance(part.value, dict) and part.value.get("type") == "tool_call":
            yield Breach(
                "invalid-arguments", NodeRef(i, k, steps=("value",)), "LLaMA-Factory requires the JSON of a call here"
            )
    for i, k, _ in survey.parts["tool_call"]:
        native = survey.native_part(i, k) or {}
        if calls.is_quoted((calls.read_natives(native.get("value") or "") or [{}])[0]):
            problem = "arguments are a JSON string: they are encoded a second time in training"
            yield Breach("arguments-quoted-twice", NodeRef(i, k, steps=("value",)), problem, help=AS_OBJECT)


def _find_invalid_tools(survey: Survey) -> Iterable[Breach]:
    if survey.document.get("tools") and survey.transcript.tools is None:
        yield Breach(
            "wrong-format", NodeRef(steps=("tools",)), "LLaMA-Factory requires the JSON of a list of tools here"
        )


def _find_null_weights(survey: Survey) -> Iterable[Breach]:
    for column in (MESSAGES, CHOSEN, REJECTED):
        for i, native in enumerate(survey.document.get(column) or ()):
            if native.get("loss_weight", 0) is None:
                at = NodeRef(steps=(column, i, "loss_weight"))
                yield Breach("wrong-type", at, "a weight must be a number: LLaMA-Factory fails on null", "warning")


RULES = (
    Rule(("invalid-arguments", "arguments-quoted-twice"), _find_invalid_calls, of_input=("invalid-arguments",)),
    Rule(("wrong-format",), _find_invalid_tools, of_input=("wrong-format",)),
    Rule(("wrong-type",), _find_null_weights),
    readable(),
    *training.RULES,
)


DIALECT = Dialect(
    name=NAME,
    title="LLaMA-Factory v1 rows",
    is_training=True,
    form_columns=("messages", "chosen_messages", "rejected_messages"),
    columns="allowed",
    specification="src/llamafactory/v1/utils/types.py of LLaMA-Factory 0.9.5; read 2026-11-22",
    framings=("records", "document"),
    forms=(MESSAGES, PREFERENCE),
    lift=lift,
    fit=FIT,
    write=write,
    form_of=form_of,
    rules=RULES,
    conventions=(ROW_TEXTS,),
    supports={MESSAGES: SUPPORTS, PREFERENCE: SUPPORTS | {"message.label"}},
    reasons={
        "message": "in LLaMA-Factory v1 rows a result answers a call of the turn before it",
        "message.role": "LLaMA-Factory v1 rows have only the roles system, user, assistant and tool",
        "moved": "in LLaMA-Factory v1 rows results follow their calls, in the order of the calls",
        "message.label": "LLaMA-Factory v1 rows label only the two conversations of a preference pair",
        "message.weight": "weight 0 is the default for any message but an answer",
        "message.name": "LLaMA-Factory v1 messages have no name",
        **training.REASONS,
        **training.REASONS_OF_FILES,
        "document": "LLaMA-Factory v1 rows have no type for documents",
    },
    places={
        "tools": ("tools",),
        "message.weight": ("loss_weight",),
        f"extras.{ITEM_KEYS}": (),
        **dict.fromkeys(("text.text", "reasoning.text", "tool_result.value"), ("value",)),
    },
)
