"""Rows of LLaMA-Factory's new generation: messages whose content is a list of typed texts.

Specification: src/llamafactory/v1/utils/types.py of LLaMA-Factory 0.9.5; read 2026-11-22.

Quirks
- Every content is a list of `{type, value}`, and every value a text: that of a call is the JSON of its name and its
  arguments, that of a file its path or URL.
- There are no ids: results answer the calls of the turn before them in order.
- `loss_weight` says how much a message counts. Without it an answer counts wholly and anything else not at all; to say
  so of anything else says nothing.
- Pairs of preference are two conversations (`chosen_messages`, `rejected_messages`), which begin alike.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from msgspec.structs import replace

from convcli.families.openai.calls import TEXTS
from convcli.families.rows import calls, media, order, training
from convcli.families.rows.order import calls_of
from convcli.families.rows.pairs import is_pair, lift_pair, on_both, pair_of
from convcli.kit import custom, fitting, lacking, results
from convcli.kit.contexts import LiftContext
from convcli.kit.definitions import described
from convcli.kit.objects import Keys, Native, carried_by, carry, extras_of, omit, without_carried
from convcli.kit.passes import MEDIA, fused, on_each_message, on_messages, on_parts, on_results
from convcli.kit.texts import only_text, text_of
from convcli.model.dialect import Clue, Dialect, Options
from convcli.model.rule import Breach, NodeRef, Rule
from convcli.model.transcript import (
    Media,
    Message,
    Opaque,
    Part,
    Path,
    Reasoning,
    Spots,
    Text,
    ToolCall,
    ToolResult,
    Transcript,
)
from convcli.validation.rules.arguments import AS_OBJECT
from convcli.validation.survey import Survey

NAME = "llamafactory-v1"
MESSAGES, PREFERENCE = "messages", "preference"
"""The forms of a row."""
CHOSEN, REJECTED = "chosen_messages", "rejected_messages"
ROW = Keys("messages chosen_messages rejected_messages tools extra_info", carried="extra_info")
MESSAGE = Keys("role content loss_weight")
CONTENT = Keys("type value")
FILES = {"image_url": "image", "video_url": "video", "audio_url": "audio"}
TYPE_OF = {kind: type_ for type_, kind in FILES.items()}
AROUND = "content"
"""Under this name is carried what stands beside a call in its content."""


def detect(document: Any) -> Clue | None:
    """By content of types and values, or by conversations that were chosen and rejected."""
    if not isinstance(document, dict):
        return None
    lists = [document[key] for key in (MESSAGES, CHOSEN, REJECTED) if isinstance(document.get(key), list)]
    messages = [message for each in lists for message in each if isinstance(message, dict)]
    contents = [message["content"] for message in messages if isinstance(message.get("content"), list)]
    parts = [part for content in contents for part in content]
    if parts and all(isinstance(part, dict) and {"type", "value"} <= part.keys() for part in parts):
        return Clue(97, "content of types and values")
    return (
        Clue(60, "conversations that were chosen and rejected") if CHOSEN in document and REJECTED in document else None
    )


# ---------------------------------------------------------------- lift


def lift(document: Any) -> Transcript:
    """The conversation of a row; that of a pair of preference is a tree."""
    context = LiftContext(NAME, document)
    carried = ROW.carried(document) or {}
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
    carried |= {key: document[key] for key in rest if document.get(key)}
    carried |= {"tools": text} if text and natives is None else {}
    offered = None if natives is None else [calls.lift_tool(native, context, ("tools",)) for native in natives]
    return context.transcript(head=head, tools=offered, extras=extras_of(NAME, carried))


class _TypedMessages:
    """Messages while they are lifted: results answer the calls of the turn before them."""

    def __init__(self, context: LiftContext) -> None:
        self.context = context
        self.open: list[str] = []

    def lift(self, natives: Iterable[Native], column: str) -> None:
        """All messages of a column."""
        self.context.each(natives, (column,), self._message)

    def _message(self, native: Native, context: LiftContext) -> tuple[Message, Spots]:
        parts = [self._part(one) for one in native["content"]]
        spots: list[Path] = [("content", i) for i in range(len(parts))]
        message = Message(native["role"], parts, extras=extras_of(NAME, MESSAGE.carried(native)))
        message.weight = _weight(native)
        if message.role == "tool":
            message.parts, spots = [self._result(parts)], [("content", 0) if len(parts) == 1 else ("content",)]
        else:
            self.open = [call.id for call in calls_of(message)]
        return message, spots

    def _part(self, native: Native) -> Part:
        kind, value, carried = native["type"], native["value"], CONTENT.carried(native)
        if kind == "tool_call":
            natives = calls.read_natives(value)
            if natives is None or len(natives) != 1 or value.lstrip()[:1] != "{":
                return Opaque(NAME, native)
            call = calls.lift_call(natives[0], self.context)
            if carried:
                carry(call, NAME, {AROUND: carried})
            return call
        extras = extras_of(NAME, carried)
        if kind in FILES:
            return replace(media.lift_media(FILES[kind], value), extras=extras)  # type: ignore[arg-type]
        return Reasoning(value, extras=extras) if kind == "reasoning" else Text(value, extras=extras)

    def _result(self, parts: list[Part]) -> ToolResult:
        id_, name = self.context.pairing.result(self.open.pop(0) if self.open else None, None)
        return _valued(ToolResult(id_, name, "text", ""), parts)


def _valued(result: ToolResult, parts: list[Part]) -> ToolResult:
    """The result with these parts as its value; one bare text is a text."""
    if not parts or only_text(parts) is not None:
        return replace(result, kind="text", value=text_of(parts))
    return replace(result, kind="multimodal", value=parts)


def _weight(native: Native) -> float | None:
    """How much a message counts, where that does not go without saying."""
    weight = native.get("loss_weight")
    if weight is None or (weight == 0 and native["role"] != "assistant"):
        return None
    return int(weight) if weight in (0, 1) else weight


# ---------------------------------------------------------------- fit


def _shown(result: ToolResult) -> ToolResult:
    """A result holds texts and files."""
    if result.kind != "multimodal":
        return result
    shown = [fitted for part in result.value if (fitted := _shown_part(part)) is not None]
    fitted = _valued(replace(result, is_error=None), shown)
    return result if fitted == result else fitted


def _shown_part(part: Part) -> Part | None:
    if isinstance(part, (Text, Reasoning)):
        return results.only_own(part, NAME)
    if isinstance(part, Media):
        return _known(part)
    return part if isinstance(part, Opaque) and part.dialect == NAME else None


def _known(part: Media) -> Media | None:
    """A file by its path, URL or data alone."""
    owned = extras_of(NAME, carried_by(part.extras, NAME))
    bare = media.known(replace(part, extras=None))
    fitted = None if bare is None else replace(bare, extras=owned)
    return part if fitted == part else fitted


def _weighed(message: Message) -> Message:
    if message.weight is None:
        return message
    weight = _weight({"role": message.role, "loss_weight": message.weight})
    return message if type(weight) is type(message.weight) else replace(message, weight=weight)


def _without_lists(transcript: Transcript) -> Transcript:
    """Nothing is carried under the name of a column that would be read."""
    return without_carried(transcript, NAME, CHOSEN, REJECTED)


CONVERSATION = fused(
    fitting.linear,
    results.results_behind_calls,
    on_messages(results.single_results),
    fitting.roles({"developer": "system"}),
    fitting.refusals_as_texts,
    fitting.parts_in_roles({"tool_call": ("assistant",), "reasoning": ("assistant",)}),
    on_parts(lambda part, _: _known(part), *MEDIA),
    fitting.only_own_opaque(NAME),
    on_results(_shown),
    results.expressed(TEXTS),
    custom.as_functions,
    calls.without_raw_arguments,
    on_messages(order.results_by_position),
    on_each_message(_weighed),
    fitting.functions_only(NAME),
    described,
)
FIT = {
    MESSAGES: (*CONVERSATION, fitting.without("message.label"), _without_lists),
    PREFERENCE: (on_both(*CONVERSATION), _without_lists),
}


def form_of(transcript: Transcript) -> str:
    """A pair where there is one."""
    return PREFERENCE if is_pair(transcript) else MESSAGES


# ---------------------------------------------------------------- write


def write(transcript: Transcript, options: Options) -> Any:
    """A row with its messages, or with those that were chosen and those that were rejected."""
    pair = pair_of(transcript) if options.form == PREFERENCE else None
    if pair is None:
        native: Native = {"messages": [_write_message(message) for message in transcript.messages]}
    else:
        prompt, chosen, rejected = ([_write_message(message) for message in messages] for messages in pair)
        native = {CHOSEN: [*prompt, *chosen], REJECTED: [*prompt, *rejected]}
    if transcript.tools is not None:
        native["tools"] = calls.write_json([calls.write_tool(tool, NAME, wrapped=True) for tool in transcript.tools])
    carried = omit(carried_by(transcript.extras, NAME), *native)
    return ROW.put(native, carried, sort=True)


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
        {"role": message.role, "content": content, **weight}, carried_by(message.extras, NAME), sort=True
    )


def _write_part(part: Part) -> Native | None:
    carried = carried_by(part.extras, NAME)
    if isinstance(part, (Text, Reasoning)):
        return CONTENT.put({"type": part.type, "value": part.text}, carried)
    if isinstance(part, Media):
        return CONTENT.put({"type": TYPE_OF[part.type], "value": media.write_media(part)}, carried)
    if isinstance(part, ToolCall):
        value = calls.write_json(calls.write_call(without_carried(part, NAME, AROUND), NAME))
        return CONTENT.put({"type": "tool_call", "value": value}, carried.get(AROUND))
    return part.value if isinstance(part, Opaque) else None


# ---------------------------------------------------------------- rules


def _calls_are_read(survey: Survey) -> Iterable[Breach]:
    """The value of a call is the JSON of an object, and its arguments are an object in it."""
    for i, k, part in survey.parts["opaque"]:
        if isinstance(part.value, dict) and part.value.get("type") == "tool_call":
            yield Breach("invalid-arguments", NodeRef(i, k, steps=("value",)), "this is not the JSON of a call")
    for i, k, _ in survey.parts["tool_call"]:
        native = survey.native(NodeRef(i, k)) or {}
        if calls.is_quoted((calls.read_natives(native.get("value") or "") or [{}])[0]):
            problem = "the arguments are a string in the JSON: they are quoted once more in training"
            yield Breach("arguments-quoted-twice", NodeRef(i, k, steps=("value",)), problem, help=AS_OBJECT)


def _tools_are_read(survey: Survey) -> Iterable[Breach]:
    if survey.document.get("tools") and survey.transcript.tools is None:
        yield Breach("wrong-format", NodeRef(steps=("tools",)), "this is not the JSON of a list of tools")


def _weights_are_numbers(survey: Survey) -> Iterable[Breach]:
    for column in (MESSAGES, CHOSEN, REJECTED):
        for i, native in enumerate(survey.document.get(column) or ()):
            if native.get("loss_weight", 0) is None:
                at = NodeRef(steps=(column, i, "loss_weight"))
                yield Breach("wrong-type", at, "a weight is a number: LLaMA-Factory stops at null", "warning")


RULES = (
    Rule(("invalid-arguments", "arguments-quoted-twice"), _calls_are_read),
    Rule(("wrong-format",), _tools_are_read),
    Rule(("wrong-type",), _weights_are_numbers),
    *training.RULES,
)

LACKS = training.LACKS | training.NAMES_OF_FILES | lacking.fields("document")


DIALECT = Dialect(
    name=NAME,
    title="LLaMA-Factory v1 rows",
    specification="src/llamafactory/v1/utils/types.py of LLaMA-Factory 0.9.5; read 2026-11-22",
    framings=("records", "document"),
    forms=(MESSAGES, PREFERENCE),
    detect=detect,
    lift=lift,
    fit=FIT,
    write=write,
    form_of=form_of,
    rules=RULES,
    conventions=(TEXTS,),
    lacks=LACKS,
    has=lacking.fields("message.weight message.label"),
    reasons={
        "message": "a result answers a call of the turn before it",
        "message.role": "the roles are system, user, assistant and tool",
        "moved": "a result stands behind its call, in the order of the calls",
        "message.label": "only one of two conversations was chosen or rejected",
        "message.weight": "that anything but an answer does not count goes without saying",
        "message.name": "messages have no name",
        **training.REASONS,
        **training.REASONS_OF_FILES,
        "document": "a row has no type for documents",
    },
    places={
        "tools": ("tools",),
        "message.weight": ("loss_weight",),
        f"extras.{AROUND}": (),
        **dict.fromkeys(("text.text", "reasoning.text", "tool_result.value"), ("value",)),
    },
)
